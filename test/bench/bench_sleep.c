/*
 * Tasks that sleep for ten milliseconds, over workers that join one after another while the queue is full:
 * client, scheduler and workers are processes, this program in its parts.  And the same by bare threads.
 *
 *     bench_sleep tcp|ipc [N [WORKERS [SLOTS]]]      SLOTS of each worker; 10,000, 4 and 2 unless told
 *     bench_sleep threads [N [THREADS]]              10,000 and 8 unless told
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "bench_parts.h"
#include "bench_tools.h"

enum { WORKERS_MAX = 64, THREADS_MAX = 1024 };

static void sleep_once(void)
{
        nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
}

static int sleep_task(scaler_task *task, void *ctx)
{
        (void)task;
        (void)ctx;
        sleep_once();
        return 0;
}

static void be_worker(const char *url, int slots)
{
        scaler_worker *worker = bench_worker(url, NULL, slots, "sleep", sleep_task);
        bench_check("worker", scaler_worker_wait_ready(worker, BENCH_PATIENCE_MS), NULL);
        bench_ready();
        scaler_worker_destroy(worker);
}

static int be_client(int argc, char **argv)
{
        char              url[BENCH_URL_MAX], line[BENCH_URL_MAX], slots[16];
        struct bench_part workers[WORKERS_MAX];
        scaler_error      err;
        scaler_queue     *queue;
        const long        count = bench_number(argc, argv, 2, 10000, 1);
        long              many  = bench_number(argc, argv, 3, 4, 1);
        many                    = many < WORKERS_MAX ? many : WORKERS_MAX;
        snprintf(slots, sizeof slots, "%ld", bench_number(argc, argv, 4, 2, 1));
        bench_url(argv[1], url);
        const struct bench_part scheduler = bench_part_start("scheduler", url, NULL, -1, line);
        memcpy(url, line, sizeof url);
        scaler_client *client = bench_connect(url, count);
        bench_check("queue", scaler_queue_create(NULL, &queue, &err), &err);
        const uint64_t begin = bench_now_ns();
        for (long i = 0; i < count; i++)
                bench_submit(client, "sleep", queue, NULL);
        for (long i = 0; i < many; i++)
                workers[i] = bench_part_start("worker", url, slots, -1, line);
        for (long i = 0; i < count; i++) {
                scaler_future *future;
                bench_check("next", scaler_queue_next(queue, BENCH_PATIENCE_MS, &future), NULL);
                bench_check("result", scaler_future_result(future, 0, NULL), NULL);
                scaler_future_unref(future);
        }
        const double seconds = (double)(bench_now_ns() - begin) / 1e9;
        printf("bench_sleep over=%s n=%ld workers=%ld slots=%s rate=%.1f seconds=%.3f\n", argv[1], count, many, slots,
               (double)count / seconds, seconds);
        scaler_queue_destroy(queue);
        scaler_client_destroy(client);
        for (long i = 0; i < many; i++)
                bench_part_end(&workers[i]);
        bench_part_end(&scheduler);
        return 0;
}

static atomic_long left;

static void *sleeper(void *arg)
{
        (void)arg;
        while (atomic_fetch_sub(&left, 1) > 0)
                sleep_once();
        return NULL;
}

static int be_threads(int argc, char **argv)
{
        const long count = bench_number(argc, argv, 2, 10000, 1);
        long       many  = bench_number(argc, argv, 3, 8, 1);
        pthread_t  threads[THREADS_MAX];
        many                 = many < THREADS_MAX ? many : THREADS_MAX;
        left                 = count;
        const uint64_t begin = bench_now_ns();
        for (long i = 0; i < many; i++)
                if (pthread_create(&threads[i], NULL, sleeper, NULL) != 0)
                        bench_die("pthread_create");
        for (long i = 0; i < many; i++)
                pthread_join(threads[i], NULL);
        const double seconds = (double)(bench_now_ns() - begin) / 1e9;
        printf("bench_sleep threads=%ld n=%ld rate=%.1f seconds=%.3f\n", many, count, (double)count / seconds, seconds);
        return 0;
}

int main(int argc, char **argv)
{
        const char *role = argc > 1 ? argv[1] : "";
        if (argc == 3 && strcmp(role, "scheduler") == 0)
                bench_be_scheduler(argv[2]);
        else if (argc == 4 && strcmp(role, "worker") == 0)
                be_worker(argv[2], (int)bench_number(argc, argv, 3, 2, 1));
        else if (strcmp(role, "tcp") == 0 || strcmp(role, "ipc") == 0)
                return be_client(argc, argv);
        else if (strcmp(role, "threads") == 0)
                return be_threads(argc, argv);
        else
                fputs("usage: bench_sleep tcp|ipc [N [WORKERS [SLOTS]]] | bench_sleep threads [N [THREADS]]\n", stderr);
        return role[0] == '\0' ? 2 : 0;
}
