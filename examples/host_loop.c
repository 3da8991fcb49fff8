/*
 * host_loop: a program with an event loop of its own.  The runtime has no thread: it is turned when its
 * descriptor is readable, and finished tasks show on the queue's descriptor.
 */
#include <poll.h>
#include <scaler.h>
#include <stdio.h>

#define TASKS   100
#define TURN_MS 100

struct host {
        scaler_runtime *runtime;
        scaler_local   *cluster;
        scaler_queue   *queue;
        int             ended;
        long            sum;
};

static int add_one(scaler_task *task, void *ctx)
{
        (void)ctx;
        size_t      size   = 0;
        int         number = 0;
        const void *arg    = scaler_task_arg(task, 0, &size);
        if (size != sizeof number)
                return 1;
        memcpy(&number, arg, sizeof number);
        number++;
        return scaler_task_return_copy(task, &number, sizeof number);
}

static int open_host(struct host *h, scaler_error *err)
{
        scaler_runtime_options runtime;
        scaler_local_options   local;
        scaler_function        function;
        scaler_init(&runtime, sizeof runtime);
        runtime.host_driven = true;
        int status          = scaler_runtime_create(&runtime, &h->runtime, err);
        if (status < 0)
                return status;
        scaler_init(&local, sizeof local);
        local.runtime = h->runtime;
        local.slots   = 2;
        scaler_init(&function, sizeof function);
        function.name = "add_one";
        function.fn   = add_one;
        status        = scaler_local_create(&local, &h->cluster, err);
        if (status == 0)
                status = scaler_local_register(h->cluster, &function);
        if (status == 0)
                status = scaler_local_start(h->cluster, err);
        return status == 0 ? scaler_queue_create(h->runtime, &h->queue, err) : status;
}

static int submit(struct host *h, int number, scaler_error *err)
{
        scaler_arg  arg = scaler_arg_bytes(&number, sizeof number);
        scaler_spec spec;
        scaler_init(&spec, sizeof spec);
        spec.function  = "add_one";
        spec.args      = &arg;
        spec.arg_count = 1;
        spec.queue     = h->queue;
        return scaler_client_submit(scaler_local_client(h->cluster), &spec, NULL, err);
}

static void collect(struct host *h)
{
        scaler_future *future = NULL;
        while (scaler_queue_next(h->queue, 0, &future) == 0) {
                scaler_blob *result = NULL;
                int          number = 0;
                if (scaler_future_result(future, 0, &result) == 0) {
                        memcpy(&number, scaler_blob_data(result), sizeof number);
                        h->sum += number;
                }
                h->ended++;
                scaler_blob_unref(result);
                scaler_future_unref(future);
        }
}

/* Any other descriptor of the host would stand beside these two.  The short wait lets the runtime's own
 * deadlines pass; the turn itself never waits. */
static int loop(struct host *h)
{
        while (h->ended < TASKS) {
                struct pollfd fds[] = {
                        { .fd = scaler_runtime_fd(h->runtime), .events = POLLIN },
                        { .fd = scaler_queue_fd(h->queue), .events = POLLIN },
                };
                if (poll(fds, 2, TURN_MS) < 0)
                        return SCALER_E_IO;
                int status = scaler_runtime_turn(h->runtime, 0);
                if (status < 0 && status != SCALER_E_TIMEOUT)
                        return status;
                collect(h);
        }
        return 0;
}

int main(void)
{
        struct host  host   = { 0 };
        scaler_error err    = { .text = "see above" };
        int          status = open_host(&host, &err);
        for (int i = 0; i < TASKS && status == 0; i++)
                status = submit(&host, i, &err);
        if (status == 0)
                status = loop(&host);
        if (status == 0)
                printf("%d tasks, sum %ld\n", host.ended, host.sum);
        else
                fprintf(stderr, "host_loop: %s: %s\n", scaler_strerror(status), err.text);
        scaler_queue_destroy(host.queue);
        scaler_local_destroy(host.cluster);
        scaler_runtime_destroy(host.runtime);
        return status < 0;
}
