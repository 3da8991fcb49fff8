/* See explain.h. */
#include "explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "json.h"

enum { PAGE = 64, ATTEMPTS = 8 };

/* ---- tasks ---- */

static void attempt_json(struct text *out, const scaler_attempt *a)
{
        static const char *const hows[] = { "none", "exited", "signalled", "not-started", "stolen" };
        text_add_char(out, '{');
        json_add_uint(out, "attempt", a->attempt);
        show_json_id(out, "worker", a->worker);
        json_add_string(out, "worker_name", a->worker_name);
        json_add_uint(out, "began_ms", a->began_ms);
        json_add_uint(out, "ended_ms", a->ended_ms);
        json_add_string(out, "reason", scaler_reason_name(a->reason));
        json_add_string(out, "how", a->how >= 0 && (size_t)a->how < sizeof hows / sizeof hows[0] ? hows[a->how] : "?");
        json_key(out, "code");
        text_print(out, "%" PRId32, a->code);
        json_add_uint(out, "wall_us", a->wall_us);
        json_add_uint(out, "user_us", a->user_us);
        json_add_uint(out, "sys_us", a->sys_us);
        json_add_uint(out, "peak_kib", a->peak_kib);
        json_add_string(out, "text", a->text);
        text_add_char(out, '}');
}

static bool has_ended(const scaler_explanation *e)
{
        return e->stage == SCALER_STAGE_ENDED || e->stage == SCALER_STAGE_KEPT;
}

static void task_json(struct text *out, const scaler_explanation *e, const scaler_attempt *attempts, int count)
{
        text_add_char(out, '{');
        show_json_id(out, "id", e->id);
        json_add_string(out, "stage", scaler_stage_name(e->stage));
        json_add_string(out, "state", scaler_task_info_state_name(e->state));
        json_add_string(out, "why", scaler_why_name(e->why));
        json_add_string(out, "text", e->text);
        json_add_uint(out, "since_ms", e->since_ms);
        json_add_uint(out, "age_ms", e->age_ms);
        if (e->until_ms > 0)
                json_add_uint(out, "until_ms", e->until_ms);
        json_add_uint(out, "number", e->number);
        if (has_ended(e))
                json_add_string(out, "reason", scaler_reason_name(e->reason));
        if (!scaler_id_is_nil(e->worker)) {
                show_json_id(out, "worker", e->worker);
                json_add_string(out, "worker_name", e->worker_name);
        }
        json_add_string(out, "kind", e->graph ? "graph" : e->function[0] ? "function" : "command");
        if (e->function[0])
                json_add_string(out, "function", e->function);
        json_add_string(out, "needs", e->needs);
        json_add_string(out, "tag", e->tag);
        json_add_string(out, "tenant", e->tenant);
        json_key(out, "priority");
        text_print(out, "%" PRId32, e->priority);
        json_add_uint(out, "attempt", e->attempt);
        json_add_uint(out, "losses", e->losses);
        json_key(out, "attempts");
        text_add_char(out, '[');
        for (int i = 0; i < count; i++) {
                text_add_string(out, i > 0 ? "," : "");
                attempt_json(out, &attempts[i]);
        }
        text_add_string(out, "]}\n");
}

static void add_field(struct text *out, const char *name, const char *value)
{
        if (!value[0])
                return;
        text_print(out, "%-9s ", name);
        text_add_shown(out, value, strlen(value), SCALER_NEEDS_MAX);
        text_add_char(out, '\n');
}

static void add_span(struct text *out, uint64_t ms)
{
        text_print(out, "%" PRIu64 ".%" PRIu64 " s", ms / 1000, ms % 1000 / 100);
}

static void attempt_row(struct text *out, const scaler_attempt *a)
{
        text_print(out, "  %3" PRIu32 "  ", a->attempt);
        text_add_shown(out, a->worker_name, strlen(a->worker_name), SCALER_NAME_MAX);
        text_add_string(out, ": began ");
        add_span(out, a->began_ms);
        text_add_string(out, " ago, ended ");
        add_span(out, a->ended_ms);
        text_print(out, " ago: %s", scaler_reason_name(a->reason));
        if (a->code != 0)
                text_print(out, " %" PRId32, a->code);
        if (a->text[0]) {
                text_add_string(out, ", ");
                text_add_shown(out, a->text, strlen(a->text), SCALER_SENTENCE_MAX);
        }
        if (a->wall_us > 0)
                text_print(out, " (took %.3f s, processor %.3f s, peak %" PRIu64 " KiB)", (double)a->wall_us / 1e6,
                           (double)(a->user_us + a->sys_us) / 1e6, a->peak_kib);
        text_add_char(out, '\n');
}

static void task_rows(struct text *out, const scaler_explanation *e, const scaler_attempt *attempts, int count)
{
        char id[SCALER_ID_TEXT_MAX];
        add_field(out, "task", scaler_id_format(e->id, id));
        text_print(out, "%-9s %s for ", "stage", scaler_stage_name(e->stage));
        add_span(out, e->since_ms);
        text_add_string(out, ", submitted ");
        add_span(out, e->age_ms);
        text_add_string(out, " ago\n");
        text_print(out, "%-9s %s: ", "why", scaler_why_name(e->why));
        text_add_shown(out, e->text, strlen(e->text), SCALER_SENTENCE_MAX);
        text_add_char(out, '\n');
        add_field(out, "runs", e->graph ? "(graph)" : e->function[0] ? e->function : "(command)");
        add_field(out, "needs", e->needs);
        add_field(out, "tag", e->tag);
        add_field(out, "tenant", e->tenant);
        if (e->priority != 0)
                text_print(out, "%-9s %" PRId32 "\n", "priority", e->priority);
        add_field(out, "worker", e->worker_name);
        text_print(out, "%-9s %" PRIu32 ", of them lost: %" PRIu32 "\n", "attempts", e->attempt, e->losses);
        for (int i = 0; i < count; i++)
                attempt_row(out, &attempts[i]);
}

int explain_task(const struct show *s, scaler_id task)
{
        scaler_explanation e;
        scaler_attempt     attempts[ATTEMPTS];
        scaler_init(&e, sizeof e);
        scaler_init(&attempts[0], sizeof attempts[0]);
        const int count = scaler_client_explain(s->client, task, s->timeout_ms, &e, attempts, ATTEMPTS);
        if (count < 0)
                return count;
        if (s->json)
                task_json(s->out, &e, attempts, count);
        else
                task_rows(s->out, &e, attempts, count);
        show_flush(s);
        return 0;
}

/* ---- workers ---- */

static bool is_called(const scaler_worker_explanation *w, const char *name)
{
        scaler_id id;
        if (strcmp(w->name, name) == 0)
                return true;
        return scaler_id_parse(name, &id) == 0 && scaler_id_equal(id, w->id);
}

static void worker_rows(struct text *out, const scaler_worker_explanation *w)
{
        char id[SCALER_ID_TEXT_MAX];
        text_print(out, "%-9s ", "worker");
        text_add_shown(out, w->name, strlen(w->name), SCALER_NAME_MAX);
        text_print(out, " (%s), here for %" PRIu64 " s\n", scaler_id_format(w->id, id), w->connected_ms / 1000);
        text_print(out, "%-9s %s: ", "why", scaler_idle_name(w->why));
        text_add_shown(out, w->text, strlen(w->text), SCALER_SENTENCE_MAX);
        text_add_char(out, '\n');
        text_print(out, "%-9s %" PRIu32 " slots, %" PRIu32 " runs of at most %" PRIu32 ", %" PRIu32
                   " with a slot, %" PRIu32 " known to run\n", "has", w->slots, w->assigned, w->credit, w->held,
                   w->started);
        add_field(out, "offers", w->offers);
        add_field(out, "used", w->used);
        text_print(out, "%-9s %" PRIu32 " functions; %" PRIu64 " runs done, %" PRIu64 " failed, %" PRIu64 " lost\n",
                   "ever", w->functions, w->done, w->failed, w->lost);
}

int explain_worker(const struct show *s, const char *name)
{
        uint64_t cursor = 0;
        bool     found  = false;
        do {
                scaler_worker_explanation rows[PAGE];
                scaler_init(&rows[0], sizeof rows[0]);
                const int count = scaler_client_explain_workers(s->client, &cursor, s->timeout_ms, rows, PAGE);
                if (count < 0)
                        return count;
                for (int i = 0; i < count; i++) {
                        if (!is_called(&rows[i], name))
                                continue;
                        if (s->json)
                                show_worker_json(s->out, &rows[i], NULL);
                        else
                                worker_rows(s->out, &rows[i]);
                        found = true;
                }
                show_flush(s);
        } while (cursor != 0);
        return found ? 0 : SCALER_E_NOT_FOUND;
}
