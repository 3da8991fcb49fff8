/*
 * The peer of the rate rows: libgearman's client and worker with a function that does nothing.
 *
 *     peer_gearman worker PORT            serves until it is killed
 *     peer_gearman rate PORT N WINDOW     tasks/s of N tasks, WINDOW submitted together and waited for
 */
#include <libgearman/gearman.h>
#include <string.h>

#include "bench_tools.h"

static gearman_return_t noop(gearman_job_st *job, void *ctx)
{
        (void)job;
        (void)ctx;
        return GEARMAN_SUCCESS;
}

static void serve(in_port_t port)
{
        gearman_worker_st *worker = gearman_worker_create(NULL);
        if (!worker || gearman_failed(gearman_worker_add_server(worker, "127.0.0.1", port)) ||
            gearman_failed(gearman_worker_define_function(worker, "noop", 4, gearman_function_create(noop), 0, NULL))) {
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

static void measure(in_port_t port, long count, long window)
{
        gearman_client_st *client = gearman_client_create(NULL);
        if (!client)
                bench_die("gearman_client_create");
        check(client, gearman_client_add_server(client, "127.0.0.1", port));
        submit_window(client, -window, 0); /* connections are made */
        const uint64_t begin = bench_now_ns();
        for (long at = 0; at < count; at += window)
                submit_window(client, at, at + window < count ? at + window : count);
        const double seconds = (double)(bench_now_ns() - begin) / 1e9;
        printf("peer_gearman n=%ld window=%ld rate=%.0f\n", count, window, (double)count / seconds);
        gearman_client_free(client);
}

int main(int argc, char **argv)
{
        if (argc < 3 || (strcmp(argv[1], "worker") != 0 && strcmp(argv[1], "rate") != 0)) {
                fprintf(stderr, "usage: peer_gearman worker PORT | rate PORT N WINDOW\n");
                return 2;
        }
        const in_port_t port = (in_port_t)bench_number(argc, argv, 2, 4730, 1);
        if (strcmp(argv[1], "worker") == 0)
                serve(port);
        else
                measure(port, bench_number(argc, argv, 3, 50000, 1), bench_number(argc, argv, 4, 1000, 1));
        return 0;
}
