/*
 * settings: what the options mean together, and the command line cut into command and inputs.
 */
#include "settings.h"

#include <stdlib.h>

#include "text.h"

bool settings_read_rate(const char *text, int64_t *gap_us_out)
{
        static const struct {
                const char *unit;
                int64_t     us;
        } units[] = { { "", 1000000 }, { "/s", 1000000 }, { "/m", 60000000 }, { "/h", 3600000000 } };
        char        digits[16];
        const char *slash = strchr(text, '/');
        size_t      size  = slash ? (size_t)(slash - text) : strlen(text);
        int64_t     rate  = 0;
        if (size >= sizeof digits)
                return false;
        memcpy(digits, text, size);
        digits[size] = '\0';
        if (!option_read_count(digits, &rate) || rate < 1 || rate > RATE_MAX)
                return false;
        for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
                if (strcmp(text + size, units[i].unit) == 0) {
                        *gap_us_out = units[i].us / rate;
                        return true;
                }
        }
        return false;
}

/* ---- words ---- */

static bool is_separator(const char *word)
{
        return strcmp(word, ":::") == 0 || strcmp(word, ":::+") == 0 || strcmp(word, "::::") == 0 ||
               strcmp(word, "::::+") == 0;
}

static struct source_words *add_source(struct settings *s)
{
        s->sources = memory_grow(s->sources, (s->source_count + 1) * sizeof *s->sources);
        struct source_words *source = &s->sources[s->source_count++];
        *source                     = (struct source_words){ .words = NULL };
        return source;
}

/* One separator with the words behind it: one list, or one of each file. */
static void add_sources(struct settings *s, const char *separator, const char *const *words, size_t count)
{
        bool linked = separator[strlen(separator) - 1] == '+';
        if (strncmp(separator, "::::", 4) != 0) {
                struct source_words *source = add_source(s);
                source->words               = words;
                source->count               = count;
                source->linked              = linked;
                return;
        }
        for (size_t i = 0; i < count; i++) {
                struct source_words *source = add_source(s);
                source->file                = words[i];
                source->linked              = linked;
        }
}

/* The next step begins at `--after --`: a command may have either word alone. */
static bool is_after(const struct settings *s, size_t at)
{
        return at + 1 < s->command_count && strcmp(s->command[at], "--after") == 0 &&
               strcmp(s->command[at + 1], "--") == 0;
}

/* Cuts the command into the steps of a chain, if it is one. */
static int cut_steps(struct settings *s, const struct program *p)
{
        size_t first = 0, at = 0;
        for (bool more = true; more; first = at + 2) {
                for (at = first; at < s->command_count && !is_after(s, at);)
                        at++;
                more = at < s->command_count;
                if (!more && first == 0)
                        return PROGRAM_GOES_ON;
                if (at == first)
                        return program_refuse(p, "--after: a command is missing %s it",
                                              first == 0 ? "before" : "behind");
                if (!*s->command[first])
                        return program_refuse(p, "--after: the first word of command %zu is empty", s->step_count + 1);
                if (s->step_count == STEPS_MAX)
                        return program_refuse(p, "--after: a chain has at most %d commands", STEPS_MAX);
                s->steps = memory_grow(s->steps, (s->step_count + 1) * sizeof *s->steps);
                s->steps[s->step_count++] = (struct step){ s->command + first, at - first };
        }
        s->command_count = s->steps[0].count;
        return PROGRAM_GOES_ON;
}

size_t settings_steps(const struct settings *s)
{
        return s->steps ? s->step_count : 1;
}

static int cut_words(struct settings *s, const struct program *p)
{
        const struct option_list *words = &s->words;
        size_t                    at    = 0;
        while (at < words->count && !is_separator(words->items[at]))
                at++;
        s->command       = words->items;
        s->command_count = at;
        while (at < words->count) {
                const char *separator = words->items[at];
                size_t      first     = ++at;
                while (at < words->count && !is_separator(words->items[at]))
                        at++;
                if (separator[strlen(separator) - 1] == '+' && s->source_count == 0)
                        return program_refuse(p, "'%s' needs a list of inputs before it", separator);
                if (separator[3] == ':' && first == at)
                        return program_refuse(p, "'%s' needs a file", separator);
                add_sources(s, separator, words->items + first, at - first);
        }
        return PROGRAM_GOES_ON;
}

/* ---- what goes together ---- */

static int refuse_pair(const struct settings *s, const struct program *p)
{
        const bool has_inputs  = s->source_count > 0 || s->arg_files.count > 0;
        const bool retries_log = s->retry_failed && !s->resume && !s->graph; /* commands and all are in the log */
        const struct {
                bool        a, b;
                const char *names;
        } pairs[] = {
                { s->source_count > 0, s->arg_files.count > 0, "--arg-file and :::" },
                { s->json, s->tag, "--json and --tag" },
                { s->json, s->verbose, "--json and --verbose" },
                { s->json, s->line_buffer, "--json and --line-buffer" },
                { s->group, s->line_buffer, "--group and --line-buffer" },
                { s->results, s->line_buffer, "--results and --line-buffer" },
                { s->eta, s->no_progress, "--eta and --no-progress" },
                { retries_log, s->results, "--retry-failed and --results" },
                { retries_log, s->command_count > 0, "--retry-failed without --resume and a command" },
                { retries_log, has_inputs, "--retry-failed without --resume and inputs" },
                { s->graph, s->command_count > 0, "--graph and a command" },
                { s->graph, has_inputs, "--graph and inputs" },
                { s->graph, s->null_separated, "--graph and --null" },
                { s->graph, s->colsep, "--graph and --colsep" },
                { s->graph, s->max_args != 1, "--graph and --max-args" },
                { s->graph, s->shell, "--graph and --shell" },
                { s->graph, s->no_append, "--graph and --no-append" },
        };
        for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
                if (pairs[i].a && pairs[i].b)
                        return program_refuse(p, "%s cannot be used together", pairs[i].names);
        return PROGRAM_GOES_ON;
}

static int refuse_values(struct settings *s, const struct program *p)
{
        if (s->command_count == 0 && !s->graph && (!s->retry_failed || s->resume))
                return program_refuse(p, s->retry_failed ? "--resume with --retry-failed: a command is missing"
                                                         : "a command is missing (see --help)");
        if (s->graph && !*s->graph)
                return program_refuse(p, "--graph: '' is not a file");
        if (s->command_count > 0 && !*s->command[0])
                return program_refuse(p, "the command's first word is empty");
        if ((s->resume || s->retry_failed) && !s->joblog)
                return program_refuse(p, "--%s: it needs --joblog", s->resume ? "resume" : "retry-failed");
        if (s->halt_asked && !halt_read(s->halt_asked, &s->halt))
                return program_refuse(p, "--halt: '%s' is not never, or soon or now, a comma, fail= success= or done= "
                                         "and a number from 1 to 1000000000 or from 1%% to 100%%",
                                      s->halt_asked);
        if (s->rate_asked && !settings_read_rate(s->rate_asked, &s->rate_gap_us))
                return program_refuse(p, "--max-rate: '%s' is not a whole number from 1 to %d, or with /s /m /h",
                                      s->rate_asked, RATE_MAX);
        const struct {
                const char *name, *value;
        } texts[] = { { "needs", s->needs }, { "retry-on", s->retry_on }, { "task-tag", s->task_tag },
                      { "tenant", s->tenant } };
        for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
                if (texts[i].value && (!*texts[i].value || strlen(texts[i].value) > 1000))
                        return program_refuse(p, "--%s: '%.40s' is empty or too long", texts[i].name, texts[i].value);
        if (s->needs && !s->url)
                return program_refuse(p, "--needs: only a running cluster offers amounts: it needs --scheduler");
        if (s->workdir && !*s->workdir)
                return program_refuse(p, "--workdir: '' is not a directory");
        if (s->results && !*s->results)
                return program_refuse(p, "--results: '' is not a directory");
        if (s->joblog && !*s->joblog)
                return program_refuse(p, "--joblog: '' is not a file");
        if (s->colsep && !*s->colsep)
                return program_refuse(p, "--colsep: '' separates nothing");
        return PROGRAM_GOES_ON;
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

static int add_arg_files(struct settings *s, const struct program *p)
{
        for (size_t i = 0; i < s->arg_files.count; i++) {
                if (!*s->arg_files.items[i])
                        return program_refuse(p, "--arg-file: '' is not a file");
                add_source(s)->file = s->arg_files.items[i];
        }
        size_t of_stdin = 0;
        for (size_t i = 0; i < s->source_count; i++)
                of_stdin += s->sources[i].file && strcmp(s->sources[i].file, "-") == 0;
        return of_stdin > 1 ? program_refuse(p, "stdin ('-') can be one list of inputs only") : PROGRAM_GOES_ON;
}

/* Lines of any task that has some have no order, and nodes have the one in which they end. */
static void conclude(struct settings *s)
{
        s->unordered |= s->line_buffer || s->graph;
        if (s->source_count == 1 && s->sources[0].file) {
                s->input_file   = s->sources[0].file;
                s->source_count = 0;
        }
        if (s->input_file && strcmp(s->input_file, "-") == 0)
                s->input_file = NULL;
}

int settings_read(struct settings *s, int argc, char **argv, struct program *p)
{
        s->scheduler_timeout_ms = 10000;
        s->max_args             = 1;
        s->log_level            = SCALER_LOG_ERROR;
        int code                = options_parse(s, argc, argv, p);
        if (code == PROGRAM_GOES_ON)
                code = cut_words(s, p);
        if (code == PROGRAM_GOES_ON)
                code = cut_steps(s, p);
        if (code == PROGRAM_GOES_ON)
                code = refuse_values(s, p);
        if (code == PROGRAM_GOES_ON)
                code = refuse_pair(s, p);
        if (code == PROGRAM_GOES_ON)
                code = add_arg_files(s, p);
        if (code == PROGRAM_GOES_ON)
                code = read_env(s, p);
        if (code == PROGRAM_GOES_ON)
                conclude(s);
        return code;
}

void settings_fill_spec(const struct settings *s, scaler_spec *spec)
{
        scaler_init(spec, sizeof *spec);
        spec->priority         = (int32_t)s->priority;
        spec->retries          = (int32_t)s->retries;
        spec->timeout_ms       = s->timeout_ms;
        spec->needs            = s->needs;
        spec->tag              = s->task_tag;
        spec->not_before_ms    = s->not_before_ms;
        spec->queue_timeout_ms = s->queue_timeout_ms;
        spec->deadline_ms      = s->deadline_ms;
        spec->backoff_ms       = s->backoff_ms;
        spec->backoff_max_ms   = s->backoff_max_ms;
        spec->retry_on         = s->retry_on;
}

void settings_fini(struct settings *s)
{
        for (size_t i = 0; s->env && i < s->env_asked.count && s->env[i]; i++)
                free(s->env[i]);
        free(s->env);
        free(s->sources);
        free(s->steps);
        access_fini(&s->access);
        option_list_free(&s->env_asked);
        option_list_free(&s->arg_files);
        option_list_free(&s->words);
}
