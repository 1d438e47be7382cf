#include "http2_script.h"

#include "harness.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define DUMMY_SIZE 3900
#define DUMMIES 5

static uint32_t number_of(const char *text)
{
    char *end;
    unsigned long number = strtoul(text, &end, 0);
    ck_assert_msg(end != text && number <= UINT32_MAX, "no number: %s", text);
    return (uint32_t)number;
}

static char *next_word(char **rest)
{
    char *word = strsep(rest, " ");
    ck_assert_msg(word != NULL && *word != '\0', "a word is missing");
    return word;
}

/* Blanks may stand between the bytes. */
static size_t from_hex(const char *hex, unsigned char *out, size_t size)
{
    size_t len = 0;
    for (; *hex != '\0'; hex++) {
        if (*hex == ' ')
            continue;
        char digits[3] = {hex[0], hex[1], '\0'};
        ck_assert(len < size && isxdigit((unsigned char)digits[0]) && isxdigit((unsigned char)digits[1]));
        out[len++] = (unsigned char)strtoul(digits, NULL, 16);
        hex++;
    }
    return len;
}

static unsigned flags_of(const char *text)
{
    unsigned flags = strchr(text, 'e') ? NGHTTP2_FLAG_END_STREAM : 0;
    return flags | (strchr(text, 'h') ? NGHTTP2_FLAG_END_HEADERS : 0);
}

static void add_hex(struct block *block, const char *hex)
{
    unsigned char bytes[256];
    block_append(block, bytes, from_hex(hex, bytes, sizeof bytes));
}

static void add_dummies(struct block *block, unsigned count)
{
    char value[DUMMY_SIZE + 1];
    memset(value, 'x', DUMMY_SIZE);
    value[DUMMY_SIZE] = '\0';
    for (unsigned i = 0; i < count; i++)
        block_add(block, "x-dummy", value);
}

/* A name may begin with a colon, so the sign that ends it is '='. */
static void add_field(struct block *block, char *word)
{
    char *value = strchr(word + 1, '=');
    if (*word == '#') {
        add_hex(block, word + 1);
    } else if (strcmp(word, "dummy") == 0) {
        add_dummies(block, 1);
    } else if (strcmp(word, "dummies") == 0) {
        add_dummies(block, DUMMIES);
    } else if (value != NULL) {
        *value = '\0';
        block_add(block, word, value + 1);
    } else {
        for (char *c = word; *c != '\0'; c++)
            *c = (char)toupper((unsigned char)*c);
        block_request(block, word, "/b.txt");
    }
}

static void send_head(struct frames *frames, unsigned type, char *rest)
{
    struct block block;
    uint32_t stream = number_of(next_word(&rest));
    unsigned flags = flags_of(next_word(&rest));
    block.len = 0;
    while (rest != NULL)
        add_field(&block, next_word(&rest));
    frames_send(frames, type, flags, stream, block.bytes, block.len);
}

static void send_data(struct frames *frames, char *rest)
{
    uint32_t stream = number_of(next_word(&rest));
    unsigned flags = flags_of(next_word(&rest));
    const char *text = rest != NULL ? rest : "";
    if (*text != '*') {
        frames_send(frames, NGHTTP2_DATA, flags, stream, text, strlen(text));
        return;
    }
    size_t len = number_of(text + 1);
    frames_send(frames, NGHTTP2_DATA, flags, stream, bytes_make(len, 1), len);
}

static void send_priority(struct frames *frames, char *rest)
{
    uint32_t stream = number_of(next_word(&rest)), on = number_of(next_word(&rest));
    unsigned char payload[5] = {(unsigned char)(on >> 24), (unsigned char)(on >> 16),
                                (unsigned char)(on >> 8), (unsigned char)on,
                                (unsigned char)number_of(next_word(&rest))};
    frames_send(frames, NGHTTP2_PRIORITY, 0, stream, payload, sizeof payload);
}

static void send_settings(struct frames *frames, char *rest)
{
    unsigned char payload[6 * 16];
    size_t len = 0;
    while (rest != NULL) {
        char *word = next_word(&rest), *value = strchr(word, '=');
        ck_assert(value != NULL && len + 6 <= sizeof payload);
        uint32_t number = number_of(value + 1);
        *value = '\0';
        payload[len++] = 0;
        payload[len++] = (unsigned char)number_of(word);
        for (int shift = 24; shift >= 0; shift -= 8)
            payload[len++] = (unsigned char)(number >> shift);
    }
    frames_send(frames, NGHTTP2_SETTINGS, 0, 0, payload, len);
}

static void send_ping(struct frames *frames, const char *text)
{
    char payload[9];
    memset(payload, 0, sizeof payload);
    strncpy(payload, text, 8);
    frames_send(frames, NGHTTP2_PING, 0, 0, payload, 8);
}

static void send_bytes(struct frames *frames, const char *hex)
{
    unsigned char bytes[256];
    frames_raw(frames, bytes, from_hex(hex, bytes, sizeof bytes));
}

static void send_any(struct frames *frames, char *rest)
{
    unsigned char payload[256];
    unsigned type = number_of(next_word(&rest)), flags = number_of(next_word(&rest));
    uint32_t stream = number_of(next_word(&rest));
    size_t len = rest != NULL ? from_hex(rest, payload, sizeof payload) : 0;
    frames_send(frames, type, flags, stream, payload, len);
}

static void wait_for(struct frames *frames, const char *what)
{
    struct frame frame;
    bool found = false;
    while (!found) {
        ck_assert_msg(frames_next(frames, &frame), "the connection ended before '%s'", what);
        ck_assert_uint_ne(frame.type, NGHTTP2_GOAWAY);
        ck_assert_uint_ne(frame.type, NGHTTP2_RST_STREAM);
        if (strcmp(what, "closed") == 0)
            found = frame.type <= NGHTTP2_HEADERS && (frame.flags & NGHTTP2_FLAG_END_STREAM);
        else if (strcmp(what, "ack") == 0)
            found = frame.type == NGHTTP2_SETTINGS && (frame.flags & NGHTTP2_FLAG_ACK);
        else
            found = frame.type == NGHTTP2_DATA;
    }
}

static void obey(struct frames *frames, char *command)
{
    char *rest = command, *name = next_word(&rest);
    if (strcmp(name, "wait") == 0) {
        wait_for(frames, next_word(&rest));
        return;
    }
    ck_assert_uint_eq(strlen(name), 1);
    switch (*name) {
    case 'H':
        send_head(frames, NGHTTP2_HEADERS, rest);
        break;
    case 'C':
        send_head(frames, NGHTTP2_CONTINUATION, rest);
        break;
    case 'D':
        send_data(frames, rest);
        break;
    case 'P':
        send_priority(frames, rest);
        break;
    case 'R':
        name = next_word(&rest);
        frames_reset(frames, number_of(name), number_of(next_word(&rest)));
        break;
    case 'S':
        send_settings(frames, rest);
        break;
    case 'G':
        frames_send(frames, NGHTTP2_GOAWAY, 0, 0,
                    (unsigned char[8]){0, 0, 0, 0, 0, 0, 0, (unsigned char)number_of(next_word(&rest))}, 8);
        break;
    case 'I':
        send_ping(frames, next_word(&rest));
        break;
    case 'W':
        name = next_word(&rest);
        frames_window(frames, number_of(name), number_of(next_word(&rest)));
        break;
    case 'X':
        send_bytes(frames, next_word(&rest));
        break;
    case 'F':
        send_any(frames, rest);
        break;
    default:
        ck_abort_msg("no command: %s", name);
    }
}

void http2_script_run(struct frames *frames, const char *script)
{
    char *copy = strdup(script), *rest = copy;
    while (rest != NULL) {
        char *command = strsep(&rest, ";");
        while (*command == ' ')
            command++;
        for (char *end = command + strlen(command); end > command && end[-1] == ' ';)
            *--end = '\0';
        if (*command != '\0')
            obey(frames, command);
    }
    free(copy);
}
