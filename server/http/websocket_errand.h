/* What other threads want of a WebSocket, carried to its loop by mail. It is named by its id, so that one
   that is gone meanwhile does no harm. */
#ifndef HTTP_WEBSOCKET_ERRAND_H
#define HTTP_WEBSOCKET_ERRAND_H

#include <cloudgate.h>
#include <stdint.h>

#define ERRANDS_WAITING_MAX (16u << 20) /* bytes under way to the loops; of a worker */

/* From any thread; on the socket's loop it is done at once. As websocket_send; 0: on its way; -ENOENT: there
   is none of this id; -EAGAIN: ERRANDS_WAITING_MAX. */
int64_t errand_send(uint64_t id, const void *data, size_t len, cg_kind kind);
/* The reason may be NULL. */
int errand_close(uint64_t id, int code, const char *reason);
/* Errors as topics_subscribe; the topic is known to be valid once this returns 0. */
int errand_subscribe(uint64_t id, const char *topic);
int errand_unsubscribe(uint64_t id, const char *topic);

#endif
