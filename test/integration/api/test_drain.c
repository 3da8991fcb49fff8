/*
 * Drains by the API: a worker that leaves by itself or by an admin's word, what it lets go of, a scheduler that
 * stops and the one that takes over; and each call's errors.
 */
#include <stdio.h>
#include <string.h>

#include "cluster.h"

static struct cluster c;
static scaler_client *admin;

static scaler_client *admin_of(const char *url)
{
        scaler_client_options o;
        scaler_client        *made;
        scaler_init(&o, sizeof o);
        o.runtime   = c.rt;
        o.scheduler = url;
        o.admin     = true;
        ck_assert_int_eq(scaler_client_create(&o, &made, NULL), 0);
        ck_assert_int_eq(scaler_client_start(made, NULL), 0);
        ck_assert_int_eq(scaler_client_wait_ready(made, WAIT_MS), 0);
        return made;
}

static const char *local_url(void)
{
        return scaler_scheduler_address(scaler_local_scheduler(c.local), 0);
}

static void up(void)
{
        cluster_up(&c, 1);
        admin = admin_of(local_url());
}

static void down(void)
{
        cluster_release(&c);
        scaler_client_destroy(admin);
        cluster_down(&c);
}

static int add_worker(void *to, const scaler_function *f)
{
        return scaler_worker_register(to, f);
}

static scaler_worker *worker_made(const char *url, const char *name)
{
        scaler_worker_options o;
        scaler_worker        *w;
        scaler_init(&o, sizeof o);
        o.runtime   = c.rt;
        o.scheduler = url;
        o.name      = name;
        o.slots     = 1;
        ck_assert_int_eq(scaler_worker_create(&o, &w, NULL), 0);
        cluster_functions(&c, add_worker, w);
        return w;
}

static scaler_worker *worker_up(const char *url, const char *name)
{
        scaler_worker *w = worker_made(url, name);
        ck_assert_int_eq(scaler_worker_start(w, NULL), 0);
        ck_assert_int_eq(scaler_worker_wait_ready(w, WAIT_MS), 0);
        return w;
}

static scaler_worker_info info_of(const char *name)
{
        scaler_worker_info rows[8];
        uint64_t           cursor = 0;
        scaler_init(&rows[0], sizeof rows[0]);
        const int count = scaler_client_workers(admin, &cursor, WAIT_MS, rows, 8);
        for (int i = 0; i < count; i++)
                if (strcmp(rows[i].name, name) == 0)
                        return rows[i];
        ck_abort_msg("there is no worker %s", name);
        return rows[0];
}

static scaler_drained drained_of(scaler_id worker, int64_t deadline_ms, int64_t timeout_ms, int status)
{
        scaler_drained d;
        scaler_init(&d, sizeof d);
        ck_assert_int_eq(scaler_client_drain(admin, worker, deadline_ms, timeout_ms, &d), status);
        return d;
}

/* ---- workers ------------------------------------------------------------------------------------------------- */

START_TEST(what_a_worker_lets_go_of_runs_again_elsewhere)
{
        scaler_future *f = submit(c.client, "stubborn", "", 0);
        cluster_await_running(&c, 1);
        scaler_worker       *other = worker_up(local_url(), "other");
        const scaler_drained d     = drained_of(info_of("local-1").id, 20, WAIT_MS, 0);
        ck_assert_str_eq(d.name, "local-1");
        ck_assert_uint_eq(d.released, 1);
        ck_assert_uint_eq(d.finished + d.returned + d.lost, 0);
        cluster_await_running(&c, 2); /* nobody waits for the first one, which does not return */
        scaler_worker_stats stats;
        scaler_init(&stats, sizeof stats);
        ck_assert_int_eq(scaler_worker_stats_get(other, &stats), 0);
        ck_assert_uint_eq(stats.running, 1);
        ck_assert_uint_eq(stats.released, 0);
        cluster_release(&c);
        expect_bytes(f, "", 0);
        scaler_scheduler_stats all;
        scaler_init(&all, sizeof all);
        ck_assert_int_eq(scaler_client_scheduler_stats(admin, WAIT_MS, &all), 0);
        ck_assert_uint_eq(all.runs_lost, 0);
        scaler_worker_destroy(other);
}
END_TEST

START_TEST(a_workers_own_drain_is_the_same)
{
        scaler_worker *other = worker_made(local_url(), "other");
        ck_assert_int_eq(scaler_worker_drain(NULL, 0), SCALER_E_INVALID);
        ck_assert_int_eq(scaler_worker_drain(other, -1), SCALER_E_INVALID);
        ck_assert_int_eq(scaler_worker_drain(other, 0), SCALER_E_STATE);
        ck_assert_int_eq(scaler_worker_start(other, NULL), 0);
        ck_assert_int_eq(scaler_worker_wait_ready(other, WAIT_MS), 0);
        scaler_future *one = submit(c.client, "stubborn", "", 0), *two = submit(c.client, "stubborn", "", 0);
        cluster_await_running(&c, 2);
        ck_assert_int_eq(scaler_worker_drain(other, 0), 0);
        ck_assert_int_eq(scaler_worker_wait_stopped(other, 20), SCALER_E_TIMEOUT);
        ck_assert(info_of("other").draining);
        ck_assert(!info_of("local-1").draining);
        ck_assert_int_eq(scaler_worker_drain(other, 1), 0); /* less patience */
        ck_assert_int_eq(scaler_worker_wait_stopped(other, WAIT_MS), 0);
        ck_assert_int_eq(scaler_worker_stop(other, 0), 0);
        scaler_worker_stats stats;
        scaler_init(&stats, sizeof stats);
        ck_assert_int_eq(scaler_worker_stats_get(other, &stats), 0);
        ck_assert_uint_eq(stats.released, 1);
        ck_assert_uint_eq(stats.abandoned, 1);
        cluster_release(&c);
        expect_bytes(one, "", 0);
        expect_bytes(two, "", 0);
        scaler_worker_destroy(other);
}
END_TEST

START_TEST(whoever_asks_again_waits_on)
{
        scaler_future  *f  = submit(c.client, "block", "", 0);
        scaler_future  *g  = submit(c.client, "echo", "", 0);
        cluster_await_running(&c, 1);
        const scaler_id id = info_of("local-1").id;
        drained_of(id, 0, 0, SCALER_E_TIMEOUT);
        drained_of(id, 0, 20, SCALER_E_TIMEOUT);
        ck_assert(info_of("local-1").draining);
        cluster_release(&c);
        ck_assert_uint_eq(drained_of(id, 0, WAIT_MS, 0).finished, 1);
        ck_assert_uint_eq(drained_of(id, 0, WAIT_MS, 0).finished, 1); /* it is remembered how it left */
        expect_bytes(f, "", 0);
        scaler_worker *other = worker_up(local_url(), "other");
        expect_bytes(g, "", 0);
        scaler_worker_destroy(other);
}
END_TEST

START_TEST(a_drain_that_cannot_be_says_why)
{
        const scaler_id nobody = { 0, 7 }, strange = { 1, 7 }, all = { 0, 0 };
        ck_assert_int_eq(scaler_client_drain(NULL, nobody, 0, 0, NULL), SCALER_E_INVALID);
        ck_assert_int_eq(scaler_client_drain(admin, nobody, -1, 0, NULL), SCALER_E_INVALID);
        ck_assert_int_eq(scaler_client_drain(c.client, nobody, 0, WAIT_MS, NULL), SCALER_E_DENIED);
        ck_assert_int_eq(scaler_client_drain(admin, nobody, 0, WAIT_MS, NULL), SCALER_E_NOT_FOUND);
        ck_assert_int_eq(scaler_client_drain(admin, strange, 0, WAIT_MS, NULL), SCALER_E_NOT_FOUND);
        scaler_client *gone = admin_of(local_url());
        ck_assert_int_eq(scaler_client_stop(gone, WAIT_MS), 0);
        ck_assert_int_eq(scaler_client_drain(gone, all, 0, WAIT_MS, NULL), SCALER_E_STATE);
        scaler_client_destroy(gone);
}
END_TEST

/* ---- schedulers ----------------------------------------------------------------------------------------------- */

static scaler_scheduler *scheduler_up(const char *url)
{
        scaler_scheduler_options o;
        scaler_scheduler        *s;
        scaler_init(&o, sizeof o);
        o.runtime      = c.rt;
        o.listen       = &url;
        o.listen_count = 1;
        ck_assert_int_eq(scaler_scheduler_create(&o, &s, NULL), 0);
        for (int i = 0; scaler_scheduler_start(s, NULL) != 0; i++) {
                ck_assert_int_lt(i, 1000); /* the one before has not quite let go of the address */
                cluster_nap(&c);
        }
        return s;
}

static scaler_client *client_up(const char *url)
{
        scaler_client_options o;
        scaler_client        *made;
        scaler_init(&o, sizeof o);
        o.runtime   = c.rt;
        o.scheduler = url;
        ck_assert_int_eq(scaler_client_create(&o, &made, NULL), 0);
        ck_assert_int_eq(scaler_client_start(made, NULL), 0);
        return made;
}

START_TEST(a_scheduler_is_replaced_and_everybody_goes_on)
{
        scaler_scheduler *first = scheduler_up("tcp://127.0.0.1:0");
        char              url[256];
        snprintf(url, sizeof url, "%s", scaler_scheduler_address(first, 0));
        scaler_worker *w      = worker_up(url, "w");
        scaler_client *client = client_up(url);
        scaler_future *f[20], *long_one = submit(client, "stubborn", "", 0);
        cluster_await_running(&c, 1);
        for (int i = 0; i < 20; i++)
                f[i] = submit(client, "echo", &i, sizeof i);
        ck_assert_int_eq(scaler_scheduler_drain(first, 20), 0);
        ck_assert_int_eq(scaler_scheduler_wait_stopped(first, WAIT_MS), 0);
        scaler_scheduler_destroy(first);
        scaler_scheduler *second = scheduler_up(url);
        cluster_release(&c);
        expect_bytes(long_one, "", 0);
        for (int i = 0; i < 20; i++)
                expect_bytes(f[i], &i, sizeof i);
        scaler_scheduler_stats stats;
        scaler_init(&stats, sizeof stats);
        ck_assert_int_eq(scaler_scheduler_stats_get(second, &stats), 0);
        ck_assert_uint_eq(stats.runs_kept, 1); /* and made once */
        ck_assert_uint_eq(stats.tasks_done, 21);
        scaler_client_destroy(client);
        scaler_worker_destroy(w);
        scaler_scheduler_destroy(second);
}
END_TEST

START_TEST(a_stop_waits_for_what_runs)
{
        scaler_scheduler *s = scaler_local_scheduler(c.local);
        scaler_future    *f = submit(c.client, "block", "", 0);
        cluster_await_running(&c, 1);
        ck_assert_int_eq(scaler_scheduler_wait_stopped(s, 0), SCALER_E_TIMEOUT);
        ck_assert_int_eq(scaler_scheduler_stop(s, 20), SCALER_E_TIMEOUT);
        cluster_release(&c);
        ck_assert_int_eq(scaler_scheduler_stop(s, WAIT_MS), 0);
        ck_assert_int_eq(scaler_scheduler_wait_stopped(s, 0), 0);
        expect_bytes(f, "", 0);
}
END_TEST

START_TEST(an_admin_stops_a_scheduler_too)
{
        scaler_scheduler *s = scaler_local_scheduler(c.local);
        scaler_future    *f = submit(c.client, "block", "", 0);
        cluster_await_running(&c, 1);
        const scaler_id itself = { 0, 0 };
        drained_of(itself, 0, 20, SCALER_E_TIMEOUT);
        cluster_release(&c);
        drained_of(itself, 0, WAIT_MS, 0);
        ck_assert_int_eq(scaler_scheduler_wait_stopped(s, WAIT_MS), 0);
        expect_bytes(f, "", 0);
}
END_TEST

START_TEST(a_scheduler_that_cannot_drain_says_why)
{
        const char              *url = "inproc://never";
        scaler_scheduler_options o;
        scaler_scheduler        *s;
        scaler_init(&o, sizeof o);
        o.listen       = &url;
        o.listen_count = 1;
        ck_assert_int_eq(scaler_scheduler_create(&o, &s, NULL), 0);
        ck_assert_int_eq(scaler_scheduler_drain(NULL, 0), SCALER_E_INVALID);
        ck_assert_int_eq(scaler_scheduler_drain(s, -1), SCALER_E_INVALID);
        ck_assert_int_eq(scaler_scheduler_drain(s, 0), SCALER_E_STATE);
        ck_assert_int_eq(scaler_scheduler_wait_stopped(NULL, 0), SCALER_E_INVALID);
        ck_assert_int_eq(scaler_scheduler_wait_stopped(s, 0), SCALER_E_STATE);
        scaler_scheduler_destroy(s);
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("drain");
        tcase_add_checked_fixture(tests, up, down);
        tcase_add_test(tests, what_a_worker_lets_go_of_runs_again_elsewhere);
        tcase_add_test(tests, a_workers_own_drain_is_the_same);
        tcase_add_test(tests, whoever_asks_again_waits_on);
        tcase_add_test(tests, a_drain_that_cannot_be_says_why);
        tcase_add_test(tests, a_scheduler_is_replaced_and_everybody_goes_on);
        tcase_add_test(tests, a_stop_waits_for_what_runs);
        tcase_add_test(tests, an_admin_stops_a_scheduler_too);
        tcase_add_test(tests, a_scheduler_that_cannot_drain_says_why);
        return run_suite("drain", tests);
}
