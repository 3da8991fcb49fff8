/*
 * bench_local: all roles in one process, and what a queued task weighs.
 *
 *     bench_local latency N        one task at a time: p50_us p99_us
 *     bench_local rate N WINDOW    WINDOW tasks under way: rate
 *     bench_local first N          from create to the first result, N clusters: ms_median
 *     bench_local hoard URL N      submits N tasks of 16 bytes that nobody runs, and waits for its stdin to end
 *
 * Only scaler.h is seen.
 */
#include <scaler.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 60000 };

static void fail(const char *what, int status)
{
        fprintf(stderr, "bench_local: %s: %s\n", what, scaler_strerror(status));
        exit(1);
}

static void must(const char *what, int status)
{
        if (status < 0)
                fail(what, status);
}

static double now_us(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int ascending(const void *a, const void *b)
{
        const double x = *(const double *)a, y = *(const double *)b;
        return (x > y) - (x < y);
}

static int noop(scaler_task *task, void *ctx)
{
        (void)task;
        (void)ctx;
        return 0;
}

static scaler_local *cluster_up(void)
{
        scaler_local        *cluster = NULL;
        scaler_local_options options;
        scaler_function      function;
        scaler_init(&options, sizeof options);
        scaler_init(&function, sizeof function);
        options.slots = 2;
        function.name = "noop";
        function.fn   = noop;
        must("create", scaler_local_create(&options, &cluster, NULL));
        must("register", scaler_local_register(cluster, &function));
        must("start", scaler_local_start(cluster, NULL));
        return cluster;
}

static scaler_spec spec_of(scaler_queue *queue)
{
        scaler_spec spec;
        scaler_init(&spec, sizeof spec);
        spec.function = "noop";
        spec.queue    = queue;
        return spec;
}

static void once(scaler_client *client)
{
        const scaler_spec spec   = spec_of(NULL);
        scaler_future    *future = NULL;
        must("submit", scaler_client_submit(client, &spec, &future, NULL));
        must("result", scaler_future_result(future, WAIT_MS, NULL));
        scaler_future_unref(future);
}

static double *room_for(long n)
{
        double *samples = calloc((size_t)n, sizeof *samples);
        if (!samples)
                fail("samples", SCALER_E_NOMEM);
        return samples;
}

static void latency(long n)
{
        scaler_local *cluster = cluster_up();
        double       *took    = room_for(n);
        for (int i = 0; i < 1000; i++)
                once(scaler_local_client(cluster));
        for (long i = 0; i < n; i++) {
                const double begin = now_us();
                once(scaler_local_client(cluster));
                took[i] = now_us() - begin;
        }
        qsort(took, (size_t)n, sizeof *took, ascending);
        printf("bench_local latency n=%ld p50_us=%.1f p99_us=%.1f\n", n, took[n / 2], took[n * 99 / 100]);
        free(took);
        scaler_local_destroy(cluster);
}

static void rate(long n, long window)
{
        scaler_local *cluster = cluster_up();
        scaler_queue *queue   = NULL;
        must("queue", scaler_queue_create(NULL, &queue, NULL));
        const scaler_spec spec      = spec_of(queue);
        long              submitted = 0;
        const double      begin     = now_us();
        for (long done = 0; done < n; done++) {
                for (; submitted < n && submitted - done < window; submitted++)
                        must("submit", scaler_client_submit(scaler_local_client(cluster), &spec, NULL, NULL));
                scaler_future *future = NULL;
                must("next", scaler_queue_next(queue, WAIT_MS, &future));
                scaler_future_unref(future);
        }
        printf("bench_local rate n=%ld window=%ld rate=%.0f\n", n, window, (double)n / (now_us() - begin) * 1e6);
        scaler_queue_destroy(queue);
        scaler_local_destroy(cluster);
}

static void first(long n)
{
        double *took = room_for(n);
        for (long i = 0; i < n; i++) {
                const double  begin   = now_us();
                scaler_local *cluster = cluster_up();
                once(scaler_local_client(cluster));
                took[i] = (now_us() - begin) / 1e3;
                scaler_local_destroy(cluster);
        }
        qsort(took, (size_t)n, sizeof *took, ascending);
        printf("bench_local first n=%ld ms_median=%.2f ms_worst=%.2f\n", n, took[n / 2], took[n - 1]);
        free(took);
}

static void hoard(const char *url, long n)
{
        scaler_client        *client = NULL;
        scaler_client_options options;
        scaler_init(&options, sizeof options);
        options.scheduler   = url;
        options.pending_max = n;
        must("client", scaler_client_create(&options, &client, NULL));
        must("start", scaler_client_start(client, NULL));
        must("ready", scaler_client_wait_ready(client, WAIT_MS));
        const scaler_arg arg  = scaler_arg_bytes("0123456789abcdef", 16);
        scaler_spec      spec = spec_of(NULL);
        spec.args             = &arg;
        spec.arg_count        = 1;
        for (long i = 0; i < n; i++)
                must("submit", scaler_client_submit(client, &spec, NULL, NULL));
        printf("bench_local hoard n=%ld\n", n);
        fflush(stdout);
        char byte;
        while (read(STDIN_FILENO, &byte, 1) > 0)
                ;
        scaler_client_destroy(client);
}

int main(int argc, char **argv)
{
        const char *mode = argc > 2 ? argv[1] : "";
        const long  n    = argc > 2 ? strtol(argv[argc > 3 && strcmp(mode, "hoard") == 0 ? 3 : 2], NULL, 10) : 0;
        if (n < 1) {
                fprintf(stderr, "usage: bench_local latency N | rate N WINDOW | first N | hoard URL N\n");
                return 2;
        }
        if (strcmp(mode, "latency") == 0)
                latency(n);
        else if (strcmp(mode, "rate") == 0 && argc > 3)
                rate(n, strtol(argv[3], NULL, 10));
        else if (strcmp(mode, "first") == 0)
                first(n);
        else if (strcmp(mode, "hoard") == 0 && argc > 3)
                hoard(argv[2], n);
        else
                return 2;
        return 0;
}
