/* A certificate for trying things out on this machine. */
#ifndef HTTP_TLS_SELF_SIGNED_H
#define HTTP_TLS_SELF_SIGNED_H

#include "base/buffer.h"

/* Makes an EC P-256 key and a certificate of that many days for localhost, 127.0.0.1 and ::1, signed by
   itself; appends both as PEM. 0, or -EIO when the library fails. */
int tls_self_signed(int days, struct buffer *certificate, struct buffer *key);

#endif
