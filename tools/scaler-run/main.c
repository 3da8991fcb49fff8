/*
 * scaler-run: runs a command once per input, in parallel, on a cluster of its own or on a running one.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "graph_file.h"
#include "log_note.h"
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

static void show_command(const struct settings *s, const struct record *record, uint32_t step, struct expansion *e,
                         struct text *line)
{
        const struct task task = {
                .values       = (char *)(uintptr_t)record->data,
                .values_size  = record->size,
                .value_count  = record->count,
                .number       = record->number,
                .input_number = record->number,
                .step         = step,
                .script       = record->script,
        };
        expansion_make(e, s, &task);
        expansion_show(e, task.script, line);
        text_add_char(line, '\n');
}

/* Those that would be run: without the ones that the joblog has. */
static void show_steps(const struct settings *s, const struct records *records, const struct record *record,
                       struct expansion *e, struct text *lines)
{
        const uint32_t steps = (uint32_t)settings_steps(s);
        bool           failed, lost = false;
        text_clear(lines);
        if (!s->steps)
                show_command(s, record, 0, e, lines);
        for (uint32_t step = 1; s->steps && step <= steps && !lost; step++) {
                if (!record_is_over(records, (record->number - 1) * steps + step, &failed))
                        show_command(s, record, step, e, lines);
                else
                        lost = failed;
        }
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
                show_steps(s, records, &record, &e, &line);
                fwrite(line.data, 1, line.size, stdout);
        }
        int code = answer == INPUT_BREAKS ? refuse(p, "inputs") : 0;
        if (fflush(stdout) != 0)
                code = refuse(p, "stdout");
        text_free(&line);
        expansion_fini(&e);
        return code;
}

/* One after the other, each behind those it waits for. */
static int show_nodes(const struct program *p, struct graph *g)
{
        struct expansion e    = { .count = 0 };
        struct text      line = { 0 };
        for (uint32_t index = graph_take(g, false); index != GRAPH_NOBODY; index = graph_take(g, false)) {
                const struct task task = { .state = SCALER_TASK_DONE };
                text_clear(&line);
                log_note_add(&line, graph_name(g, index), &task);
                expansion_make_node(&e, g, &g->nodes[index]);
                expansion_show(&e, false, &line);
                text_add_char(&line, '\n');
                fwrite(line.data, 1, line.size, stdout);
                graph_succeeded(g, index);
        }
        text_free(&line);
        expansion_fini(&e);
        return fflush(stdout) != 0 ? refuse(p, "stdout") : 0;
}

/* ---- what is to be run ---- */

static int refuse_needs(const struct settings *s, const struct program *p, const struct graph *g)
{
        for (uint32_t i = 0; i < g->count && !s->url; i++)
                if (g->nodes[i].needs)
                        return program_refuse(p, "%s:%u: node '%s': needs: only a running cluster offers amounts: "
                                                 "it needs --scheduler",
                                              s->graph, g->nodes[i].line, graph_name(g, i));
        return PROGRAM_GOES_ON;
}

/* What the joblog has of it is left out. */
static int open_past(const struct settings *s, const struct program *p, struct graph *g)
{
        size_t line = 0;
        if (!s->resume && !s->retry_failed)
                return PROGRAM_GOES_ON;
        if (joblog_read_nodes(g, s->joblog, &line) == 0)
                return PROGRAM_GOES_ON;
        if (errno == EBADMSG)
                return program_refuse(p, "--joblog: '%s': line %zu is of no node: it is not the joblog of a graph",
                                      s->joblog, line);
        if (errno == EINVAL)
                return program_refuse(p, "--joblog: '%s' is not a joblog", s->joblog);
        return program_refuse(p, "--joblog: %s: %s", s->joblog, strerror(errno));
}

static int open_graph(struct run *r, const struct settings *s, const struct program *p)
{
        struct text error = { 0 };
        r->records        = (struct records){ .settings = s, .inputs = { .fd = -1 } };
        r->graph          = memory_grow(NULL, sizeof *r->graph);
        int code          = PROGRAM_GOES_ON;
        if (!graph_read(r->graph, s->graph, &error))
                code = program_refuse(p, "%s", error.data);
        text_free(&error);
        if (code == PROGRAM_GOES_ON)
                code = refuse_needs(s, p, r->graph);
        if (code == PROGRAM_GOES_ON)
                code = open_past(s, p, r->graph);
        if (code == PROGRAM_GOES_ON)
                graph_begin(r->graph);
        return code;
}

static void close_graph(struct run *r)
{
        if (!r->graph)
                return;
        graph_fini(r->graph);
        free(r->graph);
        free(r->after);
        free(r->node_env);
        text_free(&r->node_cwd);
        summary_free(&r->summary);
}

/* ---- running ---- */

/* Branch by branch, once all is printed. */
static void sum_up(const struct run *r)
{
        struct text lines = { 0 };
        if (!r->graph || r->settings->quiet || r->settings->json || r->broken || r->pipe_closed)
                return;
        summary_make(&r->summary, r->graph, &lines);
        if (lines.size > 0)
                fwrite(lines.data, 1, lines.size, stderr);
        text_free(&lines);
}

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
        int code = access_read(&s->access, r->program, &r->security);
        if (code != PROGRAM_GOES_ON)
                return code;
        window_init(&r->window, !s->unordered);
        progress_init(&r->progress, s);
        printer_init(&r->printer, s, &r->window, &r->progress, &r->joblog);
        pace_init(&r->pace, s->delay_ms, s->rate_gap_us);
        if (cluster_open(&r->cluster, s, &r->security, r->graph, &err) < 0) {
                code = program_refuse(r->program, "%s%s", err.text, access_hint(&s->access, s->url, err.status));
        } else if (joblog_open(&r->joblog, s) < 0) {
                code = program_refuse(r->program, "--joblog: '%s': %s", s->joblog, strerror(errno));
        } else {
                r->in_flight_max = in_flight_max(r);
                run_loop(r);
                sum_up(r);
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
        r->unsent_first = WINDOW_NOBODY;
        r->unsent_last  = WINDOW_NOBODY;
        int code     = access_suits(&s->access, p, &s->url, s->url ? 1 : 0);
        if (code == PROGRAM_GOES_ON)
                code = s->graph ? open_graph(r, s, p) : records_open(&r->records, s, p);
        if (code == PROGRAM_GOES_ON && s->dry_run)
                code = r->graph ? show_nodes(p, r->graph) : show_commands(s, p, &r->records);
        else if (code == PROGRAM_GOES_ON)
                code = run_tasks(r, s);
        bool pipe_closed = r->pipe_closed;
        records_close(&r->records);
        close_graph(r);
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
