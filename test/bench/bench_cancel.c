/*
 * A cancel of many, from both sides.  bench_cancel hoard URL N: submits N tasks that no worker can run, says so, waits
 * for a line, cancels them all with one call and waits for their ends.  bench_cancel beside URL: a worker and another
 * client, which runs one task after the other until its stdin ends, and tells how long the slowest took since the last
 * line.  Only scaler.h is seen.
 */
#include <inttypes.h>
#include <poll.h>
#include <scaler.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 120000 };

static void must(const char *what, int status)
{
        if (status >= 0)
                return;
        fprintf(stderr, "bench_cancel: %s: %s\n", what, scaler_strerror(status));
        exit(1);
}

static double now_ms(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int noop(scaler_task *task, void *ctx)
{
        (void)task;
        (void)ctx;
        return 0;
}

static scaler_client *client_up(const char *url, long pending_max)
{
        scaler_client        *client = NULL;
        scaler_client_options options;
        scaler_init(&options, sizeof options);
        options.scheduler   = url;
        options.pending_max = pending_max;
        must("client", scaler_client_create(&options, &client, NULL));
        must("start", scaler_client_start(client, NULL));
        must("ready", scaler_client_wait_ready(client, WAIT_MS));
        return client;
}

static void hoard(const char *url, long n)
{
        scaler_client   *client = client_up(url, n);
        const scaler_arg arg    = scaler_arg_bytes("0123456789abcdef", 16);
        scaler_spec      spec;
        scaler_init(&spec, sizeof spec);
        spec.function  = "absent";
        spec.args      = &arg;
        spec.arg_count = 1;
        for (long i = 0; i < n; i++)
                must("submit", scaler_client_submit(client, &spec, NULL, NULL));
        printf("submitted\n");
        fflush(stdout);
        char byte;
        if (read(STDIN_FILENO, &byte, 1) != 1)
                exit(1);
        uint64_t     count = 0;
        const double from  = now_ms();
        must("cancel", scaler_client_cancel_many(client, NULL, 0, WAIT_MS, &count));
        const double told = now_ms();
        must("ends", scaler_client_wait_all(client, WAIT_MS));
        const double       ended = now_ms();
        scaler_client_stats stats;
        scaler_init(&stats, sizeof stats);
        must("stats", scaler_client_stats_get(client, &stats));
        printf("cancelled=%" PRIu64 " told_ms=%.0f ended_ms=%.0f connected=%d\n", stats.cancelled, told - from,
               ended - from, stats.connected);
        scaler_client_destroy(client);
}

enum heard { NOTHING, A_LINE, THE_END };

static enum heard listen_in(void)
{
        struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
        char          line[16];
        if (poll(&in, 1, 0) == 0)
                return NOTHING;
        return read(STDIN_FILENO, line, sizeof line) > 0 ? A_LINE : THE_END;
}

static void beside(const char *url)
{
        const scaler_function function = { .size = sizeof function, .name = "noop", .fn = noop };
        scaler_worker        *worker   = NULL;
        scaler_worker_options options;
        scaler_init(&options, sizeof options);
        options.scheduler = url;
        options.slots     = 1;
        must("worker", scaler_worker_create(&options, &worker, NULL));
        must("function", scaler_worker_register(worker, &function));
        must("worker start", scaler_worker_start(worker, NULL));
        scaler_client *client = client_up(url, 0);
        scaler_spec    spec;
        scaler_init(&spec, sizeof spec);
        spec.function = "noop";
        double     slowest = 0;
        long       count   = 0;
        enum heard heard   = A_LINE;
        for (; heard != THE_END; heard = listen_in()) {
                if (heard == A_LINE) {
                        slowest = 0;
                        count   = 0;
                        printf("serving\n");
                        fflush(stdout);
                }
                scaler_future *future = NULL;
                const double   from   = now_ms();
                must("submit", scaler_client_submit(client, &spec, &future, NULL));
                must("result", scaler_future_result(future, WAIT_MS, NULL));
                const double took = now_ms() - from;
                slowest           = took > slowest ? took : slowest;
                scaler_future_unref(future);
                count++;
        }
        printf("rounds=%ld slowest_ms=%.1f\n", count, slowest);
        scaler_client_destroy(client);
        scaler_worker_destroy(worker);
}

int main(int argc, char **argv)
{
        if (argc == 4 && strcmp(argv[1], "hoard") == 0)
                hoard(argv[2], strtol(argv[3], NULL, 10));
        else if (argc == 3 && strcmp(argv[1], "beside") == 0)
                beside(argv[2]);
        else
                return 2;
        return 0;
}
