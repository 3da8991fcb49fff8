/*
 * CPUs by affinity mask and cgroup quota; memory by sysconf and cgroup limit.  Files that are missing
 * or say "max" limit nothing.
 */
#include "machine.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first line of a small file; false: not there. */
static bool read_line(const char *path, char *out, size_t size)
{
        const int saved = errno;
        const int fd    = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t   n     = fd < 0 ? -1 : read(fd, out, size - 1);
        if (fd >= 0)
                close(fd);
        errno = saved;
        if (n <= 0)
                return false;
        out[n]                  = '\0';
        out[strcspn(out, "\n")] = '\0';
        return true;
}

static long long number_in(const char *path)
{
        char line[64];
        return read_line(path, line, sizeof line) ? strtoll(line, NULL, 10) : -1;
}

/* Whole CPUs that the quota allows, rounded up; 0: no quota. */
static uint32_t cpus_by_quota(void)
{
        char      line[64];
        long long quota = -1, period = 0;
        if (read_line("/sys/fs/cgroup/cpu.max", line, sizeof line)) {
                if (sscanf(line, "%lld %lld", &quota, &period) != 2)
                        return 0;
        } else {
                quota  = number_in("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
                period = number_in("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
        }
        return quota > 0 && period > 0 ? (uint32_t)((quota + period - 1) / period) : 0;
}

uint32_t sc_usable_cpus(void)
{
        cpu_set_t set;
        long      cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN);
        uint32_t  usable = cpus > 0 ? (uint32_t)cpus : 1;
        uint32_t  quota  = cpus_by_quota();
        return quota > 0 && quota < usable ? quota : usable;
}

uint64_t sc_physical_memory(void)
{
        const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
        uint64_t   bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_C(1) << 30;
        long long  limit = number_in("/sys/fs/cgroup/memory.max");
        if (limit <= 0)
                limit = number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes");
        return limit > 0 && (uint64_t)limit < bytes ? (uint64_t)limit : bytes;
}

void sc_machine_name(char *out, size_t size)
{
        char host[64];
        if (gethostname(host, sizeof host) != 0)
                snprintf(host, sizeof host, "localhost");
        host[sizeof host - 1] = '\0';
        snprintf(out, size, "%s:%ld", host, (long)getpid());
}
