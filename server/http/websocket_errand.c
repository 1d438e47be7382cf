#include "http/websocket_errand.h"

#include "app/context.h"
#include "base/mailbox.h"
#include "http/websocket.h"
#include "http/websockets.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* What is to be done, with a kind or a code and some bytes, behind which there is a NUL. */
typedef int64_t errand_run(struct websocket *ws, int number, const char *bytes, size_t len);

struct errand {
    struct mail mail;
    struct loop *loop;
    uint64_t id;
    errand_run *run;
    int number;
    size_t len;
    char bytes[];
};

static atomic_size_t waiting;

static int64_t run_here(struct loop *loop, uint64_t id, errand_run *run, int number, const char *bytes,
                        size_t len)
{
    struct websocket *ws = websockets_find(loop, id);
    return ws ? run(ws, number, bytes, len) : -ENOENT;
}

static void arrive(struct mail *mail)
{
    struct errand *errand = list_item(mail, struct errand, mail);
    (void)run_here(errand->loop, errand->id, errand->run, errand->number, errand->bytes, errand->len);
    atomic_fetch_sub(&waiting, sizeof *errand + errand->len);
    free(errand);
}

static struct loop *loop_of(uint64_t id)
{
    const unsigned index = websockets_loop(id);
    struct loop *const *loops = context.loops;
    return loops != NULL && index < (unsigned)context.settings->threads ? loops[index] : NULL;
}

static int64_t go(uint64_t id, errand_run *run, int number, const char *bytes, size_t len)
{
    const size_t size = sizeof(struct errand) + len;
    struct loop *loop = loop_of(id);
    if (loop == NULL)
        return -ENOENT;
    if (loop == loop_current())
        return run_here(loop, id, run, number, bytes, len);
    if (atomic_load(&waiting) + size > ERRANDS_WAITING_MAX)
        return -EAGAIN;
    struct errand *errand = malloc(size + 1);
    if (errand == NULL)
        return -ENOMEM;
    *errand =
        (struct errand){.mail.run = arrive, .loop = loop, .id = id, .run = run, .number = number, .len = len};
    if (len > 0)
        memcpy(errand->bytes, bytes, len);
    errand->bytes[len] = '\0';
    atomic_fetch_add(&waiting, size);
    mailbox_post(&loop->mailbox, &errand->mail);
    return 0;
}

static int64_t run_send(struct websocket *ws, int kind, const char *data, size_t len)
{
    return websocket_send(ws, data, len, (cg_kind)kind);
}

int64_t errand_send(uint64_t id, const void *data, size_t len, cg_kind kind)
{
    return go(id, run_send, (int)kind, data, len);
}

static int64_t run_close(struct websocket *ws, int code, const char *reason, size_t len)
{
    (void)len;
    websocket_close(ws, code, reason);
    return 0;
}

int errand_close(uint64_t id, int code, const char *reason)
{
    return (int)go(id, run_close, code, reason, reason ? strlen(reason) : 0);
}

/* From what is published next. */
static int64_t run_subscribe(struct websocket *ws, int number, const char *topic, size_t len)
{
    uint64_t last;
    int error = topics_last(context.topics, topic, &last);
    (void)number;
    (void)len;
    if (error == 0 && !ws->left)
        error = topics_subscribe(context.topics, ws->loop->index, &ws->subscriber, topic, last);
    return error;
}

int errand_subscribe(uint64_t id, const char *topic)
{
    int error = topic_name_error(topic);
    return error != 0 ? error : (int)go(id, run_subscribe, 0, topic, strlen(topic));
}

static int64_t run_unsubscribe(struct websocket *ws, int number, const char *topic, size_t len)
{
    (void)number;
    (void)len;
    topics_unsubscribe(context.topics, ws->loop->index, &ws->subscriber, topic);
    return 0;
}

int errand_unsubscribe(uint64_t id, const char *topic)
{
    return topic == NULL ? -EINVAL : (int)go(id, run_unsubscribe, 0, topic, strlen(topic));
}
