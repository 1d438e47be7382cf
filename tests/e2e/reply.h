/* Reads HTTP/1.1 responses as RFC 9112 defines them, without tolerance. */
#ifndef E2E_REPLY_H
#define E2E_REPLY_H

#include "answer.h"

#include <stdbool.h>

/* The response at the start of data: its size, with the answer to it; 0 when more is needed (at the end of
   the connection: it is cut short). What is not HTTP fails the test. */
size_t reply_parse(const char *data, size_t len, bool ended, const char *method, struct answer **ret_answer);

#endif
