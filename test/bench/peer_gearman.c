/*
 * The peer of several rows: libgearman's client and worker with functions that do nothing, or stay.
 *
 *     peer_gearman worker PORT            serves until it is killed
 *     peer_gearman rate PORT N WINDOW     tasks/s of N tasks, WINDOW submitted together and waited for
 *     peer_gearman latency PORT N         one at a time: p50_us p99_us
 *     peer_gearman kill PORT              two workers of its own: restart_us from the kill of the one that runs
 *                                         a task to its start on the other
 */
#include <libgearman/gearman.h>
#include <string.h>
#include <sys/wait.h>

#include "bench_kill.h"
#include "bench_tools.h"

enum { STAY_S = 1 };

static gearman_return_t noop(gearman_job_st *job, void *ctx)
{
        (void)job;
        (void)ctx;
        return GEARMAN_SUCCESS;
}

static gearman_return_t report_and_stay(gearman_job_st *job, void *ctx)
{
        (void)job;
        bench_report_start(*(const int *)ctx);
        nanosleep(&(struct timespec){ .tv_sec = STAY_S }, NULL);
        return GEARMAN_SUCCESS;
}

/* report: where "stay" says that it starts. */
static void serve(in_port_t port, int report)
{
        gearman_worker_st *worker = gearman_worker_create(NULL);
        gearman_function_t fn[]   = { gearman_function_create(noop), gearman_function_create(report_and_stay) };
        if (!worker || gearman_failed(gearman_worker_add_server(worker, "127.0.0.1", port)) ||
            gearman_failed(gearman_worker_define_function(worker, "noop", 4, fn[0], 0, NULL)) ||
            gearman_failed(gearman_worker_define_function(worker, "stay", 4, fn[1], 0, &report))) {
                fprintf(stderr, "peer_gearman: no worker: %s\n", worker ? gearman_worker_error(worker) : "no memory");
                exit(1);
        }
        while (gearman_success(gearman_worker_work(worker)))
                ;
        gearman_worker_free(worker);
}

static void check(gearman_client_st *client, gearman_return_t status)
{
        if (gearman_success(status))
                return;
        fprintf(stderr, "peer_gearman: %s\n", gearman_client_error(client));
        exit(1);
}

static gearman_client_st *connect_client(in_port_t port)
{
        gearman_client_st *client = gearman_client_create(NULL);
        if (!client)
                bench_die("gearman_client_create");
        check(client, gearman_client_add_server(client, "127.0.0.1", port));
        return client;
}

static void submit_window(gearman_client_st *client, long from, long to)
{
        for (long i = from; i < to; i++) {
                char             unique[32];
                gearman_return_t status = GEARMAN_SUCCESS;
                snprintf(unique, sizeof unique, "%ld", i); /* equal ones would be merged */
                gearman_client_add_task(client, NULL, NULL, "noop", unique, "x", 1, &status);
                check(client, status);
        }
        check(client, gearman_client_run_tasks(client));
        gearman_client_task_free_all(client);
}

static void measure_rate(gearman_client_st *client, long count, long window)
{
        submit_window(client, -window, 0); /* connections are made */
        const uint64_t begin = bench_now_ns();
        for (long at = 0; at < count; at += window)
                submit_window(client, at, at + window < count ? at + window : count);
        const double seconds = (double)(bench_now_ns() - begin) / 1e9;
        printf("peer_gearman n=%ld window=%ld rate=%.0f\n", count, window, (double)count / seconds);
}

static void do_one(gearman_client_st *client, const char *function)
{
        gearman_return_t status = GEARMAN_SUCCESS;
        size_t           size;
        free(gearman_client_do(client, function, NULL, "x", 1, &size, &status));
        check(client, status);
}

static void measure_latency(gearman_client_st *client, long count)
{
        uint64_t *took_ns = calloc((size_t)count, sizeof *took_ns);
        if (!took_ns)
                bench_die("calloc");
        for (int i = 0; i < 100; i++)
                do_one(client, "noop");
        for (long i = 0; i < count; i++) {
                const uint64_t begin = bench_now_ns();
                do_one(client, "noop");
                took_ns[i] = bench_now_ns() - begin;
        }
        bench_sort(took_ns, (size_t)count);
        printf("peer_gearman latency n=%ld p50_us=%.1f p99_us=%.1f\n", count,
               bench_percentile(took_ns, (size_t)count, 50), bench_percentile(took_ns, (size_t)count, 99));
        free(took_ns);
}

/* A child of ours; client: it asks for "stay" once, otherwise it is a worker. */
static pid_t start(in_port_t port, bool client, const int starts[2])
{
        const pid_t pid = fork();
        if (pid < 0)
                bench_die("fork");
        if (pid > 0)
                return pid;
        close(starts[0]);
        if (client)
                do_one(connect_client(port), "stay");
        else
                serve(port, starts[1]);
        _exit(0);
}

static void measure_kill(in_port_t port)
{
        int starts[2];
        if (pipe(starts) != 0)
                bench_die("pipe");
        pid_t pids[3];
        for (int i = 0; i < 3; i++)
                pids[i] = start(port, i == 2, starts);
        close(starts[1]);
        printf("peer_gearman kill restart_us=%.1f\n", bench_kill_and_wait(starts[0]));
        for (int i = 2; i >= 0; i--) {
                kill(pids[i], SIGKILL);
                waitpid(pids[i], NULL, 0);
        }
}

int main(int argc, char **argv)
{
        const char     *mode = argc > 2 ? argv[1] : "";
        const in_port_t port = (in_port_t)bench_number(argc, argv, 2, 4730, 1);
        if (strcmp(mode, "worker") == 0)
                serve(port, STDOUT_FILENO);
        else if (strcmp(mode, "rate") == 0)
                measure_rate(connect_client(port), bench_number(argc, argv, 3, 50000, 1),
                             bench_number(argc, argv, 4, 1000, 1));
        else if (strcmp(mode, "latency") == 0)
                measure_latency(connect_client(port), bench_number(argc, argv, 3, 5000, 1));
        else if (strcmp(mode, "kill") == 0)
                measure_kill(port);
        else {
                fprintf(stderr, "usage: peer_gearman worker PORT | rate PORT N WINDOW | latency PORT N | kill PORT\n");
                return 2;
        }
        return 0;
}
