#include "base/mailbox.h"
#include "suite.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>

#define THREADS 4
#define MAILS 20000

static struct mailbox mailbox;
static int next_of[THREADS];
static int received;

/* arg says who sent it and which one it is; each sender's arrive in its order. */
static void receive(void *arg)
{
    size_t mail = (size_t)arg;
    ck_assert_int_eq(next_of[mail % THREADS]++, (int)(mail / THREADS));
    received++;
}

static void *send_all(void *arg)
{
    for (size_t i = 0; i < MAILS; i++)
        while (mailbox_post(&mailbox, receive, (void *)(i * THREADS + (size_t)arg)) == -EAGAIN)
            sched_yield();
    return NULL;
}

static bool readable(void)
{
    struct pollfd poll_fd = {mailbox.fd, POLLIN, 0};
    return poll(&poll_fd, 1, 0) == 1;
}

START_TEST(everything_arrives_once_and_in_order)
{
    pthread_t threads[THREADS];
    struct pollfd poll_fd = {.events = POLLIN};
    ck_assert_int_eq(mailbox_init(&mailbox), 0);
    poll_fd.fd = mailbox.fd;
    for (size_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, send_all, (void *)i), 0);
    while (received < THREADS * MAILS) {
        ck_assert_int_eq(poll(&poll_fd, 1, 10000), 1);
        mailbox_run(&mailbox);
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert(!readable());
    mailbox_finish(&mailbox);
}
END_TEST

static void count(void *arg)
{
    (void)arg;
    received++;
}

START_TEST(a_full_box_refuses_and_a_wake_up_runs_a_batch)
{
    ck_assert_int_eq(mailbox_init(&mailbox), 0);
    for (int i = 0; i < MAILBOX_CAPACITY; i++)
        ck_assert_int_eq(mailbox_post(&mailbox, count, NULL), 0);
    ck_assert_int_eq(mailbox_post(&mailbox, count, NULL), -EAGAIN);
    mailbox_run(&mailbox);
    ck_assert_int_eq(received, MAILBOX_BATCH);
    ck_assert(readable());
    ck_assert_int_eq(mailbox_post(&mailbox, count, NULL), 0);
    while (readable())
        mailbox_run(&mailbox);
    ck_assert_int_eq(received, MAILBOX_CAPACITY + 1);
    mailbox_finish(&mailbox);
}
END_TEST

SUITE_MAIN("mailbox", everything_arrives_once_and_in_order, a_full_box_refuses_and_a_wake_up_runs_a_batch)
