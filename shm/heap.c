#include "shm/heap.h"

#include "shm/layout.h"
#include "shm/mutex.h"

#include <errno.h>

#define GRANULE SHM_HEAP_ALIGN
#define MIN_GRANULES 2
#define LEVELS 32
#define STEPS_LOG2 4
#define STEPS (1 << STEPS_LOG2)
#define RESERVE_PART 32 /* one in so many bytes is for those who replace */
#define LOOK_AT 64      /* free blocks, when the large ones are gone */

enum state { FREE, PRIVATE, PUBLISHED, END };

/* What a block is, in one word, so that a single store splits, joins, frees or publishes it. */
#define STATE_SHIFT 62
#define PID_SHIFT 40
#define PID_MASK ((UINT64_C(1) << 22) - 1) /* Linux has no larger ones */
#define GRANULES_MASK ((UINT64_C(1) << PID_SHIFT) - 1)

struct block {
    _Atomic uint64_t word;
    uint64_t previous; /* the block before; derived, like all that follows */
    uint64_t free_next;
    uint64_t free_previous;
};

/* At the start of the heap's region; all but the mutex is derived from the blocks behind it. */
struct heap {
    pthread_mutex_t mutex;
    uint64_t used;
    uint32_t levels;
    uint32_t steps[LEVELS];
    uint64_t free[LEVELS][STEPS];
};

/* Blocks of about one size; the free ones are in one list. */
struct size_class {
    unsigned level, step;
};

#define HEADER offsetof(struct block, free_next)

static struct heap *heap_of(const struct shm *shm)
{
    return shm_at(shm, shm->segment->plan.heap.offset);
}

static uint64_t heap_start(const struct shm *shm)
{
    return shm->segment->plan.heap.offset + (sizeof(struct heap) + GRANULE - 1) / GRANULE * GRANULE;
}

/* Where the end mark stands. */
static uint64_t heap_end(const struct shm *shm)
{
    const struct shm_region *region = &shm->segment->plan.heap;
    return (region->offset + region->count) / GRANULE * GRANULE - HEADER;
}

static struct block *block_at(const struct shm *shm, uint64_t offset)
{
    return shm_at(shm, offset);
}

static uint64_t word_make(uint64_t granules, enum state state, pid_t pid)
{
    return granules | ((uint64_t)pid & PID_MASK) << PID_SHIFT | (uint64_t)state << STATE_SHIFT;
}

static enum state word_state(uint64_t word)
{
    return word >> STATE_SHIFT;
}

static uint64_t word_bytes(uint64_t word)
{
    return (word & GRANULES_MASK) * GRANULE;
}

static pid_t word_pid(uint64_t word)
{
    return (word >> PID_SHIFT) & PID_MASK;
}

static uint64_t block_word(const struct block *block)
{
    return atomic_load_explicit(&block->word, memory_order_acquire);
}

static void block_store(struct block *block, uint64_t word)
{
    atomic_store_explicit(&block->word, word, memory_order_release);
}

static uint64_t block_bytes(const struct block *block)
{
    return word_bytes(block_word(block));
}

static void block_mark(struct block *block, enum state state, pid_t pid)
{
    block_store(block, word_make(block_word(block) & GRANULES_MASK, state, pid));
}

static unsigned log2_floor(uint64_t n)
{
    return 63 - (unsigned)__builtin_clzll(n);
}

/* The class that a free block of so many granules is listed in. */
static struct size_class class_of(uint64_t granules)
{
    if (granules < STEPS)
        return (struct size_class){0, (unsigned)granules};
    unsigned log2 = log2_floor(granules);
    return (struct size_class){log2 - STEPS_LOG2 + 1,
                               (unsigned)(granules >> (log2 - STEPS_LOG2)) & (STEPS - 1)};
}

/* The smallest class all of whose blocks have at least so many granules. */
static struct size_class class_for(uint64_t granules)
{
    if (granules >= STEPS)
        granules += (UINT64_C(1) << (log2_floor(granules) - STEPS_LOG2)) - 1;
    return class_of(granules);
}

static void list_add(struct shm *shm, uint64_t offset)
{
    struct heap *heap = heap_of(shm);
    struct block *block = block_at(shm, offset);
    struct size_class at = class_of(block_bytes(block) / GRANULE);
    uint64_t *head = &heap->free[at.level][at.step];
    block->free_next = *head;
    block->free_previous = 0;
    if (*head)
        block_at(shm, *head)->free_previous = offset;
    *head = offset;
    heap->levels |= 1U << at.level;
    heap->steps[at.level] |= 1U << at.step;
}

static void list_remove(struct shm *shm, uint64_t offset)
{
    struct heap *heap = heap_of(shm);
    struct block *block = block_at(shm, offset);
    struct size_class at = class_of(block_bytes(block) / GRANULE);
    if (block->free_next)
        block_at(shm, block->free_next)->free_previous = block->free_previous;
    if (block->free_previous) {
        block_at(shm, block->free_previous)->free_next = block->free_next;
        return;
    }
    heap->free[at.level][at.step] = block->free_next;
    if (block->free_next)
        return;
    heap->steps[at.level] &= ~(1U << at.step);
    if (heap->steps[at.level] == 0)
        heap->levels &= ~(1U << at.level);
}

/* A block of the smallest class whose blocks are all large enough, or 0. */
static uint64_t list_good_fit(const struct heap *heap, uint64_t granules)
{
    struct size_class at = class_for(granules);
    if (at.level >= LEVELS)
        return 0;
    uint32_t steps = heap->steps[at.level] & (UINT32_MAX << at.step);
    if (steps == 0) {
        uint32_t levels = at.level + 1 < LEVELS ? heap->levels & (UINT32_MAX << (at.level + 1)) : 0;
        if (levels == 0)
            return 0;
        at.level = (unsigned)__builtin_ctz(levels);
        steps = heap->steps[at.level];
    }
    return heap->free[at.level][__builtin_ctz(steps)];
}

/* A free block of at least so many granules, or 0. In the class of that size some blocks are too small; a few
   of them are looked at when there is no other, or a full store could not use the place of a value that was
   deleted for one of the same size. */
static uint64_t list_find(const struct shm *shm, uint64_t granules)
{
    const struct heap *heap = heap_of(shm);
    uint64_t offset = list_good_fit(heap, granules);
    if (offset)
        return offset;
    struct size_class at = class_of(granules);
    offset = at.level < LEVELS ? heap->free[at.level][at.step] : 0;
    for (int i = 0; offset && i < LOOK_AT; i++) {
        const struct block *block = block_at(shm, offset);
        if (block_bytes(block) >= granules * GRANULE)
            return offset;
        offset = block->free_next;
    }
    return 0;
}

static void lists_clear(struct heap *heap)
{
    heap->used = 0;
    heap->levels = 0;
    for (unsigned i = 0; i < LEVELS; i++) {
        heap->steps[i] = 0;
        for (unsigned j = 0; j < STEPS; j++)
            heap->free[i][j] = 0;
    }
}

/* Whether the word at offset can be that of a block, so that a walk cannot leave the heap. */
static bool word_sane(const struct shm *shm, uint64_t offset, uint64_t word)
{
    return word_state(word) != END && word_bytes(word) >= MIN_GRANULES * GRANULE &&
           word_bytes(word) <= heap_end(shm) - offset;
}

/* Derives everything from the row of blocks, joining free neighbours on the way. */
static int rebuild(void *data)
{
    struct shm *shm = data;
    struct heap *heap = heap_of(shm);
    uint64_t offset = heap_start(shm), previous = 0;
    lists_clear(heap);
    while (offset < heap_end(shm)) {
        struct block *block = block_at(shm, offset);
        uint64_t word = block_word(block);
        if (!word_sane(shm, offset, word))
            return -EUCLEAN;
        struct block *before = previous ? block_at(shm, previous) : NULL;
        if (before != NULL && word_state(word) == FREE && word_state(block_word(before)) == FREE) {
            block_store(before, word_make((block_bytes(before) + word_bytes(word)) / GRANULE, FREE, 0));
        } else {
            block->previous = previous;
            previous = offset;
        }
        if (word_state(word) != FREE)
            heap->used += word_bytes(word);
        offset += word_bytes(word);
    }
    if (word_state(block_word(block_at(shm, offset))) != END)
        return -EUCLEAN;
    block_at(shm, offset)->previous = previous;
    for (offset = heap_start(shm); offset < heap_end(shm); offset += block_bytes(block_at(shm, offset))) {
        if (word_state(block_word(block_at(shm, offset))) == FREE)
            list_add(shm, offset);
    }
    return 0;
}

static int lock(struct shm *shm)
{
    return shm_mutex_lock(&heap_of(shm)->mutex, rebuild, shm);
}

static void unlock(struct shm *shm)
{
    shm_mutex_unlock(&heap_of(shm)->mutex);
}

void shm_heap_init(struct shm *shm)
{
    uint64_t start = heap_start(shm), end = heap_end(shm);
    shm_mutex_init(&heap_of(shm)->mutex);
    block_store(block_at(shm, start), word_make((end - start) / GRANULE, FREE, 0));
    block_store(block_at(shm, end), word_make(0, END, 0));
    rebuild(shm);
}

/* Cuts what is too much off a free block that has left its list. */
static void split(struct shm *shm, uint64_t offset, uint64_t bytes)
{
    struct block *block = block_at(shm, offset);
    uint64_t rest = block_bytes(block) - bytes;
    if (rest < MIN_GRANULES * GRANULE)
        return;
    struct block *other = block_at(shm, offset + bytes);
    block_store(other, word_make(rest / GRANULE, FREE, 0));
    block_store(block, word_make(bytes / GRANULE, FREE, 0));
    other->previous = offset;
    block_at(shm, offset + bytes + rest)->previous = offset + bytes;
    list_add(shm, offset + bytes);
}

int shm_heap_alloc(struct shm *shm, size_t size, bool replacing, uint64_t *ret_offset)
{
    struct heap *heap = heap_of(shm);
    uint64_t room = heap_end(shm) - heap_start(shm);
    if (size > room)
        return -ENOSPC;
    uint64_t bytes = (size + HEADER + GRANULE - 1) / GRANULE * GRANULE;
    int error = lock(shm);
    if (error != 0)
        return error;
    uint64_t limit = replacing ? room : room - room / RESERVE_PART;
    uint64_t offset = heap->used + bytes <= limit ? list_find(shm, bytes / GRANULE) : 0;
    if (offset) {
        list_remove(shm, offset);
        split(shm, offset, bytes);
        struct block *block = block_at(shm, offset);
        heap->used += block_bytes(block);
        block_mark(block, PRIVATE, shm->pid);
    }
    unlock(shm);
    if (offset == 0)
        return -ENOSPC;
    *ret_offset = offset + HEADER;
    return 0;
}

/* Joins the free block at offset with the one behind it, both in no list. */
static void join(struct shm *shm, uint64_t offset, uint64_t behind)
{
    uint64_t bytes = block_bytes(block_at(shm, offset)) + block_bytes(block_at(shm, behind));
    block_store(block_at(shm, offset), word_make(bytes / GRANULE, FREE, 0));
    block_at(shm, offset + bytes)->previous = offset;
}

void shm_heap_free(struct shm *shm, uint64_t data_offset)
{
    uint64_t offset = data_offset - HEADER;
    struct block *block = block_at(shm, offset);
    if (lock(shm) < 0)
        return;
    heap_of(shm)->used -= block_bytes(block);
    block_mark(block, FREE, 0);
    uint64_t behind = offset + block_bytes(block);
    if (word_state(block_word(block_at(shm, behind))) == FREE) {
        list_remove(shm, behind);
        join(shm, offset, behind);
    }
    uint64_t before = block->previous;
    if (before && word_state(block_word(block_at(shm, before))) == FREE) {
        list_remove(shm, before);
        join(shm, before, offset);
        offset = before;
    }
    list_add(shm, offset);
    unlock(shm);
}

void shm_heap_publish(struct shm *shm, uint64_t offset)
{
    block_mark(block_at(shm, offset - HEADER), PUBLISHED, 0);
}

void shm_heap_withdraw(struct shm *shm, uint64_t offset)
{
    block_mark(block_at(shm, offset - HEADER), PRIVATE, shm->pid);
}

uint64_t shm_heap_capacity(const struct shm *shm, uint64_t offset)
{
    if (offset % GRANULE || offset < heap_start(shm) + HEADER || offset >= heap_end(shm))
        return 0;
    uint64_t word = block_word(block_at(shm, offset - HEADER));
    if (word_state(word) == FREE || !word_sane(shm, offset - HEADER, word))
        return 0;
    return word_bytes(word) - HEADER;
}

static bool is_private_of(const struct block *block, pid_t pid)
{
    uint64_t word = block_word(block);
    return word_state(word) == PRIVATE && word_pid(word) == pid;
}

int shm_heap_sweep(struct shm *shm, pid_t dead, bool (*settle)(struct shm *shm, uint64_t offset))
{
    bool freed = false;
    int error = lock(shm);
    if (error != 0)
        return error;
    for (uint64_t offset = heap_start(shm); offset < heap_end(shm);) {
        struct block *block = block_at(shm, offset);
        uint64_t word = block_word(block);
        if (!word_sane(shm, offset, word))
            break;
        /* Looked at again: settle may have said no because a live process has withdrawn the block
           meanwhile. */
        if (is_private_of(block, dead) && !settle(shm, offset + HEADER) && is_private_of(block, dead)) {
            block_mark(block, FREE, 0);
            freed = true;
        }
        offset += word_bytes(word);
    }
    if (freed)
        rebuild(shm);
    unlock(shm);
    return 0;
}

int shm_heap_walk(struct shm *shm, void (*visit)(void *data, uint64_t offset), void *data)
{
    int error = lock(shm);
    if (error != 0)
        return error;
    for (uint64_t offset = heap_start(shm); offset < heap_end(shm);) {
        uint64_t word = block_word(block_at(shm, offset));
        if (!word_sane(shm, offset, word))
            break;
        if (word_state(word) != FREE)
            visit(data, offset + HEADER);
        offset += word_bytes(word);
    }
    unlock(shm);
    return 0;
}

int shm_heap_restart(struct shm *shm)
{
    shm_mutex_init(&heap_of(shm)->mutex);
    return rebuild(shm);
}

void shm_heap_stats(struct shm *shm, uint64_t *ret_size, uint64_t *ret_used)
{
    *ret_size = heap_end(shm) - heap_start(shm);
    *ret_used = 0;
    if (lock(shm) == 0) {
        *ret_used = heap_of(shm)->used;
        unlock(shm);
    }
}
