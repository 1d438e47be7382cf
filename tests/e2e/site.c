#include "site.h"

#include <brotli/decode.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define PATIENCE 3000 /* pauses of 10 ms */
#define UNPACKED_MAX (16 << 20)

static const char **joined(const char *const first[], const char *const second[])
{
    size_t count = 0;
    const char **all = calloc(64, sizeof *all);
    ck_assert_ptr_nonnull(all);
    for (size_t i = 0; first[i] != NULL; i++)
        all[count++] = first[i];
    for (size_t i = 0; second[i] != NULL; i++)
        all[count++] = second[i];
    return all;
}

struct site *site_start(struct folder *folder, const char *const environment[])
{
    struct site *site = calloc(1, sizeof *site);
    ck_assert_ptr_nonnull(site);
    const char *const ssl[] = {"SSL=1", "SSL_PORT=0", text_print("SSL_CERT=%s/cert.pem", folder->path),
                               text_print("SSL_KEY=%s/key.pem", folder->path), NULL};
    folder_add_certificate(folder);
    site->folder = folder;
    environment = joined((const char *const[]){"THREADS=1", NULL}, environment);
    site->plain = server_start(folder, environment);
    site->tls = server_start(folder, joined(ssl, environment));
    return site;
}

void site_stop(struct site *site)
{
    if (site == NULL)
        return;
    server_stop(site->plain);
    server_stop(site->tls);
}

struct server *site_server(const struct site *site, enum transport transport)
{
    return transport == HTTP1 ? site->plain : site->tls;
}

struct answer *site_send(const struct site *site, enum transport transport, const char *method,
                         const char *path, const char *const fields[])
{
    return client_send(
        site_server(site, transport),
        &(struct request){.transport = transport, .method = method, .path = path, .fields = fields});
}

struct answer *site_get(const struct site *site, enum transport transport, const char *path)
{
    return site_send(site, transport, NULL, path, NULL);
}

struct answer *site_get_with(const struct site *site, enum transport transport, const char *path,
                             const char *field)
{
    return site_send(site, transport, NULL, path, (const char *const[]){field, NULL});
}

struct answer *site_await_field(const struct site *site, enum transport transport, const char *path,
                                const char *request_field, const char *name, const char *value)
{
    struct answer *answer = NULL;
    for (int i = 0; i < PATIENCE; i++) {
        answer = site_get_with(site, transport, path, request_field);
        const char *found = answer_field(answer, name);
        if (value == NULL ? found == NULL : found != NULL && strcmp(found, value) == 0)
            return answer;
        pause_ms(10);
    }
    ck_abort_msg("%s: %s never was %s\n%s", path, name, value ? value : "absent", answer->head);
}

struct answer *site_await(const struct site *site, enum transport transport, const char *path, int status,
                          const char *body)
{
    struct answer *answer = NULL;
    for (int i = 0; i < PATIENCE; i++) {
        answer = site_get(site, transport, path);
        if (answer->status == status && (body == NULL || strcmp(answer->body, body) == 0))
            return answer;
        pause_ms(10);
    }
    ck_abort_msg("%s never was %d %s\n%s%s", path, status, body ? body : "", answer->head, answer->body);
}

static size_t unpack_gzip(const struct answer *answer, char *out)
{
    z_stream stream = {.next_in = (Bytef *)answer->body,
                       .avail_in = (uInt)answer->len,
                       .next_out = (Bytef *)out,
                       .avail_out = UNPACKED_MAX};
    ck_assert_int_eq(inflateInit2(&stream, 31), Z_OK);
    ck_assert_int_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
    ck_assert_uint_eq(stream.avail_in, 0);
    size_t len = stream.total_out;
    inflateEnd(&stream);
    return len;
}

char *answer_unpack(const struct answer *answer, size_t *ret_len)
{
    const char *coding = answer_field(answer, "content-encoding");
    char *out = malloc(UNPACKED_MAX + 1);
    ck_assert_ptr_nonnull(out);
    *ret_len = UNPACKED_MAX;
    if (coding == NULL) {
        *ret_len = answer->len;
        memcpy(out, answer->body, answer->len);
    } else if (strcmp(coding, "gzip") == 0) {
        *ret_len = unpack_gzip(answer, out);
    } else {
        ck_assert_str_eq(coding, "br");
        ck_assert_int_eq(
            BrotliDecoderDecompress(answer->len, (const uint8_t *)answer->body, ret_len, (uint8_t *)out),
            BROTLI_DECODER_RESULT_SUCCESS);
    }
    out[*ret_len] = '\0';
    return out;
}
