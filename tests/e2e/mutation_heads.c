/* Request lines, fields that decide about the connection, and where lines and messages end. */
#include "harness.h"
#include "mutations.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define HOST "Host: x.test\r\n"
#define POST "POST /probe HTTP/1.1\r\n"

/* ---- request lines ---- */

static const struct expectation targets[] = {
    {"/probe", TAKEN},
    {"/probe?", TAKEN},
    {"/probe?a=b&c", TAKEN},
    {"/probe?a=http://y.test/", TAKEN},
    {"/probe??", TAKEN},
    {"/%70robe", TAKEN},
    {"/pro%62e?%00", TAKEN},
    {"//probe", TAKEN},
    {"///probe", TAKEN},
    {"/./probe", TAKEN},
    {"/a/../probe", TAKEN},
    {"/probe/", TAKEN},
    {"/PROBE", TAKEN},
    {"/probe;a=b", TAKEN},
    {"/probe,", TAKEN},
    {"/probe:80", TAKEN},
    {"/@probe", TAKEN},
    {"/\\probe", TAKEN},
    {"/probe%0d%0aX:%20y", TAKEN},
    {"/probe%20HTTP/1.1", TAKEN},
    {"/*", TAKEN},
    {"/http://x.test/probe", TAKEN},
    {"/..", REFUSED},
    {"/../probe", REFUSED},
    {"/a/../../probe", REFUSED},
    {"/%2e%2e/probe", REFUSED},
    {"/probe%", REFUSED},
    {"/probe%0", REFUSED},
    {"/probe%zz", REFUSED},
    {"/probe%00", REFUSED},
    {"/probe#", REFUSED},
    {"/probe#a", REFUSED},
    {"/probe?a#b", REFUSED},
    {"#/probe", REFUSED},
    {"/#", REFUSED},
    {"http://x.test/probe", TAKEN},
    {"HTTP://x.test/probe", TAKEN},
    {"https://x.test/probe", TAKEN},
    {"http://x.test:80/probe?a", TAKEN},
    {"http://x.test:/probe", TAKEN},
    {"http://x.test:65535/probe", TAKEN},
    {"http://192.0.2.1/probe", TAKEN},
    {"http://[::1]/probe", TAKEN},
    {"http://[2001:db8::1]:80/probe", TAKEN},
    {"http://x.test", TAKEN},
    {"http://x.test?a", TAKEN},
    {"http://x.test/", TAKEN},
    {"http://y.test/probe", TAKEN}, /* RFC 9112, section 3.2.2: the Host field is ignored */
    {"http://x.test//probe", TAKEN},
    {"http://x.test/probe#a", REFUSED},
    {"http://x.test#a", REFUSED},
    {"http:///probe", REFUSED}, /* RFC 9110, section 4.2.1: an empty host */
    {"http://", REFUSED},
    {"http:/probe", REFUSED},
    {"http:probe", REFUSED},
    {"http://:80/probe", REFUSED},
    {"http://x.test:65536/probe", REFUSED},
    {"http://x.test:99999/probe", REFUSED},
    {"http://x.test:-1/probe", REFUSED},
    {"http://x.test:+80/probe", REFUSED},
    {"http://x.test:8x/probe", REFUSED},
    {"http://x.test:80:80/probe", REFUSED},
    {"http://a@x.test/probe", REFUSED}, /* RFC 9110, section 4.2.4: userinfo */
    {"http://a:b@x.test/probe", REFUSED},
    {"http://@x.test/probe", REFUSED},
    {"http://x.test\\probe", REFUSED},
    {"http://x,test/probe", REFUSED},
    {"http://[::1/probe", REFUSED},
    {"http://::1/probe", REFUSED},
    {"http://[x.test]/probe", REFUSED},
    {"http://[::1]x/probe", REFUSED},
    {"http://x%2ftest/probe", REFUSED},
    {"ftp://x.test/probe", REFUSED},
    {"ws://x.test/probe", REFUSED},
    {"file:///probe", REFUSED},
    {"javascript:probe", REFUSED},
    {"httpx://x.test/probe", REFUSED},
    {"://x.test/probe", REFUSED},
    {"x.test", REFUSED},
    {"x.test:80", REFUSED},
    {"x.test/probe", REFUSED},
    {"probe", REFUSED},
    {".", REFUSED},
    {"?", REFUSED},
    {"?a", REFUSED},
    {"*", REFUSED},
    {"**", REFUSED},
    {"*/", REFUSED},
    {"*?", REFUSED},
    {"\\probe", REFUSED},
    {"%2fprobe", REFUSED},
    {"", REFUSED},
    {" ", REFUSED},
    {" /probe", REFUSED},
    {"/probe ", REFUSED},
    {"/pro be", REFUSED},
    {"/probe\t", REFUSED},
    {"\t/probe", REFUSED},
    {"/pr\xc3\xb6"
     "be",
     REFUSED},
    {"/probe?\xff", REFUSED},
};

static const struct expectation versions[] = {
    {"HTTP/1.1", TAKEN},
    {"HTTP/1.0", ALONE},
    {"HTTP/1.2", REFUSED},
    {"HTTP/1.9", REFUSED},
    {"HTTP/0.9", REFUSED},
    {"HTTP/2.0", REFUSED},
    {"HTTP/2", REFUSED},
    {"HTTP/3.0", REFUSED},
    {"HTTP/9.9", REFUSED},
    {"HTTP/1", REFUSED},
    {"HTTP/1.", REFUSED},
    {"HTTP/.1", REFUSED},
    {"HTTP/", REFUSED},
    {"HTTP", REFUSED},
    {"HTTP1.1", REFUSED},
    {"HTTP /1.1", REFUSED},
    {"HTTP/ 1.1", REFUSED},
    {"HTTP/1 .1", REFUSED},
    {"HTTP/1. 1", REFUSED},
    {"HTTP/01.1", REFUSED},
    {"HTTP/1.01", REFUSED},
    {"HTTP/1.10", REFUSED},
    {"HTTP/1.1.1", REFUSED},
    {"HTTP/1,1", REFUSED},
    {"HTTP/11", REFUSED},
    {"HTTP/+1.1", REFUSED},
    {"HTTP/1.-1", REFUSED},
    {"HTTP/a.b", REFUSED},
    {"HTTP/1.x", REFUSED},
    {"http/1.1", REFUSED},
    {"Http/1.1", REFUSED},
    {"HTTPS/1.1", REFUSED},
    {"HTP/1.1", REFUSED},
    {"ICY/1.1", REFUSED},
    {"RTSP/1.0", REFUSED},
    {"XHTTP/1.1", REFUSED},
    {"", REFUSED},
    {" HTTP/1.1", REFUSED},
    {"HTTP/1.1 ", REFUSED},
    {"HTTP/1.1\t", REFUSED},
    {"HTTP/1.1 HTTP/1.1", REFUSED},
    {"x HTTP/1.1", REFUSED},
};

static const struct expectation methods[] = {
    {"GET", TAKEN},
    {"POST", TAKEN},
    {"PUT", TAKEN},
    {"DELETE", TAKEN},
    {"PATCH", TAKEN},
    {"HEAD", TAKEN},
    {"OPTIONS", TAKEN},
    {"TRACE", TAKEN},
    {"PROPFIND", TAKEN},
    {"M-SEARCH", TAKEN},
    {"X_Y", TAKEN},
    {"get", TAKEN},
    {"Get", TAKEN},
    {"X", TAKEN},
    {"X1", TAKEN},
    {"1", TAKEN},
    {"!#$%&'*+-.^_`|~", TAKEN},
    {"CONNECT", REFUSED},
    {"", REFUSED},
    {" GET", REFUSED},
    {"GET ", REFUSED},
    {"GET\t", REFUSED},
    {"G(T", REFUSED},
    {"G:T", REFUSED},
    {"\"GET\"", REFUSED},
    {"GET,", REFUSED},
    {"[GET]", REFUSED},
    {"G\xc3\x89T", REFUSED},
    {"GET /probe HTTP/1.1\r\nGET", REFUSED},
};

static const char *const lines[] = {
    "",
    " ",
    "GET",
    "GET ",
    "GET /probe",
    "GET /probe ",
    "GET/probe HTTP/1.1",
    "GET  /probe HTTP/1.1",
    "GET /probe  HTTP/1.1",
    "GET\t/probe\tHTTP/1.1",
    "GET\t/probe HTTP/1.1",
    "GET /probe\tHTTP/1.1",
    "GET /probeHTTP/1.1",
    "GET HTTP/1.1",
    "GET  HTTP/1.1",
    "/probe HTTP/1.1",
    "HTTP/1.1",
    "HTTP/1.1 200 OK",
    "GET /probe HTTP/1.1 X",
    "GET /probe /probe HTTP/1.1",
    "GET,/probe,HTTP/1.1",
    "GET\x0b/probe\x0bHTTP/1.1",
    "GET\x0c/probe\x0cHTTP/1.1",
    "GET\r/probe\rHTTP/1.1",
    "GET /probe\rHTTP/1.1",
    "GET /probe HTTP/1.1\r",
    "\rGET /probe HTTP/1.1",
    "GET /probe\r\n HTTP/1.1",
    "GET\r\n /probe HTTP/1.1",
    "GET\xa0/probe\xa0HTTP/1.1",
    "\xef\xbb\xbfGET /probe HTTP/1.1",
    "Host: x.test",
    ": x",
    "\x16\x03\x01\x02",
    "SSH-2.0-x",
};

static void add_request_lines(struct mutations *mutations)
{
    for (size_t i = 0; i < COUNT(targets); i++) {
        static const char *const verbs[] = {"GET", "POST", "HEAD", "X"};
        for (size_t j = 0; j < COUNT(verbs); j++)
            mutations_add_text(mutations, "target", i,
                               text_print("%s %s HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\n" BODY CANARY,
                                          verbs[j], targets[i].text),
                               targets[i].expected, 5);
        mutations_add_text(mutations, "target-no-host", i,
                           text_print("GET %s HTTP/1.1\r\n\r\n" CANARY, targets[i].text), REFUSED, -1);
        mutations_add_text(
            mutations, "target-1.0", i,
            text_print("GET %s HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" CANARY, targets[i].text),
            targets[i].expected, 0);
    }
    for (size_t i = 0; i < COUNT(versions); i++)
        mutations_add_text(
            mutations, "version", i,
            text_print("POST /probe %s\r\n" HOST "Content-Length: 5\r\n\r\n" BODY CANARY, versions[i].text),
            versions[i].expected, 5);
    for (size_t i = 0; i < COUNT(methods); i++)
        mutations_add_text(mutations, "method", i,
                           text_print("%s /probe HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\n" BODY CANARY,
                                      methods[i].text),
                           methods[i].expected, 5);
    /* The first of them is an empty line before a field line. */
    for (size_t i = 0; i < COUNT(lines); i++)
        mutations_add_text(mutations, "line", i, text_print("%s\r\n" HOST "\r\n" CANARY, lines[i]), REFUSED,
                           -1);
    mutations_add_text(mutations, "asterisk", 0, text_print("OPTIONS * HTTP/1.1\r\n" HOST "\r\n" CANARY),
                       TAKEN, -1);
    mutations_add_text(mutations, "asterisk", 1, text_print("OPTIONS * HTTP/1.1\r\n\r\n" CANARY), REFUSED,
                       -1);
    mutations_add_text(mutations, "asterisk", 2, text_print("OPTIONS *? HTTP/1.1\r\n" HOST "\r\n" CANARY),
                       REFUSED, -1);
    mutations_add_text(mutations, "asterisk", 3, text_print("options * HTTP/1.1\r\n" HOST "\r\n" CANARY),
                       REFUSED, -1);
    mutations_add_text(mutations, "authority", 0,
                       text_print("CONNECT x.test:80 HTTP/1.1\r\n" HOST "\r\n" CANARY), REFUSED, -1);
    mutations_add_text(mutations, "authority", 1, text_print("GET x.test:80 HTTP/1.1\r\n" HOST "\r\n" CANARY),
                       REFUSED, -1);
}

/* ---- other fields ---- */

static const struct expectation fields[] = {
    {"Expect: 100-continue", TAKEN},
    {"expect:100-CONTINUE", TAKEN},
    {"Expect: 100-continue\r\nExpect: 100-continue", TAKEN},
    {"Expect:", REFUSED},
    {"Expect: 100", REFUSED},
    {"Expect: 100-continu", REFUSED},
    {"Expect: 100-continue-", REFUSED},
    {"Expect: 200-ok", REFUSED},
    {"Expect: 100-continue, x", REFUSED},
    {"Expect: x, 100-continue", REFUSED},
    {"Expect: 100-continue; a=b", REFUSED},
    {"Expect: \"100-continue\"", REFUSED},
    {"Expect: 100-continue\r\nExpect: x", REFUSED},
    {"Connection: close", ALONE},
    {"connection:CLOSE", ALONE},
    {"Connection: close, x", ALONE},
    {"Connection: x,close", ALONE},
    {"Connection: x , ,\tclose\t,", ALONE},
    {"Connection: keep-alive, close", ALONE},
    {"Connection: close, keep-alive", ALONE},
    {"Connection: keep-alive\r\nConnection: close", ALONE},
    {"Connection: close\r\nConnection: keep-alive", ALONE},
    {"Connection: keep-alive", TAKEN},
    {"Connection:", TAKEN},
    {"Connection: ,", TAKEN},
    {"Connection: x", TAKEN},
    {"Connection: closed", TAKEN},
    {"Connection: xclose", TAKEN},
    {"Connection: x close", TAKEN},
    {"Connection: close x", TAKEN},
    {"Connection: close;q=0", TAKEN},
    {"Connection: \"close\"", TAKEN},
    {"Connection: te\r\nTE: trailers", TAKEN},
    {"Connection: Content-Length", TAKEN},
    {"Connection: Host", TAKEN},
    {"Connection: Upgrade\r\nUpgrade: x", TAKEN},
    {"Connection: Upgrade\r\nUpgrade: h2c", TAKEN},
    {"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__", TAKEN},
    {"Upgrade: websocket", TAKEN},
    {"Proxy-Connection: close", TAKEN},
    {"Keep-Alive: timeout=5", TAKEN},
    {"TE: trailers, chunked", TAKEN},
    {"Trailer: Content-Length", TAKEN},
    {"Max-Forwards: 0", TAKEN},
    {"Cookie: a=b\r\nCookie: c=d", TAKEN},
    {"Content-Type: text/plain\r\nContent-Type: text/html", TAKEN},
    {"X:", TAKEN},
    {"X: \t ", TAKEN},
    {"X: y\r\nX: y", TAKEN},
    {"X:y:z", TAKEN},
    {"!#$%&'*+-.^_`|~09azAZ: y", TAKEN},
    {"X: \xc3\xa4\xff", TAKEN},
    {"X", REFUSED},
    {"X y", REFUSED},
    {"X y: z", REFUSED},
    {":", REFUSED},
    {": y", REFUSED},
    {"X: y\r\n z", REFUSED},
    {"X: y\r\n\tz", REFUSED},
    {"X: y\r\n ", REFUSED},
    {"X:\r\n\r", REFUSED},
    {"X: y\rz", REFUSED},
    {"X: y\r\r", REFUSED},
    {"X: y\nz: x", REFUSED},
    {"X\r: y", REFUSED},
    {"X: \x01", REFUSED},
    {"X: \x7f", REFUSED},
    {"X(y): z", REFUSED},
    {"X;: y", REFUSED},
    {"X/Y: y", REFUSED},
    {"GET /smuggled HTTP/1.1", REFUSED},
    {"X: y\r\n\r", REFUSED},
};

static void add_fields(struct mutations *mutations)
{
    for (size_t i = 0; i < COUNT(fields); i++) {
        mutations_add_text(
            mutations, "field", i,
            text_print(POST HOST "%s\r\nContent-Length: 5\r\n\r\n" BODY CANARY, fields[i].text),
            fields[i].expected, 5);
        mutations_add_text(
            mutations, "field-first", i,
            text_print(POST "%s\r\n" HOST "Content-Length: 5\r\n\r\n" BODY CANARY, fields[i].text),
            fields[i].expected, 5);
        mutations_add_text(mutations, "field-chunked", i,
                           text_print(POST HOST
                                      "Transfer-Encoding: chunked\r\n%s\r\n\r\n" CHUNKED_BODY CANARY,
                                      fields[i].text),
                           fields[i].expected, 5);
    }
}

/* ---- ends ---- */

/* Every beginning of a request: nothing is run before it is whole. */
static void add_beginnings(struct mutations *mutations)
{
    static const char *const whole[] = {
        "GET /probe HTTP/1.1\r\n" HOST "\r\n",
        POST HOST "Content-Length: 5\r\n\r\n" BODY,
        POST HOST "Transfer-Encoding: chunked\r\n\r\n3;a=\"b\"\r\nabc\r\n" CHUNKED_BODY,
        POST HOST "Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n\r\n",
    };
    for (size_t i = 0; i < COUNT(whole); i++)
        for (size_t len = 1; len < strlen(whole[i]); len++)
            mutations_add(mutations, "beginning", len, whole[i], len, SILENT, -1);
}

/* Each CRLF of a head, one at a time, as something else. */
static void add_line_ends(struct mutations *mutations)
{
    static const char head[] = POST HOST "X: y\r\nContent-Length: 5\r\n\r\n" BODY CANARY;
    static const char *const ends[] = {"\n", "\r", "\r\r\n", "\n\r", "\n\n", " \r\n ", "\r \n", "\v\n"};
    size_t head_len = strlen(head) - strlen(BODY CANARY);
    for (size_t at = 0; at < head_len; at++)
        for (size_t i = 0; head[at] == '\r' && i < COUNT(ends); i++)
            mutations_add_text(mutations, "line-end", at * COUNT(ends) + i,
                               text_print("%.*s%s%s", (int)at, head, ends[i], head + at + 2), REFUSED, -1);
    static const struct expectation before[] = {
        {"\r\n", TAKEN},     {"\r\n\r\n", TAKEN}, {"\r\n\r\n\r\n", REFUSED}, {"\n", REFUSED},
        {"\r", REFUSED},     {"\n\n", REFUSED},   {"\r\r\n", REFUSED},       {" \r\n", REFUSED},
        {"\t\r\n", REFUSED}, {" ", REFUSED},      {"\r\n ", REFUSED},        {"\r\n\n", REFUSED},
    };
    for (size_t i = 0; i < COUNT(before); i++)
        mutations_add_text(mutations, "empty-lines", i,
                           text_print("%s" POST HOST "Content-Length: 5\r\n\r\n" BODY CANARY, before[i].text),
                           before[i].expected, 5);
    for (size_t i = 0; i < COUNT(before); i++)
        mutations_add_text(mutations, "empty-lines-between", i,
                           text_print(POST HOST "Content-Length: 5\r\n\r\n" BODY "%s" CANARY, before[i].text),
                           before[i].expected == TAKEN ? TAKEN : ALONE, 5);
}

void mutations_add_heads(struct mutations *mutations)
{
    add_request_lines(mutations);
    add_fields(mutations);
    add_beginnings(mutations);
    add_line_ends(mutations);
}
