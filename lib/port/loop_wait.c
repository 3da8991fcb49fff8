/*
 * What a host-driven loop waits on.  Descriptors are close-on-exec and never block.
 */
#include "loop_wait.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "loop.h"
#include "sc_assert.h"
#include "sc_status.h"

static bool watch(int epoll, int fd)
{
        struct epoll_event event = { .events = EPOLLIN };
        event.data.fd            = fd;
        return fd >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

int sc_loop_wait_init(struct sc_loop_wait *wait)
{
        wait->epoll = epoll_create1(EPOLL_CLOEXEC);
        wait->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        wait->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        wait->armed = SC_NEVER;
        if (wait->epoll >= 0 && watch(wait->epoll, wait->event) && watch(wait->epoll, wait->timer))
                return SC_OK;
        sc_loop_wait_fini(wait);
        return SC_E_IO;
}

static void close_fd(int *fd)
{
        if (*fd >= 0)
                close(*fd);
        *fd = -1;
}

void sc_loop_wait_fini(struct sc_loop_wait *wait)
{
        close_fd(&wait->timer);
        close_fd(&wait->event);
        close_fd(&wait->epoll);
}

void sc_loop_wait_ring(struct sc_loop_wait *wait)
{
        const int      errno_kept = errno;
        const uint64_t one        = 1;
        ssize_t        put        = write(wait->event, &one, sizeof one);
        SC_ASSERT(put == (ssize_t)sizeof one || errno == EAGAIN); /* EAGAIN: it has been rung 2^64 times */
        errno = errno_kept;
}

void sc_loop_wait_clear(struct sc_loop_wait *wait)
{
        const int errno_kept = errno;
        uint64_t  count;
        ssize_t   got = read(wait->event, &count, sizeof count);
        SC_ASSERT(got == (ssize_t)sizeof count || errno == EAGAIN);
        errno = errno_kept;
}

void sc_loop_wait_arm(struct sc_loop_wait *wait, sc_ns due)
{
        if (due == wait->armed)
                return;
        wait->armed            = due;
        const sc_ns       at   = due < 1 ? 1 : due; /* zero would disarm it */
        struct itimerspec when = { .it_value = { .tv_sec = 0 } };
        if (due != SC_NEVER) {
                when.it_value.tv_sec  = at / SC_S;
                when.it_value.tv_nsec = at % SC_S;
        }
        int status = timerfd_settime(wait->timer, TFD_TIMER_ABSTIME, &when, NULL);
        SC_ASSERT(status == 0);
}

/* Rounded up, so that nobody wakes just before the time and spins until it. */
static int poll_ms(sc_ns left)
{
        if (left <= 0)
                return 0;
        if (left > (sc_ns)(INT_MAX / 2) * SC_MS)
                return left == SC_NEVER ? -1 : INT_MAX / 2;
        return (int)((left + SC_MS - 1) / SC_MS);
}

void sc_loop_wait_until(struct sc_loop_wait *wait, sc_ns due)
{
        const int     errno_kept = errno;
        struct pollfd ready      = { .fd = wait->epoll, .events = POLLIN };
        int           status;
        do {
                sc_ns left = due == SC_NEVER ? SC_NEVER : due - sc_clock_now();
                status     = poll(&ready, 1, poll_ms(left));
                SC_ASSERT(status >= 0 || errno == EINTR);
        } while (status < 0);
        errno = errno_kept;
}
