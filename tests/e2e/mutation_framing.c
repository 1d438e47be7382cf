/* Where a body ends: lengths, codings, chunks, and both at once. */
#include "harness.h"
#include "mutations.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define START "POST /probe HTTP/1.1\r\n"
#define HOST "Host: x.test\r\n"
#define CODED_START START HOST "Transfer-Encoding: chunked\r\n\r\n"

/* ---- Content-Length ---- */

static const struct {
    const char *line;
    enum verdict expected;
    long body;
} lengths[] = {
    {"Content-Length: 5", TAKEN, 5},
    {"content-length:5", TAKEN, 5},
    {"CONTENT-LENGTH:\t5\t", TAKEN, 5},
    {"Content-Length:  \t 5  \t ", TAKEN, 5},
    {"Content-Length: 05", TAKEN, 5},
    {"Content-Length: 000000000000000005", TAKEN, 5},
    {"Content-Length: 0000000000000000005", REFUSED, -1},  /* 19 digits: a bound of ours */
    {"Content-Length: 00000000000000000005", REFUSED, -1}, /* 20 */
    {"Content-Length: 0", ALONE, 0},
    {"Content-Length: 00", ALONE, 0},
    {"Content-Length: 000000000000000000", ALONE, 0},
    {"Content-Length: 4", ALONE, 4},
    {"Content-Length: 21", ALONE, 21},
    {"Content-Length: 1000", SILENT, -1},
    {"Content-Length: 1048576", SILENT, -1},
    {"Content-Length: 1048577", REFUSED, -1}, /* the limit of a body is a byte less */
    {"Content-Length: 2147483648", REFUSED, -1},
    {"Content-Length: 4294967296", REFUSED, -1},
    {"Content-Length: 4294967301", REFUSED, -1}, /* 2^32 + 5 */
    {"Content-Length: 9007199254740993", REFUSED, -1},
    {"Content-Length: 999999999999999999", REFUSED, -1},  /* 18 digits */
    {"Content-Length: 9223372036854775807", REFUSED, -1}, /* 19 */
    {"Content-Length: 9223372036854775808", REFUSED, -1},
    {"Content-Length: 18446744073709551615", REFUSED, -1}, /* 20 */
    {"Content-Length: 18446744073709551616", REFUSED, -1},
    {"Content-Length: 18446744073709551621", REFUSED, -1}, /* 2^64 + 5 */
    {"Content-Length: 99999999999999999999", REFUSED, -1},
    {"Content-Length: 340282366920938463463374607431768211461", REFUSED, -1}, /* 2^128 + 5 */
    {"Content-Length:", REFUSED, -1},
    {"Content-Length: ", REFUSED, -1},
    {"Content-Length: +5", REFUSED, -1},
    {"Content-Length: -5", REFUSED, -1},
    {"Content-Length: -0", REFUSED, -1},
    {"Content-Length: +0", REFUSED, -1},
    {"Content-Length: 0x5", REFUSED, -1},
    {"Content-Length: 5h", REFUSED, -1},
    {"Content-Length: a", REFUSED, -1},
    {"Content-Length: 5.0", REFUSED, -1},
    {"Content-Length: .5", REFUSED, -1},
    {"Content-Length: 5e0", REFUSED, -1},
    {"Content-Length: 1_0", REFUSED, -1},
    {"Content-Length: \"5\"", REFUSED, -1},
    {"Content-Length: '5'", REFUSED, -1},
    {"Content-Length: 5;", REFUSED, -1},
    {"Content-Length: 5; a=b", REFUSED, -1},
    {"Content-Length: 5 5", REFUSED, -1},
    {"Content-Length: 5\t5", REFUSED, -1},
    {"Content-Length: 5,5", REFUSED, -1}, /* RFC 9110, section 8.6: may be refused */
    {"Content-Length: 5, 5", REFUSED, -1},
    {"Content-Length: 5,6", REFUSED, -1},
    {"Content-Length: 0, 5", REFUSED, -1},
    {"Content-Length: 5,", REFUSED, -1},
    {"Content-Length: ,5", REFUSED, -1},
    {"Content-Length: ,", REFUSED, -1},
    {"Content-Length: 5\xc2\xa0", REFUSED, -1},
    {"Content-Length: \xc2\xa0\x35", REFUSED, -1},
    {"Content-Length: \xd9\xa5", REFUSED, -1}, /* an Arabic five */
    {"Content-Length: 5\r\n ", REFUSED, -1},
    {"Content-Length: 5\r\n\t", REFUSED, -1},
    {"Content-Length:\r\n 5", REFUSED, -1},
    {"Content-Length: \r\n\t5", REFUSED, -1},
    {"Content-Length: 5\r\n 0", REFUSED, -1},
    {"Content-Length : 5", REFUSED, -1},
    {"Content-Length\t: 5", REFUSED, -1},
    {" Content-Length: 5", REFUSED, -1},
    {"\tContent-Length: 5", REFUSED, -1},
    {"Content-Length 5", REFUSED, -1},
    {"Content-Length=5", REFUSED, -1},
    {"Content-Length; 5", REFUSED, -1},
    {"Content-Length\r\n: 5", REFUSED, -1},
    {"Content-\r\n Length: 5", REFUSED, -1},
    {"Content Length: 5", REFUSED, -1},
    {"Content-Lengt\xc4\xa5: 5", REFUSED, -1},
};

/* Fields that mean nothing, though some server once took them for a length. */
static const char *const no_lengths[] = {
    "Content_Length: 5",  "ContentLength: 5",   "Content--Length: 5",   "X-Content-Length: 5",
    "Content-Lengths: 5", "Content-Length-: 5", "X: Content-Length: 5",
};

static void add_no_lengths(struct mutations *mutations)
{
    for (size_t i = 0; i < COUNT(no_lengths); i++) {
        const char *line = no_lengths[i];
        mutations_add_text(mutations, "no-length", i, text_print(START HOST "%s\r\n\r\n" BODY CANARY, line),
                           ALONE, 0);
        mutations_add_text(mutations, "no-length-but-one", i,
                           text_print(START HOST "%s\r\nContent-Length: 05\r\n\r\n" BODY CANARY, line), TAKEN,
                           5);
        mutations_add_text(
            mutations, "no-length-but-coding", i,
            text_print(START HOST "%s\r\nTransfer-Encoding: chunked\r\n\r\n" CHUNKED_BODY CANARY, line),
            TAKEN, 5);
        mutations_add_text(
            mutations, "coding-and-no-length", i,
            text_print(START HOST "Transfer-Encoding: chunked\r\n%s\r\n\r\n" CHUNKED_BODY CANARY, line),
            TAKEN, 5);
    }
}

static void add_lengths(struct mutations *mutations)
{
    for (size_t i = 0; i < COUNT(lengths); i++) {
        mutations_add_text(mutations, "length", i,
                           text_print(START HOST "%s\r\n\r\n" BODY CANARY, lengths[i].line),
                           lengths[i].expected, lengths[i].body);
        mutations_add_text(mutations, "length-first", i,
                           text_print(START "%s\r\n" HOST "\r\n" BODY CANARY, lengths[i].line),
                           lengths[i].expected, lengths[i].body);
        mutations_add_text(
            mutations, "length-1.0", i,
            text_print("POST /probe HTTP/1.0\r\nConnection: keep-alive\r\n%s\r\n\r\n" BODY CANARY,
                       lengths[i].line),
            lengths[i].expected, lengths[i].body);
    }
    /* Two of them, whatever they are. */
    for (size_t i = 0; i < COUNT(lengths); i++)
        for (size_t j = 0; j < 16; j++)
            mutations_add_text(mutations, "length-twice", 16 * i + j,
                               text_print(START HOST "%s\r\nX: y\r\n%s\r\n\r\n" BODY CANARY, lengths[i].line,
                                          lengths[j].line),
                               REFUSED, -1);
}

/* ---- Transfer-Encoding ---- */

enum coding {
    CHUNKED,   /* right */
    OTHER,     /* the field, but not this coding, or no field line at all */
    NO_CODING, /* a field that means nothing */
};

static const struct {
    const char *line;
    enum coding coding;
} codings[] = {
    {"Transfer-Encoding: chunked", CHUNKED},
    {"transfer-encoding:chunked", CHUNKED},
    {"TRANSFER-ENCODING: CHUNKED", CHUNKED},
    {"tRaNsFeR-eNcOdInG: cHuNkEd", CHUNKED},
    {"Transfer-Encoding:\tchunked", CHUNKED},
    {"Transfer-Encoding: \t chunked \t", CHUNKED},
    {"Transfer-Encoding: chunked\t", CHUNKED},
    {"Transfer-Encoding:", OTHER},
    {"Transfer-Encoding: ", OTHER},
    {"Transfer-Encoding: identity", OTHER},
    {"Transfer-Encoding: gzip", OTHER},
    {"Transfer-Encoding: gzip, chunked", OTHER},
    {"Transfer-Encoding: deflate, gzip, chunked", OTHER},
    {"Transfer-Encoding: chunked, gzip", OTHER},
    {"Transfer-Encoding: chunked, identity", OTHER},
    {"Transfer-Encoding: identity, chunked", OTHER},
    {"Transfer-Encoding: identity,chunked,identity", OTHER},
    {"Transfer-Encoding: chunked, chunked", OTHER},
    {"Transfer-Encoding: chunked,chunked", OTHER},
    {"Transfer-Encoding: chunked,", OTHER},
    {"Transfer-Encoding: ,chunked", OTHER},
    {"Transfer-Encoding: , chunked ,", OTHER},
    {"Transfer-Encoding: ,", OTHER},
    {"Transfer-Encoding: chunked chunked", OTHER},
    {"Transfer-Encoding: chunked;q=1", OTHER},
    {"Transfer-Encoding: chunked; a=b", OTHER},
    {"Transfer-Encoding: chunked;", OTHER},
    {"Transfer-Encoding: \"chunked\"", OTHER},
    {"Transfer-Encoding: 'chunked'", OTHER},
    {"Transfer-Encoding: (c) chunked", OTHER},
    {"Transfer-Encoding: xchunked", OTHER},
    {"Transfer-Encoding: chunkedx", OTHER},
    {"Transfer-Encoding: chunke", OTHER},
    {"Transfer-Encoding: chunk", OTHER},
    {"Transfer-Encoding: x", OTHER},
    {"Transfer-Encoding: cow", OTHER},
    {"Transfer-Encoding: :chunked", OTHER},
    {"Transfer-Encoding:: chunked", OTHER},
    {"Transfer-Encoding: =chunked", OTHER},
    {"Transfer-Encoding: chunked\x0b", OTHER},
    {"Transfer-Encoding: \x0b"
     "chunked",
     OTHER},
    {"Transfer-Encoding: \x0c"
     "chunked",
     OTHER},
    {"Transfer-Encoding:\x01"
     "chunked",
     OTHER},
    {"Transfer-Encoding: chunked\x0c", OTHER},
    {"Transfer-Encoding: chunked\x7f", OTHER},
    {"Transfer-Encoding: \x80"
     "chunked",
     OTHER},
    {"Transfer-Encoding: \xc2\xa0"
     "chunked",
     OTHER},
    {"Transfer-Encoding: \xef\xbb\xbf"
     "chunked",
     OTHER},
    {"Transfer-Encoding: chun\xe2\x84\xaa"
     "ed",
     OTHER}, /* a Kelvin sign, k in lower case */
    {"Transfer-Encoding: chunked\r", OTHER},
    {"Transfer-Encoding: \rchunked", OTHER},
    {"Transfer-Encoding: chunked\rX: y", OTHER},
    {"Transfer-Encoding: chunked\nX: y", OTHER},
    {"Transfer-Encoding\n: chunked", OTHER},
    {"Transfer-Encoding:\n chunked", OTHER},
    {"Transfer-Encoding:\r\n chunked", OTHER},
    {"Transfer-Encoding:\r\n\tchunked", OTHER},
    {"Transfer-Encoding: chunked\r\n ", OTHER},
    {"Transfer-Encoding: chunked\r\n identity", OTHER},
    {"Transfer-Encoding: identity,\r\n chunked", OTHER},
    {"Transfer-Encoding\r\n : chunked", OTHER},
    {"Transfer-\r\n Encoding: chunked", OTHER},
    {"Transfer-Encoding : chunked", OTHER},
    {"Transfer-Encoding\t: chunked", OTHER},
    {"Transfer-Encoding\x0b: chunked", OTHER},
    {"Transfer-Encoding\xa0: chunked", OTHER},
    {" Transfer-Encoding: chunked", OTHER},
    {"\tTransfer-Encoding: chunked", OTHER},
    {"X: y\r\n Transfer-Encoding: chunked", OTHER},
    {"X: y\rTransfer-Encoding: chunked", OTHER},
    {"X: y\nTransfer-Encoding: chunked", OTHER},
    {"X: y\r\rTransfer-Encoding: chunked", OTHER},
    {"Transfer-Encoding chunked", OTHER},
    {"Transfer-Encoding=chunked", OTHER},
    {"Transfer Encoding: chunked", OTHER},
    {"Transfer-Encoding\\: chunked", OTHER},
    {"\"Transfer-Encoding\": chunked", OTHER},
    {": Transfer-Encoding: chunked", OTHER},
    {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", OTHER},
    {"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", OTHER},
    {"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked", OTHER},
    {"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", OTHER},
    {"Transfer-Encoding: chunked\r\nTransfer-Encoding: cow", OTHER},
    {"Transfer-Encoding:\r\nTransfer-Encoding: chunked", OTHER},
    {"Transfer-Encoding: chunked\r\ntransfer-encoding:", OTHER},
    {"Transfer_Encoding: chunked", NO_CODING},
    {"TransferEncoding: chunked", NO_CODING},
    {"Transfer--Encoding: chunked", NO_CODING},
    {"Transfer-Encodings: chunked", NO_CODING},
    {"X-Transfer-Encoding: chunked", NO_CODING},
    {"Content-Encoding: chunked", NO_CODING},
    {"TE: chunked", NO_CODING},
    {"X: Transfer-Encoding: chunked", NO_CODING},
    {"X: \\r\\nTransfer-Encoding: chunked", NO_CODING},
};

static void add_coding(struct mutations *mutations, size_t index, const char *line, enum coding coding)
{
    static const enum verdict alone[] = {[CHUNKED] = TAKEN, [OTHER] = REFUSED, [NO_CODING] = ALONE};
    enum verdict beside = coding == NO_CODING ? TAKEN : REFUSED;
    const char *body = "0\r\n\r\n" SMUGGLED;
    int len = (int)strlen(body);
    long seen = coding == CHUNKED ? 5 : 0;
    mutations_add_text(mutations, "coding", index,
                       text_print(START HOST "%s\r\n\r\n" CHUNKED_BODY CANARY, line), alone[coding], seen);
    mutations_add_text(mutations, "coding-get", index,
                       text_print("GET /probe HTTP/1.1\r\n" HOST "%s\r\n\r\n" CHUNKED_BODY CANARY, line),
                       alone[coding], seen);
    mutations_add_text(mutations, "coding-1.0", index,
                       text_print("POST /probe HTTP/1.0\r\n%s\r\n\r\n" CHUNKED_BODY CANARY, line),
                       coding == NO_CODING ? ALONE : REFUSED, 0);
    mutations_add_text(mutations, "coding-1.0-kept", index,
                       text_print("POST /probe HTTP/1.0\r\n" HOST
                                  "Connection: keep-alive\r\n%s\r\n\r\n" CHUNKED_BODY CANARY,
                                  line),
                       coding == NO_CODING ? ALONE : REFUSED, 0);
    mutations_add_text(mutations, "coding-length", index,
                       text_print(START HOST "%s\r\nContent-Length: %d\r\n\r\n%s" CANARY, line, len, body),
                       beside, len);
    mutations_add_text(mutations, "length-coding", index,
                       text_print(START HOST "Content-Length: %d\r\n%s\r\n\r\n%s" CANARY, len, line, body),
                       beside, len);
    mutations_add_text(mutations, "length-coding-get", index,
                       text_print("GET /probe HTTP/1.1\r\n" HOST "Content-Length: %d\r\n%s\r\n\r\n%s" CANARY,
                                  len, line, body),
                       beside, len);
    /* The length ends within the chunks; what is left of them is no request. */
    mutations_add_text(mutations, "length-coding-short", index,
                       text_print(START HOST "Content-Length: 3\r\n%s\r\n\r\n" CHUNKED_BODY CANARY, line),
                       coding == NO_CODING ? ALONE : REFUSED, 3);
    mutations_add_text(mutations, "zero-coding", index,
                       text_print(START HOST "Content-Length: 0\r\n%s\r\n\r\n" CHUNKED_BODY CANARY, line),
                       coding == NO_CODING ? ALONE : REFUSED, 0);
    mutations_add_text(
        mutations, "length-coding-1.0", index,
        text_print(
            "POST /probe HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: %d\r\n%s\r\n\r\n%s" CANARY,
            len, line, body),
        beside, len);
}

static void add_both(struct mutations *mutations)
{
    for (size_t i = 0; i < COUNT(lengths); i++) {
        const char *line = lengths[i].line;
        mutations_add_text(
            mutations, "coding-and-length", i,
            text_print(START HOST "Transfer-Encoding: chunked\r\n%s\r\n\r\n" CHUNKED_BODY CANARY, line),
            REFUSED, -1);
        mutations_add_text(
            mutations, "length-and-coding", i,
            text_print(START HOST "%s\r\nTransfer-Encoding: chunked\r\n\r\n" CHUNKED_BODY CANARY, line),
            REFUSED, -1);
    }
}

/* ---- chunks ---- */

static const struct {
    const char *body;
    enum verdict expected;
    long size;
} chunks[] = {
    {"0\r\n\r\n", TAKEN, 0},
    {"00\r\n\r\n", TAKEN, 0},
    {"0000000000000000\r\n\r\n", TAKEN, 0},
    {"00000000000000000\r\n\r\n", REFUSED, -1}, /* 17 digits: a bound of ours */
    {"5\r\n" BODY "\r\n0\r\n\r\n", TAKEN, 5},
    {"05\r\n" BODY "\r\n0\r\n\r\n", TAKEN, 5},
    {"0000000000000005\r\n" BODY "\r\n0\r\n\r\n", TAKEN, 5},
    {"00000000000000005\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"a\r\n" BODY BODY "\r\n0\r\n\r\n", TAKEN, 10},
    {"A\r\n" BODY BODY "\r\n0\r\n\r\n", TAKEN, 10},
    {"0A\r\n" BODY BODY "\r\n000\r\n\r\n", TAKEN, 10},
    {"1\r\n[\r\n1\r\n(\r\n1\r\n{\r\n0\r\n\r\n", TAKEN, 3},
    {"2\r\n\r\n\r\n0\r\n\r\n", TAKEN, 2},
    {"4\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"6\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"7\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5\r\n" BODY "0\r\n\r\n", REFUSED, -1},
    {"5\r\n" BODY "\r\n\r\n0\r\n\r\n", REFUSED, -1},
    {"5\r\n" BODY "\n0\r\n\r\n", REFUSED, -1},
    {"5\r\n" BODY "\r0\r\n\r\n", REFUSED, -1},
    {"5\r\n" BODY "\r\n 0\r\n\r\n", REFUSED, -1},
    {"5\n" BODY "\n0\n\n", REFUSED, -1},
    {"5\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5\r" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5\r\n" BODY "\r\n0\n\r\n", REFUSED, -1},
    {"5\r\n" BODY "\r\n0\r\n\n", REFUSED, -1},
    {"5\r\n" BODY "\r\n0\n\n", REFUSED, -1},
    {"5\r\n" BODY "\r\n0\r\n\r\r\n", REFUSED, -1},
    {"5\r\n" BODY "\r\n0\r\r\n\r\n", REFUSED, -1},
    {"5\r\n" BODY "\r\n\r\n", REFUSED, -1},
    {"\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"\r\n5\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {" 5\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"\t5\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5 \r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5\t\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5 0\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5,\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5_0\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5.\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5h\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5zz\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"0x5\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"x5\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"+5\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"-5\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"-0\r\n\r\n", REFUSED, -1},
    {"\"5\"\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"g\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"100000\r\n" BODY, SILENT, -1},  /* the limit of a body, and most of it never comes */
    {"100001\r\n" BODY, REFUSED, -1}, /* one more */
    {"80000000\r\n" BODY, REFUSED, -1},
    {"100000005\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1}, /* 2^32 + 5 */
    {"7fffffffffffffff\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"8000000000000000\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"fffffffffffffffb\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1}, /* -5 */
    {"ffffffffffffffff\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"10000000000000005\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1}, /* 2^64 + 5 */
    {"5;a\r\n" BODY "\r\n0\r\n\r\n", TAKEN, 5},
    {"5;a=b\r\n" BODY "\r\n0\r\n\r\n", TAKEN, 5},
    {"5;a=b;c;d=\"e\"\r\n" BODY "\r\n0;x=y\r\n\r\n", TAKEN, 5},
    {"5;a=\"\"\r\n" BODY "\r\n0\r\n\r\n", TAKEN, 5},
    {"5;a=\"b;c\\\"d=e, f\"\r\n" BODY "\r\n0\r\n\r\n", TAKEN, 5},
    {"5;a=\"b\xc3\xa4\"\r\n" BODY "\r\n0\r\n\r\n", TAKEN, 5},
    {"5 ;a\r\n" BODY "\r\n0\r\n\r\n", TAKEN, 5},
    {"5\t; a = b ; c\r\n" BODY "\r\n0 \t; x\r\n\r\n", TAKEN, 5},
    {"5;\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5; \r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5;;\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5;a;\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5;;a\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5;=b\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5;a=\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5;a=b=c\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5;a b\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5;a \r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5;a=b \r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5;a=\"b\" \r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5;a=\"b\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5;a=\"b\"c\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5;a=b\"c\"\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5;a=\"b\r\n\"\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5;a=\"b\\\r\n\"\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5;\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5;a\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5;a\r" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5;\r\n\r\n" BODY "\r\n0\r\n\r\n", REFUSED, -1},
    {"5;a\nxx\r\n0\r\n\r\n" SMUGGLED, REFUSED, -1}, /* the line ends here, or there? */
    {"2;\nxx\r\n4c\r\n0\r\n\r\n" SMUGGLED, REFUSED, -1},
    {"5\nxx\r\n0\r\n\r\n" SMUGGLED, REFUSED, -1},
    {"0\n\r\n" SMUGGLED, REFUSED, -1},
    {"0\n\n" SMUGGLED, REFUSED, -1},
    {"0\r\n\n" SMUGGLED, REFUSED, -1},
    {"0x0\r\n\r\n" SMUGGLED, REFUSED, -1},
    {"0 \r\n\r\n" SMUGGLED, REFUSED, -1},
    {"0\r\nX\r\n\r\n" SMUGGLED, REFUSED, -1},
    {"5\r\n" BODY "\r\n0\r\nX: y\r\n\r\n", TAKEN, 5},
    {"5\r\n" BODY "\r\n0\r\nX:\r\nY:z\r\n\r\n", TAKEN, 5},
    {"5\r\n" BODY "\r\n0\r\nHost: y\r\nContent-Length: 99\r\nTransfer-Encoding: x\r\n\r\n", TAKEN, 5},
    {"5\r\n" BODY "\r\n0\r\nX\r\n\r\n", REFUSED, -1},
    {"5\r\n" BODY "\r\n0\r\n: y\r\n\r\n", REFUSED, -1},
    {"5\r\n" BODY "\r\n0\r\nX : y\r\n\r\n", REFUSED, -1},
    {"5\r\n" BODY "\r\n0\r\n X: y\r\n\r\n", REFUSED, -1},
    {"5\r\n" BODY "\r\n0\r\nX: y\r\n z\r\n\r\n", REFUSED, -1},
    {"5\r\n" BODY "\r\n0\r\nX: y\n\r\n", REFUSED, -1},
    {"5\r\n" BODY "\r\n0\r\nX: y\r\n\n", REFUSED, -1},
    {"5\r\n" BODY "\r\n0\r\nX: y\n\n", REFUSED, -1},
    {"5\r\n" BODY "\r\n0\r\nX: y\r\r\n\r\n", REFUSED, -1},
    {"5\r\n" BODY "\r\n0\r\nGET /smuggled HTTP/1.1\r\nHost: x.test\r\n\r\n", REFUSED, -1},
};

static void add_chunks(struct mutations *mutations)
{
    for (size_t i = 0; i < COUNT(chunks); i++) {
        mutations_add_text(mutations, "chunk", i, text_print(CODED_START "%s" CANARY, chunks[i].body),
                           chunks[i].expected, chunks[i].size);
        /* What just fits is too much behind another chunk. */
        if (isxdigit((unsigned char)chunks[i].body[0]))
            mutations_add_text(
                mutations, "second-chunk", i, text_print(CODED_START "3\r\nabc\r\n%s" CANARY, chunks[i].body),
                chunks[i].expected == SILENT ? REFUSED : chunks[i].expected, chunks[i].size + 3);
    }
}

/* Extensions and trailers as long as they may be, and longer. */
static void add_long_chunks(struct mutations *mutations)
{
    static const size_t sizes[] = {1, 250, 253, 254, 255, 256, 1000, 8000};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        char *text = malloc(sizes[i] + 1);
        ck_assert_ptr_nonnull(text);
        memset(text, 'e', sizes[i]);
        text[sizes[i]] = '\0';
        mutations_add_text(mutations, "long-extension", i,
                           text_print(CODED_START "5;%s\r\n" BODY "\r\n0\r\n\r\n" CANARY, text),
                           sizes[i] <= 253 ? TAKEN : REFUSED, 5);
        mutations_add_text(mutations, "long-trailer", i,
                           text_print(CODED_START "5\r\n" BODY "\r\n0\r\nX: %s\r\n\r\n" CANARY, text), TAKEN,
                           5);
        free(text);
    }
}

void mutations_add_framing(struct mutations *mutations)
{
    add_lengths(mutations);
    add_no_lengths(mutations);
    add_both(mutations);
    for (size_t i = 0; i < COUNT(codings); i++)
        add_coding(mutations, i, codings[i].line, codings[i].coding);
    add_chunks(mutations);
    add_long_chunks(mutations);
}
