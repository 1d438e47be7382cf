/* Shared memory as functions see it: on every thread the same. */
#include "harness.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLIENTS 4
#define REQUESTS 50
#define ADDS 40
#define TOTAL (CLIENTS * REQUESTS * ADDS)

static struct server *server;

static void setup(void)
{
    struct folder *folder = folder_create();
    folder_print(folder, "apiconfig.yaml", "REST:\n  /api/notes/:key: { path: notes.so }\n");
    folder_add_function(folder, "tests/e2e/functions/unique.c", "unique");
    folder_add_function(folder, "tests/e2e/functions/store.c", "store");
    folder_add_function(folder, "tests/stories/notes.c", "notes");
    server = server_start(folder, (const char *const[]){"THREADS=2", "SHM_SIZE=4194304", NULL});
}

static void teardown(void)
{
    server_stop(server);
}

static void mark(unsigned char *seen, char *text, int column)
{
    char *save;
    for (char *line = strtok_r(text, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save)) {
        char *number = column == 0 ? line : strchr(line, ' ') + 1;
        long n = strtol(number, NULL, 10);
        ck_assert_msg(n >= 1 && n <= TOTAL, "%ld is outside", n);
        ck_assert_msg(!seen[n], "%ld came twice", n);
        seen[n] = 1;
    }
}

/* Each request has a connection of its own, so that both loops are asked. */
START_TEST(every_add_has_a_result_of_its_own)
{
    unsigned char *counters = calloc(1, TOTAL + 1), *keys = calloc(1, TOTAL + 1);
    for (int round = 0; round < REQUESTS; round++) {
        struct request requests[CLIENTS];
        struct answer *answers[CLIENTS];
        for (int i = 0; i < CLIENTS; i++)
            requests[i] = (struct request){.path = text_print("/api/unique?n=%d", ADDS)};
        client_send_all(server, requests, answers, CLIENTS);
        for (int i = 0; i < CLIENTS; i++) {
            answer_expect(answers[i], 200);
            mark(counters, strdup(answers[i]->body), 0);
            mark(keys, answers[i]->body, 1);
        }
    }
    for (int n = 1; n <= TOTAL; n++)
        ck_assert_msg(counters[n] && keys[n], "%d was never given", n);
}
END_TEST

static struct answer *note(const char *method, const char *target, const void *body, size_t len)
{
    return client_send(server, &(struct request){.method = method, .path = target, .body = body, .len = len});
}

START_TEST(notes_are_the_same_on_every_thread)
{
    char *bytes = bytes_make(100000, 5);
    answer_expect(note("PUT", "/api/notes/bytes", bytes, 100000), 204);
    for (int i = 0; i < 20; i++)
        answer_expect_bytes(client_get(server, HTTP1, "/api/notes/bytes"), 200, bytes, 100000);
    answer_expect(note("PUT", "/api/notes/bytes", "", 0), 204);
    answer_expect_text(client_get(server, HTTP1, "/api/notes/bytes"), 200, "");
    answer_expect(note("DELETE", "/api/notes/bytes", NULL, 0), 204);
}
END_TEST

START_TEST(notes_end_with_their_time)
{
    answer_expect(note("PUT", "/api/notes/brief?ttl=100", "x", 1), 204);
    answer_expect(note("PUT", "/api/notes/long?ttl=3600000", "y", 1), 204);
    int status = 0;
    for (int i = 0; i < 1000 && status != 404; i++) {
        status = client_get(server, HTTP1, "/api/notes/brief")->status;
        pause_ms(10);
    }
    ck_assert_int_eq(status, 404);
    answer_expect_text(client_get(server, HTTP1, "/api/notes/long"), 200, "y");
}
END_TEST

/* case 103: full is an error for who asked, and nobody else's trouble. */
START_TEST(case_103_a_full_segment_is_507)
{
    char *bytes = bytes_make(500000, 6);
    int status = 204, count = 0;
    for (; count < 50 && status == 204; count++)
        status = note("PUT", text_print("/api/notes/n%d", count), bytes, 500000)->status;
    ck_assert_int_eq(status, 507);
    ck_assert_int_gt(count, 3);
    answer_expect(client_get(server, HTTP1, "/api/unique?n=1"), 200);
    answer_expect_bytes(client_get(server, HTTP1, "/api/notes/n0"), 200, bytes, 500000);
    answer_expect(note("DELETE", "/api/notes/n0", NULL, 0), 204);
    answer_expect(note("PUT", "/api/notes/again", bytes, 400000), 204);
}
END_TEST

static struct answer *store(const char *query, const char *body)
{
    return client_post(server, HTTP1, text_print("/api/store?do=%s", query), NULL, body, strlen(body));
}

static char *result(int error, long long sum)
{
    return text_print("%d %lld", error, sum);
}

START_TEST(what_else_can_be_done_with_keys)
{
    answer_expect_text(store("create&key=k", "one"), 200, result(0, 0));
    answer_expect_text(store("create&key=k", "two"), 200, result(-EEXIST, 0));
    answer_expect_text(store("cas&key=k&old=two", "three"), 200, result(-EAGAIN, 0));
    answer_expect_text(store("cas&key=k&old=one", "three"), 200, result(0, 0));
    answer_expect_text(store("cas&key=none&old=one", "three"), 200, result(-ENOENT, 0));
    answer_expect_text(store("incr&key=k&n=1", ""), 200, result(-EINVAL, 0));
    answer_expect_text(store("incr&key=n&n=5", ""), 200, result(0, 5));
    answer_expect_text(store("incr&key=n&n=-7", ""), 200, result(0, -2));
    answer_expect_text(store("create&key=", "x"), 200, result(-EINVAL, 0));
    struct answer *keys = store("keys", "");
    ck_assert(strstr(keys->body, "k\n") != NULL && strstr(keys->body, "n\n") != NULL &&
              strstr(keys->body, "2\n") != NULL);
    answer_expect_text(store("clear", ""), 200, result(0, 0));
    answer_expect_text(store("keys", ""), 200, "0\n");
}
END_TEST

START_TEST(locks_end_with_their_event)
{
    for (int i = 0; i < 10; i++)
        answer_expect_text(store("lock", ""), 200, "0 1");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shm");
    TCase *shm = harness_case(suite, "shm", setup, teardown);
    tcase_add_test(shm, every_add_has_a_result_of_its_own);
    tcase_add_test(shm, notes_are_the_same_on_every_thread);
    tcase_add_test(shm, notes_end_with_their_time);
    tcase_add_test(shm, what_else_can_be_done_with_keys);
    tcase_add_test(shm, locks_end_with_their_event);
    tcase_add_test(shm, case_103_a_full_segment_is_507);
    return harness_run(suite);
}
