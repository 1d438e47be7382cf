#include "app/topics.h"
#include "base/alloc.h"
#include "shm/shm.h"
#include "suite.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LOOPS 2
#define PUBLISHERS 4
#define EACH 2000

static struct shm *shm;
static struct topics *topics;
static struct mailbox boxes[LOOPS];

static void setup(void)
{
    ck_assert_int_eq(shm_create(NULL, 8 << 20, &shm), 0);
    topics = topics_create(shm, LOOPS);
    for (unsigned i = 0; i < LOOPS; i++) {
        ck_assert_int_eq(mailbox_init(&boxes[i]), 0);
        topics_bind(topics, i, &boxes[i]);
    }
}

static void teardown(void)
{
    for (unsigned i = 0; i < LOOPS; i++) {
        mailbox_empty(&boxes[i]);
        mailbox_finish(&boxes[i]);
    }
    topics_destroy(topics);
    shm_close(shm);
}

struct listener {
    struct subscriber subscriber;
    size_t count;
    uint64_t last;
    char text[256];          /* all data, one after the other */
    struct listener *leaves; /* when something comes; NULL: nobody */
    unsigned loop;
};

static void hear(struct subscriber *subscriber, struct delivery *delivery)
{
    struct listener *listener = (struct listener *)subscriber;
    const struct publication *publication = delivery->publication;
    ck_assert_uint_gt(publication->number, listener->last);
    listener->last = publication->number;
    listener->count++;
    if (strlen(listener->text) + publication->data.len < sizeof listener->text)
        strcat(listener->text, publication->data.ptr);
    if (listener->leaves != NULL)
        topics_leave(topics, listener->loop, &listener->leaves->subscriber);
}

static void join(struct listener *listener, const char *name)
{
    uint64_t last;
    listener->subscriber.deliver = hear;
    ck_assert_int_eq(topics_last(topics, name, &last), 0);
    ck_assert_int_eq(topics_subscribe(topics, listener->loop, &listener->subscriber, name, last), 0);
}

static void leave(struct listener *listener)
{
    topics_leave(topics, listener->loop, &listener->subscriber);
}

static void say(const char *name, const char *text)
{
    ck_assert_int_eq(topics_publish(topics, name, text, strlen(text), CG_TEXT), 0);
}

static void run_loops(void)
{
    for (unsigned i = 0; i < LOOPS; i++)
        mailbox_empty(&boxes[i]);
}

START_TEST(each_hears_what_is_published_after_it_came)
{
    struct listener first = {0}, second = {.loop = 1}, other = {0};
    say("room", "0");
    join(&first, "room");
    join(&first, "room");
    join(&other, "hall");
    say("room", "1");
    join(&second, "room");
    say("room", "2");
    run_loops();
    ck_assert_str_eq(first.text, "12");
    ck_assert_str_eq(second.text, "2");
    ck_assert_uint_eq(other.count, 0);
    topics_unsubscribe(topics, 0, &first.subscriber, "room");
    topics_unsubscribe(topics, 0, &first.subscriber, "room");
    say("room", "3");
    run_loops();
    ck_assert_str_eq(first.text, "12");
    ck_assert_str_eq(second.text, "23");
    leave(&second);
    leave(&other);
}
END_TEST

START_TEST(leaving_while_something_is_delivered)
{
    struct listener a = {0}, b = {0}, c = {0};
    join(&a, "room");
    join(&b, "room");
    join(&c, "room");
    a.leaves = &b; /* the next one */
    c.leaves = &c; /* itself */
    say("room", "1");
    say("room", "2");
    run_loops();
    ck_assert_str_eq(a.text, "12");
    ck_assert_str_eq(b.text, "");
    ck_assert_str_eq(c.text, "1");
    leave(&a);
}
END_TEST

START_TEST(what_is_refused)
{
    char name[TOPIC_NAME_MAX + 2];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    ck_assert_int_eq(topics_publish(topics, name, "", 0, CG_TEXT), -E2BIG);
    ck_assert_int_eq(topics_publish(topics, name + 1, "", 0, CG_TEXT), 0);
    ck_assert_int_eq(topics_publish(topics, "", "", 0, CG_TEXT), -EINVAL);
    ck_assert_int_eq(topics_publish(topics, NULL, "", 0, CG_TEXT), -EINVAL);
    struct listener listener = {0};
    char *large = xzalloc(TOPIC_DATA_MAX + 1);
    join(&listener, "room");
    ck_assert_int_eq(topics_publish(topics, "room", large, TOPIC_DATA_MAX + 1, CG_BINARY), -E2BIG);
    int error = 0;
    for (unsigned i = 0; i <= TOPIC_WAITING_MAX / TOPIC_DATA_MAX && error == 0; i++)
        error = topics_publish(topics, "room", large, TOPIC_DATA_MAX, CG_BINARY);
    ck_assert_int_eq(error, -EAGAIN);
    run_loops();
    ck_assert_int_eq(topics_publish(topics, "room", large, TOPIC_DATA_MAX, CG_BINARY), 0);
    run_loops();
    leave(&listener);
    free(large);
}
END_TEST

static void collect(void *arg, const struct publication *publication)
{
    strcat(arg, publication->data.ptr);
}

START_TEST(the_past_is_kept_for_those_who_ask)
{
    char text[1024] = "";
    uint64_t start;
    say("news", "lost ");
    ck_assert_int_eq(topics_keep(topics, "news"), 0);
    ck_assert_int_eq(topics_last(topics, "news", &start), 0);
    ck_assert_uint_gt(start, 0);
    say("news", "a");
    say("news", "b");
    say("olds", "x");
    topics_replay(topics, "news", start - 1, collect, text);
    ck_assert_str_eq(text, "ab");
    *text = '\0';
    topics_replay(topics, "news", start + 1, collect, text);
    ck_assert_str_eq(text, "b");
    *text = '\0';
    topics_replay(topics, "news", start + 2, collect, text);
    topics_replay(topics, "news", UINT64_MAX, collect, text);
    topics_replay(topics, "olds", 0, collect, text);
    ck_assert_str_eq(text, "");
    for (int i = 0; i < TOPIC_HISTORY; i++)
        say("news", "c");
    topics_replay(topics, "news", 0, collect, text);
    ck_assert_uint_eq(strlen(text), TOPIC_HISTORY);
    ck_assert_ptr_null(strchr(text, 'b'));
}
END_TEST

static void *publish_many(void *arg)
{
    for (int i = 0; i < EACH; i++)
        while (topics_publish(topics, "room", arg, 1, CG_TEXT) == -EAGAIN)
            ;
    return NULL;
}

struct runner {
    pthread_t thread;
    struct listener listeners[10];
    unsigned loop;
};

static void *run_one_loop(void *arg)
{
    struct runner *runner = arg;
    while (runner->listeners[0].count < PUBLISHERS * EACH) {
        poll(&(struct pollfd){.fd = boxes[runner->loop].fd, .events = POLLIN}, 1, 100);
        mailbox_run(&boxes[runner->loop]);
    }
    return NULL;
}

/* hear() sees to the order. */
START_TEST(publishers_on_many_threads)
{
    static struct runner runners[LOOPS];
    pthread_t publishers[PUBLISHERS];
    for (unsigned i = 0; i < LOOPS; i++) {
        runners[i].loop = i;
        for (size_t k = 0; k < 10; k++) {
            runners[i].listeners[k].loop = i;
            join(&runners[i].listeners[k], "room");
        }
        pthread_create(&runners[i].thread, NULL, run_one_loop, &runners[i]);
    }
    for (size_t i = 0; i < PUBLISHERS; i++)
        pthread_create(&publishers[i], NULL, publish_many, (void *)&"abcd"[i]);
    for (size_t i = 0; i < PUBLISHERS; i++)
        pthread_join(publishers[i], NULL);
    for (unsigned i = 0; i < LOOPS; i++) {
        pthread_join(runners[i].thread, NULL);
        for (size_t k = 0; k < 10; k++) {
            ck_assert_uint_eq(runners[i].listeners[k].count, PUBLISHERS * EACH);
            leave(&runners[i].listeners[k]);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("topics");
    TCase *tests = tcase_create("topics");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, each_hears_what_is_published_after_it_came);
    tcase_add_test(tests, leaving_while_something_is_delivered);
    tcase_add_test(tests, what_is_refused);
    tcase_add_test(tests, the_past_is_kept_for_those_who_ask);
    tcase_add_test(tests, publishers_on_many_threads);
    suite_add_tcase(suite, tests);
    return suite_end(suite);
}
