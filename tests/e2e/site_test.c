/* A site that nobody here wrote, byte for byte: SITE_DIR, by default what Debian's sqlite3-doc installs. */
#include "harness.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BATCH 50
#define DEFAULT_SITE "/usr/share/doc/sqlite3"

static struct server *plain, *tls;
static const char *site;

/* Paths below the site of its regular files; links and dotfiles are for other tests. */
static char **paths;
static size_t path_count;

static int take(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info, (void)walk;
    if (type != FTW_F || strstr(path + strlen(site), "/.") != NULL)
        return 0;
    if (path_count % 1000 == 0)
        paths = realloc(paths, (path_count + 1000) * sizeof *paths);
    paths[path_count++] = strdup(path + strlen(site));
    return 0;
}

static void setup(void)
{
    struct folder *folder = folder_create();
    const char *public = text_print("PUBLIC=%s", site);
    folder_add_certificate(folder);
    plain = server_start(folder, (const char *const[]){public, NULL});
    tls = server_start(folder, (const char *const[]){public, "SSL=1", "SSL_PORT=0",
                                                     text_print("SSL_CERT=%s/cert.pem", folder->path),
                                                     text_print("SSL_KEY=%s/key.pem", folder->path), NULL});
}

static void teardown(void)
{
    server_stop(plain);
    server_stop(tls);
}

/* What a browser would ask for. */
static char *target_of(const char *path)
{
    char *target = malloc(3 * strlen(path) + 1), *end = target;
    for (const unsigned char *c = (const unsigned char *)path; *c != '\0'; c++) {
        if (*c <= 0x20 || *c >= 0x7f || strchr("%?#[]\"<>\\^`{|}", *c) != NULL)
            end += sprintf(end, "%%%02X", *c);
        else
            *end++ = (char)*c;
    }
    *end = '\0';
    return target;
}

static void compare(const char *path, const struct answer *answer)
{
    size_t len;
    struct folder folder;
    snprintf(folder.path, sizeof folder.path, "%s", site);
    char *data = folder_read(&folder, path + 1, &len);
    ck_assert_msg(answer->status == 200, "%s: %s", path, answer->head);
    ck_assert_msg(answer->len == len && memcmp(answer->body, data, len) == 0, "%s is not what the file is",
                  path);
    free(data);
}

static void crawl(const struct server *server, enum transport transport, size_t batch)
{
    for (size_t at = 0; at < path_count; at += batch) {
        struct request requests[BATCH];
        struct answer *answers[BATCH];
        size_t count = path_count - at < batch ? path_count - at : batch;
        for (size_t i = 0; i < count; i++)
            requests[i] = (struct request){.transport = transport, .path = target_of(paths[at + i])};
        client_send_all(server, requests, answers, count);
        for (size_t i = 0; i < count; i++) {
            compare(paths[at + i], answers[i]);
            free(answers[i]->body);
        }
    }
}

START_TEST(every_file_over_http1)
{
    crawl(plain, HTTP1, 4);
}
END_TEST

START_TEST(every_file_over_http2)
{
    crawl(tls, HTTP2, BATCH);
}
END_TEST

START_TEST(the_front_page)
{
    compare("/index.html", client_get(plain, HTTP1, "/"));
    compare("/index.html", client_get(tls, HTTP2, "/"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("site");
    site = getenv("SITE_DIR") ? getenv("SITE_DIR") : DEFAULT_SITE;
    if (access(site, R_OK) != 0) {
        printf("SKIPPED: no site in %s (install sqlite3-doc, or set SITE_DIR)\n100%%: Checks: 0, Failures: "
               "0, Errors: 0\n",
               site);
        return 77;
    }
    nftw(site, take, 16, FTW_PHYS);
    TCase *crawls = harness_case(suite, "crawl", setup, teardown);
    tcase_add_test(crawls, every_file_over_http1);
    tcase_add_test(crawls, every_file_over_http2);
    tcase_add_test(crawls, the_front_page);
    return harness_run(suite);
}
