#include "http/tls.h"

#include "base/alloc.h"
#include "base/log.h"
#include "http/app.h"

#include <errno.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

#define HANDSHAKE_RECORD 0x16 /* the first byte of every TLS connection */

struct tls {
    SSL *ssl;
    struct tls_context *context;
    void (*established)(struct transport *transport, bool h2);
    const char *in; /* encrypted input that the library has not taken yet; only set while it runs */
    size_t in_len;
    struct buffer held; /* the same, kept while the protocol wants no more */
    bool begun;         /* the first byte was one of TLS */
    bool ended;         /* the client has sent FIN */
    bool failed;        /* the library must not be called again */
    bool running;
};

/* ---- the library's view of the transport ---- */

static int bio_read(BIO *bio, char *out, int size)
{
    struct transport *transport = BIO_get_data(bio);
    struct tls *tls = transport->tls;
    size_t len = tls->in_len < (size_t)size ? tls->in_len : (size_t)size;
    BIO_clear_retry_flags(bio);
    if (len == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    memcpy(out, tls->in, len);
    tls->in += len;
    tls->in_len -= len;
    return (int)len;
}

static int bio_write(BIO *bio, const char *data, int len)
{
    transport_send(BIO_get_data(bio), data, (size_t)len);
    return len;
}

static long bio_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH; /* the transport flushes when the turn ends */
}

BIO_METHOD *tls_bio_method(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "transport");
    if (method != NULL) {
        BIO_meth_set_read(method, bio_read);
        BIO_meth_set_write(method, bio_write);
        BIO_meth_set_ctrl(method, bio_control);
    }
    return method;
}

/* ---- life ---- */

int tls_start(struct transport *transport, struct tls_context *context,
              void (*established)(struct transport *transport, bool h2))
{
    SSL *ssl = SSL_new(context->ssl);
    BIO *bio = BIO_new(context->bio);
    if (ssl == NULL || bio == NULL) {
        SSL_free(ssl);
        BIO_free(bio);
        ERR_clear_error();
        return -ENOMEM;
    }
    BIO_set_data(bio, transport);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    SSL_set_accept_state(ssl);

    struct tls *tls = xzalloc(sizeof *tls);
    tls->ssl = ssl;
    tls->context = context;
    tls->established = established;
    transport->tls = tls;
    const struct loop *loop = transport->loop;
    transport_deadline(transport, loop->now + loop->app->settings->header_timeout);
    return 0;
}

static void leave_join(struct tls_context *context)
{
    context->join.owner = NULL;
    context->join.len = 0;
}

void tls_destroy(struct tls *tls)
{
    if (tls == NULL)
        return;
    struct transport *transport = BIO_get_data(SSL_get_rbio(tls->ssl));
    if (tls->context->join.owner == transport)
        leave_join(tls->context);
    SSL_free(tls->ssl);
    buffer_finish(&tls->held);
    free(tls);
}

/* ---- failures ---- */

static void note_failure(struct transport *transport)
{
    const char *reason = ERR_reason_error_string(ERR_peek_error());
    log_debug("%s: TLS: %s", transport->ip, reason != NULL ? reason : "connection broken off");
    ERR_clear_error();
    transport->tls->failed = true;
}

/* For failures inside a call of the protocol, which must not lose its state under its feet: the transport
   finds it out when the turn ends. */
static void break_off(struct transport *transport)
{
    note_failure(transport);
    transport->closing = transport->lost = true;
}

/* The alert is already among the output; it must not be overtaken by a reset. */
static void close_after_alert(struct transport *transport)
{
    note_failure(transport);
    transport_close(transport, true);
}

static void refuse_plain_text(struct transport *transport)
{
    static const char answer[] = "HTTP/1.1 400 Bad Request\r\n"
                                 "Content-Type: text/plain; charset=utf-8\r\n"
                                 "Content-Length: 47\r\n"
                                 "Connection: close\r\n"
                                 "\r\n"
                                 "This port speaks https: use https:// in the URL";
    log_debug("%s: TLS: plain HTTP on the https port", transport->ip);
    transport->tls->failed = true;
    transport_send(transport, answer, sizeof answer - 1);
    transport_close(transport, true);
}

/* ---- input ---- */

/* Reads records until there is no whole one left or the buffer is full. *ret_error: why it stopped. */
static size_t decrypt(struct transport *transport, int *ret_error)
{
    struct tls *tls = transport->tls;
    size_t len = 0;
    int got = 1;
    while (got > 0 && len < LOOP_BUFFER_SIZE) {
        got = SSL_read(tls->ssl, transport->loop->plain + len, (int)(LOOP_BUFFER_SIZE - len));
        if (got > 0)
            len += (size_t)got;
    }
    *ret_error = got > 0 ? SSL_ERROR_NONE : SSL_get_error(tls->ssl, got);
    return len;
}

static bool wants_input(const struct transport *transport)
{
    return !transport->closing && !transport->lost && !transport->tls->failed &&
           transport->stash.len < TRANSPORT_STASH_LIMIT;
}

static void deliver_records(struct transport *transport)
{
    int error = SSL_ERROR_NONE;
    while (error == SSL_ERROR_NONE && wants_input(transport) && !transport->ended) {
        size_t len = decrypt(transport, &error);
        if (len > 0)
            transport_deliver(transport, transport->loop->plain, len);
        if (transport->closing || transport->lost)
            return;
    }
    if (error == SSL_ERROR_ZERO_RETURN || (error == SSL_ERROR_WANT_READ && transport->tls->ended))
        transport_deliver_end(transport);
    else if (error != SSL_ERROR_NONE && error != SSL_ERROR_WANT_READ)
        close_after_alert(transport);
}

/* True: the handshake is behind. */
static bool shake_hands(struct transport *transport)
{
    struct tls *tls = transport->tls;
    const unsigned char *protocol;
    unsigned protocol_len;
    if (SSL_is_init_finished(tls->ssl))
        return true;
    int done = SSL_do_handshake(tls->ssl);
    if (done != 1) {
        if (SSL_get_error(tls->ssl, done) != SSL_ERROR_WANT_READ)
            close_after_alert(transport);
        else if (tls->ended)
            transport_deliver_end(transport);
        return false;
    }
    SSL_get0_alpn_selected(tls->ssl, &protocol, &protocol_len);
    tls->established(transport, protocol_len == 2 && memcmp(protocol, "h2", 2) == 0);
    return true;
}

/* The input is data[0..len), which the library may take in part only: then the rest of it is kept in held,
   where it may already be. */
static void run(struct transport *transport, const char *data, size_t len)
{
    struct tls *tls = transport->tls;
    tls->in = data;
    tls->in_len = len;
    tls->running = true;
    ERR_clear_error(); /* of whoever used the library on this thread; SSL_get_error would take it for ours */
    if (shake_hands(transport))
        deliver_records(transport);
    tls->running = false;
    if (transport_pending(transport) > TLS_BACKLOG_LIMIT)
        break_off(transport); /* key updates by the thousand, and our answers unread */

    if (!wants_input(transport) && (transport->closing || transport->lost || tls->failed))
        buffer_finish(&tls->held);
    else if (tls->held.len > 0 && data == tls->held.data)
        buffer_consume(&tls->held, len - tls->in_len);
    else if (tls->in_len > 0)
        buffer_append(&tls->held, tls->in, tls->in_len);
    if (tls->held.len == 0)
        buffer_finish(&tls->held);
    tls->in = NULL;
    tls->in_len = 0;
}

void tls_receive(struct transport *transport, const char *data, size_t len)
{
    struct tls *tls = transport->tls;
    if (tls->failed || transport->ended)
        return;
    if (!tls->begun && *data != HANDSHAKE_RECORD && *data >= 'A' && *data <= 'Z') {
        refuse_plain_text(transport);
        return;
    }
    tls->begun = true;
    if (tls->held.len == 0) {
        run(transport, data, len);
    } else {
        buffer_append(&tls->held, data, len);
        run(transport, tls->held.data, tls->held.len);
    }
}

/* A FIN without close_notify ends the input all the same: requests are framed, so a truncated one is seen. */
void tls_receive_end(struct transport *transport)
{
    struct tls *tls = transport->tls;
    tls->ended = true;
    if (!tls->failed)
        run(transport, tls->held.data, tls->held.len);
}

void tls_resume(struct transport *transport)
{
    struct tls *tls = transport->tls;
    if (!tls->running && !tls->failed && SSL_is_init_finished(tls->ssl))
        run(transport, tls->held.data, tls->held.len);
}

/* ---- output ---- */

/* Nothing is ever taken in part: the transport has no end. */
static void encrypt(struct transport *transport, const char *data, size_t len)
{
    struct tls *tls = transport->tls;
    ERR_clear_error();
    while (len > 0 && !tls->failed && !transport->lost) {
        size_t piece = len < TLS_RECORD_SIZE ? len : TLS_RECORD_SIZE;
        int written = SSL_write(tls->ssl, data, (int)piece);
        if (written <= 0) {
            break_off(transport);
            return;
        }
        data += written;
        len -= (size_t)written;
    }
}

static void encrypt_join(struct transport *transport)
{
    struct tls_context *context = transport->tls->context;
    if (context->join.owner != transport)
        return;
    encrypt(transport, context->join.data, context->join.len);
    leave_join(context);
}

static void own_join(struct transport *transport)
{
    struct tls_context *context = transport->tls->context;
    if (context->join.owner != NULL && context->join.owner != transport)
        encrypt_join(context->join.owner);
    context->join.owner = transport;
}

/* Full records leave at once, so that a large answer is not encrypted as one piece at the end. */
static void encrypt_full_records(struct transport *transport)
{
    struct tls_context *context = transport->tls->context;
    size_t full = context->join.len - context->join.len % TLS_RECORD_SIZE;
    if (full == 0)
        return;
    encrypt(transport, context->join.data, full);
    context->join.len -= full;
    memmove(context->join.data, context->join.data + full, context->join.len);
}

/* Whether one more record may be made: bounded by what waits for the socket, and by what one turn may
   send. */
static bool has_room(const struct transport *transport)
{
    return transport_idle(transport) ? transport->turn_bytes < TRANSPORT_TURN_LIMIT
                                     : transport_pending(transport) < TRANSPORT_PENDING_LIMIT;
}

size_t tls_write(struct transport *transport, const void *data, size_t len)
{
    struct tls_context *context = transport->tls->context;
    const char *next = data;
    size_t left = len;
    own_join(transport);
    while (left > 0 && has_room(transport)) {
        size_t room = TLS_RECORD_SIZE - context->join.len, piece = left < room ? left : room;
        if (piece == TLS_RECORD_SIZE) {
            encrypt(transport, next, piece);
        } else {
            memcpy(context->join.data + context->join.len, next, piece);
            context->join.len += piece;
            encrypt_full_records(transport);
        }
        next += piece;
        left -= piece;
    }
    return len - left;
}

char *tls_reserve(struct transport *transport, size_t size)
{
    struct tls_context *context = transport->tls->context;
    own_join(transport);
    if (context->join.len + size > TLS_JOIN_SIZE)
        encrypt_join(transport);
    context->join.owner = transport;
    return context->join.data + context->join.len;
}

void tls_commit(struct transport *transport, size_t size)
{
    transport->tls->context->join.len += size;
    encrypt_full_records(transport);
}

void tls_flush(struct transport *transport)
{
    encrypt_join(transport);
}

void tls_shutdown(struct transport *transport)
{
    struct tls *tls = transport->tls;
    encrypt_join(transport);
    if (tls->failed || transport->lost || !SSL_is_init_finished(tls->ssl))
        return;
    ERR_clear_error();
    SSL_shutdown(tls->ssl); /* the client's own close_notify is not waited for */
    ERR_clear_error();
}
