/* What functions/tests/simple.c and full.c do, as a module of kore: a peer of the benchmark. */
/* The order is kore's own. */
/* clang-format off */
#include <kore/kore.h>
#include <kore/http.h>
/* clang-format on */

int simple(struct http_request *request);
int full(struct http_request *request);

static long long calls;

int simple(struct http_request *request)
{
    static const char text[] = "Hello from cloudgate, in C";
    http_response_header(request, "content-type", "text/plain; charset=utf-8");
    http_response(request, HTTP_STATUS_OK, text, sizeof text - 1);
    return KORE_RESULT_OK;
}

int full(struct http_request *request)
{
    struct kore_buf text;
    struct http_header *header;
    kore_buf_init(&text, 1024);
    kore_buf_appendf(&text, "Hello, World!\n\nmethod  %s\npath    %s\nquery   %s\n",
                     http_method_text(request->method), request->path,
                     request->query_string ? request->query_string : "");
    kore_buf_appendf(&text, "host    %s\nscheme  http\nclient  127.0.0.1\ncall    %lld\n", request->host,
                     ++calls);
    kore_buf_appendf(&text, "\nheaders\n");
    TAILQ_FOREACH(header, &request->req_headers, list)
    kore_buf_appendf(&text, "  %s: %s\n", header->header, header->value);
    http_response_header(request, "content-type", "text/plain; charset=utf-8");
    http_response(request, HTTP_STATUS_OK, text.data, text.offset);
    kore_buf_cleanup(&text);
    return KORE_RESULT_OK;
}
