/* The rules of HTTP/2 and HPACK, one a row, in the order in which the public conformance suite h2spec tries
   them; each over TLS and with prior knowledge. Only a server that keeps all of them can be called one. */
#include "harness.h"
#include "http2_script.h"

#include <stdlib.h>
#include <string.h>

/* What must come of it. */
struct outcome {
    enum kind {
        IS_HEADERS,      /* an answer on stream 1 */
        IS_DATA,         /* of that many bytes; 0: any */
        IS_ACK,          /* of SETTINGS */
        IS_SETTINGS,     /* ours, first of all */
        IS_ALIVE,        /* PING is acknowledged */
        IS_ALIVE_OR_END, /* or the connection ends without an error */
        IS_RESET,        /* RST_STREAM for stream 1 */
        IS_STREAM,       /* RST_STREAM or GOAWAY, with one of the codes */
        IS_CONNECTION,   /* GOAWAY with one of the codes, and the end */
        IS_END,          /* of the connection, whatever comes before */
    } kind;
    unsigned values[2]; /* a size, or the codes that are right */
};

#define HEADERS     \
    {               \
        IS_HEADERS, \
        {           \
            0       \
        }           \
    }
#define DATA(...)       \
    {                   \
        IS_DATA,        \
        {               \
            __VA_ARGS__ \
        }               \
    }
#define ACK     \
    {           \
        IS_ACK, \
        {       \
            0   \
        }       \
    }
#define SETTINGS     \
    {                \
        IS_SETTINGS, \
        {            \
            0        \
        }            \
    }
#define ALIVE     \
    {             \
        IS_ALIVE, \
        {         \
            0     \
        }         \
    }
#define ALIVE_OR_END     \
    {                    \
        IS_ALIVE_OR_END, \
        {                \
            0            \
        }                \
    }
#define RESET(...)      \
    {                   \
        IS_RESET,       \
        {               \
            __VA_ARGS__ \
        }               \
    }
#define STREAM(...)     \
    {                   \
        IS_STREAM,      \
        {               \
            __VA_ARGS__ \
        }               \
    }
#define CONNECTION(...) \
    {                   \
        IS_CONNECTION,  \
        {               \
            __VA_ARGS__ \
        }               \
    }
#define END     \
    {           \
        IS_END, \
        {       \
            0   \
        }       \
    }

#define PROTOCOL NGHTTP2_PROTOCOL_ERROR
#define CLOSED NGHTTP2_STREAM_CLOSED
#define SIZE NGHTTP2_FRAME_SIZE_ERROR
#define FLOW NGHTTP2_FLOW_CONTROL_ERROR
#define COMPRESSION NGHTTP2_COMPRESSION_ERROR
#define REFUSED NGHTTP2_REFUSED_STREAM
#define GET_BLOCK "828684 0106782e74657374" /* a GET of / on x.test */

struct rule {
    const char *name, *script; /* one that begins with bytes brings its own preface */
    struct outcome outcome;
};

#define PREFACE "X 505249202a20485454502f322e300d0a0d0a534d0d0a0d0a"

static const struct rule rules[] = {
    /* generic: what every endpoint must be able to do */
    {"generic 1/1 preface", PREFACE "; S 4=65535", SETTINGS},
    {"generic 2/1 PRIORITY on an idle stream", "P 1 0 255", ALIVE},
    {"generic 2/2 WINDOW_UPDATE on a half-closed stream", "S 4=0; H 1 eh get; W 1 1", DATA(0)},
    {"generic 2/3 PRIORITY on a half-closed stream", "S 4=0; H 1 eh get; P 1 0 255; W 1 1", DATA(0)},
    {"generic 2/4 RST_STREAM on a half-closed stream", "H 1 eh get; R 1 8", ALIVE_OR_END},
    {"generic 2/5 PRIORITY on a closed stream", "H 1 eh get; wait closed; P 1 0 255", ALIVE},
    {"generic 3.1/1 DATA", "H 1 h post; D 1 e test", HEADERS},
    {"generic 3.1/2 several DATA", "H 1 h post; D 1 - test; D 1 e test", HEADERS},
    {"generic 3.1/3 DATA with padding", "H 1 h post; F 0 9 1 05 74657374 0000000000", HEADERS},
    {"generic 3.2/1 HEADERS", "H 1 eh get", HEADERS},
    {"generic 3.2/2 HEADERS with padding", "F 1 0xd 1 08 " GET_BLOCK "0000000000000000", HEADERS},
    {"generic 3.2/3 HEADERS with priority", "F 1 0x25 1 00000000 ff " GET_BLOCK, HEADERS},
    {"generic 3.3/1 PRIORITY 1", "P 1 0 0; H 1 eh get", HEADERS},
    {"generic 3.3/2 PRIORITY 256", "P 1 0 255; H 1 eh get", HEADERS},
    {"generic 3.3/3 PRIORITY with a dependency", "P 3 1 0; H 1 eh get", HEADERS},
    {"generic 3.3/4 PRIORITY, exclusive", "P 1 0x80000000 0; H 1 eh get", HEADERS},
    {"generic 3.3/5 PRIORITY for a later stream", "P 3 0 255; H 1 eh get", HEADERS},
    {"generic 3.4/1 RST_STREAM", "H 1 h get; R 1 8", ALIVE_OR_END},
    {"generic 3.5/1 SETTINGS", "S 1=4096 2=1 3=100 4=65535 5=16384 6=100", ACK},
    {"generic 3.7/1 PING", "I alive?", ALIVE},
    {"generic 3.8/1 GOAWAY", "G 0", ALIVE_OR_END},
    {"generic 3.9/1 WINDOW_UPDATE of the connection", "W 0 1", ALIVE},
    {"generic 3.9/2 WINDOW_UPDATE of a stream", "H 1 eh get; W 1 1", HEADERS},
    {"generic 3.10/1 CONTINUATION", "H 1 e :method=GET :scheme=http; C 1 h :path=/ :authority=x.test",
     HEADERS},
    {"generic 3.10/2 several CONTINUATION",
     "H 1 e :method=GET :scheme=http; C 1 - :path=/; C 1 h :authority=x.test", HEADERS},
    {"generic 4/1 GET", "H 1 eh get", HEADERS},
    {"generic 4/2 HEAD", "H 1 eh head", HEADERS},
    {"generic 4/3 POST", "H 1 h post; D 1 e test", HEADERS},
    {"generic 4/4 POST with trailers", "H 1 h post trailer=x-test; D 1 - test; H 1 eh x-test=ok", HEADERS},
    {"generic 5/1 indexed field", "H 1 eh get #ba", HEADERS},
    {"generic 5/2 incremental indexing, indexed name", "H 1 eh get #7a06683273706563", HEADERS},
    {"generic 5/3 the same, Huffman coded", "H 1 eh get #7a849c48aca4", HEADERS},
    {"generic 5/4 incremental indexing, new name", "H 1 eh get #4006782d7465737406683273706563", HEADERS},
    {"generic 5/5 the same, Huffman coded", "H 1 eh get #4085f2b24a84ff849c48aca4", HEADERS},
    {"generic 5/6 without indexing, indexed name", "H 1 eh get #0f2b06683273706563", HEADERS},
    {"generic 5/7 the same, Huffman coded", "H 1 eh get #0f2b849c48aca4", HEADERS},
    {"generic 5/8 without indexing, new name", "H 1 eh get #0006782d7465737406683273706563", HEADERS},
    {"generic 5/9 the same, Huffman coded", "H 1 eh get #0085f2b24a84ff849c48aca4", HEADERS},
    {"generic 5/10 never indexed, indexed name", "H 1 eh get #1f2b06683273706563", HEADERS},
    {"generic 5/11 the same, Huffman coded", "H 1 eh get #1f2b849c48aca4", HEADERS},
    {"generic 5/12 never indexed, new name", "H 1 eh get #1006782d7465737406683273706563", HEADERS},
    {"generic 5/13 the same, Huffman coded", "H 1 eh get #1085f2b24a84ff849c48aca4", HEADERS},
    {"generic 5/14 a smaller table", "H 1 eh #3f61 get", HEADERS},
    {"generic 5/15 a smaller table, and back", "H 1 eh #3f613fe11f get", HEADERS},

    /* http2: what RFC 7540, and RFC 9113 after it, demand */
    {"http2 3.5/1 preface", PREFACE "; S 4=65535", SETTINGS},
    {"http2 3.5/2 another preface", "X 494e56414c494420434f4e4e454354494f4e20505245464143450d0a0d0a", END},
    {"http2 4.1/1 unknown type", "F 0x16 0 0 0000000000000000", ALIVE},
    {"http2 4.1/2 undefined flags", "F 6 0x16 0 616c6976653f0000", ALIVE},
    {"http2 4.1/3 reserved bit", "F 6 0x16 0x80000000 616c6976653f0000", ALIVE},
    {"http2 4.2/1 DATA of 2^14 bytes", "H 1 h post; D 1 e *16384", HEADERS},
    {"http2 4.2/2 DATA beyond the maximum", "H 1 h post; D 1 e *16385", STREAM(SIZE)},
    {"http2 4.2/3 HEADERS beyond the maximum", "H 1 eh get dummies", CONNECTION(SIZE)},
    {"http2 4.3/1 HPACK that is none", "F 1 5 1 40", CONNECTION(COMPRESSION)},
    {"http2 4.3/2 PRIORITY within a head", "H 1 - get; P 1 0 255; C 1 h dummy", CONNECTION(PROTOCOL)},
    {"http2 4.3/3 HEADERS of another stream within a head", "H 1 - get; H 3 eh get; C 1 h dummy",
     CONNECTION(PROTOCOL)},
    {"http2 5.1/1 idle: DATA", "D 1 e test", CONNECTION(PROTOCOL, CLOSED)},
    {"http2 5.1/2 idle: RST_STREAM", "R 1 8", CONNECTION(PROTOCOL)},
    {"http2 5.1/3 idle: WINDOW_UPDATE", "W 1 100", CONNECTION(PROTOCOL)},
    {"http2 5.1/4 idle: CONTINUATION", "C 1 h get", CONNECTION(PROTOCOL)},
    {"http2 5.1/5 half closed: DATA", "H 1 eh get; D 1 e test", STREAM(CLOSED)},
    {"http2 5.1/6 half closed: HEADERS", "H 1 eh get; H 1 eh get", STREAM(CLOSED)},
    {"http2 5.1/7 half closed: CONTINUATION", "H 1 eh get; C 1 h get", STREAM(CLOSED, PROTOCOL)},
    {"http2 5.1/8 reset: DATA", "H 1 h get; R 1 8; D 1 e test", STREAM(CLOSED)},
    {"http2 5.1/9 reset: HEADERS", "H 1 h get; R 1 8; H 1 eh get", STREAM(CLOSED)},
    {"http2 5.1/10 reset: CONTINUATION", "H 1 h get; R 1 8; C 1 h dummy", STREAM(CLOSED, PROTOCOL)},
    {"http2 5.1/11 closed: DATA", "H 1 eh get; wait closed; D 1 e test", STREAM(CLOSED)},
    {"http2 5.1/12 closed: HEADERS", "H 1 eh get; wait closed; H 1 eh get", CONNECTION(CLOSED)},
    {"http2 5.1/13 closed: CONTINUATION", "H 1 eh get; wait closed; C 1 h dummy",
     CONNECTION(CLOSED, PROTOCOL)},
    {"http2 5.1.1/1 an even stream", "H 2 eh get", CONNECTION(PROTOCOL)},
    {"http2 5.1.1/2 a smaller stream", "H 5 eh get; H 3 eh get", CONNECTION(PROTOCOL)},
    {"http2 5.3.1/1 HEADERS that depend on themselves", "F 1 0x25 1 00000001 ff " GET_BLOCK,
     STREAM(PROTOCOL)},
    {"http2 5.3.1/2 PRIORITY that depends on itself", "P 1 1 255", STREAM(PROTOCOL)},
    {"http2 5.4.1/1 PING of a stream ends the connection", "F 6 0 3 0000000000000000", END},
    {"http2 5.4.1/2 and GOAWAY says why", "F 6 0 3 0000000000000000", CONNECTION(PROTOCOL)},
    {"http2 5.5/1 unknown type", "F 0x16 0 0 0000000000000000", ALIVE},
    {"http2 5.5/2 unknown type within a head", "H 1 e get; F 0x16 0 0 0000000000000000",
     CONNECTION(PROTOCOL)},
    {"http2 6.1/1 DATA of stream 0", "D 0 e test", CONNECTION(PROTOCOL)},
    {"http2 6.1/2 DATA of a half-closed stream", "H 1 eh post; D 1 e test", STREAM(CLOSED)},
    {"http2 6.1/3 DATA with too much padding", "H 1 h post content-length=4; F 0 9 1 06 54657374",
     CONNECTION(PROTOCOL)},
    {"http2 6.2/1 PRIORITY within a head", "H 1 - get; P 1 0 255; C 1 h dummy", CONNECTION(PROTOCOL)},
    {"http2 6.2/2 HEADERS of another stream within a head", "H 1 - get; H 3 eh get; C 1 h dummy",
     CONNECTION(PROTOCOL)},
    {"http2 6.2/3 HEADERS of stream 0", "H 0 eh get", CONNECTION(PROTOCOL)},
    {"http2 6.2/4 HEADERS with too much padding", "F 1 0xd 1 0d " GET_BLOCK, STREAM(PROTOCOL)},
    {"http2 6.3/1 PRIORITY of stream 0", "P 0 0 255", CONNECTION(PROTOCOL)},
    {"http2 6.3/2 PRIORITY of 4 bytes", "H 1 eh get; F 2 0 1 80000001", STREAM(SIZE)},
    {"http2 6.4/1 RST_STREAM of stream 0", "R 0 8", CONNECTION(PROTOCOL)},
    {"http2 6.4/2 RST_STREAM of an idle stream", "R 1 8", CONNECTION(PROTOCOL)},
    {"http2 6.4/3 RST_STREAM of 3 bytes", "H 1 eh get; F 3 0 1 000000", STREAM(SIZE)},
    {"http2 6.5/1 SETTINGS with ACK and a payload", "F 4 1 0 00", CONNECTION(SIZE)},
    {"http2 6.5/2 SETTINGS of a stream", "F 4 0 1 000300000064", CONNECTION(PROTOCOL)},
    {"http2 6.5/3 SETTINGS of 3 bytes", "F 4 0 0 000300", CONNECTION(PROTOCOL, SIZE)},
    {"http2 6.5.2/1 ENABLE_PUSH 2", "S 2=2", CONNECTION(PROTOCOL)},
    {"http2 6.5.2/2 INITIAL_WINDOW_SIZE 2^31", "S 4=2147483648", CONNECTION(FLOW)},
    {"http2 6.5.2/3 MAX_FRAME_SIZE 16383", "S 5=16383", CONNECTION(PROTOCOL)},
    {"http2 6.5.2/4 MAX_FRAME_SIZE 2^24", "S 5=16777216", CONNECTION(PROTOCOL)},
    {"http2 6.5.2/5 unknown parameter", "S 255=1", ALIVE},
    {"http2 6.5.3/1 the last of two values counts", "S 4=100 4=1; wait ack; H 1 eh get", DATA(1)},
    {"http2 6.5.3/2 SETTINGS are acknowledged", "S 2=0", ACK},
    {"http2 6.7/1 PING", "I alive?", ALIVE},
    {"http2 6.7/2 PING with ACK is not answered", "F 6 1 0 696e76616c696400", ALIVE},
    {"http2 6.7/3 PING of a stream", "F 6 0 1 0000000000000000", CONNECTION(PROTOCOL)},
    {"http2 6.7/4 PING of 6 bytes", "F 6 0 0 000000000000", CONNECTION(SIZE)},
    {"http2 6.8/1 GOAWAY of a stream", "F 7 0 1 0000000000000000", CONNECTION(PROTOCOL)},
    {"http2 6.9/1 WINDOW_UPDATE of 0", "W 0 0", CONNECTION(PROTOCOL)},
    {"http2 6.9/2 WINDOW_UPDATE of 0 on a stream", "H 1 h get; W 1 0", STREAM(PROTOCOL)},
    {"http2 6.9/3 WINDOW_UPDATE of 3 bytes", "F 8 0 0 000001", CONNECTION(SIZE)},
    {"http2 6.9.1/1 a window of one byte", "S 4=1; wait ack; H 1 eh get", DATA(1)},
    {"http2 6.9.1/2 a window beyond 2^31-1", "W 0 2147483647; W 0 2147483647", CONNECTION(FLOW)},
    {"http2 6.9.1/3 a stream's window beyond 2^31-1", "H 1 h get; W 1 2147483647; W 1 2147483647",
     RESET(FLOW)},
    {"http2 6.9.2/1 a larger window for open streams", "S 4=0; wait ack; H 1 eh get; S 4=1", DATA(1)},
    {"http2 6.9.2/2 a negative window", "S 4=2; wait ack; H 1 eh get; wait data; S 4=1; wait ack; W 1 2",
     DATA(1)},
    {"http2 6.9.2/3 INITIAL_WINDOW_SIZE beyond the maximum", "F 4 0 0 000480000000", CONNECTION(FLOW)},
    {"http2 6.10/1 several CONTINUATION", "H 1 e get; C 1 - dummy; C 1 h dummy", HEADERS},
    {"http2 6.10/2 DATA within a head", "H 1 - post; C 1 - dummy; D 1 e test", CONNECTION(PROTOCOL)},
    {"http2 6.10/3 CONTINUATION of stream 0", "H 1 e get; C 0 h dummy", CONNECTION(PROTOCOL)},
    {"http2 6.10/4 CONTINUATION after a whole head", "H 1 eh get; C 1 h dummy", CONNECTION(PROTOCOL)},
    {"http2 6.10/5 CONTINUATION after the last one", "H 1 e get; C 1 h dummy; C 1 h dummy",
     CONNECTION(PROTOCOL)},
    {"http2 6.10/6 CONTINUATION after DATA", "H 1 - post; D 1 e test; C 1 - dummy; C 0 h dummy",
     CONNECTION(PROTOCOL)},
    {"http2 7/1 GOAWAY with an unknown code", "G 255", ALIVE_OR_END},
    {"http2 7/2 RST_STREAM with an unknown code", "H 1 h post; R 1 255", ALIVE_OR_END},
    {"http2 8.1/1 trailers that do not end the request", "H 1 h post; D 1 - test; H 1 h x-test=ok",
     STREAM(PROTOCOL)},
    {"http2 8.1.2/1 a name in upper case", "H 1 eh get X-TEST=ok", STREAM(PROTOCOL)},
    {"http2 8.1.2.1/1 unknown pseudo-field", "H 1 eh get :test=ok", STREAM(PROTOCOL)},
    {"http2 8.1.2.1/2 :status in a request", "H 1 eh get :status=200", STREAM(PROTOCOL)},
    {"http2 8.1.2.1/3 a pseudo-field in trailers", "H 1 h post; D 1 - test; H 1 eh :method=POST",
     STREAM(PROTOCOL)},
    {"http2 8.1.2.1/4 a pseudo-field after a field", "H 1 eh x-test=ok get", STREAM(PROTOCOL)},
    {"http2 8.1.2.2/1 connection", "H 1 eh get connection=keep-alive", STREAM(PROTOCOL)},
    {"http2 8.1.2.2/2 te other than trailers", "H 1 eh get trailers=test te=trailers,deflate",
     STREAM(PROTOCOL)},
    {"http2 8.1.2.3/1 an empty :path", "H 1 eh :method=GET :scheme=http :path= :authority=x.test",
     STREAM(PROTOCOL)},
    {"http2 8.1.2.3/2 no :method", "H 1 eh :scheme=http :path=/ :authority=x.test", STREAM(PROTOCOL)},
    {"http2 8.1.2.3/3 no :scheme", "H 1 eh :method=GET :path=/ :authority=x.test", STREAM(PROTOCOL)},
    {"http2 8.1.2.3/4 no :path", "H 1 eh :method=GET :scheme=http :authority=x.test", STREAM(PROTOCOL)},
    {"http2 8.1.2.3/5 :method twice", "H 1 eh get :method=GET", STREAM(PROTOCOL)},
    {"http2 8.1.2.3/6 :scheme twice", "H 1 eh get :scheme=http", STREAM(PROTOCOL)},
    {"http2 8.1.2.3/7 :path twice", "H 1 eh get :path=/", STREAM(PROTOCOL)},
    {"http2 8.1.2.6/1 content-length that DATA exceeds", "H 1 h post content-length=1; D 1 e test",
     STREAM(PROTOCOL)},
    {"http2 8.1.2.6/2 content-length that several DATA exceed",
     "H 1 h post content-length=1; D 1 - test; D 1 e test", STREAM(PROTOCOL)},
    {"http2 8.2/1 PUSH_PROMISE", "F 5 4 1 00000003 " GET_BLOCK, CONNECTION(PROTOCOL)},

    /* hpack: RFC 7541 */
    {"hpack 2.3.3/1 no such index", "H 1 eh get #c6", CONNECTION(COMPRESSION)},
    {"hpack 2.3.3/2 no such index for a name", "H 1 eh get #7f0700", CONNECTION(COMPRESSION)},
    {"hpack 4.2/1 a table size at the end of a block", "H 1 eh get #21", CONNECTION(COMPRESSION)},
    {"hpack 5.2/1 Huffman padding of more than 7 bits", "H 1 eh get #0085f2b24a84ff8449509fff",
     CONNECTION(COMPRESSION)},
    {"hpack 5.2/2 Huffman padding of zeros", "H 1 eh get #0085f2b24a84ff83495090", CONNECTION(COMPRESSION)},
    {"hpack 5.2/3 Huffman with EOS", "H 1 eh get #0085f2b24a84ff874951fffffffa7f", CONNECTION(COMPRESSION)},
    {"hpack 6.1/1 index 0", "H 1 eh get #80", CONNECTION(COMPRESSION)},
    {"hpack 6.3/1 a table larger than allowed", "H 1 eh #3fe21f get", CONNECTION(COMPRESSION)},
};

#define COUNT ((int)(sizeof rules / sizeof *rules))

static struct server *server;
static bool tls;

static void start(const char *const environment[])
{
    struct folder *folder = folder_create();
    folder_print(folder, "public/index.html", "<p>home</p>\n");
    folder_print(folder, "public/b.txt", "bbb");
    server = server_start(folder, environment);
}

static void setup_plain(void)
{
    tls = false;
    start((const char *const[]){NULL});
}

static void setup_tls(void)
{
    tls = true;
    start((const char *const[]){"SSL=1", "SSL_PORT=0", NULL});
}

static void teardown(void)
{
    server_stop(server);
}

static bool is_right(const struct rule *rule, uint32_t code)
{
    const unsigned *codes = rule->outcome.values;
    return code == codes[0] || (codes[1] != 0 && code == codes[1]);
}

/* The next frame of that type, or the test fails with what came instead. */
static struct frame expect_frame(struct frames *frames, const struct rule *rule, unsigned type)
{
    struct frame frame;
    while (frames_next(frames, &frame)) {
        if (frame.type == type)
            return frame;
        if (frame.type == NGHTTP2_GOAWAY)
            ck_abort_msg("%s: GOAWAY %u", rule->name, frame_number(&frame, 4));
    }
    ck_abort_msg("%s: the connection ended", rule->name);
}

static void expect_alive(struct frames *frames, const struct rule *rule, bool may_end)
{
    struct frame frame;
    frames_send(frames, NGHTTP2_PING, 0, 0, "alive?\0", 8);
    if (!frames_find(frames, NGHTTP2_PING, &frame))
        ck_assert_msg(may_end, "%s: the connection ended", rule->name);
    else
        ck_assert_msg(frame.flags == NGHTTP2_FLAG_ACK && memcmp(frame.payload, "alive?\0", 8) == 0,
                      "%s: another PING than ours is acknowledged", rule->name);
}

static void expect_error(struct frames *frames, const struct rule *rule)
{
    struct frame frame = {0};
    bool found = false;
    while (!found && frames_next(frames, &frame))
        found = frame.type == NGHTTP2_GOAWAY ||
                (frame.type == NGHTTP2_RST_STREAM && rule->outcome.kind == IS_STREAM);
    ck_assert_msg(found, "%s: the connection ended without a word", rule->name);
    uint32_t code = frame_number(&frame, frame.type == NGHTTP2_GOAWAY ? 4 : 0);
    ck_assert_msg(is_right(rule, code), "%s: code %u", rule->name, code);
    while (frame.type == NGHTTP2_GOAWAY && frames_next(frames, &frame))
        frame.type = NGHTTP2_GOAWAY;
}

static void expect_outcome(struct frames *frames, const struct rule *rule)
{
    struct frame frame;
    switch (rule->outcome.kind) {
    case IS_HEADERS:
        frame = expect_frame(frames, rule, NGHTTP2_HEADERS);
        ck_assert_msg(frame.stream == 1, "%s: stream %u", rule->name, frame.stream);
        break;
    case IS_DATA:
        frame = expect_frame(frames, rule, NGHTTP2_DATA);
        ck_assert_msg(rule->outcome.values[0] == 0 || frame.len == rule->outcome.values[0], "%s: %zu bytes",
                      rule->name, frame.len);
        break;
    case IS_ACK:
        frame = expect_frame(frames, rule, NGHTTP2_SETTINGS);
        ck_assert_msg(frame.flags == NGHTTP2_FLAG_ACK, "%s: no ACK", rule->name);
        break;
    case IS_SETTINGS:
        ck_assert_msg(frames_next(frames, &frame) && frame.type == NGHTTP2_SETTINGS && frame.flags == 0,
                      "%s: no SETTINGS first", rule->name);
        break;
    case IS_ALIVE:
    case IS_ALIVE_OR_END:
        expect_alive(frames, rule, rule->outcome.kind == IS_ALIVE_OR_END);
        break;
    case IS_RESET:
        frame = expect_frame(frames, rule, NGHTTP2_RST_STREAM);
        ck_assert_msg(frame.stream == 1 && is_right(rule, frame_number(&frame, 0)), "%s: code %u", rule->name,
                      frame_number(&frame, 0));
        break;
    case IS_STREAM:
    case IS_CONNECTION:
        expect_error(frames, rule);
        break;
    case IS_END:
        while (frames_skip(frames))
            ;
    }
}

START_TEST(rules_are_kept)
{
    const struct rule *rule = &rules[_i];
    bool bare = strncmp(rule->script, "X ", 2) == 0;
    struct frames *frames = bare ? frames_open(server, tls) : frames_start(server, tls);
    http2_script_run(frames, rule->script);
    expect_outcome(frames, rule);
    frames_close(frames);
}
END_TEST

/* The one rule that depends on what the server announces: http2 5.1.2/1. */
START_TEST(more_streams_than_announced)
{
    struct frames *frames = frames_start(server, tls);
    struct frame frame;
    uint32_t stream = 1, most = frames_setting(frames, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
    frames_settings(frames, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0);
    for (uint32_t i = 0; i <= most; i++, stream += 2)
        frames_request(frames, stream, NGHTTP2_FLAG_END_STREAM, "GET", "/b.txt");
    do
        ck_assert_msg(frames_next(frames, &frame), "the connection ended without a word");
    while (frame.type != NGHTTP2_GOAWAY && frame.type != NGHTTP2_RST_STREAM);
    uint32_t code = frame_number(&frame, frame.type == NGHTTP2_GOAWAY ? 4 : 0);
    ck_assert_msg(code == PROTOCOL || code == REFUSED, "code %u", code);
    frames_close(frames);
}
END_TEST

static void add_rules(Suite *suite, const char *name, void (*setup)(void))
{
    TCase *tests = harness_case(suite, name, setup, teardown);
    tcase_add_loop_test(tests, rules_are_kept, 0, COUNT);
    tcase_add_test(tests, more_streams_than_announced);
}

int main(void)
{
    Suite *suite = suite_create("http2_conformance");
    add_rules(suite, "tls", setup_tls);
    add_rules(suite, "prior knowledge", setup_plain);
    return harness_run(suite);
}
