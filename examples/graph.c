/* graph: tasks that depend on each other, in one call: numbers are squared, the squares added up by tens. */
#include <scaler.h>
#include <stdio.h>

enum { NUMBERS = 100, TENS = 10, NODES = NUMBERS + TENS + 1 };

static int square(scaler_task *task, void *ctx)
{
        (void)ctx;
        const long *number = scaler_task_arg(task, 0, NULL);
        const long  result = *number * *number;
        return scaler_task_return_copy(task, &result, sizeof result);
}

static int add(scaler_task *task, void *ctx)
{
        (void)ctx;
        long sum = 0;
        for (size_t i = 0; i < scaler_task_arg_count(task); i++)
                sum += *(const long *)scaler_task_arg(task, i, NULL);
        return scaler_task_return_copy(task, &sum, sizeof sum);
}

static scaler_spec spec_of(const char *function, const scaler_arg *args, size_t count)
{
        return (scaler_spec){ .size = sizeof(scaler_spec), .function = function, .args = args, .arg_count = count };
}

/* Nobody waits for anything in between: each task starts as soon as what it reads is there. */
static int run(scaler_client *client, scaler_error *err)
{
        long           numbers[NUMBERS];
        scaler_arg     args[NUMBERS + NUMBERS + TENS];
        scaler_spec    specs[NODES];
        scaler_future *future = NULL;
        scaler_blob   *result = NULL;
        for (size_t i = 0; i < NUMBERS; i++) {
                numbers[i]        = (long)i + 1;
                args[i]           = scaler_arg_bytes(&numbers[i], sizeof numbers[i]);
                args[NUMBERS + i] = scaler_arg_result(i);
                specs[i]          = spec_of("square", &args[i], 1);
        }
        for (size_t i = 0; i < TENS; i++) {
                args[2 * NUMBERS + i] = scaler_arg_result(NUMBERS + i);
                specs[NUMBERS + i]    = spec_of("add", &args[NUMBERS + 10 * i], 10);
        }
        specs[NODES - 1] = spec_of("add", &args[2 * NUMBERS], TENS);
        int status = scaler_client_submit_graph(client, specs, NODES, NULL, &future, NULL, err);
        if (status > 0)
                status = scaler_future_result(future, 10000, &result);
        if (status == 0)
                printf("%ld\n", *(const long *)scaler_blob_data(result));
        scaler_blob_unref(result);
        scaler_future_unref(future);
        return status;
}

int main(void)
{
        scaler_function squares = { .size = sizeof squares, .name = "square", .fn = square };
        scaler_function adds    = { .size = sizeof adds, .name = "add", .fn = add };
        scaler_local   *cluster = NULL;
        scaler_error    err     = { .text = "no result" };
        int             status  = -1;
        if (scaler_local_create(NULL, &cluster, &err) == 0 && scaler_local_register(cluster, &squares) == 0 &&
            scaler_local_register(cluster, &adds) == 0 && scaler_local_start(cluster, &err) == 0)
                status = run(scaler_local_client(cluster), &err);
        if (status != 0)
                fprintf(stderr, "graph: %s\n", err.text);
        scaler_local_destroy(cluster);
        return status != 0;
}
