/* A connection by hand: any bytes in, and a strict reading of what comes back. A server that stays silent for
   too long fails the test. */
#ifndef E2E_WIRE_H
#define E2E_WIRE_H

#include "answer.h"

#include <stdbool.h>
#include <stddef.h>

struct wire;

struct wire *wire_open(int port);

struct tls_options {
    int min, max;     /* TLS1_2_VERSION and so on; 0: any */
    const char *alpn; /* as on the wire: "\x02h2\x08http/1.1"; NULL: none */
};
/* NULL when the handshake fails. */
struct wire *wire_open_tls(int port, const struct tls_options *options);
const char *wire_tls_version(const struct wire *wire);
char *wire_alpn(const struct wire *wire); /* "" for none */
/* Subject of the certificate, in one line. */
char *wire_subject(const struct wire *wire);

/* Bytes that the server no longer wants are not an error: what it says about it is to be read. */
void wire_send(struct wire *wire, const void *data, size_t len);
void wire_print(struct wire *wire, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* In two parts, with a pause in between, so that they are read one after the other. */
void wire_send_split(struct wire *wire, const void *data, size_t len, size_t at);

void wire_half_close(struct wire *wire); /* over TLS: close_notify, then FIN */
void wire_reset(struct wire *wire);      /* RST; frees */
void wire_close(struct wire *wire);

/* The next answer, informational ones included, read as RFC 9112 says and not one byte more; method is that
   of its request. A violation fails the test. */
struct answer *wire_answer(struct wire *wire, const char *method);
/* NULL when the connection ends before any byte of an answer. */
struct answer *wire_answer_or_end(struct wire *wire, const char *method);
/* The next len bytes, whatever they are; false: the connection has ended before them. */
bool wire_take(struct wire *wire, void *ret_data, size_t len);
/* The server closes (or resets) without another byte; anything else fails the test. */
void wire_expect_end(struct wire *wire);
/* Over TLS, after the end: it was announced by close_notify. */
bool wire_ended_cleanly(const struct wire *wire);
/* Nothing more has come so far. */
bool wire_silent(struct wire *wire, int ms);

/* Sends the bytes on a connection of their own, and gives the one answer after which the server must close.
 */
struct answer *wire_once(int port, const void *data, size_t len);

#endif
