/*
 * options: the table of scaler-run's options, by what they are about.  The order here is that of --help.
 */
#include <scaler.h>

#include "settings.h"
#include "text.h"

#define YEAR_MS  INT64_C(31536000000)
#define DAY_MS   86400000
#define ROWS_MAX 64

struct table {
        struct option_row rows[ROWS_MAX];
        size_t            count;
};

static const char after[] =
        "Inputs come from ::: INPUT..., from the lines of files after :::: or -a, or from stdin, one per line.\n"
        "Several ::: make every combination, the last list fastest; :::+ and ::::+ go along with the list before.\n"
        "In COMMAND and ARGs, {} is the input, {#} its number, {.} it without extension, {/} its base name,\n"
        "{//} its directory, {/.} its base name without extension, and {1} {2} {-1} {2/.} ... are values of several;\n"
        "without any of them the input is the last argument.\n"
        "With --shell COMMAND is a script, the input its $1 and the ARGs follow from $2.\n"
        "COMMAND... --after -- COMMAND...: for each input the second runs when the first has succeeded, and so on.\n\n"
        "SCALER_TOKEN stands for a missing --token-file.  NO_COLOR and TERM=dumb are honoured.\n"
        "Ctrl-C, SIGTERM or SIGHUP: once finishes what runs, twice kills it.\n"
        "Exit: 0 all tasks succeeded, 1-100 so many failed, 101 more failed, 255 usage or infrastructure,\n"
        "128+N stopped by signal N (141: the reader of stdout has gone).";

static void add_rows(struct table *t, const struct option_row *rows, size_t count)
{
        memcpy(t->rows + t->count, rows, count * sizeof *rows);
        t->count += count;
}

static void add_input_rows(struct table *t, struct settings *s)
{
        const struct option_row rows[] = {
                { "jobs", 'j', OPTION_COUNT, &s->jobs, 1, 1024, 0, "N", "tasks at once (usable CPUs)" },
                { "arg-file", 'a', OPTION_LIST, &s->arg_files, 0, 0, 0, "FILE",
                  "inputs are the lines of FILE; may be given again" },
                { "null", '0', OPTION_FLAG, &s->null_separated, 0, 0, 0, NULL,
                  "inputs end with NUL, not with a line end" },
                { "colsep", 0, OPTION_TEXT, &s->colsep, 0, 0, 0, "REGEX", "cuts each input into {1} {2} ..." },
                { "max-args", 'N', OPTION_COUNT, &s->max_args, 0, MAX_ARGS_MAX, 0, "N",
                  "inputs per command; 0: one, left out (1)" },
                { "graph", 0, OPTION_TEXT, &s->graph, 0, 0, 0, "FILE",
                  "runs commands that wait for each other, nodes in YAML or JSON" },
                { "shell", 0, OPTION_FLAG, &s->shell, 0, 0, 0, NULL,
                  "COMMAND is a script for /bin/sh; the input is \"$1\"" },
                { "no-append", 0, OPTION_FLAG, &s->no_append, 0, 0, 0, NULL,
                  "an input without a placeholder for it is not appended" },
        };
        add_rows(t, rows, sizeof rows / sizeof rows[0]);
}

static void add_output_rows(struct table *t, struct settings *s)
{
        const struct option_row rows[] = {
                { "unordered", 'u', OPTION_FLAG, &s->unordered, 0, 0, 0, NULL, "print outputs as tasks finish" },
                { "group", 0, OPTION_FLAG, &s->group, 0, 0, 0, NULL, "print each output whole (default)" },
                { "line-buffer", 0, OPTION_FLAG, &s->line_buffer, 0, 0, 0, NULL,
                  "print whole lines as they come, of any task" },
                { "tag", 0, OPTION_FLAG, &s->tag, 0, 0, 0, NULL, "start each line with its input and a tab" },
                { "verbose", 'v', OPTION_FLAG, &s->verbose, 0, 0, 0, NULL, "print each command before its output" },
                { "json", 0, OPTION_FLAG, &s->json, 0, 0, 0, NULL, "one JSON line per task" },
                { "results", 0, OPTION_TEXT, &s->results, 0, 0, 0, "DIR", "put outputs into DIR/1/INPUT/, not here" },
                { "dry-run", 'n', OPTION_FLAG, &s->dry_run, 0, 0, 0, NULL, "print the commands, run nothing" },
                { "quiet", 'q', OPTION_FLAG, &s->quiet, 0, 0, 0, NULL, "no line on stderr for a failed task" },
                { "no-progress", 0, OPTION_FLAG, &s->no_progress, 0, 0, 0, NULL, "no progress bar" },
                { "eta", 0, OPTION_FLAG, &s->eta, 0, 0, 0, NULL, "progress and time left, terminal or not" },
        };
        add_rows(t, rows, sizeof rows / sizeof rows[0]);
}

static void add_flow_rows(struct table *t, struct settings *s)
{
        const struct option_row rows[] = {
                { "joblog", 0, OPTION_TEXT, &s->joblog, 0, 0, 0, "FILE", "one line per ended task, as GNU parallel's" },
                { "resume", 0, OPTION_FLAG, &s->resume, 0, 0, 0, NULL, "skip what the joblog has, go on with it" },
                { "retry-failed", 0, OPTION_FLAG, &s->retry_failed, 0, 0, 0, NULL,
                  "run what has failed by the joblog again" },
                { "halt", 0, OPTION_TEXT, &s->halt_asked, 0, 0, 0, "WHEN,WHAT=N",
                  "soon or now, fail success or done, N or N%" },
                { "timeout", 0, OPTION_TIME, &s->timeout_ms, 1, YEAR_MS, 0, "TIME", "kill a run that takes longer" },
                { "retries", 0, OPTION_COUNT, &s->retries, 0, 1000, 0, "N", "run a failed task so often again (0)" },
                { "retry-on", 0, OPTION_TEXT, &s->retry_on, 0, 0, 0, "LIST",
                  "failures worth it: codes, timeout signal limit not_started (all)" },
                { "backoff", 0, OPTION_TIME, &s->backoff_ms, 0, DAY_MS, 0, "TIME",
                  "before the first retry, then doubled each time (0)" },
                { "backoff-max", 0, OPTION_TIME, &s->backoff_max_ms, 1, DAY_MS, 0, "TIME", "the longest backoff (60)" },
                { "deadline", 0, OPTION_TIME, &s->deadline_ms, 1, YEAR_MS, 0, "TIME",
                  "end a task so long after its start here, retries and all" },
                { "queue-timeout", 0, OPTION_TIME, &s->queue_timeout_ms, 1, YEAR_MS, 0, "TIME",
                  "give a task up that no worker has begun by then" },
                { "not-before", 0, OPTION_TIME, &s->not_before_ms, 0, YEAR_MS, 0, "TIME",
                  "no worker gets a task earlier (0)" },
                { "delay", 0, OPTION_TIME, &s->delay_ms, 0, YEAR_MS, 0, "TIME", "between two starts at least (0)" },
                { "max-rate", 0, OPTION_TEXT, &s->rate_asked, 0, 0, 0, "N/s", "start so many a second (or /m, /h)" },
                { "kill-grace", 0, OPTION_TIME, &s->kill_grace_ms, 1, 86400000, 0, "TIME",
                  "from SIGTERM to SIGKILL (5)" },
        };
        add_rows(t, rows, sizeof rows / sizeof rows[0]);
}

static void add_place_rows(struct table *t, struct settings *s)
{
        const struct option_row rows[] = {
                { "env", 0, OPTION_LIST, &s->env_asked, 0, 0, 0, "NAME[=VALUE]",
                  "set in the task's environment; may be given again" },
                { "workdir", 0, OPTION_TEXT, &s->workdir, 0, 0, 0, "DIR", "where tasks run (the current directory)" },
                { "nice", 0, OPTION_COUNT, &s->nice, 0, 19, 0, "N", "how much nicer tasks are than their worker (0)" },
                { "scheduler", 's', OPTION_TEXT, &s->url, 0, 0, 0, "URL", "run on the cluster of the scheduler there" },
                { "needs", 0, OPTION_TEXT, &s->needs, 0, 0, 0, "AMOUNTS",
                  "what a task holds of its worker, gpu=1,mem=2G,linux (cpu=1)" },
                { "priority", 0, OPTION_SIGNED, &s->priority, -1000, 1000, 0, "N", "higher goes first (0)" },
                { "task-tag", 0, OPTION_TEXT, &s->task_tag, 0, 0, 0, "TAG", "what the scheduler knows the tasks by" },
                { "tenant", 0, OPTION_TEXT, &s->tenant, 0, 0, 0, "NAME", "whom the tasks are accounted to" },
                { "max-running", 0, OPTION_COUNT, &s->max_running, 1, UINT32_MAX, 0, "N",
                  "at most so many with workers at once" },
                { "scheduler-timeout", 0, OPTION_TIME, &s->scheduler_timeout_ms, 1, YEAR_MS, 0, "TIME",
                  "give up without a scheduler for so long (10)" },
                { "log-level", 0, OPTION_LEVEL, &s->log_level, 0, 0, 0, "LEVEL", "none error warn info debug (error)" },
        };
        add_rows(t, rows, sizeof rows / sizeof rows[0]);
}

int options_parse(struct settings *s, int argc, char **argv, struct program *p)
{
        struct table table = { .count = 0 };
        add_input_rows(&table, s);
        add_output_rows(&table, s);
        add_flow_rows(&table, s);
        add_place_rows(&table, s);
        struct option_row shared[ACCESS_ROWS];
        access_rows(&s->access, false, shared);
        *p = (struct program){
                .name            = "scaler-run",
                .usage           = "[options] [--] COMMAND [ARG...] [--after -- COMMAND [ARG...]]... [::: INPUT...]...",
                .about           = "Runs COMMAND once per input, in parallel, and prints the outputs in input order.",
                .after           = after,
                .rows            = table.rows,
                .row_count       = table.count,
                .shared          = shared,
                .shared_count    = ACCESS_ROWS,
                .usage_exit      = RUN_EXIT_BROKEN,
                .first_word_ends = true,
        };
        int code = program_parse(p, argc, argv, &s->words);
        p->rows   = NULL;
        p->shared = NULL;
        return code;
}
