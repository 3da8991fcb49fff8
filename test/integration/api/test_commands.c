/* Commands end to end, in one process: how they end, what they print, what they see. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

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

static scaler_exit exit_of(scaler_future *f)
{
        scaler_exit e;
        scaler_init(&e, sizeof e);
        ck_assert_int_eq(scaler_future_wait(f, WAIT_MS), 0);
        ck_assert_int_eq(scaler_future_exit(f, &e), 0);
        return e;
}

static scaler_future *shell(const char *script, uint32_t flags)
{
        const char *const argv[] = { script, NULL };
        return submit_command(c.client, argv, flags | SCALER_COMMAND_SHELL);
}

static void expect_output(scaler_future *f, int stream, const char *text)
{
        scaler_blob *blob = NULL;
        ck_assert_int_eq(scaler_future_output(f, stream, &blob), 0);
        ck_assert_uint_eq(scaler_blob_size(blob), strlen(text));
        ck_assert_int_eq(memcmp(scaler_blob_data(blob), text, strlen(text)), 0);
        scaler_blob_unref(blob);
}

START_TEST(a_command_gives_its_output_and_its_exit)
{
        const char *const argv[] = { "echo", "one", "two  three", NULL };
        scaler_future    *f      = submit_command(c.client, argv, 0);
        const scaler_exit e      = exit_of(f);
        ck_assert_int_eq(e.how, SCALER_EXIT_EXITED);
        ck_assert_int_eq(e.code, 0);
        ck_assert_uint_gt(e.wall_us, 0);
        expect_text(f, "one two  three\n");
}
END_TEST

START_TEST(both_outputs_are_kept_apart_or_merged_as_asked)
{
        scaler_future *f = shell("echo out; echo err >&2", 0);
        ck_assert_int_eq(scaler_future_wait(f, WAIT_MS), 0);
        expect_output(f, 1, "out\n");
        expect_output(f, 2, "err\n");
        scaler_future_unref(f);
        f = shell("echo out; echo err >&2", SCALER_COMMAND_MERGE);
        ck_assert_int_eq(scaler_future_wait(f, WAIT_MS), 0);
        expect_output(f, 1, "out\nerr\n");
        expect_output(f, 2, "");
        scaler_future_unref(f);
}
END_TEST

START_TEST(an_exit_code_other_than_0_fails_the_task_with_its_output_kept)
{
        scaler_future *f = shell("echo so far; exit 3", 0);
        expect_failure(f, SCALER_E_TASK, SCALER_REASON_TASK, 3);
        ck_assert_int_eq(exit_of(f).how, SCALER_EXIT_EXITED);
        expect_output(f, 1, "so far\n");
        scaler_future_unref(f);
}
END_TEST

START_TEST(a_signal_is_told_as_one)
{
        scaler_future *f = shell("kill -SEGV $$", 0);
        expect_failure(f, SCALER_E_TASK, SCALER_REASON_TASK, SIGSEGV);
        ck_assert_int_eq(exit_of(f).how, SCALER_EXIT_SIGNALLED);
        scaler_future_unref(f);
}
END_TEST

START_TEST(a_command_that_cannot_start_says_which_and_why)
{
        const char *const missing[] = { "/no/such/program", NULL }, *const plain[] = { "/etc/passwd", NULL };
        scaler_future *f = submit_command(c.client, missing, 0);
        expect_failure(f, SCALER_E_TASK, SCALER_REASON_NOT_STARTED, ENOENT);
        scaler_failure failure;
        scaler_init(&failure, sizeof failure);
        ck_assert_int_eq(scaler_future_failure(f, &failure), 0);
        ck_assert_ptr_nonnull(strstr(failure.text, "/no/such/program"));
        scaler_future_unref(f);
        f = submit_command(c.client, plain, 0);
        expect_failure(f, SCALER_E_TASK, SCALER_REASON_NOT_STARTED, EACCES);
        scaler_future_unref(f);
}
END_TEST

START_TEST(environment_folder_and_input_are_as_the_spec_says)
{
        const char *const argv[] = { "echo \"$A-$B-$HOME\"; pwd; cat", NULL };
        const char *const env[]  = { "A=1 2", "HOME", NULL };
        scaler_command    command;
        scaler_spec       spec;
        scaler_init(&command, sizeof command);
        scaler_init(&spec, sizeof spec);
        command.argv       = argv;
        command.env        = env;
        command.cwd        = "/";
        command.input      = "from\0stdin";
        command.input_size = 10;
        command.flags      = SCALER_COMMAND_SHELL;
        spec.command       = &command;
        expect_bytes(submit_spec(c.client, &spec), "1 2--\n/\nfrom\0stdin", 18);
        command.cwd      = "/no/such/folder";
        scaler_future *f = submit_spec(c.client, &spec);
        expect_failure(f, SCALER_E_TASK, SCALER_REASON_NOT_STARTED, ENOENT);
        scaler_failure failure;
        scaler_init(&failure, sizeof failure);
        ck_assert_int_eq(scaler_future_failure(f, &failure), 0);
        ck_assert_ptr_nonnull(strstr(failure.text, "/no/such/folder"));
        scaler_future_unref(f);
}
END_TEST

START_TEST(niceness_is_added_to_the_workers)
{
        const char *const argv[] = { "nice", NULL };
        scaler_command    command;
        scaler_spec       spec;
        scaler_error      err;
        char              expected[16];
        int               ours = getpriority(PRIO_PROCESS, 0) + 3;
        scaler_init(&command, sizeof command);
        scaler_init(&spec, sizeof spec);
        command.argv = argv;
        command.nice = 3;
        spec.command = &command;
        snprintf(expected, sizeof expected, "%d\n", ours < 19 ? ours : 19);
        expect_bytes(submit_spec(c.client, &spec), expected, strlen(expected));
        command.nice = 20;
        ck_assert_int_eq(scaler_client_submit(c.client, &spec, NULL, &err), SCALER_E_INVALID);
        command.nice = -1;
        ck_assert_int_eq(scaler_client_submit(c.client, &spec, NULL, &err), SCALER_E_INVALID);
        ck_assert_ptr_nonnull(strstr(err.text, "nice"));
}
END_TEST

START_TEST(without_input_stdin_is_empty)
{
        const char *const argv[] = { "cat", NULL };
        expect_text(submit_command(c.client, argv, 0), "");
}
END_TEST

START_TEST(collected_output_is_bounded_and_the_limit_is_told)
{
        scaler_future *f = shell("head -c 1048576 /dev/zero", 0);
        ck_assert_int_eq(scaler_future_result(f, WAIT_MS, NULL), 0);
        scaler_future_unref(f);
        f = shell("head -c 1048577 /dev/zero", 0);
        ck_assert_int_eq(scaler_future_result(f, WAIT_MS, NULL), SCALER_E_LIMIT);
        scaler_failure failure;
        scaler_init(&failure, sizeof failure);
        ck_assert_int_eq(scaler_future_failure(f, &failure), 0);
        ck_assert_int_eq(failure.reason, SCALER_REASON_LIMIT);
        ck_assert_str_ne(failure.text, "");
        scaler_future_unref(f);
}
END_TEST

START_TEST(output_max_ends_a_command_that_prints_more)
{
        const char *const argv[] = { "yes", NULL };
        scaler_command    command;
        scaler_spec       spec;
        scaler_init(&command, sizeof command);
        scaler_init(&spec, sizeof spec);
        command.argv       = argv;
        command.output_max = 1000;
        spec.command       = &command;
        scaler_future *f   = submit_spec(c.client, &spec);
        ck_assert_int_eq(scaler_future_result(f, WAIT_MS, NULL), SCALER_E_LIMIT);
        scaler_failure failure;
        scaler_init(&failure, sizeof failure);
        ck_assert_int_eq(scaler_future_failure(f, &failure), 0);
        ck_assert_ptr_nonnull(strstr(failure.text, "1000"));
        scaler_future_unref(f);
}
END_TEST

/* Reads to the end; each byte must be the next of 0, 1, ... 250, 0, ... */
static uint64_t read_all(scaler_future *f)
{
        static unsigned char buffer[70000];
        uint64_t             total = 0;
        int                  stream, n;
        while ((n = scaler_future_read(f, buffer, sizeof buffer, &stream, WAIT_MS)) > 0)
                for (int i = 0; i < n; i++, total++)
                        if (buffer[i] != '0' + total % 10)
                                ck_abort_msg("byte %llu is %d", (unsigned long long)total, buffer[i]);
        ck_assert_int_eq(n, 0);
        return total;
}

START_TEST(streamed_output_arrives_whole_and_in_order_whatever_its_size)
{
        const struct {
                const char *script;
                uint64_t    size;
        } cases[] = { { "true", 0 },
                      { "printf 0", 1 },
                      { "yes 0123456789 | tr -d '\\n' | head -c 16384", 16384 },
                      { "yes 0123456789 | tr -d '\\n' | head -c 16385", 16385 },
                      { "yes 0123456789 | tr -d '\\n' | head -c 20000000", 20000000 } };
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
                scaler_future *f = shell(cases[i].script, SCALER_COMMAND_STREAM);
                ck_assert_uint_eq(read_all(f), cases[i].size);
                ck_assert_int_eq(scaler_future_result(f, WAIT_MS, NULL), 0);
                scaler_future_unref(f);
        }
}
END_TEST

START_TEST(streamed_output_comes_while_the_command_still_runs)
{
        scaler_future *f = shell("echo early; exec sleep 1000", SCALER_COMMAND_STREAM);
        char           buffer[64];
        int            stream = 0;
        ck_assert_int_eq(scaler_future_read(f, buffer, sizeof buffer, &stream, WAIT_MS), 6);
        ck_assert_int_eq(memcmp(buffer, "early\n", 6), 0);
        ck_assert_int_eq(stream, 1);
        ck_assert_int_eq(scaler_future_state(f), SCALER_TASK_PENDING);
        ck_assert_int_eq(scaler_future_cancel_wait(f, SCALER_CANCEL_FORCE, WAIT_MS), SCALER_CANCEL_DONE);
        scaler_future_unref(f);
}
END_TEST

START_TEST(a_command_whose_output_nobody_reads_can_be_cancelled)
{
        scaler_future *f = shell("yes", SCALER_COMMAND_STREAM);
        char           buffer[64];
        int            stream = 0;
        ck_assert_int_gt(scaler_future_read(f, buffer, sizeof buffer, &stream, WAIT_MS), 0);
        ck_assert_int_eq(scaler_future_cancel_wait(f, SCALER_CANCEL_FORCE, WAIT_MS), SCALER_CANCEL_DONE);
        ck_assert_int_eq(scaler_future_result(f, WAIT_MS, NULL), SCALER_E_CANCELLED);
        scaler_future_unref(f);
        const char *const argv[] = { "echo", "on", NULL };
        expect_text(submit_command(c.client, argv, 0), "on\n");
}
END_TEST

START_TEST(a_time_limit_kills_a_command_that_ignores_sigterm)
{
        const char *const argv[] = { "trap '' TERM; while :; do :; done", NULL };
        scaler_command    command;
        scaler_spec       spec;
        scaler_init(&command, sizeof command);
        scaler_init(&spec, sizeof spec);
        command.argv     = argv;
        command.flags    = SCALER_COMMAND_SHELL;
        spec.command     = &command;
        spec.timeout_ms  = 100;
        scaler_future *f = submit_spec(c.client, &spec);
        ck_assert_int_eq(scaler_future_result(f, WAIT_MS, NULL), SCALER_E_LIMIT);
        ck_assert_int_eq(exit_of(f).how, SCALER_EXIT_SIGNALLED);
        ck_assert_int_eq(exit_of(f).code, SIGKILL);
        scaler_future_unref(f);
}
END_TEST

START_TEST(a_cancel_takes_the_whole_process_group)
{
        scaler_future *f          = shell("sleep 1000 & echo $!; wait", SCALER_COMMAND_STREAM);
        char           buffer[32] = "";
        int            stream     = 0;
        ck_assert_int_gt(scaler_future_read(f, buffer, sizeof buffer - 1, &stream, WAIT_MS), 0);
        const pid_t child = (pid_t)strtol(buffer, NULL, 10);
        ck_assert_int_gt(child, 1);
        ck_assert_int_eq(kill(child, 0), 0);
        ck_assert_int_eq(scaler_future_cancel_wait(f, SCALER_CANCEL_FORCE, WAIT_MS), SCALER_CANCEL_DONE);
        for (int i = 0; i < WAIT_MS && kill(child, 0) == 0; i++) { /* until init has reaped it */
                const char *const argv[] = { "true", NULL };
                expect_text(submit_command(c.client, argv, 0), "");
        }
        ck_assert_int_ne(kill(child, 0), 0);
        scaler_future_unref(f);
}
END_TEST

START_TEST(two_thousand_commands_leave_no_zombie_and_no_descriptor)
{
        const char *const argv[] = { "true", NULL };
        scaler_future    *f[100];
        for (int round = 0; round < 20; round++) {
                for (int i = 0; i < 100; i++)
                        f[i] = submit_command(c.client, argv, 0);
                for (int i = 0; i < 100; i++)
                        expect_text(f[i], "");
        }
        expect_text(shell("ps -o stat= --ppid $PPID | grep -c Z; true", 0), "0\n");
        expect_text(shell("ls /proc/self/fd | wc -l", 0), "4\n"); /* 0 1 2, and the one ls reads the folder by */
}
END_TEST

int main(void)
{
        TCase *t = tcase_create("commands");
        tcase_set_timeout(t, 120);
        tcase_add_checked_fixture(t, up, down);
        tcase_add_test(t, a_command_gives_its_output_and_its_exit);
        tcase_add_test(t, both_outputs_are_kept_apart_or_merged_as_asked);
        tcase_add_test(t, an_exit_code_other_than_0_fails_the_task_with_its_output_kept);
        tcase_add_test(t, a_signal_is_told_as_one);
        tcase_add_test(t, a_command_that_cannot_start_says_which_and_why);
        tcase_add_test(t, environment_folder_and_input_are_as_the_spec_says);
        tcase_add_test(t, niceness_is_added_to_the_workers);
        tcase_add_test(t, without_input_stdin_is_empty);
        tcase_add_test(t, collected_output_is_bounded_and_the_limit_is_told);
        tcase_add_test(t, output_max_ends_a_command_that_prints_more);
        tcase_add_test(t, streamed_output_arrives_whole_and_in_order_whatever_its_size);
        tcase_add_test(t, streamed_output_comes_while_the_command_still_runs);
        tcase_add_test(t, a_command_whose_output_nobody_reads_can_be_cancelled);
        tcase_add_test(t, a_time_limit_kills_a_command_that_ignores_sigterm);
        tcase_add_test(t, a_cancel_takes_the_whole_process_group);
        tcase_add_test(t, two_thousand_commands_leave_no_zombie_and_no_descriptor);
        return run_suite("commands", t);
}
