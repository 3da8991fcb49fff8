/*
 * Drain.  A worker that is to leave is sent LEAVE and gets nothing more; whoever asked is told when it
 * has gone, and what came of the runs that it had.  A scheduler that stops takes its grants back, asks
 * back what has not begun, waits until all that runs has ended and every result is confirmed, or until
 * it is late, and says goodbye to all: clients keep their tasks and workers what still runs, and both
 * dial on, so that the next scheduler has them again.
 */
#include "sched_drain.h"

#include <string.h>

#include "sc_assert.h"
#include "sched_state.h"

/* ---- who asked ---------------------------------------------------------------------------------*/

void sc_sched_drains_init(struct sc_sched *s)
{
        sc_list_init(&s->stop.asks);
        sc_list_init(&s->stop.answers);
        sc_list_init(&s->stop.told);
        sc_list_init(&s->stop.kept);
        s->stop.late_at = SC_NEVER;
}

static void forget_all(struct sc_sched *s, struct sc_list *list)
{
        for (struct sc_list *at; (at = sc_list_take(list)) != NULL;)
                sc_mem_release(s->mem, SC_CONTAINER(at, struct sched_drain, link), sizeof(struct sched_drain));
}

static void forget_of(struct sc_sched *s, struct sc_list *list, sc_link_id admin)
{
        for (struct sc_list *next, *at = list->next; at != list; at = next) {
                struct sched_drain *d = SC_CONTAINER(at, struct sched_drain, link);
                next                  = at->next;
                if (d->admin != admin)
                        continue;
                sc_list_remove(&d->link);
                sc_mem_release(s->mem, d, sizeof *d);
        }
}

/* Who asked before and asks again when it has gone is told the same. */
static void keep(struct sc_sched *s, struct sched_drain *d)
{
        sc_list_add_tail(&s->stop.kept, &d->link);
        if (s->stop.kept_count++ < SCHED_DRAINS_KEPT)
                return;
        struct sc_list *oldest = sc_list_take(&s->stop.kept);
        sc_mem_release(s->mem, SC_CONTAINER(oldest, struct sched_drain, link), sizeof(struct sched_drain));
        s->stop.kept_count--;
}

void sc_sched_drains_bury(struct sc_sched *s)
{
        for (struct sc_list *at; (at = sc_list_take(&s->stop.told)) != NULL;)
                keep(s, SC_CONTAINER(at, struct sched_drain, link));
}

static const struct sched_drain *kept_of(const struct sc_sched *s, uint64_t worker)
{
        for (struct sc_list *at = s->stop.kept.prev; at != &s->stop.kept; at = at->prev) {
                const struct sched_drain *d = SC_CONTAINER(at, struct sched_drain, link);
                if (d->answer.worker == worker)
                        return d;
        }
        return NULL;
}

void sc_sched_drains_drop(struct sc_sched *s, sc_link_id admin)
{
        for (uint32_t i = 0; i < s->worker_at.len; i++) {
                struct sched_worker *w = sc_sched_worker(s, i);
                if (w && !sc_list_empty(&w->leave.asks))
                        forget_of(s, &w->leave.asks, admin);
        }
        forget_of(s, &s->stop.asks, admin);
        forget_of(s, &s->stop.answers, admin);
}

void sc_sched_drains_fini(struct sc_sched *s)
{
        for (uint32_t i = 0; i < s->worker_at.len; i++) {
                struct sched_worker *w = sc_sched_worker(s, i);
                if (w)
                        forget_all(s, &w->leave.asks);
        }
        forget_all(s, &s->stop.asks);
        forget_all(s, &s->stop.answers);
        forget_all(s, &s->stop.told);
        forget_all(s, &s->stop.kept);
}

static void refuse(const struct sched_link *l, const struct sc_drain *m, int status, struct sc_out *out)
{
        sc_out_send(out, l->id, SC_MSG_DRAINED)->drained =
                (struct sc_drained){ .ticket = m->ticket, .worker = m->worker, .status = status };
}

/* One that asks again waits once: its earlier question is answered by that. */
static void ask_again(struct sc_list *asks, const struct sched_link *l, struct sc_out *out)
{
        for (struct sc_list *at = asks->next; at != asks; at = at->next) {
                struct sched_drain *d = SC_CONTAINER(at, struct sched_drain, link);
                if (d->admin != l->id)
                        continue;
                d->answer.status                                 = SC_E_EXISTS;
                sc_out_send(out, l->id, SC_MSG_DRAINED)->drained = d->answer;
                d->answer.status                                 = 0;
        }
}

/* False: no memory to remember it. */
static bool ask(struct sc_sched *s, struct sc_list *asks, const struct sched_link *l, const struct sc_drain *m,
                struct sc_out *out)
{
        struct sched_drain *d = sc_mem_alloc(s->mem, sizeof *d);
        if (!d)
                return false;
        ask_again(asks, l, out);
        forget_of(s, asks, l->id);
        *d = (struct sched_drain){ .admin = l->id, .answer = { .ticket = m->ticket, .worker = m->worker } };
        sc_list_init(&d->link);
        sc_list_add_tail(asks, &d->link);
        return true;
}

/* ---- a worker ----------------------------------------------------------------------------------*/

void sc_sched_leaves(struct sc_sched *s, struct sched_worker *w)
{
        if (w->draining)
                return;
        w->draining    = true;
        w->leave.since = s->now;
        sc_sched_unreserve(s, w);
        sc_sched_worker_changed(s, w);
}

void sc_sched_leave_count(struct sched_worker *w, enum sched_leave_count what)
{
        w->leave.count[what] += w->draining;
}

static struct sched_worker *worker_of(const struct sc_sched *s, uint64_t id)
{
        const struct sched_link *l = sc_map_get(&s->peers, (struct sc_id){ SC_ROLE_WORKER, id });
        return l ? sc_sched_worker(s, l->index) : NULL;
}

static void drain_worker(struct sc_sched *s, struct sched_link *l, const struct sc_drain *m, struct sc_out *out)
{
        struct sched_worker      *w    = worker_of(s, m->worker);
        const struct sched_drain *kept = w ? NULL : kept_of(s, m->worker);
        if (kept) {
                struct sc_drained *answer = &sc_out_send(out, l->id, SC_MSG_DRAINED)->drained;
                *answer                   = kept->answer;
                answer->ticket            = m->ticket;
        } else if (!w) {
                refuse(l, m, SC_E_NOT_FOUND, out);
        } else if (!w->leaves) {
                refuse(l, m, SC_E_UNSUPPORTED, out);
        } else if (!ask(s, &w->leave.asks, l, m, out)) {
                refuse(l, m, SC_E_NOMEM, out);
        } else {
                sc_sched_leaves(s, w);
                sc_out_send(out, w->link, SC_MSG_LEAVE)->leave.deadline_ms = m->deadline_ms;
        }
}

void sc_sched_on_drain(struct sc_sched *s, struct sched_link *l, const struct sc_drain *m, struct sc_out *out)
{
        if (m->worker != 0)
                drain_worker(s, l, m, out);
        else if (ask(s, &s->stop.asks, l, m, out))
                sc_sched_stop_begin(s, m->deadline_ms);
        else
                refuse(l, m, SC_E_NOMEM, out);
}

static uint64_t ms_since(const struct sc_sched *s, sc_ns then)
{
        return (uint64_t)((s->now - then) / SC_MS);
}

/* Whoever waits for that is told at the end of the step, or of a later one. */
void sc_sched_left(struct sc_sched *s, struct sched_worker *w, bool in_order)
{
        for (struct sc_list *at; (at = sc_list_take(&w->leave.asks)) != NULL;) {
                struct sched_drain *d = SC_CONTAINER(at, struct sched_drain, link);
                struct sc_drained  *a = &d->answer;
                memcpy(d->name, w->name, w->name_len);
                a->name     = (struct sc_view){ d->name, w->name_len };
                a->status   = in_order ? 0 : SC_E_UNREACHABLE;
                a->finished = w->leave.count[SCHED_FINISHED];
                a->returned = w->leave.count[SCHED_RETURNED];
                a->released = w->leave.count[SCHED_RELEASED];
                a->lost     = in_order ? 0 : w->assigned;
                a->took_ms  = ms_since(s, w->leave.since);
                sc_list_add_tail(&s->stop.answers, &d->link);
        }
}

/* ---- the scheduler -----------------------------------------------------------------------------*/

bool sc_sched_is_stopping(const struct sc_sched *s)
{
        return s->stop.phase != SCHED_SERVES;
}

void sc_sched_stop_begin(struct sc_sched *s, uint64_t deadline_ms)
{
        const uint64_t most = SC_NEVER / SC_MS;
        const uint64_t ms   = deadline_ms < most ? deadline_ms : most;
        if (ms > 0)
                s->stop.late_at = sc_ns_min(s->stop.late_at, sc_ns_add(s->now, sc_ns_from_ms((int64_t)ms)));
        if (s->stop.phase != SCHED_SERVES)
                return;
        s->stop.phase = SCHED_DRAINS;
        s->stop.since = s->now;
}

void sc_sched_stop_now(struct sc_sched *s)
{
        sc_sched_stop_begin(s, 0);
        s->stop.late_at = s->now;
}

/* What clients have sent already is taken; they send no more. */
static bool take_grants_back(struct sc_sched *s, struct sc_out *out)
{
        for (; s->stop.client < s->client_at.len; s->stop.client++) {
                const struct sched_client *c = sc_sched_client(s, s->stop.client);
                if (!sc_sched_bulk(s, out))
                        return false;
                if (c && c->link != 0 && !c->doomed)
                        sc_sched_grant_tell(s, c, out);
        }
        return true;
}

static bool ask_back(struct sc_sched *s, struct sched_worker *w, struct sc_out *out)
{
        for (uint32_t at = w->unstarted.head; at != SCHED_NONE; at = sc_sched_row(s, at)->link[SCHED_AT].next) {
                struct sched_task *t = sc_sched_row(s, at);
                if (!sc_sched_bulk(s, out))
                        return false;
                if (t->state == SC_STATE_ASSIGNED)
                        sc_sched_recall(s, t, out);
        }
        return true;
}

static bool ask_all_back(struct sc_sched *s, struct sc_out *out)
{
        for (; s->stop.worker < s->worker_at.len; s->stop.worker++) {
                struct sched_worker *w = sc_sched_worker(s, s->stop.worker);
                if (w && !w->gone && !w->draining && !ask_back(s, w, out))
                        return false;
        }
        return true;
}

static bool is_busy(const struct sc_sched *s)
{
        const uint32_t runs = s->count[SC_STATE_ASSIGNED] + s->count[SC_STATE_RECALLING] +
                              s->count[SC_STATE_CANCELLING];
        return runs + s->count[SC_STATE_ENDED] > 0 || !sc_list_empty(&s->bulks) ||
               !sc_list_empty(&s->todo_workers) || !sc_list_empty(&s->todo_clients) || sc_sched_passes_on(s);
}

static void answer_asks(struct sc_sched *s)
{
        for (struct sc_list *at; (at = sc_list_take(&s->stop.asks)) != NULL;) {
                SC_CONTAINER(at, struct sched_drain, link)->answer.took_ms = ms_since(s, s->stop.since);
                sc_list_add_tail(&s->stop.answers, at);
        }
}

static void drain(struct sc_sched *s, struct sc_out *out)
{
        const bool asked = take_grants_back(s, out) && ask_all_back(s, out);
        if (s->now < s->stop.late_at && (!asked || is_busy(s)))
                return;
        s->stop.phase  = SCHED_PARTS;
        s->stop.client = s->stop.worker = 0;
        answer_asks(s);
}

static void say_goodbye(struct sc_sched *s, sc_link_id link, struct sc_out *out)
{
        static const char  why[] = "the scheduler stops; dial on for the next one";
        struct sched_link *l     = sc_sched_link(s, link);
        if (!l || l->parted)
                return;
        l->parted                           = true;
        sc_out_send(out, link, SC_MSG_BYE)->bye = (struct sc_bye){ SC_E_UNREACHABLE, { why, sizeof why - 1 } };
}

/* Workers and clients; an admin sees its link close. */
static bool part(struct sc_sched *s, struct sc_out *out)
{
        for (; s->stop.client < s->client_at.len; s->stop.client++) {
                const struct sched_client *c = sc_sched_client(s, s->stop.client);
                if (!sc_sched_bulk(s, out))
                        return false;
                if (c)
                        say_goodbye(s, c->link, out);
        }
        for (; s->stop.worker < s->worker_at.len; s->stop.worker++) {
                const struct sched_worker *w = sc_sched_worker(s, s->stop.worker);
                if (!sc_sched_bulk(s, out))
                        return false;
                if (w)
                        say_goodbye(s, w->link, out);
        }
        return true;
}

static void tell(struct sc_sched *s, struct sc_out *out)
{
        while (!sc_list_empty(&s->stop.answers) && sc_sched_bulk(s, out)) {
                struct sched_drain *d = SC_CONTAINER(s->stop.answers.next, struct sched_drain, link);
                sc_list_remove(&d->link);
                sc_list_add_tail(&s->stop.told, &d->link);
                sc_out_send(out, d->admin, SC_MSG_DRAINED)->drained = d->answer;
        }
}

void sc_sched_drains_run(struct sc_sched *s, struct sc_out *out)
{
        if (s->stop.phase == SCHED_DRAINS)
                drain(s, out);
        tell(s, out);
        if (s->stop.phase != SCHED_PARTS || !sc_list_empty(&s->stop.answers) || !part(s, out))
                return;
        s->stop.phase = SCHED_OVER;
        sc_out_add(out, SC_FX_CLOSED);
}

sc_ns sc_sched_stop_deadline(const struct sc_sched *s)
{
        if (s->stop.phase == SCHED_PARTS)
                return s->now;
        return s->stop.phase == SCHED_DRAINS ? s->stop.late_at : SC_NEVER;
}

void sc_sched_drains_check(const struct sc_sched *s)
{
        for (uint32_t i = 0; i < s->worker_at.len; i++) {
                const struct sched_worker *w = sc_sched_worker(s, i);
                if (!w)
                        continue;
                SC_ASSERT(!w->draining || w->reserved == SCHED_NONE);
                SC_ASSERT(!w->draining || w->position == SC_HEAP_NOWHERE);
                SC_ASSERT(sc_list_empty(&w->leave.asks) || (w->draining && !w->gone));
        }
        SC_ASSERT(sc_list_empty(&s->stop.answers) || s->more);
        SC_ASSERT(s->stop.phase != SCHED_DRAINS || s->stop.late_at > s->now || s->more);
}
