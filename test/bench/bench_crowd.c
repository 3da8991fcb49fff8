/*
 * Two workers that work among many that do not: the workers are objects of one process on one runtime, each
 * with a link of its own to a scheduler in another process.  The many offer another function than the one
 * that is asked for.
 *
 *     bench_crowd tcp|ipc IDLE [N [WINDOW]]      what the scheduler grew by for each worker, its resident set
 *                                                read before they come and again when they have been quiet for
 *                                                a while; and its processor time for each of N tasks
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench_parts.h"
#include "bench_tools.h"

enum { BUSY = 2, QUIET_S = 2 };

static void be_crowd(const char *url, long idle)
{
        scaler_error           err;
        scaler_runtime        *runtime;
        const long             count   = BUSY + idle;
        scaler_worker        **workers = calloc((size_t)count, sizeof *workers);
        scaler_runtime_options options;
        scaler_init(&options, sizeof options);
        bench_raise_descriptors();
        if (!workers)
                bench_die("calloc");
        bench_check("runtime", scaler_runtime_create(&options, &runtime, &err), &err);
        for (long i = 0; i < count; i++)
                workers[i] = bench_worker(url, runtime, 1, i < BUSY ? "noop" : "other", bench_noop);
        for (long i = 0; i < count; i++)
                bench_check("worker", scaler_worker_wait_ready(workers[i], BENCH_PATIENCE_MS), NULL);
        bench_ready();
        for (long i = 0; i < count; i++)
                scaler_worker_destroy(workers[i]);
        scaler_runtime_destroy(runtime);
        free(workers);
}

static double resident_bytes(pid_t pid)
{
        char path[64], line[256];
        long kib = 0;
        snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
        FILE *file = fopen(path, "r");
        while (file && fgets(line, sizeof line, file))
                if (sscanf(line, "VmRSS: %ld kB", &kib) == 1)
                        break;
        if (!file || kib == 0)
                bench_die(path);
        fclose(file);
        return (double)kib * 1024;
}

static int be_client(int argc, char **argv)
{
        char       url[BENCH_URL_MAX], line[BENCH_URL_MAX];
        const long idle   = bench_number(argc, argv, 2, 998, 0);
        const long count  = bench_number(argc, argv, 3, 100000, 1);
        const long window = bench_number(argc, argv, 4, 1000, 1);
        bench_url(argv[1], url);
        const struct bench_part scheduler = bench_part_start("scheduler", url, NULL, -1, line);
        memcpy(url, line, sizeof url);
        const double            before  = resident_bytes(scheduler.pid);
        const struct bench_part crowd   = bench_part_start("crowd", url, argc > 2 ? argv[2] : "998", -1, line);
        nanosleep(&(struct timespec){ .tv_sec = QUIET_S }, NULL); /* buffers get small */
        const double   each   = (resident_bytes(scheduler.pid) - before) / (double)(idle + BUSY);
        scaler_client *client = bench_connect(url, 0);
        bench_run_window(client, BENCH_WARM_UP, window);
        const uint64_t begin = bench_now_ns(), cpu = bench_cpu_ns(scheduler.pid);
        bench_run_window(client, count, window);
        const double used_us = (double)(bench_cpu_ns(scheduler.pid) - cpu) / 1e3;
        const double seconds = (double)(bench_now_ns() - begin) / 1e9;
        printf("bench_crowd over=%s workers=%ld n=%ld window=%ld rate=%.0f", argv[1], idle + BUSY, count, window,
               (double)count / seconds);
        printf(" scheduler_cpu_us_each=%.2f bytes_each=%.0f\n", used_us / (double)count, each);
        scaler_client_stop(client, 1000);
        scaler_client_destroy(client);
        bench_part_end(&crowd);
        bench_part_end(&scheduler);
        return 0;
}

int main(int argc, char **argv)
{
        const char *role = argc > 1 ? argv[1] : "";
        if (argc == 3 && strcmp(role, "scheduler") == 0)
                bench_be_scheduler(argv[2]);
        else if (argc == 4 && strcmp(role, "crowd") == 0)
                be_crowd(argv[2], bench_number(argc, argv, 3, 998, 0));
        else if (argc > 1 && (strcmp(role, "tcp") == 0 || strcmp(role, "ipc") == 0))
                return be_client(argc, argv);
        else {
                fprintf(stderr, "usage: bench_crowd tcp|ipc [IDLE [N [WINDOW]]]\n");
                return 2;
        }
        return 0;
}
