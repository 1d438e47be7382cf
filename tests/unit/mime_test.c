#include "app/mime.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

START_TEST(case_40_content_types)
{
    static const struct {
        const char *path, *type;
        int max_age;
    } cases[] = {
        {"/a.html", "text/html; charset=utf-8", 5},
        {"/a.HTML", "text/html; charset=utf-8", 5},
        {"/a.htm", "text/html; charset=utf-8", 5},
        {"/a.mjs", "text/javascript; charset=utf-8", 604800},
        {"/a.js", "text/javascript; charset=utf-8", 604800},
        {"/a.cjs", "text/javascript; charset=utf-8", 604800},
        {"/a.b.JS", "text/javascript; charset=utf-8", 604800},
        {"/a.wasm", "application/wasm", 30},
        {"/a.webmanifest", "application/manifest+json", 30},
        {"/a.json", "application/json", 604800},
        {"/a.js.map", "application/json", 604800},
        {"/a.svg", "image/svg+xml", 604800},
        {"/a.avif", "image/avif", 604800},
        {"/a.woff2", "font/woff2", 604800},
        {"/a.css", "text/css; charset=utf-8", 604800},
        {"/a.txt", "text/plain; charset=utf-8", 604800},
        {"/a.md", "text/markdown; charset=utf-8", 30},
        {"/a.tar.gz", "application/gzip", 86400},
        {"/a.7z", "application/x-7z-compressed", 86400},
        {"/a.zip", "application/zip", 86400},
        {"/a.PDF", "application/pdf", 86400},
        {"/a.mp4", "video/mp4", 86400},
        {"/a.xml", "application/xml", 604800},
        {"/a.png", "image/png", 604800},
        {"/README", "application/octet-stream", 30},
        {"/a.", "application/octet-stream", 30},
        {"/a.unknown", "application/octet-stream", 30},
        {"/a.verylongextension", "application/octet-stream", 30},
        {"/html", "application/octet-stream", 30},
        {"/dir.html/file", "application/octet-stream", 30},
        {"", "application/octet-stream", 30},
        {"/.well-known/acme-challenge/tok", "text/plain; charset=utf-8", 30},
        {"/.well-known/security.txt", "text/plain; charset=utf-8", 604800},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_msg(strcmp(mime_of(cg_string(cases[i].path)), cases[i].type) == 0, "%s: %s", cases[i].path,
                      mime_of(cg_string(cases[i].path)));
        ck_assert_msg(mime_max_age(cg_string(cases[i].path)) == cases[i].max_age, "%s", cases[i].path);
    }
    ck_assert_str_eq(mime_of(cg_bytes("/a.html\0", 8)), "application/octet-stream");
}
END_TEST

/* A binary search only finds what is in order: one of each part of the table. */
START_TEST(the_table_is_in_order)
{
    static const char *const known[] = {
        "7z",   "aac",    "avi",  "avif", "bmp",  "cjs",  "css",         "csv",  "doc",  "docx",  "eot",
        "epub", "flac",   "gif",  "gz",   "htm",  "html", "ico",         "ics",  "jpeg", "jpg",   "js",
        "json", "jsonld", "jxl",  "m4a",  "m4v",  "map",  "md",          "mjs",  "mov",  "mp3",   "mp4",
        "mpeg", "mpg",    "odp",  "ods",  "odt",  "oga",  "ogg",         "ogv",  "opus", "otf",   "pdf",
        "png",  "ppt",    "pptx", "rar",  "rss",  "rtf",  "svg",         "tar",  "tif",  "tiff",  "ttf",
        "txt",  "vtt",    "wasm", "wav",  "weba", "webm", "webmanifest", "webp", "woff", "woff2", "xhtml",
        "xls",  "xlsx",   "xml",  "yaml", "yml",  "zip",
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char path[32];
        snprintf(path, sizeof path, "/x.%s", known[i]);
        ck_assert_msg(strcmp(mime_of(cg_string(path)), "application/octet-stream") != 0, "%s", path);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mime");
    TCase *tests = tcase_create("mime");
    tcase_add_test(tests, case_40_content_types);
    tcase_add_test(tests, the_table_is_in_order);
    suite_add_tcase(suite, tests);
    return suite_end(suite);
}
