/*
 * Hosts with habits of their own, around a library that has to bear with them: they fork in the middle of
 * everything, ignore SIGCHLD or wait for every child there is, leave SIGPIPE as it was, and run out of
 * descriptors.  Run as `test_host scheduler` this is a scheduler to be killed.
 */
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cluster.h"

enum { HANG_S = 60 };

/* ---- forks ------------------------------------------------------------------------------------------- */

/* What a child says by its exit code when all is well with it. */
enum { CHILD_IS_FINE = 7 };

static atomic_bool in_child;

/* Asked by LeakSanitizer at the end of a process: a child has copies of what threads hold that it does not have. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
        return in_child;
}

/* Locks of the sanitizers' own do not outlive a fork among threads: those who fork are not for them. */
void __tsan_init(void) __attribute__((weak));
void __asan_init(void) __attribute__((weak));

static bool forks_are_safe(void)
{
        return __tsan_init == NULL && __asan_init == NULL;
}

static void expect_exit(pid_t pid, int code)
{
        int status = 0;
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == code, "the child's status is %#x", (unsigned)status);
}

/* Check's own lock may be held by another thread at the fork: a child asserts nothing. */
static pid_t fork_within_reason(void)
{
        const pid_t pid = fork();
        if (pid == 0) {
                sigset_t to_die;
                in_child = true;
                sigemptyset(&to_die);
                sigaddset(&to_die, SIGALRM);
                pthread_sigmask(SIG_UNBLOCK, &to_die, NULL); /* a slot's thread has all of them blocked */
                alarm(HANG_S); /* a child that hangs is killed, and seen by its status */
        } else {
                ck_assert_int_gt(pid, 0);
        }
        return pid;
}

static int open_descriptors_of_exec(void)
{
        FILE *from  = popen("ls /proc/self/fd | wc -l", "r");
        int   count = 0;
        ck_assert_ptr_nonnull(from);
        ck_assert_int_eq(fscanf(from, "%d", &count), 1);
        pclose(from);
        return count;
}

static scaler_client *join(const struct cluster *c, const char *name)
{
        scaler_client_options options;
        scaler_client        *client = NULL;
        scaler_init(&options, sizeof options);
        options.scheduler = scaler_scheduler_address(scaler_local_scheduler(c->local), 1);
        options.name      = name;
        ck_assert_int_eq(scaler_client_create(&options, &client, NULL), 0);
        ck_assert_int_eq(scaler_client_start(client, NULL), 0);
        ck_assert_int_eq(scaler_client_wait_ready(client, WAIT_MS), 0);
        return client;
}

/* A cluster that others can join over tcp. */
static void open_up(struct cluster *c)
{
        static const char *const listen[] = { "tcp://127.0.0.1:0" };
        scaler_local_options     options;
        memset(c, 0, sizeof *c);
        scaler_init(&options, sizeof options);
        options.slots        = 2;
        options.listen       = listen;
        options.listen_count = 1;
        ck_assert_int_eq(scaler_local_create(&options, &c->local, NULL), 0);
}

static int echo(scaler_task *t, void *ctx)
{
        size_t      size = 0;
        const void *arg  = scaler_task_arg(t, 0, &size);
        (void)ctx;
        return scaler_task_return_copy(t, arg, size);
}

static void offer(struct cluster *c, const char *name, scaler_task_fn fn, void *ctx)
{
        scaler_function function;
        scaler_init(&function, sizeof function);
        function.name = name;
        function.fn   = fn;
        function.ctx  = ctx;
        ck_assert_int_eq(scaler_local_register(c->local, &function), 0);
}

static void begin(struct cluster *c)
{
        offer(c, "echo", echo, NULL);
        ck_assert_int_eq(scaler_local_start(c->local, NULL), 0);
        c->client = scaler_local_client(c->local);
}

static void expect_echoes(scaler_client *client, int count)
{
        for (int i = 0; i < count; i++)
                expect_text(submit(client, "echo", "still here", 10), "still here");
}

START_TEST(what_the_host_execs_inherits_no_descriptor_of_ours)
{
        struct cluster c;
        const int      before = open_descriptors_of_exec();
        open_up(&c);
        begin(&c);
        scaler_client *guest = join(&c, "guest");
        expect_echoes(guest, 10);
        const char *const argv[] = { "echo", NULL };
        scaler_future    *f      = submit_command(guest, argv, 0);
        ck_assert_int_eq(scaler_future_wait(f, WAIT_MS), 0);
        ck_assert_int_eq(open_descriptors_of_exec(), before);
        scaler_future_unref(f);
        scaler_client_destroy(guest);
        scaler_local_destroy(c.local);
}
END_TEST

/* Every door of the library, in the child: the number of those that did not say SCALER_E_STATE. */
static int knock(struct cluster *c, scaler_runtime *rt, scaler_client *guest, scaler_queue *q, scaler_future *f)
{
        scaler_scheduler      *scheduler = scaler_local_scheduler(c->local);
        scaler_runtime        *other     = NULL;
        scaler_local          *local     = NULL;
        scaler_queue          *queue     = NULL;
        scaler_future         *future    = NULL;
        scaler_blob           *blob      = NULL;
        scaler_client         *client    = NULL;
        scaler_error           err       = { 0, "" };
        scaler_spec            spec;
        scaler_client_options  options;
        scaler_client_stats    stats;
        scaler_scheduler_stats figures;
        scaler_failure         failure;
        char                   byte;
        scaler_init(&spec, sizeof spec);
        scaler_init(&options, sizeof options);
        scaler_init(&stats, sizeof stats);
        scaler_init(&figures, sizeof figures);
        scaler_init(&failure, sizeof failure);
        spec.function     = "echo";
        options.scheduler = "tcp://127.0.0.1:1";
        const int said[]  = {
                scaler_runtime_create(NULL, &other, &err),
                scaler_local_create(NULL, &local, &err),
                scaler_client_create(&options, &client, &err),
                scaler_client_start(guest, &err),
                scaler_client_submit(guest, &spec, &future, &err),
                scaler_client_submit_many(guest, &spec, 1, NULL, &err),
                scaler_client_submit_wait(guest, &spec, SCALER_FOREVER, NULL, &err),
                scaler_client_wait_ready(guest, SCALER_FOREVER),
                scaler_client_wait_all(guest, SCALER_FOREVER),
                scaler_client_stats_get(guest, &stats),
                scaler_client_stop(guest, SCALER_FOREVER),
                scaler_client_cancel(guest, (scaler_id){ 1, 1 }, 0, SCALER_FOREVER),
                scaler_scheduler_stats_get(scheduler, &figures),
                scaler_scheduler_stop(scheduler, SCALER_FOREVER),
                scaler_queue_create(NULL, &queue, &err),
                scaler_queue_next(q, SCALER_FOREVER, &future),
                scaler_queue_fd(q),
                scaler_future_wait(f, SCALER_FOREVER),
                scaler_future_result(f, SCALER_FOREVER, &blob),
                scaler_future_failure(f, &failure),
                scaler_future_output(f, 1, &blob),
                scaler_future_cancel(f, 0),
                scaler_future_cancel_wait(f, 0, SCALER_FOREVER),
                scaler_future_read(f, &byte, 1, NULL, SCALER_FOREVER),
                scaler_runtime_turn(rt, SCALER_FOREVER),
        };
        int wrong = 0;
        for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
                if (said[i] != SCALER_E_STATE) {
                        fprintf(stderr, "call %zu in a forked child gave %s\n", i, scaler_status_name(said[i]));
                        wrong++;
                }
        if (!strstr(err.text, "forked child"))
                wrong++;
        return wrong;
}

/* In the child: all doors are closed, and those that give back do nothing. */
static void be_a_child(struct cluster *c, scaler_runtime *rt, scaler_client *guest, scaler_queue *q, scaler_future *f)
{
        const int wrong = knock(c, rt, guest, q, f);
        scaler_future_state(f);
        scaler_queue_wake(q);
        scaler_runtime_wake(rt);
        scaler_future_unref(f);
        scaler_queue_destroy(q);
        scaler_client_destroy(guest);
        scaler_local_destroy(c->local);
        scaler_runtime_destroy(rt);
        exit(wrong == 0 ? CHILD_IS_FINE : 1); /* whatever runs at exit runs */
}

struct crowd { /* threads that keep every lock of a client busy */
        scaler_client *client;
        atomic_bool    over;
};

static void *push_and_shove(void *arg)
{
        struct crowd *crowd = arg;
        while (!crowd->over)
                expect_echoes(crowd->client, 1);
        return NULL;
}

START_TEST(a_forked_child_is_refused_in_words_and_harms_nobody)
{
        enum { THREADS = 3, FORKS = 25 };
        struct cluster         c;
        pthread_t              threads[THREADS];
        scaler_runtime        *rt = NULL;
        scaler_queue          *q  = NULL;
        scaler_runtime_options driven;
        scaler_init(&driven, sizeof driven);
        driven.host_driven = true;
        open_up(&c);
        begin(&c);
        ck_assert_int_eq(scaler_runtime_create(&driven, &rt, NULL), 0);
        ck_assert_int_eq(scaler_queue_create(NULL, &q, NULL), 0);
        struct crowd   crowd = { .client = join(&c, "guest") };
        scaler_future *f     = submit(crowd.client, "echo", "x", 1);
        for (int i = 0; i < THREADS; i++)
                ck_assert_int_eq(pthread_create(&threads[i], NULL, push_and_shove, &crowd), 0);
        for (int i = 0; i < FORKS; i++) {
                const pid_t pid = fork_within_reason();
                if (pid == 0)
                        be_a_child(&c, rt, crowd.client, q, f);
                expect_exit(pid, CHILD_IS_FINE);
        }
        crowd.over = true;
        for (int i = 0; i < THREADS; i++)
                pthread_join(threads[i], NULL);
        expect_text(f, "x");
        expect_echoes(crowd.client, 100);
        scaler_client_destroy(crowd.client);
        scaler_queue_destroy(q);
        scaler_runtime_destroy(rt);
        scaler_local_destroy(c.local);
}
END_TEST

static uint32_t clients_of(const struct cluster *c)
{
        scaler_scheduler_stats stats;
        scaler_init(&stats, sizeof stats);
        ck_assert_int_eq(scaler_scheduler_stats_get(scaler_local_scheduler(c->local), &stats), 0);
        return stats.clients;
}

/* It has copies of all sockets, and of what epoll knows about them. */
START_TEST(a_forked_child_that_lives_on_keeps_no_link_alive)
{
        struct cluster c;
        int            gate[2];
        ck_assert_int_eq(pipe2(gate, O_CLOEXEC), 0);
        open_up(&c);
        begin(&c);
        scaler_client *first = join(&c, "first");
        expect_echoes(first, 5);
        const pid_t child = fork_within_reason();
        if (child == 0) {
                char byte;
                close(gate[1]);
                _exit(read(gate[0], &byte, 1) == 0 ? CHILD_IS_FINE : 1);
        }
        close(gate[0]);
        scaler_client_destroy(first);
        for (int naps = 0; clients_of(&c) > 1 && naps < WAIT_MS / 2; naps++)
                poll(NULL, 0, 2); /* a goodbye takes its time on tcp */
        ck_assert_uint_eq(clients_of(&c), 1); /* the cluster's own */
        for (int i = 0; i < 50; i++) {
                scaler_client *next = join(&c, "next");
                expect_echoes(next, 5);
                scaler_client_destroy(next);
        }
        close(gate[1]);
        expect_exit(child, CHILD_IS_FINE);
        scaler_local_destroy(c.local);
}
END_TEST

/* The child falls off the end of the function, as a careless one does. */
static int fork_and_return(scaler_task *t, void *ctx)
{
        atomic_int *children = ctx;
        const pid_t pid      = fork_within_reason();
        if (pid == 0)
                return scaler_task_return_copy(t, "child", 5);
        expect_exit(pid, 0);
        atomic_fetch_add(children, 1);
        return scaler_task_return_copy(t, "parent", 6);
}

START_TEST(a_task_whose_fork_returns_is_answered_once_by_the_parent)
{
        enum { TASKS = 40 };
        struct cluster c;
        atomic_int     children = 0;
        scaler_future *f[TASKS];
        open_up(&c);
        offer(&c, "fork", fork_and_return, &children);
        begin(&c);
        scaler_client *guest = join(&c, "guest");
        for (int i = 0; i < TASKS; i++)
                f[i] = submit(guest, "fork", "", 0);
        for (int i = 0; i < TASKS; i++)
                expect_text(f[i], "parent");
        ck_assert_int_eq(children, TASKS);
        expect_echoes(guest, 10);
        scaler_client_destroy(guest);
        scaler_local_destroy(c.local);
}
END_TEST

/* ---- children and pipes -------------------------------------------------------------------------------- */

static void expect_stolen(scaler_client *client)
{
        const char *const argv[] = { "echo whole; exit 3", NULL };
        scaler_future    *f      = submit_command(client, argv, SCALER_COMMAND_SHELL);
        scaler_failure    failure;
        scaler_exit       end;
        scaler_blob      *out = NULL;
        scaler_init(&failure, sizeof failure);
        scaler_init(&end, sizeof end);
        ck_assert_int_eq(scaler_future_wait(f, WAIT_MS), 0);
        ck_assert_int_eq(scaler_future_exit(f, &end), 0);
        ck_assert_int_eq(scaler_future_failure(f, &failure), 0);
        ck_assert_int_eq(scaler_future_output(f, 1, &out), 0);
        ck_assert_int_eq(failure.reason, SCALER_REASON_TASK);
        ck_assert_int_eq(end.how == SCALER_EXIT_STOLEN || (end.how == SCALER_EXIT_EXITED && end.code == 3), 1);
        ck_assert_msg(end.how != SCALER_EXIT_STOLEN || strstr(failure.text, "SIGCHLD"), "%s", failure.text);
        ck_assert_uint_eq(scaler_blob_size(out), 6);
        scaler_blob_unref(out);
        scaler_future_unref(f);
}

START_TEST(a_host_that_ignores_sigchld_gets_an_honest_end)
{
        struct cluster c;
        open_up(&c);
        begin(&c);
        signal(SIGCHLD, SIG_IGN);
        for (int i = 0; i < 20; i++)
                expect_stolen(c.client);
        expect_echoes(c.client, 10);
        signal(SIGCHLD, SIG_DFL);
        scaler_local_destroy(c.local);
}
END_TEST

static void *wait_for_everybody(void *arg)
{
        atomic_bool *over = arg;
        while (!*over)
                waitpid(-1, NULL, 0);
        return NULL;
}

START_TEST(a_host_that_waits_for_every_child_gets_an_honest_end)
{
        struct cluster c;
        pthread_t      thief;
        atomic_bool    over = false;
        open_up(&c);
        begin(&c);
        ck_assert_int_eq(pthread_create(&thief, NULL, wait_for_everybody, &over), 0);
        for (int i = 0; i < 40; i++)
                expect_stolen(c.client);
        over = true;
        pthread_join(thief, NULL);
        scaler_local_destroy(c.local);
}
END_TEST

/* A scheduler in a process of its own, which says where it listens. */
static pid_t start_scheduler(char url[256])
{
        int out[2];
        ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
        const pid_t pid = fork();
        if (pid == 0) {
                dup2(out[1], STDOUT_FILENO);
                execl("/proc/self/exe", "test_host", "scheduler", (char *)NULL);
                _exit(127);
        }
        ck_assert_int_gt(pid, 0);
        close(out[1]);
        FILE *from = fdopen(out[0], "r");
        ck_assert_ptr_nonnull(from);
        ck_assert_ptr_nonnull(fgets(url, 256, from));
        url[strcspn(url, "\n")] = '\0';
        fclose(from);
        return pid;
}

static int be_a_scheduler(void)
{
        static const char *const listen[] = { "tcp://127.0.0.1:0" };
        scaler_scheduler_options options;
        scaler_scheduler        *s = NULL;
        scaler_init(&options, sizeof options);
        options.listen       = listen;
        options.listen_count = 1;
        if (scaler_scheduler_create(&options, &s, NULL) != 0 || scaler_scheduler_start(s, NULL) != 0)
                return 1;
        puts(scaler_scheduler_address(s, 0));
        fflush(stdout);
        for (;;)
                pause();
}

/* This thread turns the runtime and so writes to the link itself, with SIGPIPE as a process is born with it. */
START_TEST(a_link_that_breaks_under_a_write_is_no_sigpipe)
{
        enum { ROUNDS = 8, TASKS = 200, BYTES = 200000 };
        static char           bytes[BYTES];
        char                  url[256];
        scaler_client_options options;
        scaler_spec           spec;
        const scaler_arg      arg = scaler_arg_bytes(bytes, sizeof bytes);
        ck_assert(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
        scaler_init(&options, sizeof options);
        scaler_init(&spec, sizeof spec);
        options.scheduler = url;
        spec.function     = "nobody has it";
        spec.args         = &arg;
        spec.arg_count    = 1;
        for (int round = 0; round < ROUNDS; round++) {
                const pid_t    pid    = start_scheduler(url);
                scaler_client *client = NULL;
                ck_assert_int_eq(scaler_client_create(&options, &client, NULL), 0);
                ck_assert_int_eq(scaler_client_start(client, NULL), 0);
                ck_assert_int_eq(scaler_client_wait_ready(client, WAIT_MS), 0);
                for (int i = 0; i < TASKS; i++) {
                        ck_assert_int_eq(scaler_client_submit(client, &spec, NULL, NULL), 0);
                        if (i == TASKS / 2)
                                kill(pid, SIGKILL);
                }
                ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
                scaler_client_destroy(client);
        }
}
END_TEST

/* ---- descriptors --------------------------------------------------------------------------------------- */

static int open_descriptors(void)
{
        DIR *folder = opendir("/proc/self/fd");
        int  count  = 0;
        while (readdir(folder))
                count++;
        closedir(folder);
        return count;
}

static void run_with_spare(int spare, int *refused, int *ran)
{
        const char *const argv[] = { "true", NULL };
        scaler_error      err    = { 0, "" };
        struct cluster    c      = { 0 };
        struct rlimit     kept, tight;
        const int         next = dup(0);
        close(next);
        ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &kept), 0);
        tight          = kept;
        tight.rlim_cur = (rlim_t)(next + spare);
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &tight), 0);
        static const char *const listen[] = { "tcp://127.0.0.1:0" };
        scaler_local_options     options;
        scaler_init(&options, sizeof options);
        options.slots        = 1;
        options.listen       = listen;
        options.listen_count = 1;
        int status           = scaler_local_create(&options, &c.local, &err);
        if (status == 0)
                status = scaler_local_start(c.local, &err);
        if (status == 0) {
                scaler_failure failure;
                scaler_init(&failure, sizeof failure);
                scaler_future *f = submit_command(scaler_local_client(c.local), argv, 0);
                ck_assert_int_eq(scaler_future_wait(f, WAIT_MS), 0);
                ck_assert_int_eq(scaler_future_failure(f, &failure), 0);
                ck_assert_msg(failure.reason == SCALER_REASON_SUCCESS || strstr(failure.text, "descriptor"),
                              "%d descriptors: %s", spare, failure.text);
                *ran += failure.reason == SCALER_REASON_SUCCESS;
                scaler_future_unref(f);
        } else {
                ck_assert_msg(strstr(err.text, "descriptor"), "%d descriptors: %s", spare, err.text);
                ++*refused;
        }
        scaler_local_destroy(c.local);
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &kept), 0);
}

START_TEST(whichever_descriptor_is_missing_is_told_and_none_is_lost)
{
        int refused = 0, ran = 0;
        run_with_spare(100, &refused, &ran); /* nng has its own now */
        const int before = open_descriptors();
        for (int spare = 0; spare < 16; spare++)
                run_with_spare(spare, &refused, &ran);
        ck_assert_int_gt(refused, 0);
        ck_assert_int_gt(ran, 1);
        ck_assert_int_eq(open_descriptors(), before);
}
END_TEST

int main(int argc, char **argv)
{
        if (argc == 2 && strcmp(argv[1], "scheduler") == 0)
                return be_a_scheduler();
        TCase *tests = tcase_create("hosts");
        tcase_add_test(tests, what_the_host_execs_inherits_no_descriptor_of_ours);
        if (forks_are_safe()) {
                tcase_add_test(tests, a_forked_child_is_refused_in_words_and_harms_nobody);
                tcase_add_test(tests, a_forked_child_that_lives_on_keeps_no_link_alive);
                tcase_add_test(tests, a_task_whose_fork_returns_is_answered_once_by_the_parent);
        }
        tcase_add_test(tests, a_host_that_ignores_sigchld_gets_an_honest_end);
        tcase_add_test(tests, a_host_that_waits_for_every_child_gets_an_honest_end);
        tcase_add_test(tests, a_link_that_breaks_under_a_write_is_no_sigpipe);
        tcase_add_test(tests, whichever_descriptor_is_missing_is_told_and_none_is_lost);
        return run_suite("hosts", tests);
}
