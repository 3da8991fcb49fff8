/*
 * drain: who is meant is looked up first, then all are asked, then each is waited for in turn; its line is
 * printed when it has left, so what is on stdout is done.  Asking again only waits on.
 */
#include "drain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "json.h"

#define PAGE     256
#define AHEAD    200 /* workers asked before the first of them is waited for */
#define SLICE_MS 1000

struct target {
        scaler_id id;
        char      name[SCALER_NAME_MAX];
        uint32_t  found; /* workers that go by what was said */
};

struct targets {
        struct target *at;
        size_t         count;
};

static int64_t clock_ms(void)
{
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- who is meant ---- */

static struct target *add(struct targets *t)
{
        struct target *grown = realloc(t->at, (t->count + 1) * sizeof *grown);
        if (!grown)
                return NULL;
        t->at = grown;
        memset(&grown[t->count], 0, sizeof *grown);
        return &grown[t->count++];
}

static void fill(struct target *t, const scaler_worker_info *row)
{
        t->id = row->id;
        snprintf(t->name, sizeof t->name, "%s", row->name);
        t->found++;
}

static bool is_meant(const char *word, const scaler_worker_info *row)
{
        scaler_id id;
        const bool by_id = scaler_id_parse(word, &id) == 0 && id.hi == row->id.hi && id.lo == row->id.lo;
        return by_id || strcmp(word, row->name) == 0;
}

static int match(const struct drain *d, const scaler_worker_info *row, struct targets *t)
{
        if (d->all) {
                struct target *target = add(t);
                if (!target)
                        return SCALER_E_NOMEM;
                fill(target, row);
        }
        for (size_t i = 0; i < d->count; i++)
                if (is_meant(d->workers[i], row))
                        fill(&t->at[i], row);
        return 0;
}

/* Who is not there may have left a moment ago: by its id the scheduler may know. */
static void by_id(const char *word, struct target *t)
{
        if (t->found == 0 && scaler_id_parse(word, &t->id) == 0)
                t->found = 1;
        if (t->name[0] == '\0')
                snprintf(t->name, sizeof t->name, "%s", word);
}

static int look_up(const struct drain *d, struct targets *t)
{
        uint64_t cursor = 0;
        for (size_t i = 0; i < d->count; i++)
                if (!add(t))
                        return SCALER_E_NOMEM;
        do {
                scaler_worker_info rows[PAGE];
                scaler_init(&rows[0], sizeof rows[0]);
                int count = scaler_client_workers(d->show->client, &cursor, d->show->timeout_ms, rows, PAGE);
                if (count < 0)
                        return count;
                for (int i = 0; i < count; i++) {
                        const int status = match(d, &rows[i], t);
                        if (status < 0)
                                return status;
                }
        } while (cursor != 0);
        for (size_t i = 0; i < d->count; i++)
                by_id(d->workers[i], &t->at[i]);
        return 0;
}

/* ---- what came of it ---- */

struct outcome {
        const char *word; /* NULL: none */
        bool        fine;
};

static struct outcome outcome_of(int status)
{
        switch (status) {
        case 0:
                return (struct outcome){ "left", true };
        case SCALER_E_TIMEOUT:
                return (struct outcome){ "draining", false };
        case SCALER_E_NOT_FOUND:
                return (struct outcome){ "not-found", false };
        case SCALER_E_UNSUPPORTED:
                return (struct outcome){ "unsupported", false };
        case SCALER_E_EXISTS:
                return (struct outcome){ "ambiguous", false };
        case SCALER_E_UNREACHABLE:
                return (struct outcome){ "lost", false };
        default:
                return (struct outcome){ NULL, false }; /* no answer about that worker */
        }
}

static void say_json(struct text *out, const struct target *t, const scaler_drained *r, struct outcome outcome)
{
        char id[SCALER_ID_TEXT_MAX];
        text_add_char(out, '{');
        if (!scaler_id_is_nil(t->id))
                json_add_string(out, "worker", scaler_id_format(t->id, id));
        json_add_string(out, "name", t->name);
        json_add_string(out, "outcome", outcome.word);
        json_add_uint(out, "finished", r->finished);
        json_add_uint(out, "returned", r->returned);
        json_add_uint(out, "released", r->released);
        json_add_uint(out, "lost", r->lost);
        json_add_uint(out, "took_ms", r->took_ms);
        text_add_string(out, "}\n");
}

static void say_words(struct text *out, const struct target *t, const scaler_drained *r, int status)
{
        text_add_shown(out, t->name, strlen(t->name), SCALER_NAME_MAX);
        if (status == 0)
                text_print(out, " left in %.1f s: %u tasks finished, %u returned, %u released\n",
                           (double)r->took_ms / 1000, r->finished, r->returned, r->released);
        else if (status == SCALER_E_TIMEOUT)
                text_add_string(out, " is still draining\n");
        else if (status == SCALER_E_NOT_FOUND)
                text_add_string(out, " is not there\n");
        else if (status == SCALER_E_UNSUPPORTED)
                text_add_string(out, " is too old to be asked: send it SIGTERM\n");
        else if (status == SCALER_E_EXISTS)
                text_print(out, " is the name of %u workers: say which by its id (see --json workers)\n", t->found);
        else
                text_print(out, " was lost before it had left, with %u tasks\n", r->lost);
}

static void flush(struct text *out)
{
        fwrite(out->data, 1, out->size, stdout);
        fflush(stdout);
        text_clear(out);
}

static int say(const struct drain *d, const struct target *t, const scaler_drained *r, int status)
{
        const struct outcome outcome = outcome_of(status);
        if (d->show->json)
                say_json(d->show->out, t, r, outcome);
        else
                say_words(d->show->out, t, r, status);
        flush(d->show->out);
        return outcome.fine ? 0 : 1;
}

/* For people who look on. */
static void say_progress(const struct drain *d, const struct target *t)
{
        uint64_t cursor = 0;
        if (d->show->json || !isatty(STDERR_FILENO))
                return;
        do {
                scaler_worker_info rows[PAGE];
                scaler_init(&rows[0], sizeof rows[0]);
                int count = scaler_client_workers(d->show->client, &cursor, d->show->timeout_ms, rows, PAGE);
                if (count < 0)
                        return;
                for (int i = 0; i < count; i++)
                        if (rows[i].id.lo == t->id.lo)
                                fprintf(stderr, "%s: %u tasks there, %u of them running\n", t->name, rows[i].assigned,
                                        rows[i].started);
        } while (cursor != 0);
}

/* ---- the waiting ---- */

static int64_t slice(int64_t until)
{
        const int64_t left = until - clock_ms();
        return left < 1 ? 1 : left < SLICE_MS ? left : SLICE_MS;
}

/* A status, as of scaler_client_drain(). */
static int wait_for(const struct drain *d, const struct target *t, int64_t until, scaler_drained *result)
{
        const int64_t began = clock_ms();
        int64_t       told  = began;
        for (;;) {
                int status = scaler_client_drain(d->show->client, t->id, d->deadline_ms, slice(until), result);
                if (status != SCALER_E_TIMEOUT || clock_ms() >= until)
                        return status;
                if (clock_ms() - told < 5 * SLICE_MS)
                        continue;
                told = clock_ms();
                say_progress(d, t);
        }
}

static void ask(const struct drain *d, const struct target *t)
{
        if (t->found == 1)
                (void)scaler_client_drain(d->show->client, t->id, d->deadline_ms, 0, NULL); /* who waits is told */
}

/* 0 or 1: told; or the status of a scheduler that does not answer any more. */
static int drain_one(const struct drain *d, const struct target *t, int64_t until)
{
        scaler_drained result;
        int            status = SCALER_E_NOT_FOUND;
        scaler_init(&result, sizeof result);
        if (t->found > 1)
                status = SCALER_E_EXISTS;
        else if (t->found == 1)
                status = wait_for(d, t, until, &result);
        const bool answered = !scaler_id_is_nil(result.worker);
        if (status == SCALER_E_UNREACHABLE && !answered)
                return status;
        return outcome_of(status).word ? say(d, t, &result, status) : status;
}

static int drain_workers(const struct drain *d, int64_t until)
{
        struct targets t      = { .at = NULL };
        int            status = look_up(d, &t), worst = 0;
        for (size_t i = 0; status == 0 && i < t.count && i < AHEAD; i++)
                ask(d, &t.at[i]);
        for (size_t i = 0; status >= 0 && i < t.count; i++) {
                status = drain_one(d, &t.at[i], until);
                worst  = status > worst ? status : worst;
                if (i + AHEAD < t.count)
                        ask(d, &t.at[i + AHEAD]);
        }
        free(t.at);
        return status < 0 ? status : worst;
}

/* Asked once: who asked again just when it stopped would find nobody. */
static int drain_scheduler(const struct drain *d)
{
        const struct target scheduler = { .name = "scheduler" };
        const int64_t       most      = d->timeout_ms ? d->timeout_ms : SCALER_FOREVER;
        scaler_drained      result;
        scaler_init(&result, sizeof result);
        int status = scaler_client_drain(d->show->client, scheduler.id, d->deadline_ms, most, &result);
        if (status == 0 && !d->show->json)
                printf("scheduler stopped in %.1f s\n", (double)result.took_ms / 1000);
        else if (status == 0)
                printf("{\"name\":\"scheduler\",\"outcome\":\"stopped\",\"took_ms\":%" PRIu64 "}\n",
                       result.took_ms);
        else if (status == SCALER_E_TIMEOUT)
                return say(d, &scheduler, &result, status);
        return status;
}

int drain_all(const struct drain *d)
{
        const int64_t until = d->timeout_ms ? clock_ms() + d->timeout_ms : INT64_MAX;
        return d->scheduler ? drain_scheduler(d) : drain_workers(d, until);
}
