/*
 * scaler-scheduler: a scheduler as a process.  Prints each bound address on stdout.  At SIGTERM or SIGINT, or
 * when an admin asks it to, it stops: it starts nothing more, waits for what runs as long as --drain says,
 * and says goodbye; at the second signal it does so at once.
 */
#include <inttypes.h>
#include <scaler.h>
#include <stdio.h>
#include <string.h>

#include "access.h"
#include "log.h"
#include "option.h"
#include "ready.h"
#include "signals.h"
#include "standard.h"
#include "tenant.h"
#include "text.h"

enum { EXIT_FINE = 0, EXIT_BROKEN = 1, EXIT_USAGE = 2 };

#define DRAIN_MS     10000
#define IDLE_LOOK_MS 1000
#define STOP_LOOK_MS 20
#define GOODBYE_MS   10000 /* for peers that do not let go */

struct settings {
        scaler_scheduler_options scheduler;
        struct access            access;
        int64_t                  losses_max, drain_ms;
        struct option_list       tenants;
        const char              *ready_file;
        int32_t                  log_level;
};

static int parse(struct settings *s, int argc, char **argv, struct program *p, struct option_list *urls)
{
        const struct option_row rows[] = {
                { "name", 0, OPTION_TEXT, &s->scheduler.name, 0, 0, 0, "NAME", "for people (host name and pid)" },
                { "tasks-max", 0, OPTION_COUNT, &s->scheduler.tasks_max, 1, INT32_MAX, 0, "N",
                  "tasks held (10000000)" },
                { "bytes-max", 0, OPTION_BYTES, &s->scheduler.bytes_max, 1, INT64_MAX / 2, 0, "SIZE",
                  "arguments and results held (a quarter of RAM)" },
                { "peers-max", 0, OPTION_COUNT, &s->scheduler.peers_max, 1, 1 << 20, 0, "N", "links at once (65536)" },
                { "client-tasks-max", 0, OPTION_COUNT, &s->scheduler.client_tasks_max, 1, INT32_MAX, 0, "N",
                  "tasks held of one client (--tasks-max)" },
                { "losses-max", 0, OPTION_COUNT, &s->losses_max, 1, 1000, 0, "N", "the N-th lost run ends a task (3)" },
                { "silent", 0, OPTION_TIME, &s->scheduler.silent_ms, 1, 86400000, 0, "TIME",
                  "a peer silent for so long is lost (10)" },
                { "client-grace", 0, OPTION_TIME, &s->scheduler.client_grace_ms, 1, INT64_C(31536000000),
                  OPTION_WORD_UNLIMITED, "TIME", "a lost client's tasks wait so long (60)" },
                { "tenant", 0, OPTION_LIST, &s->tenants, 0, 0, 0, "NAME:LIMITS",
                  "its weight=N,queued=N,running=N; may be given again" },
                { "aging", 0, OPTION_TIME, &s->scheduler.aging_ms, 1, INT64_C(31536000000), OPTION_WORD_NONE, "TIME",
                  "waiting so long is worth one priority (60)" },
                { "allocate", 0, OPTION_TEXT, &s->scheduler.allocate, 0, 0, 0, "HOW",
                  "who gets a task: spread even_load capability (spread)" },
                { "drain", 0, OPTION_TIME, &s->drain_ms, 1, INT64_C(31536000000), 0, "TIME",
                  "after a signal running tasks are waited for so long (10)" },
                { "keys-kept", 0, OPTION_COUNT, &s->scheduler.keys_kept, 1, INT32_MAX / 2, OPTION_WORD_NONE, "N",
                  "ended idempotency keys remembered (100000)" },
                { "keys-age", 0, OPTION_TIME, &s->scheduler.keys_age_ms, 1, INT64_C(31536000000), OPTION_WORD_UNLIMITED,
                  "TIME", "for so long (3600)" },
                { "ready-file", 0, OPTION_TEXT, &s->ready_file, 0, 0, 0, "FILE",
                  "holds the addresses once they are bound" },
                { "log-level", 0, OPTION_LEVEL, &s->log_level, 0, 0, 0, "LEVEL", "none error warn info debug (info)" },
        };
        struct option_row shared[ACCESS_ROWS];
        access_rows(&s->access, true, shared);
        *p = (struct program){
                .name  = "scaler-scheduler",
                .usage = "[options] URL...",
                .about = "Runs a scheduler that listens at each URL ([tls+]tcp://HOST:PORT, ipc:///PATH; port 0: any).",
                .after = "SCALER_URL stands for a missing URL, SCALER_TOKEN for a missing --token-file.\n"
                         "Exit: 0 stopped in order, 1 could not run, 2 usage, 128+N stopped in haste by signal N.",
                .rows  = rows,
                .row_count  = sizeof rows / sizeof rows[0],
                .shared     = shared,
                .shared_count = ACCESS_ROWS,
                .usage_exit = EXIT_USAGE,
        };
        int code  = program_parse(p, argc, argv, urls);
        p->rows   = NULL;
        p->shared = NULL;
        if (code != PROGRAM_GOES_ON)
                return code;
        s->scheduler.losses_max = (int32_t)s->losses_max;
        if (urls->count == 0 && access_url())
                option_list_add(urls, access_url());
        return urls->count ? PROGRAM_GOES_ON : program_refuse(p, "a URL to listen on is missing (see --help)");
}

static int announce(const struct program *p, scaler_scheduler *scheduler, size_t count, const char *ready_file)
{
        struct text lines = { 0 };
        for (size_t i = 0; i < count; i++)
                text_print(&lines, "%s\n", scaler_scheduler_address(scheduler, i));
        fputs(lines.data, stdout);
        fflush(stdout);
        int code = PROGRAM_GOES_ON;
        if (!ready_write(ready_file, lines.data)) {
                program_refuse(p, "--ready-file: '%s' cannot be written", ready_file);
                code = EXIT_BROKEN;
        }
        text_free(&lines);
        return code;
}

/* In order, unless a second signal comes or the peers do not let go in time. */
static int stop(scaler_scheduler *scheduler, const struct settings *s, int signals)
{
        scaler_scheduler_drain(scheduler, s->drain_ms);
        for (int64_t waited_ms = 0; scaler_scheduler_wait_stopped(scheduler, 0) == SCALER_E_TIMEOUT;
             waited_ms += STOP_LOOK_MS) {
                int again = signals_wait(signals, STOP_LOOK_MS);
                if (again)
                        return 128 + again;
                if (waited_ms > s->drain_ms + GOODBYE_MS)
                        break;
        }
        return EXIT_FINE;
}

/* A signal, or 0: it has stopped, as somebody asked it to. */
static int wait_end(scaler_scheduler *scheduler, int signals)
{
        for (;;) {
                int signal_number = signals_wait(signals, IDLE_LOOK_MS);
                if (signal_number || scaler_scheduler_wait_stopped(scheduler, 0) == 0)
                        return signal_number;
        }
}

static int serve(const struct program *p, const struct settings *s, int signals)
{
        scaler_scheduler *scheduler = NULL;
        scaler_error      err;
        int               code = EXIT_BROKEN;
        if (scaler_scheduler_create(&s->scheduler, &scheduler, &err) < 0 ||
            scaler_scheduler_start(scheduler, &err) < 0) {
                program_refuse(p, "%s%s", err.text, access_hint(&s->access, NULL, err.status));
                goto out;
        }
        code = announce(p, scheduler, s->scheduler.listen_count, s->ready_file);
        if (code != PROGRAM_GOES_ON)
                goto out;
        int signal_number = wait_end(scheduler, signals);
        code              = EXIT_FINE;
        if (signal_number == 0) {
                log_line("scheduler", SCALER_LOG_INFO, "stopped, as an admin asked");
                goto out;
        }
        log_line("scheduler", SCALER_LOG_INFO, "signal %d: stopping", signal_number);
        code = stop(scheduler, s, signals);
out:
        scaler_scheduler_destroy(scheduler);
        return code;
}

static bool read_policy(const struct program *p, struct settings *s)
{
        static const char *const names[] = { "spread", "even_load", "capability" };
        bool                     known   = !s->scheduler.allocate;
        for (size_t i = 0; i < sizeof names / sizeof names[0] && !known; i++)
                known = strcmp(s->scheduler.allocate, names[i]) == 0;
        if (!known) {
                program_refuse(p, "--allocate: '%s' is not one of spread even_load capability", s->scheduler.allocate);
                return false;
        }
        s->scheduler.tenants      = tenants_read(p, &s->tenants);
        s->scheduler.tenant_count = s->tenants.count;
        return s->scheduler.tenants != NULL;
}

static int run(const struct program *p, struct settings *s, const struct option_list *urls)
{
        scaler_security        security;
        scaler_runtime_options runtime_options;
        scaler_error           err;
        int                    code = access_suits(&s->access, p, urls->items, urls->count);
        if (code == PROGRAM_GOES_ON)
                code = access_read(&s->access, p, &security);
        if (code != PROGRAM_GOES_ON)
                return code;
        int signals = signals_open();
        if (signals < 0) {
                program_refuse(p, "no descriptor for signals");
                return EXIT_BROKEN;
        }
        ready_forget(s->ready_file);
        scaler_init(&runtime_options, sizeof runtime_options);
        runtime_options.log       = log_to_stderr;
        runtime_options.log_level = s->log_level;
        if (scaler_runtime_create(&runtime_options, &s->scheduler.runtime, &err) < 0) {
                program_refuse(p, "%s", err.text);
                return EXIT_BROKEN;
        }
        s->scheduler.listen       = urls->items;
        s->scheduler.listen_count = urls->count;
        s->scheduler.security     = &security;
        code                      = serve(p, s, signals);
        scaler_runtime_destroy(s->scheduler.runtime);
        return code;
}

int main(int argc, char **argv)
{
        struct settings    settings = { .drain_ms = DRAIN_MS };
        struct program     program;
        struct option_list urls = { 0 };
        scaler_init(&settings.scheduler, sizeof settings.scheduler);
        int code = standard_fill() ? parse(&settings, argc, argv, &program, &urls) : EXIT_BROKEN;
        if (code == PROGRAM_GOES_ON)
                code = read_policy(&program, &settings) ? run(&program, &settings, &urls) : EXIT_USAGE;
        tenants_free((scaler_tenant *)(uintptr_t)settings.scheduler.tenants, settings.tenants.count);
        option_list_free(&settings.tenants);
        access_fini(&settings.access);
        option_list_free(&urls);
        return code;
}
