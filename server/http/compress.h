/* Compression of what functions answer. */
#ifndef HTTP_COMPRESS_H
#define HTTP_COMPRESS_H

#include "http/request.h"

#define COMPRESS_MIN_BYTES 1024
#define COMPRESS_MAX_BYTES (1024 * 1024) /* more would hold up the loop's other clients */

/* The body to be sent for the request's answer: in a coding that the client takes, when that is worth it.
   Sets the fields that go with it, Vary whenever other clients might get something else. Never for a route
   with `compress: false`, nor when the function has said what its bytes are: by Content-Encoding,
   Content-Range, a strong entity tag, or `Cache-Control: no-transform`. */
cg_str compress_answer(struct request *request, int status);

#endif
