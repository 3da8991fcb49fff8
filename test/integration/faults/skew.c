/*
 * skew: stands between a process and its clocks (LD_PRELOAD).  The file SKEW_FILE holds two int64_t: by how many
 * nanoseconds the time of day and the monotonic clock are ahead.  Whoever changes it sets or leaps the clocks of
 * all who look at it; those who sleep until a time on such a clock notice, as they would in a kernel.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S    INT64_C(1000000000)
#define SLICE_NS    INT64_C(20000000)
#define WALL_CLOCK_S 1000000000 /* a time beyond that is one of day: no machine is up for 30 years */

static volatile int64_t *skew;

__attribute__((constructor)) static void look_into_the_file(void)
{
        const char *path = getenv("SKEW_FILE");
        const int   fd   = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        void       *at   = fd >= 0 ? mmap(NULL, 16, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
        if (fd >= 0)
                close(fd);
        if (at != MAP_FAILED)
                skew = at;
}

static int64_t skew_of(clockid_t id)
{
        if (!skew)
                return 0;
        if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)
                return skew[0];
        return id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_COARSE || id == CLOCK_BOOTTIME ? skew[1] : 0;
}

static void *next_symbol(const char *name)
{
        return dlsym(RTLD_NEXT, name);
}

static int64_t ns_of(const struct timespec *t)
{
        return (int64_t)t->tv_sec * NS_PER_S + t->tv_nsec;
}

static struct timespec time_of(int64_t ns)
{
        return (struct timespec){ .tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S) };
}

static int64_t real_now(clockid_t id)
{
        static int (*real)(clockid_t, struct timespec *);
        if (!real) {
                void *found = next_symbol("clock_gettime");
                memcpy(&real, &found, sizeof real);
        }
        struct timespec t = { 0 };
        real(id, &t);
        return ns_of(&t);
}

int clock_gettime(clockid_t id, struct timespec *out);
int clock_gettime(clockid_t id, struct timespec *out)
{
        *out = time_of(real_now(id) + skew_of(id));
        return 0;
}

time_t time(time_t *out)
{
        const time_t now = (time_t)((real_now(CLOCK_REALTIME) + skew_of(CLOCK_REALTIME)) / NS_PER_S);
        if (out)
                *out = now;
        return now;
}

/* In slices, so that a leap ends a wait. */
int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict lock,
                           const struct timespec *restrict until)
{
        static int (*real)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
        if (!real) {
                void *found = next_symbol("pthread_cond_timedwait");
                memcpy(&real, &found, sizeof real);
        }
        const clockid_t id = until->tv_sec > WALL_CLOCK_S ? CLOCK_REALTIME : CLOCK_MONOTONIC;
        for (;;) {
                const int64_t now  = real_now(id);
                const int64_t left = ns_of(until) - now - skew_of(id);
                if (left <= 0)
                        return ETIMEDOUT;
                const struct timespec slice = time_of(now + (left < SLICE_NS ? left : SLICE_NS));
                const int             status = real(cond, lock, &slice);
                if (status != ETIMEDOUT)
                        return status;
        }
}
