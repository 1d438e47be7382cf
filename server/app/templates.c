#include "app/templates.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/map.h"
#include "parse/path.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    char *file; /* key */
    struct page_template *page;
    struct stat stat;  /* of the file when it was read */
    int64_t looked_at; /* ms */
    struct entry *next;
};

struct templates {
    struct map map; /* file to struct entry */
    struct entry *entries;
};

struct templates *templates_create(void)
{
    return xzalloc(sizeof(struct templates));
}

static void empty(struct templates *templates)
{
    while (templates->entries != NULL) {
        struct entry *entry = templates->entries;
        templates->entries = entry->next;
        template_destroy(entry->page);
        free(entry->file);
        free(entry);
    }
    map_finish(&templates->map);
}

void templates_destroy(struct templates *templates)
{
    if (templates == NULL)
        return;
    empty(templates);
    free(templates);
}

/* Reads the file into entry; on failure (0 is success) entry is as before. */
static int read_template(struct entry *entry, const char *path)
{
    char *data;
    struct stat stat;
    int result = file_read(path, TEMPLATE_SIZE_MAX, &data, &stat);
    if (result < 0)
        return result;
    template_destroy(entry->page);
    entry->page = template_parse(cg_bytes(data, (size_t)stat.st_size));
    entry->stat = stat;
    free(data);
    return 0;
}

static struct entry *add_entry(struct templates *templates, const char *file, const char *path)
{
    struct entry *entry = xzalloc(sizeof *entry);
    int result = read_template(entry, path);
    if (result < 0) {
        free(entry);
        errno = -result;
        return NULL;
    }
    if (templates->map.count >= TEMPLATES_KEPT)
        empty(templates);
    entry->file = xstrdup(file);
    entry->next = templates->entries;
    templates->entries = entry;
    (void)map_add(&templates->map, entry->file, strlen(entry->file), entry);
    return entry;
}

/* Brings the entry up to date. A file in the middle of being written is left for the next look. */
static int look_again(struct entry *entry, const char *path)
{
    struct stat now;
    if (stat(path, &now) < 0)
        return -errno;
    if (file_is_unchanged(&now, &entry->stat))
        return 0;
    int result = read_template(entry, path);
    return result == -EAGAIN ? 0 : result;
}

const struct page_template *templates_get(struct templates *templates, const char *functions_dir,
                                          const char *file, int64_t now_ms)
{
    if (!path_stays_below(file)) {
        errno = EACCES;
        return NULL;
    }
    struct entry *entry = map_get(&templates->map, file, strlen(file));
    if (entry != NULL && now_ms - entry->looked_at < TEMPLATES_LOOK_MS)
        return entry->page;
    char *path = xsprintf("%s/%s", functions_dir, file);
    int result = 0;
    if (entry != NULL)
        result = look_again(entry, path);
    else if ((entry = add_entry(templates, file, path)) == NULL)
        result = -errno;
    free(path);
    if (result < 0) {
        errno = -result;
        return NULL;
    }
    entry->looked_at = now_ms;
    return entry->page;
}

static pthread_key_t thread_key;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;

static void destroy_of_thread(void *templates)
{
    templates_destroy(templates);
}

static void make_key(void)
{
    if (pthread_key_create(&thread_key, destroy_of_thread) != 0)
        abort();
}

struct templates *templates_of_thread(void)
{
    pthread_once(&thread_once, make_key);
    struct templates *templates = pthread_getspecific(thread_key);
    if (templates == NULL) {
        templates = templates_create();
        pthread_setspecific(thread_key, templates);
    }
    return templates;
}
