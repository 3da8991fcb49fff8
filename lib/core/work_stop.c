/*
 * Stopping runs: a cancel asks or kills, a time limit asks and then kills, and what does not come
 * back even then is given up.  Also everything else that happens by the clock.
 */
#include "work_own.h"

#include <string.h>

#include "sc_assert.h"
#include "sc_status.h"

/* What firing one deadline may append: a STOP, a DONE, a NOTE and one OUTPUT record. */
#define FIRE_ROOM 4

void sc_run_tell(struct sc_work *w, struct sc_run *run, enum sc_stop_how how, struct sc_out *out)
{
        struct sc_effect *effect = sc_out_add(out, SC_FX_STOP);
        effect->run              = run->handle;
        effect->status           = (int32_t)how;
        if (run->stop < how)
                run->stop = (uint8_t)how;
        if (how == SC_STOP_KILL)
                run->escalate_at = sc_ns_add(w->now, w->kill_grace);
        sc_run_retime(w, run);
}

static void stop_running(struct sc_work *w, struct sc_run *run, bool force, struct sc_out *out)
{
        if (run->cause == SC_CAUSE_NONE)
                run->cause = SC_CAUSE_CANCEL;
        const enum sc_stop_how how = force ? SC_STOP_KILL : SC_STOP_ASK;
        if (run->stop < how)
                sc_run_tell(w, run, how, out);
}

void sc_run_stop(struct sc_work *w, struct sc_run *run, bool force, struct sc_out *out)
{
        switch ((enum sc_run_state)run->state) {
        case SC_RUN_QUEUED:
                sc_run_fail(w, run, SC_REASON_CANCELLED, "cancelled before it started", out);
                break;
        case SC_RUN_OFFERED:
                if (force || run->wanted == 0)
                        run->wanted = force ? SC_STOP_KILL : SC_STOP_ASK;
                sc_run_ask_back(w, run, out);
                break;
        case SC_RUN_RUNNING:
                stop_running(w, run, force, out);
                break;
        case SC_RUN_OWING: /* whoever cancels does not wait for the rest of the output */
                sc_run_settle(w, run, out);
                break;
        case SC_RUN_DONE:
        case SC_RUN_GHOST: /* the DONE on its way is the answer */
                break;
        case SC_RUN_FREE:
        case SC_RUN_ABANDONED:
        case SC_RUN_STATES:
                SC_UNREACHABLE();
        }
}

/* Whoever waits to be asked for more output is asked once more: what comes is thrown away, and then the end comes. */
void sc_run_forget(struct sc_work *w, struct sc_run *run, struct sc_out *out)
{
        if (run->state == SC_RUN_RUNNING && run->stop != SC_STOP_KILL)
                sc_run_tell(w, run, SC_STOP_KILL, out);
        if (run->state == SC_RUN_RUNNING && run->output && !run->output->asked_more)
                sc_out_add(out, SC_FX_READ_MORE)->run = run->handle;
        sc_run_move(w, run, SC_RUN_FORGET);
}

void sc_run_report(struct sc_work *w, struct sc_run *run, struct sc_out *out)
{
        if (sc_list_empty(&run->report))
                return;
        sc_list_remove(&run->report);
        struct sc_msg *msg = sc_out_send(out, w->link, SC_MSG_STARTED);
        msg->about.task    = run->task;
        msg->about.run     = run->run;
}

static void learn(struct sc_work *w, sc_ns took)
{
        if (w->mean < took)
                w->mean = took;
        w->streak = 0;
}

static void report_started(struct sc_work *w, struct sc_out *out)
{
        while (!sc_list_empty(&w->report) && sc_work_room(out) >= FIRE_ROOM) {
                struct sc_run *run = SC_CONTAINER(w->report.next, struct sc_run, report);
                if (w->now - run->started < SC_RUN_STARTED_AFTER)
                        return;
                learn(w, w->now - run->started);
                sc_run_report(w, run, out);
        }
}

static void note_stuck(struct sc_work *w, const struct sc_run *run, struct sc_out *out)
{
        static const char rest[] = " does not return; its slot stays taken";
        sc_id_format(run->task, w->text);
        memcpy(w->text + SC_ID_TEXT - 1, rest, sizeof rest);
        struct sc_effect *effect = sc_out_add(out, SC_FX_NOTE);
        effect->run              = run->handle;
        effect->text             = w->text;
        effect->status           = SC_NOTE_WARN;
}

static void escalate(struct sc_work *w, struct sc_run *run, struct sc_out *out)
{
        if (run->state == SC_RUN_RUNNING && run->stop != SC_STOP_KILL) {
                sc_run_tell(w, run, SC_STOP_KILL, out);
                return;
        }
        if (run->state == SC_RUN_RUNNING)
                note_stuck(w, run, out);
        sc_run_settle(w, run, out);
}

static void hit_limit(struct sc_work *w, struct sc_run *run, struct sc_out *out)
{
        run->limit_at = SC_NEVER;
        if (run->cause == SC_CAUSE_NONE)
                run->cause = SC_CAUSE_TIMEOUT;
        if (run->stop == 0)
                sc_run_tell(w, run, SC_STOP_ASK, out);
        if (run->escalate_at == SC_NEVER)
                run->escalate_at = sc_ns_add(w->now, w->kill_grace);
        sc_run_retime(w, run);
}

static void fire(struct sc_work *w, struct sc_run *run, struct sc_out *out)
{
        if (run->limit_at <= w->now)
                hit_limit(w, run, out);
        else if (run->escalate_at <= w->now)
                escalate(w, run, out);
        else
                sc_run_output_probe(w, run, out);
}

bool sc_run_is_stopped(const struct sc_run *run)
{
        if (run->state == SC_RUN_DONE || run->state == SC_RUN_GHOST)
                return run->outcome.reason == SC_REASON_CANCELLED;
        return run->cause == SC_CAUSE_CANCEL;
}

/* Runs of a lost link: all of them, or those that were told to stop. */
static void forget_held(struct sc_work *w, struct sc_list *list, bool all, struct sc_out *out)
{
        struct sc_list *next = list->next;
        while (next != list && sc_work_room(out) >= FIRE_ROOM) {
                struct sc_run *run = SC_CONTAINER(next, struct sc_run, link);
                next               = next->next;
                if (run->held && (all || sc_run_is_stopped(run)))
                        sc_run_forget(w, run, out);
        }
}

static void forget_all_held(struct sc_work *w, bool all, struct sc_out *out)
{
        if (w->held_total == 0)
                return;
        forget_held(w, &w->list[SC_RUN_RUNNING], all, out);
        forget_held(w, &w->list[SC_RUN_OWING], all, out);
        forget_held(w, &w->unsent, all, out);
}

/* Whoever had them stopped was told that they are, when the link was lost.  They are not offered to the next
 * one: the task may have been submitted again by then, and wants a run that nobody stopped. */
void sc_work_forget_stopped(struct sc_work *w, struct sc_out *out)
{
        forget_all_held(w, false, out);
}

void sc_work_timers(struct sc_work *w, struct sc_out *out)
{
        report_started(w, out);
        struct sc_run *run = sc_heap_top(&w->timed);
        while (run && run->deadline <= w->now && sc_work_room(out) >= FIRE_ROOM) {
                fire(w, run, out);
                run = sc_heap_top(&w->timed);
        }
        if (w->now >= sc_ns_add(w->lost_at, w->keep))
                forget_all_held(w, true, out); /* no scheduler claimed them in time */
        if (w->link == 0 && !w->gave_up && w->now >= sc_ns_add(w->lost_at, w->give_up)) {
                w->gave_up               = true;
                struct sc_effect *effect = sc_out_add(out, SC_FX_GIVE_UP);
                effect->status           = SC_E_UNREACHABLE;
                effect->text             = "no scheduler could be reached for too long";
        }
}
