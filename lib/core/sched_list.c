/*
 * Lists of tasks by what they are.  Those of one client are in the order of their submission, forwards
 * or backwards; those of all in the order of the table.  Each page looks at so many rows and no more,
 * and says where the next one goes on, so a page may be empty and not the last.
 */
#include "sched_explain.h"

#include <string.h>

/* ---- which -------------------------------------------------------------------------------------*/

static bool is_state(const struct sc_sched *s, const struct sc_query_msg *m, const struct sched_task *t)
{
        if (m->states == 0 && m->stages == 0)
                return true;
        return (m->stages >> t->state & 1) || (m->states >> sc_sched_public_state(s, t) & 1);
}

static bool is_wanted(const struct sc_sched *s, const struct sc_query_msg *m, const struct sched_task *t)
{
        if (t->state == SC_STATE_FREE || t->id.lo < m->first || (m->last != 0 && t->id.lo > m->last))
                return false;
        if ((m->client != 0 && t->id.hi != m->client) || !is_state(s, m, t))
                return false;
        if (m->tag.len == 0)
                return true;
        const struct sc_view tag = sc_sched_plan_tag(t);
        return tag.len == m->tag.len && memcmp(tag.ptr, m->tag.ptr, tag.len) == 0;
}

static void tell(const struct sc_sched *s, const struct sched_link *l, const struct sc_query_msg *m,
                 const struct sched_task *t, struct sched_text *room, struct sc_out *out)
{
        struct sc_task_row *row = &sc_out_send(out, l->id, SC_MSG_TASK_ROW)->task_row;
        const struct sc_view tag = sc_sched_plan_tag(t);
        *row = (struct sc_task_row){
                .ticket = m->ticket, .task = t->id, .state = (uint8_t)sc_sched_public_state(s, t), .kind = t->kind,
                .attempt = t->attempt, .losses = t->losses, .age_ms = (uint64_t)((s->now - t->since) / SC_MS),
                .stage = t->state, .function = { "", 0 },
        };
        row->tag = sc_sched_say(room, tag.ptr, tag.len);
        if (sc_task_is_held(t->state))
                row->worker = sc_sched_worker(s, t->worker)->id;
        if (t->lane == SCHED_NONE)
                return;
        const struct sched_function *f = sc_sched_lane(s, t->lane)->class->function;
        row->function                  = sc_sched_say(room, f->name, f->name_len);
}

/* ---- one client's ------------------------------------------------------------------------------*/

/* A cursor of such a list names a row, and by half of its sequence the task that was in it. */
static uint64_t cursor_at(const struct sched_task *t)
{
        return ((uint64_t)t->self + 1) << 32 | (uint32_t)t->id.lo;
}

static uint32_t step_on(const struct sched_task *t, bool newest)
{
        return newest ? t->link[SCHED_MINE].prev : t->link[SCHED_MINE].next;
}

/* Where to go on: at that row, or at what comes after it when it is gone. */
static uint32_t resume(struct sc_sched *s, const struct sched_client *c, const struct sc_query_msg *m)
{
        uint32_t       at   = m->newest ? c->mine.tail : c->mine.head;
        const uint32_t row  = (uint32_t)(m->cursor >> 32) - 1;
        const uint32_t mark = (uint32_t)m->cursor;
        if (m->cursor == 0)
                return at;
        if (row < s->made) {
                const struct sched_task *t = sc_sched_row(s, row);
                if (t->state != SC_STATE_FREE && t->client == c->self && (uint32_t)t->id.lo == mark)
                        return row;
        }
        while (at != SCHED_NONE && s->visits < SC_ROWS_MAX) {
                const struct sched_task *t     = sc_sched_row(s, at);
                const int32_t            ahead = (int32_t)((uint32_t)t->id.lo - mark);
                if (m->newest ? ahead < 0 : ahead > 0)
                        return at;
                at = step_on(t, m->newest);
                s->visits++;
        }
        return at;
}

static uint64_t list_own(struct sc_sched *s, const struct sched_client *c, const struct sched_link *l,
                         const struct sc_query_msg *m, struct sched_text *room, struct sc_out *out)
{
        uint32_t at    = resume(s, c, m);
        uint32_t found = 0;
        for (; at != SCHED_NONE && found < m->rows_max && s->visits < SC_ROWS_MAX; s->visits++) {
                const struct sched_task *t = sc_sched_row(s, at);
                if (is_wanted(s, m, t)) {
                        tell(s, l, m, t, room, out);
                        found++;
                }
                at = step_on(t, m->newest);
        }
        return at != SCHED_NONE ? cursor_at(sc_sched_row(s, at)) : 0;
}

/* ---- everybody's -------------------------------------------------------------------------------*/

static uint64_t list_all(struct sc_sched *s, const struct sched_link *l, const struct sc_query_msg *m,
                         struct sched_text *room, struct sc_out *out)
{
        if (m->cursor >= s->made)
                return 0;
        uint32_t at    = (uint32_t)m->cursor;
        uint32_t found = 0;
        for (; at < s->made && found < m->rows_max && s->visits < SC_ROWS_MAX; at++, s->visits++) {
                const struct sched_task *t = sc_sched_row(s, at);
                if (!is_wanted(s, m, t))
                        continue;
                tell(s, l, m, t, room, out);
                found++;
        }
        return at < s->made ? at : 0;
}

uint64_t sc_sched_list(struct sc_sched *s, const struct sched_link *l, const struct sc_query_msg *m,
                       struct sched_text *room, struct sc_out *out)
{
        const struct sched_client *c = NULL;
        if (m->client != 0)
                c = sc_map_get(&s->clients, (struct sc_id){ 0, m->client });
        return c ? list_own(s, c, l, m, room, out) : list_all(s, l, m, room, out);
}

struct sched_task *sc_sched_newest(const struct sc_sched *s, uint64_t client)
{
        struct sched_task *best = NULL;
        for (uint32_t i = 0; i < s->client_at.len; i++) {
                const struct sched_client *c = sc_sched_client(s, i);
                if (!c || c->mine.tail == SCHED_NONE || (client != 0 && c->id != client))
                        continue;
                struct sched_task *t = sc_sched_row(s, c->mine.tail);
                if (!best || t->since > best->since ||
                    (t->since == best->since && sc_sched_counter(t->order) > sc_sched_counter(best->order)))
                        best = t;
        }
        return best;
}
