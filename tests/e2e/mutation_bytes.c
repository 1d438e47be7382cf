/* Every byte at every place of a request. */
#include "harness.h"
#include "mutations.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SKIPPED ((enum verdict)0) /* another length: a family of its own */

#define START "POST /probe HTTP/1.1\r\n"
#define HOST "Host: x.test\r\n"
#define LENGTH "Content-Length: 5\r\n"
#define REST HOST LENGTH "\r\n" BODY
#define CODED "Transfer-Encoding: chunked\r\n"
#define CODED_START START HOST CODED "\r\n"

bool byte_is_token(unsigned char byte)
{
    return byte != '\0' && (isalnum(byte) || strchr("!#$%&'*+-.^_`|~", byte) != NULL) && byte < 0x80;
}

static bool is_visible(unsigned char byte)
{
    return byte > ' ' && byte < 0x7f;
}

static bool is_blank(unsigned char byte)
{
    return byte == ' ' || byte == '\t';
}

static enum verdict token(unsigned char byte)
{
    return byte_is_token(byte) ? TAKEN : REFUSED;
}

static enum verdict name(unsigned char byte)
{
    return byte_is_token(byte) || byte == ':' ? TAKEN : REFUSED;
}

static enum verdict value(unsigned char byte)
{
    return is_visible(byte) || is_blank(byte) || byte >= 0x80 ? TAKEN : REFUSED;
}

static enum verdict never(unsigned char byte)
{
    (void)byte;
    return REFUSED;
}

/* Where an LF only completes what was there: what follows is another family's. */
static enum verdict before_lf(unsigned char byte)
{
    return byte == '\n' ? SKIPPED : REFUSED;
}

/* RFC 9112, section 3.2: no fragment. What RFC 3986 leaves out beyond that is met in the wild and harmless.
 */
static enum verdict query(unsigned char byte)
{
    return is_visible(byte) && byte != '#' ? TAKEN : REFUSED;
}

/* A '%' there begins no escape. */
static enum verdict path(unsigned char byte)
{
    return byte == '%' ? REFUSED : query(byte);
}

static enum verdict host(unsigned char byte)
{
    return isalnum(byte) || (byte != '\0' && strchr("-._~", byte) != NULL) ? TAKEN : REFUSED;
}

static enum verdict host_start(unsigned char byte)
{
    return is_blank(byte) ? TAKEN : host(byte);
}

/* A port may be empty (RFC 3986, section 3.2.3). */
static enum verdict host_end(unsigned char byte)
{
    return byte == ':' ? TAKEN : host_start(byte);
}

static enum verdict slash(unsigned char byte)
{
    return byte == '/' ? TAKEN : REFUSED;
}

static enum verdict around_number(unsigned char byte)
{
    return isdigit(byte) && byte != '0' ? SKIPPED : is_blank(byte) ? TAKEN : REFUSED;
}

static enum verdict before_number(unsigned char byte)
{
    return byte == '0' ? TAKEN : around_number(byte);
}

static enum verdict behind_number(unsigned char byte)
{
    return byte == '0' ? SKIPPED : around_number(byte);
}

static enum verdict within_number(unsigned char byte)
{
    return byte == '0' ? TAKEN : isdigit(byte) ? SKIPPED : REFUSED;
}

static enum verdict around_coding(unsigned char byte)
{
    return is_blank(byte) ? TAKEN : REFUSED;
}

/* With another name the field means nothing, and the body is read as a request. */
static enum verdict hyphen(unsigned char byte)
{
    return byte == '-' ? TAKEN : byte_is_token(byte) || byte == ':' ? ALONE : REFUSED;
}

static enum verdict around_name(unsigned char byte)
{
    return byte_is_token(byte) ? ALONE : REFUSED;
}

static enum verdict before_size(unsigned char byte)
{
    return byte == '0' ? TAKEN : isxdigit(byte) ? SKIPPED : REFUSED;
}

static enum verdict behind_size(unsigned char byte)
{
    return isxdigit(byte) ? SKIPPED : REFUSED;
}

static enum verdict last_size(unsigned char byte)
{
    return byte == '0' ? TAKEN : REFUSED;
}

static enum verdict extension_name(unsigned char byte)
{
    return byte_is_token(byte) || is_blank(byte) == 0
               ? (byte_is_token(byte) || byte == ';' || byte == '=' ? TAKEN : REFUSED)
               : REFUSED;
}

static enum verdict quoted(unsigned char byte)
{
    return byte == '"' ? REFUSED : value(byte);
}

static const struct place {
    const char *name, *before, *behind;
    enum verdict (*expected)(unsigned char byte);
} places[] = {
    {"start", "", START REST, token},
    {"method", "PO", "ST /probe HTTP/1.1\r\n" REST, token},
    {"method-end", "POST", " /probe HTTP/1.1\r\n" REST, token},
    {"target-start", "POST ", "/probe HTTP/1.1\r\n" REST, slash},
    {"path", "POST /pr", "obe HTTP/1.1\r\n" REST, path},
    {"query", "POST /probe?a", "b HTTP/1.1\r\n" REST, query},
    {"target-end", "POST /probe?a", " HTTP/1.1\r\n" REST, query},
    {"version-start", "POST /probe ", "HTTP/1.1\r\n" REST, never},
    {"version", "POST /probe HTTP/1", ".1\r\n" REST, never},
    {"version-end", "POST /probe HTTP/1.1", "\r\n" REST, never},
    {"version-slash", "POST /probe HTTP/", "1.1\r\n" REST, never},
    {"version-crlf", "POST /probe HTTP/1.1\r", "\n" REST, never},
    {"name", START "X-T", "st: v\r\n" REST, name},
    {"line-start", START HOST, "X-Test: v\r\n" LENGTH "\r\n" BODY, token},
    {"line-first", START, "X-Test: v\r\n" REST, token},
    {"name-end", START "X-Test", ": v\r\n" REST, name},
    {"value-start", START "X-Test:", "v\r\n" REST, value},
    {"value", START "X-Test: a", "b\r\n" REST, value},
    {"value-end", START "X-Test: v", "\r\n" REST, value},
    {"crlf", START "X-Test: v\r", "\n" REST, never},
    {"head-end", START HOST LENGTH, "\r\n" BODY, never},
    {"head-crlf", START HOST LENGTH "\r", "\n" BODY, before_lf},
    {"host", START "Host: x", ".test\r\n" LENGTH "\r\n" BODY, host},
    {"host-start", START "Host: ", "x.test\r\n" LENGTH "\r\n" BODY, host_start},
    {"host-end", START "Host: x.test", "\r\n" LENGTH "\r\n" BODY, host_end},
    {"host-name", START "Ho", "st: x.test\r\n" LENGTH "\r\n" BODY, never},
    {"length-start", START HOST "Content-Length: ", "5\r\n\r\n" BODY, before_number},
    {"length", START HOST "Content-Length: 0", "5\r\n\r\n" BODY, within_number},
    {"length-end", START HOST "Content-Length: 5", "\r\n\r\n" BODY, behind_number},
    {"length-hyphen", START HOST "Content", "Length: 5\r\n\r\n" BODY, hyphen},
    {"length-name-start", START HOST, LENGTH "\r\n" BODY, around_name},
    {"length-name-end", START HOST "Content-Length", ": 5\r\n\r\n" BODY, around_name},
    {"coding-start", START HOST "Transfer-Encoding: ", "chunked\r\n\r\n" CHUNKED_BODY, around_coding},
    {"coding", START HOST "Transfer-Encoding: chun", "ked\r\n\r\n" CHUNKED_BODY, never},
    {"coding-end", START HOST "Transfer-Encoding: chunked", "\r\n\r\n" CHUNKED_BODY, around_coding},
    {"coding-hyphen", START HOST "Transfer", "Encoding: chunked\r\n\r\n" CHUNKED_BODY, hyphen},
    {"coding-name-start", START HOST, CODED "\r\n" CHUNKED_BODY, around_name},
    {"coding-name-end", START HOST "Transfer-Encoding", ": chunked\r\n\r\n" CHUNKED_BODY, around_name},
    {"size-start", CODED_START, CHUNKED_BODY, before_size},
    {"size-end", CODED_START "5", "\r\n" BODY "\r\n0\r\n\r\n", behind_size},
    {"size-crlf", CODED_START "5\r", "\n" BODY "\r\n0\r\n\r\n", never},
    {"extension", CODED_START "5;a", "b\r\n" BODY "\r\n0\r\n\r\n", extension_name},
    {"extension-quoted", CODED_START "5;a=\"b", "c\"\r\n" BODY "\r\n0\r\n\r\n", quoted},
    {"data-end", CODED_START "5\r\n" BODY, "\r\n0\r\n\r\n", never},
    {"data-crlf", CODED_START "5\r\n" BODY "\r", "\n0\r\n\r\n", never},
    {"last-size", CODED_START "5\r\n" BODY "\r\n0", "\r\n\r\n", last_size},
    {"last-crlf", CODED_START "5\r\n" BODY "\r\n0\r", "\n\r\n", never},
    {"trailer-start", CODED_START "5\r\n" BODY "\r\n0\r\n", "X-T: v\r\n\r\n", token},
    {"trailer-name", CODED_START "5\r\n" BODY "\r\n0\r\nX-T", "st: v\r\n\r\n", name},
    {"trailer-name-end", CODED_START "5\r\n" BODY "\r\n0\r\nX-Test", ": v\r\n\r\n", name},
    {"trailer-value", CODED_START "5\r\n" BODY "\r\n0\r\nX-Test: a", "b\r\n\r\n", value},
    {"trailer-crlf", CODED_START "5\r\n" BODY "\r\n0\r\nX-Test: a\r", "\n\r\n", never},
    {"body-end", CODED_START "5\r\n" BODY "\r\n0\r\n\r", "\n", before_lf},
};

static void add_place(struct mutations *mutations, const struct place *place)
{
    char *family = text_print("byte/%s", place->name);
    for (unsigned byte = 0; byte < 256; byte++) {
        enum verdict expected = place->expected((unsigned char)byte);
        if (expected == SKIPPED)
            continue;
        char *text = text_print("%s?%s" CANARY, place->before, place->behind);
        size_t len = strlen(text);
        text[strlen(place->before)] = (char)byte;
        mutations_add(mutations, family, byte, text, len, expected, expected == ALONE ? 0 : 5);
        free(text);
    }
}

void mutations_add_bytes(struct mutations *mutations)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        add_place(mutations, &places[i]);
}
