/* What the programs of this folder share: a clock, order statistics, and an end with words. */
#ifndef BENCH_TOOLS_H
#define BENCH_TOOLS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline uint64_t bench_now_ns(void)
{
        struct timespec at;
        clock_gettime(CLOCK_MONOTONIC, &at);
        return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}

static inline _Noreturn void bench_die(const char *what)
{
        perror(what);
        exit(1);
}

static inline int bench_compare(const void *a, const void *b)
{
        const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
        return (x > y) - (x < y);
}

static inline void bench_sort(uint64_t *values, size_t count)
{
        qsort(values, count, sizeof *values, bench_compare);
}

/* Of sorted values, in thousands: nanoseconds become microseconds. */
static inline double bench_percentile(const uint64_t *values, size_t count, size_t percent)
{
        return (double)values[count * percent / 100] / 1e3;
}

/* The argument at `at` as a number of at least `min`, or `otherwise` when there is none. */
static inline long bench_number(int argc, char **argv, int at, long otherwise, long min)
{
        const long value = at < argc ? strtol(argv[at], NULL, 10) : otherwise;
        if (value >= min)
                return value;
        fprintf(stderr, "%s: argument %d must be a number of at least %ld\n", argv[0], at, min);
        exit(2);
}

#endif
