/* What the lines of a request's Accept-Encoding say together. */
#ifndef HTTP_NEGOTIATE_H
#define HTTP_NEGOTIATE_H

#include "http/request.h"
#include "parse/accept.h"

struct accept_encoding negotiate_encoding(const struct request *request);

#endif
