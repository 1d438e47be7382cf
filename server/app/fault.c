#include "app/fault.h"

#include "app/action.h"
#include "app/source_line.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/lock.h"
#include "shm/mutex.h"

#include <execinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define STACK_SIZE (64 * 1024)
#define FRAMES_MAX 64
#define FRAMES_SHOWN 8
#define CUT_SIGNAL SIGURG /* ignored by default, and of no use to anybody else here */

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

static struct list guards = {&guards, &guards};
static pthread_mutex_t guards_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct fault_guard guard;

static atomic_bool happened;
static struct {
    int signal;
    void *address;
    void *frames[FRAMES_MAX];
    int count;
} last; /* of the one fault; written by the thread that had it */

static void *counter_of(const void *context)
{
    const ucontext_t *registers = context;
#if defined(__x86_64__)
    return (void *)registers->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (void *)registers->uc_mcontext.pc;
#else
    (void)registers;
    return NULL;
#endif
}

static bool may_leave(jmp_buf *escape)
{
    return escape != NULL && locks_held == 0 && !shm_mutex_held();
}

/* With nowhere to go the signal does what it would have done: the instruction is run again, or abort goes on.
 */
static void on_crash(int number, siginfo_t *info, void *context)
{
    jmp_buf *escape = atomic_load(&guard.escape);
    (void)context;
    if (!may_leave(escape) || atomic_exchange(&happened, true)) {
        signal(number, SIG_DFL);
        if (info->si_code <= 0) /* sent, not caused: nothing would bring it again */
            raise(number);
        return;
    }
    atomic_store(&guard.escape, NULL);
    last.signal = number;
    last.address = number == SIGABRT ? NULL : info->si_addr;
    last.count = backtrace(last.frames, FRAMES_MAX);
    _longjmp(*escape, ESCAPE_CRASH);
}

static bool is_in(const struct module *module, const void *counter)
{
    return module != NULL && counter >= module->text && counter < module->text_end;
}

/* Within the module's own code nothing of ours, and nothing of libc's, is half done. */
static void on_cut(int number, siginfo_t *info, void *context)
{
    jmp_buf *escape = atomic_load(&guard.escape);
    const struct action *action = atomic_load(&guard.action);
    (void)number;
    (void)info;
    if (may_leave(escape) && is_in(action ? action->module : NULL, counter_of(context))) {
        atomic_store(&guard.escape, NULL);
        _longjmp(*escape, ESCAPE_TIME);
    }
}

static void handle(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigaction(number, &action, NULL);
}

void fault_init(void)
{
    void *frame;
    (void)backtrace(&frame, 1); /* loads what it needs now, not in a signal */
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        handle(crashes[i], on_crash);
    handle(CUT_SIGNAL, on_cut);
}

void fault_thread_start(bool is_loop)
{
    const stack_t stack = {.ss_sp = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0),
                           .ss_size = STACK_SIZE};
    if (stack.ss_sp == MAP_FAILED)
        alloc_abort();
    sigaltstack(&stack, NULL);
    guard.stack = stack.ss_sp;
    guard.thread = pthread_self();
    guard.is_loop = is_loop;
    pthread_mutex_lock(&guards_lock);
    list_append(&guards, &guard.link);
    pthread_mutex_unlock(&guards_lock);
}

void fault_thread_stop(void)
{
    const stack_t none = {.ss_flags = SS_DISABLE};
    if (guard.stack == NULL)
        return;
    pthread_mutex_lock(&guards_lock);
    list_remove(&guard.link);
    pthread_mutex_unlock(&guards_lock);
    sigaltstack(&none, NULL);
    munmap(guard.stack, STACK_SIZE);
    guard.stack = NULL;
}

/* Written by this thread alone; the order is what the watchdog needs. */
jmp_buf *fault_begin(jmp_buf *escape, const struct action *action)
{
    jmp_buf *outer = atomic_load_explicit(&guard.escape, memory_order_relaxed);
    atomic_store_explicit(&guard.action, action, memory_order_relaxed);
    atomic_store_explicit(&guard.calls, atomic_load_explicit(&guard.calls, memory_order_relaxed) | 1,
                          memory_order_relaxed);
    atomic_store_explicit(&guard.escape, escape, memory_order_release);
    return outer;
}

void fault_end(jmp_buf *outer)
{
    atomic_store_explicit(&guard.escape, outer, memory_order_relaxed);
    atomic_store_explicit(&guard.calls, (atomic_load_explicit(&guard.calls, memory_order_relaxed) | 1) + 1,
                          memory_order_release);
}

bool fault_happened(void)
{
    return atomic_load(&happened);
}

/* ---- where it was ---- */

static bool is_recursion(int frame)
{
    return frame > 0 && last.frames[frame] == last.frames[frame - 1];
}

/* The frames of the module's own code; the first of them may have been called by the instruction before. */
static void describe_frames(const struct module *module, struct source_lines *lines, struct buffer *out)
{
    int shown = 0;
    for (int i = 0; i < last.count && shown < FRAMES_SHOWN; i++) {
        const char *frame = last.frames[i];
        if (!is_in(module, frame) || is_recursion(i))
            continue;
        buffer_text(out, shown++ == 0 ? ": " : ", called by ");
        source_lines_describe(lines, (size_t)(frame - 1 - (const char *)module->base), out);
    }
}

void fault_describe(const struct module *module, struct buffer *out)
{
    struct source_lines *lines = module->fd >= 0 ? source_lines_open(module->fd) : NULL;
    buffer_printf(out, "crashed by signal %d (%s)", last.signal, strsignal(last.signal));
    if (last.signal == SIGSEGV || last.signal == SIGBUS)
        buffer_printf(out, " at address %p", last.address);
    if (lines != NULL)
        describe_frames(module, lines, out);
    source_lines_close(lines);
}

/* ---- for the watchdog ---- */

void fault_visit(void (*visit)(struct fault_guard *guard, void *arg), void *arg)
{
    pthread_mutex_lock(&guards_lock);
    list_for_each (link, &guards)
        visit(list_item(link, struct fault_guard, link), arg);
    pthread_mutex_unlock(&guards_lock);
}

void fault_cut(struct fault_guard *stalled)
{
    pthread_kill(stalled->thread, CUT_SIGNAL);
}
