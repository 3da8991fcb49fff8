/*
 * The system's clocks and its source of chance.  Nothing here can fail in a way that a caller could
 * mend, so nothing returns a status.  Threads: any.
 */
#include <errno.h>
#include <sys/random.h>
#include <time.h>

#include "loop.h"
#include "sc_assert.h"

static sc_ns read_clock(clockid_t id)
{
        struct timespec t;
        int             status = clock_gettime(id, &t);
        SC_ASSERT(status == 0);
        return (sc_ns)t.tv_sec * SC_S + t.tv_nsec;
}

sc_ns sc_clock_now(void)
{
        return read_clock(CLOCK_MONOTONIC);
}

sc_ns sc_clock_wall(void)
{
        return read_clock(CLOCK_REALTIME);
}

void sc_random_bytes(void *out, size_t len)
{
        const int errno_kept = errno;
        char     *at         = out;
        while (len > 0) {
                ssize_t got = getrandom(at, len, 0);
                SC_ASSERT(got > 0 || errno == EINTR);
                if (got > 0) {
                        at += got;
                        len -= (size_t)got;
                }
        }
        errno = errno_kept;
}
