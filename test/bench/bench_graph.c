/*
 * Graphs of tasks that do nothing, through a client, a scheduler and one worker of two slots in three processes: this
 * program in three parts, over the public header alone.
 *
 *     bench_graph chain [N [ROUNDS]]   N dependent tasks, and as many one at a time
 *     bench_graph tree|fanin|stencil|million [SECONDS]
 *                                      graphs of that shape for so long (million: one), and the scheduler's memory
 */
#include <scaler.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_tools.h"

enum { SLOTS = 2, PATIENCE_MS = 600000, READS = 5 };

struct part { /* another process of ours */
        pid_t pid;
        int   leash; /* it ends when this is closed */
        int   said;  /* its standard output */
};

static void check(const char *what, int status, const scaler_error *err)
{
        if (status >= 0)
                return;
        fprintf(stderr, "bench_graph: %s: %s: %s\n", what, scaler_status_name(status), err ? err->text : "");
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
                fprintf(stderr, "bench_graph: the %s did not start\n", role);
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
        options.scheduler   = url;
        options.pending_max = 4000000;
        check("client", scaler_client_create(&options, &client, &err), &err);
        check("client", scaler_client_start(client, &err), &err);
        check("client", scaler_client_wait_ready(client, PATIENCE_MS), NULL);
        return client;
}

static scaler_spec noop_spec(void)
{
        scaler_spec spec;
        scaler_init(&spec, sizeof spec);
        spec.function = "noop";
        return spec;
}

static void run_one_by_one(scaler_client *client, long count)
{
        for (long i = 0; i < count; i++) {
                scaler_error      err;
                scaler_future    *future;
                const scaler_spec spec = noop_spec();
                check("submit", scaler_client_submit(client, &spec, &future, &err), &err);
                check("result", scaler_future_result(future, PATIENCE_MS, NULL), NULL);
                scaler_future_unref(future);
        }
}

/* ---- shapes --------------------------------------------------------------------------------------- */

struct shape {
        scaler_spec *specs;
        scaler_arg  *args;
        size_t       count, arg_count;
};

static struct shape room_for(size_t count, size_t args)
{
        struct shape s = { .specs = calloc(count, sizeof *s.specs), .args = calloc(args + 1, sizeof *s.args) };
        if (!s.specs || !s.args)
                bench_die("calloc");
        return s;
}

/* A task that reads those from `first` on, `step` apart. */
static void add(struct shape *s, const size_t *from, size_t reads)
{
        scaler_spec *spec = &s->specs[s->count++];
        *spec             = noop_spec();
        spec->args        = &s->args[s->arg_count];
        spec->arg_count   = reads;
        for (size_t i = 0; i < reads; i++)
                s->args[s->arg_count++] = scaler_arg_result(from[i]);
}

static struct shape chain_of(size_t count)
{
        struct shape s = room_for(count, count);
        for (size_t i = 0; i < count; i++) {
                const size_t before = i - 1;
                add(&s, &before, i > 0);
        }
        return s;
}

/* 100,000 leaves, each ten become one. */
static struct shape tree_of(size_t leaves)
{
        struct shape s = room_for(2 * leaves, 2 * leaves);
        for (size_t i = 0; i < leaves; i++)
                add(&s, NULL, 0);
        for (size_t begin = 0, level = leaves; level > 1; begin += level, level /= 10) {
                for (size_t i = 0; i < level; i += 10) {
                        size_t from[10];
                        for (size_t k = 0; k < 10; k++)
                                from[k] = begin + i + k;
                        add(&s, from, 10);
                }
        }
        return s;
}

static struct shape fan_in_of(size_t width)
{
        struct shape s    = room_for(width + 1, width);
        size_t      *from = calloc(width, sizeof *from);
        if (!from)
                bench_die("calloc");
        for (size_t i = 0; i < width; i++) {
                from[i] = i;
                add(&s, NULL, 0);
        }
        add(&s, from, width);
        free(from);
        return s;
}

static struct shape stencil_of(size_t wide, size_t deep)
{
        struct shape s = room_for(wide * deep, wide * deep * READS);
        for (size_t i = 0; i < wide * deep; i++) {
                const size_t row = i / wide, col = i % wide;
                size_t       from[READS] = { 0 };
                for (size_t k = 0; k < READS && row > 0; k++)
                        from[k] = (row - 1) * wide + (col + k + wide - 2) % wide;
                add(&s, from, row > 0 ? READS : 0);
        }
        return s;
}

static void run_graph(scaler_client *client, const struct shape *s)
{
        scaler_error   err;
        scaler_graph   options;
        scaler_future *whole;
        scaler_init(&options, sizeof options);
        options.whole = &whole;
        check("graph", scaler_client_submit_graph(client, s->specs, s->count, &options, NULL, NULL, &err), &err);
        check("graph", scaler_future_result(whole, PATIENCE_MS, NULL), NULL);
        scaler_future_unref(whole);
}

/* ---- what is measured ------------------------------------------------------------------------------ */

static double seconds_since(uint64_t begin_ns)
{
        return (double)(bench_now_ns() - begin_ns) / 1e9;
}

static long peak_kib(pid_t pid)
{
        char  path[64], line[256];
        long  kib = 0;
        snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
        FILE *file = fopen(path, "r");
        while (file && fgets(line, sizeof line, file))
                if (sscanf(line, "VmHWM: %ld", &kib) == 1)
                        break;
        if (file)
                fclose(file);
        return kib;
}

static void measure_chain(scaler_client *client, long count, long rounds)
{
        const struct shape s = chain_of((size_t)count);
        run_one_by_one(client, 1000);
        for (long i = 0; i < rounds; i++) {
                uint64_t begin = bench_now_ns();
                run_one_by_one(client, count);
                const double one = seconds_since(begin);
                begin            = bench_now_ns();
                run_graph(client, &s);
                const double chained = seconds_since(begin);
                printf("bench_graph shape=chain n=%ld rate=%.0f one_by_one=%.0f ratio=%.2f\n", count,
                       (double)count / chained, (double)count / one, one / chained);
        }
}

static void measure_shape(scaler_client *client, const char *shape, long seconds, pid_t scheduler)
{
        const bool   million = strcmp(shape, "million") == 0;
        struct shape s = million                        ? stencil_of(1000, 1000)
                         : strcmp(shape, "tree") == 0   ? tree_of(100000)
                         : strcmp(shape, "fanin") == 0  ? fan_in_of(100000)
                                                        : stencil_of(1000, 100);
        long           graphs = 0;
        const long     before = peak_kib(scheduler);
        const uint64_t begin  = bench_now_ns();
        do {
                run_graph(client, &s);
                graphs++;
        } while (!million && seconds_since(begin) < (double)seconds);
        const double took = seconds_since(begin);
        printf("bench_graph shape=%s nodes=%zu graphs=%ld rate=%.0f seconds=%.2f scheduler_before_kib=%ld "
               "scheduler_peak_kib=%ld\n",
               shape, s.count, graphs, (double)s.count * (double)graphs / took, took, before, peak_kib(scheduler));
        free(s.specs);
        free(s.args);
}

static int be_client(int argc, char **argv)
{
        char        url[256] = "tcp://127.0.0.1:0", line[256];
        struct part parts[2];
        parts[0] = start_part("/proc/self/exe", "scheduler", url, line, sizeof line);
        snprintf(url, sizeof url, "%.250s", line);
        parts[1]              = start_part("/proc/self/exe", "worker", url, line, sizeof line);
        scaler_client *client = connect_client(url);
        if (strcmp(argv[1], "chain") == 0)
                measure_chain(client, bench_number(argc, argv, 2, 10000, 1), bench_number(argc, argv, 3, 1, 1));
        else
                measure_shape(client, argv[1], bench_number(argc, argv, 2, 2, 0), parts[0].pid);
        scaler_client_stop(client, 10000);
        scaler_client_destroy(client);
        for (int i = 1; i >= 0; i--)
                end_part(&parts[i]);
        return 0;
}

int main(int argc, char **argv)
{
        static const char *const shapes[] = { "chain", "tree", "fanin", "stencil", "million" };
        const char              *role     = argc > 1 ? argv[1] : "";
        if (argc == 3 && strcmp(role, "scheduler") == 0) {
                be_scheduler(argv[2]);
                return 0;
        }
        if (argc == 3 && strcmp(role, "worker") == 0) {
                be_worker(argv[2]);
                return 0;
        }
        for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
                if (strcmp(role, shapes[i]) == 0)
                        return be_client(argc, argv);
        fprintf(stderr, "usage: bench_graph chain [N [ROUNDS]] | bench_graph tree|fanin|stencil|million [SECONDS]\n");
        return 2;
}
