#include "bench_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench_tools.h"

static char dir[64]; /* empty: none was made */

void bench_check(const char *what, int status, const scaler_error *err)
{
        if (status >= 0)
                return;
        fprintf(stderr, "bench: %s: %s: %s\n", what, scaler_status_name(status), err ? err->text : "");
        exit(1);
}

/* ---- parts ---------------------------------------------------------------------------------------- */

static _Noreturn void become(const char *role, const char *url, const char *argument, const int leash[2],
                             const int said[2], int report)
{
        dup2(leash[0], STDIN_FILENO);
        dup2(said[1], STDOUT_FILENO);
        if (report >= 0)
                dup2(report, BENCH_REPORT_FD);
        for (int fd = BENCH_REPORT_FD + (report >= 0); fd < 64; fd++)
                close(fd);
        execl("/proc/self/exe", "bench", role, url, argument, (char *)NULL);
        _exit(127);
}

struct bench_part bench_part_start(const char *role, const char *url, const char *argument, int report,
                                   char line[BENCH_URL_MAX])
{
        int leash[2], said[2];
        if (pipe(leash) != 0 || pipe(said) != 0)
                bench_die("pipe");
        const pid_t pid = fork();
        if (pid < 0)
                bench_die("fork");
        if (pid == 0)
                become(role, url, argument, leash, said, report);
        close(leash[0]);
        close(said[1]);
        FILE *text = fdopen(said[0], "r");
        char  next[BENCH_URL_MAX];
        line[0] = '\0';
        while (text && fgets(next, sizeof next, text) && strcmp(next, "ready\n") != 0)
                snprintf(line, BENCH_URL_MAX, "%.*s", (int)strcspn(next, "\n"), next);
        if (!text || strcmp(next, "ready\n") != 0) {
                fprintf(stderr, "bench: the %s did not start\n", role);
                exit(1);
        }
        fclose(text);
        return (struct bench_part){ .pid = pid, .leash = leash[1] };
}

static uint64_t ns_of(struct timeval time)
{
        return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

uint64_t bench_part_end(const struct bench_part *part)
{
        struct rusage usage;
        close(part->leash);
        if (wait4(part->pid, NULL, 0, &usage) < 0)
                bench_die("wait4");
        return ns_of(usage.ru_utime) + ns_of(usage.ru_stime);
}

void bench_ready(void)
{
        char byte;
        puts("ready");
        fflush(stdout);
        while (read(STDIN_FILENO, &byte, 1) > 0)
                ;
}

static void remove_dir(void)
{
        char path[96];
        snprintf(path, sizeof path, "%s/scheduler", dir);
        unlink(path);
        rmdir(dir);
}

void bench_url(const char *over, char url[BENCH_URL_MAX])
{
        snprintf(url, BENCH_URL_MAX, "tcp://127.0.0.1:0");
        if (strcmp(over, "ipc") != 0)
                return;
        snprintf(dir, sizeof dir, "/tmp/bench-XXXXXX");
        if (!mkdtemp(dir))
                bench_die("mkdtemp");
        atexit(remove_dir);
        snprintf(url, BENCH_URL_MAX, "ipc://%s/scheduler", dir);
}

/* ---- roles ---------------------------------------------------------------------------------------- */

void bench_be_scheduler(const char *url)
{
        scaler_error             err;
        scaler_scheduler        *scheduler;
        scaler_scheduler_options options;
        scaler_init(&options, sizeof options);
        options.listen       = &url;
        options.listen_count = 1;
        bench_raise_descriptors();
        bench_check("scheduler", scaler_scheduler_create(&options, &scheduler, &err), &err);
        bench_check("scheduler", scaler_scheduler_start(scheduler, &err), &err);
        puts(scaler_scheduler_address(scheduler, 0));
        bench_ready();
        scaler_scheduler_stop(scheduler, 1000);
        scaler_scheduler_destroy(scheduler);
}

int bench_noop(scaler_task *task, void *ctx)
{
        (void)task;
        (void)ctx;
        return 0;
}

scaler_worker *bench_worker(const char *url, scaler_runtime *runtime, int slots, const char *name, scaler_task_fn fn)
{
        scaler_error          err;
        scaler_worker        *worker;
        scaler_worker_options options;
        scaler_function       function;
        scaler_init(&options, sizeof options);
        scaler_init(&function, sizeof function);
        options.runtime   = runtime;
        options.scheduler = url;
        options.slots     = slots;
        function.name     = name;
        function.fn       = fn;
        bench_check("worker", scaler_worker_create(&options, &worker, &err), &err);
        bench_check("register", scaler_worker_register(worker, &function), NULL);
        bench_check("worker", scaler_worker_start(worker, &err), &err);
        return worker;
}

void bench_be_worker(const char *url, int slots)
{
        scaler_worker *worker = bench_worker(url, NULL, slots, "noop", bench_noop);
        bench_check("worker", scaler_worker_wait_ready(worker, BENCH_PATIENCE_MS), NULL);
        bench_ready();
        scaler_worker_stop(worker, 1000);
        scaler_worker_destroy(worker);
}

/* ---- load ----------------------------------------------------------------------------------------- */

scaler_client *bench_connect(const char *url, int64_t pending_max)
{
        scaler_error          err;
        scaler_client        *client;
        scaler_client_options options;
        scaler_init(&options, sizeof options);
        options.scheduler   = url;
        options.pending_max = pending_max;
        bench_check("client", scaler_client_create(&options, &client, &err), &err);
        bench_check("client", scaler_client_start(client, &err), &err);
        bench_check("client", scaler_client_wait_ready(client, BENCH_PATIENCE_MS), NULL);
        return client;
}

void bench_submit(scaler_client *client, const char *function, scaler_queue *queue, scaler_future **out)
{
        scaler_error err;
        scaler_spec  spec;
        scaler_init(&spec, sizeof spec);
        spec.function = function;
        spec.queue    = queue;
        bench_check("submit", scaler_client_submit(client, &spec, out, &err), &err);
}

void bench_run_window(scaler_client *client, long count, long window)
{
        scaler_error  err;
        scaler_queue *queue;
        long          submitted = 0;
        bench_check("queue", scaler_queue_create(NULL, &queue, &err), &err);
        for (; submitted < window && submitted < count; submitted++)
                bench_submit(client, "noop", queue, NULL);
        for (long ended = 0; ended < count; ended++) {
                scaler_future *future;
                bench_check("next", scaler_queue_next(queue, BENCH_PATIENCE_MS, &future), NULL);
                bench_check("result", scaler_future_result(future, 0, NULL), NULL);
                scaler_future_unref(future);
                if (submitted++ < count)
                        bench_submit(client, "noop", queue, NULL);
        }
        scaler_queue_destroy(queue);
}

/* ---- processes ------------------------------------------------------------------------------------ */

uint64_t bench_cpu_ns(pid_t pid)
{
        clockid_t       clock;
        struct timespec used;
        if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
                bench_die("clock_getcpuclockid");
        return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

void bench_raise_descriptors(void)
{
        struct rlimit limit;
        if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
                bench_die("getrlimit");
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
                bench_die("setrlimit");
}
