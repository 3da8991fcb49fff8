/*
 * A program that was compiled with the header of 0.1.0 and meets today's library: its structs have
 * yesterday's sizes, its arrays yesterday's strides, and nothing is written beyond either.
 */
#include <scaler.h>
#include <stdio.h>
#include <string.h>

#include "run_tests.h"

enum { WAIT_MS = 30000, CANARY = 0xa5, ROWS = 4, TASKS = 200 };

static scaler_local *cluster;
static char          address[256];

static int twice(scaler_task *task, void *ctx)
{
        const int *n = scaler_task_arg(task, 0, NULL);
        const int  r = 2 * *n;
        (void)ctx;
        return scaler_task_return_copy(task, &r, sizeof r);
}

static int refuse(scaler_task *task, void *ctx)
{
        (void)ctx;
        return scaler_task_fail(task, 7, "not today", NULL);
}

static void up(void)
{
        const char *const    listen[] = { "tcp://127.0.0.1:0" };
        scaler_local_options o;
        scaler_error         err;
        scaler_init(&o, sizeof o);
        o.slots        = 2;
        o.workers      = 2;
        o.listen       = listen;
        o.listen_count = 1;
        const scaler_function functions[] = {
                { .size = sizeof functions[0], .name = "twice", .fn = twice },
                { .size = sizeof functions[0], .name = "refuse", .fn = refuse },
        };
        ck_assert_int_eq(scaler_local_create(&o, &cluster, &err), 0);
        ck_assert_int_eq(scaler_local_register(cluster, &functions[0]), 0);
        ck_assert_int_eq(scaler_local_register(cluster, &functions[1]), 0);
        ck_assert_int_eq(scaler_local_start(cluster, &err), 0);
        snprintf(address, sizeof address, "%s", scaler_scheduler_address(scaler_local_scheduler(cluster), 1));
}

static void down(void)
{
        scaler_local_destroy(cluster);
        cluster = NULL;
}

static scaler_future *submit(const scaler_spec *spec)
{
        scaler_future *f = NULL;
        scaler_error   err;
        ck_assert_msg(scaler_client_submit(scaler_local_client(cluster), spec, &f, &err) == 0, "%s", err.text);
        return f;
}

static scaler_future *submit_named(const char *function)
{
        static const int n = 21;
        const scaler_arg arg = scaler_arg_bytes(&n, sizeof n);
        const scaler_spec spec = { .size = sizeof spec, .function = function, .args = &arg, .arg_count = 1 };
        scaler_future *f = submit(&spec);
        ck_assert_int_eq(scaler_future_wait(f, WAIT_MS), 0);
        return f;
}

/* A struct with a canary behind it. */
#define GUARDED(type)                 \
        struct {                      \
                type          s;      \
                unsigned char beyond[256]; \
        }
#define GUARD(g) guard(&(g), sizeof(g), sizeof(g).s)
#define KEPT(g)  kept((g).beyond, sizeof(g).beyond)

static void guard(void *guarded, size_t all, size_t size)
{
        memset(guarded, CANARY, all);
        scaler_init(guarded, size);
}

static bool kept(const unsigned char *beyond, size_t size)
{
        for (size_t i = 0; i < size; i++)
                if (beyond[i] != CANARY)
                        return false;
        return true;
}

START_TEST(arrays_of_specs_keep_the_stride_of_yesterday)
{
        int            numbers[TASKS];
        scaler_arg     args[TASKS];
        scaler_spec    specs[TASKS];
        scaler_future *futures[TASKS];
        scaler_error   err;
        for (int i = 0; i < TASKS; i++) {
                numbers[i] = i;
                args[i]    = scaler_arg_bytes(&numbers[i], sizeof numbers[i]);
                specs[i]   = (scaler_spec){
                          .size = sizeof specs[i], .function = "twice", .args = &args[i], .arg_count = 1
                };
        }
        ck_assert_int_eq(scaler_client_submit_many(scaler_local_client(cluster), specs, TASKS, futures, &err), 0);
        for (int i = 0; i < TASKS; i++) {
                scaler_blob *result = NULL;
                ck_assert_int_eq(scaler_future_result(futures[i], WAIT_MS, &result), 0);
                ck_assert_int_eq(*(const int *)scaler_blob_data(result), 2 * i);
                scaler_blob_unref(result);
                scaler_future_unref(futures[i]);
        }
}
END_TEST

START_TEST(a_streaming_command_fills_a_queue_as_yesterday)
{
        scaler_queue     *queue  = NULL;
        const char *const argv[] = { "printf one; printf two >&2", NULL };
        const scaler_command command = { .size  = sizeof command,
                                         .argv  = argv,
                                         .flags = SCALER_COMMAND_SHELL | SCALER_COMMAND_STREAM };
        ck_assert_int_eq(scaler_queue_create(NULL, &queue, NULL), 0);
        const scaler_spec spec = { .size = sizeof spec, .command = &command, .user_data = 5, .queue = queue };
        scaler_future_unref(submit(&spec));
        scaler_future *f = NULL;
        char           text[2][16] = { "", "" };
        for (int n = 1; n != 0;) {
                if (f == NULL)
                        ck_assert_int_eq(scaler_queue_next(queue, WAIT_MS, &f), 0);
                char bytes[8];
                int  stream = 0;
                n = scaler_future_read(f, bytes, sizeof bytes - 1, &stream, WAIT_MS);
                ck_assert_int_ge(n, 0);
                bytes[n] = '\0';
                if (n > 0)
                        strncat(text[stream - 1], bytes, sizeof text[0] - strlen(text[stream - 1]) - 1);
        }
        ck_assert_uint_eq(scaler_future_user_data(f), 5);
        ck_assert_str_eq(text[0], "one");
        ck_assert_str_eq(text[1], "two");
        scaler_future_unref(f);
        scaler_queue_destroy(queue);
}
END_TEST

START_TEST(nothing_is_written_beyond_the_structs_of_yesterday)
{
        GUARDED(scaler_failure) failure;
        GUARDED(scaler_exit) ended;
        GUARDED(scaler_client_stats) client;
        GUARDED(scaler_scheduler_stats) scheduler;
        GUARD(failure);
        GUARD(ended);
        GUARD(client);
        GUARD(scheduler);
        scaler_future *f = submit_named("refuse");
        ck_assert_int_eq(scaler_future_failure(f, &failure.s), 0);
        ck_assert_int_eq(scaler_future_exit(f, &ended.s), 0);
        ck_assert_int_eq(scaler_client_stats_get(scaler_local_client(cluster), &client.s), 0);
        ck_assert_int_eq(scaler_scheduler_stats_get(scaler_local_scheduler(cluster), &scheduler.s), 0);
        ck_assert(KEPT(failure) && KEPT(ended) && KEPT(client) && KEPT(scheduler));
        ck_assert_int_eq(failure.s.reason, SCALER_REASON_TASK);
        ck_assert_int_eq(failure.s.code, 7);
        ck_assert_str_eq(failure.s.text, "not today");
        ck_assert_int_eq(ended.s.how, SCALER_EXIT_NONE);
        ck_assert_uint_eq(client.s.failed, 1);
        ck_assert_uint_eq(scheduler.s.workers, 2);
        scaler_future_unref(f);
}
END_TEST

START_TEST(pages_of_rows_keep_the_stride_of_yesterday)
{
        scaler_client_options o;
        scaler_client        *admin = NULL;
        scaler_error          err;
        scaler_init(&o, sizeof o);
        o.scheduler = address;
        o.admin     = true;
        ck_assert_int_eq(scaler_client_create(&o, &admin, &err), 0);
        ck_assert_int_eq(scaler_client_start(admin, &err), 0);
        ck_assert_int_eq(scaler_client_wait_ready(admin, WAIT_MS), 0);
        scaler_future_unref(submit_named("twice")); /* by now both workers and the client are known */

        scaler_worker_info workers[ROWS + 1];
        uint64_t           cursor = 0;
        memset(workers, CANARY, sizeof workers);
        scaler_init(&workers[0], sizeof workers[0]);
        ck_assert_int_eq(scaler_client_workers(admin, &cursor, WAIT_MS, workers, ROWS), 2);
        ck_assert_int_eq(strncmp(workers[0].name, "local-", 6), 0);
        ck_assert_int_eq(strncmp(workers[1].name, "local-", 6), 0);
        ck_assert_uint_eq(workers[1].slots, 2);
        ck_assert_uint_eq(workers[1].functions, 2);
        ck_assert(kept((const unsigned char *)&workers[2].id, sizeof workers - offsetof(scaler_worker_info, id) -
                                                                      2 * sizeof workers[0]));
        GUARDED(scaler_scheduler_stats) stats;
        GUARD(stats);
        ck_assert_int_eq(scaler_client_scheduler_stats(admin, WAIT_MS, &stats.s), 0);
        ck_assert(KEPT(stats));
        ck_assert_uint_eq(stats.s.slots_total, 4);
        scaler_client_destroy(admin);
}
END_TEST

START_TEST(the_names_of_yesterday_are_the_names_of_today)
{
        char text[SCALER_ID_TEXT_MAX];
        ck_assert_str_eq(scaler_status_name(SCALER_E_GAP), "SCALER_E_GAP");
        ck_assert_str_eq(scaler_reason_name(SCALER_REASON_WORKER_DIED), "worker_died");
        ck_assert_str_eq(scaler_id_format((scaler_id){ 1, 2 }, text), "00000000000000010000000000000002");
        ck_assert_int_ge(scaler_version(), SCALER_VERSION_NUMBER);
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("yesterday");
        tcase_add_checked_fixture(tests, up, down);
        tcase_add_test(tests, arrays_of_specs_keep_the_stride_of_yesterday);
        tcase_add_test(tests, a_streaming_command_fills_a_queue_as_yesterday);
        tcase_add_test(tests, nothing_is_written_beyond_the_structs_of_yesterday);
        tcase_add_test(tests, pages_of_rows_keep_the_stride_of_yesterday);
        tcase_add_test(tests, the_names_of_yesterday_are_the_names_of_today);
        return run_tests("yesterday", tests);
}
