/* plugin_client: asks the cluster at URL to count the words of each argument, by plugin.c. */
#include <inttypes.h>
#include <scaler.h>
#include <stdio.h>

static int ask(scaler_client *client, const char *text, scaler_error *err)
{
        scaler_arg     arg    = scaler_arg_bytes(text, strlen(text));
        scaler_future *future = NULL;
        scaler_blob   *result = NULL;
        scaler_spec    spec;
        scaler_init(&spec, sizeof spec);
        spec.function  = "count_words";
        spec.args      = &arg;
        spec.arg_count = 1;
        int status     = scaler_client_submit(client, &spec, &future, err);
        if (status == 0)
                status = scaler_future_result(future, 30000, &result);
        uint32_t count = 0;
        if (status == 0 && scaler_blob_size(result) == sizeof count) {
                memcpy(&count, scaler_blob_data(result), sizeof count);
                printf("%" PRIu32 " %s\n", count, text);
        }
        scaler_blob_unref(result);
        scaler_future_unref(future);
        return status;
}

int main(int argc, char **argv)
{
        scaler_client        *client = NULL;
        scaler_error          err    = { .text = "see above" };
        scaler_client_options options;
        if (argc < 3) {
                fputs("usage: plugin_client URL TEXT...\n", stderr);
                return 2;
        }
        scaler_init(&options, sizeof options);
        options.scheduler = argv[1];
        int status        = scaler_client_create(&options, &client, &err);
        if (status == 0)
                status = scaler_client_start(client, &err);
        for (int i = 2; i < argc && status == 0; i++)
                status = ask(client, argv[i], &err);
        if (status < 0)
                fprintf(stderr, "plugin_client: %s: %s\n", scaler_strerror(status), err.text);
        scaler_client_destroy(client);
        return status < 0;
}
