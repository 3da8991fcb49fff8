/* hello: a whole cluster in this process runs one function, once. */
#include <scaler.h>
#include <stdio.h>

static int greet(scaler_task *task, void *ctx)
{
        (void)ctx;
        char        words[64];
        const char *name = scaler_task_arg(task, 0, NULL);
        int         size = snprintf(words, sizeof words, "hello, %s", name);
        return scaler_task_return_copy(task, words, (size_t)size + 1);
}

int main(void)
{
        scaler_function function = { .size = sizeof function, .name = "greet", .fn = greet };
        scaler_arg      arg      = scaler_arg_bytes("world", 6);
        scaler_spec     spec     = { .size = sizeof spec, .function = "greet", .args = &arg, .arg_count = 1 };
        scaler_local   *cluster  = NULL;
        scaler_future  *future   = NULL;
        scaler_blob    *result   = NULL;
        scaler_error    err      = { .text = "no result" };
        int             code     = 1;
        if (scaler_local_create(NULL, &cluster, &err) == 0 && scaler_local_register(cluster, &function) == 0 &&
            scaler_local_start(cluster, &err) == 0 &&
            scaler_client_submit(scaler_local_client(cluster), &spec, &future, &err) == 0 &&
            scaler_future_result(future, 10000, &result) == 0)
                code = puts(scaler_blob_data(result)) < 0;
        else
                fprintf(stderr, "hello: %s\n", err.text);
        scaler_blob_unref(result);
        scaler_future_unref(future);
        scaler_local_destroy(cluster);
        return code;
}
