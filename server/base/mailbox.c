#include "base/mailbox.h"

#include "base/alloc.h"

#include <errno.h>
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
    mailbox->ring = xalloc(MAILBOX_CAPACITY * sizeof *mailbox->ring);
    return 0;
}

void mailbox_finish(struct mailbox *mailbox)
{
    if (mailbox == NULL || mailbox->ring == NULL)
        return;
    if (mailbox->fd >= 0)
        close(mailbox->fd);
    pthread_mutex_destroy(&mailbox->lock);
    free(mailbox->ring);
    *mailbox = (struct mailbox){.fd = -1};
}

/* Only the first call since the box was empty needs to wake the loop. */
int mailbox_post(struct mailbox *mailbox, void (*run)(void *arg), void *arg)
{
    const uint64_t one = 1;
    pthread_mutex_lock(&mailbox->lock);
    size_t waiting = mailbox->count;
    if (waiting < MAILBOX_CAPACITY) {
        mailbox->ring[(mailbox->first + waiting) % MAILBOX_CAPACITY] = (struct mail){run, arg};
        mailbox->count++;
    }
    pthread_mutex_unlock(&mailbox->lock);
    if (waiting == MAILBOX_CAPACITY)
        return -EAGAIN;
    if (waiting == 0 && write(mailbox->fd, &one, sizeof one) < 0)
        return errno == EAGAIN ? 0 : -errno;
    return 0;
}

void mailbox_run(struct mailbox *mailbox)
{
    struct mail batch[MAILBOX_BATCH];
    uint64_t value;
    if (read(mailbox->fd, &value, sizeof value) < 0 && errno != EAGAIN)
        return;
    pthread_mutex_lock(&mailbox->lock);
    size_t count = mailbox->count < MAILBOX_BATCH ? mailbox->count : MAILBOX_BATCH;
    for (size_t i = 0; i < count; i++)
        batch[i] = mailbox->ring[(mailbox->first + i) % MAILBOX_CAPACITY];
    mailbox->first = (mailbox->first + count) % MAILBOX_CAPACITY;
    mailbox->count -= count;
    size_t left = mailbox->count;
    pthread_mutex_unlock(&mailbox->lock);
    for (size_t i = 0; i < count; i++)
        batch[i].run(batch[i].arg);
    value = 1;
    if (left > 0 && write(mailbox->fd, &value, sizeof value) < 0)
        return; /* EAGAIN: it is readable already */
}
