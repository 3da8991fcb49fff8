/*
 * plugin: functions for `scaler-worker --plugin plugin.so`.  A client anywhere submits them by name;
 * plugin_client.c does.
 */
#include <scaler.h>

SCALER_API int scaler_plugin_init(scaler_worker *worker);

/* Counts the words of its argument. */
static int count_words(scaler_task *task, void *ctx)
{
        (void)ctx;
        size_t      size   = 0;
        const char *text   = scaler_task_arg(task, 0, &size);
        uint32_t    count  = 0;
        bool        inside = false;
        for (size_t i = 0; i < size; i++) {
                bool letter = text[i] > ' ';
                count += letter && !inside;
                inside = letter;
        }
        return scaler_task_return_copy(task, &count, sizeof count);
}

int scaler_plugin_init(scaler_worker *worker)
{
        scaler_function function;
        scaler_init(&function, sizeof function);
        function.name = "count_words";
        function.fn   = count_words;
        return scaler_worker_register(worker, &function);
}
