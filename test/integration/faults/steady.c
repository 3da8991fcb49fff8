/*
 * steady: a client that keeps WINDOW tasks under way until its stdin ends, and then waits for the last of them.
 * Every answer must be the one of its task, and come once.  Functions, commands and streamed commands take
 * turns.  Prints its counts as one JSON line four times a second, and at the end with "over".
 *
 *     steady URL WINDOW
 */
#include <poll.h>
#include <scaler.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define WINDOW_MAX 1024
#define TEXT_MAX   128
#define TELL_MS    250
#define LOOK_MS    50

enum kind { KIND_CALL, KIND_COMMAND, KIND_STREAM };

struct slot { /* a task under way */
        uint64_t number;
        bool     busy;
        char     text[TEXT_MAX]; /* of a stream, as far as it has come */
        size_t   size;
};

struct steady {
        scaler_client *client;
        scaler_queue  *queue;
        size_t         window, busy;
        uint64_t       submitted, answered, wrong, twice, gaps, told_ms;
        struct slot    slots[WINDOW_MAX];
};

static enum kind kind_of(uint64_t number)
{
        return number % 10 == 3 ? KIND_COMMAND : number % 10 == 7 ? KIND_STREAM : KIND_CALL;
}

static void expected(uint64_t number, char text[TEXT_MAX])
{
        const unsigned long long n = number;
        switch (kind_of(number)) {
        case KIND_CALL:
                snprintf(text, TEXT_MAX, "%llu", n);
                break;
        case KIND_COMMAND:
                snprintf(text, TEXT_MAX, "%llu\n", n);
                break;
        case KIND_STREAM:
                snprintf(text, TEXT_MAX, "%llu\nend\n", n);
                break;
        }
}

static uint64_t clock_ms(void)
{
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void tell(struct steady *s, bool over)
{
        s->told_ms = clock_ms();
        printf("{\"submitted\":%llu,\"answered\":%llu,\"wrong\":%llu,\"twice\":%llu,\"gaps\":%llu,\"over\":%s}\n",
               (unsigned long long)s->submitted, (unsigned long long)s->answered, (unsigned long long)s->wrong,
               (unsigned long long)s->twice, (unsigned long long)s->gaps, over ? "true" : "false");
        fflush(stdout);
}

/* ---- submitting ------------------------------------------------------------------------------------ */

static int submit_one(struct steady *s, size_t place, scaler_error *err)
{
        const uint64_t n = s->submitted;
        char           text[TEXT_MAX], script[TEXT_MAX];
        snprintf(text, sizeof text, "%llu %llu", (unsigned long long)(n * 7 % 20), (unsigned long long)n);
        snprintf(script, sizeof script, "echo %llu%s", (unsigned long long)n,
                 kind_of(n) == KIND_STREAM ? "; sleep 0.02; echo end" : "");
        const char *const argv[] = { script, NULL };
        const scaler_arg  arg    = scaler_arg_bytes(text, strlen(text));
        scaler_command    command;
        scaler_spec       spec;
        scaler_init(&command, sizeof command);
        scaler_init(&spec, sizeof spec);
        command.argv   = argv;
        command.flags  = SCALER_COMMAND_SHELL | (kind_of(n) == KIND_STREAM ? SCALER_COMMAND_STREAM : 0u);
        spec.user_data = place;
        spec.queue     = s->queue;
        if (kind_of(n) == KIND_CALL) {
                spec.function  = "reply";
                spec.args      = &arg;
                spec.arg_count = 1;
        } else {
                spec.command = &command;
        }
        const int status = scaler_client_submit(s->client, &spec, NULL, err);
        if (status == 0) {
                s->slots[place] = (struct slot){ .number = n, .busy = true };
                s->submitted++;
                s->busy++;
        }
        return status;
}

static int fill(struct steady *s, scaler_error *err)
{
        int status = 0;
        for (size_t i = 0; i < s->window && status == 0; i++)
                if (!s->slots[i].busy)
                        status = submit_one(s, i, err);
        return status;
}

/* ---- answers --------------------------------------------------------------------------------------- */

/* Whether the stream has come to its end. */
static bool read_stream(struct steady *s, struct slot *slot, scaler_future *f)
{
        char buffer[TEXT_MAX];
        int  got;
        while ((got = scaler_future_read(f, buffer, sizeof buffer, NULL, 0)) != 0) {
                if (got == SCALER_E_TIMEOUT)
                        return false;
                if (got == SCALER_E_GAP) {
                        s->gaps++;
                        slot->size = 0;
                        continue;
                }
                if (got < 0 || slot->size + (size_t)got > sizeof slot->text) {
                        slot->size = 0;
                        return true;
                }
                memcpy(slot->text + slot->size, buffer, (size_t)got);
                slot->size += (size_t)got;
        }
        return true;
}

static void take_result(struct slot *slot, scaler_future *f)
{
        scaler_blob *blob = NULL;
        if (scaler_future_output(f, 1, &blob) < 0 && scaler_future_result(f, 0, &blob) < 0)
                return;
        slot->size = scaler_blob_size(blob) < TEXT_MAX ? scaler_blob_size(blob) : 0;
        if (slot->size)
                memcpy(slot->text, scaler_blob_data(blob), slot->size);
        scaler_blob_unref(blob);
}

static void judge(struct steady *s, struct slot *slot, scaler_future *f)
{
        char want[TEXT_MAX];
        expected(slot->number, want);
        s->answered++;
        s->busy--;
        slot->busy = false;
        if (slot->size == strlen(want) && memcmp(slot->text, want, slot->size) == 0)
                return;
        scaler_failure failure;
        scaler_init(&failure, sizeof failure);
        scaler_future_failure(f, &failure);
        fprintf(stderr, "steady: task %llu: %s: %s, and '%.*s'\n", (unsigned long long)slot->number,
                scaler_reason_name(failure.reason), failure.text, (int)slot->size, slot->text);
        s->wrong++;
}

/* A stream's future may be named again when its end has been seen; any other is named once. */
static void look_at(struct steady *s, scaler_future *f)
{
        struct slot *slot   = &s->slots[scaler_future_user_data(f)];
        const bool   stream = kind_of(scaler_future_id(f).lo - 1) == KIND_STREAM;
        if (!slot->busy || slot->number != scaler_future_id(f).lo - 1) {
                s->twice += !stream;
                return;
        }
        if (stream) {
                if (!read_stream(s, slot, f) || scaler_future_state(f) == SCALER_TASK_PENDING)
                        return;
        } else {
                take_result(slot, f);
        }
        judge(s, slot, f);
}

static bool told_to_end(void)
{
        struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
        return poll(&in, 1, 0) > 0;
}

static int run(struct steady *s, scaler_error *err)
{
        bool over   = false;
        int  status = 0;
        while (status == 0 && (!over || s->busy > 0)) {
                scaler_future *f = NULL;
                over |= told_to_end();
                if (!over)
                        status = fill(s, err);
                if (status == 0 && scaler_queue_next(s->queue, LOOK_MS, &f) == 0)
                        look_at(s, f);
                scaler_future_unref(f);
                if (clock_ms() - s->told_ms >= TELL_MS)
                        tell(s, false);
        }
        if (status == 0)
                tell(s, true);
        return status;
}

int main(int argc, char **argv)
{
        static struct steady  s;
        scaler_error          err = { 0, "" };
        scaler_client_options options;
        s.window = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
        if (s.window == 0 || s.window > WINDOW_MAX)
                return 2;
        scaler_init(&options, sizeof options);
        options.scheduler = argv[1];
        options.name      = "steady";
        int status        = scaler_queue_create(NULL, &s.queue, &err);
        if (status == 0)
                status = scaler_client_create(&options, &s.client, &err);
        if (status == 0)
                status = scaler_client_start(s.client, &err);
        if (status == 0)
                status = run(&s, &err);
        if (status < 0)
                fprintf(stderr, "steady: %s: %s\n", scaler_status_name(status), err.text);
        if (s.client)
                scaler_client_stop(s.client, 5000);
        scaler_client_destroy(s.client);
        scaler_queue_destroy(s.queue);
        return status < 0;
}
