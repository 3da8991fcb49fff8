/*
 * Workers: joining with what they still hold, giving up what they had when they go, and what they
 * report.  A report counts only if it names the task's current run and comes from the worker that
 * holds it.  When a worker is lost, only the runs that may have been its end are charged for it.
 */
#include "sched_explain.h"

#include <string.h>

#include "sc_assert.h"

/* ---- runs of a worker --------------------------------------------------------------------------*/

void sc_sched_attach(struct sc_sched *s, struct sched_task *t)
{
        struct sched_worker *w = sc_sched_worker(s, t->worker);
        sc_sched_queue_add(s, &w->unstarted, SCHED_AT, t);
        sc_sched_runs_join(s, w, sc_sched_set_of(s, t), false);
        if (t->client != SCHED_NONE)
                sc_sched_running(s, sc_sched_lane(s, t->lane)->client, true);
        sc_sched_worker_changed(s, w);
}

void sc_sched_detach(struct sc_sched *s, struct sched_task *t)
{
        struct sched_worker *w = sc_sched_worker(s, t->worker);
        sc_sched_unpark(s, t);
        sc_sched_queue_remove(s, t->flags & SCHED_STARTED ? &w->started : &w->unstarted, SCHED_AT, t);
        if (t->flags & SCHED_ALONE)
                w->alone--;
        sc_sched_runs_leave(s, w, sc_sched_set_of(s, t), (t->flags & SCHED_STARTED) != 0);
        if (t->client != SCHED_NONE) {
                sc_sched_settle(s, t, 0);
                sc_sched_running(s, sc_sched_lane(s, t->lane)->client, false);
        }
        t->flags &= (uint16_t)~(SCHED_STARTED | SCHED_ALONE | SCHED_FORCED);
        t->worker      = SCHED_NONE;
        t->last_worker = w->id;
        if (!w->gone)
                sc_sched_worker_gained(s, w);
}

void sc_sched_worker_keeps(struct sc_sched *s, struct sched_worker *w)
{
        SC_ASSERT(!w->gone);
        w->kept++;
        sc_sched_runs_join(s, w, sc_sched_set(s, 0), true);
        sc_sched_worker_changed(s, w);
}

/* It reports on a run that no row has: on a link that is up that is one whose task has ended without it. */
static void kept_answered(struct sc_sched *s, struct sched_worker *w)
{
        if (w->kept == 0)
                return;
        w->kept--;
        sc_sched_runs_leave(s, w, sc_sched_set(s, 0), true);
        sc_sched_worker_gained(s, w);
}

/* Its worker is gone, and nobody will say what came of them. */
static void kept_forget(struct sc_sched *s, struct sched_worker *w)
{
        for (; w->kept > 0; w->kept--)
                sc_sched_runs_leave(s, w, sc_sched_set(s, 0), true);
}

void sc_sched_mark_started(struct sc_sched *s, struct sched_task *t)
{
        struct sched_worker *w = sc_sched_worker(s, t->worker);
        sc_sched_plan_started(s, t);
        if (t->flags & SCHED_STARTED)
                return;
        sc_sched_queue_remove(s, &w->unstarted, SCHED_AT, t);
        sc_sched_queue_add(s, &w->started, SCHED_AT, t);
        sc_sched_runs(w, sc_sched_set_of(s, t)->self)->started++;
        s->balance_due = true; /* perhaps it was not to be the next */
        t->flags |= SCHED_STARTED;
        if (t->state != SC_STATE_CANCELLING)
                t->held_since = s->now;
}

void sc_sched_send_about(struct sc_sched *s, const struct sched_task *t, enum sc_msg_kind kind, struct sc_out *out)
{
        struct sc_msg *m = sc_out_send(out, sc_sched_worker(s, t->worker)->link, kind);
        m->about         = (struct sc_about_run){ .task = sc_sched_work_name(t), .run = t->run };
}

/* ---- join --------------------------------------------------------------------------------------*/

void sc_sched_worker_free(struct sc_sched *s, struct sched_worker *w)
{
        if (w->crew) {
                sc_mem_release(s->mem, w->used, w->crew->offer_count * sizeof *w->used);
                sc_sched_crew_drop(s, w->crew);
        }
        sc_mem_release(s->mem, w->runs, w->runs_cap * sizeof *w->runs);
        sc_mem_release(s->mem, w->holds, w->hold_count * sizeof *w->holds);
        if (w->tally)
                sc_sched_tally_drop(s, w->tally, w->orderly);
        sc_mem_release(s->mem, w, sizeof *w);
}

/* Each set with runs here has one that holds, which the slots bound; what it brings with it may be more. */
static bool runs_make(struct sc_sched *s, struct sched_worker *w, const struct sc_hello *hello)
{
        w->crew = sc_sched_crew_take(s, hello);
        if (!w->crew)
                return false;
        w->used = sc_mem_array(s->mem, w->crew->offer_count, sizeof *w->used);
        w->runs_cap = 1 + hello->slots + hello->hold_count;
        w->runs_base = w->runs_cap;
        w->runs     = sc_mem_array(s->mem, w->runs_cap, sizeof *w->runs);
        if (!w->used || !w->runs)
                return false;
        memset(w->used, 0, w->crew->offer_count * sizeof *w->used);
        w->runs[0]  = (struct sched_runs){ .set = 0 };
        w->runs_len = 1;
        w->there    = 1;
        return true;
}

static bool holds_copy(struct sc_sched *s, struct sched_worker *w, const struct sc_hello *hello)
{
        if (hello->hold_count == 0)
                return true;
        w->holds = sc_mem_array(s->mem, hello->hold_count, sizeof *w->holds);
        if (!w->holds)
                return false;
        memcpy(w->holds, hello->holds, hello->hold_count * sizeof *w->holds);
        w->hold_count = hello->hold_count;
        return true;
}

static uint32_t bounded_credit(uint32_t credit)
{
        return credit < SCHED_CREDIT_MAX ? credit : SCHED_CREDIT_MAX;
}

static struct sched_worker *worker_new(struct sc_sched *s, const struct sc_event *ev)
{
        const struct sc_hello *hello = &ev->msg->hello;
        if (!sc_sched_table_reserve(&s->worker_at, s->mem))
                return NULL;
        struct sched_worker *w = sc_mem_zalloc(s->mem, sizeof *w);
        if (!w)
                return NULL;
        w->tally = sc_sched_tally_take(s, hello->id);
        if (!w->tally || !holds_copy(s, w, hello) || !runs_make(s, w, hello)) {
                sc_sched_worker_free(s, w);
                return NULL;
        }
        w->id       = hello->id;
        w->link     = ev->link;
        w->slots    = hello->slots;
        w->shares   = s->opt.allocate == SC_ALLOCATE_CAPABILITY ? 1 : hello->slots;
        w->credit   = w->credit_most = bounded_credit(ev->tasks);
        w->reserved = SCHED_NONE;
        w->position = SC_HEAP_NOWHERE;
        w->since    = s->now;
        w->leaves   = (hello->features & SC_FEATURE_LEAVE) != 0;
        w->name_len = (uint8_t)hello->name.len;
        if (hello->name.len > 0)
                memcpy(w->name, hello->name.ptr, hello->name.len);
        sc_sched_queue_init(&w->started);
        sc_sched_queue_init(&w->unstarted);
        sc_list_init(&w->todo);
        sc_list_init(&w->touch);
        sc_list_init(&w->leave.asks);
        return w;
}

bool sc_sched_worker_up(struct sc_sched *s, struct sched_link *l, const struct sc_event *ev, struct sc_out *out)
{
        struct sched_worker *w = worker_new(s, ev);
        if (!w)
                return false;
        w->serial  = ++s->worker_serial;
        w->self    = sc_sched_table_put(&s->worker_at, w);
        w->joining = true;
        l->index   = w->self;
        s->worker_count++;
        sc_sched_crew_live(s, w->crew, true);
        sc_list_add_tail(&s->todo_workers, &w->todo);
        sc_sched_welcome(s, l, 0, out);
        sc_sched_drain_again(s, w, out);
        return true;
}

void sc_sched_worker_grant(struct sc_sched *s, struct sched_worker *w, uint32_t credit)
{
        w->credit = bounded_credit(credit);
        if (w->credit_most < w->credit)
                w->credit_most = w->credit;
        if (w->credit == 0)
                sc_sched_unreserve(s, w);
        sc_sched_worker_gained(s, w);
}

/* ---- KEEP and DROP -----------------------------------------------------------------------------*/

static void answer(struct sc_sched *s, const struct sched_worker *w, const struct sc_hold *h, enum sc_msg_kind kind,
                   uint64_t run, struct sc_out *out)
{
        struct sc_msg *m = sc_out_send(out, w->link, kind);
        m->about = (struct sc_about_run){ .task = h->task, .run = run, .held_epoch = h->epoch, .held_run = h->run };
        if (kind == SC_MSG_KEEP)
                s->kept++;
}

/* Whether the row, if there is one, already is this very hold. */
static bool is_this(const struct sc_sched *s, const struct sched_worker *w, const struct sched_task *t,
                    const struct sc_hold *h)
{
        uint64_t epoch = t->state == SC_STATE_ORPHAN ? t->order : s->opt.epoch;
        return t->worker == w->self && t->run == h->run && epoch == h->epoch;
}

static bool orphan_add(struct sc_sched *s, struct sched_worker *w, const struct sc_hold *h)
{
        bool room = s->grant_sum + s->count[SC_STATE_ORPHAN] < s->opt.tasks_max;
        if (h->epoch == s->opt.epoch || sc_id_is_nil(h->task) || !room)
                return false;
        struct sched_task *t = sc_sched_row_new(s, h->task);
        if (!t)
                return false;
        t->run    = h->run;
        t->order  = h->epoch;
        t->since  = s->now;
        t->worker = w->self;
        sc_sched_move(s, t, SC_MOVE_HOLD);
        if (h->flags & SC_HOLD_RUNNING)
                sc_sched_mark_started(s, t);
        if ((h->flags & SC_HOLD_RUNNING) && (h->flags & SC_HOLD_WAITING))
                sc_sched_park(s, t);
        return true;
}

static bool is_capped(const struct sc_sched *s, const struct sched_task *t)
{
        const struct sched_client *c = sc_sched_lane(s, t->lane)->client;
        return sc_sched_share_capped(&c->share) || sc_sched_share_capped(&c->tenant->share);
}

/* The task waits for a worker, and here is one that has been at it all along.  A task that has its last
 * chance must have it alone, which a run among others is not. */
static bool keep(struct sc_sched *s, struct sched_worker *w, struct sched_task *t, const struct sc_hold *h)
{
        bool same = h->epoch == s->opt.epoch && h->run == t->run;
        bool undo = same && (t->flags & SCHED_CHARGED);
        if (same && (t->flags & SCHED_ANSWERED))
                return false; /* its DONE was counted; only the worker was never told so */
        if (!same && t->run != 0 && h->epoch == s->opt.epoch && (h->flags & SC_HOLD_DONE))
                return false; /* so may that one's have been */
        if (!undo && sc_sched_is_last_chance(s, t))
                return false;
        if (!(h->flags & (SC_HOLD_RUNNING | SC_HOLD_DONE)) && is_capped(s, t))
                return false; /* not begun, and others of its owner run in its stead */
        if (undo)
                t->losses--;
        if (same)
                sc_sched_attempt_undo(s, t);
        else
                t->run = ++s->runs;
        if (t->attempt == 0 || (same && !undo))
                t->attempt++; /* its loss took it off */
        t->flags &= (uint16_t)~(SCHED_CHARGED | SCHED_ANSWERED);
        t->worker     = w->self;
        t->charged_us = 0;
        sc_sched_move(s, t, SC_MOVE_KEEP);
        if (h->flags & SC_HOLD_RUNNING)
                sc_sched_mark_started(s, t);
        if ((h->flags & SC_HOLD_RUNNING) && (h->flags & SC_HOLD_WAITING))
                sc_sched_park(s, t);
        return true;
}

static void hold_answer(struct sc_sched *s, struct sched_worker *w, const struct sc_hold *h, struct sc_out *out)
{
        struct sched_task *t = sc_sched_work(s, h->task);
        if (!t && !sc_sched_find(s, h->task) && !sc_sched_work_is_over(s, h->task) && orphan_add(s, w, h))
                return;
        if (t && is_this(s, w, t, h))
                return;
        bool waits = t && t->kind != SC_TASK_GRAPH && (t->state == SC_STATE_READY || t->state == SC_STATE_BACKOFF ||
                                                       t->state == SC_STATE_WAITING);
        if (waits && keep(s, w, t, h))
                answer(s, w, h, SC_MSG_KEEP, t->run, out);
        else
                answer(s, w, h, SC_MSG_DROP, h->run, out);
}

void sc_sched_orphan_drop(struct sc_sched *s, struct sched_task *t, struct sc_out *out)
{
        const struct sched_worker *w = sc_sched_worker(s, t->worker);
        const struct sc_hold       h = { .task = t->id, .epoch = t->order, .run = t->run };
        if (!w->gone)
                answer(s, w, &h, SC_MSG_DROP, h.run, out);
        sc_sched_move(s, t, SC_MOVE_EXPIRE);
}

void sc_sched_orphans_expire(struct sc_sched *s, struct sc_out *out)
{
        while (s->orphans.head != SCHED_NONE) {
                struct sched_task *t = sc_sched_row(s, s->orphans.head);
                if (sc_ns_add(t->since, s->opt.client_grace) > s->now || !sc_sched_bulk(s, out))
                        return;
                sc_sched_orphan_drop(s, t, out);
        }
}

/* ---- loss --------------------------------------------------------------------------------------*/

static void end_died(struct sc_sched *s, struct sched_task *t, const struct sched_worker *w, struct sc_out *out)
{
        char              words[SC_TEXT_MAX];
        struct sched_text text = { .at = words, .max = sizeof words };
        sc_sched_text_number(&text, t->losses);
        sc_sched_text(&text, " of ");
        sc_sched_text_number(&text, s->opt.losses_max);
        sc_sched_text(&text, " runs lost their worker; last: ");
        sc_sched_text_name(&text, w->name, w->name_len);
        struct sched_text line;
        if (sc_sched_note(s, out, t->id, &line)) {
                sc_sched_text(&line, "task ends: ");
                sc_sched_text_name(&line, words, text.len);
        }
        struct sc_outcome outcome = { .reason = SC_REASON_WORKER_DIED, .text = { words, text.len } };
        sc_sched_end(s, t, SC_MOVE_LOSE_LAST, &outcome, out);
}

static const char worker_lost[]  = "the worker was lost";
static const char worker_left[]  = "the worker left, which does not count";
static const char worker_freed[] = "the worker was let go for want of memory, which does not count";

static void remember(struct sc_sched *s, struct sched_task *t, const char *words)
{
        struct sc_outcome outcome = { .reason = SC_REASON_WORKER_DIED, .text = { words, strlen(words) } };
        sc_sched_attempt_add(s, t, &outcome);
}

static void lose(struct sc_sched *s, struct sched_worker *w, struct sched_task *t, bool suspect, struct sc_out *out)
{
        bool charged = suspect && !w->orderly && t->state == SC_STATE_ASSIGNED &&
                       (t->waits == SCHED_AWAKE || sc_sched_is_blamed(s, t));
        if (t->state == SC_STATE_CANCELLING) {
                sc_sched_end_cancelled(s, t, SC_MOVE_LOSE, out);
                return;
        }
        const bool last = charged && t->losses + 1u >= s->opt.losses_max;
        if (!last && t->state != SC_STATE_ORPHAN && (charged || (t->flags & SCHED_STARTED)))
                remember(s, t, charged ? worker_lost : w->orderly ? worker_left : worker_freed);
        if (charged) {
                t->flags |= SCHED_CHARGED;
                t->losses++;
                sc_sched_plan_tried(s, t);
                w->tally->lost++;
                s->lost++;
        } else {
                t->attempt--; /* as if it had not been tried: attempts are runs made */
        }
        if (last)
                end_died(s, t, w, out);
        else
                sc_sched_move(s, t, SC_MOVE_LOSE);
}

/* The rest goes back newest first: each then comes before all that are in the heap already. */
static void lose_some(struct sc_sched *s, struct sched_worker *w, struct sc_out *out)
{
        while (w->started.head != SCHED_NONE && sc_sched_bulk(s, out))
                lose(s, w, sc_sched_row(s, w->started.head), !w->spared, out);
        while (w->unstarted.head != SCHED_NONE && sc_sched_bulk(s, out)) {
                bool     suspect = w->suspects > 0;
                uint32_t row     = suspect ? w->unstarted.head : w->unstarted.tail;
                w->suspects -= suspect;
                lose(s, w, sc_sched_row(s, row), suspect, out);
        }
}

static void note_down(struct sc_sched *s, const struct sched_worker *w, const char *how, struct sc_out *out)
{
        struct sched_text line;
        if (w->assigned + w->waiting == 0 || !sc_sched_note(s, out, (struct sc_id){ w->id, 0 }, &line))
                return;
        sc_sched_text(&line, "worker ");
        sc_sched_text_name(&line, w->name, w->name_len);
        sc_sched_text(&line, how);
        sc_sched_text_number(&line, w->assigned + w->waiting);
        sc_sched_text(&line, " runs");
}

void sc_sched_worker_down(struct sc_sched *s, struct sched_worker *w, enum sched_parting how, struct sc_out *out)
{
        if (how != SCHED_LEFT)
                note_down(s, w, how == SCHED_LOST ? " lost with " : " let go for want of memory, with ", out);
        sc_sched_unreserve(s, w);
        sc_sched_left(s, w, how == SCHED_LEFT);
        kept_forget(s, w);
        w->gone    = true;
        w->orderly = how == SCHED_LEFT;
        w->spared  = how == SCHED_SPARED;
        w->link    = 0;
        const uint32_t awake = w->started.len - w->waiting;
        if (how == SCHED_LOST && w->slots > awake)
                w->suspects = w->slots - awake;
        if (how == SCHED_LOST)
                sc_sched_blame(s, w);
        s->excess -= w->assigned - w->held;
        sc_sched_worker_leaves_room(s, w);
        sc_list_remove(&w->touch);
        sc_sched_crew_live(s, w->crew, false);
        s->worker_count--;
        sc_sched_families_inspect(s);
        if (sc_list_empty(&w->todo))
                sc_list_add_tail(&s->todo_workers, &w->todo);
}

/* True: nothing is left to do for it. */
static bool todo_one(struct sc_sched *s, struct sched_worker *w, struct sc_out *out)
{
        if (w->gone) {
                lose_some(s, w, out);
                return w->started.len + w->unstarted.len == 0;
        }
        while (w->hold_next < w->hold_count && sc_sched_bulk(s, out))
                hold_answer(s, w, &w->holds[w->hold_next++], out);
        return w->hold_next == w->hold_count;
}

/* In the order of their coming, so that what an older link held is free before a newer one claims it. */
void sc_sched_workers_todo(struct sc_sched *s, struct sc_out *out)
{
        while (!sc_list_empty(&s->todo_workers)) {
                struct sched_worker *w = SC_CONTAINER(s->todo_workers.next, struct sched_worker, todo);
                if (!todo_one(s, w, out))
                        return;
                sc_list_remove(&w->todo);
                if (w->gone) {
                        sc_sched_table_drop(&s->worker_at, w->self);
                        sc_list_add_tail(&s->dead_workers, &w->todo);
                        continue;
                }
                sc_mem_release(s->mem, w->holds, w->hold_count * sizeof *w->holds);
                w->holds      = NULL;
                w->hold_count = w->hold_next = 0;
                w->joining    = false;
                sc_sched_worker_gained(s, w);
        }
}

/* ---- reports -----------------------------------------------------------------------------------*/

struct sched_task *sc_sched_held(struct sc_sched *s, const struct sched_worker *w, struct sc_id id, uint64_t run)
{
        struct sched_task *t = sc_sched_work(s, id);
        if (t && t->state != SC_STATE_ORPHAN && sc_task_is_held(t->state) && t->worker == w->self && t->run == run)
                return t;
        s->stale++;
        return NULL;
}

void sc_sched_on_started(struct sc_sched *s, struct sched_worker *w, const struct sc_about_run *m)
{
        struct sched_task *t = sc_sched_held(s, w, m->task, m->run);
        if (!t)
                return;
        sc_sched_move(s, t, SC_MOVE_START);
        sc_sched_mark_started(s, t);
}

void sc_sched_on_returned(struct sc_sched *s, struct sched_worker *w, const struct sc_about_run *m, struct sc_out *out)
{
        struct sched_task *t = sc_sched_held(s, w, m->task, m->run);
        if (!t) {
                kept_answered(s, w);
                return;
        }
        sc_sched_leave_count(w, m->released ? SCHED_RELEASED : SCHED_RETURNED);
        if (m->released)
                sc_sched_plan_started(s, t);
        if (t->state == SC_STATE_CANCELLING) {
                sc_sched_end_cancelled(s, t, SC_MOVE_RETURN, out);
                return;
        }
        if (m->released)
                remember(s, t, worker_left);
        t->attempt--; /* it was never made, or its worker left without it, which is not to be the task's loss */
        sc_sched_move(s, t, SC_MOVE_RETURN);
        sc_sched_nest_back(s, t, out);
}

static bool is_outcome(const struct sc_outcome *o)
{
        return o->reason < SC_REASONS && o->how < SC_HOWS && o->text.len <= SC_TEXT_MAX &&
               o->result.len <= SC_RESULT_MAX && o->errors.len <= SC_RESULT_MAX;
}

/* The worker says how long it took, but that cannot be longer than the task is here. */
static void measure(struct sc_sched *s, struct sched_task *t, uint64_t wall_us)
{
        const sc_ns most = s->now - t->since > SC_US ? s->now - t->since : SC_US;
        const sc_ns all  = wall_us < (uint64_t)(most / SC_US) ? (sc_ns)wall_us * SC_US : most;
        const sc_ns rest = sc_sched_waited(s, t), took = all > rest ? all - rest : SC_US; /* that is no slot-time */
        sc_sched_measured(s, sc_sched_lane(s, t->lane)->class->function, sc_ns_max(took, SC_US));
        sc_sched_settle(s, t, sc_ns_max(took, SC_US));
}

/* By those who are not late; but a failure of what was being stopped is nobody's. */
static bool is_wanted_still(const struct sched_task *t, bool success)
{
        return sc_sched_has_others(t) && (success || t->state != SC_STATE_CANCELLING);
}

void sc_sched_on_done(struct sc_sched *s, struct sched_link *l, const struct sc_done *m, struct sc_out *out)
{
        struct sched_worker *w = sc_sched_worker(s, l->index);
        if (!is_outcome(&m->outcome)) {
                sc_sched_nonsense(s, l, SC_E_PROTOCOL, "an outcome out of bounds", out);
                return;
        }
        struct sched_task *t = sc_sched_held(s, w, m->task, m->run);
        if (!t) {
                kept_answered(s, w);
                return;
        }
        if (!sc_sched_outcome_fits(s, t, &m->outcome)) {
                sc_sched_close(s, l, SC_E_NOMEM, "the scheduler has no memory for a result just now", out);
                return; /* the worker keeps it and says it again */
        }
        measure(s, t, m->outcome.wall_us);
        struct sc_outcome outcome = m->outcome;
        bool              success = outcome.reason == SC_REASON_SUCCESS;
        w->tally->done += success;
        w->tally->failed += !success;
        sc_sched_leave_count(w, SCHED_FINISHED);
        if (sc_sched_overdue(s, t) && !is_wanted_still(t, success)) {
                sc_sched_end_overdue(s, t, SC_MOVE_FINISH, out);
                return;
        }
        if (!success && t->state == SC_STATE_CANCELLING)
                outcome.reason = SC_REASON_CANCELLED;
        else if (outcome.reason == SC_REASON_CANCELLED && (t->flags & SCHED_FORCED))
                outcome.reason = SC_REASON_RUN_TIMEOUT; /* our own backstop stopped it */
        else if (outcome.reason == SC_REASON_CANCELLED) {
                t->attempt--;
                sc_sched_move(s, t, SC_MOVE_RETURN); /* stopped for a task of that id that is gone, and kept */
                return;
        }
        if (t->state != SC_STATE_CANCELLING && sc_sched_plan_retries(t, &outcome)) {
                sc_sched_attempt_add(s, t, &outcome);
                t->retries--;
                t->flags |= SCHED_ANSWERED;
                sc_sched_move(s, t, sc_sched_plan_retry(s, t));
                return;
        }
        sc_sched_end(s, t, SC_MOVE_FINISH, &outcome, out);
}
