/* Server-sent events (WHATWG HTML, section 9.2): an answer that is what is published to topics, from when its
   function is done until the client leaves or the server stops. */
#ifndef HTTP_FEED_H
#define HTTP_FEED_H

#include "http/call.h"

#define FEED_TOPICS_MAX 16      /* of one event */
#define FEED_HEARTBEAT_MS 15000 /* between signs of life */
#define FEED_RETRY_MS 3000      /* after which a client that was cut off shall come back */

/* From the thread that answers. -EALREADY: it is a stream already; -ENOSPC: too many topics; else as
 * topics_last. */
int feed_subscribe(struct call *call, const char *topic);

/* False: it is none. On the loop: a client that has half-closed its connection may be gone; what is sent to
 * it will tell. */
bool feed_prod(struct call *call);
/* The same: the server stops, and the client shall come back to the next one. */
bool feed_end(struct call *call);

#endif
