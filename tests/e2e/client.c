#include "client.h"

#include "harness.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HANG 50L /* seconds after which a transfer counts as hung */

struct transfer {
    CURL *curl;
    struct curl_slist *fields;
    struct answer *answer;
    size_t capacity; /* of the answer's body */
    char problem[CURL_ERROR_SIZE];
};

static size_t take_body(char *data, size_t size, size_t count, void *to)
{
    struct transfer *transfer = to;
    struct answer *answer = transfer->answer;
    size_t more = size * count;
    if (answer->len + more >= transfer->capacity) {
        transfer->capacity = 2 * (answer->len + more) + 1;
        answer->body = realloc(answer->body, transfer->capacity);
        ck_assert_ptr_nonnull(answer->body);
    }
    memcpy(answer->body + answer->len, data, more);
    answer->len += more;
    answer->body[answer->len] = '\0';
    return more;
}

/* Only the head of the final answer is kept: a status line starts a new one. */
static size_t take_head(char *data, size_t size, size_t count, void *to)
{
    struct answer *answer = ((struct transfer *)to)->answer;
    bool first = size * count > 5 && memcmp(data, "HTTP/", 5) == 0;
    char *head = text_print("%s%.*s", first ? "" : answer->head, (int)(size * count), data);
    free(answer->head);
    answer->head = head;
    return size * count;
}

static void choose_transport(CURL *curl, const struct server *server, const struct request *request)
{
    char *certificate = folder_path(server->folder, "cert.pem");
    int port = request->transport == HTTP1 ? server->port : server->tls_port;
    ck_assert_msg(port != 0, "the server has no port for %s", transport_name(request->transport));
    curl_easy_setopt(curl, CURLOPT_URL,
                     text_print("%s://127.0.0.1:%d", request->transport == HTTP1 ? "http" : "https", port));
    curl_easy_setopt(curl, CURLOPT_REQUEST_TARGET, request->path);
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION,
                     request->transport == HTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1);
    if (access(certificate, R_OK) == 0) {
        curl_easy_setopt(curl, CURLOPT_CAINFO, certificate);
    } else {
        curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    }
}

static void choose_method(CURL *curl, const struct request *request)
{
    const char *method = request->method ? request->method : request->body ? "POST" : "GET";
    if (request->body != NULL) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->len);
    }
    if (strcmp(method, "HEAD") == 0)
        curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    else
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
}

static void prepare(struct transfer *transfer, const struct server *server, const struct request *request)
{
    CURL *curl = transfer->curl = curl_easy_init();
    transfer->answer = calloc(1, sizeof *transfer->answer);
    ck_assert(curl != NULL && transfer->answer != NULL);
    transfer->answer->head = strdup("");
    transfer->answer->body = strdup("");
    choose_transport(curl, server, request);
    choose_method(curl, request);
    /* Without a type of the test's own none is sent, and 100 is not waited for unless the test wants it. */
    transfer->fields = curl_slist_append(NULL, "Content-Type:");
    if (!request->expect)
        transfer->fields = curl_slist_append(transfer->fields, "Expect:");
    else
        transfer->fields = curl_slist_append(transfer->fields, "Expect: 100-continue");
    for (size_t i = 0; request->fields != NULL && request->fields[i] != NULL; i++)
        transfer->fields = curl_slist_append(transfer->fields, request->fields[i]);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, transfer->fields);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_head);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, transfer->problem);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, HANG);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_PIPEWAIT, 1L);
}

static struct answer *conclude(struct transfer *transfer, const struct request *request, CURLcode code)
{
    long status = 0, version = 0;
    struct answer *answer = transfer->answer;
    ck_assert_msg(code == CURLE_OK, "%s %s: %s (%s)\n%s", transport_name(request->transport), request->path,
                  curl_easy_strerror(code), transfer->problem, answer->head);
    curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(transfer->curl, CURLINFO_HTTP_VERSION, &version);
    answer->status = (int)status;
    answer->version = version == CURL_HTTP_VERSION_2_0 ? 20 : version == CURL_HTTP_VERSION_1_1 ? 11 : 10;
    ck_assert_msg((request->transport == HTTP2) == (answer->version == 20), "%s was answered as version %d",
                  transport_name(request->transport), answer->version);
    curl_easy_cleanup(transfer->curl);
    curl_slist_free_all(transfer->fields);
    return answer;
}

struct answer *client_send(const struct server *server, const struct request *request)
{
    struct transfer transfer = {0};
    prepare(&transfer, server, request);
    return conclude(&transfer, request, curl_easy_perform(transfer.curl));
}

struct answer *client_get(const struct server *server, enum transport transport, const char *path)
{
    return client_send(server, &(struct request){.transport = transport, .path = path});
}

struct answer *client_post(const struct server *server, enum transport transport, const char *path,
                           const char *type, const void *body, size_t len)
{
    const char *fields[] = {type ? text_print("Content-Type: %s", type) : NULL, NULL};
    return client_send(
        server,
        &(struct request){.transport = transport, .path = path, .fields = fields, .body = body, .len = len});
}

void client_send_all(const struct server *server, const struct request requests[],
                     struct answer *ret_answers[], size_t count)
{
    struct transfer *transfers = calloc(count, sizeof *transfers);
    CURLM *multi = curl_multi_init();
    int running = 1, left;
    ck_assert(transfers != NULL && multi != NULL);
    for (size_t i = 0; i < count; i++) {
        prepare(&transfers[i], server, &requests[i]);
        curl_easy_setopt(transfers[i].curl, CURLOPT_PRIVATE, &transfers[i]);
        curl_multi_add_handle(multi, transfers[i].curl);
    }
    while (running > 0) {
        ck_assert_int_eq(curl_multi_perform(multi, &running), CURLM_OK);
        if (running > 0)
            ck_assert_int_eq(curl_multi_poll(multi, NULL, 0, 1000, NULL), CURLM_OK);
    }
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left)) != NULL;) {
        struct transfer *transfer;
        CURLcode code = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
        curl_multi_remove_handle(multi, transfer->curl);
        size_t i = (size_t)(transfer - transfers);
        ret_answers[i] = conclude(transfer, &requests[i], code);
    }
    curl_multi_cleanup(multi);
    free(transfers);
}

const char *transport_name(enum transport transport)
{
    return transport == HTTP1 ? "HTTP/1.1" : transport == TLS1 ? "HTTP/1.1 over TLS" : "HTTP/2";
}
