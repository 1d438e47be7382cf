#include "http/feed.h"

#include "app/context.h"
#include "http/app.h"
#include "http/request.h"
#include "http/stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMING 0 /* among those of a delivery */
#define ID_MAX (FEED_TOPICS_MAX * 21)

struct feed_topic {
    const char *name;
    uint64_t last; /* number that the client has */
};

struct feed {
    struct stream stream; /* first */
    struct subscriber subscriber;
    struct call *call;
    struct timer heartbeat;
    size_t count;
    struct feed_topic topics[FEED_TOPICS_MAX];
};

/* ---- framing ---- */

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

/* The end of the line that begins there, and where the next one begins; NULL: it was the last. */
static const char *line_end(const char *at, const char *end, const char **ret_next)
{
    while (at < end && !is_line_end(*at))
        at++;
    *ret_next = at == end ? NULL : at + (at[0] == '\r' && at + 1 < end && at[1] == '\n' ? 2 : 1);
    return at;
}

static size_t count_lines(cg_str data)
{
    size_t count = 0;
    for (const char *at = data.ptr; at != NULL; count++)
        line_end(at, data.ptr + data.len, &at);
    return count;
}

/* Each line of the payload in a data field of its own, as the parser of a client puts them together again. */
static struct topic_frame *make_frame(const char *id, cg_str data)
{
    static const char field[] = "data: ";
    const size_t most = strlen("id: \n\n") + strlen(id) + data.len + count_lines(data) * sizeof field;
    struct topic_frame *frame = topic_frame_create(most);
    char *out = frame->bytes + sprintf(frame->bytes, "id: %s\n", id);
    for (const char *at = data.ptr, *next; at != NULL; at = next) {
        const char *end = line_end(at, data.ptr + data.len, &next);
        memcpy(out, field, sizeof field - 1);
        out += sizeof field - 1;
        memcpy(out, at, (size_t)(end - at));
        out += end - at;
        *out++ = '\n';
    }
    *out++ = '\n';
    frame->len = (size_t)(out - frame->bytes);
    return frame;
}

/* The numbers of all its topics, in their order: "17,4". */
static const char *id_of(const struct feed *feed, char out[ID_MAX])
{
    size_t len = 0;
    for (size_t i = 0; i < feed->count; i++)
        len +=
            (size_t)snprintf(out + len, ID_MAX - len, "%s%" PRIu64, i > 0 ? "," : "", feed->topics[i].last);
    return out;
}

/* Takes the reference over. */
static void add_frame(struct feed *feed, struct topic_frame *frame)
{
    stream_add(&feed->stream, stream_piece_share(&feed->stream, frame));
    topic_frame_drop(frame);
}

static void add_text(struct feed *feed, const char *text)
{
    struct stream_piece *piece = stream_piece_create(&feed->stream, text, strlen(text));
    if (piece != NULL)
        stream_add(&feed->stream, piece);
}

/* ---- what is published ---- */

static struct feed_topic *topic_named(struct feed *feed, const char *name)
{
    for (size_t i = 0; i < feed->count; i++)
        if (strcmp(feed->topics[i].name, name) == 0)
            return &feed->topics[i];
    return NULL;
}

/* All clients of one topic have the same ids, and get the same frame. */
static void add_shared(struct feed *feed, struct delivery *delivery)
{
    struct topic_frame **frame = &delivery->frames[FRAMING];
    char id[ID_MAX];
    if (*frame == NULL)
        *frame = make_frame(id_of(feed, id), delivery->publication->data);
    (*frame)->references++;
    add_frame(feed, *frame);
}

static void deliver(struct subscriber *subscriber, struct delivery *delivery)
{
    struct feed *feed = list_item(subscriber, struct feed, subscriber);
    const struct publication *publication = delivery->publication;
    char id[ID_MAX];
    if (atomic_load(&feed->stream.queued) > feed->stream.limit) {
        atomic_store(&feed->stream.overrun, true);
        call_resume(feed->call);
        return;
    }
    topic_named(feed, publication->topic)->last = publication->number;
    if (feed->count > 1)
        add_frame(feed, make_frame(id_of(feed, id), publication->data));
    else
        add_shared(feed, delivery);
    call_resume(feed->call);
}

struct replay {
    struct feed *feed;
    struct feed_topic *topic;
};

static void add_past(void *arg, const struct publication *publication)
{
    const struct replay *replay = arg;
    char id[ID_MAX];
    replay->topic->last = publication->number;
    add_frame(replay->feed, make_frame(id_of(replay->feed, id), publication->data));
}

/* What was published after the last that the client has, then what will be. */
static void follow(struct feed *feed, struct feed_topic *topic)
{
    struct replay replay = {feed, topic};
    const struct call *call = feed->call;
    topics_replay(context.topics, topic->name, topic->last, add_past, &replay);
    topics_subscribe(context.topics, call->loop->index, &feed->subscriber, topic->name, topic->last);
}

/* ---- life ---- */

static void beat(struct timer *timer)
{
    struct feed *feed = list_item(timer, struct feed, heartbeat);
    timers_set(&feed->call->loop->timers, timer, feed->call->loop->now + FEED_HEARTBEAT_MS);
    if (stream_available(&feed->stream) > 0)
        return;
    add_text(feed, ":\n\n");
    call_resume(feed->call);
}

/* "17,4", as id_of has written it. */
static void read_last_id(struct feed *feed)
{
    const char *at = event_header(&feed->call->event, "last-event-id");
    for (size_t i = 0; i < feed->count && at != NULL && *at >= '0' && *at <= '9'; i++) {
        char *end;
        uint64_t last = strtoull(at, &end, 10);
        if (last < feed->topics[i].last)
            feed->topics[i].last = last;
        at = *end == ',' ? end + 1 : NULL;
    }
}

static void done(struct call *call)
{
    struct feed *feed = call->way_data;
    char text[32];
    if (call->late)
        return;
    answer_set_field(&call->event.answer, "content-type", "text/event-stream");
    if (call->event.answer.fault != NULL) {
        atomic_store(&call->way, NULL);
        call->way_data = NULL;
        call_send_head(call);
        return;
    }
    call->ops->complete(&call->event);
    stream_init(&feed->stream, call->loop->app->settings->stream_queue);
    snprintf(text, sizeof text, "retry: %d\n\n", FEED_RETRY_MS);
    add_text(feed, text);
    read_last_id(feed);
    for (size_t i = 0; i < feed->count; i++)
        follow(feed, &feed->topics[i]);
    feed->heartbeat.fire = beat;
    timers_set(&call->loop->timers, &feed->heartbeat, call->loop->now + FEED_HEARTBEAT_MS);
    call_send_head(call);
}

static void finish(struct call *call)
{
    struct feed *feed = call->way_data;
    timers_cancel(&call->loop->timers, &feed->heartbeat);
    topics_leave(context.topics, call->loop->index, &feed->subscriber);
    if (call->sent)
        stream_close(&feed->stream);
}

static const struct call_way way = {.done = done, .finish = finish};

static struct feed *feed_of(struct call *call)
{
    return call != NULL && atomic_load(&call->way) == &way ? call->way_data : NULL;
}

int feed_subscribe(struct call *call, const char *topic)
{
    struct feed *feed = feed_of(call);
    uint64_t last = 0;
    if (feed == NULL && atomic_load(&call->way) != NULL)
        return -EALREADY;
    int error = topics_last(context.topics, topic, &last);
    if (error == 0)
        error = topics_keep(context.topics, topic);
    if (error != 0)
        return error;
    if (feed == NULL) {
        feed = arena_zalloc(&call->arena, sizeof *feed);
        feed->call = call;
        feed->subscriber.deliver = deliver;
        call->way_data = feed;
        atomic_store(&call->way, &way);
    }
    if (topic_named(feed, topic) != NULL)
        return 0;
    if (feed->count == FEED_TOPICS_MAX)
        return -ENOSPC;
    cg_str name = arena_copy(&call->arena, topic, strlen(topic));
    feed->topics[feed->count++] = (struct feed_topic){name.ptr, last};
    return 0;
}

bool feed_prod(struct call *call)
{
    struct feed *feed = feed_of(call);
    if (feed == NULL || !call->sent)
        return false;
    add_text(feed, ":\n\n");
    call_resume(feed->call);
    return true;
}

bool feed_end(struct call *call)
{
    struct feed *feed = feed_of(call);
    if (feed == NULL || !call->sent)
        return false;
    stream_end(&feed->stream);
    call_resume(feed->call);
    return true;
}
