/* All WebSockets of one loop: found by their ids, and what they share. */
#ifndef HTTP_WEBSOCKETS_H
#define HTTP_WEBSOCKETS_H

#include "app/message_coding.h"
#include "base/list.h"

#include <stdatomic.h>
#include <stdint.h>

#define WEBSOCKETS_BUCKETS 1024 /* a power of 2 */

struct loop;
struct websocket;

struct websockets {
    struct list buckets[WEBSOCKETS_BUCKETS];
    size_t count;
    uint64_t last_id;
    struct message_coding *coding;
    struct buffer message; /* that has come, while its hook is called */
    struct buffer packed;  /* that is about to be sent */
};

/* Of the loop; made when first asked for. */
struct websockets *websockets_of(struct loop *loop);
size_t websockets_count(const struct loop *loop);
void websockets_finish(struct loop *loop);

/* Gives the socket an id that no other ever had: its loop's index, and a number that begins with the time. */
void websockets_add(struct loop *loop, struct websocket *ws);
void websockets_remove(struct loop *loop, struct websocket *ws);
/* NULL when it is gone. */
struct websocket *websockets_find(struct loop *loop, uint64_t id);
/* The index of the loop that a socket with this id would be on. */
unsigned websockets_loop(uint64_t id);

#endif
