/*
 * Questions about the present: one row for the whole, or pages of workers, clients and tasks.  A
 * cursor is the place in a table to go on from, so a page costs the same wherever it starts, and a
 * table that changes meanwhile may show a row twice or not at all, but never a wrong one.
 */
#include "sched_state.h"

#include <string.h>

enum { QUERY_ROWS_MAX = 256 };

static uint64_t ms_since(const struct sc_sched *s, sc_ns then)
{
        return (uint64_t)((s->now - then) / SC_MS);
}

static void slots_count(const struct sc_sched *s, struct sc_status_row *row)
{
        for (uint32_t i = 0; i < s->worker_at.len; i++) {
                const struct sched_worker *w = sc_sched_worker(s, i);
                if (!w || w->gone)
                        continue;
                row->slots_total += w->slots;
                row->slots_busy += w->assigned < w->slots ? w->assigned : w->slots;
        }
}

void sc_sched_stats(const struct sc_sched *s, sc_ns now, struct sc_status_row *out)
{
        static const char version[] = "0.1.0";
        *out = (struct sc_status_row){
                .epoch               = s->opt.epoch,
                .uptime_ms           = now > s->start ? (uint64_t)((now - s->start) / SC_MS) : 0,
                .clients             = s->client_links,
                .workers             = s->worker_count,
                .admins              = s->admin_links,
                .links               = (uint32_t)s->links.len,
                .tasks_waiting       = s->count[SC_STATE_WAITING] + s->count[SC_STATE_BACKOFF] +
                                       s->count[SC_STATE_JOINED],
                .tasks_ready         = s->count[SC_STATE_READY],
                .tasks_assigned      = s->count[SC_STATE_ASSIGNED] + s->count[SC_STATE_RECALLING] +
                                       s->count[SC_STATE_CANCELLING],
                .tasks_ended_unacked = s->count[SC_STATE_ENDED],
                .orphans             = s->count[SC_STATE_ORPHAN],
                .tasks_submitted     = s->submitted,
                .tasks_done          = s->succeeded,
                .tasks_failed        = s->failed,
                .tasks_cancelled     = s->cancelled,
                .runs_lost           = s->lost,
                .runs_kept           = s->kept,
                .stale_dropped       = s->stale,
                .bytes_used          = s->bytes,
                .bytes_max           = s->opt.bytes_max,
                .tasks_max           = s->opt.tasks_max,
                .tasks_kept          = s->count[SC_STATE_KEPT],
                .version             = { version, sizeof version - 1 },
        };
        slots_count(s, out);
}

static enum sc_public_state public_end(const struct sched_task *t)
{
        if (t->reason == SC_REASON_SUCCESS)
                return SC_PUBLIC_SUCCESS;
        if (t->reason == SC_REASON_CANCELLED)
                return SC_PUBLIC_CANCELED;
        return t->reason == SC_REASON_WORKER_DIED ? SC_PUBLIC_FAILED_WORKER_DIED : SC_PUBLIC_FAILED;
}

static enum sc_public_state public_state(const struct sc_sched *s, const struct sched_task *t)
{
        const struct sched_task *leader = sc_sched_joined_to(s, t);
        t                               = leader ? leader : t;
        enum sc_task_state state        = t->state;
        if (state == SC_STATE_ENDED || state == SC_STATE_KEPT)
                return public_end(t);
        if (!sc_task_is_held(state))
                return SC_PUBLIC_INACTIVE;
        if (sc_sched_worker(s, t->worker)->gone)
                return SC_PUBLIC_WORKER_DISCONNECTING;
        if (state == SC_STATE_CANCELLING)
                return SC_PUBLIC_CANCELING;
        return state == SC_STATE_RECALLING ? SC_PUBLIC_BALANCE_CANCELING : SC_PUBLIC_RUNNING;
}

/* Each of these appends a row if the place `at` has one that `l` may see. */
static bool worker_row(struct sc_sched *s, const struct sched_link *l, uint32_t ticket, uint32_t at, struct sc_out *out)
{
        const struct sched_worker *w = sc_sched_worker(s, at);
        if (!w || w->gone)
                return false;
        sc_out_send(out, l->id, SC_MSG_WORKER_ROW)->worker_row = (struct sc_worker_row){
                .ticket = ticket, .worker = w->id, .name = { w->name, w->name_len }, .slots = w->slots,
                .credit = w->credit, .assigned = w->assigned, .started = w->started.len,
                .functions = w->crew->function_count - 1, .done = w->tally->done, .failed = w->tally->failed,
                .lost = w->tally->lost, .connected_ms = ms_since(s, w->since), .draining = w->draining,
        };
        return true;
}

static bool client_row(struct sc_sched *s, const struct sched_link *l, uint32_t ticket, uint32_t at, struct sc_out *out)
{
        const struct sched_client *c = sc_sched_client(s, at);
        if (!c || (l->role == SC_ROLE_CLIENT && c->id != l->peer))
                return false;
        sc_out_send(out, l->id, SC_MSG_CLIENT_ROW)->client_row = (struct sc_client_row){
                .ticket = ticket, .client = c->id, .name = { c->name, c->name_len },
                .tenant = { c->tenant->name, c->tenant->name_len }, .connected = c->link != 0, .tasks = c->mine.len,
                .grant_tasks = c->grant, .submitted = c->submitted, .connected_ms = ms_since(s, c->since),
        };
        return true;
}

static bool task_row(struct sc_sched *s, const struct sched_link *l, uint32_t ticket, uint32_t at, struct sc_out *out)
{
        const struct sched_task *t = sc_sched_row(s, at);
        if (t->state == SC_STATE_FREE || (l->role == SC_ROLE_CLIENT && t->id.hi != l->peer))
                return false;
        struct sc_task_row *row = &sc_out_send(out, l->id, SC_MSG_TASK_ROW)->task_row;
        *row = (struct sc_task_row){
                .ticket = ticket, .task = t->id, .state = (uint8_t)public_state(s, t), .kind = t->kind,
                .attempt = t->attempt, .losses = t->losses, .age_ms = ms_since(s, t->since), .function = { "", 0 },
        };
        if (sc_task_is_held(t->state))
                row->worker = sc_sched_worker(s, t->worker)->id;
        if (t->lane != SCHED_NONE) {
                const struct sched_function *f = sc_sched_lane(s, t->lane)->class->function;
                row->function                  = (struct sc_view){ f->name, f->name_len };
        }
        return true;
}

static bool row_at(struct sc_sched *s, const struct sched_link *l, const struct sc_query_msg *m, uint32_t at,
                   struct sc_out *out)
{
        if (m->what == SC_QUERY_WORKERS)
                return worker_row(s, l, m->ticket, at, out);
        if (m->what == SC_QUERY_CLIENTS)
                return client_row(s, l, m->ticket, at, out);
        return task_row(s, l, m->ticket, at, out);
}

/* Gives where the next page starts; 0: nowhere. */
static uint64_t page(struct sc_sched *s, const struct sched_link *l, const struct sc_query_msg *m, struct sc_out *out)
{
        const uint32_t length[SC_QUERIES] = {
                [SC_QUERY_WORKERS] = s->worker_at.len,
                [SC_QUERY_CLIENTS] = s->client_at.len,
                [SC_QUERY_TASKS]   = s->made,
        };
        uint32_t end = length[m->what];
        if (m->cursor >= end)
                return 0;
        uint32_t at    = (uint32_t)m->cursor;
        uint32_t found = 0;
        for (; at < end && found < m->rows_max && s->visits < SC_ROWS_MAX; at++, s->visits++)
                found += row_at(s, l, m, at, out);
        return at < end ? at : 0;
}

void sc_sched_on_query(struct sc_sched *s, struct sched_link *l, const struct sc_query_msg *m, struct sc_out *out)
{
        struct sc_query_end end = { .ticket = m->ticket };
        if (m->what == 0 || m->what >= SC_QUERIES || m->rows_max == 0 || m->rows_max > QUERY_ROWS_MAX) {
                end.status = SC_E_INVALID;
        } else if (m->what == SC_QUERY_STATUS) {
                struct sc_status_row *row = &sc_out_send(out, l->id, SC_MSG_STATUS_ROW)->status_row;
                sc_sched_stats(s, s->now, row);
                row->ticket = m->ticket;
        } else {
                end.next = page(s, l, m, out);
        }
        sc_out_send(out, l->id, SC_MSG_QUERY_END)->query_end = end;
}
