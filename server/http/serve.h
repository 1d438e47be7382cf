/* What answers a request: each takes one that is complete and responds to it. */
#ifndef HTTP_SERVE_H
#define HTTP_SERVE_H

#include "http/request.h"

/* A file of public/ for request->path, or the 404 page. */
void serve_static(struct request *request);
/* Calls request->action's function. */
void serve_api(struct request *request);
/* Sends the client on to the same target under https. */
void serve_redirect(struct request *request);

#endif
