/*
 * load: a client for the fault tests.  Submits what its arguments say and prints one JSON line for each
 * thing that happens: `submitted`, `progress` and `held` of streams, and one line with `task` per ended task.
 *
 *     load [--reconnect MS] [--hold-at BYTES --go FILE] [--linger] URL WORK...
 *
 * WORK is call:COUNT:FUNCTION:TEXT, shell:COUNT:SCRIPT or stream:COUNT:SCRIPT.  With --hold-at a stream is
 * not read beyond BYTES until FILE is there; with --linger the client stays until its stdin ends.
 */
#include <scaler.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PROGRESS_BYTES (4u << 20)
#define LOOK_MS        20
#define WORK_MAX       16

enum kind { KIND_CALL, KIND_SHELL, KIND_STREAM };

struct work {
        enum kind kind;
        unsigned  count;
        char     *function; /* call */
        char     *text;     /* the argument, or the script */
};

struct task {
        const struct work *work;
        uint64_t           bytes; /* since the last gap */
        uint32_t           sum_a, sum_b; /* Adler-32 of them */
        unsigned           gaps;
        bool               told;
};

struct load {
        scaler_client *client;
        scaler_queue  *queue;
        const char    *url, *go;
        int64_t        reconnect_ms;
        uint64_t       hold_at;
        bool           linger, held;
        struct work    works[WORK_MAX];
        size_t         work_count;
        struct task   *tasks;
        size_t         task_count, ended;
};

/* ---- arguments ------------------------------------------------------------------------------------- */

static bool parse_work(struct work *w, char *text)
{
        static const char *const names[] = { "call:", "shell:", "stream:" };
        size_t kind = 0;
        while (kind < 3 && strncmp(text, names[kind], strlen(names[kind])) != 0)
                kind++;
        if (kind == 3)
                return false;
        char *rest = text + strlen(names[kind]);
        w->kind    = (enum kind)kind;
        w->count   = (unsigned)strtoul(rest, &rest, 10);
        if (w->count == 0 || *rest != ':')
                return false;
        w->text = rest + 1;
        if (w->kind != KIND_CALL)
                return true;
        w->function = w->text;
        w->text     = strchr(w->function, ':');
        if (!w->text)
                return false;
        *w->text++ = '\0';
        return true;
}

static bool parse(struct load *l, int argc, char **argv)
{
        int at = 1;
        for (; at + 1 < argc && argv[at][0] == '-'; at++) {
                if (strcmp(argv[at], "--linger") == 0)
                        l->linger = true;
                else if (strcmp(argv[at], "--reconnect") == 0)
                        l->reconnect_ms = strtoll(argv[++at], NULL, 10);
                else if (strcmp(argv[at], "--hold-at") == 0)
                        l->hold_at = strtoull(argv[++at], NULL, 10);
                else if (strcmp(argv[at], "--go") == 0)
                        l->go = argv[++at];
                else
                        return false;
        }
        if (at >= argc || argc - at - 1 > WORK_MAX)
                return false;
        l->url = argv[at++];
        for (; at < argc; at++) {
                struct work *w = &l->works[l->work_count++];
                if (!parse_work(w, argv[at]))
                        return false;
                l->task_count += w->count;
        }
        return true;
}

/* ---- telling --------------------------------------------------------------------------------------- */

static void print_text(const char *key, const char *text, size_t size)
{
        printf(",\"%s\":\"", key);
        for (size_t i = 0; i < size; i++) {
                if (text[i] == '"' || text[i] == '\\')
                        putchar('\\');
                if (text[i] >= ' ' && text[i] <= '~')
                        putchar(text[i]);
        }
        putchar('"');
}

static void print_output(scaler_future *f)
{
        scaler_blob *blob = NULL;
        if (scaler_future_output(f, 1, &blob) < 0)
                return;
        const size_t size = scaler_blob_size(blob);
        print_text("output", scaler_blob_data(blob), size < 200 ? size : 200);
        scaler_blob_unref(blob);
}

static void print_end(const struct load *l, const struct task *t, scaler_future *f)
{
        scaler_failure failure;
        scaler_init(&failure, sizeof failure);
        scaler_future_failure(f, &failure);
        printf("{\"task\":%zu,\"work\":%zu,\"reason\":\"%s\",\"code\":%d,\"attempts\":%u,\"losses\":%u",
               (size_t)(t - l->tasks), (size_t)(t->work - l->works), scaler_reason_name(failure.reason),
               (int)failure.code, (unsigned)failure.attempts, (unsigned)failure.losses);
        if (t->work->kind == KIND_STREAM)
                printf(",\"bytes\":%llu,\"sum\":%lu,\"gaps\":%u", (unsigned long long)t->bytes,
                       (unsigned long)t->sum_b << 16 | t->sum_a, t->gaps);
        else
                print_output(f);
        print_text("text", failure.text, strlen(failure.text));
        puts("}");
}

/* ---- streams --------------------------------------------------------------------------------------- */

static void start_over(struct task *t)
{
        t->bytes = 0;
        t->sum_a = 1;
        t->sum_b = 0;
}

static void add_bytes(struct task *t, const unsigned char *bytes, size_t size)
{
        enum { ADLER_PRIME = 65521 };
        for (size_t i = 0; i < size; i++) {
                t->sum_a = (t->sum_a + bytes[i]) % ADLER_PRIME;
                t->sum_b = (t->sum_b + t->sum_a) % ADLER_PRIME;
        }
        const uint64_t before = t->bytes / PROGRESS_BYTES;
        t->bytes += size;
        if (t->bytes / PROGRESS_BYTES != before)
                printf("{\"progress\":%llu}\n", (unsigned long long)t->bytes);
}

static void hold(struct load *l, const struct task *t)
{
        if (l->hold_at == 0 || l->held || t->bytes < l->hold_at)
                return;
        l->held = true;
        printf("{\"held\":%llu}\n", (unsigned long long)t->bytes);
        fflush(stdout);
        while (access(l->go, F_OK) != 0)
                usleep(LOOK_MS * 1000);
}

/* Whether it has come to its end. */
static bool read_stream(struct load *l, struct task *t, scaler_future *f)
{
        unsigned char buffer[16384];
        int           stream = 1, got;
        while ((got = scaler_future_read(f, buffer, sizeof buffer, &stream, 0)) != 0) {
                if (got == SCALER_E_TIMEOUT)
                        return false;
                if (got == SCALER_E_GAP) {
                        t->gaps++;
                        start_over(t);
                } else if (got < 0) {
                        printf("{\"broken\":\"%s\"}\n", scaler_status_name(got));
                        return true;
                } else {
                        add_bytes(t, buffer, (size_t)got);
                        hold(l, t);
                }
        }
        return true;
}

/* ---- work ------------------------------------------------------------------------------------------ */

static int submit_one(struct load *l, const struct work *w, uint64_t number, scaler_error *err)
{
        const char *const argv[] = { w->text, NULL };
        const scaler_arg  arg    = scaler_arg_bytes(w->text, strlen(w->text));
        scaler_command    command;
        scaler_spec       spec;
        scaler_init(&command, sizeof command);
        scaler_init(&spec, sizeof spec);
        command.argv   = argv;
        command.flags  = SCALER_COMMAND_SHELL | (w->kind == KIND_STREAM ? SCALER_COMMAND_STREAM : 0u);
        spec.user_data = number;
        spec.queue     = l->queue;
        if (w->kind == KIND_CALL) {
                spec.function  = w->function;
                spec.args      = &arg;
                spec.arg_count = 1;
        } else {
                spec.command = &command;
        }
        return scaler_client_submit(l->client, &spec, NULL, err);
}

static int submit_all(struct load *l, scaler_error *err)
{
        size_t number = 0;
        for (size_t i = 0; i < l->work_count; i++)
                for (unsigned n = 0; n < l->works[i].count; n++, number++) {
                        l->tasks[number].work = &l->works[i];
                        start_over(&l->tasks[number]);
                        const int status = submit_one(l, &l->works[i], number, err);
                        if (status < 0)
                                return status;
                }
        printf("{\"submitted\":%zu}\n", number);
        fflush(stdout);
        return 0;
}

static void look_at(struct load *l, scaler_future *f)
{
        struct task *t    = &l->tasks[scaler_future_user_data(f)];
        const bool   over = t->work->kind == KIND_STREAM ? read_stream(l, t, f)
                                                         : scaler_future_state(f) != SCALER_TASK_PENDING;
        if (over && t->told && t->work->kind != KIND_STREAM)
                puts("{\"twice\":true}");
        if (over && !t->told) {
                t->told = true;
                l->ended++;
                print_end(l, t, f);
        }
        fflush(stdout);
}

static int run(struct load *l, scaler_error *err)
{
        scaler_client_options options;
        scaler_init(&options, sizeof options);
        options.scheduler    = l->url;
        options.name         = "load";
        options.reconnect_ms = l->reconnect_ms;
        int status           = scaler_queue_create(NULL, &l->queue, err);
        if (status == 0)
                status = scaler_client_create(&options, &l->client, err);
        if (status == 0)
                status = scaler_client_start(l->client, err);
        if (status == 0)
                status = submit_all(l, err);
        while (status == 0 && l->ended < l->task_count) {
                scaler_future *f = NULL;
                status           = scaler_queue_next(l->queue, SCALER_FOREVER, &f);
                if (status == 0)
                        look_at(l, f);
                scaler_future_unref(f);
        }
        char end;
        while (status == 0 && l->linger && read(STDIN_FILENO, &end, 1) > 0)
                continue;
        return status;
}

int main(int argc, char **argv)
{
        struct load  load = { 0 };
        scaler_error err  = { 0, "" };
        if (!parse(&load, argc, argv) || (load.hold_at && !load.go)) {
                fputs("load: arguments make no sense\n", stderr);
                return 2;
        }
        load.tasks = calloc(load.task_count + 1, sizeof *load.tasks);
        int status = load.tasks ? run(&load, &err) : SCALER_E_NOMEM;
        if (status < 0)
                fprintf(stderr, "load: %s: %s\n", scaler_status_name(status), err.text);
        if (load.client)
                scaler_client_stop(load.client, 5000);
        scaler_client_destroy(load.client);
        scaler_queue_destroy(load.queue);
        free(load.tasks);
        return status < 0;
}
