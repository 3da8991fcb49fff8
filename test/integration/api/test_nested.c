/* Tasks that submit tasks: one slot is enough, nothing waits for ever, and what a run has submitted goes with it. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "cluster.h"

enum { WORKERS_MAX = 2 };

/* A cluster over memory or over tcp, there with a token and a runtime for each role. */
static struct {
        scaler_runtime   *rt;
        scaler_scheduler *scheduler;
        scaler_worker    *workers[WORKERS_MAX];
        scaler_client    *client;
        scaler_security   security;
        char              url[256];
        bool              tcp;
} site;

static atomic_int  active, active_most; /* functions that are at work, and not waiting */
static atomic_int  began, saw_stop, last_status;
static atomic_bool released;

static void nap(void)
{
        poll(NULL, 0, 1);
}

static void await(atomic_int *what, int least)
{
        for (int i = 0; i < WAIT_MS && atomic_load(what) < least; i++)
                nap();
        ck_assert_int_ge(atomic_load(what), least);
}

/* ---- functions -------------------------------------------------------------------------------------------- */

static void enter(void)
{
        const int now = atomic_fetch_add(&active, 1) + 1;
        int       most = atomic_load(&active_most);
        while (now > most && !atomic_compare_exchange_weak(&active_most, &most, now))
                ;
}

static void leave(void)
{
        atomic_fetch_sub(&active, 1);
}

static int64_t argument(const scaler_task *t)
{
        int64_t     value = 0;
        size_t      size;
        const void *arg = scaler_task_arg(t, 0, &size);
        if (arg && size == sizeof value)
                memcpy(&value, arg, sizeof value);
        return value;
}

static int start_with(scaler_client *c, const char *function, const char *needs, int64_t value, scaler_queue *q,
                      scaler_future **out)
{
        const scaler_arg arg = scaler_arg_bytes(&value, sizeof value);
        scaler_spec      spec;
        scaler_init(&spec, sizeof spec);
        spec.function  = function;
        spec.args      = &arg;
        spec.arg_count = 1;
        spec.needs     = needs;
        spec.queue     = q;
        return scaler_client_submit(c, &spec, out, NULL);
}

static int start(scaler_client *c, const char *function, int64_t value, scaler_future **out)
{
        return start_with(c, function, NULL, value, NULL, out);
}

/* What a child returned; takes the future. */
static int take(scaler_future *f, int64_t *value)
{
        scaler_blob *blob;
        leave();
        const int status = scaler_future_result(f, WAIT_MS, &blob);
        enter();
        scaler_future_unref(f);
        if (status)
                return status;
        memcpy(value, scaler_blob_data(blob), sizeof *value);
        scaler_blob_unref(blob);
        return 0;
}

static int fib(scaler_task *t, scaler_client *c, int64_t n)
{
        scaler_future *a, *b;
        int64_t        left = 0, right = 0;
        if (start(c, "fib", n - 1, &a) || start(c, "fib", n - 2, &b))
                return 1;
        const int first = take(a, &left), second = take(b, &right);
        left += right;
        return first ? first : second ? second : scaler_task_return_copy(t, &left, sizeof left);
}

static int fn_fib(scaler_task *t, void *ctx)
{
        const int64_t  n = argument(t);
        scaler_client *c;
        (void)ctx;
        enter();
        int status = 0;
        if (n < 2)
                status = scaler_task_return_copy(t, &n, sizeof n);
        else if ((status = scaler_task_client(t, &c, NULL)) == 0)
                status = fib(t, c, n);
        leave();
        return status;
}

static int fn_leaf(scaler_task *t, void *ctx)
{
        const int64_t n = argument(t) + 1;
        (void)ctx;
        enter();
        const int status = scaler_task_return_copy(t, &n, sizeof n);
        leave();
        return status;
}

/* Its argument is a number of leaves; returns the sum of what they return. */
static int fn_fan(scaler_task *t, void *ctx)
{
        enum { MOST = 64 };
        const int64_t  n = argument(t);
        scaler_client *c;
        scaler_future *leaves[MOST];
        int64_t        sum = 0, value = 0;
        (void)ctx;
        enter();
        int status = scaler_task_client(t, &c, NULL);
        for (int64_t i = 0; i < n && !status; i++)
                status = start(c, "leaf", i, &leaves[i]);
        for (int64_t i = 0; i < n && !status; i++) {
                status = take(leaves[i], &value);
                sum += value;
        }
        leave();
        return status ? status : scaler_task_return_copy(t, &sum, sizeof sum);
}

/* As deep as its argument says. */
static int fn_chain(scaler_task *t, void *ctx)
{
        int64_t        n = argument(t), depth = 0;
        scaler_client *c;
        scaler_future *f;
        (void)ctx;
        if (n > 0) {
                if (scaler_task_client(t, &c, NULL) || start(c, "chain", n - 1, &f))
                        return 1;
                enter();
                const int status = take(f, &depth);
                leave();
                if (status)
                        return status;
                depth++;
        }
        return scaler_task_return_copy(t, &depth, sizeof depth);
}

/* Until it is told to stop, or released. */
static int fn_stay(scaler_task *t, void *ctx)
{
        (void)ctx;
        atomic_fetch_add(&began, 1);
        while (!scaler_task_cancelled(t) && !atomic_load(&released))
                nap();
        atomic_fetch_add(&saw_stop, scaler_task_cancelled(t));
        const int64_t one = 1;
        return scaler_task_cancelled(t) ? 1 : scaler_task_return_copy(t, &one, sizeof one);
}

/* Waits for one that stays. */
static int fn_wait_for_stay(scaler_task *t, void *ctx)
{
        scaler_client *c;
        scaler_future *f;
        (void)ctx;
        if (scaler_task_client(t, &c, NULL) || start(c, "stay", 0, &f))
                return 1;
        atomic_store(&last_status, 0);
        const int status = scaler_future_wait(f, WAIT_MS);
        atomic_store(&last_status, status);
        scaler_future_unref(f);
        return status;
}

static int fn_leave_stay(scaler_task *t, void *ctx)
{
        scaler_client *c;
        (void)ctx;
        return scaler_task_client(t, &c, NULL) || start(c, "stay", 0, NULL);
}

/* Its child needs as much as it holds. */
static int fn_greedy(scaler_task *t, void *ctx)
{
        scaler_client *c;
        scaler_future *f;
        scaler_failure failure;
        (void)ctx;
        scaler_init(&failure, sizeof failure);
        if (scaler_task_client(t, &c, NULL) || start_with(c, "leaf", "gpu=1", 1, NULL, &f))
                return 1;
        const int status = scaler_future_wait(f, WAIT_MS);
        if (!status && scaler_future_failure(f, &failure) == 0)
                scaler_task_fail(t, failure.reason, failure.text, NULL);
        scaler_future_unref(f);
        return status;
}

/* Collects its children from a queue, then waits for all of some more. */
static int fn_collect(scaler_task *t, void *ctx)
{
        enum { N = 10 };
        scaler_client *c;
        scaler_queue  *q;
        scaler_future *f;
        int64_t        sum = 0, value;
        (void)ctx;
        int status = scaler_task_client(t, &c, NULL);
        if (!status)
                status = scaler_queue_create(NULL, &q, NULL);
        if (status)
                return status;
        for (int i = 0; i < N && !status; i++)
                status = start_with(c, "leaf", NULL, i, q, NULL);
        enter();
        for (int i = 0; i < N && !status; i++) {
                status = scaler_queue_next(q, WAIT_MS, &f);
                if (!status)
                        status = take(f, &value);
                sum += value;
        }
        leave();
        for (int i = 0; i < N && !status; i++)
                status = start(c, "leaf", i, NULL);
        if (!status)
                status = scaler_client_wait_all(c, WAIT_MS);
        scaler_queue_destroy(q);
        return status ? status : scaler_task_return_copy(t, &sum, sizeof sum);
}

struct foreign {
        scaler_future *f;
        scaler_client *c;
        int            waited, submitted;
};

static void *wait_elsewhere(void *arg)
{
        struct foreign *x = arg;
        x->waited         = scaler_future_wait(x->f, 100);
        x->submitted      = start(x->c, "leaf", 1, NULL);
        return NULL;
}

/* 0 if a wait in a thread of its own has left the slot alone. */
static int fn_foreign(scaler_task *t, void *ctx)
{
        struct foreign x;
        pthread_t      thread;
        (void)ctx;
        if (scaler_task_client(t, &x.c, NULL) || start(x.c, "leaf", 1, &x.f) ||
            pthread_create(&thread, NULL, wait_elsewhere, &x) != 0)
                return 1;
        pthread_join(thread, NULL);
        int64_t value = 0;
        enter();
        const int status = take(x.f, &value);
        leave();
        if (x.waited != SCALER_E_TIMEOUT || x.submitted != SCALER_E_STATE)
                return 2;
        return status ? status : value != 2;
}

/* The client belongs to the library. */
static int fn_meddle(scaler_task *t, void *ctx)
{
        scaler_client *c;
        (void)ctx;
        if (scaler_task_client(t, &c, NULL))
                return 1;
        if (scaler_client_start(c, NULL) != SCALER_E_STATE || scaler_client_stop(c, 0) != SCALER_E_STATE)
                return 2;
        scaler_client_destroy(c);
        scaler_future *f;
        int64_t        value = 0;
        if (start(c, "leaf", 1, &f))
                return 3;
        enter();
        const int status = take(f, &value);
        leave();
        return status ? status : value != 2;
}

/* A graph of three: two leaves and the sum of what they return. */
static int fn_plan(scaler_task *t, void *ctx)
{
        const int64_t  ten = 10;
        const scaler_arg leaf     = scaler_arg_bytes(&ten, sizeof ten);
        const scaler_arg reads[2] = { scaler_arg_result(0), scaler_arg_result(1) };
        scaler_client *c;
        scaler_future *f;
        scaler_spec    specs[3];
        int64_t        value = 0;
        (void)ctx;
        for (int i = 0; i < 3; i++) {
                scaler_init(&specs[i], sizeof specs[i]);
                specs[i].function  = i < 2 ? "leaf" : "sum";
                specs[i].args      = i < 2 ? &leaf : reads;
                specs[i].arg_count = i < 2 ? 1 : 2;
        }
        if (scaler_task_client(t, &c, NULL) || scaler_client_submit_graph(c, specs, 3, NULL, &f, NULL, NULL) != 1)
                return 1;
        enter();
        const int status = take(f, &value);
        leave();
        return status ? status : scaler_task_return_copy(t, &value, sizeof value);
}

static int fn_sum(scaler_task *t, void *ctx)
{
        int64_t sum = 0, value;
        (void)ctx;
        for (size_t i = 0; i < scaler_task_arg_count(t); i++) {
                memcpy(&value, scaler_task_arg(t, i, NULL), sizeof value);
                sum += value;
        }
        return scaler_task_return_copy(t, &sum, sizeof sum);
}

/* ---- the cluster ------------------------------------------------------------------------------------------- */

static void start_scheduler(const char *listen)
{
        scaler_error             err = { .status = 0 };
        scaler_scheduler_options o;
        scaler_init(&o, sizeof o);
        o.runtime      = site.tcp ? NULL : site.rt;
        o.listen       = &listen;
        o.listen_count = 1;
        o.security     = &site.security;
        ck_assert_msg(scaler_scheduler_create(&o, &site.scheduler, &err) == 0, "%s", err.text);
        ck_assert_msg(scaler_scheduler_start(site.scheduler, &err) == 0, "%s", err.text);
        snprintf(site.url, sizeof site.url, "%s", scaler_scheduler_address(site.scheduler, 0));
}

static void start_worker(int at, int slots, const char *offers)
{
        static const struct {
                const char    *name;
                scaler_task_fn fn;
        } all[] = { { "fib", fn_fib },         { "leaf", fn_leaf },     { "fan", fn_fan },
                    { "chain", fn_chain },     { "stay", fn_stay },     { "wait_for_stay", fn_wait_for_stay },
                    { "leave_stay", fn_leave_stay }, { "greedy", fn_greedy }, { "collect", fn_collect },
                    { "foreign", fn_foreign }, { "meddle", fn_meddle }, { "plan", fn_plan },
                    { "sum", fn_sum } };
        scaler_error          err = { .status = 0 };
        scaler_worker_options o;
        scaler_init(&o, sizeof o);
        o.runtime       = site.tcp ? NULL : site.rt;
        o.scheduler     = site.url;
        o.slots         = slots;
        o.offers        = offers;
        o.security      = &site.security;
        o.kill_grace_ms = 60000; /* nothing here is to be abandoned */
        ck_assert_msg(scaler_worker_create(&o, &site.workers[at], &err) == 0, "%s", err.text);
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
                scaler_function f;
                scaler_init(&f, sizeof f);
                f.name = all[i].name;
                f.fn   = all[i].fn;
                ck_assert_int_eq(scaler_worker_register(site.workers[at], &f), 0);
        }
        ck_assert_msg(scaler_worker_start(site.workers[at], &err) == 0, "%s", err.text);
        ck_assert_int_eq(scaler_worker_wait_ready(site.workers[at], WAIT_MS), 0);
}

static void up(int tcp, int workers, int slots, const char *offers)
{
        scaler_error          err = { .status = 0 };
        scaler_client_options o;
        memset(&site, 0, sizeof site);
        atomic_store(&active, 0);
        atomic_store(&active_most, 0);
        atomic_store(&began, 0);
        atomic_store(&saw_stop, 0);
        atomic_store(&released, false);
        site.tcp = tcp != 0;
        scaler_init(&site.security, sizeof site.security);
        site.security.token = site.tcp ? "nested" : NULL;
        ck_assert_int_eq(scaler_runtime_create(NULL, &site.rt, NULL), 0);
        start_scheduler(tcp ? "tcp://127.0.0.1:0" : "inproc://nested");
        for (int i = 0; i < workers; i++)
                start_worker(i, slots, offers);
        scaler_init(&o, sizeof o);
        o.runtime   = site.rt;
        o.scheduler = site.url;
        o.security  = &site.security;
        ck_assert_msg(scaler_client_create(&o, &site.client, &err) == 0, "%s", err.text);
        ck_assert_msg(scaler_client_start(site.client, &err) == 0, "%s", err.text);
        ck_assert_int_eq(scaler_client_wait_ready(site.client, WAIT_MS), 0);
}

static void down(void)
{
        scaler_client_destroy(site.client);
        for (int i = 0; i < WORKERS_MAX; i++)
                scaler_worker_destroy(site.workers[i]);
        scaler_scheduler_destroy(site.scheduler);
        scaler_runtime_destroy(site.rt);
}

static scaler_future *go(const char *function, int64_t value)
{
        scaler_future *f;
        ck_assert_int_eq(start(site.client, function, value, &f), 0);
        return f;
}

static int64_t result(scaler_future *f)
{
        scaler_blob   *blob;
        scaler_failure failure;
        int64_t        value;
        scaler_init(&failure, sizeof failure);
        const int status = scaler_future_result(f, 6 * WAIT_MS, &blob);
        scaler_future_failure(f, &failure);
        ck_assert_msg(status == 0, "%s: %s", scaler_status_name(status), failure.text);
        memcpy(&value, scaler_blob_data(blob), sizeof value);
        scaler_blob_unref(blob);
        scaler_future_unref(f);
        return value;
}

static scaler_failure failure_of(scaler_future *f)
{
        scaler_failure failure;
        scaler_init(&failure, sizeof failure);
        ck_assert_int_eq(scaler_future_wait(f, WAIT_MS), 0);
        ck_assert_int_eq(scaler_future_failure(f, &failure), 0);
        return failure;
}

static uint32_t rows(void)
{
        scaler_scheduler_stats s;
        scaler_init(&s, sizeof s);
        ck_assert_int_eq(scaler_scheduler_stats_get(site.scheduler, &s), 0);
        return s.tasks_waiting + s.tasks_ready + s.tasks_assigned + s.tasks_unacknowledged + s.tasks_kept;
}

static void nothing_is_left(void)
{
        for (int i = 0; i < WAIT_MS && rows() > 0; i++)
                nap();
        ck_assert_uint_eq(rows(), 0);
}

/* ---- tests ------------------------------------------------------------------------------------------------- */

START_TEST(recursion_finishes_on_one_slot)
{
        up(_i, 1, 1, NULL);
        ck_assert_int_eq(result(go("fib", 20)), 6765);
        ck_assert_int_eq(atomic_load(&active_most), 1);
        nothing_is_left();
        down();
}
END_TEST

START_TEST(a_thousand_parents_wait_for_their_children_on_two_slots)
{
        enum { PARENTS = 1000 };
        static scaler_future *f[PARENTS];
        up(_i, 1, 2, NULL);
        for (int i = 0; i < PARENTS; i++)
                f[i] = go("fan", 10);
        for (int i = 0; i < PARENTS; i++)
                ck_assert_int_eq(result(f[i]), 55);
        ck_assert_int_le(atomic_load(&active_most), 2);
        nothing_is_left();
        down();
}
END_TEST

START_TEST(two_workers_share_what_nested_tasks_submit)
{
        up(_i, 2, 2, NULL);
        ck_assert_int_eq(result(go("fib", 14)), 377);
        ck_assert_int_le(atomic_load(&active_most), 4);
        down();
}
END_TEST

START_TEST(five_hundred_deep_is_no_matter)
{
        up(_i, 1, 1, NULL);
        ck_assert_int_eq(result(go("chain", 500)), 500);
        down();
}
END_TEST

START_TEST(as_many_as_may_wait_do_and_one_more_is_told_so)
{
        up(0, 1, 1, NULL);
        scaler_future       *f       = go("chain", 1100);
        const scaler_failure failure = failure_of(f);
        scaler_future_unref(f);
        ck_assert_int_eq(failure.reason, SCALER_REASON_TASK);
        ck_assert_int_eq(failure.code, SCALER_E_TASK); /* of the one below it, whose wait was refused */
        ck_assert_int_eq(result(go("chain", 1000)), 1000);
        down();
}
END_TEST

START_TEST(what_fits_only_into_what_its_parent_holds_would_deadlock)
{
        char id[SCALER_ID_TEXT_MAX];
        scaler_future *f;
        up(_i, 1, 2, "gpu=1");
        ck_assert_int_eq(start_with(site.client, "greedy", "gpu=1", 0, NULL, &f), 0);
        const scaler_failure failure = failure_of(f);
        ck_assert_int_eq(failure.code, SCALER_REASON_WOULD_DEADLOCK);
        ck_assert_ptr_nonnull(strstr(failure.text, "would deadlock"));
        ck_assert_ptr_nonnull(strstr(failure.text, scaler_id_format(scaler_future_id(f), id)));
        scaler_future_unref(f);
        down();
}
END_TEST

START_TEST(what_fits_elsewhere_does_not)
{
        scaler_future *f;
        up(_i, 2, 1, "gpu=1");
        ck_assert_int_eq(start_with(site.client, "greedy", "gpu=1", 0, NULL, &f), 0);
        ck_assert_int_eq(failure_of(f).code, SCALER_REASON_SUCCESS);
        scaler_future_unref(f);
        down();
}
END_TEST

START_TEST(a_cancelled_parent_stops_waiting_and_its_children_stop)
{
        up(_i, 1, 1, NULL);
        scaler_future *f = go("wait_for_stay", 0);
        await(&began, 1);
        ck_assert_int_eq(scaler_future_cancel_wait(f, 0, WAIT_MS), SCALER_CANCEL_DONE);
        ck_assert_int_eq(failure_of(f).reason, SCALER_REASON_CANCELLED);
        await(&saw_stop, 1);
        ck_assert_int_eq(atomic_load(&last_status), SCALER_E_CANCELLED);
        scaler_future_unref(f);
        nothing_is_left();
        down();
}
END_TEST

START_TEST(a_time_limit_counts_waiting)
{
        scaler_spec    spec;
        scaler_future *f;
        up(_i, 1, 1, NULL);
        scaler_init(&spec, sizeof spec);
        spec.function   = "wait_for_stay";
        spec.timeout_ms = 100;
        ck_assert_int_eq(scaler_client_submit(site.client, &spec, &f, NULL), 0);
        ck_assert_int_eq(failure_of(f).reason, SCALER_REASON_RUN_TIMEOUT);
        await(&saw_stop, 1);
        scaler_future_unref(f);
        down();
}
END_TEST

START_TEST(children_that_are_left_behind_are_cancelled)
{
        up(_i, 1, 2, NULL);
        scaler_future *f = go("leave_stay", 0);
        ck_assert_int_eq(scaler_future_result(f, WAIT_MS, NULL), 0);
        scaler_future_unref(f);
        nothing_is_left();
        ck_assert_int_eq(atomic_load(&saw_stop), atomic_load(&began));
        down();
}
END_TEST

START_TEST(a_queue_and_all_of_them_may_be_waited_for)
{
        up(_i, 1, 1, NULL);
        ck_assert_int_eq(result(go("collect", 0)), 55);
        down();
}
END_TEST

START_TEST(a_thread_that_is_no_tasks_gives_no_slot_away)
{
        up(_i, 1, 1, NULL);
        scaler_future *f = go("foreign", 0);
        ck_assert_int_eq(failure_of(f).code, 0);
        scaler_future_unref(f);
        down();
}
END_TEST

START_TEST(the_client_of_tasks_stays_the_librarys)
{
        up(_i, 1, 1, NULL);
        scaler_future *f = go("meddle", 0);
        ck_assert_int_eq(failure_of(f).code, 0);
        scaler_future_unref(f);
        down();
}
END_TEST

START_TEST(a_task_may_submit_a_graph)
{
        up(_i, 1, 1, NULL);
        ck_assert_int_eq(result(go("plan", 0)), 22);
        nothing_is_left();
        down();
}
END_TEST

START_TEST(a_worker_goes_while_its_tasks_wait)
{
        up(_i, 1, 2, NULL);
        scaler_future *f = go("wait_for_stay", 0);
        await(&began, 1);
        scaler_worker_destroy(site.workers[0]);
        site.workers[0] = NULL;
        ck_assert_int_eq(atomic_load(&last_status), SCALER_E_CANCELLED);
        ck_assert_int_eq(scaler_future_state(f), SCALER_TASK_PENDING); /* for another worker */
        scaler_future_unref(f);
        down();
}
END_TEST

START_TEST(a_worker_says_how_many_wait)
{
        scaler_worker_stats s;
        up(_i, 1, 1, NULL);
        scaler_future *f = go("wait_for_stay", 0);
        await(&began, 1);
        scaler_init(&s, sizeof s);
        ck_assert_int_eq(scaler_worker_stats_get(site.workers[0], &s), 0);
        ck_assert_uint_eq(s.running, 2);
        ck_assert_uint_eq(s.waiting, 1);
        atomic_store(&released, true);
        ck_assert_int_eq(scaler_future_result(f, WAIT_MS, NULL), 0);
        scaler_future_unref(f);
        down();
}
END_TEST

START_TEST(parents_and_children_outlive_the_scheduler)
{
        up(1, 1, 1, NULL);
        scaler_future *f = go("wait_for_stay", 0);
        await(&began, 1);
        char url[256];
        snprintf(url, sizeof url, "%s", site.url);
        scaler_scheduler_destroy(site.scheduler);
        start_scheduler(url);
        ck_assert_int_eq(scaler_worker_wait_ready(site.workers[0], WAIT_MS), 0);
        ck_assert_int_eq(scaler_client_wait_ready(site.client, WAIT_MS), 0);
        atomic_store(&released, true);
        ck_assert_int_eq(scaler_future_result(f, WAIT_MS, NULL), 0);
        ck_assert_int_eq(atomic_load(&began), 1);
        scaler_future_unref(f);
        nothing_is_left();
        down();
}
END_TEST

int main(void)
{
        TCase *t = tcase_create("nested");
        tcase_set_timeout(t, 170);
        tcase_add_loop_test(t, recursion_finishes_on_one_slot, 0, 2);
        tcase_add_loop_test(t, a_thousand_parents_wait_for_their_children_on_two_slots, 0, 2);
        tcase_add_loop_test(t, two_workers_share_what_nested_tasks_submit, 0, 2);
        tcase_add_loop_test(t, five_hundred_deep_is_no_matter, 0, 2);
        tcase_add_test(t, as_many_as_may_wait_do_and_one_more_is_told_so);
        tcase_add_loop_test(t, what_fits_only_into_what_its_parent_holds_would_deadlock, 0, 2);
        tcase_add_loop_test(t, what_fits_elsewhere_does_not, 0, 2);
        tcase_add_loop_test(t, a_cancelled_parent_stops_waiting_and_its_children_stop, 0, 2);
        tcase_add_loop_test(t, a_time_limit_counts_waiting, 0, 2);
        tcase_add_loop_test(t, children_that_are_left_behind_are_cancelled, 0, 2);
        tcase_add_loop_test(t, a_queue_and_all_of_them_may_be_waited_for, 0, 2);
        tcase_add_loop_test(t, a_thread_that_is_no_tasks_gives_no_slot_away, 0, 2);
        tcase_add_loop_test(t, the_client_of_tasks_stays_the_librarys, 0, 2);
        tcase_add_loop_test(t, a_task_may_submit_a_graph, 0, 2);
        tcase_add_loop_test(t, a_worker_goes_while_its_tasks_wait, 0, 2);
        tcase_add_loop_test(t, a_worker_says_how_many_wait, 0, 2);
        tcase_add_test(t, parents_and_children_outlive_the_scheduler);
        return run_suite("nested", t);
}
