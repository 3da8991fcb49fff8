/*
 * settings: the options of scaler-run, and the command line cut into command and inputs.
 */
#include "settings.h"

#include <stdlib.h>

#include "text.h"

#define YEAR_MS INT64_C(31536000000)

static const char after[] =
        "Inputs come from ::: INPUT..., from -a FILE, or from stdin, one per line.  In COMMAND and ARGs,\n"
        "{} is the input, {#} its number, {.} it without extension, {/} its base name, {//} its directory,\n"
        "{/.} its base name without extension; without any of them the input is the last argument.\n"
        "With --shell COMMAND is a script, the input its $1 and the ARGs follow from $2.\n\n"
        "SCALER_TOKEN stands for a missing --token-file.  NO_COLOR and TERM=dumb are honoured.\n"
        "Ctrl-C, SIGTERM or SIGHUP: once finishes what runs, twice kills it.\n"
        "Exit: 0 all tasks succeeded, 1-100 so many failed, 101 more failed, 255 usage or infrastructure,\n"
        "128+N stopped by signal N (141: the reader of stdout has gone).";

static int refuse_words(const struct settings *s, const struct program *p)
{
        if (s->command_count == 0)
                return program_refuse(p, "a command is missing (see --help)");
        if (s->inputs_given && s->input_file)
                return program_refuse(p, "--arg-file and ::: cannot be used together");
        if (s->json && s->tag)
                return program_refuse(p, "--json and --tag cannot be used together");
        for (size_t i = 0; i < s->input_count; i++)
                if (strcmp(s->inputs[i], ":::") == 0 || strcmp(s->inputs[i], ":::+") == 0)
                        return program_refuse(p, "unexpected argument '%s': there is one list of inputs", s->inputs[i]);
        return PROGRAM_GOES_ON;
}

static int cut_words(struct settings *s, const struct program *p)
{
        const struct option_list *words = &s->words;
        size_t                    end   = 0;
        while (end < words->count && strcmp(words->items[end], ":::") != 0)
                end++;
        s->command       = words->items;
        s->command_count = end;
        s->inputs_given  = end < words->count;
        if (s->inputs_given) {
                s->inputs      = words->items + end + 1;
                s->input_count = words->count - end - 1;
        }
        return refuse_words(s, p);
}

static int read_env(struct settings *s, const struct program *p)
{
        const struct option_list *asked = &s->env_asked;
        if (asked->count == 0)
                return PROGRAM_GOES_ON;
        s->env = memory_grow(NULL, (asked->count + 1) * sizeof *s->env);
        for (size_t i = 0; i < asked->count; i++) {
                struct text pair  = { 0 };
                const char *item  = asked->items[i];
                const char *value = strchr(item, '=') ? "" : getenv(item);
                s->env[i]         = NULL;
                if (*item == '=' || *item == '\0')
                        return program_refuse(p, "--env: '%s' has no name", item);
                if (!value)
                        return program_refuse(p, "--env: '%s' is not set here", item);
                text_print(&pair, strchr(item, '=') ? "%s%s" : "%s=%s", item, value);
                s->env[i] = pair.data;
        }
        s->env[asked->count] = NULL;
        return PROGRAM_GOES_ON;
}

int settings_read(struct settings *s, int argc, char **argv, struct program *p)
{
        const struct option_row rows[] = {
                { "jobs", 'j', OPTION_COUNT, &s->jobs, 1, 1024, 0, "N", "tasks at once (usable CPUs)" },
                { "arg-file", 'a', OPTION_TEXT, &s->input_file, 0, 0, 0, "FILE", "inputs are the lines of FILE" },
                { "null", '0', OPTION_FLAG, &s->null_separated, 0, 0, 0, NULL,
                  "inputs end with NUL, not with a line end" },
                { "shell", 0, OPTION_FLAG, &s->shell, 0, 0, 0, NULL,
                  "COMMAND is a script for /bin/sh; the input is \"$1\"" },
                { "no-append", 0, OPTION_FLAG, &s->no_append, 0, 0, 0, NULL,
                  "an input without a placeholder for it is not appended" },
                { "unordered", 'u', OPTION_FLAG, &s->unordered, 0, 0, 0, NULL, "print outputs as tasks finish" },
                { "tag", 0, OPTION_FLAG, &s->tag, 0, 0, 0, NULL, "start each line with its input and a tab" },
                { "json", 0, OPTION_FLAG, &s->json, 0, 0, 0, NULL, "one JSON line per task" },
                { "timeout", 0, OPTION_TIME, &s->timeout_ms, 1, YEAR_MS, 0, "TIME", "kill a run that takes longer" },
                { "retries", 0, OPTION_COUNT, &s->retries, 0, 1000, 0, "N", "run a failed task so often again (0)" },
                { "dry-run", 'n', OPTION_FLAG, &s->dry_run, 0, 0, 0, NULL, "print the commands, run nothing" },
                { "quiet", 'q', OPTION_FLAG, &s->quiet, 0, 0, 0, NULL, "no line on stderr for a failed task" },
                { "no-progress", 0, OPTION_FLAG, &s->no_progress, 0, 0, 0, NULL, "no progress bar" },
                { "scheduler", 's', OPTION_TEXT, &s->url, 0, 0, 0, "URL", "run on the cluster of the scheduler there" },
                { "env", 0, OPTION_LIST, &s->env_asked, 0, 0, 0, "NAME[=VALUE]",
                  "set in the task's environment; may be given again" },
                { "kill-grace", 0, OPTION_TIME, &s->kill_grace_ms, 1, 86400000, 0, "TIME",
                  "from SIGTERM to SIGKILL (5)" },
                { "scheduler-timeout", 0, OPTION_TIME, &s->scheduler_timeout_ms, 1, YEAR_MS, 0, "TIME",
                  "give up without a scheduler for so long (10)" },
                { "log-level", 0, OPTION_LEVEL, &s->log_level, 0, 0, 0, "LEVEL", "none error warn info debug (error)" },
        };
        struct option_row shared[ACCESS_ROWS];
        access_rows(&s->access, false, shared);
        *p = (struct program){
                .name            = "scaler-run",
                .usage           = "[options] [--] COMMAND [ARG...] [::: INPUT...]",
                .about           = "Runs COMMAND once per input, in parallel, and prints the outputs in input order.",
                .after           = after,
                .rows            = rows,
                .row_count       = sizeof rows / sizeof rows[0],
                .shared          = shared,
                .shared_count    = ACCESS_ROWS,
                .usage_exit      = RUN_EXIT_BROKEN,
                .first_word_ends = true,
        };
        s->scheduler_timeout_ms = 10000;
        s->log_level            = SCALER_LOG_ERROR;
        int code                = program_parse(p, argc, argv, &s->words);
        p->rows                 = NULL;
        p->shared               = NULL;
        if (code == PROGRAM_GOES_ON)
                code = cut_words(s, p);
        return code == PROGRAM_GOES_ON ? read_env(s, p) : code;
}

void settings_fini(struct settings *s)
{
        for (size_t i = 0; s->env && i < s->env_asked.count && s->env[i]; i++)
                free(s->env[i]);
        free(s->env);
        access_fini(&s->access);
        option_list_free(&s->env_asked);
        option_list_free(&s->words);
}
