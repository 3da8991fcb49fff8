/*
 * scaler-ctl: looks at a running cluster, explains and cancels tasks and drains workers, as an admin client.  What
 * it asks for is on stdout, for people or, with --json, for programs; everything else is on stderr.
 */
#include <scaler.h>
#include <stdio.h>
#include <string.h>

#include "access.h"
#include "cancel.h"
#include "drain.h"
#include "explain.h"
#include "log.h"
#include "option.h"
#include "select.h"
#include "show.h"
#include "standard.h"

enum { EXIT_FINE = 0, EXIT_BROKEN = 1, EXIT_USAGE = 2, EXIT_NOT_DONE = 3, EXIT_NOT_FOUND = 4 };

#define STOP_MS     1000
#define QUESTION_MS 10000
#define LAST_MAX    1000000

struct settings {
        struct access   access;
        const char     *url;
        int64_t         timeout_ms;
        bool            json;
        bool            force;
        bool            scheduler;
        int64_t         deadline_ms;
        struct selection selection;
        int32_t         log_level;
        struct log_kept log;
};

/* Subject: one task, or a worker; tasks: ids, or a selection; workers: names, all, or the scheduler. */
enum takes { NOTHING, SELECTION, SUBJECT, TASKS, WORKERS };

struct verb {
        const char *name;
        enum takes  takes;
        int (*show)(const struct show *s); /* NULL: see below */
};

static const struct verb verbs[] = {
        { "status", NOTHING, show_status }, { "workers", NOTHING, show_workers }, { "clients", NOTHING, show_clients },
        { "list", SELECTION, show_tasks },  { "dump", NOTHING, show_dump },       { "explain", SUBJECT, NULL },
        { "cancel", TASKS, NULL },          { "drain", WORKERS, NULL },
};

static const struct verb *find_verb(const char *name)
{
        for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
                if (strcmp(verbs[i].name, name) == 0)
                        return &verbs[i];
        return NULL;
}

static int parse(struct settings *s, int argc, char **argv, struct program *p, struct option_list *words)
{
        struct selection       *which  = &s->selection;
        const struct option_row rows[] = {
                { "json", 0, OPTION_FLAG, &s->json, 0, 0, 0, NULL, "JSON: one object per line" },
                { "force", 0, OPTION_FLAG, &s->force, 0, 0, 0, NULL, "cancel: kill what runs" },
                { "tag", 0, OPTION_TEXT, &which->tag, 0, 0, 0, "TAG", "list, cancel: tasks with this tag" },
                { "client", 0, OPTION_TEXT, &which->client, 0, 0, 0, "ID", "list, cancel: tasks of this client" },
                { "state", 0, OPTION_TEXT, &which->state, 0, 0, 0, "STATE", "list, cancel: in one of these states" },
                { "range", 0, OPTION_TEXT, &which->range, 0, 0, 0, "A-B", "list, cancel: numbers of a client's" },
                { "last", 0, OPTION_COUNT, &which->last, 1, LAST_MAX, 0, "N", "list, cancel: the N newest" },
                { "all", 0, OPTION_FLAG, &which->all, 0, 0, 0, NULL,
                  "cancel: all tasks of everybody; drain: all workers" },
                { "scheduler", 0, OPTION_FLAG, &s->scheduler, 0, 0, 0, NULL, "drain: the scheduler itself" },
                { "deadline", 0, OPTION_TIME, &s->deadline_ms, 1, INT64_C(31536000000), 0, "TIME",
                  "drain: what still runs then is given back (never)" },
                { "timeout", 0, OPTION_TIME, &s->timeout_ms, 1, 86400000, 0, "TIME",
                  "of each question (10); drain: until all have left (none)" },
                { "log-level", 0, OPTION_LEVEL, &s->log_level, 0, 0, 0, "LEVEL", "none error warn info debug (error)" },
        };
        struct option_row shared[ACCESS_ROWS];
        access_rows(&s->access, false, shared);
        *p = (struct program){
                .name       = "scaler-ctl",
                .usage      = "[options] [URL] status|workers|clients|list|dump|explain|cancel|drain [WORD...]",
                .about      = "Looks at the cluster of the scheduler at URL; explain TASK, explain last and explain\n"
                              "worker NAME say why something does not run; cancel TASK..., or options, cancels;\n"
                              "drain WORKER... asks workers to leave.",
                .after      = "SCALER_URL stands for a missing URL, SCALER_TOKEN for a missing --token-file.\n"
                              "Exit: 0 done, 1 no answer or refused, 2 usage, 3 a task was not cancelled or a worker\n"
                              "has not left in order, 4 there is no such task or worker.",
                .rows       = rows,
                .row_count  = sizeof rows / sizeof rows[0],
                .shared     = shared,
                .shared_count = ACCESS_ROWS,
                .usage_exit = EXIT_USAGE,
        };
        int code = program_parse(p, argc, argv, words);
        p->rows   = NULL;
        p->shared = NULL;
        return code;
}

/* Who is to leave is said once: by names or ids, by --all, or by --scheduler. */
static int check_drain(const struct settings *s, const struct program *p, bool names)
{
        if (names + s->selection.all + s->scheduler > 1)
                return program_refuse(p, "drain: workers, --all and --scheduler exclude each other");
        if (!names && !s->selection.all && !s->scheduler)
                return program_refuse(p, "drain: a worker is missing");
        return PROGRAM_GOES_ON;
}

/* An option of other commands. */
static int check_options(const struct settings *s, const struct program *p, const struct verb *verb)
{
        const struct selection *sel    = &s->selection;
        const char             *option = selection_option(sel);
        if (sel->all && verb->takes != TASKS && verb->takes != WORKERS)
                return program_refuse(p, "--all is for cancel and drain");
        if ((s->scheduler || s->deadline_ms) && verb->takes != WORKERS)
                return program_refuse(p, "--scheduler and --deadline are for drain");
        if (option && !sel->all && (verb->takes == NOTHING || verb->takes == WORKERS))
                return program_refuse(p, "--%s is for list and cancel", option);
        if (verb->takes == SUBJECT && (sel->tag || selection_is_fine(sel)))
                return program_refuse(p, "explain: --%s is for list and cancel", sel->tag ? "tag" : option);
        return PROGRAM_GOES_ON;
}

/* Which tasks is said once: by ids, by what they are, or by --all. */
static int check_selection(struct settings *s, const struct program *p, const struct verb *verb, bool words)
{
        struct selection *sel    = &s->selection;
        const char       *option = selection_option(sel);
        const int         code   = check_options(s, p, verb);
        if (code != PROGRAM_GOES_ON)
                return code;
        if (verb->takes == WORKERS)
                return check_drain(s, p, words);
        if (sel->all && (sel->tag || sel->client || selection_is_fine(sel))) {
                sel->all = false;
                return program_refuse(p, "cancel: --all and --%s exclude each other", selection_option(sel));
        }
        if (words && option && verb->takes == TASKS)
                return program_refuse(p, "cancel: task ids and --%s exclude each other", option);
        if (!words && !option && verb->takes == TASKS)
                return program_refuse(p, "cancel: a task is missing");
        if (sel->range && !sel->client && verb->takes == TASKS)
                return program_refuse(p, "cancel: --range numbers the tasks of a client: --client is missing");
        return selection_read(sel, p);
}

static int check_subject(const struct settings *s, const struct program *p, const struct option_list *words, size_t at)
{
        scaler_id    id;
        const size_t count  = words->count - at;
        const bool   worker = count > 0 && strcmp(words->items[at], "worker") == 0;
        if (count == 0)
                return program_refuse(p, "explain: a task is missing, or 'last', or 'worker' and its name");
        if (worker && count < 2)
                return program_refuse(p, "explain worker: its name is missing");
        if (count > (worker ? 2u : 1u))
                return program_refuse(p, "unexpected argument '%s'", words->items[at + (worker ? 2 : 1)]);
        const bool last = !worker && strcmp(words->items[at], "last") == 0;
        if (!worker && !last && (scaler_id_parse(words->items[at], &id) < 0 || id.hi == 0 || id.lo == 0))
                return program_refuse(p, "explain: '%s' is not a task id", words->items[at]);
        if (s->selection.client && !last)
                return program_refuse(p, "explain: --client is for 'last'");
        return PROGRAM_GOES_ON;
}

static int check_ids(const struct program *p, const struct option_list *words, size_t at)
{
        scaler_id id;
        for (; at < words->count; at++)
                if (strcmp(words->items[at], "last") != 0 && scaler_id_parse(words->items[at], &id) < 0)
                        return program_refuse(p, "cancel: '%s' is not a task id", words->items[at]);
        return PROGRAM_GOES_ON;
}

/* Splits words into URL, verb and the rest. */
static int read_words(struct settings *s, const struct program *p, const struct option_list *words,
                      const struct verb **verb_out, size_t *rest_out)
{
        size_t at = words->count && !find_verb(words->items[0]) ? 1 : 0;
        s->url    = at ? words->items[0] : access_url();
        if (at == words->count)
                return program_refuse(p,
                                      at && !strstr(words->items[0], "://") ? "unknown command '%s' (see --help)"
                                                                            : "a command is missing (see --help)",
                                      at ? words->items[0] : "");
        const struct verb *verb = find_verb(words->items[at]);
        if (!verb)
                return program_refuse(p, "unknown command '%s' (see --help)", words->items[at]);
        if (!s->url)
                return program_refuse(p, "the scheduler's URL is missing (see --help)");
        const size_t rest = at + 1;
        if (verb->show && rest < words->count)
                return program_refuse(p, "unexpected argument '%s'", words->items[rest]);
        int code = check_selection(s, p, verb, rest < words->count);
        if (code == PROGRAM_GOES_ON && verb->takes == SUBJECT)
                code = check_subject(s, p, words, rest);
        if (code == PROGRAM_GOES_ON && verb->takes == TASKS)
                code = check_ids(p, words, rest);
        *verb_out = verb;
        *rest_out = rest;
        return code;
}

/* What it is that the question is about, for who is told that there is none. */
struct missing {
        const char *what, *name;
};

static int explain(const struct show *s, const struct option_list *words, size_t first, struct missing *missing)
{
        const char *word = words->items[first];
        scaler_id   id   = { s->selection->filter.client.lo, 0 };
        if (strcmp(word, "worker") == 0) {
                *missing = (struct missing){ "worker", words->items[first + 1] };
                return explain_worker(s, words->items[first + 1]);
        }
        *missing = (struct missing){ "task", word };
        if (strcmp(word, "last") != 0)
                scaler_id_parse(word, &id);
        return explain_task(s, id);
}

static int ask(const struct program *p, struct settings *s, scaler_client *client, const struct verb *verb,
               const struct option_list *words, size_t rest)
{
        const int64_t  question_ms = s->timeout_ms ? s->timeout_ms : QUESTION_MS;
        struct text    out         = { 0 };
        struct missing missing     = { "task", "last" };
        struct show    show        = { .client = client, .timeout_ms = question_ms, .json = s->json, .out = &out,
                                       .selection = &s->selection };
        const struct drain drain   = { .show        = &show,
                                       .all         = s->selection.all,
                                       .scheduler   = s->scheduler,
                                       .deadline_ms = s->deadline_ms,
                                       .timeout_ms  = s->timeout_ms,
                                       .workers     = words->items + rest,
                                       .count       = words->count - rest };
        int status = scaler_client_wait_ready(client, question_ms);
        if (status == 0 && verb->show)
                status = verb->show(&show);
        else if (status == 0 && verb->takes == SUBJECT)
                status = explain(&show, words, rest, &missing);
        else if (status == 0 && verb->takes == WORKERS)
                status = drain_all(&drain);
        else if (status == 0)
                status = cancel(&show, s->force, words, rest);
        text_free(&out);
        if (status == SCALER_E_NOT_FOUND && verb->takes != WORKERS) {
                program_refuse(p, "there is no %s '%s', or not any more", missing.what, missing.name);
                return EXIT_NOT_FOUND;
        }
        if (status < 0) {
                char why[LOG_KEPT_MAX + 4];
                fflush(stdout);
                log_kept_read(&s->log, why);
                program_refuse(p, "%s: %s%s%s", s->url, scaler_strerror(status), why,
                               access_hint(&s->access, s->url, status));
                return EXIT_BROKEN;
        }
        if (fflush(stdout) != 0) {
                program_refuse(p, "stdout cannot be written");
                return EXIT_BROKEN;
        }
        return status > 0 ? EXIT_NOT_DONE : EXIT_FINE;
}

static int run(const struct program *p, struct settings *s, const struct verb *verb, const struct option_list *words,
               size_t rest)
{
        scaler_security        security;
        scaler_runtime_options runtime_options;
        scaler_client_options  client_options;
        scaler_client         *client = NULL;
        scaler_error           err;
        int                    code = access_suits(&s->access, p, &s->url, 1);
        if (code == PROGRAM_GOES_ON)
                code = access_read(&s->access, p, &security);
        if (code != PROGRAM_GOES_ON)
                return code;
        scaler_init(&runtime_options, sizeof runtime_options);
        runtime_options.log       = log_or_keep;
        runtime_options.log_ctx   = &s->log;
        runtime_options.log_level = log_kept_init(&s->log, s->log_level);
        scaler_init(&client_options, sizeof client_options);
        client_options.scheduler = s->url;
        client_options.name      = p->name;
        client_options.security  = &security;
        client_options.admin     = true;
        code                     = EXIT_BROKEN;
        if (scaler_runtime_create(&runtime_options, &client_options.runtime, &err) < 0 ||
            scaler_client_create(&client_options, &client, &err) < 0 || scaler_client_start(client, &err) < 0)
                program_refuse(p, "%s%s", err.text, access_hint(&s->access, s->url, err.status));
        else
                code = ask(p, s, client, verb, words, rest);
        if (client)
                scaler_client_stop(client, STOP_MS);
        scaler_client_destroy(client);
        scaler_runtime_destroy(client_options.runtime);
        return code;
}

int main(int argc, char **argv)
{
        struct settings    settings = { .log_level = SCALER_LOG_ERROR };
        struct program     program;
        struct option_list words = { 0 };
        const struct verb *verb  = NULL;
        size_t             rest  = 0;
        int                code  = standard_fill() ? parse(&settings, argc, argv, &program, &words) : EXIT_BROKEN;
        if (code == PROGRAM_GOES_ON)
                code = read_words(&settings, &program, &words, &verb, &rest);
        if (code == PROGRAM_GOES_ON)
                code = run(&program, &settings, verb, &words, rest);
        access_fini(&settings.access);
        option_list_free(&words);
        return code;
}
