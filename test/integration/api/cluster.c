/* See cluster.h. */
#include "cluster.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct gate {
        pthread_mutex_t lock;
        pthread_cond_t  changed;
        bool            open;
        int             running;
};

static void gate_init(struct gate *g)
{
        pthread_condattr_t attr;
        pthread_condattr_init(&attr);
        pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
        pthread_mutex_init(&g->lock, NULL);
        pthread_cond_init(&g->changed, &attr);
        pthread_condattr_destroy(&attr);
        g->open    = false;
        g->running = 0;
}

/* Locked: one short wait, since a cancel does not signal. */
static void gate_nap(struct gate *g)
{
        struct timespec at;
        clock_gettime(CLOCK_MONOTONIC, &at);
        at.tv_nsec += 2000000;
        if (at.tv_nsec >= 1000000000) {
                at.tv_nsec -= 1000000000;
                at.tv_sec++;
        }
        pthread_cond_timedwait(&g->changed, &g->lock, &at);
}

static int hold(scaler_task *t, struct gate *g, bool obedient)
{
        pthread_mutex_lock(&g->lock);
        g->running++;
        pthread_cond_broadcast(&g->changed);
        while (!g->open && !(obedient && scaler_task_cancelled(t)))
                gate_nap(g);
        const int code = g->open ? 0 : 1;
        pthread_mutex_unlock(&g->lock);
        return code;
}

static int fn_block(scaler_task *t, void *ctx)
{
        return hold(t, ctx, true);
}

static int fn_stubborn(scaler_task *t, void *ctx)
{
        return hold(t, ctx, false);
}

static int fn_echo(scaler_task *t, void *ctx)
{
        size_t      size = 0;
        const void *arg  = scaler_task_arg(t, 0, &size);
        (void)ctx;
        return scaler_task_return_copy(t, arg, size);
}

static int fn_fail(scaler_task *t, void *ctx)
{
        size_t       size = 0;
        const void  *arg  = scaler_task_arg(t, 0, &size);
        scaler_blob *detail;
        (void)ctx;
        if (scaler_blob_copy(NULL, arg, size, &detail) != 0)
                return -1;
        return scaler_task_fail(t, 7, "as asked", detail);
}

static int32_t number(const scaler_task *t)
{
        size_t         size = 0;
        const int32_t *arg  = scaler_task_arg(t, 0, &size);
        return size == sizeof *arg ? *arg : -1;
}

static int fn_code(scaler_task *t, void *ctx)
{
        (void)ctx;
        return number(t);
}

static int fn_attempt(scaler_task *t, void *ctx)
{
        char text[16];
        (void)ctx;
        if ((int32_t)scaler_task_attempt(t) < number(t))
                return 3;
        int len = snprintf(text, sizeof text, "%u", scaler_task_attempt(t));
        return scaler_task_return_copy(t, text, (size_t)len);
}

static int fn_big(scaler_task *t, void *ctx)
{
        const size_t size = (size_t)number(t);
        void        *data;
        scaler_blob *blob;
        (void)ctx;
        if (scaler_blob_alloc(NULL, size, &data, &blob) != 0)
                return -1;
        memset(data, 'x', size);
        const int status = scaler_task_return(t, blob);
        if (status != 0)
                scaler_blob_unref(blob);
        return status;
}

static void *complete(void *task)
{
        scaler_task_complete(task, number(task));
        return NULL;
}

static int fn_aligned(scaler_task *t, void *ctx)
{
        (void)ctx;
        for (size_t i = 0; i < scaler_task_arg_count(t); i++)
                if ((uintptr_t)scaler_task_arg(t, i, NULL) % _Alignof(max_align_t) != 0)
                        return (int)i + 1;
        return 0;
}

static int fn_log(scaler_task *t, void *ctx)
{
        (void)ctx;
        return scaler_task_log(t, SCALER_LOG_INFO, "as asked");
}

static int fn_hasty(scaler_task *t, void *ctx)
{
        (void)ctx;
        scaler_task_complete(t, 3);
        return 0;
}

static int fn_defer(scaler_task *t, void *ctx)
{
        pthread_t thread;
        (void)ctx;
        if (scaler_task_defer(t) != 0 || pthread_create(&thread, NULL, complete, t) != 0)
                return -1;
        pthread_detach(thread);
        return 99; /* of no account: complete() says how it ended */
}

void cluster_functions(struct cluster *c, int (*add)(void *to, const scaler_function *f), void *to)
{
        const struct {
                const char    *name;
                scaler_task_fn fn;
        } all[] = { { "echo", fn_echo },   { "fail", fn_fail },         { "code", fn_code },
                    { "block", fn_block }, { "stubborn", fn_stubborn }, { "attempt", fn_attempt },
                    { "defer", fn_defer }, { "big", fn_big },           { "aligned", fn_aligned },
                    { "hasty", fn_hasty }, { "log", fn_log } };
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
                scaler_function f;
                scaler_init(&f, sizeof f);
                f.name = all[i].name;
                f.fn   = all[i].fn;
                f.ctx  = c->gate;
                ck_assert_int_eq(add(to, &f), 0);
        }
}

static int add_local(void *to, const scaler_function *f)
{
        return scaler_local_register(to, f);
}

void cluster_up_with(struct cluster *c, int slots, const scaler_runtime_options *options)
{
        scaler_error err = { .status = 0 };
        memset(c, 0, sizeof *c);
        c->gate = malloc(sizeof *c->gate);
        ck_assert_ptr_nonnull(c->gate);
        gate_init(c->gate);
        ck_assert_msg(scaler_runtime_create(options, &c->rt, &err) == 0, "%s", err.text);
        scaler_local_options o;
        scaler_init(&o, sizeof o);
        o.runtime = c->rt;
        o.slots   = slots;
        ck_assert_msg(scaler_local_create(&o, &c->local, &err) == 0, "%s", err.text);
        cluster_functions(c, add_local, c->local);
        ck_assert_msg(scaler_local_start(c->local, &err) == 0, "%s", err.text);
        c->client = scaler_local_client(c->local);
        ck_assert_int_eq(scaler_client_wait_ready(c->client, WAIT_MS), 0);
}

void cluster_up(struct cluster *c, int slots)
{
        cluster_up_with(c, slots, NULL);
}

void cluster_release(struct cluster *c)
{
        pthread_mutex_lock(&c->gate->lock);
        c->gate->open = true;
        pthread_cond_broadcast(&c->gate->changed);
        pthread_mutex_unlock(&c->gate->lock);
}

void cluster_await_running(struct cluster *c, int n)
{
        struct timespec begin, now;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        pthread_mutex_lock(&c->gate->lock);
        do {
                if (c->gate->running < n)
                        gate_nap(c->gate);
                clock_gettime(CLOCK_MONOTONIC, &now);
        } while (c->gate->running < n && now.tv_sec - begin.tv_sec < WAIT_MS / 1000);
        const int running = c->gate->running;
        pthread_mutex_unlock(&c->gate->lock);
        ck_assert_int_ge(running, n);
}

void cluster_down(struct cluster *c)
{
        cluster_release(c);
        scaler_local_destroy(c->local);
        scaler_runtime_destroy(c->rt);
        pthread_mutex_destroy(&c->gate->lock);
        pthread_cond_destroy(&c->gate->changed);
        free(c->gate);
}

scaler_future *submit_spec(scaler_client *client, const scaler_spec *spec)
{
        scaler_error   err = { .status = 0 };
        scaler_future *f   = NULL;
        ck_assert_msg(scaler_client_submit(client, spec, &f, &err) == 0, "%s", err.text);
        return f;
}

scaler_future *submit(scaler_client *client, const char *function, const void *arg, size_t size)
{
        const scaler_arg a = scaler_arg_bytes(arg, size);
        scaler_spec      spec;
        scaler_init(&spec, sizeof spec);
        spec.function  = function;
        spec.args      = &a;
        spec.arg_count = 1;
        return submit_spec(client, &spec);
}

scaler_future *submit_command(scaler_client *client, const char *const *argv, uint32_t flags)
{
        scaler_command command;
        scaler_spec    spec;
        scaler_init(&command, sizeof command);
        scaler_init(&spec, sizeof spec);
        command.argv  = argv;
        command.flags = flags;
        spec.command  = &command;
        return submit_spec(client, &spec);
}

void expect_bytes(scaler_future *f, const void *bytes, size_t size)
{
        scaler_blob *blob   = NULL;
        const int    status = scaler_future_result(f, WAIT_MS, &blob);
        ck_assert_msg(status == 0, "%s", scaler_status_name(status));
        ck_assert_uint_eq(scaler_blob_size(blob), size);
        ck_assert_int_eq(memcmp(scaler_blob_data(blob), bytes, size), 0);
        scaler_blob_unref(blob);
        scaler_future_unref(f);
}

void expect_text(scaler_future *f, const char *text)
{
        expect_bytes(f, text, strlen(text));
}

void expect_failure(scaler_future *f, int status, int reason, int code)
{
        scaler_failure failure;
        scaler_init(&failure, sizeof failure);
        const int got = scaler_future_result(f, WAIT_MS, NULL);
        ck_assert_msg(got == status, "%s, not %s", scaler_status_name(got), scaler_status_name(status));
        ck_assert_int_eq(scaler_future_failure(f, &failure), 0);
        ck_assert_str_eq(scaler_reason_name(failure.reason), scaler_reason_name(reason));
        ck_assert_int_eq(failure.code, code);
}

int run_suite(const char *name, TCase *tests)
{
        Suite *suite = suite_create(name);
        suite_add_tcase(suite, tests);
        SRunner *runner = srunner_create(suite);
        srunner_set_fork_status(runner, CK_NOFORK);
        srunner_run_all(runner, CK_ENV);
        const int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
        srunner_free(runner);
        return failed == 0 && ran > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
