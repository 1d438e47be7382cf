/* What answers a request. */
#ifndef HTTP_SERVE_H
#define HTTP_SERVE_H

#include "http/request.h"

/* A file of public/ for request->path, or the 404 page. */
void serve_static(struct request *request);
/* request->action's function: begin makes its event from the head, body takes each piece of the body, end
   calls it. All may respond. */
void serve_api_begin(struct request *request);
void serve_api_body(struct request *request, const char *data, size_t len);
void serve_api_end(struct request *request);
/* Sends the client on to the same target under https. */
void serve_redirect(struct request *request);

#endif
