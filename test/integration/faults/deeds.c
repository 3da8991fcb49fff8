/*
 * deeds: functions for the fault tests, as a plugin of scaler-worker.
 *
 *     poison TEXT      kills the worker that runs it
 *     nap MS           sleeps, returns "good"
 *     reply MS TEXT    sleeps, returns TEXT
 *     mark MS FILE     adds a line to FILE when it starts, sleeps, returns "marked"
 */
#include <scaler.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

SCALER_API int scaler_plugin_init(scaler_worker *worker);

#define TEXT_MAX 512

/* Sleeps by the clock, not by the number of naps: a stopped process sleeps no longer for it. */
static void nap_ms(const scaler_task *task, long ms)
{
        const struct timespec nap = { .tv_nsec = 10000000 };
        struct timespec       begin, now;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        do {
                nanosleep(&nap, NULL);
                clock_gettime(CLOCK_MONOTONIC, &now);
        } while (!scaler_task_cancelled(task) &&
                 (now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}

static void copy_arg(const scaler_task *task, char text[TEXT_MAX])
{
        size_t      size = 0;
        const void *arg  = scaler_task_arg(task, 0, &size);
        size             = size < TEXT_MAX ? size : TEXT_MAX - 1;
        if (size > 0)
                memcpy(text, arg, size);
        text[size] = '\0';
}

/* One that was told to stop has not done its work. */
static int answer(scaler_task *task, const char *text)
{
        return scaler_task_cancelled(task) ? 1 : scaler_task_return_copy(task, text, strlen(text));
}

static int poison(scaler_task *task, void *ctx)
{
        (void)task;
        (void)ctx;
        kill(getpid(), SIGKILL);
        return 0;
}

static int nap(scaler_task *task, void *ctx)
{
        (void)ctx;
        char text[TEXT_MAX];
        copy_arg(task, text);
        nap_ms(task, strtol(text, NULL, 10));
        return answer(task, "good");
}

static int reply(scaler_task *task, void *ctx)
{
        (void)ctx;
        char text[TEXT_MAX], *rest;
        copy_arg(task, text);
        nap_ms(task, strtol(text, &rest, 10));
        return answer(task, rest + (*rest == ' '));
}

static int nothing(scaler_task *task, void *ctx)
{
        (void)ctx;
        return answer(task, "done");
}

static int mark(scaler_task *task, void *ctx)
{
        (void)ctx;
        char text[TEXT_MAX], *path;
        copy_arg(task, text);
        const long ms   = strtol(text, &path, 10);
        FILE      *file = fopen(path + 1, "a");
        if (!file)
                return scaler_task_fail(task, 1, "the file cannot be opened", NULL);
        fprintf(file, "%ld %u\n", (long)getpid(), (unsigned)scaler_task_attempt(task));
        fclose(file);
        nap_ms(task, ms);
        return answer(task, "marked");
}

int scaler_plugin_init(scaler_worker *worker)
{
        static const struct {
                const char    *name;
                scaler_task_fn fn;
        } deeds[] = { { "poison", poison },
                      { "nap", nap },
                      { "mark", mark },
                      { "nothing", nothing },
                      { "reply", reply } };
        int status = 0;
        for (size_t i = 0; i < sizeof deeds / sizeof deeds[0] && status == 0; i++) {
                scaler_function function;
                scaler_init(&function, sizeof function);
                function.name = deeds[i].name;
                function.fn   = deeds[i].fn;
                status        = scaler_worker_register(worker, &function);
        }
        return status;
}
