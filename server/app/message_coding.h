/* Compressed messages of WebSockets (RFC 7692, permessage-deflate): each on its own, without a window that
   lives on, so that a loop needs one coder for all its connections and a broadcast is packed once. */
#ifndef APP_MESSAGE_CODING_H
#define APP_MESSAGE_CODING_H

#include "base/buffer.h"

#define MESSAGE_PACK_MIN 128 /* bytes; below it nothing is won */

struct message_coding;

struct message_coding *message_coding_create(void);
void message_coding_destroy(struct message_coding *coding);

/* Bytes put into out for a window of 1 << bits; 0: they would be more than size. */
size_t message_pack(struct message_coding *coding, int bits, const char *data, size_t len, char *out,
                    size_t size);
/* Appends to out what a client packed. 0; -EBADMSG: it is broken; -EMSGSIZE: it is more than limit bytes. */
int message_unpack(struct message_coding *coding, const char *data, size_t len, size_t limit,
                   struct buffer *out);

#endif
