/* Topics: what is published to one reaches each of its subscribers on every loop, once, in the order of its
   numbers. A publication is made once and shared; each loop that has subscribers gets one mail for it,
   however many they are, and frames it once.

   The numbers and, for topics that somebody follows as server-sent events, the last few publications are kept
   in shared memory, so that a client that comes back after a crash or restart of the worker misses nothing.
 */
#ifndef APP_TOPICS_H
#define APP_TOPICS_H

#include "base/list.h"
#include "base/mailbox.h"

#include <cloudgate.h>
#include <stdatomic.h>
#include <stdbool.h>

#define TOPIC_NAME_MAX 127            /* bytes */
#define TOPIC_DATA_MAX (1u << 20)     /* bytes of a publication */
#define TOPIC_WAITING_MAX (16u << 20) /* bytes published and not delivered yet; of a worker */
#define TOPIC_HISTORY 64              /* publications kept... */
#define TOPIC_HISTORY_DATA (16 << 10) /* ...if they are no larger... */
#define TOPIC_HISTORY_MS 120000       /* ...for so long */
#define TOPIC_FRAMINGS 3              /* kinds of frames in a delivery */

struct shm;
struct topic;
struct topics;

/* Immutable once published. */
struct publication {
    const char *topic;
    uint64_t number; /* grows from one of a topic to the next, mostly by 1 */
    cg_kind kind;
    cg_str data;
};

/* What a publication looks like to its subscribers of one framing; of one loop. */
struct topic_frame {
    size_t references;
    size_t len;
    char bytes[];
};

struct topic_frame *topic_frame_create(size_t len); /* with one reference */
void topic_frame_drop(struct topic_frame *frame);   /* NULL: nothing */

/* One publication on one loop. */
struct delivery {
    const struct publication *publication;
    struct topic_frame *frames[TOPIC_FRAMINGS]; /* made by the first subscriber that needs one */
};

/* Embedded in whoever listens; zeroed but for deliver it has no topics. Belongs to its loop's thread. deliver
   may subscribe and leave whomever it likes, itself too. */
struct subscriber {
    void (*deliver)(struct subscriber *subscriber, struct delivery *delivery);
    struct list subscriptions;
};

struct topics *topics_create(struct shm *shm, unsigned loops);
void topics_destroy(struct topics *topics); /* once no loop runs; the mailboxes may hold deliveries still */
/* Before the loop runs. */
void topics_bind(struct topics *topics, unsigned loop, struct mailbox *mailbox);

/* 0; -EINVAL: none (or NULL); -E2BIG: too long. */
int topic_name_error(const char *name);

/* From any thread. 0; -EINVAL: no name; -E2BIG: a name or data that is too long; -EAGAIN: TOPIC_WAITING_MAX;
   -ENOSPC: shared memory is full. */
int topics_publish(struct topics *topics, const char *name, const void *data, size_t len, cg_kind kind);

/* The number of what was published last, 0 for nothing. From any thread; -EINVAL or -E2BIG for the name. */
int topics_last(struct topics *topics, const char *name, uint64_t *ret_number);
/* From now on what is published is kept for topics_replay. From any thread; errors as above. */
int topics_keep(struct topics *topics, const char *name);
/* Gives what is left of that after a number, in order. */
void topics_replay(struct topics *topics, const char *name, uint64_t after,
                   void (*visit)(void *arg, const struct publication *publication), void *arg);

/* On the loop's thread. after: what has a number up to it has been seen. Subscribed already: nothing. */
int topics_subscribe(struct topics *topics, unsigned loop, struct subscriber *subscriber, const char *name,
                     uint64_t after);
void topics_unsubscribe(struct topics *topics, unsigned loop, struct subscriber *subscriber,
                        const char *name);
void topics_leave(struct topics *topics, unsigned loop, struct subscriber *subscriber); /* all of them */

#endif
