#include "app/access_writer.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct piece {
    struct list link;
    struct buffer lines;
    bool reopens; /* instead: the file is opened anew */
};

struct access_writer {
    char *path;
    pthread_t thread;
    pthread_mutex_t lock; /* of those below */
    pthread_cond_t changed;
    struct list pieces;
    size_t waiting; /* bytes */
    bool lost, over;
    int fd; /* the thread's own, like what follows */
    int64_t told;
};

static void free_piece(struct piece *piece)
{
    buffer_finish(&piece->lines);
    free(piece);
}

static int open_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
    return fd < 0 ? -errno : fd;
}

static void tell(struct access_writer *writer, const char *what)
{
    if (log_is_due(&writer->told, monotonic_ms()))
        log_error("%s: %s; lines of the access log are lost", writer->path, what);
}

/* What can't be opened now keeps the file that there was. */
static void reopen(struct access_writer *writer)
{
    int fd = open_file(writer->path);
    if (fd < 0) {
        tell(writer, strerror(-fd));
        return;
    }
    close(writer->fd);
    writer->fd = fd;
}

static void write_piece(struct access_writer *writer, struct piece *piece)
{
    int error = piece->reopens ? 0 : file_write_all(writer->fd, piece->lines.data, piece->lines.len);
    if (piece->reopens)
        reopen(writer);
    if (error != 0)
        tell(writer, strerror(-error));
}

static struct piece *next_piece(struct access_writer *writer, bool *ret_lost)
{
    struct piece *piece = NULL;
    lock_take(&writer->lock);
    while (list_empty(&writer->pieces) && !writer->over)
        pthread_cond_wait(&writer->changed, &writer->lock);
    if (!list_empty(&writer->pieces)) {
        piece = list_item(writer->pieces.next, struct piece, link);
        list_remove(&piece->link);
        writer->waiting -= piece->lines.len;
    }
    *ret_lost = writer->lost;
    writer->lost = false;
    lock_drop(&writer->lock);
    return piece;
}

static void *run(void *arg)
{
    struct access_writer *writer = arg;
    struct piece *piece;
    bool lost;
    pthread_setname_np(pthread_self(), "access log");
    while ((piece = next_piece(writer, &lost)) != NULL) {
        write_piece(writer, piece);
        if (lost)
            tell(writer, "is too slow");
        free_piece(piece);
    }
    return NULL;
}

int access_writer_open(const char *path, struct access_writer **ret_writer)
{
    struct access_writer *writer = xzalloc(sizeof *writer);
    int error = 0;
    writer->path = xstrdup(path);
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->changed, NULL);
    list_init(&writer->pieces);
    writer->fd = open_file(path);
    error = writer->fd < 0 ? writer->fd : -pthread_create(&writer->thread, NULL, run, writer);
    if (error == 0) {
        *ret_writer = writer;
        return 0;
    }
    if (writer->fd >= 0)
        close(writer->fd);
    free(writer->path);
    free(writer);
    return error;
}

/* Takes it over; without room for it, it is lost. */
static void put(struct access_writer *writer, struct piece *piece)
{
    lock_take(&writer->lock);
    bool fits = writer->waiting + piece->lines.len <= ACCESS_WAITING_MAX;
    if (fits) {
        list_append(&writer->pieces, &piece->link);
        writer->waiting += piece->lines.len;
        pthread_cond_signal(&writer->changed);
    } else {
        writer->lost = true;
    }
    lock_drop(&writer->lock);
    if (!fits)
        free_piece(piece);
}

void access_writer_put(struct access_writer *writer, struct buffer *lines)
{
    struct piece *piece = xzalloc(sizeof *piece);
    piece->lines = *lines;
    *lines = (struct buffer){0};
    put(writer, piece);
}

void access_writer_reopen(struct access_writer *writer)
{
    struct piece *piece = xzalloc(sizeof *piece);
    piece->reopens = true;
    put(writer, piece);
}

void access_writer_close(struct access_writer *writer)
{
    if (writer == NULL)
        return;
    lock_take(&writer->lock);
    writer->over = true;
    pthread_cond_signal(&writer->changed);
    lock_drop(&writer->lock);
    pthread_join(writer->thread, NULL);
    close(writer->fd);
    free(writer->path);
    free(writer);
}
