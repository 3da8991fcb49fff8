/* fibonacci: tasks that submit tasks and wait for them, in one process, on a single slot. */
#include <scaler.h>
#include <stdio.h>

static int start(scaler_client *client, long n, scaler_future **out, scaler_error *err)
{
        const scaler_arg  arg  = scaler_arg_bytes(&n, sizeof n);
        const scaler_spec spec = { .size = sizeof spec, .function = "fibonacci", .args = &arg, .arg_count = 1 };
        return scaler_client_submit(client, &spec, out, err);
}

/* In a task the slot is another one's while it waits here. */
static int finish(scaler_future *future, long *sum)
{
        scaler_blob *result = NULL;
        const int    status = scaler_future_result(future, SCALER_FOREVER, &result);
        if (status == 0)
                *sum += *(const long *)scaler_blob_data(result);
        scaler_blob_unref(result);
        scaler_future_unref(future);
        return status;
}

static int fibonacci(scaler_task *task, void *ctx)
{
        (void)ctx;
        const long     n      = *(const long *)scaler_task_arg(task, 0, NULL);
        long           sum    = n;
        scaler_future *left   = NULL, *right = NULL;
        scaler_client *client = NULL;
        if (n < 2)
                return scaler_task_return_copy(task, &sum, sizeof sum);
        int status = scaler_task_client(task, &client, NULL);
        if (status == 0)
                status = start(client, n - 1, &left, NULL);
        if (status == 0)
                status = start(client, n - 2, &right, NULL);
        sum = 0;
        if (status == 0)
                status = finish(left, &sum);
        if (status == 0)
                status = finish(right, &sum);
        return status ? status : scaler_task_return_copy(task, &sum, sizeof sum);
}

static int run(scaler_client *client, scaler_error *err)
{
        scaler_future *future = NULL;
        long           result = 0;
        int            status = start(client, 15, &future, err);
        if (status == 0)
                status = finish(future, &result);
        if (status == 0)
                printf("%ld\n", result);
        return status;
}

int main(void)
{
        const scaler_function      function = { .size = sizeof function, .name = "fibonacci", .fn = fibonacci };
        const scaler_local_options options  = { .size = sizeof options, .slots = 1 };
        scaler_local              *cluster  = NULL;
        scaler_error               err      = { .text = "" };
        int                        status   = scaler_local_create(&options, &cluster, &err);
        if (status == 0)
                status = scaler_local_register(cluster, &function);
        if (status == 0)
                status = scaler_local_start(cluster, &err);
        if (status == 0)
                status = run(scaler_local_client(cluster), &err);
        if (status < 0)
                fprintf(stderr, "fibonacci: %s %s\n", scaler_strerror(status), err.text);
        scaler_local_destroy(cluster);
        return status < 0;
}
