/* Compressed messages of WebSockets (RFC 7692, permessage-deflate). Each on its own, one coder does for all
   connections of a loop, and a broadcast is packed once. Where the windows live on from one message to the
   next (context takeover), which is worth it for many small ones alike, each connection has a coder. */
#ifndef APP_MESSAGE_CODING_H
#define APP_MESSAGE_CODING_H

#include "base/buffer.h"

#include <stdbool.h>

#define MESSAGE_PACK_MIN 128 /* bytes; below it nothing is won */

struct message_coding;

/* Whether the window of what we pack, and of what we unpack, lives on. */
struct message_coding *message_coding_create(bool pack_keeps, bool unpack_keeps);
void message_coding_destroy(struct message_coding *coding);

/* Bytes put into out for a window of 1 << bits, always the same of a coder that keeps it; 0: they would be
   more than size. With message_pack_bound bytes of room they are not, and must be sent if the window lives
   on. */
size_t message_pack_bound(size_t len);
size_t message_pack(struct message_coding *coding, int bits, const char *data, size_t len, char *out,
                    size_t size);
/* Appends to out what a client packed. 0; -EBADMSG: it is broken; -EMSGSIZE: it is more than limit bytes. */
int message_unpack(struct message_coding *coding, const char *data, size_t len, size_t limit,
                   struct buffer *out);

#endif
