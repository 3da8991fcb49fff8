/*
 * sim FIRST COUNT runs so many seeds; SIM_SEED=n runs one, SIM_TRACE=1 prints what happens in it;
 * SIM_SECONDS=s runs fresh seeds for so long, and says which.  The exit code tells whether all held.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "sim.h"

static uint64_t number(const char *name, uint64_t otherwise)
{
        const char *text = getenv(name);
        return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

static double seconds(void)
{
        struct timespec ts;
        clock_gettime(CLOCK_MONOTONIC, &ts);
        return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
        sim_watch();
        const unsigned limit = (unsigned)number("SIM_LIMIT", 120); /* seconds for one seed */
        if (getenv("SIM_SEED") != NULL) {
                const uint64_t seed = number("SIM_SEED", 0);
                alarm(limit);
                printf("seed %" PRIu64 " hash %016" PRIx64 "\n", seed, sim_run(seed, number("SIM_TRACE", 0) != 0));
                return 0;
        }
        uint64_t     first       = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
        uint64_t     count       = argc > 2 ? strtoull(argv[2], NULL, 10) : 500;
        const double for_seconds = (double)number("SIM_SECONDS", 0);
        if (for_seconds > 0) {
                first = argc > 1 ? first : (uint64_t)time(NULL) * 1000000;
                count = UINT64_MAX;
        }
        const double end  = seconds() + for_seconds;
        uint64_t     done = 0;
        printf("seeds from %" PRIu64 "\n", first);
        fflush(stdout);
        for (; done < count && (for_seconds <= 0 || seconds() < end); done++) {
                alarm(limit);
                sim_run(first + done, false);
        }
        printf("%" PRIu64 " passed, 0 failed\n", done);
        return 0;
}
