/* How other threads reach a loop: a FIFO of calls and an eventfd that is readable while it holds any. A mail
   is embedded in what it is about, so posting never fails; how many can wait is bounded by what they are
   about. */
#ifndef BASE_MAILBOX_H
#define BASE_MAILBOX_H

#include <pthread.h>

#define MAILBOX_BATCH 256 /* calls run per wake-up, so that the loop's clients get their turn */

struct mail {
    struct mail *next;
    void (*run)(struct mail *mail); /* may free or post it again */
};

struct mailbox {
    pthread_mutex_t lock; /* of first and last */
    int fd;               /* the owner polls it for reading */
    struct mail *first, *last;
};

int mailbox_init(struct mailbox *mailbox); /* 0 or a negative errno of eventfd */
void mailbox_finish(struct mailbox *mailbox);
/* From any thread. The mail must not be posted again before it has run. */
void mailbox_post(struct mailbox *mailbox, struct mail *mail);
/* From any thread: what it did before is done for whoever settles later. For those who have nothing to post.
 */
void mailbox_settle(struct mailbox *mailbox);
/* On the owner's thread, when fd is readable: runs a batch, in order; what is posted meanwhile has to
   wait. */
void mailbox_run(struct mailbox *mailbox);
/* Once nobody else posts: runs all there are. A zeroed mailbox has none. */
void mailbox_empty(struct mailbox *mailbox);

#endif
