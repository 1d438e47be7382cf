#include "base/mailbox.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
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
    pthread_mutex_lock(&mailbox->lock);
    bool was_empty = mailbox->first == NULL;
    if (was_empty)
        mailbox->first = mail;
    else
        mailbox->last->next = mail;
    mailbox->last = mail;
    pthread_mutex_unlock(&mailbox->lock);
    if (was_empty)
        wake(mailbox);
}

static struct mail *take_first(struct mailbox *mailbox)
{
    pthread_mutex_lock(&mailbox->lock);
    struct mail *mail = mailbox->first;
    if (mail != NULL)
        mailbox->first = mail->next;
    pthread_mutex_unlock(&mailbox->lock);
    return mail;
}

void mailbox_run(struct mailbox *mailbox)
{
    uint64_t value;
    struct mail *mail;
    if (read(mailbox->fd, &value, sizeof value) < 0 && errno != EAGAIN)
        return;
    for (int i = 0; i < MAILBOX_BATCH; i++) {
        if ((mail = take_first(mailbox)) == NULL)
            return;
        mail->run(mail);
    }
    wake(mailbox);
}
