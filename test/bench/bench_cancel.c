/*
 * A cancel of many, from both sides.  bench_cancel hoard URL N: submits N tasks that no worker can run, says so, waits
 * for a line, cancels them all with one call and waits for their ends.  bench_cancel beside URL: a worker and another
 * client, which runs one task after the other until its stdin ends, and tells how long the slowest took since the last
 * line.  Only scaler.h is seen.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_parts.h"
#include "bench_tools.h"

enum { WAIT_MS = 120000 };

static double now_ms(void)
{
        return (double)bench_now_ns() / 1e6;
}

static void hoard(const char *url, long n)
{
        scaler_client   *client = bench_connect(url, n);
        const scaler_arg arg    = scaler_arg_bytes("0123456789abcdef", 16);
        scaler_spec      spec;
        scaler_init(&spec, sizeof spec);
        spec.function  = "absent";
        spec.args      = &arg;
        spec.arg_count = 1;
        for (long i = 0; i < n; i++)
                bench_check("submit", scaler_client_submit(client, &spec, NULL, NULL), NULL);
        printf("submitted\n");
        fflush(stdout);
        char byte;
        if (read(STDIN_FILENO, &byte, 1) != 1)
                exit(1);
        uint64_t     count = 0;
        const double from  = now_ms();
        bench_check("cancel", scaler_client_cancel_many(client, NULL, 0, WAIT_MS, &count), NULL);
        const double told = now_ms();
        bench_check("ends", scaler_client_wait_all(client, WAIT_MS), NULL);
        const double       ended = now_ms();
        scaler_client_stats stats;
        scaler_init(&stats, sizeof stats);
        bench_check("stats", scaler_client_stats_get(client, &stats), NULL);
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
        scaler_worker *worker = bench_worker(url, NULL, 1, "noop", bench_noop);
        scaler_client *client = bench_connect(url, 0);
        double         slowest = 0;
        long           count   = 0;
        enum heard     heard   = A_LINE;
        for (; heard != THE_END; heard = listen_in()) {
                if (heard == A_LINE) {
                        slowest = 0;
                        count   = 0;
                        printf("serving\n");
                        fflush(stdout);
                }
                scaler_future *future = NULL;
                const double   from   = now_ms();
                bench_submit(client, "noop", NULL, &future);
                bench_check("result", scaler_future_result(future, WAIT_MS, NULL), NULL);
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
