/* How other threads reach a loop: a bounded FIFO of calls and an eventfd that is readable while it holds any.
 */
#ifndef BASE_MAILBOX_H
#define BASE_MAILBOX_H

#include <pthread.h>
#include <stddef.h>

#define MAILBOX_CAPACITY 4096 /* calls waiting */
#define MAILBOX_BATCH 256     /* calls run per wake-up, so that the loop's clients get their turn */

struct mail {
    void (*run)(void *arg);
    void *arg;
};

struct mailbox {
    pthread_mutex_t lock;
    int fd; /* the owner polls it for reading */
    size_t first, count;
    struct mail *ring;
};

int mailbox_init(struct mailbox *mailbox); /* 0 or a negative errno of eventfd */
void mailbox_finish(struct mailbox *mailbox);
/* From any thread: 0, or -EAGAIN when it is full. */
int mailbox_post(struct mailbox *mailbox, void (*run)(void *arg), void *arg);
/* On the owner's thread, when fd is readable: runs a batch, in order. */
void mailbox_run(struct mailbox *mailbox);

#endif
