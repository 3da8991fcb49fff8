/*
 * What commands print and how they are stopped: chunks only when asked for, limits at their edge,
 * outputs closed early or held open by others, signals, kills, and the end of the spawner.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spawn_world.h"

static char dir[64];

static void start_world(void)
{
        snprintf(dir, sizeof dir, "/tmp/test-spawn-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(dir));
        ck_assert_int_eq(setenv("DIR", dir, 1), 0);
        world_start();
}

static void finish_world(void)
{
        char path[100];
        world_finish();
        snprintf(path, sizeof path, "%s/fifo", dir);
        unlink(path);
        ck_assert_int_eq(rmdir(dir), 0);
}

static void make_fifo(void)
{
        char path[100];
        snprintf(path, sizeof path, "%s/fifo", dir);
        ck_assert_int_eq(mkfifo(path, 0600), 0);
}

/* True when the process is gone or on its way; waits for that, with a deadline. */
static bool goes_away(pid_t pid)
{
        for (int i = 0; i < 10000; i++) {
                char  path[64], state = '?';
                snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
                FILE *file = fopen(path, "r");
                if (!file)
                        return true;
                if (fscanf(file, "%*d %*s %c", &state) != 1)
                        state = '?';
                fclose(file);
                if (state == 'Z' || state == 'X')
                        return true;
                nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
        }
        return false;
}

START_TEST(output_of_any_size_arrives_whole)
{
        struct run run = { 0 };
        run_sh(&run, "head -c 200000000 /dev/zero; head -c 3 /dev/zero >&2");
        ck_assert_uint_eq(run.bytes[0], 200000000);
        ck_assert_uint_eq(run.bytes[1], 3);
        ck_assert_int_eq(run.outcome.reason, SC_REASON_SUCCESS);
        ck_assert_uint_le(spawn_mem.mem.used, 1 << 20); /* however much it was */
        forget(&run);
}
END_TEST

START_TEST(both_streams_have_their_turns)
{
        struct run run = { .patient = true };
        start_sh(&run, "yes >&2 & yes");
        for (uint32_t chunks = 1; chunks < 20000 && run.switches <= 4; chunks++) {
                wait_chunks(&run, chunks);
                read_more(&run);
        }
        ck_assert_uint_gt(run.bytes[0], 0);
        ck_assert_uint_gt(run.bytes[1], 0);
        ck_assert_uint_gt(run.switches, 4); /* who prints when is the kernel's affair; none is starved for ever */
        kill_run(&run);
        wait_end(&run);
        forget(&run);
}
END_TEST

START_TEST(nothing_is_read_that_was_not_asked_for)
{
        struct run run = { .patient = true }, others[20] = { 0 };
        start_sh(&run, "yes");
        wait_chunks(&run, 1);
        for (int i = 0; i < 20; i++) { /* meanwhile the spawner is busy with others */
                run_sh(&others[i], "echo x");
                forget(&others[i]);
        }
        ck_assert_uint_eq(run.chunks, 1);
        read_more(&run);
        wait_chunks(&run, 2);
        kill_run(&run);
        wait_end(&run);
        ck_assert_uint_eq(run.chunks, 2);
        ck_assert_int_eq(run.outcome.how, SC_HOW_SIGNALLED);
        ck_assert_int_eq(run.outcome.code, SIGKILL);
        forget(&run);
}
END_TEST

START_TEST(the_end_waits_for_what_was_not_asked_for_yet)
{
        struct run run = { .patient = true }, other = { 0 };
        start_sh(&run, "echo 1; echo 2 >&2");
        wait_chunks(&run, 1);
        run_sh(&other, "exit 0");
        ck_assert(!run.done);
        read_more(&run);
        wait_chunks(&run, 2);
        read_more(&run);
        wait_end(&run);
        ck_assert_uint_eq(run.bytes[0] + run.bytes[1], 4);
        forget(&run);
        forget(&other);
}
END_TEST

static void check_limit(const char *script, uint64_t limit, bool passed)
{
        struct run        run = { 0 };
        struct sc_view    argv[ARGS_MAX];
        struct sc_command command = command_of(argv, script, NULL);
        char              words[100];
        command.flags      = SC_COMMAND_SHELL;
        command.output_max = limit;
        run_command(&run, &command);
        snprintf(words, sizeof words, "output passed its limit of %llu bytes", (unsigned long long)limit);
        ck_assert_int_eq(run.outcome.reason, passed ? SC_REASON_LIMIT : SC_REASON_SUCCESS);
        ck_assert_str_eq(run.words, passed ? words : "");
        ck_assert_uint_eq(run.bytes[0] + run.bytes[1], limit);
        forget(&run);
}

START_TEST(output_may_reach_its_limit_and_not_pass_it)
{
        check_limit("head -c 70000 /dev/zero; head -c 30000 /dev/zero >&2", 100000, false);
        check_limit("head -c 70000 /dev/zero; head -c 30001 /dev/zero >&2", 100000, true);
        check_limit("printf 1", 1, false);
        check_limit("printf 12", 1, true);
        check_limit("yes", 1000000, true);
        check_limit("yes | (trap '' TERM HUP INT PIPE; cat)", 65536, true);
}
END_TEST

START_TEST(a_command_may_close_its_outputs_early)
{
        struct run run = { 0 };
        make_fifo();
        start_sh(&run, "echo first; exec >&- 2>&-; read x < $DIR/fifo; exit $x");
        wait_chunks(&run, 1);
        char path[100];
        snprintf(path, sizeof path, "%s/fifo", dir);
        FILE *fifo = fopen(path, "w");
        ck_assert_ptr_nonnull(fifo);
        fputs("7\n", fifo);
        fclose(fifo);
        wait_end(&run);
        ck_assert_int_eq(run.outcome.code, 7);
        ck_assert_str_eq(said(&run, 1), "first\n");
        forget(&run);
}
END_TEST

START_TEST(output_of_those_it_leaves_behind_is_waited_for)
{
        struct run run = { 0 }, other = { 0 };
        make_fifo();
        start_sh(&run, "(read x < $DIR/fifo; echo $x) & echo first; exit 3");
        wait_chunks(&run, 1);
        run_sh(&other, "echo late > $DIR/fifo");
        wait_end(&run);
        ck_assert_int_eq(run.outcome.code, 3);
        ck_assert_str_eq(said(&run, 1), "first\nlate\n");
        forget(&run);
        forget(&other);
}
END_TEST

START_TEST(a_kill_reaches_the_group_of_a_command_that_has_ended)
{
        struct run run = { 0 };
        start_sh(&run, "sleep 1000 & echo $!; exit 3");
        wait_chunks(&run, 1);
        const pid_t left = atoi(said(&run, 1));
        kill_run(&run);
        wait_end(&run);
        ck_assert(goes_away(left));
        forget(&run);
}
END_TEST

START_TEST(a_kill_does_not_wait_for_those_who_escaped)
{
        struct run run = { 0 };
        start_sh(&run, "setsid sh -c 'echo $$; exec sleep 1000' & wait");
        wait_chunks(&run, 1);
        const pid_t escaped = atoi(said(&run, 1));
        ck_assert_int_gt(escaped, 1);
        kill_run(&run);
        wait_end(&run);
        ck_assert_int_eq(run.outcome.code, SIGKILL);
        ck_assert_int_eq(kill(escaped, SIGKILL), 0); /* it was there, holding the pipes */
        forget(&run);
}
END_TEST

START_TEST(a_kill_does_not_wait_for_a_writer_who_escaped)
{
        struct run run = { 0 };
        start_sh(&run, "setsid sh -c 'echo $$ >&2; exec yes' & wait");
        wait_chunks(&run, 50);
        kill_run(&run);
        wait_end(&run);
        const pid_t escaped = atoi(said(&run, 2));
        ck_assert_int_gt(escaped, 1);
        kill(escaped, SIGKILL); /* by then SIGPIPE may have been quicker */
        forget(&run);
}
END_TEST

START_TEST(what_was_said_before_a_kill_is_delivered)
{
        struct run run = { .patient = true }, other = { 0 };
        make_fifo();
        start_sh(&run, "echo 1; echo 2 >&2; echo > $DIR/fifo; sleep 1000");
        wait_chunks(&run, 1);
        run_sh(&other, "read x < $DIR/fifo"); /* both have been said */
        run.patient = false;
        sc_loop_hold(spawn_loop);
        sc_child_read_more(run.child);
        sc_child_kill(run.child);
        sc_loop_release(spawn_loop);
        wait_end(&run);
        ck_assert_uint_eq(run.bytes[0] + run.bytes[1], 4);
        forget(&run);
        forget(&other);
}
END_TEST

START_TEST(a_command_that_ignores_sigterm_is_killed)
{
        struct run run = { 0 }, other = { 0 };
        start_sh(&run, "trap '' TERM; echo ready; while :; do sleep 1000; done");
        wait_chunks(&run, 1);
        send_signal(&run, SIGTERM);
        run_sh(&other, "exit 0");
        ck_assert(!run.done);
        kill_run(&run);
        wait_end(&run);
        ck_assert_int_eq(run.outcome.code, SIGKILL);
        forget(&run);
        forget(&other);
}
END_TEST

START_TEST(a_signal_reaches_the_whole_group)
{
        struct run run = { 0 };
        start_sh(&run, "trap 'wait; echo outer; exit 5' TERM; "
                       "(trap 'echo inner; exit' TERM; echo; while :; do sleep 0.01; done) & wait");
        wait_chunks(&run, 1);
        send_signal(&run, SIGTERM);
        wait_end(&run);
        ck_assert_ptr_nonnull(strstr(said(&run, 1), "inner"));
        ck_assert_ptr_nonnull(strstr(said(&run, 1), "outer"));
        ck_assert_int_eq(run.outcome.code, 5);
        forget(&run);
}
END_TEST

START_TEST(a_command_that_left_its_group_still_hears_signals)
{
        struct run        run = { 0 };
        struct sc_view    argv[ARGS_MAX];
        struct sc_command command =
                command_of(argv, "python3", "-c", "import os, time; "
                                                  "os.setpgid(0, os.getpgid(os.getppid())); "
                                                  "print(flush=True); time.sleep(1000)", NULL);
        ck_assert_int_eq(start(&run, &command), SC_OK);
        wait_chunks(&run, 1);
        send_signal(&run, SIGTERM);
        wait_end(&run);
        ck_assert_int_eq(run.outcome.code, SIGTERM);
        forget(&run);
}
END_TEST

START_TEST(a_kill_before_the_start_prevents_it)
{
        struct run        run = { 0 };
        struct sc_view    argv[ARGS_MAX];
        struct sc_command command = command_of(argv, "sleep", "1000", NULL);
        sc_loop_hold(spawn_loop);
        ck_assert_int_eq(sc_child_start(spawner, &command, &run, &run.child), SC_OK);
        sc_child_signal(run.child, SIGTERM);
        sc_child_kill(run.child);
        sc_child_kill(run.child);
        sc_loop_release(spawn_loop);
        wait_end(&run);
        ck_assert(run.outcome.how == SC_HOW_NOT_STARTED || run.outcome.how == SC_HOW_SIGNALLED);
}
END_TEST

START_TEST(destroying_the_spawner_ends_all_that_runs)
{
        static struct run runs[4];
        memset(runs, 0, sizeof runs);
        runs[3].patient = true;
        start_sh(&runs[0], "trap '' TERM; echo $$; while :; do sleep 1000; done");
        start_sh(&runs[1], "sleep 1000 & echo $!; exit 0");
        start_sh(&runs[2], "echo $$; yes");
        start_sh(&runs[3], "echo $$; yes");
        pid_t pids[4];
        for (int i = 0; i < 4; i++) {
                wait_chunks(&runs[i], 1);
                sc_loop_hold(spawn_loop);
                const struct sc_buf *said = &runs[i].said[0];
                char                 text[16];
                snprintf(text, sizeof text, "%.*s", (int)(said->len < 15 ? said->len : 15), (const char *)said->data);
                pids[i] = atoi(text);
                sc_loop_release(spawn_loop);
        }
        sc_loop_hold(spawn_loop);
        sc_spawner_destroy(spawner);
        spawner = NULL;
        sc_loop_release(spawn_loop);
        for (int i = 0; i < 4; i++) {
                ck_assert(goes_away(pids[i]));
                ck_assert_uint_eq(runs[i].ends, 0);
                forget(&runs[i]);
        }
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("spawn_output");
        tcase_add_checked_fixture(tests, start_world, finish_world);
        tcase_add_test(tests, output_of_any_size_arrives_whole);
        tcase_add_test(tests, both_streams_have_their_turns);
        tcase_add_test(tests, nothing_is_read_that_was_not_asked_for);
        tcase_add_test(tests, the_end_waits_for_what_was_not_asked_for_yet);
        tcase_add_test(tests, output_may_reach_its_limit_and_not_pass_it);
        tcase_add_test(tests, a_command_may_close_its_outputs_early);
        tcase_add_test(tests, output_of_those_it_leaves_behind_is_waited_for);
        tcase_add_test(tests, a_kill_reaches_the_group_of_a_command_that_has_ended);
        tcase_add_test(tests, a_kill_does_not_wait_for_those_who_escaped);
        tcase_add_test(tests, a_kill_does_not_wait_for_a_writer_who_escaped);
        tcase_add_test(tests, what_was_said_before_a_kill_is_delivered);
        tcase_add_test(tests, a_command_that_ignores_sigterm_is_killed);
        tcase_add_test(tests, a_signal_reaches_the_whole_group);
        tcase_add_test(tests, a_command_that_left_its_group_still_hears_signals);
        tcase_add_test(tests, a_kill_before_the_start_prevents_it);
        tcase_add_test(tests, destroying_the_spawner_ends_all_that_runs);
        return run_tests("spawn_output", tests);
}
