#include "base/mailbox.h"

#include "base/lock.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

int mailbox_init(struct mailbox *mailbox)
{
    *mailbox = (struct mailbox){.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    if (mailbox->fd < 0)
        return -errno;
    pthread_mutex_init(&mailbox->lock, NULL);
    return 0;
}

void mailbox_finish(struct mailbox *mailbox)
{
    if (mailbox->fd > 0) /* 0: zeroed */
        close(mailbox->fd);
    mailbox->fd = -1;
    pthread_mutex_destroy(&mailbox->lock);
}

/* An eventfd is never full here: it holds 2^64 - 2 wake-ups, and each read takes all. */
static void wake(const struct mailbox *mailbox)
{
    const uint64_t one = 1;
    while (write(mailbox->fd, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

/* Only the first call since the box was empty needs to wake the loop. */
void mailbox_post(struct mailbox *mailbox, struct mail *mail)
{
    mail->next = NULL;
    lock_take(&mailbox->lock);
    bool was_empty = mailbox->first == NULL;
    if (was_empty)
        mailbox->first = mail;
    else
        mailbox->last->next = mail;
    mailbox->last = mail;
    lock_drop(&mailbox->lock);
    if (was_empty)
        wake(mailbox);
}

/* In front of what has come since, so that the order stays. */
static void put_back(struct mailbox *mailbox, struct mail *first, struct mail *last)
{
    lock_take(&mailbox->lock);
    last->next = mailbox->first;
    if (mailbox->first == NULL)
        mailbox->last = last;
    mailbox->first = first;
    lock_drop(&mailbox->lock);
    wake(mailbox);
}

void mailbox_settle(struct mailbox *mailbox)
{
    lock_take(&mailbox->lock);
    lock_drop(&mailbox->lock);
}

void mailbox_run(struct mailbox *mailbox)
{
    uint64_t value;
    if (read(mailbox->fd, &value, sizeof value) < 0 && errno != EAGAIN)
        return;
    lock_take(&mailbox->lock);
    struct mail *next = mailbox->first, *last = mailbox->last;
    mailbox->first = NULL;
    lock_drop(&mailbox->lock);
    for (int i = 0; i < MAILBOX_BATCH && next != NULL; i++) {
        struct mail *mail = next;
        next = mail->next;
        mail->run(mail);
    }
    if (next != NULL)
        put_back(mailbox, next, last);
}

void mailbox_empty(struct mailbox *mailbox)
{
    for (struct mail *mail; (mail = mailbox->first) != NULL;) {
        mailbox->first = mail->next;
        mail->run(mail);
    }
}
