/*
 * scaler-run: runs a command once per input, in parallel, on a cluster of its own or on a running one.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "run.h"
#include "signals.h"
#include "standard.h"

static int refuse(const struct program *p, const char *what)
{
        return program_refuse(p, "%s: %s", what, strerror(errno));
}

static void wait_for_input(const struct inputs *in)
{
        struct pollfd ready = { .fd = in->fd, .events = POLLIN };
        poll(&ready, 1, -1);
}

/* ---- --dry-run ---- */

static void show_command(const struct settings *s, const struct record *record, struct expansion *e, struct text *line)
{
        const struct task task = {
                .values      = (char *)(uintptr_t)record->data,
                .values_size = record->size,
                .value_count = record->count,
                .number      = record->number,
                .script      = record->script,
        };
        expansion_make(e, s, &task);
        text_clear(line);
        expansion_show(e, task.script, line);
        text_add_char(line, '\n');
}

static int show_commands(const struct settings *s, const struct program *p, struct records *records)
{
        struct expansion  e    = { .count = 0 };
        struct text       line = { 0 };
        struct record     record;
        enum input_answer answer;
        while ((answer = records_next(records, &record)) == INPUT_IS_HERE || answer == INPUT_WAITS) {
                if (answer == INPUT_WAITS) {
                        wait_for_input(&records->inputs);
                        continue;
                }
                show_command(s, &record, &e, &line);
                fwrite(line.data, 1, line.size, stdout);
        }
        int code = answer == INPUT_BREAKS ? refuse(p, "inputs") : 0;
        if (fflush(stdout) != 0)
                code = refuse(p, "stdout");
        text_free(&line);
        expansion_fini(&e);
        return code;
}

/* ---- running ---- */

/* The tasks' directory: on a running cluster always an absolute one. */
static bool find_folder(struct run *r)
{
        const struct settings *s    = r->settings;
        struct text            path = { 0 };
        if (!s->url || (s->workdir && *s->workdir == '/')) {
                r->cwd = s->workdir ? memory_copy(s->workdir, strlen(s->workdir)) : NULL;
                return true;
        }
        r->cwd = getcwd(NULL, 0);
        if (!r->cwd || !s->workdir)
                return r->cwd != NULL;
        text_print(&path, "%s/%s", r->cwd, s->workdir);
        free(r->cwd);
        r->cwd = path.data;
        return true;
}

/* Who decides by what has ended, or when a task starts, must not have tasks waiting at the worker. */
static uint64_t in_flight_max(const struct run *r)
{
        const struct settings *s = r->settings;
        scaler_worker_stats    stats;
        if (s->url)
                return (uint64_t)s->jobs;
        if (s->halt.when == HALT_NEVER && !pace_is_on(&r->pace))
                return 0;
        scaler_init(&stats, sizeof stats);
        return scaler_worker_stats_get(r->cluster.worker, &stats) == 0 ? stats.slots : 1;
}

static int run_tasks(struct run *r, struct settings *s)
{
        scaler_error err;
        r->signals = signals_open();
        if (r->signals < 0)
                return refuse(r->program, "signals");
        if (!find_folder(r))
                return refuse(r->program, "the current directory");
        if (joblog_open(&r->joblog, s) < 0)
                return program_refuse(r->program, "--joblog: '%s': %s", s->joblog, strerror(errno));
        int code = access_read(&s->access, r->program, &r->security);
        if (code != PROGRAM_GOES_ON)
                return code;
        window_init(&r->window, !s->unordered);
        progress_init(&r->progress, s);
        printer_init(&r->printer, s, &r->window, &r->progress, &r->joblog);
        pace_init(&r->pace, s->delay_ms, s->rate_gap_us);
        if (cluster_open(&r->cluster, s, &r->security, &err) < 0) {
                code = program_refuse(r->program, "%s%s", err.text, access_hint(&s->access, s->url, err.status));
        } else {
                r->in_flight_max = in_flight_max(r);
                run_loop(r);
                code = run_exit_code(r);
        }
        expansion_fini(&r->expansion);
        printer_fini(&r->printer);
        window_fini(&r->window);
        cluster_close(&r->cluster);
        return code;
}

static int run(struct settings *s, const struct program *p)
{
        struct run *r = memory_grow(NULL, sizeof *r);
        memset(r, 0, sizeof *r);
        r->settings = s;
        r->program  = p;
        r->signals  = -1;
        r->joblog.fd = -1;
        int code     = access_suits(&s->access, p, &s->url, s->url ? 1 : 0);
        if (code == PROGRAM_GOES_ON)
                code = records_open(&r->records, s, p);
        if (code == PROGRAM_GOES_ON)
                code = s->dry_run ? show_commands(s, p, &r->records) : run_tasks(r, s);
        bool pipe_closed = r->pipe_closed;
        records_close(&r->records);
        joblog_close(&r->joblog);
        free(r->cwd);
        if (r->signals >= 0)
                close(r->signals);
        free(r);
        if (pipe_closed)
                signals_die_by(SIGPIPE);
        return code;
}

int main(int argc, char **argv)
{
        struct settings settings = { 0 };
        struct program  program;
        if (!standard_fill())
                return RUN_EXIT_BROKEN;
        int code = settings_read(&settings, argc, argv, &program);
        if (code == PROGRAM_GOES_ON)
                code = run(&settings, &program);
        settings_fini(&settings);
        return code;
}
