#include "app/mime.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DAY 86400
#define WEEK (7 * DAY)
#define LONGEST_EXTENSION 11

struct kind {
    const char *extension; /* lower case */
    const char *type;
    int max_age;
};

/* In byte order of the extensions. */
static const struct kind kinds[] = {
    {"7z", "application/x-7z-compressed", DAY},
    {"aac", "audio/aac", DAY},
    {"avi", "video/x-msvideo", DAY},
    {"avif", "image/avif", WEEK},
    {"bmp", "image/bmp", WEEK},
    {"cjs", "text/javascript; charset=utf-8", WEEK},
    {"css", "text/css; charset=utf-8", WEEK},
    {"csv", "text/csv; charset=utf-8", 30},
    {"doc", "application/msword", DAY},
    {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", DAY},
    {"eot", "application/vnd.ms-fontobject", WEEK},
    {"epub", "application/epub+zip", DAY},
    {"flac", "audio/flac", DAY},
    {"gif", "image/gif", WEEK},
    {"gz", "application/gzip", DAY},
    {"htm", "text/html; charset=utf-8", 5},
    {"html", "text/html; charset=utf-8", 5},
    {"ico", "image/vnd.microsoft.icon", WEEK},
    {"ics", "text/calendar; charset=utf-8", 30},
    {"jpeg", "image/jpeg", WEEK},
    {"jpg", "image/jpeg", WEEK},
    {"js", "text/javascript; charset=utf-8", WEEK},
    {"json", "application/json", WEEK},
    {"jsonld", "application/ld+json", WEEK},
    {"jxl", "image/jxl", WEEK},
    {"m4a", "audio/mp4", DAY},
    {"m4v", "video/mp4", DAY},
    {"map", "application/json", WEEK},
    {"md", "text/markdown; charset=utf-8", 30},
    {"mjs", "text/javascript; charset=utf-8", WEEK},
    {"mov", "video/quicktime", DAY},
    {"mp3", "audio/mpeg", DAY},
    {"mp4", "video/mp4", DAY},
    {"mpeg", "video/mpeg", DAY},
    {"mpg", "video/mpeg", DAY},
    {"odp", "application/vnd.oasis.opendocument.presentation", DAY},
    {"ods", "application/vnd.oasis.opendocument.spreadsheet", DAY},
    {"odt", "application/vnd.oasis.opendocument.text", DAY},
    {"oga", "audio/ogg", DAY},
    {"ogg", "audio/ogg", DAY},
    {"ogv", "video/ogg", DAY},
    {"opus", "audio/ogg", DAY},
    {"otf", "font/otf", WEEK},
    {"pdf", "application/pdf", DAY},
    {"png", "image/png", WEEK},
    {"ppt", "application/vnd.ms-powerpoint", DAY},
    {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation", DAY},
    {"rar", "application/vnd.rar", DAY},
    {"rss", "application/rss+xml", WEEK},
    {"rtf", "application/rtf", DAY},
    {"svg", "image/svg+xml", WEEK},
    {"tar", "application/x-tar", DAY},
    {"tif", "image/tiff", WEEK},
    {"tiff", "image/tiff", WEEK},
    {"ttf", "font/ttf", WEEK},
    {"txt", "text/plain; charset=utf-8", WEEK},
    {"vtt", "text/vtt; charset=utf-8", 30},
    {"wasm", "application/wasm", 30},
    {"wav", "audio/wav", DAY},
    {"weba", "audio/webm", DAY},
    {"webm", "video/webm", DAY},
    {"webmanifest", "application/manifest+json", 30},
    {"webp", "image/webp", WEEK},
    {"woff", "font/woff", WEEK},
    {"woff2", "font/woff2", WEEK},
    {"xhtml", "application/xhtml+xml", 5},
    {"xls", "application/vnd.ms-excel", DAY},
    {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", DAY},
    {"xml", "application/xml", WEEK},
    {"yaml", "application/yaml", 30},
    {"yml", "application/yaml", 30},
    {"zip", "application/zip", DAY},
};

static const struct kind unknown = {"", "application/octet-stream", 30};
/* Challenges of certificate authorities (RFC 8555, section 8.3) and the like have names without a dot, and
   are text. */
static const struct kind well_known = {"", "text/plain; charset=utf-8", 30};

static int by_extension(const void *key, const void *item)
{
    return strcasecmp(key, ((const struct kind *)item)->extension);
}

static const struct kind *kind_of(cg_str path)
{
    static const char prefix[] = "/.well-known/";
    const char *end = path.ptr + path.len, *start = end;
    while (start > path.ptr && start[-1] != '.' && start[-1] != '/')
        start--;
    if (start == path.ptr || start[-1] == '/') {
        bool is_well_known = path.len > strlen(prefix) && memcmp(path.ptr, prefix, strlen(prefix)) == 0;
        return is_well_known ? &well_known : &unknown;
    }
    char extension[LONGEST_EXTENSION + 1] = "";
    if (end - start > LONGEST_EXTENSION || memchr(start, '\0', (size_t)(end - start)) != NULL)
        return &unknown;
    memcpy(extension, start, (size_t)(end - start));
    const struct kind *kind =
        bsearch(extension, kinds, sizeof kinds / sizeof *kinds, sizeof *kinds, by_extension);
    return kind ? kind : &unknown;
}

const char *mime_of(cg_str path)
{
    return kind_of(path)->type;
}

int mime_max_age(cg_str path)
{
    return kind_of(path)->max_age;
}

static bool ends_in(const char *text, size_t len, const char *end)
{
    size_t size = strlen(end);
    return len > size && strncasecmp(text + len - size, end, size) == 0;
}

bool mime_compressible(const char *type)
{
    static const char *const others[] = {
        "application/json",   "application/javascript",        "application/xml", "application/yaml",
        "application/wasm",   "application/x-ndjson",          "application/rtf", "application/x-javascript",
        "application/x-tar",  "application/vnd.ms-fontobject", "font/otf",        "font/ttf",
        "image/bmp",          "image/vnd.microsoft.icon",      "image/x-icon",    "image/svg+xml",
        "application/graphql"};
    size_t len = strcspn(type, "; \t");
    if (strncasecmp(type, "text/", 5) == 0)
        return strncasecmp(type, "text/event-stream", len) != 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (len == strlen(others[i]) && strncasecmp(type, others[i], len) == 0)
            return true;
    return ends_in(type, len, "+json") || ends_in(type, len, "+xml");
}
