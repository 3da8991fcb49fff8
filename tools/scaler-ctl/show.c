/*
 * show: pages of the scheduler's tables, as aligned columns or as JSON.  Output is flushed page by page,
 * so a million tasks need the memory of one page.
 */
#include "show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "json.h"

#define PAGE    256
#define WORKERS 64 /* of a page */

struct table {
        const char *key;  /* in a dump */
        const char *head; /* NULL: no rows */
        int (*page)(const struct show *s, uint64_t *cursor, bool *comma);
};

void show_flush(const struct show *s)
{
        if (s->out->size)
                fwrite(s->out->data, 1, s->out->size, stdout);
        text_clear(s->out);
}

void show_json_id(struct text *out, const char *key, scaler_id id)
{
        char text[SCALER_ID_TEXT_MAX];
        json_add_string(out, key, scaler_id_format(id, text));
}

/* ---- status ---- */

static void status_json(struct text *out, const scaler_scheduler_stats *stats)
{
        const struct {
                const char *key;
                uint64_t    value;
        } rows[] = {
                { "clients", stats->clients },
                { "workers", stats->workers },
                { "links", stats->links },
                { "slots_total", stats->slots_total },
                { "slots_busy", stats->slots_busy },
                { "tasks_waiting", stats->tasks_waiting },
                { "tasks_ready", stats->tasks_ready },
                { "tasks_assigned", stats->tasks_assigned },
                { "tasks_unacknowledged", stats->tasks_unacknowledged },
                { "orphans", stats->orphans },
                { "tasks_submitted", stats->tasks_submitted },
                { "tasks_done", stats->tasks_done },
                { "tasks_failed", stats->tasks_failed },
                { "tasks_cancelled", stats->tasks_cancelled },
                { "runs_lost", stats->runs_lost },
                { "runs_kept", stats->runs_kept },
                { "stale_dropped", stats->stale_dropped },
                { "bytes_used", stats->bytes_used },
                { "bytes_max", stats->bytes_max },
                { "tasks_max", stats->tasks_max },
                { "uptime_ms", stats->uptime_ms },
        };
        text_add_char(out, '{');
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
                json_add_uint(out, rows[i].key, rows[i].value);
        json_key(out, "epoch"); /* text: it is a 64-bit number and JSON readers keep 53 bits */
        text_print(out, "\"%016" PRIx64 "\"}", stats->epoch);
}

static void status_rows(struct text *out, const scaler_scheduler_stats *s)
{
        text_print(out, "up        %" PRIu64 " s, epoch %016" PRIx64 "\n", s->uptime_ms / 1000, s->epoch);
        text_print(out, "peers     %u workers, %u clients, %u links\n", s->workers, s->clients, s->links);
        text_print(out, "slots     %u busy of %u\n", s->slots_busy, s->slots_total);
        text_print(out, "tasks     %u waiting, %u ready, %u assigned, %u unacknowledged, %u orphans\n",
                   s->tasks_waiting, s->tasks_ready, s->tasks_assigned, s->tasks_unacknowledged, s->orphans);
        text_print(out,
                   "ever      %" PRIu64 " submitted, %" PRIu64 " done, %" PRIu64 " failed, %" PRIu64 " cancelled\n",
                   s->tasks_submitted, s->tasks_done, s->tasks_failed, s->tasks_cancelled);
        text_print(out, "runs      %" PRIu64 " lost, %" PRIu64 " kept, %" PRIu64 " stale messages\n", s->runs_lost,
                   s->runs_kept, s->stale_dropped);
        text_print(out, "room      %" PRIu64 " of %" PRIu64 " bytes, %" PRIu64 " tasks at most\n", s->bytes_used,
                   s->bytes_max, s->tasks_max);
}

static int add_status(const struct show *s)
{
        scaler_scheduler_stats stats;
        scaler_init(&stats, sizeof stats);
        int status = scaler_client_scheduler_stats(s->client, s->timeout_ms, &stats);
        if (status < 0)
                return status;
        if (s->json)
                status_json(s->out, &stats);
        else
                status_rows(s->out, &stats);
        return 0;
}

int show_status(const struct show *s)
{
        int status = add_status(s);
        if (status == 0 && s->json)
                text_add_char(s->out, '\n');
        show_flush(s);
        return status;
}

/* ---- pages ---- */

/* What parts two JSON rows: a comma in a dump's array, else a line end. */
static void begin_row(struct text *out, bool *comma)
{
        if (comma && *comma)
                text_add_char(out, ',');
        if (comma)
                *comma = true;
        text_add_char(out, '{');
}

static void end_row(struct text *out, const bool *comma)
{
        text_add_string(out, comma ? "}" : "}\n");
}

void show_worker_json(struct text *out, const scaler_worker_explanation *w, bool *comma)
{
        begin_row(out, comma);
        show_json_id(out, "id", w->id);
        json_add_string(out, "name", w->name);
        json_add_uint(out, "slots", w->slots);
        json_add_uint(out, "credit", w->credit);
        json_add_uint(out, "assigned", w->assigned);
        json_add_uint(out, "started", w->started);
        json_add_uint(out, "functions", w->functions);
        json_add_uint(out, "done", w->done);
        json_add_uint(out, "failed", w->failed);
        json_add_uint(out, "lost", w->lost);
        json_add_uint(out, "connected_ms", w->connected_ms);
        json_add_uint(out, "held", w->held);
        json_add_string(out, "offers", w->offers);
        json_add_string(out, "used", w->used);
        json_add_string(out, "why", scaler_idle_name(w->why));
        json_add_string(out, "text", w->text);
        json_add_bool(out, "draining", w->why == SCALER_IDLE_DRAINING);
        end_row(out, comma);
}

/* A name of a peer's choice, harmless to a terminal. */
static void shown_name(struct text *out, const char *name, int width)
{
        struct text shown = { 0 };
        text_add_shown(&shown, name, strlen(name), SCALER_NAME_MAX);
        text_print(out, "%-*s ", width, shown.size ? shown.data : "");
        text_free(&shown);
}

/* Two lines: its counts, and beneath what it offers, what of that is used, and why it gets nothing. */
static void worker_row(struct text *out, const scaler_worker_explanation *w)
{
        shown_name(out, w->name, 28);
        text_print(out, "%6u %9u %8u %9u %10" PRIu64 " %8" PRIu64 " %6" PRIu64 " %8" PRIu64 "\n", w->slots,
                   w->assigned, w->started, w->functions, w->done, w->failed, w->lost, w->connected_ms / 1000);
        text_add_string(out, "    offers ");
        text_add_shown(out, w->offers, strlen(w->offers), SCALER_NEEDS_MAX);
        text_add_string(out, w->used[0] ? ", used " : ", none of it used");
        text_add_shown(out, w->used, strlen(w->used), SCALER_NEEDS_MAX);
        text_print(out, "; %s: ", scaler_idle_name(w->why));
        text_add_shown(out, w->text, strlen(w->text), SCALER_SENTENCE_MAX);
        text_add_char(out, '\n');
}

static int worker_page(const struct show *s, uint64_t *cursor, bool *comma)
{
        scaler_worker_explanation rows[WORKERS];
        scaler_init(&rows[0], sizeof rows[0]);
        int count = scaler_client_explain_workers(s->client, cursor, s->timeout_ms, rows, WORKERS);
        for (int i = 0; i < count; i++) {
                if (s->json)
                        show_worker_json(s->out, &rows[i], comma);
                else
                        worker_row(s->out, &rows[i]);
        }
        return count;
}

static void client_json(struct text *out, const scaler_client_info *c, bool *comma)
{
        begin_row(out, comma);
        show_json_id(out, "id", c->id);
        json_add_string(out, "name", c->name);
        json_add_string(out, "tenant", c->tenant);
        json_add_bool(out, "connected", c->connected);
        json_add_uint(out, "tasks", c->tasks);
        json_add_uint(out, "grant", c->grant);
        json_add_uint(out, "submitted", c->submitted);
        json_add_uint(out, "connected_ms", c->connected_ms);
        end_row(out, comma);
}

static void client_row(struct text *out, const scaler_client_info *c)
{
        shown_name(out, c->name, 28);
        shown_name(out, c->tenant, 16);
        text_print(out, "%-10s %8u %8u %10" PRIu64 "\n", c->connected ? "connected" : "away", c->tasks, c->grant,
                   c->submitted);
}

static int client_page(const struct show *s, uint64_t *cursor, bool *comma)
{
        scaler_client_info rows[PAGE];
        scaler_init(&rows[0], sizeof rows[0]);
        int count = scaler_client_clients(s->client, cursor, s->timeout_ms, rows, PAGE);
        for (int i = 0; i < count; i++) {
                if (s->json)
                        client_json(s->out, &rows[i], comma);
                else
                        client_row(s->out, &rows[i]);
        }
        return count;
}

static void task_json(struct text *out, const scaler_task_info *task, bool *comma)
{
        begin_row(out, comma);
        show_json_id(out, "id", task->id);
        json_add_string(out, "state", scaler_task_info_state_name(task->state));
        if (!scaler_id_is_nil(task->worker))
                show_json_id(out, "worker", task->worker);
        json_add_uint(out, "attempt", task->attempt);
        json_add_uint(out, "losses", task->losses);
        json_add_uint(out, "age_ms", task->age_ms);
        if (task->function[0])
                json_add_string(out, "function", task->function);
        json_add_string(out, "stage", scaler_stage_name(task->stage));
        if (task->tag[0])
                json_add_string(out, "tag", task->tag);
        end_row(out, comma);
}

static void task_row(struct text *out, const scaler_task_info *task)
{
        char        id[SCALER_ID_TEXT_MAX];
        const char *what = task->function[0] ? task->function : "(command)";
        text_print(out, "%s %-18s %7u %6u %8.1f ", scaler_id_format(task->id, id),
                   scaler_task_info_state_name(task->state), task->attempt, task->losses, (double)task->age_ms / 1000);
        text_add_shown(out, what, strlen(what), SCALER_NAME_MAX);
        text_add_char(out, '\n');
}

static int task_page(const struct show *s, uint64_t *cursor, bool *comma)
{
        scaler_task_info rows[PAGE];
        scaler_init(&rows[0], sizeof rows[0]);
        int count = scaler_client_tasks(s->client, cursor, s->timeout_ms, rows, PAGE);
        for (int i = 0; i < count; i++) {
                if (s->json)
                        task_json(s->out, &rows[i], comma);
                else
                        task_row(s->out, &rows[i]);
        }
        return count;
}

static const struct table tables[] = {
        { "workers",
          "NAME                          SLOTS  ASSIGNED  STARTED FUNCTIONS       DONE   FAILED   LOST  SECONDS\n",
          worker_page },
        { "clients", "NAME                         TENANT           LINK          TASKS    GRANT  SUBMITTED\n",
          client_page },
        { "tasks", "TASK                             STATE              ATTEMPT LOSSES  SECONDS FUNCTION\n",
          task_page },
};

static int show_table(const struct show *s, const struct table *t, bool *comma)
{
        uint64_t cursor = 0;
        int      count  = 0;
        if (!s->json)
                text_add_string(s->out, t->head);
        do {
                count = t->page(s, &cursor, comma);
                show_flush(s);
        } while (count >= 0 && cursor != 0);
        return count < 0 ? count : 0;
}

int show_workers(const struct show *s)
{
        return show_table(s, &tables[0], NULL);
}

int show_clients(const struct show *s)
{
        return show_table(s, &tables[1], NULL);
}

static void each_task(void *ctx, const scaler_task_info *task)
{
        const struct show *s = ctx;
        if (s->json)
                task_json(s->out, task, NULL);
        else
                task_row(s->out, task);
}

static void each_page(void *ctx)
{
        show_flush(ctx);
}

int show_tasks(const struct show *s)
{
        struct show           shown = *s;
        const struct selected to    = { .each = each_task, .page = each_page, .ctx = &shown };
        if (!s->json)
                text_add_string(s->out, tables[2].head);
        return selection_walk(s->selection, s->client, s->timeout_ms, &to);
}

int show_dump(const struct show *s)
{
        if (s->json)
                text_add_string(s->out, "{\"version\":1,\"scheduler\":");
        int status = add_status(s);
        for (size_t i = 0; i < sizeof tables / sizeof tables[0] && status == 0; i++) {
                bool comma = false;
                if (s->json)
                        text_print(s->out, ",\"%s\":[", tables[i].key);
                else
                        text_add_char(s->out, '\n');
                status = show_table(s, &tables[i], &comma);
                if (s->json)
                        text_add_char(s->out, ']');
        }
        if (status == 0 && s->json)
                text_add_string(s->out, "}\n");
        show_flush(s);
        return status;
}
