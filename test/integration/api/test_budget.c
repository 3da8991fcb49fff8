/*
 * A runtime whose memory is limited pushes back at those who ask: submits wait or say full, grants stay small, and what
 * is under way goes on.  Nobody is charged a loss, and no task ends otherwise than it would, for our lack of memory.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "cluster.h"

enum { MIB = 1 << 20, WORKERS = 4, RESIDENT_MIB = 400 };

struct load { /* tasks, each of which echoes its argument so many times */
        int    tasks;
        size_t argument;
        int    times;
};

struct place {
        scaler_runtime   *rt[3]; /* the scheduler's, the client's, all workers'; or one for all */
        scaler_scheduler *scheduler;
        scaler_worker    *worker[WORKERS];
        scaler_client    *client;
        scaler_queue     *queue;
};

/* Its argument, as often as the user says. */
static int fn_echo(scaler_task *t, void *ctx)
{
        const int   *times = ctx;
        size_t       size  = 0;
        const void  *arg   = scaler_task_arg(t, 0, &size);
        void        *data  = NULL;
        scaler_blob *blob  = NULL;
        if (!arg)
                return 0;
        if (scaler_blob_alloc(NULL, size * (size_t)*times, &data, &blob) != 0)
                return 1;
        for (int i = 0; i < *times; i++)
                memcpy((char *)data + (size_t)i * size, arg, size);
        return scaler_task_return(t, blob);
}

/* Links that were closed for want of memory, and whatever else the scheduler warns of. */
static _Atomic int warnings, other_warnings;

static void count_warnings(void *ctx, const scaler_log_record *record)
{
        (void)ctx;
        if (record->level > SCALER_LOG_WARN)
                return;
        atomic_fetch_add(&warnings, 1);
        atomic_fetch_add(&other_warnings, strstr(record->line, "for want of memory") == NULL);
}

static scaler_runtime *runtime_of(int64_t memory_max)
{
        scaler_runtime_options o;
        scaler_runtime        *rt;
        scaler_init(&o, sizeof o);
        o.memory_max = memory_max;
        o.log        = count_warnings;
        ck_assert_int_eq(scaler_runtime_create(&o, &rt, NULL), 0);
        return rt;
}

static void add_worker(struct place *p, int i, const char *url, const int *times)
{
        scaler_worker_options o;
        scaler_function       f;
        scaler_init(&o, sizeof o);
        scaler_init(&f, sizeof f);
        o.runtime   = p->rt[2];
        o.scheduler = url;
        o.slots     = 2;
        f.name      = "echo";
        f.fn        = fn_echo;
        f.ctx       = (void *)(uintptr_t)times;
        ck_assert_int_eq(scaler_worker_create(&o, &p->worker[i], NULL), 0);
        ck_assert_int_eq(scaler_worker_register(p->worker[i], &f), 0);
        ck_assert_int_eq(scaler_worker_start(p->worker[i], NULL), 0);
}

/* Memory in MiB of scheduler, client and workers; 0: they share the scheduler's. */
static void place_up(struct place *p, const char *listen, const int *mib, const int *times)
{
        scaler_error             err = { .status = 0 };
        scaler_scheduler_options so;
        scaler_client_options    co;
        memset(p, 0, sizeof *p);
        for (int i = 0; i < 3; i++)
                p->rt[i] = mib[i] ? runtime_of((int64_t)mib[i] * MIB) : p->rt[0];
        scaler_init(&so, sizeof so);
        so.runtime      = p->rt[0];
        so.listen       = &listen;
        so.listen_count = 1;
        ck_assert_msg(scaler_scheduler_create(&so, &p->scheduler, &err) == 0, "%s", err.text);
        ck_assert_msg(scaler_scheduler_start(p->scheduler, &err) == 0, "%s", err.text);
        const char *url = scaler_scheduler_address(p->scheduler, 0);
        for (int i = 0; i < WORKERS; i++)
                add_worker(p, i, url, times);
        scaler_init(&co, sizeof co);
        co.runtime   = p->rt[1];
        co.scheduler = url;
        ck_assert_msg(scaler_client_create(&co, &p->client, &err) == 0, "%s", err.text);
        ck_assert_msg(scaler_client_start(p->client, &err) == 0, "%s", err.text);
        ck_assert_int_eq(scaler_queue_create(p->rt[1], &p->queue, NULL), 0);
}

static void place_down(struct place *p)
{
        scaler_queue_destroy(p->queue);
        scaler_client_destroy(p->client);
        for (int i = 0; i < WORKERS; i++)
                scaler_worker_destroy(p->worker[i]);
        scaler_scheduler_destroy(p->scheduler);
        for (int i = 2; i >= 0; i--)
                if (i == 0 || p->rt[i] != p->rt[0])
                        scaler_runtime_destroy(p->rt[i]);
}

static int submit_number(struct place *p, const struct load *load, uint64_t number)
{
        static uint64_t  bytes[64 * 1024 / sizeof(uint64_t)];
        const scaler_arg arg = scaler_arg_bytes(bytes, load->argument);
        scaler_spec      spec;
        bytes[0] = number;
        scaler_init(&spec, sizeof spec);
        spec.function  = "echo";
        spec.args      = &arg;
        spec.arg_count = 1;
        spec.user_data = number;
        spec.queue     = p->queue;
        return scaler_client_submit(p->client, &spec, NULL, NULL);
}

/* Takes one answer and checks it. */
static void take(struct place *p, const struct load *load, unsigned char *answered)
{
        scaler_future *f    = NULL;
        scaler_blob   *blob = NULL;
        scaler_failure failure;
        uint64_t       number;
        ck_assert_int_eq(scaler_queue_next(p->queue, WAIT_MS, &f), 0);
        scaler_init(&failure, sizeof failure);
        ck_assert_int_eq(scaler_future_failure(f, &failure), 0);
        const int status = scaler_future_result(f, 0, &blob);
        ck_assert_msg(status == 0, "%s: %s", scaler_status_name(status), failure.text);
        ck_assert_uint_eq(failure.losses, 0);
        ck_assert_uint_eq(scaler_blob_size(blob), load->argument * (size_t)load->times);
        memcpy(&number, scaler_blob_data(blob), sizeof number);
        ck_assert_uint_eq(number, scaler_future_user_data(f));
        ck_assert_msg(!answered[number], "%llu was answered twice", (unsigned long long)number);
        answered[number] = 1;
        scaler_blob_unref(blob);
        scaler_future_unref(f);
}

/* Under sanitizers: a tenth of the tasks, and more memory than one would think. */
static bool is_slow(void)
{
        const char *pace = getenv("SCALER_TEST_PACE");
        return pace && strcmp(pace, "slow") == 0;
}

static long resident_most_kib(void)
{
        char  line[256];
        long  kib  = 0;
        FILE *file = fopen("/proc/self/status", "r");
        ck_assert_ptr_nonnull(file);
        while (fgets(line, sizeof line, file) && sscanf(line, "VmHWM: %ld", &kib) != 1)
                ;
        fclose(file);
        return kib;
}

/* All at once, as far as submits are taken; whenever they are not, an answer is waited for. */
static void all_through(struct place *p, const struct load *load)
{
        unsigned char *answered = calloc((size_t)load->tasks, 1);
        ck_assert_ptr_nonnull(answered);
        int taken = 0;
        for (int i = 0; i < load->tasks;) {
                const int status = submit_number(p, load, (uint64_t)i);
                ck_assert_msg(status == 0 || status == SCALER_E_FULL, "%s", scaler_status_name(status));
                i += status == 0;
                if (status == SCALER_E_FULL) {
                        ck_assert_int_lt(taken, i);
                        take(p, load, answered);
                        taken++;
                }
        }
        for (; taken < load->tasks; taken++)
                take(p, load, answered);
        free(answered);
}

static void flood(const char *listen, const int *mib, struct load load)
{
        struct place           p;
        scaler_scheduler_stats stats;
        atomic_store(&warnings, 0);
        atomic_store(&other_warnings, 0);
        load.tasks = is_slow() ? load.tasks / 10 : load.tasks;
        place_up(&p, listen, mib, &load.times);
        all_through(&p, &load);
        scaler_init(&stats, sizeof stats);
        ck_assert_int_eq(scaler_scheduler_stats_get(p.scheduler, &stats), 0);
        ck_assert_uint_eq(stats.runs_lost, 0);
        ck_assert_uint_eq(stats.tasks_done, (uint64_t)load.tasks);
        ck_assert_uint_eq(stats.tasks_failed, 0);
        place_down(&p);
        if (!is_slow())
                ck_assert_int_lt(resident_most_kib(), RESIDENT_MIB * 1024);
}

START_TEST(a_small_scheduler_is_flooded_over_tcp)
{
        flood("tcp://127.0.0.1:0", (const int[]){ 32, 64, 64 }, (struct load){ 100000, 16384, 1 });
        ck_assert_int_eq(atomic_load(&warnings), 0);
}
END_TEST

START_TEST(a_small_scheduler_is_flooded_over_memory)
{
        flood("inproc://flooded", (const int[]){ 32, 64, 64 }, (struct load){ 20000, 16384, 1 });
        ck_assert_int_eq(atomic_load(&warnings), 0);
}
END_TEST

/* It may let a worker go for want of memory, which charges nobody. */
START_TEST(a_tiny_scheduler_is_slow_and_loses_nothing)
{
        flood("tcp://127.0.0.1:0", (const int[]){ 4, 32, 64 }, (struct load){ 5000, 16384, 1 });
        ck_assert_int_eq(atomic_load(&other_warnings), 0);
}
END_TEST

/* Links may be closed for want of memory here, but nobody is charged and nothing is lost. */
START_TEST(results_larger_than_their_arguments_wait_for_room)
{
        flood("tcp://127.0.0.1:0", (const int[]){ 16, 2048, 512 }, (struct load){ 1000, 8192, 120 });
}
END_TEST

START_TEST(a_cluster_shares_one_small_budget)
{
        flood("inproc://shared", (const int[]){ 32, 0, 0 }, (struct load){ 20000, 16384, 1 });
        ck_assert_int_eq(atomic_load(&warnings), 0);
}
END_TEST

START_TEST(a_scheduler_is_not_made_with_less_than_it_needs)
{
        enum { LEAST = 4 * MIB };
        const char              *listen = "inproc://too-little";
        scaler_runtime          *rt[2]  = { runtime_of(LEAST - 1), runtime_of(LEAST) };
        scaler_scheduler_options so;
        scaler_scheduler        *scheduler = NULL;
        scaler_error             err       = { .status = 0 };
        scaler_init(&so, sizeof so);
        so.listen       = &listen;
        so.listen_count = 1;
        so.runtime      = rt[0];
        ck_assert_int_eq(scaler_scheduler_create(&so, &scheduler, &err), SCALER_E_INVALID);
        ck_assert_str_eq(err.text, "scheduler: its runtime's memory_max of 4194303 is below 4194304");
        ck_assert_ptr_null(scheduler);
        so.runtime = rt[1];
        ck_assert_int_eq(scaler_scheduler_create(&so, &scheduler, &err), 0);
        scaler_scheduler_destroy(scheduler);
        for (int i = 0; i < 2; i++)
                scaler_runtime_destroy(rt[i]);
}
END_TEST

static int wait_number(struct place *p, int64_t timeout_ms)
{
        scaler_spec spec;
        scaler_init(&spec, sizeof spec);
        spec.function = "echo";
        spec.queue    = p->queue;
        return scaler_client_submit_wait(p->client, &spec, timeout_ms, NULL, NULL);
}

/* More than the scheduler may hold wait at the client; more than that are refused, or wait with a deadline. */
START_TEST(a_full_table_says_so_and_there_is_room_again)
{
        enum { HERE = 100, ROWS = 32 };
        const char *const        listen  = "inproc://full-table";
        static const int         once    = 1;
        struct place             p       = { .rt = { runtime_of(0), NULL, NULL } };
        scaler_scheduler_stats   stats;
        scaler_scheduler_options so;
        scaler_client_options    co;
        scaler_init(&so, sizeof so);
        scaler_init(&co, sizeof co);
        p.rt[1] = p.rt[2] = p.rt[0];
        so.runtime = co.runtime = p.rt[0];
        so.listen               = &listen;
        so.listen_count         = 1;
        so.tasks_max            = ROWS;
        co.scheduler            = listen;
        co.pending_max          = HERE;
        ck_assert_int_eq(scaler_scheduler_create(&so, &p.scheduler, NULL), 0);
        ck_assert_int_eq(scaler_scheduler_start(p.scheduler, NULL), 0);
        ck_assert_int_eq(scaler_client_create(&co, &p.client, NULL), 0);
        ck_assert_int_eq(scaler_client_start(p.client, NULL), 0);
        ck_assert_int_eq(scaler_client_wait_ready(p.client, WAIT_MS), 0);
        ck_assert_int_eq(scaler_queue_create(p.rt[0], &p.queue, NULL), 0);
        for (int i = 0; i < HERE; i++)
                ck_assert_int_eq(wait_number(&p, 0), 0);
        ck_assert_int_eq(wait_number(&p, 0), SCALER_E_TIMEOUT);
        ck_assert_int_eq(submit_number(&p, &(struct load){ 1, 8, 1 }, 1), SCALER_E_FULL);
        ck_assert_int_eq(wait_number(&p, 50), SCALER_E_TIMEOUT);
        scaler_init(&stats, sizeof stats);
        ck_assert_int_eq(scaler_scheduler_stats_get(p.scheduler, &stats), 0);
        ck_assert_uint_eq(stats.tasks_ready, ROWS - ROWS / 16);
        add_worker(&p, 0, listen, &once);
        ck_assert_int_eq(wait_number(&p, WAIT_MS), 0);
        ck_assert_int_eq(scaler_client_wait_all(p.client, WAIT_MS), 0);
        ck_assert_int_eq(scaler_scheduler_stats_get(p.scheduler, &stats), 0);
        ck_assert_uint_eq(stats.tasks_submitted, HERE + 1);
        place_down(&p);
}
END_TEST

int main(void)
{
        TCase *t = tcase_create("budget");
        tcase_set_timeout(t, 300);
        tcase_add_test(t, a_scheduler_is_not_made_with_less_than_it_needs);
        tcase_add_test(t, a_full_table_says_so_and_there_is_room_again);
        tcase_add_test(t, a_tiny_scheduler_is_slow_and_loses_nothing);
        tcase_add_test(t, results_larger_than_their_arguments_wait_for_room);
        tcase_add_test(t, a_cluster_shares_one_small_budget);
        tcase_add_test(t, a_small_scheduler_is_flooded_over_tcp);
        tcase_add_test(t, a_small_scheduler_is_flooded_over_memory);
        return run_suite("budget", t);
}
