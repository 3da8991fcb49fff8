/*
 * scaler-ctl: looks at a running cluster, cancels tasks and drains workers, as an admin client.  What it asks for is on
 * stdout, for people or, with --json, for programs; everything else is on stderr.
 */
#include <inttypes.h>
#include <scaler.h>
#include <stdio.h>
#include <string.h>

#include "access.h"
#include "drain.h"
#include "json.h"
#include "log.h"
#include "option.h"
#include "show.h"
#include "standard.h"

enum { EXIT_FINE = 0, EXIT_BROKEN = 1, EXIT_USAGE = 2, EXIT_NOT_DONE = 3 };

#define STOP_MS     1000
#define QUESTION_MS 10000

struct settings {
        struct access   access;
        const char     *url;
        int64_t         timeout_ms;
        bool            json;
        bool            force;
        bool            all;
        bool            scheduler;
        int64_t         deadline_ms;
        const char     *tag;
        const char     *client;
        int32_t         log_level;
        struct log_kept log;
};

enum kind { LOOKS, CANCELS, DRAINS };

struct verb {
        const char *name;
        enum kind   kind;
        int (*show)(const struct show *s); /* LOOKS */
};

static const struct verb verbs[] = {
        { "status", LOOKS, show_status }, { "workers", LOOKS, show_workers }, { "clients", LOOKS, show_clients },
        { "list", LOOKS, show_tasks },    { "dump", LOOKS, show_dump },       { "cancel", CANCELS, NULL },
        { "drain", DRAINS, NULL },
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
        const struct option_row rows[] = {
                { "json", 0, OPTION_FLAG, &s->json, 0, 0, 0, NULL, "JSON: one object per line" },
                { "force", 0, OPTION_FLAG, &s->force, 0, 0, 0, NULL, "cancel: kill what runs" },
                { "tag", 0, OPTION_TEXT, &s->tag, 0, 0, 0, "TAG", "cancel: all tasks with this tag" },
                { "client", 0, OPTION_TEXT, &s->client, 0, 0, 0, "ID", "cancel: all tasks of this client" },
                { "all", 0, OPTION_FLAG, &s->all, 0, 0, 0, NULL, "cancel: all tasks of everybody; drain: all workers" },
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
                .usage      = "[options] [URL] status|workers|clients|list|dump|cancel TASK...|drain WORKER...",
                .about      = "Looks at the cluster of the scheduler at URL, cancels tasks and drains workers in it.",
                .after      = "SCALER_URL stands for a missing URL, SCALER_TOKEN for a missing --token-file.\n"
                              "Exit: 0 done, 1 no answer or refused, 2 usage, 3 a task was not cancelled or a worker\n"
                              "has not left in order.",
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

static bool selects(const struct settings *s)
{
        return s->all || s->tag || s->client;
}

/* Who is to leave is said once: by names or ids, by --all, or by --scheduler. */
static int check_drain(const struct settings *s, const struct program *p, bool names)
{
        if (names + s->all + s->scheduler > 1)
                return program_refuse(p, "drain: workers, --all and --scheduler exclude each other");
        if (!names && !s->all && !s->scheduler)
                return program_refuse(p, "drain: a worker is missing");
        return PROGRAM_GOES_ON;
}

/* Which tasks is said once: by ids, by --tag and --client, or by --all. */
static int check_selector(const struct settings *s, const struct program *p, const struct verb *verb, bool ids)
{
        scaler_id id;
        if (verb->kind != CANCELS && (s->tag || s->client))
                return program_refuse(p, "--tag and --client are for cancel");
        if (verb->kind == LOOKS && s->all)
                return program_refuse(p, "--all is for cancel and drain");
        if (verb->kind != DRAINS && (s->scheduler || s->deadline_ms))
                return program_refuse(p, "--scheduler and --deadline are for drain");
        if (verb->kind == DRAINS)
                return check_drain(s, p, ids);
        if (s->all && (s->tag || s->client))
                return program_refuse(p, "cancel: --all and --%s exclude each other", s->tag ? "tag" : "client");
        if (ids && selects(s))
                return program_refuse(p, "cancel: task ids and --%s exclude each other",
                                      s->all ? "all" : s->tag ? "tag" : "client");
        if (verb->kind == CANCELS && !ids && !selects(s))
                return program_refuse(p, "cancel: a task is missing");
        if (s->tag && (!*s->tag || strlen(s->tag) >= SCALER_NAME_MAX))
                return program_refuse(p, "--tag: 1 to %d bytes", SCALER_NAME_MAX - 1);
        if (s->client && (scaler_id_parse(s->client, &id) < 0 || id.hi != 0 || id.lo == 0))
                return program_refuse(p, "--client: '%s' is not the id of a client (see --json clients)", s->client);
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
        if (verb->kind == LOOKS && at + 1 < words->count)
                return program_refuse(p, "unexpected argument '%s'", words->items[at + 1]);
        const int code = check_selector(s, p, verb, at + 1 < words->count);
        if (code != PROGRAM_GOES_ON)
                return code;
        for (size_t i = at + 1; i < words->count && verb->kind == CANCELS; i++) {
                scaler_id id;
                if (scaler_id_parse(words->items[i], &id) < 0)
                        return program_refuse(p, "cancel: '%s' is not a task id", words->items[i]);
        }
        *verb_out = verb;
        *rest_out = at + 1;
        return PROGRAM_GOES_ON;
}

/* One line per task; the worst outcome decides the exit code. */
static int cancel(const struct show *s, const struct settings *settings, const struct option_list *words, size_t first)
{
        static const char *const outcomes[] = { "canceled", "cancel-failed", "cancel-not-found" };
        int                      worst      = 0;
        for (size_t i = first; i < words->count; i++) {
                scaler_id id;
                scaler_id_parse(words->items[i], &id);
                int outcome = scaler_client_cancel(s->client, id, settings->force ? SCALER_CANCEL_FORCE : 0,
                                                   s->timeout_ms);
                if (outcome < 0)
                        return outcome;
                const char *name = outcomes[outcome > SCALER_CANCEL_NOT_FOUND ? SCALER_CANCEL_FAILED : outcome];
                worst            = outcome > worst ? outcome : worst;
                if (s->json)
                        printf("{\"id\":\"%s\",\"outcome\":\"%s\"}\n", words->items[i], name);
                else
                        printf("%s %s\n", words->items[i], name);
        }
        return worst;
}

static int cancel_many(const struct show *s, const struct settings *settings)
{
        scaler_selector selector;
        uint64_t        count = 0;
        scaler_init(&selector, sizeof selector);
        selector.tag = settings->tag;
        if (settings->client)
                scaler_id_parse(settings->client, &selector.client);
        const int status = scaler_client_cancel_many(s->client, &selector, settings->force ? SCALER_CANCEL_FORCE : 0,
                                                     s->timeout_ms, &count);
        if (status == 0 && s->json)
                printf("{\"cancelled\":%" PRIu64 "}\n", count);
        else if (status == 0)
                printf("%" PRIu64 " tasks cancelled or told to stop\n", count);
        return status;
}

static int ask(const struct program *p, struct settings *s, scaler_client *client, const struct verb *verb,
               const struct option_list *words, size_t rest)
{
        const int64_t question_ms = s->timeout_ms ? s->timeout_ms : QUESTION_MS;
        struct text   out         = { 0 };
        struct show   show        = { .client = client, .timeout_ms = question_ms, .json = s->json, .out = &out };
        const struct drain drain  = { .show        = &show,
                                      .all         = s->all,
                                      .scheduler   = s->scheduler,
                                      .deadline_ms = s->deadline_ms,
                                      .timeout_ms  = s->timeout_ms,
                                      .workers     = words->items + rest,
                                      .count       = words->count - rest };
        int status = scaler_client_wait_ready(client, question_ms);
        if (status == 0 && verb->kind == LOOKS)
                status = verb->show(&show);
        else if (status == 0 && verb->kind == DRAINS)
                status = drain_all(&drain);
        else if (status == 0)
                status = selects(s) ? cancel_many(&show, s) : cancel(&show, s, words, rest);
        text_free(&out);
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
