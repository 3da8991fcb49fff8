/* Where tasks stand and why, why workers get nothing, and lists of tasks by what they are. */
#include "cluster.h"

#include <stdio.h>
#include <stdlib.h>

static scaler_client *client_of(struct cluster *c, bool admin)
{
        scaler_client        *client;
        scaler_client_options o;
        scaler_init(&o, sizeof o);
        o.runtime   = c->rt;
        o.scheduler = scaler_scheduler_address(scaler_local_scheduler(c->local), 0);
        o.admin     = admin;
        ck_assert_int_eq(scaler_client_create(&o, &client, NULL), 0);
        ck_assert_int_eq(scaler_client_start(client, NULL), 0);
        ck_assert_int_eq(scaler_client_wait_ready(client, WAIT_MS), 0);
        return client;
}

static scaler_future *submit_needs(struct cluster *c, const char *needs, const char *tag)
{
        scaler_spec spec;
        scaler_init(&spec, sizeof spec);
        spec.function = "echo";
        spec.needs    = needs;
        spec.tag      = tag;
        return submit_spec(c->client, &spec);
}

static scaler_explanation explain(scaler_future *f)
{
        scaler_explanation why;
        scaler_init(&why, sizeof why);
        ck_assert_int_eq(scaler_future_explain(f, WAIT_MS, &why, NULL, 0), 0);
        ck_assert(scaler_id_equal(why.id, scaler_future_id(f)));
        return why;
}

/* What has just been submitted is still on its way for a moment. */
static scaler_explanation explain_known(struct cluster *c, scaler_future *f)
{
        for (;;) {
                const scaler_explanation why = explain(f);
                if (why.why != SCALER_WHY_AT_CLIENT)
                        return why;
                cluster_nap(c);
        }
}

START_TEST(a_future_says_why_its_task_waits)
{
        struct cluster c;
        cluster_up(&c, 1);
        scaler_future           *f   = submit_needs(&c, "gpu=1,cpu=0.5", "night");
        const scaler_explanation why = explain_known(&c, f);
        ck_assert_int_eq(why.stage, SCALER_STAGE_READY);
        ck_assert_int_eq(why.why, SCALER_WHY_NO_OFFER);
        ck_assert_str_eq(scaler_stage_name(why.stage), "ready");
        ck_assert_str_eq(scaler_why_name(why.why), "no-offer");
        ck_assert_str_eq(scaler_task_info_state_name(why.state), "inactive");
        ck_assert_str_eq(why.text, "It needs gpu=1, and no worker that has function 'echo' offers gpu.");
        ck_assert_str_eq(why.function, "echo");
        ck_assert_str_eq(why.needs, "cpu=0.5,gpu=1");
        ck_assert_str_eq(why.tag, "night");
        ck_assert_uint_eq(why.attempt, 0);
        ck_assert(!why.graph && scaler_id_is_nil(why.worker));
        ck_assert_int_eq(scaler_future_cancel(f, 0), 0);
        ck_assert_int_eq(scaler_future_wait(f, WAIT_MS), 0);
        scaler_future_unref(f);
        cluster_down(&c);
}
END_TEST

START_TEST(a_running_task_says_where_and_one_behind_it_that_all_are_full)
{
        struct cluster c;
        cluster_up(&c, 1);
        scaler_future *running = submit(c.client, "block", "", 0);
        cluster_await_running(&c, 1);
        scaler_explanation why = explain(running);
        while (why.why != SCALER_WHY_RUNNING) { /* a start is told a little later */
                ck_assert_int_eq(why.why, SCALER_WHY_AT_WORKER);
                cluster_nap(&c);
                why = explain(running);
        }
        ck_assert_int_eq(why.stage, SCALER_STAGE_ASSIGNED);
        ck_assert_str_eq(why.worker_name, "local-1");
        ck_assert_uint_eq(why.attempt, 1);
        ck_assert(!scaler_id_is_nil(why.worker));
        scaler_future *queued[16];
        for (int i = 0; i < 16; i++)
                queued[i] = submit(c.client, "block", "", 0);
        why = explain_known(&c, queued[15]);
        ck_assert_int_eq(why.why, SCALER_WHY_ALL_FULL);
        ck_assert_str_eq(why.text, "1 worker fits, and it is full.");
        ck_assert_uint_eq(why.number, 1);
        cluster_release(&c);
        for (int i = 0; i < 16; i++) {
                ck_assert_int_eq(scaler_future_wait(queued[i], WAIT_MS), 0);
                scaler_future_unref(queued[i]);
        }
        ck_assert_int_eq(scaler_future_wait(running, WAIT_MS), 0);
        scaler_future_unref(running);
        cluster_down(&c);
}
END_TEST

START_TEST(attempts_that_failed_are_told_oldest_first)
{
        struct cluster c;
        cluster_up(&c, 1);
        const int32_t code = 9;
        scaler_arg    arg  = scaler_arg_bytes(&code, sizeof code);
        scaler_spec   spec;
        scaler_init(&spec, sizeof spec);
        spec.function       = "code";
        spec.args           = &arg;
        spec.arg_count      = 1;
        spec.retries        = 1000000;
        spec.backoff_ms     = 1;
        spec.backoff_max_ms = 1;
        scaler_future     *f = submit_spec(c.client, &spec);
        scaler_explanation why;
        scaler_attempt     attempts[16];
        int                told;
        do {
                scaler_init(&why, sizeof why);
                scaler_init(&attempts[0], sizeof attempts[0]);
                told = scaler_future_explain(f, WAIT_MS, &why, attempts, 16);
                ck_assert_int_ge(told, 0);
        } while (why.attempt < 12 || told < 8);
        ck_assert_int_eq(told, 8);
        ck_assert_uint_eq(why.attempts, 8);
        for (int i = 0; i < told; i++) {
                ck_assert_int_eq(attempts[i].reason, SCALER_REASON_TASK);
                ck_assert_int_eq(attempts[i].code, 9);
                ck_assert_str_eq(attempts[i].worker_name, "local-1");
                ck_assert_uint_ge(attempts[i].began_ms, attempts[i].ended_ms);
                ck_assert(i == 0 || attempts[i].attempt == attempts[i - 1].attempt + 1);
        }
        scaler_init(&attempts[0], sizeof attempts[0]);
        ck_assert_int_eq(scaler_future_explain(f, WAIT_MS, &why, attempts, 3), 3);
        ck_assert_uint_ge(attempts[2].attempt + 1, why.attempt);
        ck_assert_int_eq(scaler_future_cancel(f, 0), 0);
        ck_assert_int_eq(scaler_future_wait(f, WAIT_MS), 0);
        scaler_future_unref(f);
        cluster_down(&c);
}
END_TEST

START_TEST(a_future_knows_what_the_scheduler_has_forgotten_or_never_heard_of)
{
        struct cluster c;
        cluster_up(&c, 1);
        scaler_future *f = submit(c.client, "echo", "x", 1);
        ck_assert_int_eq(scaler_future_wait(f, WAIT_MS), 0);
        scaler_explanation why = explain(f);
        while (why.why != SCALER_WHY_FORGOTTEN) { /* the confirmation is on its way */
                ck_assert_int_eq(why.why, SCALER_WHY_UNCONFIRMED);
                cluster_nap(&c);
                why = explain(f);
        }
        ck_assert_int_eq(why.stage, SCALER_STAGE_NONE);
        ck_assert_str_eq(scaler_stage_name(why.stage), "none");
        ck_assert_str_eq(why.text, "It has ended as success, which its client knows and the scheduler has forgotten.");
        scaler_init(&why, sizeof why);
        ck_assert_int_eq(scaler_client_explain(c.client, scaler_future_id(f), WAIT_MS, &why, NULL, 0),
                         SCALER_E_NOT_FOUND);
        scaler_future_unref(f);

        scaler_client        *far;
        scaler_client_options o;
        scaler_init(&o, sizeof o);
        o.runtime   = c.rt;
        o.scheduler = "inproc://nobody-is-there";
        ck_assert_int_eq(scaler_client_create(&o, &far, NULL), 0);
        ck_assert_int_eq(scaler_client_start(far, NULL), 0);
        f   = submit(far, "echo", "x", 1);
        why = explain(f);
        ck_assert_int_eq(why.why, SCALER_WHY_AT_CLIENT);
        ck_assert_str_eq(why.text, "It is with its client, which has no link to the scheduler.");
        ck_assert_int_eq(scaler_client_explain(far, scaler_future_id(f), WAIT_MS, &why, NULL, 0),
                         SCALER_E_UNREACHABLE);
        scaler_client_destroy(far);
        ck_assert_int_eq(scaler_future_explain(f, WAIT_MS, &why, NULL, 0), SCALER_E_INVALID);
        scaler_future_unref(f);
        cluster_down(&c);
}
END_TEST

static size_t list(scaler_client *client, const scaler_task_filter *filter, scaler_task_info *rows, size_t room)
{
        uint64_t cursor = 0;
        size_t   count  = 0;
        do {
                scaler_task_info page[3];
                scaler_init(&page[0], sizeof page[0]);
                const int n = scaler_client_tasks_select(client, filter, &cursor, WAIT_MS, page, 3);
                ck_assert_int_ge(n, 0);
                for (int i = 0; i < n; i++) {
                        ck_assert_uint_lt(count, room);
                        rows[count++] = page[i];
                }
        } while (cursor != 0);
        return count;
}

START_TEST(tasks_are_listed_by_what_they_are_and_each_client_sees_its_own)
{
        struct cluster c;
        cluster_up(&c, 1);
        scaler_client *admin = client_of(&c, true), *other = client_of(&c, false);
        scaler_future *running = submit(c.client, "block", "", 0);
        cluster_await_running(&c, 1);
        scaler_future *f[10];
        for (int i = 0; i < 10; i++)
                f[i] = submit_needs(&c, "gpu=1", i % 2 ? "odd" : NULL);
        scaler_future *foreign = submit(other, "nobody has it", "", 0);
        scaler_task_filter all;
        scaler_task_info   rows[16];
        scaler_init(&all, sizeof all);
        explain_known(&c, f[9]);
        explain_known(&c, foreign);

        ck_assert_uint_eq(list(c.client, NULL, rows, 16), 11);
        ck_assert_uint_eq(list(other, &all, rows, 16), 1);
        ck_assert_uint_eq(list(admin, &all, rows, 16), 12);
        all.newest = true;
        ck_assert_uint_eq(list(c.client, &all, rows, 16), 11);
        for (int i = 1; i < 11; i++)
                ck_assert_uint_eq(rows[i].id.lo + 1, rows[i - 1].id.lo);
        ck_assert_str_eq(rows[0].tag, "odd");
        ck_assert_int_eq(rows[0].stage, SCALER_STAGE_READY);
        ck_assert_int_eq(rows[10].stage, SCALER_STAGE_ASSIGNED);
        all.newest = false;
        all.tag    = "odd";
        ck_assert_uint_eq(list(admin, &all, rows, 16), 5);
        all.first = 5;
        all.last  = 8;
        ck_assert_uint_eq(list(admin, &all, rows, 16), 2);
        all.tag    = NULL;
        all.stages = 1u << SCALER_STAGE_ASSIGNED;
        ck_assert_uint_eq(list(admin, &all, rows, 16), 0);
        all.first = all.last = 0;
        ck_assert_uint_eq(list(admin, &all, rows, 16), 1);
        all.states = 1u << rows[0].state | 1u; /* running and inactive */
        ck_assert_uint_eq(list(admin, &all, rows, 16), 12);
        all.client = (scaler_id){ 0, scaler_future_id(foreign).hi };
        ck_assert_uint_eq(list(admin, &all, rows, 16), 1);

        cluster_release(&c);
        ck_assert_int_eq(scaler_client_cancel_many(admin, NULL, 0, WAIT_MS, NULL), 0);
        for (int i = 0; i < 10; i++) {
                ck_assert_int_eq(scaler_future_wait(f[i], WAIT_MS), 0);
                scaler_future_unref(f[i]);
        }
        scaler_future_unref(running);
        scaler_future_unref(foreign);
        scaler_client_destroy(other);
        scaler_client_destroy(admin);
        cluster_down(&c);
}
END_TEST

START_TEST(a_list_of_what_cannot_be_is_refused)
{
        struct cluster     c;
        scaler_task_filter f;
        scaler_task_info   rows[2];
        uint64_t           cursor = 0;
        char               tag[129];
        cluster_up(&c, 1);
        scaler_client *admin = client_of(&c, true);
        scaler_init(&rows[0], sizeof rows[0]);
        scaler_init(&f, sizeof f);
        ck_assert_int_eq(scaler_client_tasks_select(NULL, &f, &cursor, 0, rows, 2), SCALER_E_INVALID);
        ck_assert_int_eq(scaler_client_tasks_select(admin, &f, NULL, 0, rows, 2), SCALER_E_INVALID);
        ck_assert_int_eq(scaler_client_tasks_select(admin, &f, &cursor, 0, NULL, 2), SCALER_E_INVALID);
        ck_assert_int_eq(scaler_client_tasks_select(admin, &f, &cursor, 0, rows, 0), SCALER_E_INVALID);
        f.newest = true;
        ck_assert_int_eq(scaler_client_tasks_select(admin, &f, &cursor, 0, rows, 2), SCALER_E_INVALID);
        scaler_init(&f, sizeof f);
        f.stages = 1;
        ck_assert_int_eq(scaler_client_tasks_select(admin, &f, &cursor, 0, rows, 2), SCALER_E_INVALID);
        f.stages = 1u << 11;
        ck_assert_int_eq(scaler_client_tasks_select(admin, &f, &cursor, 0, rows, 2), SCALER_E_INVALID);
        scaler_init(&f, sizeof f);
        f.states = 1u << 10;
        ck_assert_int_eq(scaler_client_tasks_select(admin, &f, &cursor, 0, rows, 2), SCALER_E_INVALID);
        scaler_init(&f, sizeof f);
        f.first = 2;
        f.last  = 1;
        ck_assert_int_eq(scaler_client_tasks_select(admin, &f, &cursor, 0, rows, 2), SCALER_E_INVALID);
        scaler_init(&f, sizeof f);
        memset(tag, 'x', 128);
        tag[128] = '\0';
        f.tag    = tag;
        ck_assert_int_eq(scaler_client_tasks_select(admin, &f, &cursor, 0, rows, 2), SCALER_E_INVALID);
        tag[127] = '\0';
        ck_assert_int_eq(scaler_client_tasks_select(admin, &f, &cursor, WAIT_MS, rows, 2), 0);
        f.client = (scaler_id){ 1, 1 };
        ck_assert_int_eq(scaler_client_tasks_select(admin, &f, &cursor, 0, rows, 2), SCALER_E_INVALID);
        f.client = (scaler_id){ 0, 1 };
        ck_assert_int_eq(scaler_client_tasks_select(admin, &f, &cursor, WAIT_MS, rows, 2), 0);
        ck_assert_int_eq(scaler_client_tasks_select(c.client, &f, &cursor, 0, rows, 2), SCALER_E_DENIED);
        scaler_client_destroy(admin);
        cluster_down(&c);
}
END_TEST

START_TEST(questions_about_others_are_refused_and_about_nobody_not_found)
{
        struct cluster            c;
        scaler_explanation        why;
        scaler_worker_explanation worker;
        scaler_attempt            no_size;
        uint64_t                  cursor = 0;
        cluster_up(&c, 1);
        scaler_client *admin = client_of(&c, true);
        memset(&no_size, 0, sizeof no_size);
        scaler_init(&why, sizeof why);
        scaler_init(&worker, sizeof worker);
        ck_assert_int_eq(scaler_client_explain(c.client, (scaler_id){ 5, 1 }, 0, &why, NULL, 0), SCALER_E_DENIED);
        ck_assert_int_eq(scaler_client_explain(admin, (scaler_id){ 5, 1 }, WAIT_MS, &why, NULL, 0), SCALER_E_NOT_FOUND);
        ck_assert_int_eq(scaler_client_explain(admin, (scaler_id){ 0, 1 }, 0, &why, NULL, 0), SCALER_E_INVALID);
        ck_assert_int_eq(scaler_client_explain(admin, (scaler_id){ 0, 0 }, WAIT_MS, &why, NULL, 0), SCALER_E_NOT_FOUND);
        ck_assert_int_eq(scaler_client_explain(admin, (scaler_id){ 5, 1 }, 0, NULL, NULL, 0), SCALER_E_INVALID);
        ck_assert_int_eq(scaler_client_explain(admin, (scaler_id){ 5, 1 }, 0, &why, &no_size, 1), SCALER_E_INVALID);
        ck_assert_int_eq(scaler_client_explain(NULL, (scaler_id){ 5, 1 }, 0, &why, NULL, 0), SCALER_E_INVALID);
        ck_assert_int_eq(scaler_future_explain(NULL, 0, &why, NULL, 0), SCALER_E_INVALID);
        ck_assert_int_eq(scaler_client_explain_worker(admin, (scaler_id){ 0, 77 }, WAIT_MS, &worker),
                         SCALER_E_NOT_FOUND);
        ck_assert_int_eq(scaler_client_explain_worker(admin, (scaler_id){ 1, 77 }, 0, &worker), SCALER_E_INVALID);
        ck_assert_int_eq(scaler_client_explain_worker(admin, (scaler_id){ 0, 77 }, 0, NULL), SCALER_E_INVALID);
        ck_assert_int_eq(scaler_client_explain_worker(NULL, (scaler_id){ 0, 77 }, 0, &worker), SCALER_E_INVALID);
        ck_assert_int_eq(scaler_client_explain_worker(c.client, (scaler_id){ 0, 77 }, 0, &worker), SCALER_E_DENIED);
        ck_assert_int_eq(scaler_client_explain_workers(c.client, &cursor, 0, &worker, 1), SCALER_E_DENIED);
        ck_assert_int_eq(scaler_client_explain_workers(admin, NULL, 0, &worker, 1), SCALER_E_INVALID);
        scaler_client_destroy(admin);
        cluster_down(&c);
}
END_TEST

START_TEST(a_worker_says_why_it_gets_nothing)
{
        struct cluster            c;
        scaler_worker_explanation why, rows[2];
        scaler_explanation        newest;
        uint64_t                  cursor = 0;
        cluster_up(&c, 2);
        scaler_client *admin = client_of(&c, true);
        scaler_init(&rows[0], sizeof rows[0]);
        ck_assert_int_eq(scaler_client_explain_workers(admin, &cursor, WAIT_MS, rows, 2), 1);
        ck_assert_uint_eq(cursor, 0);
        ck_assert_int_eq(rows[0].why, SCALER_IDLE_NOTHING_READY);
        ck_assert_str_eq(rows[0].text, "Nothing is ready.");
        ck_assert_str_eq(rows[0].offers, "cpu=2");
        ck_assert_str_eq(rows[0].used, "");
        scaler_future *f = submit_needs(&c, "gpu=2", NULL);
        explain_known(&c, f);
        scaler_init(&why, sizeof why);
        ck_assert_int_eq(scaler_client_explain_worker(admin, rows[0].id, WAIT_MS, &why), 0);
        ck_assert_int_eq(why.why, SCALER_IDLE_NOTHING_FITS);
        ck_assert_str_eq(why.text, "What waits does not fit: function 'echo' needs gpu=2, and it offers no gpu.");
        ck_assert_str_eq(scaler_idle_name(why.why), "nothing-fits");
        scaler_init(&newest, sizeof newest);
        ck_assert_int_eq(scaler_client_explain(admin, (scaler_id){ 0, 0 }, WAIT_MS, &newest, NULL, 0), 0);
        ck_assert(scaler_id_equal(newest.id, scaler_future_id(f)));
        ck_assert_int_eq(scaler_future_cancel(f, 0), 0);
        scaler_future *running = submit(c.client, "block", "", 0);
        cluster_await_running(&c, 1);
        scaler_init(&why, sizeof why);
        ck_assert_int_eq(scaler_client_explain_worker(admin, rows[0].id, WAIT_MS, &why), 0);
        ck_assert_str_eq(why.used, "cpu=1");
        ck_assert_uint_eq(why.held, 1);
        ck_assert_uint_eq(why.slots, 2);
        cluster_release(&c);
        ck_assert_int_eq(scaler_future_wait(running, WAIT_MS), 0);
        scaler_future_unref(running);
        scaler_future_unref(f);
        scaler_client_destroy(admin);
        cluster_down(&c);
}
END_TEST

int main(void)
{
        TCase *t = tcase_create("explain");
        tcase_add_test(t, a_future_says_why_its_task_waits);
        tcase_add_test(t, a_running_task_says_where_and_one_behind_it_that_all_are_full);
        tcase_add_test(t, attempts_that_failed_are_told_oldest_first);
        tcase_add_test(t, a_future_knows_what_the_scheduler_has_forgotten_or_never_heard_of);
        tcase_add_test(t, tasks_are_listed_by_what_they_are_and_each_client_sees_its_own);
        tcase_add_test(t, a_list_of_what_cannot_be_is_refused);
        tcase_add_test(t, questions_about_others_are_refused_and_about_nobody_not_found);
        tcase_add_test(t, a_worker_says_why_it_gets_nothing);
        return run_suite("explain", t);
}
