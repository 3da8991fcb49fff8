/*
 * commands: runs programs instead of functions: with input, with an environment, one that fails, and one
 * whose output is read while it runs.
 */
#include <scaler.h>
#include <stdio.h>

static int run(scaler_client *client, const scaler_command *command, scaler_future **out)
{
        scaler_spec  spec;
        scaler_error err;
        scaler_init(&spec, sizeof spec);
        spec.command = command;
        int status   = scaler_client_submit(client, &spec, out, &err);
        if (status < 0)
                fprintf(stderr, "commands: %s\n", err.text);
        return status;
}

static void show(const char *title, scaler_future *future)
{
        scaler_blob   *output = NULL;
        scaler_failure failure;
        scaler_exit    end;
        scaler_init(&failure, sizeof failure);
        scaler_init(&end, sizeof end);
        if (scaler_future_wait(future, 30000) < 0 || scaler_future_output(future, 1, &output) < 0)
                return;
        scaler_future_failure(future, &failure);
        scaler_future_exit(future, &end);
        printf("%s: %s, exit %d: %.*s\n", title, scaler_reason_name(failure.reason), (int)end.code,
               (int)scaler_blob_size(output), (const char *)scaler_blob_data(output));
        scaler_blob_unref(output);
}

static int collected(scaler_client *client)
{
        static const char *const sort[]   = { "sort", "-n", NULL };
        static const char *const script[] = { "printf %s \"$1 $GREETING\"; exit 3", "well,", NULL };
        static const char *const env[]    = { "GREETING=hello", NULL };
        scaler_future           *first = NULL, *second = NULL;
        scaler_command           command;
        scaler_init(&command, sizeof command);
        command.argv       = sort;
        command.input      = "3\n1\n2\n";
        command.input_size = 6;
        int status         = run(client, &command, &first);
        scaler_init(&command, sizeof command);
        command.argv  = script;
        command.env   = env;
        command.flags = SCALER_COMMAND_SHELL;
        if (status == 0)
                status = run(client, &command, &second);
        if (status == 0) {
                show("sort", first);
                show("script", second);
        }
        scaler_future_unref(first);
        scaler_future_unref(second);
        return status;
}

/* Output of any size, with the memory of one buffer. */
static int streamed(scaler_client *client)
{
        static const char *const argv[] = { "seq", "1", "1000000", NULL };
        scaler_future           *future = NULL;
        scaler_command           command;
        char                     buffer[16384];
        long                     total  = 0;
        int                      stream = 1;
        scaler_init(&command, sizeof command);
        command.argv  = argv;
        command.flags = SCALER_COMMAND_STREAM;
        int got       = run(client, &command, &future);
        while (got >= 0 && (got = scaler_future_read(future, buffer, sizeof buffer, &stream, 30000)) > 0)
                total += got;
        if (got == 0)
                printf("seq: %ld bytes\n", total);
        scaler_future_unref(future);
        return got;
}

int main(void)
{
        scaler_local *cluster = NULL;
        scaler_error  err;
        int           status = scaler_local_create(NULL, &cluster, &err);
        if (status == 0)
                status = scaler_local_start(cluster, &err);
        if (status < 0)
                fprintf(stderr, "commands: %s\n", err.text);
        if (status == 0)
                status = collected(scaler_local_client(cluster));
        if (status == 0)
                status = streamed(scaler_local_client(cluster));
        scaler_local_destroy(cluster);
        return status < 0;
}
