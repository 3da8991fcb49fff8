/*
 * embed_scheduler: a host program with a scheduler and a client inside; workers join from other processes.
 *
 *     embed_scheduler WORKER [ADDRESS]
 *
 * WORKER is the path of scaler-worker, started here twice as any other process could be, anywhere.
 */
#include <scaler.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

#define WORKERS 2
#define TASKS   20

extern char **environ;

struct host {
        scaler_runtime   *runtime;
        scaler_scheduler *scheduler;
        scaler_client    *client;
        pid_t             workers[WORKERS];
};

/* Both roles share one runtime, that is one thread. */
static int open_host(struct host *h, const char *address, scaler_error *err)
{
        scaler_scheduler_options scheduler;
        scaler_client_options    client;
        int                      status = scaler_runtime_create(NULL, &h->runtime, err);
        if (status < 0)
                return status;
        scaler_init(&scheduler, sizeof scheduler);
        scheduler.runtime      = h->runtime;
        scheduler.listen       = &address;
        scheduler.listen_count = 1;
        status                 = scaler_scheduler_create(&scheduler, &h->scheduler, err);
        if (status == 0)
                status = scaler_scheduler_start(h->scheduler, err);
        if (status < 0)
                return status;
        scaler_init(&client, sizeof client);
        client.runtime   = h->runtime;
        client.scheduler = scaler_scheduler_address(h->scheduler, 0);
        status           = scaler_client_create(&client, &h->client, err);
        return status == 0 ? scaler_client_start(h->client, err) : status;
}

static int start_worker(struct host *h, int index, char *program)
{
        char  address[256];
        char  slots[] = "-j1", quiet[] = "--log-level=error";
        char *argv[] = { program, slots, quiet, address, NULL };
        snprintf(address, sizeof address, "%s", scaler_scheduler_address(h->scheduler, 0));
        return posix_spawn(&h->workers[index], program, NULL, NULL, argv, environ);
}

static int submit(struct host *h, scaler_queue *queue, uint64_t number, scaler_error *err)
{
        char              text[24];
        const char *const argv[] = { "expr", text, "*", text, NULL };
        scaler_command    command;
        scaler_spec       spec;
        snprintf(text, sizeof text, "%d", (int)number);
        scaler_init(&command, sizeof command);
        command.argv = argv;
        scaler_init(&spec, sizeof spec);
        spec.command   = &command;
        spec.user_data = number;
        spec.queue     = queue;
        return scaler_client_submit(h->client, &spec, NULL, err);
}

static int collect(scaler_queue *queue, long *sum)
{
        scaler_future *future = NULL;
        scaler_blob   *result = NULL;
        int            status = scaler_queue_next(queue, 30000, &future);
        if (status == 0)
                status = scaler_future_result(future, 0, &result);
        if (status == 0) {
                char text[32];
                snprintf(text, sizeof text, "%.*s", (int)scaler_blob_size(result),
                         (const char *)scaler_blob_data(result));
                long square = 0;
                if (sscanf(text, "%ld", &square) == 1)
                        *sum += square;
        }
        scaler_blob_unref(result);
        scaler_future_unref(future);
        return status;
}

static int use(struct host *h, char *worker, scaler_error *err)
{
        scaler_queue *queue  = NULL;
        long          sum    = 0;
        int           status = scaler_queue_create(h->runtime, &queue, err);
        for (int i = 0; i < WORKERS && status == 0; i++)
                status = start_worker(h, i, worker) == 0 ? 0 : SCALER_E_IO;
        for (uint64_t i = 1; i <= TASKS && status == 0; i++)
                status = submit(h, queue, i, err);
        for (uint64_t i = 1; i <= TASKS && status == 0; i++)
                status = collect(queue, &sum);
        if (status == 0)
                printf("the sum of the first %d squares is %ld\n", TASKS, sum);
        scaler_queue_destroy(queue);
        return status;
}

static void close_host(struct host *h)
{
        for (int i = 0; i < WORKERS; i++) {
                if (h->workers[i] > 0 && kill(h->workers[i], SIGTERM) == 0)
                        waitpid(h->workers[i], NULL, 0);
        }
        scaler_client_destroy(h->client);
        scaler_scheduler_destroy(h->scheduler);
        scaler_runtime_destroy(h->runtime);
}

int main(int argc, char **argv)
{
        struct host  host = { 0 };
        scaler_error err  = { .text = "see above" };
        if (argc < 2) {
                fputs("usage: embed_scheduler WORKER [ADDRESS]\n", stderr);
                return 2;
        }
        int status = open_host(&host, argc > 2 ? argv[2] : "tcp://127.0.0.1:0", &err);
        if (status == 0)
                status = use(&host, argv[1], &err);
        if (status < 0)
                fprintf(stderr, "embed_scheduler: %s: %s\n", scaler_strerror(status), err.text);
        close_host(&host);
        return status < 0;
}
