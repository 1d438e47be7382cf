/* The PROXY protocol, versions 1 and 2 (HAProxy, doc/proxy-protocol.txt, sections 2.1 and 2.2): what a
   balancer says first on a connection about the client that it forwards. */
#ifndef PARSE_PROXY_H
#define PARSE_PROXY_H

#include <stdbool.h>
#include <stddef.h>

#define PROXY_HEADER_MAX 2048 /* bytes; version 1 has 107 at most, version 2 what comes in extensions */
#define PROXY_IP_SIZE 46

struct proxy_header {
    size_t size; /* bytes; what follows is the client's */
    bool known;  /* else it is a connection of the balancer's own, or one of which it does not tell */
    char ip[PROXY_IP_SIZE]; /* of the client, numeric, when known */
};

/* 1: the header is there; 0: more bytes are needed; -EINVAL, as soon as it shows: it is none. */
int proxy_parse(const char *data, size_t len, struct proxy_header *ret_header);

#endif
