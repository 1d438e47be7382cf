/* Methods of requests (RFC 9110, section 9), and PATCH (RFC 5789). */
#ifndef PARSE_METHOD_H
#define PARSE_METHOD_H

#include <cloudgate.h>

enum method {
    METHOD_GET,
    METHOD_HEAD,
    METHOD_POST,
    METHOD_PUT,
    METHOD_PATCH,
    METHOD_DELETE,
    METHOD_OPTIONS,
    METHOD_COUNT /* also: one that is none of these */
};

/* Case-sensitive, as methods are. */
enum method method_of(cg_str name);

/* "GET"; not for METHOD_COUNT. */
const char *method_name(enum method method);

#endif
