/*
 * How long it takes until a task whose worker was killed runs elsewhere: a scheduler and two workers of one
 * slot, a process each; the task reports each start of it and stays.
 *
 *     bench_kill tcp|ipc      restart_us from the kill to the second start
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench_kill.h"
#include "bench_parts.h"
#include "bench_tools.h"

static int report_and_stay(scaler_task *task, void *ctx)
{
        (void)ctx;
        bench_report_start(BENCH_REPORT_FD);
        while (scaler_task_attempt(task) == 1)
                pause();
        return 0;
}

static void be_worker(const char *url)
{
        scaler_worker *worker = bench_worker(url, NULL, 1, "stay", report_and_stay);
        bench_check("worker", scaler_worker_wait_ready(worker, BENCH_PATIENCE_MS), NULL);
        bench_ready();
        scaler_worker_destroy(worker);
}

static int be_client(const char *over)
{
        char              url[BENCH_URL_MAX], line[BENCH_URL_MAX];
        int               starts[2];
        struct bench_part parts[3];
        scaler_future    *future;
        if (pipe(starts) != 0)
                bench_die("pipe");
        bench_url(over, url);
        parts[0] = bench_part_start("scheduler", url, NULL, -1, line);
        memcpy(url, line, sizeof url);
        for (int i = 1; i < 3; i++)
                parts[i] = bench_part_start("worker", url, NULL, starts[1], line);
        close(starts[1]);
        scaler_client *client = bench_connect(url, 0);
        bench_submit(client, "stay", NULL, &future);
        printf("bench_kill over=%s restart_us=%.1f\n", over, bench_kill_and_wait(starts[0]));
        bench_check("result", scaler_future_result(future, BENCH_PATIENCE_MS, NULL), NULL);
        scaler_future_unref(future);
        scaler_client_destroy(client);
        for (int i = 2; i >= 0; i--)
                bench_part_end(&parts[i]);
        return 0;
}

int main(int argc, char **argv)
{
        const char *role = argc > 1 ? argv[1] : "";
        if (argc == 3 && strcmp(role, "scheduler") == 0)
                bench_be_scheduler(argv[2]);
        else if (argc == 3 && strcmp(role, "worker") == 0)
                be_worker(argv[2]);
        else if (argc == 2 && (strcmp(role, "tcp") == 0 || strcmp(role, "ipc") == 0))
                return be_client(role);
        else {
                fprintf(stderr, "usage: bench_kill tcp|ipc\n");
                return 2;
        }
        return 0;
}
