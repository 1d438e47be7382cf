/* An HTTP/2 connection by hand: any frame in, each frame of the server out. A server that stays silent for
   too long fails the test; so does one that sends what is no frame, or a larger one than it may. */
#ifndef E2E_FRAMES_H
#define E2E_FRAMES_H

#include "answer.h"
#include "server.h"

#include <nghttp2/nghttp2.h>
#include <stdbool.h>
#include <stdint.h>

#define FRAMES_PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
#define FRAMES_MAX_SIZE 16384 /* SETTINGS_MAX_FRAME_SIZE of both sides */

struct frame {
    uint8_t type, flags; /* NGHTTP2_DATA..., NGHTTP2_FLAG_END_STREAM... */
    uint32_t stream;
    size_t len;
    unsigned char *payload;
};

/* The fields of a head, coded as literals without indexing (RFC 7541, section 6.2.2). Zeroed is empty. */
struct block {
    size_t len;
    unsigned char bytes[65536];
};

void block_add(struct block *block, const char *name, const char *value);
void block_append(struct block *block, const void *bytes, size_t len); /* coded by the caller */
/* :method, :scheme, :path and :authority. */
void block_request(struct block *block, const char *method, const char *path);

struct frames;

/* The connection, with TLS or as HTTP/2 with prior knowledge; nothing is sent on it yet. */
struct frames *frames_open(const struct server *server, bool tls);
/* The same, and the preface exchanged: the SETTINGS of both sides are acknowledged. */
struct frames *frames_start(const struct server *server, bool tls);
void frames_close(struct frames *frames);

void frames_raw(struct frames *frames, const void *bytes, size_t len);
void frames_send(struct frames *frames, unsigned type, unsigned flags, uint32_t stream, const void *payload,
                 size_t len);
void frames_settings(struct frames *frames, unsigned id, uint32_t value);
void frames_window(struct frames *frames, uint32_t stream, uint32_t increment);
void frames_reset(struct frames *frames, uint32_t stream, uint32_t code);
/* A whole request head; flags: NGHTTP2_FLAG_END_STREAM or 0. */
void frames_request(struct frames *frames, uint32_t stream, unsigned flags, const char *method,
                    const char *path);

/* The next frame; false: the connection has ended. */
bool frames_next(struct frames *frames, struct frame *ret_frame);
/* Bytes are passed over, whether they are frames or not; false: the connection has ended. */
bool frames_skip(struct frames *frames);
/* The next one of that type, others are passed over. */
bool frames_find(struct frames *frames, unsigned type, struct frame *ret_frame);
uint32_t frame_number(const struct frame *frame, size_t at); /* 32 bits of the payload */

/* The value of a SETTINGS parameter that the server announced; fails the test when it did not. */
uint32_t frames_setting(const struct frames *frames, unsigned id);

/* The whole answer on a stream, 1xx passed over; frames of other streams are dropped, but for the fields that
   they bring into the decoder's table. The window is opened as the body comes. NULL: the stream was reset, or
   the connection ended. */
struct answer *frames_answer(struct frames *frames, uint32_t stream);
/* The next HEADERS frame must be of that stream: its fields, without a body. */
struct answer *frames_head(struct frames *frames, uint32_t stream);
/* PING, and its acknowledgement comes before anything goes wrong. */
void frames_expect_alive(struct frames *frames);
/* GOAWAY with that code, then the end. */
void frames_expect_goaway(struct frames *frames, uint32_t code);
/* RST_STREAM with that code, on a connection that goes on. */
void frames_expect_reset(struct frames *frames, uint32_t stream, uint32_t code);

#endif
