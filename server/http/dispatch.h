/* From a request's head to what answers it: the upward half of the seam between protocols and the rest. */
#ifndef HTTP_DISPATCH_H
#define HTTP_DISPATCH_H

#include "http/request.h"

#define LENGTH_UNKNOWN UINT64_MAX

/* The head is complete. length: of the body, 0 for none. Routes, and may answer at once. */
void dispatch_begin(struct request *request, uint64_t length);
/* May answer as well; what comes after that is dropped. */
void dispatch_body(struct request *request, const char *data, size_t len);
/* The body is complete: runs what answers, now or later. Not to be called once responded. */
void dispatch_end(struct request *request);

#endif
