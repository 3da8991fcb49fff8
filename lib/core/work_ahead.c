/*
 * Slots, and what is offered ahead of them.  A run that is longer than telling of it is started when a slot
 * is free for it.  When runs are shorter than that, the next ones are told to the shell beforehand, which begins the
 * oldest of them when one ends, without asking.  Until then such a run is the worker's: it is not reported, not
 * charged, and taken back when it is recalled or stopped, or when the link is lost or the worker leaves.
 *
 * Commands are never offered, and nothing is while one has a slot: they are not run by slot threads.  Nor is what
 * names its needs, and nothing while such a run has a slot: then a free slot does not mean that a cpu is free.
 */
#include "work_own.h"

#include "sc_assert.h"

/* What one run that has begun may append: a RUN or a STOP, a STARTED, a PARK, and a WAITING. */
#define BEGUN_ROOM 4

/* What is always left for the rest of a step when all that is offered is asked back. */
#define ASK_ROOM 64

static void begin(struct sc_work *w, struct sc_run *run)
{
        run->started = w->now;
        if (run->timeout_ms > 0) {
                const int64_t most = SC_NEVER / SC_MS;
                run->limit_at      = sc_ns_add(
                        w->now, sc_ns_from_ms(run->timeout_ms < (uint64_t)most ? (int64_t)run->timeout_ms : most));
        }
        sc_run_move(w, run, SC_RUN_START);
        if (!run->held)
                sc_list_add_tail(&w->report, &run->report);
}

static void tell(const struct sc_run *run, const struct sc_spec *spec, struct sc_out *out)
{
        struct sc_effect *effect = sc_out_add(out, SC_FX_RUN);
        effect->run              = run->handle;
        effect->msg.kind         = SC_MSG_ASSIGN;
        effect->msg.assign       = (struct sc_assign){
                .task = run->task, .run = run->handle, .attempt = run->attempt, .spec = *spec
        };
        if (!spec->plan || spec->plan->results.count == 0)
                effect->msg.assign.spec.plan = run->share ? &run->share->plan : NULL;
}

void sc_run_start(struct sc_work *w, struct sc_run *run, const struct sc_spec *spec, struct sc_out *out)
{
        begin(w, run);
        tell(run, spec, out);
}

static struct sc_run *first_of(struct sc_work *w, enum sc_run_state state)
{
        return sc_list_empty(&w->list[state]) ? NULL : SC_CONTAINER(w->list[state].next, struct sc_run, link);
}

/* What was wanted of it before it was known to have begun. */
static void catch_up(struct sc_work *w, struct sc_run *run, struct sc_out *out)
{
        const uint8_t wanted   = run->wanted;
        const bool    recalled = run->recalled;
        run->wanted            = 0;
        run->recalled          = false;
        if (recalled)
                sc_run_report(w, run, out);
        if (wanted != 0)
                sc_run_stop(w, run, wanted == SC_STOP_KILL, out);
}

void sc_work_begun(struct sc_work *w, struct sc_out *out)
{
        struct sc_run *run;
        if (w->asked_back)
                return;
        while (sc_work_busy(w) < w->slots && sc_work_room(out) > BEGUN_ROOM &&
               (run = first_of(w, SC_RUN_OFFERED)) != NULL) {
                begin(w, run);
                catch_up(w, run, out);
                if (run->waits)
                        sc_run_park(w, run, out);
        }
}

bool sc_work_brisk(const struct sc_work *w)
{
        return w->streak == SC_RUN_STREAK && w->commands == 0;
}

/* How many may be offered: so much work that telling is cheap beside it, none unless all have been short of late. */
static uint32_t most_offered(const struct sc_work *w)
{
        if (!sc_work_brisk(w) || !sc_work_cpu_to_spare(w) || w->link == 0 || w->asked_back || w->waiting > 0)
                return 0;
        const sc_ns each = w->mean > 0 ? w->mean : 1;
        const sc_ns runs = SC_RUN_OFFERED_WORK * w->slots / each;
        return runs > SC_OFFERED_MAX ? SC_OFFERED_MAX : (uint32_t)runs;
}

static void offer(struct sc_work *w, struct sc_out *out)
{
        const uint32_t most = most_offered(w);
        struct sc_run *run;
        while (w->count[SC_RUN_OFFERED] < most && sc_work_room(out) > BEGUN_ROOM &&
               (run = first_of(w, SC_RUN_QUEUED)) != NULL && !run->share && !run->command && !run->streams) {
                sc_run_move(w, run, SC_RUN_OFFER);
                tell(run, &run->spec->spec, out);
        }
}

void sc_work_fill(struct sc_work *w, struct sc_out *out)
{
        struct sc_run *run;
        sc_work_begun(w, out);
        sc_work_resume(w, out);
        while (w->count[SC_RUN_OFFERED] == 0 && sc_work_busy(w) < w->slots && sc_work_room(out) > BEGUN_ROOM &&
               sc_list_empty(&w->ripe) && (run = sc_work_next(w)) != NULL)
                sc_run_start(w, run, &run->spec->spec, out);
        w->filling = sc_work_room(out) <= BEGUN_ROOM;
        if (sc_work_busy(w) == w->slots)
                offer(w, out);
}

bool sc_work_fill_due(const struct sc_work *w)
{
        if ((w->ask_back && w->count[SC_RUN_OFFERED] > 0) || sc_work_resume_due(w))
                return true;
        const uint32_t queued  = w->draining || !w->filling ? 0 : w->count[SC_RUN_QUEUED];
        const uint32_t waiting = w->count[SC_RUN_OFFERED] + queued;
        return waiting > 0 && sc_work_busy(w) < w->slots;
}

/* ---- taking back --------------------------------------------------------------------------------- */

void sc_run_ask_back(struct sc_work *w, const struct sc_run *run, struct sc_out *out)
{
        SC_ASSERT(run->state == SC_RUN_OFFERED);
        sc_out_add(out, SC_FX_TAKE_BACK)->run = run->handle;
        w->asked_back                         = true;
}

/* The newest first: each comes back to the head of the queue. */
void sc_work_ask_back(struct sc_work *w, struct sc_out *out)
{
        if (!w->ask_back || sc_work_room(out) < SC_OFFERED_MAX + ASK_ROOM)
                return;
        w->ask_back          = false;
        struct sc_list *list = &w->list[SC_RUN_OFFERED];
        for (struct sc_list *at = list->prev; at != list; at = at->prev)
                sc_run_ask_back(w, SC_CONTAINER(at, struct sc_run, link), out);
}

void sc_run_back(struct sc_work *w, struct sc_run *run, struct sc_out *out)
{
        const bool stopped  = run->wanted != 0;
        const bool recalled = run->recalled;
        run->wanted         = 0;
        run->recalled       = false;
        sc_run_move(w, run, SC_RUN_TAKE_BACK);
        if (run->held)
                sc_run_forget(w, run, out); /* the scheduler's again, which knows */
        else if (stopped)
                sc_run_stop(w, run, false, out);
        else if (recalled)
                sc_run_give_back(w, run, out);
}
