/* The sending half of a transport, as the other half needs it. */
#ifndef HTTP_TRANSPORT_OUTPUT_H
#define HTTP_TRANSPORT_OUTPUT_H

#include "http/transport.h"

/* Sends what this turn has written. */
void output_flush(struct transport *transport);
/* Sends what the socket did not take before. */
void output_send_pending(struct transport *transport);
/* transport.c's: calls back, once, when the socket takes more. */
void transport_watch_writing(struct transport *transport);

#endif
