#include "process/signals.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int handled[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGCHLD};
#define HANDLED (sizeof handled / sizeof *handled)

static void do_nothing(int number)
{
    (void)number;
}

/* Unlike SIG_IGN, a handler is not inherited over exec. */
static void shrug_off(int number)
{
    struct sigaction action = {.sa_handler = do_nothing, .sa_flags = SA_RESTART};
    sigaction(number, &action, NULL);
}

void signals_init(void)
{
    sigset_t none;
    for (int number = 1; number < NSIG; number++) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN) {
            action = (struct sigaction){.sa_handler = SIG_DFL};
            sigaction(number, &action, NULL);
        }
    }
    shrug_off(SIGPIPE);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

int signals_open(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < HANDLED; i++)
        sigaddset(&set, handled[i]);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return -errno;
    int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int signals_next(int fd)
{
    struct signalfd_siginfo info;
    return read(fd, &info, sizeof info) == sizeof info ? (int)info.ssi_signo : 0;
}

void signals_leave_to_supervisor(void)
{
    shrug_off(SIGTERM);
    shrug_off(SIGINT);
    shrug_off(SIGHUP);
    shrug_off(SIGUSR1);
}
