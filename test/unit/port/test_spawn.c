/*
 * How a command is started and how it ends: arguments, environment, directory, input, the search for
 * the file, exact errors, exit codes, signals and figures.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spawn_world.h"

static char dir[64];

static void start_world(void)
{
        snprintf(dir, sizeof dir, "/tmp/test-spawn-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(dir));
        world_start();
}

static void finish_world(void)
{
        world_finish();
        ck_assert_int_eq(rmdir(dir), 0);
}

static const char *in_dir(const char *name)
{
        static char path[128];
        snprintf(path, sizeof path, "%s/%s", dir, name);
        return path;
}

static void make_file(const char *name, const char *text, mode_t mode)
{
        FILE *file = fopen(in_dir(name), "w");
        ck_assert_ptr_nonnull(file);
        fputs(text, file);
        fclose(file);
        ck_assert_int_eq(chmod(in_dir(name), mode), 0);
}

START_TEST(a_command_runs_and_both_outputs_arrive)
{
        struct run run = { 0 };
        run_sh(&run, "echo out; echo err >&2");
        ck_assert_str_eq(said(&run, 1), "out\n");
        ck_assert_str_eq(said(&run, 2), "err\n");
        ck_assert_int_eq(run.outcome.reason, SC_REASON_SUCCESS);
        ck_assert_int_eq(run.outcome.how, SC_HOW_EXITED);
        ck_assert_int_eq(run.outcome.code, 0);
        ck_assert_str_eq(run.words, "");
        ck_assert_uint_gt(run.outcome.wall_us, 0);
        forget(&run);
}
END_TEST

START_TEST(an_exit_code_is_told)
{
        struct run run = { 0 };
        run_sh(&run, "exit 200");
        ck_assert_int_eq(run.outcome.reason, SC_REASON_TASK);
        ck_assert_int_eq(run.outcome.how, SC_HOW_EXITED);
        ck_assert_int_eq(run.outcome.code, 200);
        ck_assert_str_eq(run.words, "exit code 200");
        forget(&run);
}
END_TEST

START_TEST(a_signal_is_told)
{
        struct run run = { 0 };
        run_sh(&run, "kill -SEGV $$");
        ck_assert_int_eq(run.outcome.reason, SC_REASON_TASK);
        ck_assert_int_eq(run.outcome.how, SC_HOW_SIGNALLED);
        ck_assert_int_eq(run.outcome.code, SIGSEGV);
        ck_assert_str_eq(run.words, "killed by signal 11 (SIGSEGV)");
        forget(&run);
}
END_TEST

START_TEST(arguments_arrive_as_they_are)
{
        struct run        run = { 0 };
        struct sc_view    argv[ARGS_MAX];
        struct sc_command command = command_of(argv, "printf", "<%s>", "", "a b", "$HOME", "'\"\\*", "\xff\n", NULL);
        run_command(&run, &command);
        ck_assert_str_eq(said(&run, 1), "<><a b><$HOME><'\"\\*><\xff\n>");
        forget(&run);
}
END_TEST

START_TEST(a_shell_script_gets_its_arguments)
{
        struct run        run = { 0 };
        struct sc_view    argv[ARGS_MAX];
        struct sc_command command = command_of(argv, "printf '<%s>' \"$0\" \"$#\" \"$@\"", "a b", "$(c)", NULL);
        command.flags             = SC_COMMAND_SHELL;
        run_command(&run, &command);
        ck_assert_str_eq(said(&run, 1), "<sh><2><a b><$(c)>");
        forget(&run);
}
END_TEST

START_TEST(the_environment_is_ours_with_the_changes_asked_for)
{
        struct run        run = { 0 };
        struct sc_view    argv[ARGS_MAX];
        struct sc_command command = command_of(argv, "env", NULL);
        struct sc_view    env[]   = { view("KEPT_A=new"), view("KEPT_B"), view("MADE=1"), view("MADE=2=3"),
                                      view("GONE=x"),     view("GONE"),   view(""),       view("NEVER") };
        command.env               = env;
        command.envc              = sizeof env / sizeof env[0];
        run_command(&run, &command);
        const char *text = said(&run, 1);
        ck_assert_ptr_nonnull(strstr(text, "KEPT_A=new\n"));
        ck_assert_ptr_null(strstr(text, "KEPT_A=old"));
        ck_assert_ptr_null(strstr(text, "KEPT_B"));
        ck_assert_ptr_nonnull(strstr(text, "KEPT_C=c\n"));
        ck_assert_ptr_nonnull(strstr(text, "MADE=2=3\n"));
        ck_assert_ptr_null(strstr(text, "MADE=1"));
        ck_assert_ptr_null(strstr(text, "GONE"));
        ck_assert_ptr_nonnull(strstr(text, "PATH="));
        forget(&run);
}
END_TEST

START_TEST(an_empty_environment_is_empty)
{
        struct run        run = { 0 };
        struct sc_view    argv[ARGS_MAX];
        struct sc_command command = command_of(argv, "env", NULL);
        struct sc_view    env[]   = { view("ONLY=this") };
        command.flags             = SC_COMMAND_CLEAR_ENV;
        command.env               = env;
        command.envc              = 1;
        run_command(&run, &command); /* found without a PATH */
        ck_assert_str_eq(said(&run, 1), "ONLY=this\n");
        forget(&run);
}
END_TEST

START_TEST(thousands_of_variables_are_no_trouble)
{
        enum { COUNT = 5000 };
        static char           text[COUNT][32];
        static struct sc_view env[COUNT * 2];
        struct run            run = { 0 };
        struct sc_view        argv[ARGS_MAX];
        struct sc_command     command = command_of(argv, "env", NULL);
        for (int i = 0; i < COUNT; i++) {
                snprintf(text[i], sizeof text[i], "V%d=%d", i, i);
                env[i] = view(text[i]);
                /* every second one is removed again */
                env[COUNT + i] = i % 2 ? view("PATH") : (struct sc_view){ text[i], strcspn(text[i], "=") };
        }
        command.flags = SC_COMMAND_CLEAR_ENV;
        command.env   = env;
        command.envc  = COUNT * 2;
        run_command(&run, &command);
        int lines = 0;
        for (const char *at = said(&run, 1); (at = strchr(at, '\n')); at++)
                lines++;
        ck_assert_int_eq(lines, COUNT / 2);
        ck_assert_int_eq(strncmp(said(&run, 1), "V1=1\nV3=3\n", 10), 0);
        forget(&run);
}
END_TEST

START_TEST(the_directory_is_entered)
{
        struct run        run = { 0 };
        struct sc_view    argv[ARGS_MAX];
        struct sc_command command = command_of(argv, "pwd", NULL);
        command.cwd               = view(dir);
        run_command(&run, &command);
        ck_assert_int_eq(strncmp(said(&run, 1), dir, strlen(dir)), 0);
        forget(&run);
}
END_TEST

START_TEST(niceness_is_added_and_stops_at_nineteen)
{
        for (uint32_t asked = 0; asked <= 19; asked += 19) {
                struct run        run = { 0 };
                struct sc_view    argv[ARGS_MAX];
                struct sc_command command = command_of(argv, "nice", NULL);
                char              expected[16];
                const int         ours = getpriority(PRIO_PROCESS, 0) + (int)asked;
                command.nice           = asked;
                snprintf(expected, sizeof expected, "%d\n", ours < 19 ? ours : 19);
                run_command(&run, &command);
                ck_assert_str_eq(said(&run, 1), expected);
                forget(&run);
        }
}
END_TEST

START_TEST(a_missing_directory_is_named)
{
        struct run        run = { 0 };
        struct sc_view    argv[ARGS_MAX];
        struct sc_command command = command_of(argv, "pwd", NULL);
        command.cwd               = view("/nowhere/at all");
        run_command(&run, &command);
        ck_assert_int_eq(run.outcome.reason, SC_REASON_NOT_STARTED);
        ck_assert_int_eq(run.outcome.how, SC_HOW_NOT_STARTED);
        ck_assert_int_eq(run.outcome.code, ENOENT);
        ck_assert_str_eq(run.words, "cannot enter directory '/nowhere/at all': no such file or directory");
        forget(&run);
}
END_TEST

static void check_not_started(const char *file, int code, const char *words)
{
        struct run        run = { 0 };
        struct sc_view    argv[ARGS_MAX];
        struct sc_command command = command_of(argv, file, NULL);
        command.cwd               = view(dir);
        run_command(&run, &command);
        ck_assert_int_eq(run.outcome.reason, SC_REASON_NOT_STARTED);
        ck_assert_int_eq(run.outcome.how, SC_HOW_NOT_STARTED);
        ck_assert_int_eq(run.outcome.code, code);
        ck_assert_str_eq(run.words, words);
        forget(&run);
}

START_TEST(a_command_that_cannot_run_says_exactly_why)
{
        char long_name[400];
        make_file("plain", "no program", 0644);
        make_file("orphan", "#!/nowhere/interpreter\n", 0755);
        check_not_started("no-such-command-anywhere", ENOENT, "command not found: 'no-such-command-anywhere'");
        check_not_started("", ENOENT, "command not found: ''");
        check_not_started("./missing", ENOENT,
                          "cannot run './missing': no such file or directory (the file or its interpreter)");
        check_not_started("./orphan", ENOENT,
                          "cannot run './orphan': no such file or directory (the file or its interpreter)");
        check_not_started("./plain", EACCES, "cannot run './plain': permission denied");
        check_not_started("/", EACCES, "cannot run '/': permission denied");
        check_not_started("./plain/x", ENOTDIR, "cannot run './plain/x': not a directory");
        memset(long_name, 'n', sizeof long_name);
        long_name[300] = '\0';
        struct run        run = { 0 };
        struct sc_view    argv[ARGS_MAX];
        struct sc_command command = command_of(argv, long_name, NULL);
        run_command(&run, &command);
        ck_assert_int_eq(run.outcome.code, ENAMETOOLONG);
        forget(&run);
        unlink(in_dir("plain"));
        unlink(in_dir("orphan"));
}
END_TEST

START_TEST(an_argument_list_too_long_is_called_so)
{
        static char       big[200 * 1024]; /* one argument may have 128 KiB */
        struct run        run = { 0 };
        struct sc_view    argv[ARGS_MAX];
        struct sc_command command = command_of(argv, "true", NULL);
        memset(big, 'x', sizeof big);
        argv[1]      = (struct sc_view){ big, sizeof big };
        command.argc = 2;
        run_command(&run, &command);
        ck_assert_int_eq(run.outcome.reason, SC_REASON_NOT_STARTED);
        ck_assert_int_eq(run.outcome.code, E2BIG);
        ck_assert_str_eq(run.words, "cannot run 'true': argument list too long");
        forget(&run);
}
END_TEST

START_TEST(a_file_is_searched_in_the_path_of_the_command)
{
        char              path[256];
        struct run        run = { 0 }, denied = { 0 };
        struct sc_view    argv[ARGS_MAX];
        struct sc_command command = command_of(argv, "tool", NULL);
        make_file("tool", "#!/bin/sh\necho found\n", 0755);
        snprintf(path, sizeof path, "PATH=/nowhere::%s", dir);
        struct sc_view env[] = { view(path) };
        command.env          = env;
        command.envc         = 1;
        run_command(&run, &command);
        ck_assert_str_eq(said(&run, 1), "found\n");
        make_file("tool", "#!/bin/sh\necho found\n", 0644);
        run_command(&denied, &command);
        ck_assert_int_eq(denied.outcome.code, EACCES);
        ck_assert_str_eq(denied.words, "cannot run 'tool': permission denied");
        forget(&run);
        forget(&denied);
        unlink(in_dir("tool"));
}
END_TEST

/* What was found a moment ago is tried first; when it is gone, the path is searched again. */
START_TEST(a_file_that_has_gone_is_searched_again)
{
        char              path[512], late[256];
        struct run        first = { 0 }, again = { 0 }, second = { 0 };
        struct sc_view    argv[ARGS_MAX];
        struct sc_command command = command_of(argv, "tool", NULL);
        snprintf(late, sizeof late, "%s/late", dir);
        snprintf(path, sizeof path, "PATH=/nowhere:%s:%s", dir, late);
        ck_assert_int_eq(mkdir(late, 0755), 0);
        make_file("tool", "#!/bin/sh\necho first\n", 0755);
        make_file("late/tool", "#!/bin/sh\necho second\n", 0755);
        struct sc_view env[] = { view(path) };
        command.env          = env;
        command.envc         = 1;
        run_command(&first, &command);
        run_command(&again, &command);
        unlink(in_dir("tool"));
        run_command(&second, &command);
        ck_assert_str_eq(said(&first, 1), "first\n");
        ck_assert_str_eq(said(&again, 1), "first\n");
        ck_assert_str_eq(said(&second, 1), "second\n");
        forget(&first);
        forget(&again);
        forget(&second);
        unlink(in_dir("late/tool"));
        rmdir(late);
}
END_TEST

START_TEST(what_was_found_in_one_path_is_not_taken_for_another)
{
        char              path[512];
        struct run        found = { 0 }, missed = { 0 };
        struct sc_view    argv[ARGS_MAX];
        struct sc_command command = command_of(argv, "tool", NULL);
        make_file("tool", "#!/bin/sh\necho found\n", 0755);
        snprintf(path, sizeof path, "PATH=%s", dir);
        struct sc_view env[] = { view(path) };
        command.env          = env;
        command.envc         = 1;
        run_command(&found, &command);
        env[0] = view("PATH=/nowhere");
        run_command(&missed, &command);
        ck_assert_str_eq(said(&found, 1), "found\n");
        ck_assert_int_eq(missed.outcome.code, ENOENT);
        forget(&found);
        forget(&missed);
        unlink(in_dir("tool"));
}
END_TEST

START_TEST(directories_too_long_for_a_path_are_skipped)
{
        static char       path[9000];
        struct run        run = { 0 };
        struct sc_view    argv[ARGS_MAX];
        struct sc_command command = command_of(argv, "echo", "here", NULL);
        memset(path, 'd', sizeof path);
        memcpy(path, "PATH=/", 6);
        snprintf(path + 8000, sizeof path - 8000, ":/bin:/usr/bin");
        struct sc_view env[] = { view(path) };
        command.env          = env;
        command.envc         = 1;
        run_command(&run, &command);
        ck_assert_str_eq(said(&run, 1), "here\n");
        forget(&run);
}
END_TEST

START_TEST(a_relative_file_is_one_of_the_new_directory)
{
        struct run        run = { 0 };
        struct sc_view    argv[ARGS_MAX];
        struct sc_command command = command_of(argv, "./plain-script", "arg", NULL);
        make_file("plain-script", "echo \"$0 $1\"\n", 0755); /* no #!: run by sh, as execvp does */
        command.cwd = view(dir);
        run_command(&run, &command);
        ck_assert_str_eq(said(&run, 1), "./plain-script arg\n");
        unlink(in_dir("plain-script"));
        forget(&run);
}
END_TEST

START_TEST(without_input_stdin_is_empty)
{
        struct run run = { 0 };
        run_sh(&run, "readlink /proc/self/fd/0; cat");
        ck_assert_str_eq(said(&run, 1), "/dev/null\n");
        forget(&run);
}
END_TEST

START_TEST(input_arrives_whole)
{
        static char       input[1 << 20];
        struct run        run = { 0 }, unread = { 0 };
        struct sc_view    argv[ARGS_MAX];
        struct sc_command command = command_of(argv, "cat", NULL);
        for (size_t i = 0; i < sizeof input; i++)
                input[i] = (char)(i * 7 % 251);
        command.input = (struct sc_view){ input, sizeof input };
        run_command(&run, &command);
        ck_assert_uint_eq(run.said[0].len, sizeof input);
        ck_assert_mem_eq(run.said[0].data, input, sizeof input);
        command       = command_of(argv, "sh", "-c", "echo x >&0 || echo sealed", NULL);
        command.input = (struct sc_view){ input, 100 };
        run_command(&unread, &command); /* nobody reads it: no harm, no signal */
        ck_assert_int_eq(unread.outcome.reason, SC_REASON_SUCCESS);
        ck_assert_str_eq(said(&unread, 1), "sealed\n");
        forget(&run);
        forget(&unread);
}
END_TEST

START_TEST(merged_outputs_keep_their_order)
{
        struct run        run = { 0 };
        struct sc_view    argv[ARGS_MAX];
        struct sc_command command = command_of(argv, "for i in 1 2 3; do echo o$i; echo e$i >&2; done", NULL);
        command.flags             = SC_COMMAND_SHELL | SC_COMMAND_MERGE;
        run_command(&run, &command);
        ck_assert_str_eq(said(&run, 1), "o1\ne1\no2\ne2\no3\ne3\n");
        ck_assert_uint_eq(run.bytes[1], 0);
        forget(&run);
}
END_TEST

START_TEST(figures_are_those_of_the_command)
{
        struct run run = { 0 };
        run_sh(&run, "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; "
                     "head -c 150000000 /dev/zero | tail -c 149000000 >/dev/null");
        ck_assert_int_eq(run.outcome.reason, SC_REASON_SUCCESS);
        ck_assert_uint_gt(run.outcome.user_us, 1000);
        ck_assert_uint_gt(run.outcome.sys_us, 0);
        ck_assert_uint_ge(run.outcome.peak_kib, 140000); /* tail keeps it all */
        ck_assert_uint_gt(run.outcome.wall_us, run.outcome.user_us / 2);
        forget(&run);
}
END_TEST

START_TEST(without_memory_nothing_is_started_and_nothing_leaks)
{
        struct sc_view    argv[ARGS_MAX];
        struct sc_command command = command_of(argv, "true", NULL);
        struct sc_view    env[]   = { view("A=1") };
        command.env               = env;
        command.envc              = 1;
        for (size_t n = 1;; n++) {
                struct run run    = { 0 };
                spawn_mem.fail_at = spawn_mem.asked + n;
                const int status  = start(&run, &command);
                if (status == SC_OK)
                        wait_end(&run);
                else
                        ck_assert_int_eq(status, SC_E_NOMEM);
                forget(&run);
                ck_assert_uint_le(n, 10);
                if (!fail_mem_hit(&spawn_mem))
                        break;
        }
}
END_TEST

START_TEST(a_spawner_without_memory_is_none)
{
        static const struct sc_child_upcalls none = { 0 };
        for (size_t n = 1;; n++) {
                struct fail_mem    mem;
                struct sc_spawner *made = NULL;
                fail_mem_init(&mem, n);
                const int status = sc_spawner_create(&mem.mem, spawn_loop, &none, &made);
                if (status == SC_OK) {
                        sc_loop_hold(spawn_loop);
                        sc_spawner_destroy(made);
                        sc_loop_release(spawn_loop);
                }
                ck_assert_uint_eq(fail_mem_leaks(&mem), 0);
                ck_assert(status == SC_OK || status == SC_E_NOMEM);
                if (!fail_mem_hit(&mem))
                        break;
        }
}
END_TEST

int main(void)
{
        setenv("KEPT_A", "old", 1);
        setenv("KEPT_B", "b", 1);
        setenv("KEPT_C", "c", 1);
        TCase *tests = tcase_create("spawn");
        tcase_add_checked_fixture(tests, start_world, finish_world);
        tcase_add_test(tests, a_command_runs_and_both_outputs_arrive);
        tcase_add_test(tests, an_exit_code_is_told);
        tcase_add_test(tests, a_signal_is_told);
        tcase_add_test(tests, arguments_arrive_as_they_are);
        tcase_add_test(tests, a_shell_script_gets_its_arguments);
        tcase_add_test(tests, the_environment_is_ours_with_the_changes_asked_for);
        tcase_add_test(tests, an_empty_environment_is_empty);
        tcase_add_test(tests, thousands_of_variables_are_no_trouble);
        tcase_add_test(tests, the_directory_is_entered);
        tcase_add_test(tests, niceness_is_added_and_stops_at_nineteen);
        tcase_add_test(tests, a_missing_directory_is_named);
        tcase_add_test(tests, a_command_that_cannot_run_says_exactly_why);
        tcase_add_test(tests, an_argument_list_too_long_is_called_so);
        tcase_add_test(tests, a_file_is_searched_in_the_path_of_the_command);
        tcase_add_test(tests, a_file_that_has_gone_is_searched_again);
        tcase_add_test(tests, what_was_found_in_one_path_is_not_taken_for_another);
        tcase_add_test(tests, directories_too_long_for_a_path_are_skipped);
        tcase_add_test(tests, a_relative_file_is_one_of_the_new_directory);
        tcase_add_test(tests, without_input_stdin_is_empty);
        tcase_add_test(tests, input_arrives_whole);
        tcase_add_test(tests, merged_outputs_keep_their_order);
        tcase_add_test(tests, figures_are_those_of_the_command);
        tcase_add_test(tests, without_memory_nothing_is_started_and_nothing_leaks);
        tcase_add_test(tests, a_spawner_without_memory_is_none);
        return run_tests("spawn", tests);
}
