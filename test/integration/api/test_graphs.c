/* Graphs and dependencies end to end, in one process: shapes, failures, cancels, futures that others read, restarts. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cluster.h"

static struct cluster c;

static void up(void)
{
        cluster_up(&c, 2);
}

static void down(void)
{
        cluster_down(&c);
}

static scaler_spec sum_of(const scaler_arg *args, size_t count)
{
        scaler_spec spec;
        scaler_init(&spec, sizeof spec);
        spec.function  = "sum";
        spec.args      = args;
        spec.arg_count = count;
        return spec;
}

static scaler_spec block_after(const size_t *nodes, size_t count)
{
        scaler_spec spec;
        scaler_init(&spec, sizeof spec);
        spec.function         = "block";
        spec.after_nodes      = nodes;
        spec.after_node_count = count;
        return spec;
}

static int submit_graph(const scaler_spec *specs, size_t count, const scaler_graph *options, scaler_future **futures)
{
        scaler_error err = { .status = 0 };
        const int    n   = scaler_client_submit_graph(c.client, specs, count, options, futures, NULL, &err);
        ck_assert_msg(n >= 0, "%s", err.text);
        return n;
}

static void expect_number(scaler_future *f, int64_t number)
{
        expect_bytes(f, &number, sizeof number);
}

/* Nothing is left at the scheduler, once it has heard the last confirmation. */
static void expect_nothing_left(void)
{
        scaler_scheduler_stats stats;
        ck_assert_int_eq(scaler_client_wait_all(c.client, WAIT_MS), 0);
        for (int i = 0; i < 2000; i++) {
                scaler_init(&stats, sizeof stats);
                ck_assert_int_eq(scaler_scheduler_stats_get(scaler_local_scheduler(c.local), &stats), 0);
                if (stats.tasks_kept + stats.tasks_unacknowledged + stats.tasks_waiting == 0 && stats.bytes_used == 0)
                        return;
                cluster_nap(&c);
        }
        ck_abort_msg("kept %u, unacknowledged %u, waiting %u, %llu bytes", stats.tasks_kept, stats.tasks_unacknowledged,
                     stats.tasks_waiting, (unsigned long long)stats.bytes_used);
}

/* ---- shapes --------------------------------------------------------------------------------------- */

START_TEST(a_diamond_adds_up)
{
        const int64_t    one = 1, ten = 10, hundred = 100;
        const scaler_arg a[] = { scaler_arg_bytes(&one, 8) };
        const scaler_arg b[] = { scaler_arg_result(0), scaler_arg_bytes(&ten, 8) };
        const scaler_arg d[] = { scaler_arg_bytes(&hundred, 8), scaler_arg_result(0) };
        const scaler_arg e[] = { scaler_arg_result(1), scaler_arg_result(2), scaler_arg_result(1) };
        scaler_spec      specs[] = { sum_of(a, 1), sum_of(b, 2), sum_of(d, 2), sum_of(e, 3) };
        scaler_future   *f = NULL, *whole = NULL;
        scaler_graph     options;
        scaler_init(&options, sizeof options);
        options.whole = &whole;
        ck_assert_int_eq(submit_graph(specs, 4, &options, &f), 1);
        expect_number(f, 11 + 101 + 11);
        ck_assert_int_eq(scaler_future_result(whole, WAIT_MS, NULL), 0);
        scaler_graph_counts counts;
        scaler_init(&counts, sizeof counts);
        ck_assert_int_eq(scaler_future_graph(whole, &counts), 0);
        ck_assert_uint_eq(counts.succeeded, 4);
        ck_assert_uint_eq(counts.failed + counts.cancelled + counts.skipped, 0);
        scaler_future_unref(whole);
        expect_nothing_left();
        scaler_client_stats stats;
        scaler_init(&stats, sizeof stats);
        ck_assert_int_eq(scaler_client_stats_get(c.client, &stats), 0);
        ck_assert_uint_eq(stats.submitted, 4);
        ck_assert_uint_eq(stats.succeeded, 4);
        ck_assert_uint_eq(stats.pending, 0);
}
END_TEST

START_TEST(specs_may_come_in_any_order_and_by_name)
{
        const int64_t     one    = 1;
        const scaler_arg  last[] = { scaler_arg_named("middle"), scaler_arg_named("first") };
        const scaler_arg  mid[]  = { scaler_arg_named("first"), scaler_arg_named("first") };
        const scaler_arg  a[]    = { scaler_arg_bytes(&one, 8) };
        scaler_spec       specs[] = { sum_of(last, 2), sum_of(mid, 2), sum_of(a, 1) };
        const char *const names[] = { NULL, "middle", "first" };
        const size_t      targets[] = { 2, 0 };
        scaler_future    *f[2];
        scaler_graph      options;
        scaler_init(&options, sizeof options);
        options.names        = names;
        options.targets      = targets;
        options.target_count = 2;
        ck_assert_int_eq(submit_graph(specs, 3, &options, f), 2);
        expect_number(f[0], 1);
        expect_number(f[1], 3);
        expect_nothing_left();
}
END_TEST

START_TEST(what_no_target_needs_is_not_run)
{
        const int64_t    one = 1;
        const scaler_arg a[] = { scaler_arg_bytes(&one, 8) }, b[] = { scaler_arg_result(0) };
        scaler_spec      specs[] = { sum_of(a, 1), sum_of(b, 1), block_after(NULL, 0) };
        const size_t     target = 1;
        scaler_future   *f;
        scaler_graph     options;
        scaler_init(&options, sizeof options);
        options.targets      = &target;
        options.target_count = 1;
        ck_assert_int_eq(submit_graph(specs, 3, &options, &f), 1);
        expect_number(f, 1);
        expect_nothing_left();
}
END_TEST

enum { CHAIN = 10000 };

START_TEST(a_chain_of_ten_thousand_counts_up)
{
        const int64_t one   = 1;
        scaler_arg   *args  = calloc(2 * CHAIN, sizeof *args);
        scaler_spec  *specs = calloc(CHAIN, sizeof *specs);
        ck_assert(args && specs);
        for (size_t i = 0; i < CHAIN; i++) {
                args[2 * i] = scaler_arg_bytes(&one, 8);
                if (i > 0)
                        args[2 * i + 1] = scaler_arg_result(i - 1);
                specs[i] = sum_of(&args[2 * i], i > 0 ? 2 : 1);
        }
        scaler_future *f;
        ck_assert_int_eq(submit_graph(specs, CHAIN, NULL, &f), 1);
        expect_number(f, CHAIN);
        expect_nothing_left();
        free(args);
        free(specs);
}
END_TEST

/* 1,111,111 leaves would be more than a test needs: four levels of ten. */
START_TEST(a_tree_of_ten_by_ten_adds_up)
{
        enum { LEAVES = 1000, NODES = 1111 };
        const int64_t one = 1;
        static scaler_arg  args[LEAVES + LEAVES + 110];
        static scaler_spec specs[NODES];
        size_t             made = 0, arg = 0, begin = 0;
        for (; made < LEAVES; made++) {
                args[arg]   = scaler_arg_bytes(&one, 8);
                specs[made] = sum_of(&args[arg++], 1);
        }
        for (size_t level = LEAVES; level > 1; level /= 10) {
                for (size_t i = 0; i < level; i += 10) {
                        specs[made++] = sum_of(&args[arg], 10);
                        for (size_t k = 0; k < 10; k++)
                                args[arg++] = scaler_arg_result(begin + i + k);
                }
                begin += level;
        }
        ck_assert_uint_eq(made, NODES);
        scaler_future *f;
        ck_assert_int_eq(submit_graph(specs, NODES, NULL, &f), 1);
        expect_number(f, LEAVES);
        expect_nothing_left();
}
END_TEST

enum { FAN = 100000 };

START_TEST(a_hundred_thousand_results_become_the_arguments_of_one)
{
        const int64_t one   = 1;
        scaler_arg   *args  = calloc(FAN + 1, sizeof *args);
        scaler_spec  *specs = calloc(FAN + 1, sizeof *specs);
        ck_assert(args && specs);
        args[FAN] = scaler_arg_bytes(&one, 8);
        for (size_t i = 0; i < FAN; i++) {
                specs[i] = sum_of(&args[FAN], 1);
                args[i]  = scaler_arg_result(i);
        }
        specs[FAN] = sum_of(args, FAN);
        scaler_future *f;
        ck_assert_int_eq(submit_graph(specs, FAN + 1, NULL, &f), 1);
        expect_number(f, FAN);
        expect_nothing_left();
        free(args);
        free(specs);
}
END_TEST

START_TEST(a_stencil_adds_up)
{
        enum { WIDE = 50, DEEP = 40, READS = 5 };
        const int64_t      one = 1;
        static scaler_arg  args[WIDE * DEEP * READS];
        static scaler_spec specs[WIDE * DEEP];
        for (size_t i = 0; i < WIDE * DEEP; i++) {
                const size_t row = i / WIDE, col = i % WIDE;
                for (size_t k = 0; k < READS && row > 0; k++) {
                        const size_t from   = (row - 1) * WIDE + (col + k + WIDE - 2) % WIDE;
                        args[READS * i + k] = scaler_arg_result(from);
                }
                if (row == 0)
                        args[READS * i] = scaler_arg_bytes(&one, 8);
                specs[i] = sum_of(&args[READS * i], row > 0 ? READS : 1);
        }
        static scaler_future *f[WIDE];
        ck_assert_int_eq(submit_graph(specs, WIDE * DEEP, NULL, f), WIDE);
        for (size_t i = 0; i < WIDE; i++) {
                scaler_blob *blob = NULL;
                ck_assert_int_eq(scaler_future_result(f[i], WAIT_MS, &blob), 0);
                int64_t got;
                memcpy(&got, scaler_blob_data(blob), sizeof got);
                uint64_t power = 1; /* 5^39, modulo 2^64 as the sums are */
                for (int k = 1; k < DEEP; k++)
                        power *= READS;
                ck_assert((uint64_t)got == power);
                scaler_blob_unref(blob);
                scaler_future_unref(f[i]);
        }
        expect_nothing_left();
}
END_TEST

/* ---- failures and cancels --------------------------------------------------------------------------- */

static void expect_root(scaler_future *f, int reason, scaler_id root, int root_reason)
{
        scaler_failure failure;
        scaler_init(&failure, sizeof failure);
        ck_assert_int_eq(scaler_future_wait(f, WAIT_MS), 0);
        ck_assert_int_eq(scaler_future_failure(f, &failure), 0);
        ck_assert_str_eq(scaler_reason_name(failure.reason), scaler_reason_name(reason));
        ck_assert(scaler_id_equal(failure.root, root));
        ck_assert_int_eq(failure.root_reason, root_reason);
        char text[SCALER_ID_TEXT_MAX];
        if (!scaler_id_is_nil(root))
                ck_assert_msg(strstr(failure.text, scaler_id_format(root, text)) != NULL, "%s", failure.text);
}

/* 0 fails; 1 after it, 2 after that; 3 for itself, 4 after that. */
static int submit_branches(bool fail_fast, scaler_future **f, scaler_future **whole)
{
        static const scaler_arg why = { .data = "no", .data_size = 2 };
        static const size_t     first = 0, second = 1, other = 3, targets[] = { 0, 1, 2, 3, 4 };
        scaler_spec             fails;
        scaler_init(&fails, sizeof fails);
        fails.function  = "fail";
        fails.args      = &why;
        fails.arg_count = 1;
        scaler_spec  specs[] = { fails, block_after(&first, 1), block_after(&second, 1), block_after(NULL, 0),
                                 block_after(&other, 1) };
        scaler_graph options;
        scaler_init(&options, sizeof options);
        options.targets      = targets;
        options.target_count = 5;
        options.fail_fast    = fail_fast;
        options.whole        = whole;
        return submit_graph(specs, 5, &options, f);
}

START_TEST(a_failed_node_ends_what_comes_after_it_and_other_branches_run_on)
{
        scaler_future *f[5], *whole;
        ck_assert_int_eq(submit_branches(false, f, &whole), 5);
        const scaler_id root = scaler_future_id(f[0]);
        expect_root(f[1], SCALER_REASON_DEPENDENCY, root, SCALER_REASON_TASK);
        expect_root(f[2], SCALER_REASON_DEPENDENCY, root, SCALER_REASON_TASK);
        ck_assert_int_eq(scaler_future_state(f[3]), SCALER_TASK_PENDING);
        ck_assert_int_eq(scaler_future_state(whole), SCALER_TASK_PENDING);
        cluster_release(&c);
        ck_assert_int_eq(scaler_future_result(f[4], WAIT_MS, NULL), 0);
        expect_root(whole, SCALER_REASON_DEPENDENCY, root, SCALER_REASON_TASK);
        scaler_graph_counts counts;
        scaler_init(&counts, sizeof counts);
        ck_assert_int_eq(scaler_future_graph(whole, &counts), 0);
        ck_assert_uint_eq(counts.succeeded, 2);
        ck_assert_uint_eq(counts.failed, 1);
        ck_assert_uint_eq(counts.skipped, 2);
        ck_assert_int_eq(scaler_future_graph(f[0], &counts), SCALER_E_INVALID);
        for (int i = 0; i < 5; i++)
                scaler_future_unref(f[i]);
        scaler_future_unref(whole);
        expect_nothing_left();
}
END_TEST

START_TEST(fail_fast_cancels_the_other_branches)
{
        scaler_future *f[5], *whole;
        ck_assert_int_eq(submit_branches(true, f, &whole), 5);
        for (int i = 3; i < 5; i++)
                ck_assert_int_eq(scaler_future_result(f[i], WAIT_MS, NULL), SCALER_E_CANCELLED);
        ck_assert_int_eq(scaler_future_result(whole, WAIT_MS, NULL), SCALER_E_TASK);
        for (int i = 0; i < 5; i++)
                scaler_future_unref(f[i]);
        scaler_future_unref(whole);
        expect_nothing_left();
}
END_TEST

static int submit_blocks(scaler_future **f, scaler_future **whole, scaler_id *id)
{
        static const size_t first = 0, second = 1, targets[] = { 0, 1, 2, 3 };
        scaler_spec  specs[] = { block_after(NULL, 0), block_after(&first, 1), block_after(&second, 1),
                                 block_after(NULL, 0) };
        scaler_graph options;
        scaler_init(&options, sizeof options);
        options.targets      = targets;
        options.target_count = 4;
        options.whole        = whole;
        scaler_error err = { .status = 0 };
        return scaler_client_submit_graph(c.client, specs, 4, &options, f, id, &err);
}

START_TEST(cancelling_a_node_cancels_what_comes_after_it)
{
        scaler_future *f[4], *whole;
        ck_assert_int_eq(submit_blocks(f, &whole, NULL), 4);
        cluster_await_running(&c, 2);
        ck_assert_int_eq(scaler_future_cancel_wait(f[1], 0, WAIT_MS), SCALER_CANCEL_DONE);
        ck_assert_int_eq(scaler_future_result(f[2], WAIT_MS, NULL), SCALER_E_CANCELLED);
        cluster_release(&c);
        ck_assert_int_eq(scaler_future_result(f[0], WAIT_MS, NULL), 0);
        ck_assert_int_eq(scaler_future_result(f[3], WAIT_MS, NULL), 0);
        ck_assert_int_eq(scaler_future_result(whole, WAIT_MS, NULL), SCALER_E_CANCELLED);
        for (int i = 0; i < 4; i++)
                scaler_future_unref(f[i]);
        scaler_future_unref(whole);
        expect_nothing_left();
}
END_TEST

START_TEST(cancelling_a_graph_cancels_all_of_it)
{
        scaler_future *f[4], *whole;
        scaler_id      id;
        ck_assert_int_eq(submit_blocks(f, &whole, &id), 4);
        ck_assert(scaler_id_equal(id, scaler_future_id(whole)));
        cluster_await_running(&c, 2);
        ck_assert_int_eq(scaler_client_cancel(c.client, id, 0, WAIT_MS), SCALER_CANCEL_DONE);
        for (int i = 0; i < 4; i++) {
                ck_assert_int_eq(scaler_future_result(f[i], WAIT_MS, NULL), SCALER_E_CANCELLED);
                scaler_future_unref(f[i]);
        }
        scaler_graph_counts counts;
        scaler_init(&counts, sizeof counts);
        ck_assert_int_eq(scaler_future_result(whole, WAIT_MS, NULL), SCALER_E_CANCELLED);
        ck_assert_int_eq(scaler_future_graph(whole, &counts), 0);
        ck_assert_uint_eq(counts.cancelled, 4);
        scaler_future_unref(whole);
        expect_nothing_left();
}
END_TEST

/* ---- futures that others depend on ------------------------------------------------------------------- */

START_TEST(a_later_task_reads_a_future_that_is_on_its_way)
{
        for (int64_t i = 0; i < 300; i++) {
                const scaler_arg a    = scaler_arg_bytes(&i, 8);
                scaler_spec      spec = sum_of(&a, 1);
                scaler_future   *f = submit_spec(c.client, &spec), *g;
                const scaler_arg b[] = { scaler_arg_future(f), scaler_arg_bytes(&i, 8) };
                if (i % 3 == 0)
                        scaler_future_wait(f, i % 2); /* somewhere around its end */
                spec = sum_of(b, 2);
                g    = submit_spec(c.client, &spec);
                scaler_future_unref(f);
                expect_number(g, 2 * i);
        }
        expect_nothing_left();
}
END_TEST

START_TEST(a_later_task_reads_a_future_that_has_ended)
{
        const int64_t    one  = 1;
        const scaler_arg a    = scaler_arg_bytes(&one, 8);
        scaler_spec      spec = sum_of(&a, 1);
        scaler_future   *f    = submit_spec(c.client, &spec);
        ck_assert_int_eq(scaler_future_wait(f, WAIT_MS), 0);
        const scaler_arg b[] = { scaler_arg_future(f), scaler_arg_future(f) };
        spec                 = sum_of(b, 2);
        spec.after           = &f;
        spec.after_count     = 1;
        expect_number(submit_spec(c.client, &spec), 2);
        scaler_future_unref(f);
        expect_nothing_left();
}
END_TEST

START_TEST(a_task_after_a_failed_one_ends_so)
{
        for (int wait = 0; wait < 2; wait++) {
                scaler_future *f = submit(c.client, "fail", "why", 3);
                if (wait)
                        ck_assert_int_eq(scaler_future_wait(f, WAIT_MS), 0);
                scaler_spec spec = sum_of(NULL, 0);
                spec.after       = &f;
                spec.after_count = 1;
                scaler_future *g = submit_spec(c.client, &spec);
                expect_root(g, SCALER_REASON_DEPENDENCY, scaler_future_id(f), SCALER_REASON_TASK);
                spec.after       = &g; /* the root is still the first */
                scaler_future *h = submit_spec(c.client, &spec);
                expect_root(h, SCALER_REASON_DEPENDENCY, scaler_future_id(f), SCALER_REASON_TASK);
                scaler_future_unref(f);
                scaler_future_unref(g);
                scaler_future_unref(h);
        }
        expect_nothing_left();
}
END_TEST

START_TEST(a_graph_reads_futures_and_a_future_reads_its_target)
{
        const int64_t    one  = 1;
        const scaler_arg a    = scaler_arg_bytes(&one, 8);
        scaler_spec      spec = sum_of(&a, 1);
        scaler_future   *f = submit_spec(c.client, &spec), *target;
        const scaler_arg b[] = { scaler_arg_future(f), scaler_arg_bytes(&one, 8) }, d[] = { scaler_arg_result(0) };
        scaler_spec      specs[] = { sum_of(b, 2), sum_of(d, 1) };
        ck_assert_int_eq(submit_graph(specs, 2, NULL, &target), 1);
        const scaler_arg e[] = { scaler_arg_future(target), scaler_arg_future(f) };
        spec = sum_of(e, 2);
        expect_number(submit_spec(c.client, &spec), 3);
        scaler_future_unref(f);
        expect_number(target, 2);
        expect_nothing_left();
}
END_TEST

START_TEST(a_function_reads_what_a_command_printed)
{
        const char *const argv[] = { "printf", "%s", "hello", NULL };
        scaler_command    command;
        scaler_spec       specs[2];
        scaler_init(&command, sizeof command);
        scaler_init(&specs[0], sizeof specs[0]);
        scaler_init(&specs[1], sizeof specs[1]);
        command.argv           = argv;
        specs[0].command       = &command;
        const scaler_arg reads = scaler_arg_result(0);
        specs[1].function      = "echo";
        specs[1].args          = &reads;
        specs[1].arg_count     = 1;
        scaler_future *f;
        ck_assert_int_eq(submit_graph(specs, 2, NULL, &f), 1);
        expect_text(f, "hello");
        expect_nothing_left();
}
END_TEST

START_TEST(arguments_and_results_beyond_a_mebibyte_are_a_limit)
{
        const int32_t    half = 600000;
        const scaler_arg size = scaler_arg_bytes(&half, sizeof half);
        const scaler_arg two[] = { scaler_arg_result(0), scaler_arg_result(1) };
        scaler_spec      specs[3];
        for (int i = 0; i < 3; i++)
                scaler_init(&specs[i], sizeof specs[i]);
        specs[0].function = specs[1].function = "big";
        specs[0].args = specs[1].args = &size;
        specs[0].arg_count = specs[1].arg_count = 1;
        specs[2].function  = "echo";
        specs[2].args      = two;
        specs[2].arg_count = 2;
        scaler_future *f;
        ck_assert_int_eq(submit_graph(specs, 3, NULL, &f), 1);
        scaler_failure failure;
        scaler_init(&failure, sizeof failure);
        ck_assert_int_eq(scaler_future_result(f, WAIT_MS, NULL), SCALER_E_LIMIT);
        ck_assert_int_eq(scaler_future_failure(f, &failure), 0);
        ck_assert_msg(strstr(failure.text, "1048576") != NULL, "%s", failure.text);
        scaler_future_unref(f);
        expect_nothing_left();
}
END_TEST

/* ---- refused --------------------------------------------------------------------------------------------- */

static void refused(const scaler_spec *specs, size_t count, const scaler_graph *options, const char *words)
{
        scaler_error err = { .status = 0 };
        const int    got = scaler_client_submit_graph(c.client, specs, count, options, NULL, NULL, &err);
        ck_assert_int_eq(got, SCALER_E_INVALID);
        ck_assert_msg(strstr(err.text, words) != NULL, "%s", err.text);
}

START_TEST(a_graph_that_makes_no_sense_is_refused_with_the_place)
{
        const scaler_arg  self = scaler_arg_result(1), far = scaler_arg_result(3), name = scaler_arg_named("nobody");
        const scaler_arg  first = scaler_arg_result(0), second = scaler_arg_result(1), third = scaler_arg_result(2);
        const size_t      targets[] = { 0, 0 }, beyond = 7;
        const char *const names[]   = { "a", "a" };
        scaler_graph      options;
        scaler_init(&options, sizeof options);
        scaler_spec loop[]  = { sum_of(NULL, 0), sum_of(&self, 1) };
        scaler_spec miss[]  = { sum_of(NULL, 0), sum_of(&far, 1), sum_of(NULL, 0) };
        scaler_spec named[] = { sum_of(NULL, 0), sum_of(&name, 1) };
        scaler_spec ring[]  = { sum_of(NULL, 0), sum_of(&third, 1), sum_of(&second, 1), sum_of(&first, 1) };
        refused(loop, 2, NULL, "spec 1: it refers to itself");
        refused(miss, 3, NULL, "spec 1: it refers to spec 3, and the last one is 2");
        refused(named, 2, NULL, "spec 1: argument 0: nothing is named \"nobody\"");
        refused(ring, 4, NULL, "1 -> 2 -> 1");
        refused(loop, 0, NULL, "no specs");
        options.targets      = targets;
        options.target_count = 2;
        refused(miss, 1, &options, "spec 0 is a target twice");
        options.targets      = &beyond;
        options.target_count = 1;
        refused(miss, 1, &options, "target 0 is spec 7");
        options.targets      = NULL;
        options.target_count = 0;
        options.names        = names;
        refused(miss, 2, &options, "specs 0 and 1 have the same name \"a\"");
        scaler_error err;
        const scaler_spec alone = sum_of(&first, 1);
        ck_assert_int_eq(scaler_client_submit(c.client, &alone, NULL, &err), SCALER_E_INVALID);
        expect_nothing_left();
}
END_TEST

/* ---- another scheduler in the middle ---------------------------------------------------------------------- */

struct site {
        char              dir[32], url[96];
        scaler_scheduler *scheduler;
        scaler_worker    *worker;
        scaler_client    *client;
};

static void start_scheduler(struct site *s)
{
        scaler_error             err = { .status = 0 };
        const char              *url = s->url;
        scaler_scheduler_options o;
        scaler_init(&o, sizeof o);
        o.listen       = &url;
        o.listen_count = 1;
        ck_assert_msg(scaler_scheduler_create(&o, &s->scheduler, &err) == 0, "%s", err.text);
        ck_assert_msg(scaler_scheduler_start(s->scheduler, &err) == 0, "%s", err.text);
}

static int add_worker_function(void *to, const scaler_function *f)
{
        return scaler_worker_register(to, f);
}

static void site_up(struct site *s)
{
        scaler_error          err = { .status = 0 };
        scaler_worker_options wo;
        scaler_client_options co;
        snprintf(s->dir, sizeof s->dir, "/tmp/graphs-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(s->dir));
        snprintf(s->url, sizeof s->url, "ipc://%s/scheduler", s->dir);
        start_scheduler(s);
        scaler_init(&wo, sizeof wo);
        scaler_init(&co, sizeof co);
        wo.scheduler = co.scheduler = s->url;
        wo.slots                    = 2;
        ck_assert_msg(scaler_worker_create(&wo, &s->worker, &err) == 0, "%s", err.text);
        cluster_functions(&c, add_worker_function, s->worker);
        ck_assert_msg(scaler_worker_start(s->worker, &err) == 0, "%s", err.text);
        ck_assert_msg(scaler_client_create(&co, &s->client, &err) == 0, "%s", err.text);
        ck_assert_msg(scaler_client_start(s->client, &err) == 0, "%s", err.text);
}

static void site_down(struct site *s)
{
        char path[64];
        scaler_client_destroy(s->client);
        scaler_worker_destroy(s->worker);
        scaler_scheduler_destroy(s->scheduler);
        snprintf(path, sizeof path, "%s/scheduler", s->dir);
        unlink(path);
        ck_assert_int_eq(rmdir(s->dir), 0);
}

/* 0 and 1 end before the other scheduler comes, 2 runs through it, 3 to 5 come after; 1 and 5 are wanted. */
START_TEST(a_graph_survives_another_scheduler_in_the_middle)
{
        struct site      s;
        const int64_t    one = 1, two = 2;
        const scaler_arg a = scaler_arg_bytes(&one, 8), b[] = { scaler_arg_result(0), scaler_arg_bytes(&two, 8) };
        const scaler_arg d[]     = { scaler_arg_result(0), scaler_arg_result(1) };
        const scaler_arg e[]     = { scaler_arg_result(3), scaler_arg_result(1), scaler_arg_bytes(&one, 8) };
        const size_t     wait[]  = { 2 }, targets[] = { 1, 4 };
        scaler_spec      specs[] = { sum_of(&a, 1), sum_of(b, 2), block_after(NULL, 0), sum_of(d, 2), sum_of(e, 3) };
        specs[3].after_nodes     = wait;
        specs[3].after_node_count = 1;
        scaler_future *f[2], *whole;
        scaler_graph   options;
        scaler_error   err = { .status = 0 };
        scaler_init(&options, sizeof options);
        options.targets      = targets;
        options.target_count = 2;
        options.whole        = &whole;
        site_up(&s);
        ck_assert_msg(scaler_client_submit_graph(s.client, specs, 5, &options, f, NULL, &err) == 2, "%s", err.text);
        ck_assert_int_eq(scaler_future_wait(f[0], WAIT_MS), 0);
        cluster_await_running(&c, 1);
        scaler_scheduler_destroy(s.scheduler);
        start_scheduler(&s);
        cluster_release(&c);
        expect_number(f[1], 4 + 3 + 1);
        expect_number(f[0], 3);
        ck_assert_int_eq(scaler_future_result(whole, WAIT_MS, NULL), 0);
        scaler_graph_counts counts;
        scaler_init(&counts, sizeof counts);
        ck_assert_int_eq(scaler_future_graph(whole, &counts), 0);
        ck_assert_uint_eq(counts.succeeded, 5);
        scaler_future_unref(whole);
        site_down(&s);
}
END_TEST

START_TEST(a_graph_that_no_scheduler_may_hold_ends_as_a_limit)
{
        struct site              s;
        scaler_error             err = { .status = 0 };
        scaler_scheduler_options o;
        snprintf(s.dir, sizeof s.dir, "/tmp/graphs-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(s.dir));
        snprintf(s.url, sizeof s.url, "ipc://%s/scheduler", s.dir);
        const char *url = s.url;
        scaler_init(&o, sizeof o);
        o.listen       = &url;
        o.listen_count = 1;
        o.tasks_max    = 32;
        ck_assert_msg(scaler_scheduler_create(&o, &s.scheduler, &err) == 0, "%s", err.text);
        ck_assert_msg(scaler_scheduler_start(s.scheduler, &err) == 0, "%s", err.text);
        scaler_worker_options wo;
        scaler_client_options co;
        scaler_init(&wo, sizeof wo);
        scaler_init(&co, sizeof co);
        wo.scheduler = co.scheduler = s.url;
        ck_assert_msg(scaler_worker_create(&wo, &s.worker, &err) == 0, "%s", err.text);
        cluster_functions(&c, add_worker_function, s.worker);
        ck_assert_msg(scaler_worker_start(s.worker, &err) == 0, "%s", err.text);
        ck_assert_msg(scaler_client_create(&co, &s.client, &err) == 0, "%s", err.text);
        ck_assert_msg(scaler_client_start(s.client, &err) == 0, "%s", err.text);
        const int64_t    one = 1;
        const scaler_arg a   = scaler_arg_bytes(&one, 8);
        scaler_spec      specs[30];
        scaler_future   *f[30], *whole;
        scaler_graph     options;
        for (int i = 0; i < 30; i++)
                specs[i] = sum_of(&a, 1);
        scaler_init(&options, sizeof options);
        options.whole = &whole;
        for (size_t count = 29; count <= 30; count++) { /* 32, less a sixteenth: 30, with the graph itself */
                const int targets = scaler_client_submit_graph(s.client, specs, count, &options, f, NULL, &err);
                ck_assert_int_eq(targets, (int)count);
                const int status = count == 29 ? 0 : SCALER_E_LIMIT;
                ck_assert_int_eq(scaler_future_result(whole, WAIT_MS, NULL), status);
                ck_assert_int_eq(scaler_future_result(f[count - 1], WAIT_MS, NULL), status);
                for (size_t i = 0; i < count; i++)
                        scaler_future_unref(f[i]);
                scaler_future_unref(whole);
        }
        site_down(&s);
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("graphs");
        tcase_set_timeout(tests, 120);
        tcase_add_checked_fixture(tests, up, down);
        tcase_add_test(tests, a_diamond_adds_up);
        tcase_add_test(tests, specs_may_come_in_any_order_and_by_name);
        tcase_add_test(tests, what_no_target_needs_is_not_run);
        tcase_add_test(tests, a_chain_of_ten_thousand_counts_up);
        tcase_add_test(tests, a_tree_of_ten_by_ten_adds_up);
        tcase_add_test(tests, a_hundred_thousand_results_become_the_arguments_of_one);
        tcase_add_test(tests, a_stencil_adds_up);
        tcase_add_test(tests, a_failed_node_ends_what_comes_after_it_and_other_branches_run_on);
        tcase_add_test(tests, fail_fast_cancels_the_other_branches);
        tcase_add_test(tests, cancelling_a_node_cancels_what_comes_after_it);
        tcase_add_test(tests, cancelling_a_graph_cancels_all_of_it);
        tcase_add_test(tests, a_later_task_reads_a_future_that_is_on_its_way);
        tcase_add_test(tests, a_later_task_reads_a_future_that_has_ended);
        tcase_add_test(tests, a_task_after_a_failed_one_ends_so);
        tcase_add_test(tests, a_graph_reads_futures_and_a_future_reads_its_target);
        tcase_add_test(tests, a_function_reads_what_a_command_printed);
        tcase_add_test(tests, arguments_and_results_beyond_a_mebibyte_are_a_limit);
        tcase_add_test(tests, a_graph_that_makes_no_sense_is_refused_with_the_place);
        tcase_add_test(tests, a_graph_survives_another_scheduler_in_the_middle);
        tcase_add_test(tests, a_graph_that_no_scheduler_may_hold_ends_as_a_limit);
        return run_suite("api graphs", tests);
}
