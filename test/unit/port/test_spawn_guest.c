/*
 * The manners of a guest: the host's signals, children, descriptors and limits are neither disturbed
 * nor relied upon, and children inherit nothing of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spawn_world.h"

START_TEST(a_child_leads_a_group_of_its_own)
{
        struct run run = { 0 };
        int        pid = 0, group = 0;
        run_sh(&run, "read -r pid name state parent group rest < /proc/self/stat; echo $$ $group");
        ck_assert_int_eq(sscanf(said(&run, 1), "%d %d", &pid, &group), 2);
        ck_assert_int_eq(pid, group);
        ck_assert_int_ne(group, getpgrp());
        forget(&run);
}
END_TEST

static void nothing(int signal)
{
        (void)signal;
}

START_TEST(a_child_has_default_signals_and_none_blocked)
{
        struct run run = { 0 };
        sigset_t   set;
        sigemptyset(&set);
        sigaddset(&set, SIGUSR1);
        pthread_sigmask(SIG_BLOCK, &set, NULL);
        signal(SIGPIPE, SIG_IGN);
        signal(SIGQUIT, SIG_IGN);
        signal(SIGRTMAX, SIG_IGN);
        signal(SIGUSR2, nothing);
        struct sc_view    argv[ARGS_MAX];
        struct sc_command command = command_of(argv, "sed", "-n", "/^Sig[BIC]/p", "/proc/self/status", NULL);
        run_command(&run, &command);
        ck_assert_str_eq(said(&run, 1), "SigBlk:\t0000000000000000\n"
                                         "SigIgn:\t0000000000000000\nSigCgt:\t0000000000000000\n");
        forget(&run);
}
END_TEST

START_TEST(a_child_has_no_descriptors_but_three)
{
        struct run        run    = { 0 };
        const int         stray  = open("/dev/null", O_RDONLY); /* to be inherited, as the host has it */
        const int         higher = fcntl(stray, F_DUPFD, 200);
        struct sc_view    argv[ARGS_MAX];
        struct sc_command command = command_of(argv, "ls", "/proc/self/fd", NULL);
        command.input             = view("x");
        run_command(&run, &command);
        ck_assert_str_eq(said(&run, 1), "0\n1\n2\n3\n"); /* 3 is the directory that ls looks into */
        close(stray);
        close(higher);
        forget(&run);
}
END_TEST

START_TEST(descriptors_of_ours_are_not_inherited_by_what_the_host_starts)
{
        struct run run = { 0 };
        start_sh(&run, "echo; sleep 1000");
        wait_chunks(&run, 1);
        FILE *host = popen("ls /proc/self/fd | wc -l", "r");
        int   open = 0;
        ck_assert_int_eq(fscanf(host, "%d", &open), 1);
        pclose(host);
        kill_run(&run);
        wait_end(&run);
        host        = popen("ls /proc/self/fd | wc -l", "r");
        int without = 0;
        ck_assert_int_eq(fscanf(host, "%d", &without), 1);
        pclose(host);
        ck_assert_int_eq(open, without);
        forget(&run);
}
END_TEST

/* In a fork of its own, whose descriptors 0, 1 and 2 are closed. */
START_TEST(a_host_without_stdio_can_run_commands)
{
        world_finish();
        const pid_t pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                struct run run = { 0 };
                close(0);
                close(1);
                close(2);
                world_start();
                struct sc_view    argv[ARGS_MAX];
                struct sc_command command = command_of(argv, "cat; echo err >&2", NULL);
                command.flags             = SC_COMMAND_SHELL;
                command.input             = view("in\n");
                run_command(&run, &command);
                const bool good = strcmp(said(&run, 1), "in\n") == 0 && strcmp(said(&run, 2), "err\n") == 0;
                forget(&run);
                world_finish();
                _exit(good ? 0 : 1);
        }
        int status = -1;
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_int_eq(status, 0);
        world_start();
}
END_TEST

START_TEST(a_host_that_ignores_sigchld_gets_output_and_an_honest_end)
{
        struct run run = { 0 };
        signal(SIGCHLD, SIG_IGN);
        run_sh(&run, "echo whole; exit 3");
        signal(SIGCHLD, SIG_DFL);
        ck_assert_str_eq(said(&run, 1), "whole\n");
        ck_assert_int_eq(run.outcome.how, SC_HOW_STOLEN);
        ck_assert_int_eq(run.outcome.reason, SC_REASON_TASK);
        ck_assert_ptr_nonnull(strstr(run.words, "stolen"));
        forget(&run);
}
END_TEST

START_TEST(a_host_that_ignores_sigchld_can_kill_what_runs)
{
        struct run run = { 0 };
        signal(SIGCHLD, SIG_IGN);
        start_sh(&run, "echo; sleep 1000");
        wait_chunks(&run, 1);
        kill_run(&run);
        wait_end(&run);
        signal(SIGCHLD, SIG_DFL);
        ck_assert_int_eq(run.outcome.how, SC_HOW_STOLEN);
        forget(&run);
}
END_TEST

static atomic_bool thief_goes_home;
static atomic_int  thefts;

static void *steal(void *arg)
{
        (void)arg;
        while (!thief_goes_home)
                if (waitpid(-1, NULL, 0) > 0)
                        thefts++;
        return NULL;
}

START_TEST(a_host_that_waits_for_every_child_does_not_hang_us)
{
        enum { RUNS = 100 };
        pthread_t thief;
        int       stolen = 0;
        thief_goes_home  = false;
        thefts           = 0;
        ck_assert_int_eq(pthread_create(&thief, NULL, steal, NULL), 0);
        for (int i = 0; i < RUNS; i++) {
                struct run run = { 0 };
                run_sh(&run, i % 2 ? "exit 3" : "sleep 0.001 & exit 3");
                if (run.outcome.how == SC_HOW_STOLEN)
                        stolen++;
                else
                        ck_assert_int_eq(run.outcome.code, 3);
                forget(&run);
        }
        thief_goes_home = true;
        pthread_join(thief, NULL);
        ck_assert_int_le(stolen, thefts);
}
END_TEST

static atomic_int handled;

static void count(int signal)
{
        (void)signal;
        handled++;
}

START_TEST(the_host_handles_its_own_signals)
{
        struct run run = { 0 };
        handled        = 0;
        signal(SIGCHLD, count);
        for (int i = 0; i < 50; i++) {
                run = (struct run){ 0 };
                run_sh(&run, i % 2 ? "exit 0" : "kill -USR1 $$");
                ck_assert_int_eq(run.outcome.how, i % 2 ? SC_HOW_EXITED : SC_HOW_SIGNALLED);
                forget(&run);
        }
        signal(SIGCHLD, SIG_DFL);
        ck_assert_int_gt(handled, 0);
}
END_TEST

static void limit_descriptors(rlim_t limit, rlim_t *before)
{
        struct rlimit now;
        ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &now), 0);
        if (before)
                *before = now.rlim_cur;
        now.rlim_cur = limit;
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &now), 0);
}

START_TEST(a_host_out_of_descriptors_is_told_so)
{
        rlim_t    before;
        const int next = dup(0);
        close(next);
        for (int spare = 0; spare < 6; spare++) { /* each place where the last one is missed */
                struct run        run = { 0 };
                struct sc_view    argv[ARGS_MAX];
                struct sc_command command = command_of(argv, "true", NULL);
                command.input             = view("x");
                const int open_before     = open_descriptors();
                limit_descriptors((rlim_t)(next + spare), &before);
                run_command(&run, &command);
                limit_descriptors(before, NULL);
                ck_assert_int_eq(run.outcome.reason, SC_REASON_NOT_STARTED);
                ck_assert_int_eq(run.outcome.code, EMFILE);
                ck_assert_ptr_nonnull(strstr(run.words, "too many open descriptors in this process"));
                ck_assert_int_eq(open_descriptors(), open_before);
                forget(&run);
        }
        struct run run = { 0 };
        run_sh(&run, "echo again");
        ck_assert_str_eq(said(&run, 1), "again\n");
        forget(&run);
}
END_TEST

START_TEST(a_command_waits_while_others_hold_the_descriptors_it_needs)
{
        rlim_t     before;
        struct run holder = { .patient = true }, run = { 0 };
        start_sh(&holder, "echo; sleep 1000");
        wait_chunks(&holder, 1);
        const int next = dup(0);
        close(next);
        limit_descriptors((rlim_t)(next + 5), &before); /* a start needs five */
        start_sh(&run, "echo at last");
        struct run second = { 0 };
        start_sh(&second, "echo second");
        kill_run(&holder);
        wait_end(&holder); /* its three descriptors are what the others wait for */
        wait_end(&run);
        wait_end(&second);
        limit_descriptors(before, NULL);
        ck_assert_msg(run.outcome.reason == SC_REASON_SUCCESS, "%s", run.words);
        ck_assert_str_eq(said(&run, 1), "at last\n");
        ck_assert_str_eq(said(&second, 1), "second\n");
        forget(&holder);
        forget(&run);
        forget(&second);
}
END_TEST

/* A fork of the host takes copies of our descriptors along, and with them what epoll knows of them. */
START_TEST(a_host_that_forks_gets_no_events_of_the_gone)
{
        struct run  runs[2] = { { .patient = true }, { 0 } };
        int         gate[2];
        ck_assert_int_eq(pipe(gate), 0);
        start_sh(&runs[0], "echo; sleep 1000");
        wait_chunks(&runs[0], 1);
        const pid_t host = fork();
        if (host == 0) {
                char byte;
                close(gate[1]);
                _exit(read(gate[0], &byte, 1) == 0 ? 0 : 1);
        }
        close(gate[0]);
        kill_run(&runs[0]);
        wait_end(&runs[0]);
        for (int i = 0; i < 50; i++) {
                runs[1] = (struct run){ 0 };
                run_sh(&runs[1], "echo x; echo y >&2");
                forget(&runs[1]);
        }
        forget(&runs[0]);
        close(gate[1]);
        ck_assert_int_eq(waitpid(host, NULL, 0), host);
}
END_TEST

enum { CHAIN = 400, SLOTS = 4 };
static struct run chain[CHAIN];
static int        begun; /* of the token */

static void start_next(struct run *run)
{
        struct sc_view    argv[ARGS_MAX];
        struct sc_command command = command_of(argv, "true", NULL);
        (void)run;
        if (begun == CHAIN)
                return;
        struct run *next = &chain[begun++];
        next->then       = start_next;
        ck_assert_int_eq(sc_child_start(spawner, &command, next, &next->child), SC_OK);
}

START_TEST(the_next_is_started_from_the_end_of_the_last)
{
        memset(chain, 0, sizeof chain);
        begun = 0;
        sc_loop_hold(spawn_loop);
        for (int i = 0; i < SLOTS; i++)
                start_next(NULL);
        sc_loop_release(spawn_loop);
        for (int i = 0; i < CHAIN; i++) {
                wait_end(&chain[i]);
                ck_assert_int_eq(chain[i].outcome.reason, SC_REASON_SUCCESS);
        }
}
END_TEST

START_TEST(a_hundred_at_once_all_end)
{
        enum { RUNS = 100 };
        static struct run runs[RUNS];
        for (int i = 0; i < RUNS; i++) {
                runs[i] = (struct run){ 0 };
                start_sh(&runs[i], i % 3 ? "echo a; echo b >&2; exit 1" : "head -c 100000 /dev/zero; exit 1");
        }
        for (int i = 0; i < RUNS; i++) {
                wait_end(&runs[i]);
                ck_assert_int_eq(runs[i].outcome.code, 1);
                ck_assert_uint_eq(runs[i].bytes[0], i % 3 ? 2 : 100000);
                forget(&runs[i]);
        }
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("spawn_guest");
        tcase_add_checked_fixture(tests, world_start, world_finish);
        tcase_add_test(tests, a_child_leads_a_group_of_its_own);
        tcase_add_test(tests, a_child_has_default_signals_and_none_blocked);
        tcase_add_test(tests, a_child_has_no_descriptors_but_three);
        tcase_add_test(tests, descriptors_of_ours_are_not_inherited_by_what_the_host_starts);
        tcase_add_test(tests, a_host_without_stdio_can_run_commands);
        tcase_add_test(tests, a_host_that_ignores_sigchld_gets_output_and_an_honest_end);
        tcase_add_test(tests, a_host_that_ignores_sigchld_can_kill_what_runs);
        tcase_add_test(tests, a_host_that_waits_for_every_child_does_not_hang_us);
        tcase_add_test(tests, the_host_handles_its_own_signals);
        tcase_add_test(tests, a_host_out_of_descriptors_is_told_so);
        tcase_add_test(tests, a_command_waits_while_others_hold_the_descriptors_it_needs);
        tcase_add_test(tests, a_host_that_forks_gets_no_events_of_the_gone);
        tcase_add_test(tests, the_next_is_started_from_the_end_of_the_last);
        tcase_add_test(tests, a_hundred_at_once_all_end);
        return run_tests("spawn_guest", tests);
}
