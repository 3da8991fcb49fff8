/*
 * Idempotency keys end to end, in one process: a scheduler, a worker and clients of two tenants, each an object of its
 * own.  Who joins, who is refused, who cancels, what is remembered, and another scheduler in the middle.
 */
#include <string.h>

#include "cluster.h"

enum { CLIENTS = 3 }; /* two of a tenant, and one of another */

static struct cluster    c; /* for its functions */
static scaler_scheduler *scheduler;
static scaler_worker    *worker;
static scaler_client    *client[CLIENTS];

static const char url[] = "inproc://keys";

static void scheduler_up(int64_t keys_kept)
{
        static const char *const listen = url;
        scaler_error             err    = { .status = 0 };
        scaler_scheduler_options o;
        scaler_init(&o, sizeof o);
        o.runtime      = c.rt;
        o.listen       = &listen;
        o.listen_count = 1;
        o.keys_kept    = keys_kept;
        ck_assert_msg(scaler_scheduler_create(&o, &scheduler, &err) == 0, "%s", err.text);
        ck_assert_msg(scaler_scheduler_start(scheduler, &err) == 0, "%s", err.text);
}

static int add(void *to, const scaler_function *f)
{
        return scaler_worker_register(to, f);
}

static void roles_up(void)
{
        scaler_error          err = { .status = 0 };
        scaler_worker_options wo;
        scaler_init(&wo, sizeof wo);
        wo.runtime   = c.rt;
        wo.scheduler = url;
        wo.slots     = 2;
        ck_assert_msg(scaler_worker_create(&wo, &worker, &err) == 0, "%s", err.text);
        cluster_functions(&c, add, worker);
        ck_assert_msg(scaler_worker_start(worker, &err) == 0, "%s", err.text);
        for (int i = 0; i < CLIENTS; i++) {
                scaler_client_options co;
                scaler_init(&co, sizeof co);
                co.runtime   = c.rt;
                co.scheduler = url;
                co.tenant    = i < 2 ? "mine" : "yours";
                ck_assert_msg(scaler_client_create(&co, &client[i], &err) == 0, "%s", err.text);
                ck_assert_msg(scaler_client_start(client[i], &err) == 0, "%s", err.text);
                ck_assert_int_eq(scaler_client_wait_ready(client[i], WAIT_MS), 0);
        }
}

static void up(void)
{
        cluster_up(&c, 1);
        scheduler_up(0);
        roles_up();
}

static void down(void)
{
        cluster_release(&c);
        for (int i = 0; i < CLIENTS; i++) {
                scaler_client_destroy(client[i]);
                client[i] = NULL;
        }
        scaler_worker_destroy(worker);
        scaler_scheduler_destroy(scheduler);
        cluster_down(&c);
}

static scaler_spec keyed(const char *function, const char *key)
{
        scaler_spec spec;
        scaler_init(&spec, sizeof spec);
        spec.function = function;
        spec.key      = key;
        return spec;
}

static scaler_future *submit_keyed(int which, const char *function, const char *key)
{
        const scaler_spec spec = keyed(function, key);
        return submit_spec(client[which], &spec);
}

static scaler_scheduler_stats stats(void)
{
        scaler_scheduler_stats s;
        scaler_init(&s, sizeof s);
        ck_assert_int_eq(scaler_scheduler_stats_get(scheduler, &s), 0);
        return s;
}

static void await_tasks(uint32_t assigned, uint32_t waiting)
{
        scaler_scheduler_stats s = stats();
        for (int i = 0; i < WAIT_MS / 2 && (s.tasks_assigned != assigned || s.tasks_waiting != waiting); i++) {
                cluster_nap(&c);
                s = stats();
        }
        ck_assert_uint_eq(s.tasks_assigned, assigned);
        ck_assert_uint_eq(s.tasks_waiting, waiting);
}

static void succeeded(scaler_future *f)
{
        expect_bytes(f, "", 0);
}

/* ---- joining --------------------------------------------------------------------------------------- */

START_TEST(clients_of_a_tenant_share_a_run_and_another_tenant_does_not)
{
        scaler_future *f[4];
        for (int i = 0; i < 2; i++)
                f[i] = submit_keyed(i, "block", "k");
        f[2] = submit_keyed(0, "block", "k");
        await_tasks(1, 2);
        cluster_await_running(&c, 1);
        f[3] = submit_keyed(2, "block", "k");
        await_tasks(2, 2);
        cluster_await_running(&c, 2);
        cluster_release(&c);
        for (int i = 0; i < 4; i++)
                succeeded(f[i]);
        ck_assert_uint_eq(stats().tasks_done, 4);
}
END_TEST

static scaler_future *submit_shell(int which, const char *key, const char *line)
{
        const char *const argv[] = { line, NULL };
        scaler_command    command;
        scaler_init(&command, sizeof command);
        command.argv     = argv;
        command.flags    = SCALER_COMMAND_SHELL;
        scaler_spec spec = keyed(NULL, key);
        spec.command     = &command;
        return submit_spec(client[which], &spec);
}

START_TEST(a_commands_output_and_exit_are_everybodys)
{
        scaler_future *f[3];
        char           first[64] = "";
        for (int i = 0; i < 2; i++)
                f[i] = submit_shell(i, "k", "echo $$");
        for (int i = 0; i < 3; i++) {
                scaler_blob *blob = NULL;
                scaler_exit  ended;
                if (i == 2)
                        f[i] = submit_shell(1, "k", "echo $$"); /* long after */
                ck_assert_int_eq(scaler_future_result(f[i], WAIT_MS, &blob), 0);
                scaler_init(&ended, sizeof ended);
                ck_assert_int_eq(scaler_future_exit(f[i], &ended), 0);
                ck_assert_int_eq(ended.how, SCALER_EXIT_EXITED);
                ck_assert_uint_lt(scaler_blob_size(blob), sizeof first);
                if (i == 0)
                        memcpy(first, scaler_blob_data(blob), scaler_blob_size(blob));
                ck_assert_int_eq(memcmp(first, scaler_blob_data(blob), scaler_blob_size(blob)), 0);
                scaler_blob_unref(blob);
                scaler_future_unref(f[i]);
        }
}
END_TEST

START_TEST(a_failure_of_its_own_is_everybodys_and_remembered)
{
        for (int i = 0; i < 3; i++) {
                scaler_future *f = submit_shell(i % 2, "k", "exit 3");
                expect_failure(f, SCALER_E_TASK, SCALER_REASON_TASK, 3);
                scaler_future_unref(f);
        }
        ck_assert_uint_eq(stats().tasks_failed, 3);
}
END_TEST

START_TEST(another_task_with_the_key_is_refused_with_the_key_in_words)
{
        scaler_future *first = submit_keyed(0, "block", "order 4711");
        await_tasks(1, 0);
        for (int i = 0; i < 2; i++) {
                scaler_future *f = submit_keyed(i, "echo", "order 4711");
                scaler_failure failure;
                scaler_init(&failure, sizeof failure);
                expect_failure(f, SCALER_E_EXISTS, SCALER_REASON_KEY, SCALER_E_EXISTS);
                ck_assert_int_eq(scaler_future_failure(f, &failure), 0);
                ck_assert_ptr_nonnull(strstr(failure.text, "\"order 4711\""));
                scaler_future_unref(f);
        }
        cluster_release(&c);
        succeeded(first);
}
END_TEST

START_TEST(what_is_an_owners_own_may_differ)
{
        scaler_spec spec = keyed("block", "k");
        scaler_future *first = submit_spec(client[0], &spec);
        spec.priority         = 5;
        spec.tag              = "mine";
        spec.deadline_ms      = WAIT_MS;
        spec.queue_timeout_ms = WAIT_MS;
        spec.not_before_ms    = 1;
        spec.needs            = "cpu=1";
        spec.user_data        = 7;
        scaler_future *second = submit_spec(client[1], &spec);
        await_tasks(1, 1);
        cluster_release(&c);
        ck_assert_uint_eq(scaler_future_user_data(second), 7);
        succeeded(first);
        succeeded(second);
}
END_TEST

/* ---- owners go --------------------------------------------------------------------------------------- */

static void cancelled(scaler_future *f)
{
        ck_assert_int_eq(scaler_future_cancel_wait(f, 0, WAIT_MS), SCALER_CANCEL_DONE);
        ck_assert_int_eq(scaler_future_result(f, WAIT_MS, NULL), SCALER_E_CANCELLED);
        scaler_future_unref(f);
}

START_TEST(each_cancels_for_itself_and_the_last_one_stops_the_run)
{
        scaler_future *f[3];
        for (int i = 0; i < 3; i++)
                f[i] = submit_keyed(i % 2, "block", "k");
        await_tasks(1, 2);
        cluster_await_running(&c, 1);
        cancelled(f[0]); /* whoever leads */
        cancelled(f[2]);
        await_tasks(1, 0);
        ck_assert_int_eq(scaler_future_state(f[1]), SCALER_TASK_PENDING);
        cancelled(f[1]);
        await_tasks(0, 0);
        f[0] = submit_keyed(0, "block", "k"); /* and begins anew */
        cluster_await_running(&c, 2);
        cluster_release(&c);
        succeeded(f[0]);
}
END_TEST

START_TEST(a_client_that_is_closed_leaves_the_run_to_the_others)
{
        scaler_future *f[2];
        for (int i = 0; i < 2; i++) {
                f[i] = submit_keyed(i, "block", "k");
                await_tasks(1, (uint32_t)i);
        }
        cluster_await_running(&c, 1);
        scaler_client_destroy(client[0]);
        client[0] = NULL;
        ck_assert_int_eq(scaler_future_result(f[0], WAIT_MS, NULL), SCALER_E_CANCELLED);
        scaler_future_unref(f[0]);
        await_tasks(1, 0);
        cluster_release(&c);
        succeeded(f[1]);
}
END_TEST

START_TEST(each_has_its_own_deadline)
{
        scaler_spec    spec   = keyed("block", "k");
        scaler_future *second = NULL, *first = NULL;
        spec.deadline_ms      = 4000; /* of which the first second of a scheduler is one */
        first                 = submit_spec(client[0], &spec);
        await_tasks(1, 0);
        second = submit_keyed(1, "block", "k");
        await_tasks(1, 1);
        expect_failure(first, SCALER_E_LIMIT, SCALER_REASON_DEADLINE, 0);
        scaler_future_unref(first);
        await_tasks(1, 0);
        cluster_release(&c);
        succeeded(second);
}
END_TEST

/* ---- remembered --------------------------------------------------------------------------------------- */

START_TEST(the_oldest_end_is_forgotten_beyond_the_limit)
{
        static const char *const keys[] = { "a", "b", "b", "a" };
        char                     before[64] = "";
        scaler_scheduler_destroy(scheduler);
        scheduler_up(1);
        for (int i = 0; i < 4; i++) {
                scaler_blob   *blob = NULL;
                scaler_future *f    = submit_shell(0, keys[i], "echo $$");
                ck_assert_int_eq(scaler_future_result(f, WAIT_MS, &blob), 0);
                const bool same = strncmp(before, scaler_blob_data(blob), scaler_blob_size(blob)) == 0;
                ck_assert_int_eq(same, i == 2);
                memset(before, 0, sizeof before);
                memcpy(before, scaler_blob_data(blob), scaler_blob_size(blob));
                scaler_blob_unref(blob);
                scaler_future_unref(f);
        }
}
END_TEST

/* ---- another scheduler ---------------------------------------------------------------------------------- */

START_TEST(owners_and_their_run_find_each_other_at_another_scheduler)
{
        scaler_future *f[3];
        f[2] = submit_keyed(0, "echo", "ended");
        succeeded(f[2]);
        for (int i = 0; i < 2; i++)
                f[i] = submit_keyed(i, "block", "k");
        await_tasks(1, 1);
        cluster_await_running(&c, 1);
        scaler_scheduler_destroy(scheduler);
        scheduler_up(0);
        f[2] = submit_keyed(1, "block", "k");
        await_tasks(1, 2);
        ck_assert_uint_eq(stats().runs_kept, 1);
        cluster_release(&c);
        for (int i = 0; i < 3; i++) {
                scaler_failure failure;
                scaler_init(&failure, sizeof failure);
                ck_assert_int_eq(scaler_future_result(f[i], WAIT_MS, NULL), 0);
                ck_assert_int_eq(scaler_future_failure(f[i], &failure), 0);
                ck_assert_uint_eq(failure.attempts, 1);
                scaler_future_unref(f[i]);
        }
        ck_assert_uint_eq(stats().tasks_done, 3);
        succeeded(submit_keyed(0, "echo", "ended")); /* which nobody remembers: it is done again */
}
END_TEST

/* ---- as a dependency, and what is refused ----------------------------------------------------------------- */

START_TEST(what_has_joined_may_be_depended_on)
{
        const int64_t    one = 1;
        const scaler_arg a   = scaler_arg_bytes(&one, 8);
        scaler_spec      sum = keyed("sum", "k");
        sum.args             = &a;
        sum.arg_count        = 1;
        scaler_future   *first = submit_spec(client[0], &sum), *second = submit_spec(client[1], &sum);
        const scaler_arg args[] = { scaler_arg_future(second), scaler_arg_future(second) };
        scaler_spec      twice  = keyed("sum", NULL);
        twice.args              = args;
        twice.arg_count         = 2;
        const int64_t two       = 2;
        expect_bytes(submit_spec(client[1], &twice), &two, sizeof two);
        expect_bytes(first, &one, sizeof one);
        expect_bytes(second, &one, sizeof one);
}
END_TEST

static void is_refused(const scaler_spec *spec, const char *words)
{
        scaler_future *f = NULL;
        scaler_error   err;
        ck_assert_int_eq(scaler_client_submit(client[0], spec, &f, &err), SCALER_E_INVALID);
        ck_assert_ptr_null(f);
        ck_assert_msg(strstr(err.text, words) != NULL, "\"%s\" does not say \"%s\"", err.text, words);
}

START_TEST(what_a_key_does_not_go_with_is_refused_with_words)
{
        char              key[129] = "";
        const char *const argv[]   = { "true", NULL };
        scaler_spec       spec     = keyed("echo", key);
        scaler_command    command;
        memset(key, 'k', sizeof key);
        key[128] = '\0';
        is_refused(&spec, "spec 0: key must have 1 to 127 bytes");
        key[127] = '\0';
        succeeded(submit_spec(client[0], &spec));
        spec.key = "";
        is_refused(&spec, "spec 0: key must have 1 to 127 bytes");
        scaler_future       *other = submit_keyed(0, "echo", NULL);
        scaler_future *const after[] = { other };
        spec                         = keyed("echo", "k");
        spec.after                   = after;
        spec.after_count             = 1;
        is_refused(&spec, "spec 0: a task with an idempotency key depends on nothing");
        succeeded(other);
        scaler_init(&command, sizeof command);
        command.argv  = argv;
        command.flags = SCALER_COMMAND_STREAM;
        spec          = keyed(NULL, "k");
        spec.command  = &command;
        is_refused(&spec, "spec 0: a task with an idempotency key does not stream its output");
        const scaler_spec node = keyed("echo", "k");
        scaler_error      err;
        ck_assert_int_eq(scaler_client_submit_graph(client[0], &node, 1, NULL, NULL, NULL, &err), SCALER_E_INVALID);
        ck_assert_str_eq(err.text, "spec 0: a node of a graph has no idempotency key");
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("keys");
        tcase_set_timeout(tests, 120);
        tcase_add_checked_fixture(tests, up, down);
        tcase_add_test(tests, clients_of_a_tenant_share_a_run_and_another_tenant_does_not);
        tcase_add_test(tests, a_commands_output_and_exit_are_everybodys);
        tcase_add_test(tests, a_failure_of_its_own_is_everybodys_and_remembered);
        tcase_add_test(tests, another_task_with_the_key_is_refused_with_the_key_in_words);
        tcase_add_test(tests, what_is_an_owners_own_may_differ);
        tcase_add_test(tests, each_cancels_for_itself_and_the_last_one_stops_the_run);
        tcase_add_test(tests, a_client_that_is_closed_leaves_the_run_to_the_others);
        tcase_add_test(tests, each_has_its_own_deadline);
        tcase_add_test(tests, the_oldest_end_is_forgotten_beyond_the_limit);
        tcase_add_test(tests, owners_and_their_run_find_each_other_at_another_scheduler);
        tcase_add_test(tests, what_has_joined_may_be_depended_on);
        tcase_add_test(tests, what_a_key_does_not_go_with_is_refused_with_words);
        return run_suite("api keys", tests);
}
