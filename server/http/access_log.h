/* The access log of one loop: lines are gathered, and handed to the writer by the piece. */
#ifndef HTTP_ACCESS_LOG_H
#define HTTP_ACCESS_LOG_H

#include "http/request.h"

#define ACCESS_LOG_PIECE (32 * 1024) /* bytes that are handed over at once... */
#define ACCESS_LOG_MS 200            /* ...or what there is after so long */

/* The protocol is done with the request: its answer has left, or its client. */
void access_log_note(struct request *request);
/* What came was no request. */
void access_log_note_refusal(struct transport *transport, int status);
/* Hands over what there is. */
void access_log_flush(struct loop *loop);

#endif
