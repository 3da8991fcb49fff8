/*
 * Seeds under Check: fixed ones, those that failed once, and, for SIM_SECONDS, fresh ones.  A failing seed ends its own
 * process and says which it was, and how to see its history.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "run_tests.h"
#include "sim.h"

enum { FIXED = 500, FIXED_EACH = 25 };

/* What failed once: the seed, and what it was that failed. */
static const struct {
        uint64_t    seed;
        const char *what;
} once_failed[] = {
        { 18, "an idle client kept the whole grant" },
        { 46, "a task was lost three times and sent once" },
        { 125, "a returning client was never welcomed" },
        { 142, "a process that slept over the healing slept on, in the simulator" },
        { 146, "a run kept twice was taken for another, in the simulator" },
        { 152, "a clogged link delivered out of order, in the simulator" },
        { 531, "results that an old link had brought counted against the grant" },
        { 707, "results that an old link had brought counted against the grant" },
        { 998, "results that an old link had brought counted against the grant" },
        { 2063, "a run that was told to stop was kept for a task resubmitted" },
        { 13661, "a worker that a last chance had left with room was passed over" },
        { 4148, "a failure that was counted was kept and counted again" },
        { 179603441901192, "a run stopped for a lost client was kept for its successor" },
        { 2268, "clients waited for each other, each with a part of what a large task needs" },
        { 305, "an idle client kept all the tasks that a small scheduler could grant" },
        { 2207, "a hostile worker with credit cost a task its last chance, in the simulator" },
        { 60804, "a hostile worker had credit by a frame said again, in the simulator" },
        { 700663, "a stream that nobody read any more never ended, in the simulator" },
        { 700731, "poison that was offered ahead ended well, in the simulator" },
        { 700831, "what a worker left waiting for something else was taken for begun" },
        { 702991, "a run that had been given up held what the scheduler took for free, in the simulator" },
        { 710485, "what had aged was kept out by followers of those that held its cpus" },
        { 711652, "a client that wanted less than its rows needed was never told that it had it" },
        { 711657, "what a worker left waiting for something else was taken for begun" },
        { 712855, "a worker with more than it had come to want was not sent what could begin" },
        { 721525, "a long task was passed by short ones of a lower priority" },
        { 724224, "a link that was clogged twice delivered out of order, in the simulator" },
        { 727471, "a worker with more than it had come to want was not sent what could begin" },
        { 740440, "a run that was past its deadline counted, in the simulator" },
        { 756880, "a run that was never sent did not count, in the simulator" },
        { 462, "a graph that no client may have was refused before all of it was there" },
        { 2838, "a result was confirmed before a task that named it had left" },
};

static bool pace_is(const char *pace)
{
        const char *text = getenv("SCALER_TEST_PACE");
        return text != NULL && strcmp(text, pace) == 0;
}

START_TEST(a_seed_is_one_history)
{
        ck_assert_uint_eq(sim_run(7, false), sim_run(7, false));
        ck_assert_uint_eq(sim_run(70, false), sim_run(70, false));
        ck_assert_uint_ne(sim_run(7, false), sim_run(8, false));
}
END_TEST

START_TEST(every_fixed_seed_holds)
{
        const uint64_t step = pace_is("slow") ? 10 : 1;
        for (uint64_t seed = 1; seed <= FIXED_EACH; seed += step)
                sim_run((uint64_t)_i * FIXED_EACH + seed, false);
}
END_TEST

START_TEST(every_seed_that_failed_once_holds)
{
        sim_run(once_failed[_i].seed, false);
}
END_TEST

static double seconds(void)
{
        struct timespec ts;
        clock_gettime(CLOCK_MONOTONIC, &ts);
        return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* None by default: what one of them shows is nobody's change.  test/long.d/22-sim-seeds.sh runs them for an hour. */
static double fresh_seconds(void)
{
        const char *wish = getenv("SIM_SECONDS");
        return wish != NULL ? atof(wish) : 0;
}

START_TEST(fresh_seeds_hold)
{
        const double   end   = seconds() + fresh_seconds();
        const uint64_t first = (uint64_t)time(NULL) * 100000;
        uint64_t       count = 0;
        printf("fresh seeds from %" PRIu64 "\n", first);
        fflush(stdout);
        while (seconds() < end)
                sim_run(first + count++, false);
        printf("%" PRIu64 " fresh seeds held\n", count);
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("seeds");
        sim_watch();
        tcase_set_timeout(tests, 600);
        tcase_add_test(tests, a_seed_is_one_history);
        tcase_add_loop_test(tests, every_fixed_seed_holds, 0, FIXED / FIXED_EACH);
        tcase_add_loop_test(tests, every_seed_that_failed_once_holds, 0,
                            (int)(sizeof once_failed / sizeof *once_failed));
        tcase_add_test(tests, fresh_seeds_hold);
        return run_tests("sim", tests);
}
