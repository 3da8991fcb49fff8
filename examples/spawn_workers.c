/*
 * spawn_workers: a host makes as many workers as it likes, each an object with functions of its own, and
 * takes one away in the middle of the work.  Nothing is lost by that.
 */
#include <scaler.h>
#include <stdio.h>

#define WORKERS 3
#define TASKS   300

static int multiply(scaler_task *task, void *ctx)
{
        size_t      size   = 0;
        const int  *factor = ctx;
        int         number = 0;
        const void *arg    = scaler_task_arg(task, 0, &size);
        if (size != sizeof number)
                return scaler_task_fail(task, 1, "one int is wanted", NULL);
        memcpy(&number, arg, sizeof number);
        number *= *factor;
        return scaler_task_return_copy(task, &number, sizeof number);
}

static int add_worker(scaler_runtime *runtime, const char *address, int *factor, scaler_worker **out, scaler_error *err)
{
        scaler_worker_options options;
        scaler_function       function;
        scaler_worker        *worker = NULL;
        scaler_init(&options, sizeof options);
        options.runtime   = runtime;
        options.scheduler = address;
        options.slots     = 2;
        scaler_init(&function, sizeof function);
        function.name = "multiply";
        function.fn   = multiply;
        function.ctx  = factor;
        int status    = scaler_worker_create(&options, &worker, err);
        if (status == 0)
                status = scaler_worker_register(worker, &function);
        if (status == 0)
                status = scaler_worker_start(worker, err);
        if (status == 0)
                *out = worker;
        else
                scaler_worker_destroy(worker);
        return status;
}

static int submit(scaler_client *client, scaler_queue *queue, int number, scaler_error *err)
{
        scaler_arg  arg = scaler_arg_bytes(&number, sizeof number);
        scaler_spec spec;
        scaler_init(&spec, sizeof spec);
        spec.function  = "multiply";
        spec.args      = &arg;
        spec.arg_count = 1;
        spec.queue     = queue;
        return scaler_client_submit(client, &spec, NULL, err);
}

static int collect(scaler_queue *queue, long *sum)
{
        scaler_future *future = NULL;
        scaler_blob   *result = NULL;
        int            number = 0;
        int            status = scaler_queue_next(queue, 30000, &future);
        if (status == 0)
                status = scaler_future_result(future, 0, &result);
        if (status == 0) {
                memcpy(&number, scaler_blob_data(result), sizeof number);
                *sum += number;
        }
        scaler_blob_unref(result);
        scaler_future_unref(future);
        return status;
}

int main(void)
{
        int               factor           = 2, status;
        long              sum              = 0;
        const char       *address          = "inproc://spawn_workers";
        scaler_runtime   *runtime          = NULL;
        scaler_scheduler *scheduler        = NULL;
        scaler_worker    *workers[WORKERS] = { 0 };
        scaler_client    *client           = NULL;
        scaler_queue     *queue            = NULL;
        scaler_error      err              = { .text = "see above" };

        scaler_scheduler_options scheduler_options;
        scaler_client_options    client_options;
        scaler_init(&scheduler_options, sizeof scheduler_options);
        scaler_init(&client_options, sizeof client_options);
        if ((status = scaler_runtime_create(NULL, &runtime, &err)) < 0)
                goto out;
        scheduler_options.runtime      = runtime;
        scheduler_options.listen       = &address;
        scheduler_options.listen_count = 1;
        if ((status = scaler_scheduler_create(&scheduler_options, &scheduler, &err)) < 0 ||
            (status = scaler_scheduler_start(scheduler, &err)) < 0)
                goto out;
        for (int i = 0; i < WORKERS; i++)
                if ((status = add_worker(runtime, address, &factor, &workers[i], &err)) < 0)
                        goto out;
        client_options.runtime   = runtime;
        client_options.scheduler = address;
        if ((status = scaler_client_create(&client_options, &client, &err)) < 0 ||
            (status = scaler_client_start(client, &err)) < 0 ||
            (status = scaler_queue_create(runtime, &queue, &err)) < 0)
                goto out;
        for (int i = 1; i <= TASKS && status == 0; i++)
                status = submit(client, queue, i, &err);
        for (int i = 1; i <= TASKS && status == 0; i++) {
                status = collect(queue, &sum);
                if (i == TASKS / 2)
                        scaler_worker_stop(workers[0], 10000);
        }
        if (status == 0)
                printf("twice the sum of 1 to %d is %ld\n", TASKS, sum);
out:
        if (status < 0)
                fprintf(stderr, "spawn_workers: %s: %s\n", scaler_strerror(status), err.text);
        scaler_client_destroy(client);
        scaler_queue_destroy(queue);
        for (int i = 0; i < WORKERS; i++)
                scaler_worker_destroy(workers[i]);
        scaler_scheduler_destroy(scheduler);
        scaler_runtime_destroy(runtime);
        return status < 0;
}
