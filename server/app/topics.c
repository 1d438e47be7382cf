#include "app/topics.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/lock.h"
#include "shm/shm.h"

#include <errno.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 256 /* a power of 2 */
#define COLLECTION "cloudgate/topics"
#define KEY_SIZE (TOPIC_NAME_MAX + 16)
#define NUMBER_TTL_MS (24 * 3600 * 1000) /* then it starts again, higher than it was */
#define NUMBERS_PER_MS 1000
#define KEPT_HEAD (sizeof(uint64_t) + 1) /* number and kind, before the data */

/* The subscriptions of a loop belong to its thread; all else to whoever has the lock. */
struct topic_loop {
    struct list subscriptions;
    size_t count;
};

struct topic {
    struct list link;  /* in its bucket */
    size_t references; /* subscriptions, and deliveries under way */
    char name[TOPIC_NAME_MAX + 1];
    struct topic_loop loops[];
};

struct subscription {
    struct list in_topic, in_subscriber;
    struct topic *topic;
    struct subscriber *subscriber;
    uint64_t last; /* number that it has seen */
};

struct posting {
    struct mail mail;
    struct publishing *publishing;
    unsigned loop;
};

/* A publication under way to the loops. */
struct publishing {
    struct publication public;
    struct topics *topics;
    struct topic *topic;
    atomic_uint left; /* loops that have not delivered it */
    struct posting *postings;
};

struct topics {
    struct shm *shm;
    pthread_mutex_t lock; /* held while a number is taken and posted, so that both orders are one */
    unsigned char hash_key[crypto_shorthash_KEYBYTES];
    struct list buckets[BUCKETS];
    atomic_size_t waiting; /* bytes */
    unsigned loop_count;
    struct topic_hub {
        struct mailbox *mailbox;
        struct list *next; /* of a delivery: where it goes on */
    } hubs[];
};

/* ---- frames ---- */

struct topic_frame *topic_frame_create(size_t len)
{
    struct topic_frame *frame = xalloc(sizeof *frame + len);
    frame->references = 1;
    frame->len = len;
    return frame;
}

void topic_frame_drop(struct topic_frame *frame)
{
    if (frame != NULL && --frame->references == 0)
        free(frame);
}

/* ---- shared memory ---- */

static const char *key_of(char out[KEY_SIZE], const char *what, const char *name)
{
    snprintf(out, KEY_SIZE, "%s/%s", what, name);
    return out;
}

static const char *history_key(char out[KEY_SIZE], uint64_t number, const char *name)
{
    char what[8];
    snprintf(what, sizeof what, "h%u", (unsigned)(number % TOPIC_HISTORY));
    return key_of(out, what, name);
}

int topic_name_error(const char *name)
{
    if (name == NULL || *name == '\0')
        return -EINVAL;
    return strnlen(name, TOPIC_NAME_MAX + 1) > TOPIC_NAME_MAX ? -E2BIG : 0;
}

/* A new topic begins at the time of day, so that a number is never used twice, however often it is forgotten.
 */
static int take_number(struct topics *topics, const char *name, uint64_t *ret_number)
{
    char key[KEY_SIZE], first[24];
    int64_t number;
    key_of(key, "n", name);
    int len = snprintf(first, sizeof first, "%lld", (long long)wall_ms() * NUMBERS_PER_MS);
    int error = shm_key_create(topics->shm, COLLECTION, key, first, (size_t)len, NUMBER_TTL_MS);
    if (error == 0 || error == -EEXIST)
        error = shm_key_incr(topics->shm, COLLECTION, key, 1, NUMBER_TTL_MS, &number);
    if (error == 0)
        *ret_number = (uint64_t)number;
    return error;
}

int topics_last(struct topics *topics, const char *name, uint64_t *ret_number)
{
    char key[KEY_SIZE], text[24];
    size_t len;
    int error = topic_name_error(name);
    if (error != 0)
        return error;
    *ret_number = 0;
    if (shm_key_read(topics->shm, COLLECTION, key_of(key, "n", name), text, sizeof text - 1, &len) == 0 &&
        len < sizeof text) {
        text[len] = '\0';
        *ret_number = strtoull(text, NULL, 10);
    }
    return 0;
}

int topics_keep(struct topics *topics, const char *name)
{
    char key[KEY_SIZE];
    int error = topic_name_error(name);
    return error != 0 ? error
                      : shm_key_set(topics->shm, COLLECTION, key_of(key, "k", name), "", 0, NUMBER_TTL_MS);
}

static bool is_kept(struct topics *topics, const char *name)
{
    char key[KEY_SIZE], nothing;
    size_t len;
    return shm_key_read(topics->shm, COLLECTION, key_of(key, "k", name), &nothing, 0, &len) == 0;
}

/* Without room for it nothing is lost but the past. */
static void keep(struct topics *topics, const char *name, const struct publication *publication)
{
    char key[KEY_SIZE];
    size_t len = publication->data.len;
    if (len > TOPIC_HISTORY_DATA)
        return;
    char *bytes = xalloc(KEPT_HEAD + len);
    memcpy(bytes, &publication->number, sizeof publication->number);
    bytes[sizeof publication->number] = (char)publication->kind;
    memcpy(bytes + KEPT_HEAD, publication->data.ptr, len);
    if (shm_key_set(topics->shm, COLLECTION, history_key(key, publication->number, name), bytes,
                    KEPT_HEAD + len, TOPIC_HISTORY_MS) != 0)
        shm_key_delete(topics->shm, COLLECTION, key);
    free(bytes);
}

void topics_replay(struct topics *topics, const char *name, uint64_t after,
                   void (*visit)(void *arg, const struct publication *publication), void *arg)
{
    char key[KEY_SIZE];
    size_t len;
    uint64_t last;
    if (topics_last(topics, name, &last) != 0 || after >= last)
        return;
    uint64_t number = last - after > TOPIC_HISTORY ? last - TOPIC_HISTORY : after;
    char *bytes = xalloc(KEPT_HEAD + TOPIC_HISTORY_DATA + 1);
    while (number++ < last) {
        struct publication publication = {.topic = name};
        if (shm_key_read(topics->shm, COLLECTION, history_key(key, number, name), bytes,
                         KEPT_HEAD + TOPIC_HISTORY_DATA, &len) != 0 ||
            len < KEPT_HEAD || len > KEPT_HEAD + TOPIC_HISTORY_DATA)
            continue;
        memcpy(&publication.number, bytes, sizeof publication.number);
        publication.kind = (cg_kind)bytes[sizeof publication.number];
        bytes[len] = '\0';
        publication.data = cg_bytes(bytes + KEPT_HEAD, len - KEPT_HEAD);
        if (publication.number == number)
            visit(arg, &publication);
    }
    free(bytes);
}

/* ---- topics that have subscribers ---- */

static struct list *bucket_of(struct topics *topics, const char *name)
{
    uint64_t hash;
    crypto_shorthash((unsigned char *)&hash, (const unsigned char *)name, strlen(name), topics->hash_key);
    return &topics->buckets[hash & (BUCKETS - 1)];
}

static struct topic *find(struct topics *topics, const char *name)
{
    list_for_each (link, bucket_of(topics, name)) {
        struct topic *topic = list_item(link, struct topic, link);
        if (strcmp(topic->name, name) == 0)
            return topic;
    }
    return NULL;
}

static struct topic *find_or_make(struct topics *topics, const char *name)
{
    struct topic *topic = find(topics, name);
    if (topic != NULL)
        return topic;
    topic = xzalloc(sizeof *topic + topics->loop_count * sizeof *topic->loops);
    memcpy(topic->name, name, strlen(name) + 1);
    for (unsigned i = 0; i < topics->loop_count; i++)
        list_init(&topic->loops[i].subscriptions);
    list_append(bucket_of(topics, name), &topic->link);
    return topic;
}

static void drop(struct topic *topic)
{
    if (--topic->references > 0)
        return;
    list_remove(&topic->link);
    free(topic);
}

/* ---- publishing ---- */

static void finish(struct publishing *publishing)
{
    struct topics *topics = publishing->topics;
    atomic_fetch_sub(&topics->waiting, publishing->public.data.len);
    lock_take(&topics->lock);
    drop(publishing->topic);
    lock_drop(&topics->lock);
    free(publishing);
}

static void deliver(struct mail *mail)
{
    struct posting *posting = list_item(mail, struct posting, mail);
    struct publishing *publishing = posting->publishing;
    struct topic_hub *hub = &publishing->topics->hubs[posting->loop];
    struct list *head = &publishing->topic->loops[posting->loop].subscriptions;
    struct delivery delivery = {.publication = &publishing->public};
    for (struct list *link = head->next; link != head; link = hub->next) {
        struct subscription *subscription = list_item(link, struct subscription, in_topic);
        hub->next = link->next;
        if (subscription->last >= publishing->public.number)
            continue;
        subscription->last = publishing->public.number;
        subscription->subscriber->deliver(subscription->subscriber, &delivery);
    }
    hub->next = NULL;
    for (size_t i = 0; i < TOPIC_FRAMINGS; i++)
        topic_frame_drop(delivery.frames[i]);
    if (atomic_fetch_sub(&publishing->left, 1) == 1)
        finish(publishing);
}

static unsigned loops_of(const struct topics *topics, const struct topic *topic)
{
    unsigned count = 0;
    for (unsigned i = 0; i < topics->loop_count; i++)
        count += topic->loops[i].count > 0;
    return count;
}

static void post(struct topics *topics, struct topic *topic, const struct publication *publication)
{
    const unsigned count = loops_of(topics, topic);
    const size_t len = publication->data.len;
    struct publishing *publishing;
    if (count == 0)
        return;
    publishing = xalloc(sizeof *publishing + count * sizeof *publishing->postings + len + 1);
    publishing->postings = (struct posting *)(publishing + 1);
    char *data = (char *)(publishing->postings + count);
    memcpy(data, publication->data.ptr, len);
    data[len] = '\0';
    publishing->public = *publication;
    publishing->public.data.ptr = data;
    publishing->public.topic = topic->name;
    publishing->topics = topics;
    publishing->topic = topic;
    atomic_init(&publishing->left, count);
    topic->references++;
    atomic_fetch_add(&topics->waiting, len);
    struct posting *posting = publishing->postings;
    for (unsigned i = 0; i < topics->loop_count; i++)
        if (topic->loops[i].count > 0) {
            *posting = (struct posting){.mail.run = deliver, .publishing = publishing, .loop = i};
            mailbox_post(topics->hubs[i].mailbox, &posting++->mail);
        }
}

int topics_publish(struct topics *topics, const char *name, const void *data, size_t len, cg_kind kind)
{
    struct publication publication = {.kind = kind, .data = cg_bytes(len > 0 ? data : "", len)};
    int error = topic_name_error(name);
    if (error == 0 && len > TOPIC_DATA_MAX)
        error = -E2BIG;
    if (error == 0 && atomic_load(&topics->waiting) + len > TOPIC_WAITING_MAX)
        error = -EAGAIN;
    if (error != 0)
        return error;
    lock_take(&topics->lock);
    struct topic *topic = find(topics, name);
    error = take_number(topics, name, &publication.number);
    if (error == 0 && is_kept(topics, name))
        keep(topics, name, &publication);
    if (error == 0 && topic != NULL)
        post(topics, topic, &publication);
    lock_drop(&topics->lock);
    return error;
}

/* ---- subscribing ---- */

static struct subscription *subscription_of(const struct subscriber *subscriber, const char *name)
{
    if (!list_linked(&subscriber->subscriptions))
        return NULL;
    list_for_each (link, &subscriber->subscriptions) {
        struct subscription *subscription = list_item(link, struct subscription, in_subscriber);
        if (strcmp(subscription->topic->name, name) == 0)
            return subscription;
    }
    return NULL;
}

int topics_subscribe(struct topics *topics, unsigned loop, struct subscriber *subscriber, const char *name,
                     uint64_t after)
{
    int error = topic_name_error(name);
    if (error != 0 || subscription_of(subscriber, name) != NULL)
        return error;
    struct subscription *subscription = xzalloc(sizeof *subscription);
    lock_take(&topics->lock);
    struct topic *topic = find_or_make(topics, name);
    topic->references++;
    topic->loops[loop].count++;
    lock_drop(&topics->lock);
    *subscription = (struct subscription){.topic = topic, .subscriber = subscriber, .last = after};
    if (!list_linked(&subscriber->subscriptions))
        list_init(&subscriber->subscriptions);
    list_append(&topic->loops[loop].subscriptions, &subscription->in_topic);
    list_append(&subscriber->subscriptions, &subscription->in_subscriber);
    return 0;
}

static void end(struct topics *topics, unsigned loop, struct subscription *subscription)
{
    struct topic *topic = subscription->topic;
    struct topic_hub *hub = &topics->hubs[loop];
    if (hub->next == &subscription->in_topic)
        hub->next = subscription->in_topic.next;
    list_remove(&subscription->in_topic);
    list_remove(&subscription->in_subscriber);
    lock_take(&topics->lock);
    topic->loops[loop].count--;
    drop(topic);
    lock_drop(&topics->lock);
    free(subscription);
}

void topics_unsubscribe(struct topics *topics, unsigned loop, struct subscriber *subscriber, const char *name)
{
    struct subscription *subscription = subscription_of(subscriber, name);
    if (subscription != NULL)
        end(topics, loop, subscription);
}

void topics_leave(struct topics *topics, unsigned loop, struct subscriber *subscriber)
{
    if (!list_linked(&subscriber->subscriptions))
        return;
    list_for_each (link, &subscriber->subscriptions)
        end(topics, loop, list_item(link, struct subscription, in_subscriber));
}

/* ---- life ---- */

struct topics *topics_create(struct shm *shm, unsigned loops)
{
    struct topics *topics = xzalloc(sizeof *topics + loops * sizeof *topics->hubs);
    topics->shm = shm;
    topics->loop_count = loops;
    pthread_mutex_init(&topics->lock, NULL);
    randombytes_buf(topics->hash_key, sizeof topics->hash_key);
    for (size_t i = 0; i < BUCKETS; i++)
        list_init(&topics->buckets[i]);
    return topics;
}

void topics_bind(struct topics *topics, unsigned loop, struct mailbox *mailbox)
{
    topics->hubs[loop].mailbox = mailbox;
}

void topics_destroy(struct topics *topics)
{
    if (topics == NULL)
        return;
    for (size_t i = 0; i < BUCKETS; i++)
        list_for_each (link, &topics->buckets[i])
            free(list_item(link, struct topic, link));
    pthread_mutex_destroy(&topics->lock);
    free(topics);
}
