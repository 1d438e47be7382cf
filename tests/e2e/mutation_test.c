/* Thousands of requests that are wrong, odd or just right: what we make of each, in whatever pieces it comes,
   and what two strict servers of Debian's make of it. Where we differ from one of them there is a reason, or
   the test fails. */
#include "harness.h"
#include "mutation_rules.h"
#include "mutations.h"
#include "peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 40    /* failures */
#define TIMEOUT 240 /* seconds for thousands of connections, on a machine that does other things */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

static struct server *server;
static struct peer ours = {.name = "cloudgate"};
static struct mutations *mutations;

static void setup(void)
{
    struct folder *folder = folder_create();
    folder_print(folder, "apiconfig.yaml",
                 "REST:\n"
                 "  /probe: { path: probe.so }\n"
                 "  /canary: { path: probe.so }\n"
                 "  /smuggled: { path: probe.so }\n");
    folder_add_function(folder, "tests/e2e/functions/probe.c", "probe");
    server = server_start(folder, (const char *const[]){"BODY_LIMIT=1048576", NULL});
    ours.port = server->port;
    mutations = mutations_make();
}

static void teardown(void)
{
    server_stop(server);
}

/* Failures are counted, since one of them tells little about thousands of requests; the first are shown. */
static bool is_shown(unsigned failures)
{
    return failures <= SHOWN;
}

static void print_outcome(const char *name, const struct outcome *outcome)
{
    printf("    %s: %s", name, verdict_name(outcome->verdict));
    for (size_t i = 0; i < outcome->count && i < OUTCOME_MAX; i++)
        printf(" %d", outcome->statuses[i]);
    if (outcome->body >= 0)
        printf(", body of %ld", outcome->body);
    printf("\n");
}

static bool check_ours(const struct mutation *mutation, size_t split)
{
    struct outcome outcome = peer_ask(&ours, mutation, split);
    return outcome.verdict == mutation->expected &&
           (mutation->body < 0 || outcome.body < 0 || outcome.body == mutation->body);
}

static void show_ours(const struct mutation *mutation, size_t split)
{
    struct outcome outcome = peer_ask(&ours, mutation, split);
    printf("%s, split at %zu, is to be %s (body of %ld): %s\n", mutation->name, split,
           verdict_name(mutation->expected), mutation->body, mutation_describe(mutation));
    print_outcome(ours.name, &outcome);
}

START_TEST(there_are_enough_of_them)
{
    ck_assert_uint_ge(mutations->count, 2000);
}
END_TEST

START_TEST(each_is_taken_or_refused_as_the_rfc_says)
{
    unsigned failures = 0;
    for (size_t i = 0; i < mutations->count; i++)
        if (!check_ours(mutations->items[i], 0) && is_shown(++failures))
            show_ours(mutations->items[i], 0);
    fflush(stdout);
    ck_assert_uint_eq(failures, 0);
}
END_TEST

/* Some of them, and the places to split at differ from request to request, so that all kinds are met. */
START_TEST(pieces_make_no_difference)
{
    unsigned failures = 0;
    for (size_t i = 0; i < mutations->count; i += 3) {
        const struct mutation *mutation = mutations->items[i];
        size_t split = 1 + 7919 * i % mutation->len;
        if (!check_ours(mutation, split) && is_shown(++failures))
            show_ours(mutation, split);
    }
    fflush(stdout);
    ck_assert_uint_eq(failures, 0);
}
END_TEST

/* How often each pair of verdicts came up: the outcome table. */
static unsigned table[8][8];

static size_t row(enum verdict verdict)
{
    return (size_t)__builtin_ctz(verdict);
}

static void print_table(const char *name)
{
    printf("cloudgate \\ %s", name);
    for (size_t j = 0; j < 7; j++)
        printf(" | %s", verdict_name(1u << j));
    for (size_t i = 0; i < 7; i++) {
        printf("\n%18s", verdict_name(1u << i));
        for (size_t j = 0; j < 7; j++)
            printf(" | %*u", (int)strlen(verdict_name(1u << j)), table[i][j]);
    }
    printf("\n");
}

static bool is_explained(const struct mutation *mutation, const char *peer, const struct outcome *theirs)
{
    return theirs->verdict == mutation->expected || rule_find(mutation, peer, theirs->verdict) != NULL;
}

/* What we do is what the generator says: the other tests have seen to that. */
static void compare_with(struct peer *peer)
{
    unsigned failures = 0;
    for (size_t i = 0; i < mutations->count; i++) {
        const struct mutation *mutation = mutations->items[i];
        struct outcome theirs = peer_ask(peer, mutation, 0);
        bool explained = is_explained(mutation, peer->name, &theirs);
        if (!explained && failures < SHOWN) { /* maybe it was only slow */
            theirs = peer_ask_patiently(peer, mutation);
            explained = is_explained(mutation, peer->name, &theirs);
        }
        table[row(mutation->expected)][row(theirs.verdict)]++;
        if (explained || !is_shown(++failures))
            continue;
        printf("%s: we: %s: %s\n", mutation->name, verdict_name(mutation->expected),
               mutation_describe(mutation));
        print_outcome(peer->name, &theirs);
    }
    peer_stop(peer);
    print_table(peer->name);
    rules_print();
    fflush(stdout);
    ck_assert_uint_eq(failures, 0);
}

START_TEST(differences_from_nginx_are_explained)
{
    struct peer *peer = peer_start_nginx();
    if (peer == NULL)
        printf("nginx is not installed: not compared\n");
    else
        compare_with(peer);
}
END_TEST

START_TEST(differences_from_haproxy_are_explained)
{
    struct peer *peer = peer_start_haproxy();
    if (peer == NULL)
        printf("haproxy is not installed: not compared\n");
    else
        compare_with(peer);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mutation");
    TCase *tests = harness_case(suite, "mutations", setup, teardown);
    tcase_set_timeout(tests, TIMEOUT);
    tcase_add_test(tests, there_are_enough_of_them);
    tcase_add_test(tests, each_is_taken_or_refused_as_the_rfc_says);
    tcase_add_test(tests, pieces_make_no_difference);
    /* Under a sanitizer it is our code that is looked at. */
    if (!SANITIZED) {
        tcase_add_test(tests, differences_from_nginx_are_explained);
        tcase_add_test(tests, differences_from_haproxy_are_explained);
    }
    return harness_run(suite);
}
