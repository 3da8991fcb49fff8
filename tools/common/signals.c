/*
 * signals: a signalfd over the three signals that end a tool.
 */
#include "signals.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Linux keeps a blocked signal even when it is ignored, so an ignored one must not be among them. */
static void add_unless_ignored(sigset_t *set, int number)
{
        struct sigaction now;
        if (sigaction(number, NULL, &now) < 0 || now.sa_handler != SIG_IGN)
                sigaddset(set, number);
}

int signals_open(void)
{
        sigset_t ending, blocked;
        sigemptyset(&ending);
        add_unless_ignored(&ending, SIGINT);
        add_unless_ignored(&ending, SIGTERM);
        add_unless_ignored(&ending, SIGHUP);
        blocked = ending;
        sigaddset(&blocked, SIGPIPE);
        if (sigprocmask(SIG_BLOCK, &blocked, NULL) < 0)
                return -1;
        return signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK);
}

int signals_take(int fd)
{
        struct signalfd_siginfo info;
        return read(fd, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

int signals_wait(int fd, int64_t timeout_ms)
{
        struct pollfd ready = { .fd = fd, .events = POLLIN };
        poll(&ready, 1, timeout_ms < 0 ? -1 : timeout_ms > INT_MAX ? INT_MAX : (int)timeout_ms);
        return signals_take(fd);
}

void signals_die_by(int signal_number)
{
        signal(signal_number, SIG_DFL);
        sigset_t just;
        sigemptyset(&just);
        sigaddset(&just, signal_number);
        sigprocmask(SIG_UNBLOCK, &just, NULL);
        raise(signal_number);
        _Exit(128 + signal_number);
}
