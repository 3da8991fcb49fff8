/*
 * scaler-worker: a worker as a process.  Runs commands, and the functions that plugins register.  At
 * SIGTERM or SIGINT, or when the scheduler asks it to, it leaves: it gives queued tasks back and finishes
 * running ones, for so long as --drain says; the second signal gives those back as well and kills them.
 */
#include <inttypes.h>
#include <poll.h>
#include <scaler.h>
#include <stdio.h>
#include <unistd.h>

#include "access.h"
#include "log.h"
#include "option.h"
#include "plugin.h"
#include "ready.h"
#include "signals.h"
#include "standard.h"
#include "text.h"

enum { EXIT_FINE = 0, EXIT_BROKEN = 1, EXIT_USAGE = 2 };

#define LINK_LOOK_MS  100
#define IDLE_LOOK_MS  1000
#define DRAIN_LOOK_MS 50
#define ABORT_MS      1000 /* to say goodbye and to see killed commands end */
#define SLOTS_MAX     1024

struct settings {
        scaler_worker_options worker;
        struct access         access;
        int64_t               slots, prefetch, drain_ms;
        bool                  no_commands;
        struct option_list    plugins;
        const char           *ready_file;
        int32_t               log_level;
};

static int parse(struct settings *s, int argc, char **argv, struct program *p, struct option_list *words)
{
        const struct option_row rows[] = {
                { "slots", 'j', OPTION_COUNT, &s->slots, 1, SLOTS_MAX, 0, "N", "tasks at once (usable CPUs)" },
                { "name", 0, OPTION_TEXT, &s->worker.name, 0, 0, 0, "NAME", "for people (host name and pid)" },
                { "plugin", 0, OPTION_LIST, &s->plugins, 0, 0, 0, "FILE.so",
                  "registers functions; may be given again" },
                { "no-commands", 0, OPTION_FLAG, &s->no_commands, 0, 0, 0, NULL, "run functions only" },
                { "prefetch", 0, OPTION_COUNT, &s->prefetch, 1, 65536, OPTION_WORD_NONE, "N",
                  "tasks kept near beyond the slots (adapts)" },
                { "offers", 0, OPTION_TEXT, &s->worker.offers, 0, 0, 0, "AMOUNTS",
                  "what tasks may need, gpu=2,mem=64G,linux (cpu=SLOTS)" },
                { "keep", 0, OPTION_TIME, &s->worker.keep_ms, 1, 86400000, 0, "TIME",
                  "running tasks outlive a lost link so long (60)" },
                { "kill-grace", 0, OPTION_TIME, &s->worker.kill_grace_ms, 1, 86400000, 0, "TIME",
                  "from SIGTERM to SIGKILL (5)" },
                { "drain", 0, OPTION_TIME, &s->drain_ms, 1, INT64_C(31536000000), 0, "TIME",
                  "what still runs so long after a signal is given back (never)" },
                { "scheduler-timeout", 0, OPTION_TIME, &s->worker.scheduler_timeout_ms, 1, INT64_C(31536000000), 0,
                  "TIME", "give up after so long without a scheduler (never)" },
                { "ready-file", 0, OPTION_TEXT, &s->ready_file, 0, 0, 0, "FILE", "holds the name once linked" },
                { "log-level", 0, OPTION_LEVEL, &s->log_level, 0, 0, 0, "LEVEL", "none error warn info debug (info)" },
        };
        struct option_row shared[ACCESS_ROWS];
        access_rows(&s->access, false, shared);
        *p = (struct program){
                .name       = "scaler-worker",
                .usage      = "[options] URL",
                .about      = "Runs tasks for the scheduler at URL ([tls+]tcp://HOST:PORT, ipc:///PATH).",
                .after      = "SCALER_URL stands for a missing URL, SCALER_TOKEN for a missing --token-file.\n"
                              "Exit: 0 left in order, 1 could not run or gave up, 2 usage,\n"
                              "128+N left what ran at the second signal N.",
                .rows       = rows,
                .row_count  = sizeof rows / sizeof rows[0],
                .shared     = shared,
                .shared_count = ACCESS_ROWS,
                .usage_exit = EXIT_USAGE,
        };
        int code = program_parse(p, argc, argv, words);
        p->rows   = NULL;
        p->shared = NULL;
        if (code != PROGRAM_GOES_ON)
                return code;
        if (words->count > 1)
                return program_refuse(p, "unexpected argument '%s'", words->items[1]);
        s->worker.slots     = (int32_t)s->slots;
        s->worker.prefetch  = (int32_t)s->prefetch;
        s->worker.commands  = s->no_commands ? SCALER_NONE : 0;
        s->worker.scheduler = words->count ? words->items[0] : access_url();
        return s->worker.scheduler ? PROGRAM_GOES_ON : program_refuse(p, "the scheduler's URL is missing (see --help)");
}

/* Until linked, given up or signalled.  0: linked; a signal; or a negative status. */
static int wait_linked(scaler_worker *worker, int signals)
{
        for (;;) {
                int signal_number = signals_take(signals);
                if (signal_number)
                        return signal_number;
                int status = scaler_worker_wait_ready(worker, LINK_LOOK_MS);
                if (status != SCALER_E_TIMEOUT)
                        return status < 0 ? status : 0;
        }
}

/* A signal; 0: it has left, as the scheduler asked it to; or the status with which it has given up.  It looks rarely:
 * an idle worker costs next to nothing. */
static int wait_end(scaler_worker *worker, int signals)
{
        for (;;) {
                int signal_number = signals_wait(signals, IDLE_LOOK_MS);
                if (signal_number)
                        return signal_number;
                int status = scaler_worker_wait_stopped(worker, 0);
                if (status != SCALER_E_TIMEOUT)
                        return status;
        }
}

static void say_released(const scaler_worker_stats *stats)
{
        if (stats->released > 0)
                log_line("worker", SCALER_LOG_WARN,
                         "left without %" PRIu64 " tasks that were running; they are run again elsewhere",
                         stats->released);
}

/* All links are closed or nearly so.  Functions that do not return would hold up an end in order; what they were for is
 * another worker's by now. */
static void end_all(scaler_worker *worker, int code)
{
        scaler_worker_stats stats;
        scaler_init(&stats, sizeof stats);
        for (int waited_ms = 0; waited_ms <= ABORT_MS; waited_ms += DRAIN_LOOK_MS) {
                scaler_worker_stats_get(worker, &stats);
                const int left = scaler_worker_wait_stopped(worker, DRAIN_LOOK_MS);
                if (left != SCALER_E_TIMEOUT && stats.running + stats.abandoned == 0)
                        break;
                if (left != SCALER_E_TIMEOUT)
                        poll(NULL, 0, DRAIN_LOOK_MS);
        }
        say_released(&stats);
        if (stats.running + stats.abandoned == 0)
                return;
        log_line("worker", SCALER_LOG_WARN, "%u tasks do not return; the process ends with them",
                 stats.running + stats.abandoned);
        fflush(NULL);
        _exit(code);
}

static int drain(scaler_worker *worker, const struct settings *s, int signals)
{
        int status = scaler_worker_drain(worker, s->drain_ms);
        while (status == 0 && scaler_worker_wait_stopped(worker, 0) == SCALER_E_TIMEOUT) {
                int again = signals_wait(signals, DRAIN_LOOK_MS);
                if (again == 0)
                        continue;
                log_line("worker", SCALER_LOG_WARN, "signal %d again: killing what runs", again);
                scaler_worker_drain(worker, 1);
                end_all(worker, 128 + again);
                return 128 + again;
        }
        end_all(worker, EXIT_FINE);
        return EXIT_FINE;
}

static int work(const struct program *p, const struct settings *s, scaler_worker *worker, int signals)
{
        int end = wait_linked(worker, signals);
        if (end == 0) {
                struct text name = { 0 };
                text_print(&name, "%s\n", s->worker.name);
                bool written = ready_write(s->ready_file, name.data);
                text_free(&name);
                if (!written) {
                        program_refuse(p, "--ready-file: '%s' cannot be written", s->ready_file);
                        return EXIT_BROKEN;
                }
                end = wait_end(worker, signals);
        }
        if (end < 0) {
                program_refuse(p, "gave up on %s: %s%s", s->worker.scheduler, scaler_strerror(end),
                               access_hint(&s->access, s->worker.scheduler, end));
                return EXIT_BROKEN;
        }
        if (end > 0)
                log_line("worker", SCALER_LOG_INFO, "signal %d: finishing what runs", end);
        else
                log_line("worker", SCALER_LOG_INFO, "left, as the scheduler asked");
        return drain(worker, s, signals);
}

static int run(const struct program *p, struct settings *s)
{
        scaler_security        security;
        scaler_runtime_options runtime_options;
        scaler_worker         *worker = NULL;
        scaler_error           err;
        int                    code = access_suits(&s->access, p, &s->worker.scheduler, 1);
        if (code == PROGRAM_GOES_ON)
                code = access_read(&s->access, p, &security);
        if (code != PROGRAM_GOES_ON)
                return code;
        int signals = signals_open();
        ready_forget(s->ready_file);
        scaler_init(&runtime_options, sizeof runtime_options);
        runtime_options.log       = log_to_stderr;
        runtime_options.log_level = s->log_level;
        s->worker.security        = &security;
        code                      = EXIT_BROKEN;
        if (scaler_runtime_create(&runtime_options, &s->worker.runtime, &err) < 0 ||
            scaler_worker_create(&s->worker, &worker, &err) < 0)
                program_refuse(p, "%s", err.text);
        else if (!plugins_load(p, worker, &s->plugins))
                code = EXIT_BROKEN;
        else if (scaler_worker_start(worker, &err) < 0)
                program_refuse(p, "%s%s", err.text, access_hint(&s->access, s->worker.scheduler, err.status));
        else
                code = work(p, s, worker, signals);
        scaler_worker_destroy(worker);
        scaler_runtime_destroy(s->worker.runtime);
        return code;
}

int main(int argc, char **argv)
{
        struct settings    settings = { 0 };
        struct program     program;
        struct option_list words = { 0 };
        scaler_init(&settings.worker, sizeof settings.worker);
        char host[64] = "worker", name[96];
        gethostname(host, sizeof host - 1);
        snprintf(name, sizeof name, "%s-%ld", host, (long)getpid());
        settings.worker.name = name;
        int code             = standard_fill() ? parse(&settings, argc, argv, &program, &words) : EXIT_BROKEN;
        if (code == PROGRAM_GOES_ON)
                code = run(&program, &settings);
        access_fini(&settings.access);
        option_list_free(&settings.plugins);
        option_list_free(&words);
        return code;
}
