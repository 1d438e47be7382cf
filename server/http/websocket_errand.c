#include "http/websocket_errand.h"

#include "app/context.h"
#include "base/mailbox.h"
#include "http/websocket.h"
#include "http/websockets.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct errand {
    struct mail mail;
    struct loop *loop;
    uint64_t id;
    int64_t (*run)(struct websocket *ws, const struct errand *errand);
    int number; /* kind or code */
    size_t len;
    char bytes[]; /* with a NUL behind them */
};

static atomic_size_t waiting;

static void arrive(struct mail *mail)
{
    struct errand *errand = list_item(mail, struct errand, mail);
    struct websocket *ws = websockets_find(errand->loop, errand->id);
    if (ws != NULL)
        errand->run(ws, errand);
    atomic_fetch_sub(&waiting, sizeof *errand + errand->len);
    free(errand);
}

static struct loop *loop_of(uint64_t id)
{
    const unsigned index = websockets_loop(id);
    struct loop *const *loops = context.loops;
    return loops != NULL && index < (unsigned)context.settings->threads ? loops[index] : NULL;
}

/* What is in the prototype, and data; here or there. */
static int64_t go(const struct errand *prototype, const void *data, size_t len)
{
    const size_t size = sizeof(struct errand) + len;
    struct loop *loop = loop_of(prototype->id);
    if (loop == NULL)
        return -ENOENT;
    if (loop != loop_current() && atomic_load(&waiting) + size > ERRANDS_WAITING_MAX)
        return -EAGAIN;
    struct errand *errand = malloc(size + 1);
    if (errand == NULL)
        return -ENOMEM;
    *errand = *prototype;
    errand->loop = loop;
    errand->len = len;
    if (len > 0)
        memcpy(errand->bytes, data, len);
    errand->bytes[len] = '\0';
    if (loop == loop_current()) {
        struct websocket *ws = websockets_find(loop, errand->id);
        int64_t result = ws ? errand->run(ws, errand) : -ENOENT;
        free(errand);
        return result;
    }
    errand->mail.run = arrive;
    atomic_fetch_add(&waiting, size);
    mailbox_post(&loop->mailbox, &errand->mail);
    return 0;
}

static int64_t run_send(struct websocket *ws, const struct errand *errand)
{
    return websocket_send(ws, errand->bytes, errand->len, (cg_kind)errand->number);
}

int64_t errand_send(uint64_t id, const void *data, size_t len, cg_kind kind)
{
    if (kind == CG_TEXT && !utf8_valid(data, len))
        return -EILSEQ;
    return go(&(struct errand){.id = id, .run = run_send, .number = (int)kind}, data, len);
}

static int64_t run_close(struct websocket *ws, const struct errand *errand)
{
    websocket_close(ws, errand->number, errand->bytes);
    return 0;
}

int errand_close(uint64_t id, int code, const char *reason)
{
    return (int)go(&(struct errand){.id = id, .run = run_close, .number = code}, reason,
                   reason ? strlen(reason) : 0);
}

/* From what is published next. */
static int64_t run_subscribe(struct websocket *ws, const struct errand *errand)
{
    uint64_t last;
    int error = topics_last(context.topics, errand->bytes, &last);
    if (error == 0 && !ws->left)
        error = topics_subscribe(context.topics, ws->loop->index, &ws->subscriber, errand->bytes, last);
    return error;
}

int errand_subscribe(uint64_t id, const char *topic)
{
    uint64_t last;
    int error = topics_last(context.topics, topic, &last);
    return error != 0 ? error
                      : (int)go(&(struct errand){.id = id, .run = run_subscribe}, topic, strlen(topic));
}

static int64_t run_unsubscribe(struct websocket *ws, const struct errand *errand)
{
    topics_unsubscribe(context.topics, ws->loop->index, &ws->subscriber, errand->bytes);
    return 0;
}

int errand_unsubscribe(uint64_t id, const char *topic)
{
    return topic == NULL ? -EINVAL
                         : (int)go(&(struct errand){.id = id, .run = run_unsubscribe}, topic, strlen(topic));
}
