/*
 * Cancels of one task.  Who asks for a cancel that cannot be answered at once is
 * remembered with the row, and is told exactly once per request how it went; who has lost its link
 * meanwhile asks again on the next one.
 */
#include "sched_state.h"

#include "sc_assert.h"

/* ---- who asked ---------------------------------------------------------------------------------*/

static bool asks_reserve(struct sc_sched *s)
{
        if (s->ask_free != SCHED_NONE)
                return true;
        uint32_t          cap = s->ask_cap > 0 ? s->ask_cap * 2 : 64;
        struct sched_ask *ask = sc_mem_resize(s->mem, s->ask, s->ask_cap * sizeof *ask, cap * sizeof *ask);
        if (!ask)
                return false;
        for (uint32_t i = cap; i-- > s->ask_cap;) {
                ask[i]      = (struct sched_ask){ .next = s->ask_free };
                s->ask_free = i;
        }
        s->ask     = ask;
        s->ask_cap = cap;
        return true;
}

static struct sched_ask *ask_of(struct sc_sched *s, const struct sched_task *t, sc_link_id link, uint32_t *askers)
{
        *askers = 0;
        for (uint32_t at = t->asks; at != SCHED_NONE; at = s->ask[at].next) {
                if (s->ask[at].link == link)
                        return &s->ask[at];
                ++*askers;
        }
        return NULL;
}

static void ask_free(struct sc_sched *s, struct sched_task *t)
{
        uint32_t at     = t->asks;
        t->asks         = s->ask[at].next;
        s->ask[at].next = s->ask_free;
        s->ask_free     = at;
}

/* Those whose link is gone make room; links are never reused, so nobody is mistaken for them. */
static void asks_prune(struct sc_sched *s, struct sched_task *t)
{
        uint32_t *at = &t->asks;
        while (*at != SCHED_NONE) {
                uint32_t gone = *at;
                if (sc_sched_link(s, s->ask[gone].link)) {
                        at = &s->ask[gone].next;
                        continue;
                }
                *at               = s->ask[gone].next;
                s->ask[gone].next = s->ask_free;
                s->ask_free       = gone;
        }
}

/* False: the asker is closed. */
static bool remember(struct sc_sched *s, struct sched_task *t, struct sched_link *l, struct sc_out *out)
{
        uint32_t          askers;
        struct sched_ask *ask = ask_of(s, t, l->id, &askers);
        if (ask && ask->count >= SCHED_ASKS_MAX) {
                sc_sched_nonsense(s, l, SC_E_PROTOCOL, "the same cancel over and over", out);
                return false;
        }
        if (ask) {
                ask->count++;
                return true;
        }
        asks_prune(s, t);
        ask_of(s, t, l->id, &askers);
        if (askers >= SCHED_ASKERS_MAX || !asks_reserve(s)) {
                sc_sched_close(s, l, askers >= SCHED_ASKERS_MAX ? SC_E_FULL : SC_E_NOMEM,
                               "no room to remember who asked for a cancel", out);
                return false;
        }
        uint32_t fresh = s->ask_free;
        s->ask_free    = s->ask[fresh].next;
        s->ask[fresh]  = (struct sched_ask){ .link = l->id, .next = t->asks, .count = 1 };
        t->asks        = fresh;
        return true;
}

static void confirm(struct sc_out *out, sc_link_id link, struct sc_id task, enum sc_cancelled outcome)
{
        struct sc_msg *m = sc_out_send(out, link, SC_MSG_CONFIRM);
        m->confirm       = (struct sc_confirm){ .task = task, .outcome = (uint8_t)outcome };
}

void sc_sched_confirm_all(struct sc_sched *s, struct sched_task *t, enum sc_cancelled outcome, struct sc_out *out)
{
        while (t->asks != SCHED_NONE) {
                struct sched_ask ask = s->ask[t->asks];
                for (uint32_t i = 0; i < ask.count && sc_sched_link(s, ask.link); i++)
                        confirm(out, ask.link, t->id, outcome);
                ask_free(s, t);
        }
}

/* ---- cancel ------------------------------------------------------------------------------------*/

void sc_sched_stop_send(struct sc_sched *s, struct sched_task *t, bool force, struct sc_out *out)
{
        struct sc_msg *m = sc_out_send(out, sc_sched_worker(s, t->worker)->link, SC_MSG_STOP);
        m->about         = (struct sc_about_run){ .task = sc_sched_work_name(t), .run = t->run, .force = force };
        if (force)
                t->flags |= SCHED_FORCED;
}

void sc_sched_stop(struct sc_sched *s, struct sched_task *t, bool force, struct sc_out *out)
{
        bool first = t->state != SC_STATE_CANCELLING;
        sc_sched_move(s, t, SC_MOVE_CANCEL);
        if (t->child != SCHED_NONE)
                sc_sched_family_stop(s, t, force);
        if (sc_sched_worker(s, t->worker)->gone)
                return; /* it is on the list of what its worker loses, and ends there */
        if (first || (force && !(t->flags & SCHED_FORCED)))
                sc_sched_stop_send(s, t, force, out);
}

void sc_sched_on_cancel(struct sc_sched *s, struct sched_link *l, const struct sc_cancel *m, struct sc_out *out)
{
        if (l->role == SC_ROLE_CLIENT && m->task.hi != l->peer) {
                sc_sched_nonsense(s, l, SC_E_DENIED, "a cancel of somebody else's task", out);
                return;
        }
        struct sched_task *t = sc_sched_find(s, m->task);
        if (!t || t->state == SC_STATE_ENDED || t->state == SC_STATE_KEPT || t->state == SC_STATE_ORPHAN) {
                confirm(out, l->id, m->task, SC_CANCEL_NOT_FOUND);
                return;
        }
        (void)sc_sched_part(s, t);
        if (sc_task_is_held(t->state)) {
                if (remember(s, t, l, out))
                        sc_sched_stop(s, t, m->force, out);
                return;
        }
        if (t->kind == SC_TASK_GRAPH) {
                if (remember(s, t, l, out))
                        sc_sched_graph_cancel(s, t, m->force, true);
                return;
        }
        struct sc_id task = t->id;
        sc_sched_end_cancelled(s, t, SC_MOVE_CANCEL, out);
        confirm(out, l->id, task, SC_CANCEL_CANCELED);
}
