/* Answering with something that has an entity tag and a date: whole, in parts, or not at all. */
#ifndef HTTP_REPRESENTATION_H
#define HTTP_REPRESENTATION_H

#include "http/request.h"

#include <sys/stat.h>

struct representation {
    cg_str etag;      /* strong */
    int64_t modified; /* s since 1970, or STATIC_UNDATED */
    const char *type; /* value of Content-Type, which is among the fields */
    /* Of a 200, without content-length; the first field_count_304 of them are those of a 304. */
    const cg_field *fields;
    size_t field_count, field_count_304;
    cg_str block, block_304; /* the same as HTTP/1 lines, with content-length; or empty */
    uint64_t size;
    const char *data;        /* NULL: the content is that of fd */
    int fd;                  /* taken over; -1: none */
    const struct stat *stat; /* of fd */
};

/* Exactly one answer. */
void representation_respond(struct request *request, const struct representation *representation);

#endif
