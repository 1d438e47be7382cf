/* Faults of functions: a function that crashes (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, an overflow of the
   stack included) or does not return is left in the middle, and whoever has called it goes on.

   Only once in a process, only in the thread that made the call, and only while no lock of ours is held:
   else, and for a fault outside of a call, the process ends by the signal. What the function held leaks, and
   what it has written to may be broken, so the process should not go on for long. */
#ifndef APP_FAULT_H
#define APP_FAULT_H

#include "base/list.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct action;
struct buffer;
struct module;

/* How a call was left. */
enum escape {
    ESCAPE_NONE,
    ESCAPE_MEMORY, /* it asked for more than there is */
    ESCAPE_CRASH,
    ESCAPE_TIME, /* it did not return */
};

/* Of one thread that calls functions. */
struct fault_guard {
    struct list link; /* among all of the process */
    pthread_t thread;
    bool is_loop;
    void *stack;                         /* for signals */
    jmp_buf *_Atomic escape;             /* where a call is left to; NULL: in none */
    const struct action *_Atomic action; /* that is called */
    atomic_uint calls;                   /* begun and ended: odd within one */
    /* What the watchdog has seen, and no one else looks at. */
    unsigned seen;
    int64_t since; /* monotonic ms */
    unsigned told, cuts;
};

/* Once in a process, before its threads. */
void fault_init(void);
/* On each thread that calls functions, before the first call and after the last. */
void fault_thread_start(bool is_loop);
void fault_thread_stop(void);

/* Around a call; nests. What begin returns is for end. */
jmp_buf *fault_begin(jmp_buf *escape, const struct action *action);
void fault_end(jmp_buf *outer);

/* After ESCAPE_CRASH in a function of that module: what has happened, in words, and where. */
void fault_describe(const struct module *module, struct buffer *out);
/* Whether there was one in this process. */
bool fault_happened(void);

/* For the watchdog: visits each guard. The function called by the thread is left, if that is in the middle of
   its own code. */
void fault_visit(void (*visit)(struct fault_guard *guard, void *arg), void *arg);
void fault_cut(struct fault_guard *guard);

#endif
