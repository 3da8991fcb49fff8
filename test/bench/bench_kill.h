/*
 * The kill of a worker, ours and the peer's alike: whoever runs a task writes who and when into a pipe that
 * all workers have; whoever drives kills the first that does and waits for the next.
 */
#ifndef BENCH_KILL_H
#define BENCH_KILL_H

#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include "bench_tools.h"

struct bench_start {
        uint64_t at_ns;
        pid_t    pid;
        uint32_t spare;
};

static inline void bench_report_start(int fd)
{
        const struct bench_start start = { .at_ns = bench_now_ns(), .pid = getpid() };
        if (write(fd, &start, sizeof start) != sizeof start)
                _exit(1);
}

static inline struct bench_start bench_next_start(int fd)
{
        struct bench_start start;
        if (read(fd, &start, sizeof start) != sizeof start)
                bench_die("no task has started");
        return start;
}

/* Microseconds from the kill to the next start.  Before it a moment of quiet, as the failure comes when nobody
 * expects it. */
static inline double bench_kill_and_wait(int fd)
{
        const struct bench_start first = bench_next_start(fd);
        nanosleep(&(struct timespec){ .tv_nsec = 300000000 }, NULL);
        const uint64_t killed_ns = bench_now_ns();
        if (kill(first.pid, SIGKILL) != 0)
                bench_die("kill");
        return (double)(bench_next_start(fd).at_ns - killed_ns) / 1e3;
}

#endif
