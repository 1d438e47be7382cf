#include "mutation_rules.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#define RUN (TAKEN | ALONE)

/* ---- what is odd about the bytes ---- */

static bool has_bare_lf(const struct mutation *mutation)
{
    for (size_t i = 0; i < mutation->len; i++)
        if (mutation->bytes[i] == '\n' && (i == 0 || mutation->bytes[i - 1] != '\r'))
            return true;
    return false;
}

static bool has_bare_cr(const struct mutation *mutation)
{
    for (size_t i = 0; i + 1 < mutation->len; i++)
        if (mutation->bytes[i] == '\r' && mutation->bytes[i + 1] != '\n')
            return true;
    return false;
}

static bool has_folding(const struct mutation *mutation)
{
    for (size_t i = 1; i + 1 < mutation->len; i++)
        if (mutation->bytes[i] == '\n' && (mutation->bytes[i + 1] == ' ' || mutation->bytes[i + 1] == '\t'))
            return true;
    return false;
}

static bool has_control(const struct mutation *mutation)
{
    for (size_t i = 0; i < mutation->len; i++) {
        unsigned char byte = (unsigned char)mutation->bytes[i];
        if ((byte < ' ' && strchr("\t\r\n", byte) == NULL) || byte == '\0' || byte == 0x7f)
            return true;
    }
    return false;
}

static bool has_high_byte(const struct mutation *mutation)
{
    for (size_t i = 0; i < mutation->len; i++)
        if ((unsigned char)mutation->bytes[i] >= 0x80)
            return true;
    return false;
}

static bool has(const struct mutation *mutation, const char *text)
{
    return memmem(mutation->bytes, mutation->len, text, strlen(text)) != NULL;
}

static bool has_tab(const struct mutation *mutation)
{
    return has(mutation, "\t");
}

static bool has_absolute_form(const struct mutation *mutation)
{
    const char *target = memchr(mutation->bytes, ' ', mutation->len);
    return target != NULL && memcmp(target + 1 + strcspn(target + 1, "/ \r"), "//", 2) == 0;
}

/* A field line whose name is no token, or that has no colon. */
static bool has_odd_name(const struct mutation *mutation)
{
    const char *line = memchr(mutation->bytes, '\n', mutation->len), *end = mutation->bytes + mutation->len;
    while (line != NULL && ++line < end && *line != '\r') {
        const char *at = line;
        while (at < end && *at != ':' && byte_is_token((unsigned char)*at))
            at++;
        if (at == line || at == end || *at != ':')
            return true;
        line = memchr(at, '\n', (size_t)(end - at));
    }
    return false;
}

static bool has_odd_method(const struct mutation *mutation)
{
    for (const char *at = mutation->bytes; *at != ' '; at++)
        if (!isupper((unsigned char)*at) && *at != '-' && *at != '_')
            return true;
    return false;
}

/* A chunk's size with anything behind it. */
static bool has_extension(const struct mutation *mutation)
{
    const char *at = memmem(mutation->bytes, mutation->len, "\r\n\r\n", 4);
    for (; at != NULL; at = strchr(at, '\n')) {
        at += at[0] == '\r' ? 4 : 1;
        size_t digits = strspn(at, "0123456789abcdefABCDEF");
        if (digits > 0 && (at[digits] == ' ' || at[digits] == '\t' || at[digits] == ';'))
            return true;
    }
    return false;
}

/* Zeros in front up to more digits than we read. */
static bool has_long_number(const struct mutation *mutation)
{
    return has(mutation, "0000000000000000");
}

static bool any(const struct mutation *mutation)
{
    (void)mutation;
    return true;
}

static bool has_several_blanks(const struct mutation *mutation)
{
    const char *end = memchr(mutation->bytes, '\r', mutation->len);
    const char *line = mutation->bytes;
    unsigned blanks = 0;
    while (end != NULL && line < end) {
        blanks += *line == ' ' || *line == '\t';
        line++;
    }
    return blanks != 2 || memchr(mutation->bytes, '\t', (size_t)(end - mutation->bytes)) != NULL;
}

/* Of the codings: an item, or a whole field, with nothing in it. */
static bool has_empty_coding(const struct mutation *mutation)
{
    return has(mutation, ",chunked") || has(mutation, "chunked,") || has(mutation, ", chunked ,") ||
           strcasestr(mutation->bytes, "transfer-encoding:\r\n") != NULL;
}

static bool has_coding(const struct mutation *mutation)
{
    const char *field = strcasestr(mutation->bytes, "Transfer-Encoding:");
    return field != NULL && strcasestr(field, "chunked") != NULL;
}

static bool has_trailers(const struct mutation *mutation)
{
    const char *last = memmem(mutation->bytes, mutation->len, "\r\n0\r\n", 5);
    return last != NULL && last[5] != '\r';
}

static bool has_fragment(const struct mutation *mutation)
{
    return has(mutation, "#");
}

static bool has_expect(const struct mutation *mutation)
{
    return strncasecmp(mutation->name, "field", 5) == 0 && has(mutation, "Expect:");
}

static bool has_close(const struct mutation *mutation)
{
    return has(mutation, "close\r\nC") || has(mutation, "close x") || has(mutation, "close;") ||
           has(mutation, "closed") || has(mutation, "xclose") || has(mutation, "x close") ||
           has(mutation, "\"close");
}

static bool has_empty_label(const struct mutation *mutation)
{
    return has(mutation, "x..test") || has(mutation, "Host: \r\n");
}

static bool has_overflow(const struct mutation *mutation)
{
    return has(mutation, "18446744073709551616");
}

static bool has_equal_items(const struct mutation *mutation)
{
    return has(mutation, "5,5") || has(mutation, "5, 5");
}

/* ---- the rules ---- */

static const struct rule {
    const char *peer, *family; /* patterns of fnmatch */
    bool (*applies)(const struct mutation *mutation);
    unsigned ours, theirs;
    const char *reason;
} rules[] = {
    /* Both. */
    {"*", "*", has_bare_lf, REFUSED | ALONE, RUN | SMUGGLE | SILENT,
     "RFC 9112, 2.2: a recipient may take a bare LF for the end of a line. We never do: who does and who "
     "does not "
     "see different requests."},
    {"*", "*chunk/0e", any, REFUSED, TAKEN,
     "RFC 9112, 7.1: a bare LF behind a chunk's data, which happens to end in CR here."},
    {"*", "*", has_control, REFUSED, RUN,
     "RFC 9110, 5.5: CR, LF and NUL are invalid in values, other control bytes may be let pass. We refuse "
     "them all."},
    {"*", "*", has_extension, REFUSED, RUN | SMUGGLE,
     "RFC 9112, 7.1.1: an extension is a name, maybe with a value. They skip whatever stands behind a size, "
     "and "
     "without a bound as short as ours."},
    {"*", "*", has_long_number, REFUSED, RUN,
     "RFC 9110, 8.6 asks that no number overflows. We read 18 digits of a length and 16 of a chunk's size, "
     "zeros "
     "included."},
    {"*", "*", has_several_blanks, REFUSED, RUN,
     "RFC 9112, 3: a recipient may split the request line at any blanks. We want one space."},
    {"*", "version/*", any, REFUSED, RUN,
     "RFC 9110, 2.5: a higher minor version should be treated as the highest that one knows. There is none, "
     "and what "
     "does not exist gets 505."},
    {"nginx", "byte/version-end/3?", any, REFUSED, TAKEN, "RFC 9112, 2.3: one digit. nginx takes two."},
    {"*", "*", has_expect, REFUSED, TAKEN,
     "RFC 9110, 10.1.1: an expectation other than 100-continue may be refused with 417. They ignore it."},
    {"*", "empty-lines*", any, REFUSED | ALONE, TAKEN,
     "RFC 9112, 2.2: at least one empty line should be ignored before a request. We ignore two, they any "
     "number."},

    /* haproxy is made to stand before a server, and leaves some things to it. */
    {"haproxy", "*", has_folding, REFUSED | ALONE, RUN,
     "RFC 9112, 5.2: a folded line is to be refused, or the fold replaced by spaces, which haproxy does."},
    {"haproxy", "*", has_empty_coding, REFUSED, RUN,
     "RFC 9110, 5.6.1.2: empty items of a list are to be ignored. In codings nobody honest writes them."},
    {"haproxy", "coding-1.0*", has_coding, REFUSED, ALONE,
     "RFC 9112, 6.1: a coding in HTTP/1.0 is to be treated as faulty framing. haproxy reads the chunks, then "
     "closes."},
    {"haproxy", "*coding*", has_coding, REFUSED, ALONE,
     "RFC 9112, 6.3: of a coding beside a length a server may use the coding and must close then. We "
     "refuse."},
    {"haproxy", "length-twice/*", any, REFUSED, RUN | SILENT,
     "RFC 9110, 8.6: equal lengths may be taken as one. We refuse."},
    {"haproxy", "length*", has_equal_items, REFUSED, TAKEN,
     "RFC 9110, 8.6: a list of equal lengths may be taken as one. We refuse."},
    {"haproxy", "length*", has_overflow, REFUSED, ALONE,
     "RFC 9110, 8.6: no overflow. haproxy takes 2^64 for 0."},
    {"haproxy", "length*", any, REFUSED, SILENT,
     "RFC 9110, 15.5.14: haproxy has no limit for bodies and waits. We answer 413 at once."},
    {"haproxy", "*chunk/*", any, REFUSED, SILENT, "RFC 9110, 15.5.14: nor has it one for chunks."},
    {"haproxy", "*chunk/*", has_trailers, TAKEN, REFUSED,
     "RFC 9110, 6.5.1: fields of framing do not belong in trailers. haproxy refuses them, we drop all "
     "trailers."},
    {"haproxy", "*chunk/*", has_trailers, REFUSED, TAKEN,
     "RFC 9112, 5.1: no blank before a colon. haproxy forgives it in trailers."},
    {"haproxy", "byte/trailer-*", any, REFUSED, RUN,
     "RFC 9112, 7.1.2: trailers are field lines. haproxy looks at their names in some runs only."},
    {"haproxy", "*host*", any, REFUSED, TAKEN,
     "RFC 9112, 3.2: a missing, doubled or invalid Host is 400. haproxy does not look."},
    {"haproxy", "*target*", any, REFUSED, TAKEN, "RFC 9112, 3.2: haproxy does not look into targets."},
    {"haproxy", "byte/path/*", any, REFUSED, TAKEN, "RFC 9112, 3.2: nor into paths."},
    {"haproxy", "asterisk/*", any, REFUSED, TAKEN,
     "RFC 9112, 3.2.4: haproxy does not look at the asterisk, nor for a Host beside it."},
    {"haproxy", "authority/*", any, REFUSED, ALONE, "RFC 9110, 9.3.6: CONNECT is for proxies."},
    {"haproxy", "*", has_absolute_form, TAKEN, REFUSED,
     "RFC 9112, 3.2.2: beside a target in absolute form the Host field is ignored. haproxy refuses one that "
     "differs."},
    {"haproxy", "beginning/*", any, SILENT, REFUSED,
     "RFC 9112, 8: a request that is cut off may be answered with an error. We only close."},

    {"nginx", "*", has_bare_cr, REFUSED | ALONE, RUN,
     "RFC 9112, 2.2: a bare CR is invalid, or to be replaced by a space. nginx lets it pass."},
    {"nginx", "*", has_odd_name, REFUSED, RUN,
     "RFC 9112, 5: a field line is a token, a colon and a value. nginx ignores lines that are not."},
    {"nginx", "byte/trailer-*", any, REFUSED, RUN,
     "RFC 9112, 7.1.2: trailers are field lines. nginx skips them unread."},
    {"nginx", "*chunk/*", has_trailers, REFUSED, TAKEN | SMUGGLE,
     "RFC 9112, 7.1.2: nginx skips trailers unread."},
    {"nginx", "*", has_odd_method, TAKEN, REFUSED,
     "RFC 9110, 9.1: a method is a token. nginx knows those of upper-case letters, '-' and '_'."},
    {"nginx", "*", has_tab, TAKEN, REFUSED,
     "RFC 9110, 5.6.3: a tab around a value is a blank. nginx trims spaces only."},
    {"nginx", "*host*", any, REFUSED, TAKEN,
     "RFC 9112, 3.2: an invalid Host is 400. nginx takes most bytes, and no look at ports."},
    {"nginx", "*host*", has_empty_label, TAKEN, REFUSED,
     "RFC 9110, 7.2: an empty Host is legal, and an empty label harms nobody. nginx refuses both."},
    {"nginx", "*target*", has_absolute_form, REFUSED, TAKEN,
     "RFC 9112, 3.2.2: an absolute form has a host, and our schemes. nginx looks at neither."},
    {"nginx", "*", has_fragment, REFUSED, TAKEN,
     "RFC 9112, 3.2: a target has no fragment. nginx cuts it off."},
    {"nginx", "*", has_high_byte, REFUSED, TAKEN,
     "RFC 3986, 2: what is not ASCII is to be escaped. nginx takes it raw."},
    {"nginx", "asterisk/00", any, TAKEN, REFUSED,
     "RFC 9110, 9.3.7: OPTIONS * asks the server as a whole. nginx has no answer."},
    {"nginx", "field*", has_close, TAKEN, ALONE,
     "RFC 9110, 7.6.1: options are whole tokens. nginx looks for \"close\" in any place."},
    {"nginx", "field*", has_close, ALONE, TAKEN, "RFC 9110, 7.6.1: fields add up. nginx takes the last."},
    {"nginx", "field*", has_expect, TAKEN, REFUSED,
     "RFC 9110, 5.3: Expect is a list and may come in two lines. nginx refuses it."},
    {"nginx", "line/*", any, REFUSED, ALONE,
     "RFC 9112, A.1: a line without a version is HTTP/0.9, which no server needs to know."},
    {"nginx", "method/*", any, REFUSED | TAKEN, ALONE,
     "RFC 9110, 15.5.6: nginx refuses TRACE and CONNECT with 405, and closes."},
    {"nginx", "*", any, SILENT, ALONE,
     "RFC 9112, 9.6: as we set it up, nginx answers without waiting for the body."},
    {"nginx", "*chunk/3[1-4]", any, REFUSED, ALONE,
     "RFC 9112, 9.6: it does so as well where we see at once that a chunk is too large."},
};

static unsigned uses[sizeof rules / sizeof *rules];

const char *rule_find(const struct mutation *mutation, const char *peer, enum verdict theirs)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct rule *rule = &rules[i];
        if ((rule->ours & mutation->expected) != 0 && (rule->theirs & theirs) != 0 &&
            fnmatch(rule->peer, peer, 0) == 0 && fnmatch(rule->family, mutation->name, 0) == 0 &&
            rule->applies(mutation)) {
            uses[i]++;
            return rule->reason;
        }
    }
    return NULL;
}

void rules_print(void)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (uses[i] > 0)
            printf("%5u x %s\n", uses[i], rules[i].reason);
}
