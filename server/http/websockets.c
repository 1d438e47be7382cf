#include "http/websockets.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "http/loop.h"
#include "http/websocket.h"

#include <stdlib.h>

#define NUMBER_BITS 48
#define NUMBERS_PER_MS 64 /* more than a loop can open: after a restart no id comes again */

struct websockets *websockets_of(struct loop *loop)
{
    struct websockets *all = loop->websockets;
    if (all != NULL)
        return all;
    all = loop->websockets = xzalloc(sizeof *all);
    for (size_t i = 0; i < WEBSOCKETS_BUCKETS; i++)
        list_init(&all->buckets[i]);
    all->last_id = (uint64_t)loop->index << NUMBER_BITS | (uint64_t)wall_ms() * NUMBERS_PER_MS;
    all->coding = message_coding_create(false, false);
    return all;
}

size_t websockets_count(const struct loop *loop)
{
    return loop->websockets ? loop->websockets->count : 0;
}

void websockets_finish(struct loop *loop)
{
    if (loop->websockets == NULL)
        return;
    message_coding_destroy(loop->websockets->coding);
    buffer_finish(&loop->websockets->message);
    buffer_finish(&loop->websockets->packed);
    free(loop->websockets);
    loop->websockets = NULL;
}

static struct list *bucket_of(struct websockets *all, uint64_t id)
{
    return &all->buckets[id & (WEBSOCKETS_BUCKETS - 1)];
}

void websockets_add(struct loop *loop, struct websocket *ws)
{
    struct websockets *all = websockets_of(loop);
    ws->id = ++all->last_id;
    list_append(bucket_of(all, ws->id), &ws->link);
    all->count++;
}

void websockets_remove(struct loop *loop, struct websocket *ws)
{
    list_remove(&ws->link);
    loop->websockets->count--;
}

struct websocket *websockets_find(struct loop *loop, uint64_t id)
{
    list_for_each (link, bucket_of(websockets_of(loop), id)) {
        struct websocket *ws = list_item(link, struct websocket, link);
        if (ws->id == id)
            return ws;
    }
    return NULL;
}

unsigned websockets_loop(uint64_t id)
{
    return (unsigned)(id >> NUMBER_BITS);
}
