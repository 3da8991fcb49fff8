/* Runtimes and roles as guests: host-driven turns, allocators, logs, several clusters, tokens, admin. */
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "cluster.h"

/* ---- an allocator that counts, and can be told to fail ---------------------------------------------- */

struct counting {
        _Atomic long blocks;
        _Atomic long asked;
        long         fail_at; /* from 1; 0: never */
};

static bool refused(struct counting *n)
{
        return atomic_fetch_add(&n->asked, 1) + 1 == n->fail_at;
}

static void *count_alloc(void *ctx, size_t size)
{
        struct counting *n = ctx;
        void            *p = refused(n) ? NULL : malloc(size);
        if (p)
                atomic_fetch_add(&n->blocks, 1);
        return p;
}

static void *count_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
        struct counting *n = ctx;
        (void)old_size;
        if (refused(n))
                return NULL;
        void *p = realloc(ptr, new_size);
        if (p && !ptr)
                atomic_fetch_add(&n->blocks, 1);
        return p;
}

static void count_release(void *ctx, void *ptr, size_t size)
{
        struct counting *n = ctx;
        (void)size;
        if (ptr)
                atomic_fetch_sub(&n->blocks, 1);
        free(ptr);
}

static scaler_allocator counting_allocator(struct counting *n)
{
        scaler_allocator a;
        scaler_init(&a, sizeof a);
        a.ctx     = n;
        a.alloc   = count_alloc;
        a.resize  = count_resize;
        a.release = count_release;
        return a;
}

START_TEST(all_memory_goes_back_to_the_hosts_allocator)
{
        struct counting        n = { .fail_at = 0 };
        const scaler_allocator a = counting_allocator(&n);
        scaler_runtime_options o;
        scaler_init(&o, sizeof o);
        o.allocator = &a;
        struct cluster c;
        cluster_up_with(&c, 2, &o);
        for (int i = 0; i < 100; i++)
                expect_text(submit(c.client, "echo", "x", 1), "x");
        ck_assert_int_gt(atomic_load(&n.blocks), 0);
        cluster_down(&c);
        ck_assert_int_eq(atomic_load(&n.blocks), 0);
}
END_TEST

/* One life of a cluster under an allocator that fails once: any status may come, nothing may break. */
static void live_once(struct counting *n)
{
        const scaler_allocator a = counting_allocator(n);
        scaler_runtime_options ro;
        scaler_runtime        *rt    = NULL;
        scaler_local          *local = NULL;
        scaler_init(&ro, sizeof ro);
        ro.allocator = &a;
        if (scaler_runtime_create(&ro, &rt, NULL) != 0)
                return;
        scaler_local_options lo;
        scaler_init(&lo, sizeof lo);
        lo.runtime          = rt;
        lo.slots            = 1;
        if (scaler_local_create(&lo, &local, NULL) == 0 && scaler_local_start(local, NULL) == 0) {
                scaler_client    *client = scaler_local_client(local);
                const char *const argv[] = { "echo", "x", NULL };
                scaler_command    command;
                scaler_spec       spec;
                scaler_init(&command, sizeof command);
                scaler_init(&spec, sizeof spec);
                command.argv          = argv;
                spec.command          = &command;
                scaler_future *future = NULL;
                if (scaler_client_submit(client, &spec, &future, NULL) == 0) {
                        ck_assert_int_eq(scaler_future_wait(future, WAIT_MS), 0);
                        scaler_future_unref(future);
                }
        }
        scaler_local_destroy(local);
        scaler_runtime_destroy(rt);
}

START_TEST(each_allocation_may_fail_once_and_nothing_leaks_or_hangs)
{
        for (long at = 1;; at++) {
                struct counting n = { .fail_at = at };
                live_once(&n);
                ck_assert_msg(atomic_load(&n.blocks) == 0, "allocation %ld failed: %ld blocks left", at,
                              atomic_load(&n.blocks));
                if (atomic_load(&n.asked) < at)
                        return; /* the last life had no failure */
        }
}
END_TEST

START_TEST(a_runtime_holds_no_more_memory_than_it_may)
{
        scaler_runtime_options o;
        scaler_runtime        *rt;
        scaler_init(&o, sizeof o);
        o.memory_max = 100000;
        ck_assert_int_eq(scaler_runtime_create(&o, &rt, NULL), 0);
        void        *data;
        scaler_blob *blob = NULL;
        ck_assert_int_eq(scaler_blob_alloc(rt, 200000, &data, &blob), SCALER_E_NOMEM);
        ck_assert_int_eq(scaler_blob_alloc(rt, 50000, &data, &blob), 0);
        scaler_blob_unref(blob);
        scaler_runtime_destroy(rt);
}
END_TEST

/* ---- logs ------------------------------------------------------------------------------------------------ */

struct log_seen {
        struct cluster *c;
        _Atomic int     lines, refusals;
};

static void log_and_call(void *ctx, const scaler_log_record *record)
{
        struct log_seen *seen = ctx;
        atomic_fetch_add(&seen->lines, 1);
        ck_assert_ptr_nonnull(record->line);
        if (seen->c && seen->c->client && scaler_client_wait_all(seen->c->client, WAIT_MS) == SCALER_E_STATE)
                atomic_fetch_add(&seen->refusals, 1);
}

START_TEST(a_blocking_call_from_a_log_callback_is_refused_and_nothing_hangs)
{
        struct cluster         c    = { .client = NULL };
        struct log_seen        seen = { .c = NULL };
        scaler_runtime_options o;
        scaler_init(&o, sizeof o);
        o.log       = log_and_call;
        o.log_ctx   = &seen;
        o.log_level = SCALER_LOG_DEBUG;
        cluster_up_with(&c, 1, &o);
        seen.c = &c;
        /* A client that finds nobody gives up, and says so in a turn of this very runtime. */
        scaler_client_options co;
        scaler_client        *client;
        scaler_init(&co, sizeof co);
        co.runtime      = c.rt;
        co.scheduler    = "inproc://nobody-is-here";
        co.reconnect_ms = 50;
        ck_assert_int_eq(scaler_client_create(&co, &client, NULL), 0);
        ck_assert_int_eq(scaler_client_start(client, NULL), 0);
        ck_assert_int_eq(scaler_client_wait_ready(client, WAIT_MS), SCALER_E_UNREACHABLE);
        scaler_client_destroy(client);
        expect_text(submit(c.client, "echo", "x", 1), "x");
        seen.c = NULL;
        cluster_down(&c);
        ck_assert_int_gt(atomic_load(&seen.refusals), 0);
}
END_TEST

struct task_log {
        scaler_client *client;
        scaler_future *blocked; /* does not end before the callback has returned */
        _Atomic int    lines;
};

static void log_of_a_task(void *ctx, const scaler_log_record *record)
{
        struct task_log *seen = ctx;
        if (strcmp(record->role, "task") != 0)
                return;
        ck_assert_int_eq(scaler_client_wait_all(seen->client, WAIT_MS), SCALER_E_STATE);
        ck_assert_int_eq(scaler_client_wait_ready(seen->client, WAIT_MS), SCALER_E_STATE);
        ck_assert_int_eq(scaler_client_stop(seen->client, WAIT_MS), SCALER_E_STATE);
        ck_assert_int_eq(scaler_future_wait(seen->blocked, WAIT_MS), SCALER_E_STATE);
        ck_assert_int_eq(scaler_future_result(seen->blocked, WAIT_MS, NULL), SCALER_E_STATE);
        ck_assert_int_eq(scaler_future_wait(seen->blocked, 0), SCALER_E_TIMEOUT); /* what does not wait may be asked */
        scaler_future_unref(submit(seen->client, "echo", "x", 1));
        atomic_fetch_add(&seen->lines, 1);
}

START_TEST(a_blocking_call_is_refused_when_the_line_is_a_tasks_own)
{
        struct cluster         c;
        struct task_log        seen = { .lines = 0 };
        scaler_runtime_options o;
        scaler_init(&o, sizeof o);
        o.log     = log_of_a_task;
        o.log_ctx = &seen;
        cluster_up_with(&c, 2, &o);
        seen.client  = c.client;
        seen.blocked = submit(c.client, "block", "", 0);
        cluster_await_running(&c, 1);
        expect_text(submit(c.client, "log", "", 0), "");
        ck_assert_int_eq(atomic_load(&seen.lines), 1);
        cluster_release(&c);
        expect_text(seen.blocked, "");
        ck_assert_int_eq(scaler_client_wait_all(c.client, WAIT_MS), 0); /* the callback's own task, too */
        cluster_down(&c);
}
END_TEST

/* ---- host driven ------------------------------------------------------------------------------------------- */

START_TEST(a_host_turns_the_runtime_by_its_descriptor)
{
        scaler_runtime_options o;
        scaler_runtime        *rt;
        scaler_local          *local;
        scaler_init(&o, sizeof o);
        o.host_driven = true;
        ck_assert_int_eq(scaler_runtime_create(&o, &rt, NULL), 0);
        scaler_local_options lo;
        scaler_init(&lo, sizeof lo);
        lo.runtime = rt;
        lo.slots   = 1;
        ck_assert_int_eq(scaler_local_create(&lo, &local, NULL), 0);
        ck_assert_int_eq(scaler_local_start(local, NULL), 0);
        const char *const argv[] = { "echo", "hosted", NULL };
        scaler_future    *f      = submit_command(scaler_local_client(local), argv, 0);
        struct pollfd     p      = { .fd = scaler_runtime_fd(rt), .events = POLLIN };
        ck_assert_int_ge(p.fd, 0);
        for (int i = 0; i < 10000 && scaler_future_wait(f, 0) == SCALER_E_TIMEOUT; i++) {
                ck_assert_int_ge(poll(&p, 1, WAIT_MS), 0);
                ck_assert_int_ge(scaler_runtime_turn(rt, 0), 0);
        }
        expect_text(f, "hosted\n");
        scaler_local_destroy(local);
        scaler_runtime_destroy(rt);
}
END_TEST

START_TEST(a_blocking_call_on_a_host_driven_runtime_turns_it)
{
        struct cluster         c;
        scaler_runtime_options o;
        scaler_init(&o, sizeof o);
        o.host_driven = true;
        cluster_up_with(&c, 2, &o); /* waits for ready, which takes turns */
        for (int i = 0; i < 100; i++)
                expect_text(submit(c.client, "echo", "y", 1), "y");
        scaler_queue *q;
        ck_assert_int_eq(scaler_queue_create(c.rt, &q, NULL), 0);
        scaler_spec spec;
        scaler_init(&spec, sizeof spec);
        spec.function = "echo";
        spec.queue    = q;
        ck_assert_int_eq(scaler_client_submit(c.client, &spec, NULL, NULL), 0);
        scaler_future *f;
        ck_assert_int_eq(scaler_queue_next(q, WAIT_MS, &f), 0);
        scaler_future_unref(f);
        scaler_queue_destroy(q);
        cluster_down(&c);
}
END_TEST

START_TEST(turn_and_descriptor_are_the_hosts_alone)
{
        scaler_runtime *rt;
        ck_assert_int_eq(scaler_runtime_create(NULL, &rt, NULL), 0);
        ck_assert_int_eq(scaler_runtime_turn(rt, 0), SCALER_E_STATE);
        ck_assert_int_eq(scaler_runtime_fd(rt), SCALER_E_STATE);
        scaler_runtime_destroy(rt);
}
END_TEST

/* ---- several of everything ----------------------------------------------------------------------------------- */

static int who(scaler_task *t, void *ctx)
{
        return scaler_task_return_copy(t, ctx, 1);
}

struct site {
        scaler_scheduler *scheduler;
        scaler_worker    *worker[5];
        scaler_client    *client;
};

static void site_up(struct site *s, const char *listen, int workers, const char *name)
{
        scaler_error             err = { .status = 0 };
        scaler_scheduler_options so;
        scaler_init(&so, sizeof so);
        so.listen       = &listen;
        so.listen_count = 1;
        memset(s, 0, sizeof *s);
        ck_assert_msg(scaler_scheduler_create(&so, &s->scheduler, &err) == 0, "%s", err.text);
        ck_assert_msg(scaler_scheduler_start(s->scheduler, &err) == 0, "%s", err.text);
        const char *url = scaler_scheduler_address(s->scheduler, 0);
        for (int i = 0; i < workers; i++) {
                scaler_worker_options wo;
                scaler_function       f;
                scaler_init(&wo, sizeof wo);
                scaler_init(&f, sizeof f);
                wo.scheduler = url;
                wo.slots     = 1;
                f.name       = "who";
                f.fn         = who;
                f.ctx        = (void *)(uintptr_t)name;
                ck_assert_msg(scaler_worker_create(&wo, &s->worker[i], &err) == 0, "%s", err.text);
                ck_assert_int_eq(scaler_worker_register(s->worker[i], &f), 0);
                ck_assert_int_eq(scaler_worker_register(s->worker[i], &f), SCALER_E_EXISTS);
                ck_assert_msg(scaler_worker_start(s->worker[i], &err) == 0, "%s", err.text);
        }
        scaler_client_options co;
        scaler_init(&co, sizeof co);
        co.scheduler = url;
        ck_assert_msg(scaler_client_create(&co, &s->client, &err) == 0, "%s", err.text);
        ck_assert_msg(scaler_client_start(s->client, &err) == 0, "%s", err.text);
}

static void site_down(struct site *s)
{
        scaler_client_destroy(s->client);
        for (int i = 0; i < 5; i++)
                scaler_worker_destroy(s->worker[i]);
        scaler_scheduler_destroy(s->scheduler);
}

START_TEST(two_schedulers_and_five_workers_in_one_process_do_not_mix)
{
        struct site a, b;
        site_up(&a, "tcp://127.0.0.1:0", 2, "a");
        site_up(&b, "inproc://site-b", 3, "b");
        scaler_future *fa[200], *fb[200];
        for (int i = 0; i < 200; i++) {
                fa[i] = submit(a.client, "who", "", 0);
                fb[i] = submit(b.client, "who", "", 0);
        }
        for (int i = 0; i < 200; i++) {
                expect_text(fa[i], "a");
                expect_text(fb[i], "b");
        }
        site_down(&a);
        site_down(&b);
}
END_TEST

START_TEST(a_scheduler_listens_on_several_addresses_and_tells_the_real_ones)
{
        const char *const        listen[] = { "tcp://127.0.0.1:0", "inproc://several", "tcp://127.0.0.1:0" };
        scaler_scheduler_options o;
        scaler_scheduler        *s;
        scaler_init(&o, sizeof o);
        o.listen       = listen;
        o.listen_count = 3;
        ck_assert_int_eq(scaler_scheduler_create(&o, &s, NULL), 0);
        ck_assert_ptr_null(scaler_scheduler_address(s, 0));
        ck_assert_int_eq(scaler_scheduler_start(s, NULL), 0);
        ck_assert_str_ne(scaler_scheduler_address(s, 0), listen[0]);
        ck_assert_str_eq(scaler_scheduler_address(s, 1), listen[1]);
        ck_assert_str_ne(scaler_scheduler_address(s, 2), scaler_scheduler_address(s, 0));
        ck_assert_ptr_null(scaler_scheduler_address(s, 3));
        scaler_scheduler_destroy(s);
}
END_TEST

static int start_status(const char *url, const scaler_security *security, scaler_error *err)
{
        scaler_scheduler_options o;
        scaler_scheduler        *s;
        scaler_init(&o, sizeof o);
        o.listen       = &url;
        o.listen_count = 1;
        o.security     = security;
        ck_assert_int_eq(scaler_scheduler_create(&o, &s, err), 0);
        const int status = scaler_scheduler_start(s, err);
        scaler_scheduler_destroy(s);
        return status;
}

START_TEST(an_address_that_is_no_good_is_refused_with_words_that_name_it)
{
        const char *const bad[] = { "tcp://",   "nonsense",     "tcp://127.0.0.1:99999",
                                    "ipc://",   "gopher://x:1", "tcp://127.0.0.1:http",
                                    "inproc://" };
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
                scaler_error    err = { .status = 0 };
                scaler_security security;
                scaler_init(&security, sizeof security);
                security.insecure = true;
                const int status  = start_status(bad[i], &security, &err);
                ck_assert_msg(status < 0, "%s was taken", bad[i]);
                ck_assert_int_eq(err.status, status);
                ck_assert_msg(strstr(err.text, bad[i]) != NULL, "%s: %s", bad[i], err.text);
        }
}
END_TEST

START_TEST(nobody_listens_to_the_world_without_a_token)
{
        scaler_error    err = { .status = 0 };
        scaler_security security;
        scaler_init(&security, sizeof security);
        ck_assert_int_eq(start_status("tcp://0.0.0.0:0", NULL, &err), SCALER_E_DENIED);
        ck_assert_ptr_nonnull(strstr(err.text, "tcp://0.0.0.0:0"));
        security.token = "open sesame";
        ck_assert_int_eq(start_status("tcp://0.0.0.0:0", &security, &err), 0);
        security.token    = NULL;
        security.insecure = true;
        ck_assert_int_eq(start_status("tcp://0.0.0.0:0", &security, &err), 0);
}
END_TEST

START_TEST(mutual_tls_is_refused_on_an_address_that_is_without)
{
        const char *const plain[] = { "tcp://127.0.0.1:0", "ipc:///tmp/scaler-mutual", "abstract://scaler-mutual" };
        scaler_security   security;
        scaler_init(&security, sizeof security);
        security.tls_mutual = true;
        for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
                scaler_error err = { .status = 0 };
                ck_assert_int_eq(start_status(plain[i], &security, &err), SCALER_E_INVALID);
                ck_assert_msg(strstr(err.text, plain[i]) && strstr(err.text, "mutual TLS"), "%s", err.text);
        }
        scaler_error err = { .status = 0 };
        ck_assert_msg(start_status("inproc://scaler-mutual", &security, &err) == 0, "%s", err.text);
}
END_TEST

static int client_status(const char *url, const char *token)
{
        scaler_security security;
        scaler_init(&security, sizeof security);
        security.token = token;
        scaler_client_options o;
        scaler_client        *client;
        scaler_init(&o, sizeof o);
        o.scheduler = url;
        o.security  = &security;
        ck_assert_int_eq(scaler_client_create(&o, &client, NULL), 0);
        ck_assert_int_eq(scaler_client_start(client, NULL), 0);
        const int status = scaler_client_wait_ready(client, WAIT_MS);
        scaler_client_destroy(client);
        return status;
}

START_TEST(the_wrong_token_is_denied_and_the_right_one_is_not)
{
        const char     *url = "tcp://127.0.0.1:0";
        scaler_security security;
        scaler_init(&security, sizeof security);
        security.token = "open sesame";
        scaler_scheduler_options o;
        scaler_scheduler        *s;
        scaler_init(&o, sizeof o);
        o.listen       = &url;
        o.listen_count = 1;
        o.security     = &security;
        ck_assert_int_eq(scaler_scheduler_create(&o, &s, NULL), 0);
        ck_assert_int_eq(scaler_scheduler_start(s, NULL), 0);
        url = scaler_scheduler_address(s, 0);
        ck_assert_int_eq(client_status(url, "open sesame"), 0);
        ck_assert_int_eq(client_status(url, "open sesam"), SCALER_E_DENIED);
        ck_assert_int_eq(client_status(url, "open sesame!"), SCALER_E_DENIED);
        ck_assert_int_eq(client_status(url, NULL), SCALER_E_DENIED);
        scaler_scheduler_destroy(s);
}
END_TEST

struct lines {
        _Atomic int errors, controls;
};

static void count_errors(void *ctx, const scaler_log_record *record)
{
        struct lines *lines = ctx;
        atomic_fetch_add(&lines->errors, record->level == SCALER_LOG_ERROR);
        for (const char *at = record->line; *at; at++)
                atomic_fetch_add(&lines->controls, (unsigned char)*at < ' ');
}

START_TEST(a_client_that_is_denied_says_so_once_ends_its_futures_and_dials_no_more)
{
        const char     *url   = "inproc://denied";
        struct lines    lines = { .errors = 0 };
        scaler_security security;
        scaler_init(&security, sizeof security);
        security.token = "open sesame";
        scaler_scheduler_options so;
        scaler_scheduler        *s;
        scaler_init(&so, sizeof so);
        so.listen       = &url;
        so.listen_count = 1;
        so.security     = &security;
        ck_assert_int_eq(scaler_scheduler_create(&so, &s, NULL), 0);
        ck_assert_int_eq(scaler_scheduler_start(s, NULL), 0);
        scaler_runtime_options ro;
        scaler_runtime        *rt;
        scaler_init(&ro, sizeof ro);
        ro.log     = count_errors;
        ro.log_ctx = &lines;
        ck_assert_int_eq(scaler_runtime_create(&ro, &rt, NULL), 0);
        scaler_client_options co;
        scaler_client        *client;
        scaler_init(&co, sizeof co);
        co.runtime   = rt;
        co.scheduler = url;
        co.name      = "a\nname\033[31m";
        ck_assert_int_eq(scaler_client_create(&co, &client, NULL), 0);
        ck_assert_int_eq(scaler_client_stop(client, 0), 0); /* before its start it stops nothing */
        ck_assert_int_eq(scaler_client_start(client, NULL), 0);
        scaler_spec    spec;
        scaler_future *f = NULL;
        scaler_init(&spec, sizeof spec);
        spec.function    = "echo";
        const int status = scaler_client_submit(client, &spec, &f, NULL);
        ck_assert(status == 0 || status == SCALER_E_DENIED);
        if (status == 0)
                ck_assert_int_eq(scaler_future_result(f, WAIT_MS, NULL), SCALER_E_UNREACHABLE);
        ck_assert_int_eq(scaler_client_wait_ready(client, WAIT_MS), SCALER_E_DENIED);
        ck_assert_int_eq(scaler_client_submit(client, &spec, NULL, NULL), SCALER_E_DENIED);
        scaler_future_unref(f);
        scaler_client_destroy(client);
        scaler_runtime_destroy(rt);
        scaler_scheduler_destroy(s);
        ck_assert_int_eq(atomic_load(&lines.errors), 1);
        ck_assert_int_eq(atomic_load(&lines.controls), 0);
}
END_TEST

START_TEST(an_address_that_cannot_be_dialled_is_refused_with_words)
{
        const char *const bad[] = { "bogus", "tcp://127.0.0.1", "tcp://127.0.0.1:99999", "tcp://127.0.0.1:0" };
        for (size_t i = 0; i < 4; i++) {
                scaler_error          err = { .status = 0 };
                scaler_client_options o;
                scaler_client        *client;
                scaler_init(&o, sizeof o);
                o.scheduler = bad[i];
                ck_assert_int_eq(scaler_client_create(&o, &client, &err), 0);
                ck_assert_int_eq(scaler_client_start(client, &err), SCALER_E_ADDRESS);
                ck_assert_msg(strstr(err.text, bad[i]) != NULL, "%s: %s", bad[i], err.text);
                scaler_client_destroy(client);
        }
}
END_TEST

/* ---- looking ----------------------------------------------------------------------------------------------------- */

static scaler_client *admin_of(struct cluster *c)
{
        scaler_client_options o;
        scaler_client        *admin;
        scaler_init(&o, sizeof o);
        o.runtime   = c->rt;
        o.scheduler = scaler_scheduler_address(scaler_local_scheduler(c->local), 0);
        o.admin     = true;
        ck_assert_int_eq(scaler_client_create(&o, &admin, NULL), 0);
        ck_assert_int_eq(scaler_client_start(admin, NULL), 0);
        ck_assert_int_eq(scaler_client_wait_ready(admin, WAIT_MS), 0);
        return admin;
}

START_TEST(an_admin_sees_everything_and_may_cancel_anybodys_task)
{
        struct cluster c;
        cluster_up(&c, 1);
        scaler_future *running = submit(c.client, "block", "", 0);
        cluster_await_running(&c, 1);
        scaler_future *queued[600];
        for (int i = 0; i < 600; i++)
                queued[i] = submit(c.client, "echo", "", 0);
        scaler_client *admin = admin_of(&c);

        scaler_worker_info worker[4];
        uint64_t           cursor = 0;
        scaler_init(&worker[0], sizeof worker[0]);
        ck_assert_int_eq(scaler_client_workers(admin, &cursor, WAIT_MS, worker, 4), 1);
        ck_assert_uint_eq(cursor, 0);
        ck_assert_uint_eq(worker[0].slots, 1);
        ck_assert_str_eq(worker[0].name, "local-1");

        static scaler_task_info task[256];
        int                     seen = 0, n;
        do {
                scaler_init(&task[0], sizeof task[0]);
                n = scaler_client_tasks(admin, &cursor, WAIT_MS, task, 256);
                ck_assert_int_ge(n, 0);
                seen += n;
        } while (cursor);
        ck_assert_int_eq(seen, 601);

        scaler_scheduler_stats stats;
        scaler_init(&stats, sizeof stats);
        ck_assert_int_eq(scaler_client_scheduler_stats(admin, WAIT_MS, &stats), 0);
        ck_assert_uint_eq(stats.tasks_submitted, 601);
        ck_assert_uint_eq(stats.slots_total, 1);
        ck_assert_int_eq(scaler_client_scheduler_stats(c.client, WAIT_MS, &stats), SCALER_E_DENIED);

        ck_assert_int_eq(scaler_client_cancel(admin, scaler_future_id(queued[599]), 0, WAIT_MS), SCALER_CANCEL_DONE);
        ck_assert_int_eq(scaler_future_result(queued[599], WAIT_MS, NULL), SCALER_E_CANCELLED);
        const scaler_id nobodys[] = { { 1, 2 }, { 0, 1 }, { 1, 0 }, { UINT64_MAX, UINT64_MAX } };
        for (size_t i = 0; i < 4; i++)
                ck_assert_int_eq(scaler_client_cancel(admin, nobodys[i], 0, WAIT_MS), SCALER_CANCEL_NOT_FOUND);
        ck_assert_int_eq(scaler_client_cancel(admin, (scaler_id){ 0, 0 }, 0, WAIT_MS), SCALER_E_INVALID);

        scaler_selector other;
        uint64_t        count = 1;
        scaler_init(&other, sizeof other);
        other.client = (scaler_id){ 0, 1 };
        ck_assert_int_eq(scaler_client_cancel_many(admin, &other, 0, WAIT_MS, &count), 0);
        ck_assert_uint_eq(count, 0);
        other.client = (scaler_id){ 0, scaler_future_id(running).hi };
        ck_assert_int_eq(scaler_client_cancel_many(admin, &other, 0, WAIT_MS, &count), 0);
        ck_assert_uint_eq(count, 600);

        cluster_release(&c);
        for (int i = 0; i < 599; i++) {
                const int status = scaler_future_result(queued[i], WAIT_MS, NULL);
                /* The first lie at the worker already, and a success that beats the cancel stays one. */
                ck_assert(status == SCALER_E_CANCELLED || (status == 0 && i < 8));
        }
        ck_assert_int_le(scaler_future_result(running, WAIT_MS, NULL), 0);
        for (int i = 0; i < 600; i++)
                scaler_future_unref(queued[i]);
        scaler_future_unref(running);
        scaler_client_destroy(admin);
        cluster_down(&c);
}
END_TEST

START_TEST(pending_max_is_kept_and_room_is_waited_for)
{
        struct cluster c;
        cluster_up(&c, 1);
        scaler_client_options o;
        scaler_client        *client;
        scaler_init(&o, sizeof o);
        o.runtime     = c.rt;
        o.scheduler   = scaler_scheduler_address(scaler_local_scheduler(c.local), 0);
        o.pending_max = 10;
        ck_assert_int_eq(scaler_client_create(&o, &client, NULL), 0);
        ck_assert_int_eq(scaler_client_start(client, NULL), 0);
        scaler_future *f[10];
        for (int i = 0; i < 10; i++)
                f[i] = submit(client, i == 0 ? "block" : "echo", "", 0);
        scaler_spec spec;
        scaler_init(&spec, sizeof spec);
        spec.function       = "echo";
        scaler_future *more = NULL;
        ck_assert_int_eq(scaler_client_submit(client, &spec, &more, NULL), SCALER_E_FULL);
        ck_assert_int_eq(scaler_client_submit_wait(client, &spec, 20, &more, NULL), SCALER_E_TIMEOUT);
        cluster_release(&c);
        ck_assert_int_eq(scaler_client_submit_wait(client, &spec, WAIT_MS, &more, NULL), 0);
        for (int i = 0; i < 10; i++)
                expect_text(f[i], "");
        expect_text(more, "");
        scaler_client_destroy(client);
        cluster_down(&c);
}
END_TEST

START_TEST(a_client_without_a_scheduler_gives_up_when_its_time_is_over)
{
        scaler_client_options o;
        scaler_client        *client;
        scaler_init(&o, sizeof o);
        o.scheduler    = "inproc://nobody-listens-here";
        o.reconnect_ms = 200;
        ck_assert_int_eq(scaler_client_create(&o, &client, NULL), 0);
        ck_assert_int_eq(scaler_client_start(client, NULL), 0);
        scaler_future *f = submit(client, "echo", "", 0);
        ck_assert_int_eq(scaler_future_result(f, WAIT_MS, NULL), SCALER_E_UNREACHABLE);
        ck_assert_int_eq(scaler_client_wait_ready(client, WAIT_MS), SCALER_E_UNREACHABLE);
        scaler_future_unref(f);
        scaler_client_destroy(client);
}
END_TEST

int main(void)
{
        TCase *t = tcase_create("life");
        tcase_set_timeout(t, 300);
        tcase_add_test(t, all_memory_goes_back_to_the_hosts_allocator);
        tcase_add_test(t, each_allocation_may_fail_once_and_nothing_leaks_or_hangs);
        tcase_add_test(t, a_runtime_holds_no_more_memory_than_it_may);
        tcase_add_test(t, a_blocking_call_from_a_log_callback_is_refused_and_nothing_hangs);
        tcase_add_test(t, a_blocking_call_is_refused_when_the_line_is_a_tasks_own);
        tcase_add_test(t, a_host_turns_the_runtime_by_its_descriptor);
        tcase_add_test(t, a_blocking_call_on_a_host_driven_runtime_turns_it);
        tcase_add_test(t, turn_and_descriptor_are_the_hosts_alone);
        tcase_add_test(t, two_schedulers_and_five_workers_in_one_process_do_not_mix);
        tcase_add_test(t, a_scheduler_listens_on_several_addresses_and_tells_the_real_ones);
        tcase_add_test(t, an_address_that_is_no_good_is_refused_with_words_that_name_it);
        tcase_add_test(t, nobody_listens_to_the_world_without_a_token);
        tcase_add_test(t, mutual_tls_is_refused_on_an_address_that_is_without);
        tcase_add_test(t, the_wrong_token_is_denied_and_the_right_one_is_not);
        tcase_add_test(t, a_client_that_is_denied_says_so_once_ends_its_futures_and_dials_no_more);
        tcase_add_test(t, an_address_that_cannot_be_dialled_is_refused_with_words);
        tcase_add_test(t, an_admin_sees_everything_and_may_cancel_anybodys_task);
        tcase_add_test(t, pending_max_is_kept_and_room_is_waited_for);
        tcase_add_test(t, a_client_without_a_scheduler_gives_up_when_its_time_is_over);
        return run_suite("life", t);
}
