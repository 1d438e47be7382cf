#include "base/mailbox.h"
#include "suite.h"

#include <poll.h>
#include <stdbool.h>

#define THREADS 4
#define MAILS 20000

struct letter {
    struct mail mail;
    int sender, number;
};

static struct mailbox mailbox;
static int next_of[THREADS];
static int received;

/* Each sender's arrive in its order. */
static void receive(struct mail *mail)
{
    struct letter *letter = (struct letter *)mail;
    ck_assert_int_eq(next_of[letter->sender]++, letter->number);
    received++;
    free(letter);
}

static void *send_all(void *arg)
{
    for (int i = 0; i < MAILS; i++) {
        struct letter *letter = malloc(sizeof *letter);
        *letter = (struct letter){{NULL, receive}, (int)(size_t)arg, i};
        mailbox_post(&mailbox, &letter->mail);
    }
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

static void post(int number)
{
    struct letter *letter = malloc(sizeof *letter);
    *letter = (struct letter){{NULL, receive}, 0, number};
    mailbox_post(&mailbox, &letter->mail);
}

START_TEST(a_wake_up_runs_a_batch_and_no_more)
{
    int posted = 0;
    ck_assert_int_eq(mailbox_init(&mailbox), 0);
    while (posted < 2 * MAILBOX_BATCH)
        post(posted++);
    mailbox_run(&mailbox);
    ck_assert_int_eq(received, MAILBOX_BATCH);
    ck_assert(readable());
    post(posted++); /* behind those that wait */
    mailbox_run(&mailbox);
    ck_assert_int_eq(received, 2 * MAILBOX_BATCH);
    ck_assert(readable());
    mailbox_run(&mailbox);
    ck_assert_int_eq(received, posted);
    ck_assert(!readable());
    mailbox_finish(&mailbox);
}
END_TEST

START_TEST(an_exactly_full_batch_needs_no_other_wake_up)
{
    ck_assert_int_eq(mailbox_init(&mailbox), 0);
    for (int i = 0; i < MAILBOX_BATCH; i++)
        post(i);
    mailbox_run(&mailbox);
    ck_assert_int_eq(received, MAILBOX_BATCH);
    ck_assert(!readable());
    mailbox_finish(&mailbox);
}
END_TEST

static void again(struct mail *mail)
{
    received++;
    mailbox_post(&mailbox, mail);
}

START_TEST(a_mail_that_posts_itself_has_its_turn_later)
{
    struct mail mail = {NULL, again};
    ck_assert_int_eq(mailbox_init(&mailbox), 0);
    mailbox_post(&mailbox, &mail);
    for (int i = 1; i <= 3; i++) {
        ck_assert(readable());
        mailbox_run(&mailbox);
        ck_assert_int_eq(received, i);
    }
    mailbox_finish(&mailbox);
}
END_TEST

SUITE_MAIN("mailbox", everything_arrives_once_and_in_order, a_wake_up_runs_a_batch_and_no_more,
           an_exactly_full_batch_needs_no_other_wake_up, a_mail_that_posts_itself_has_its_turn_later)
