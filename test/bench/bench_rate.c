/*
 * Tasks that do nothing, through a client, a scheduler and one worker of two slots in three processes: this
 * program in three parts, over the public header alone.
 *
 *     bench_rate tcp|ipc [N [WINDOW]]      WINDOW 1: one at a time, with percentiles; more: tasks/s
 *     bench_rate tcp|ipc idle SECONDS      after some tasks: processor ticks and voluntary switches per process
 */
#include <stdio.h>
#include <dirent.h>
#include <scaler.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_tools.h"

enum { SLOTS = 2, PATIENCE_MS = 60000, WARM_UP = 1000 };

struct part { /* another process of ours */
        pid_t pid;
        int   leash; /* it ends when this is closed */
        int   said;  /* its standard output */
};

static char dir[64];

static void check(const char *what, int status, const scaler_error *err)
{
        if (status >= 0)
                return;
        fprintf(stderr, "bench_rate: %s: %s: %s\n", what, scaler_status_name(status), err ? err->text : "");
        exit(1);
}

/* ---- the other parts ------------------------------------------------------------------------------ */

static void wait_for_leash(void)
{
        char byte;
        puts("ready");
        fflush(stdout);
        while (read(STDIN_FILENO, &byte, 1) > 0)
                ;
}

static void be_scheduler(const char *url)
{
        scaler_error             err;
        scaler_scheduler        *scheduler;
        scaler_scheduler_options options;
        scaler_init(&options, sizeof options);
        options.listen       = &url;
        options.listen_count = 1;
        check("scheduler", scaler_scheduler_create(&options, &scheduler, &err), &err);
        check("scheduler", scaler_scheduler_start(scheduler, &err), &err);
        puts(scaler_scheduler_address(scheduler, 0));
        wait_for_leash();
        scaler_scheduler_stop(scheduler, 1000);
        scaler_scheduler_destroy(scheduler);
}

static int noop(scaler_task *task, void *ctx)
{
        (void)task;
        (void)ctx;
        return 0;
}

static void be_worker(const char *url)
{
        scaler_error          err;
        scaler_worker        *worker;
        scaler_worker_options options;
        scaler_function       function;
        scaler_init(&options, sizeof options);
        scaler_init(&function, sizeof function);
        options.scheduler = url;
        options.slots     = SLOTS;
        function.name     = "noop";
        function.fn       = noop;
        check("worker", scaler_worker_create(&options, &worker, &err), &err);
        check("register", scaler_worker_register(worker, &function), NULL);
        check("worker", scaler_worker_start(worker, &err), &err);
        check("worker", scaler_worker_wait_ready(worker, PATIENCE_MS), NULL);
        wait_for_leash();
        scaler_worker_stop(worker, 1000);
        scaler_worker_destroy(worker);
}

/* ---- starting and ending them --------------------------------------------------------------------- */

/* Gives its first line of output, without the end, and waits until it is ready. */
static struct part start_part(const char *program, const char *role, const char *url, char *line, size_t line_max)
{
        int leash[2], said[2];
        if (pipe(leash) != 0 || pipe(said) != 0)
                bench_die("pipe");
        const pid_t pid = fork(); /* this process has not touched the library yet */
        if (pid < 0)
                bench_die("fork");
        if (pid == 0) {
                dup2(leash[0], STDIN_FILENO);
                dup2(said[1], STDOUT_FILENO);
                for (int fd = STDERR_FILENO + 1; fd < 64; fd++)
                        close(fd);
                execl(program, program, role, url, (char *)NULL);
                _exit(127);
        }
        close(leash[0]);
        close(said[1]);
        FILE *text = fdopen(dup(said[0]), "r");
        char  next[256];
        line[0] = '\0';
        while (text && fgets(next, sizeof next, text) && strcmp(next, "ready\n") != 0)
                snprintf(line, line_max, "%.*s", (int)strcspn(next, "\n"), next);
        if (!text || strcmp(next, "ready\n") != 0) {
                fprintf(stderr, "bench_rate: the %s did not start\n", role);
                exit(1);
        }
        fclose(text);
        return (struct part){ .pid = pid, .leash = leash[1], .said = said[0] };
}

static void end_part(const struct part *part)
{
        close(part->leash);
        close(part->said);
        waitpid(part->pid, NULL, 0);
}

/* ---- the client ----------------------------------------------------------------------------------- */

static scaler_client *connect_client(const char *url)
{
        scaler_error          err;
        scaler_client        *client;
        scaler_client_options options;
        scaler_init(&options, sizeof options);
        options.scheduler = url;
        check("client", scaler_client_create(&options, &client, &err), &err);
        check("client", scaler_client_start(client, &err), &err);
        check("client", scaler_client_wait_ready(client, PATIENCE_MS), NULL);
        return client;
}

static void submit(scaler_client *client, scaler_queue *queue, scaler_future **out)
{
        scaler_error err;
        scaler_spec  spec;
        scaler_init(&spec, sizeof spec);
        spec.function = "noop";
        spec.queue    = queue;
        check("submit", scaler_client_submit(client, &spec, out, &err), &err);
}

static void run_one_by_one(scaler_client *client, long count, uint64_t *took_ns)
{
        for (long i = 0; i < count; i++) {
                scaler_future *future;
                const uint64_t begin = bench_now_ns();
                submit(client, NULL, &future);
                check("result", scaler_future_result(future, PATIENCE_MS, NULL), NULL);
                took_ns[i] = bench_now_ns() - begin;
                scaler_future_unref(future);
        }
}

static void run_window(scaler_client *client, long count, long window)
{
        scaler_error  err;
        scaler_queue *queue;
        long          submitted = 0;
        check("queue", scaler_queue_create(NULL, &queue, &err), &err);
        for (; submitted < window && submitted < count; submitted++)
                submit(client, queue, NULL);
        for (long ended = 0; ended < count; ended++) {
                scaler_future *future;
                check("next", scaler_queue_next(queue, PATIENCE_MS, &future), NULL);
                check("result", scaler_future_result(future, 0, NULL), NULL);
                scaler_future_unref(future);
                if (submitted++ < count)
                        submit(client, queue, NULL);
        }
        scaler_queue_destroy(queue);
}

static void measure(scaler_client *client, const char *over, long count, long window)
{
        uint64_t *took_ns = calloc((size_t)count, sizeof *took_ns);
        if (!took_ns)
                bench_die("calloc");
        run_window(client, WARM_UP, window);
        const uint64_t begin = bench_now_ns();
        if (window == 1)
                run_one_by_one(client, count, took_ns);
        else
                run_window(client, count, window);
        const double seconds = (double)(bench_now_ns() - begin) / 1e9;
        printf("bench_rate over=%s n=%ld window=%ld rate=%.0f", over, count, window, (double)count / seconds);
        if (window == 1) {
                bench_sort(took_ns, (size_t)count);
                printf(" p50_us=%.1f p99_us=%.1f", bench_percentile(took_ns, (size_t)count, 50),
                       bench_percentile(took_ns, (size_t)count, 99));
        }
        putchar('\n');
        free(took_ns);
}

/* ---- idle ----------------------------------------------------------------------------------------- */

struct effort {
        long ticks, switches;
};

static long voluntary_switches(const char *path)
{
        char  line[256];
        long  switches = 0;
        FILE *file     = fopen(path, "r");
        while (file && fgets(line, sizeof line, file))
                if (sscanf(line, "voluntary_ctxt_switches: %ld", &switches) == 1)
                        break;
        if (file)
                fclose(file);
        return switches;
}

static long ticks_of(const char *path)
{
        char  line[1024] = "";
        long  user = 0, system = 0;
        FILE *file = fopen(path, "r");
        if (!file || !fgets(line, sizeof line, file))
                bench_die(path);
        fclose(file);
        const char *after_name = strrchr(line, ')');
        static const char fields[] = "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld";
        if (!after_name || sscanf(after_name + 2, fields, &user, &system) != 2)
                bench_die(path);
        return user + system;
}

/* Of all threads of a process. */
static struct effort effort_of(pid_t pid)
{
        char           path[512];
        struct effort  effort = { 0, 0 };
        struct dirent *entry;
        snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
        effort.ticks = ticks_of(path);
        snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
        DIR *threads = opendir(path);
        while (threads && (entry = readdir(threads))) {
                if (entry->d_name[0] == '.')
                        continue;
                snprintf(path, sizeof path, "/proc/%d/task/%s/status", (int)pid, entry->d_name);
                effort.switches += voluntary_switches(path);
        }
        if (threads)
                closedir(threads);
        return effort;
}

static void measure_idle(scaler_client *client, const char *over, long seconds, const struct part *parts)
{
        static const char *const names[] = { "scheduler", "worker", "client" };
        const pid_t              pids[]  = { parts[0].pid, parts[1].pid, getpid() };
        struct effort            before[3];
        run_window(client, WARM_UP, 10);
        nanosleep(&(struct timespec){ .tv_sec = 1 }, NULL); /* what is due after work is not idleness */
        for (int i = 0; i < 3; i++)
                before[i] = effort_of(pids[i]);
        nanosleep(&(struct timespec){ .tv_sec = seconds }, NULL);
        printf("bench_rate over=%s idle_s=%ld", over, seconds);
        for (int i = 0; i < 3; i++) {
                const struct effort after = effort_of(pids[i]);
                printf(" %s_ticks=%ld %s_switches=%ld", names[i], after.ticks - before[i].ticks, names[i],
                       after.switches - before[i].switches);
        }
        putchar('\n');
}

static void remove_dir(void)
{
        char path[96];
        snprintf(path, sizeof path, "%s/scheduler", dir);
        unlink(path);
        rmdir(dir);
}

static int be_client(int argc, char **argv)
{
        char        url[256] = "tcp://127.0.0.1:0", line[256];
        struct part parts[2];
        const bool  idle = argc > 3 && strcmp(argv[2], "idle") == 0;
        snprintf(dir, sizeof dir, "/tmp/bench-XXXXXX");
        if (!mkdtemp(dir))
                bench_die("mkdtemp");
        atexit(remove_dir);
        if (strcmp(argv[1], "ipc") == 0)
                snprintf(url, sizeof url, "ipc://%s/scheduler", dir);
        parts[0] = start_part("/proc/self/exe", "scheduler", url, line, sizeof line);
        snprintf(url, sizeof url, "%.250s", line);
        parts[1] = start_part("/proc/self/exe", "worker", url, line, sizeof line);
        scaler_client *client = connect_client(url);
        if (idle)
                measure_idle(client, argv[1], bench_number(argc, argv, 3, 10, 1), parts);
        else
                measure(client, argv[1], bench_number(argc, argv, 2, 20000, 1), bench_number(argc, argv, 3, 1, 1));
        scaler_client_stop(client, 1000);
        scaler_client_destroy(client);
        for (int i = 1; i >= 0; i--)
                end_part(&parts[i]);
        return 0;
}

int main(int argc, char **argv)
{
        const char *role = argc > 1 ? argv[1] : "";
        if (argc == 3 && strcmp(role, "scheduler") == 0)
                be_scheduler(argv[2]);
        else if (argc == 3 && strcmp(role, "worker") == 0)
                be_worker(argv[2]);
        else if (strcmp(role, "tcp") == 0 || strcmp(role, "ipc") == 0)
                return be_client(argc, argv);
        else
                fprintf(stderr, "usage: bench_rate tcp|ipc [N [WINDOW]] | bench_rate tcp|ipc idle SECONDS\n");
        return role[0] == '\0' ? 2 : 0;
}
