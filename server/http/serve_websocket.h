/* The handshake of WebSockets: over HTTP/1.1 (RFC 6455, section 4.2) and over HTTP/2 (RFC 8441). */
#ifndef HTTP_SERVE_WEBSOCKET_H
#define HTTP_SERVE_WEBSOCKET_H

#include "http/call.h"
#include "http/request.h"

/* Whether the request asks to become a WebSocket. */
bool websocket_is_asked(const struct request *request);
/* What is wrong with the way it asks, as the status of a refusal; 0: nothing. has_body: one would follow. */
int websocket_check(const struct request *request, const struct socket_rules *rules, bool has_body);
/* 426, or the 400 that HTTP/2 has for it: how it would be right. */
void serve_websocket_wanted(struct request *request);

/* The call that is about to start is one of .upgrade: what it decides is done in the place of its answer. */
void serve_websocket_begin(struct call *call);
/* It has accepted, and its head is complete. */
void serve_websocket_accept(struct request *request, struct event *event);

#endif
