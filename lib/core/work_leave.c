/*
 * Drain: a worker that leaves says so, gives back what has not begun, finishes what runs and waits for
 * its last answers to arrive.  At its deadline, if it has one, what still runs is let go of: it is
 * killed or flagged, and returned with a mark, for another worker to do.  Who asked does not matter:
 * the host, a signal and the scheduler's LEAVE are one thing, and the earliest deadline counts.
 */
#include "work_own.h"

/* What one row may append: a STOP and a RETURNED; and what is kept for the goodbye. */
#define LEAVE_ROOM 8

void sc_work_drain(struct sc_work *w, uint64_t deadline_ms)
{
        const uint64_t most = SC_NEVER / SC_MS;
        const uint64_t ms   = deadline_ms < most ? deadline_ms : most;
        w->ask_back         = w->ask_back || !w->draining;
        w->draining         = true;
        if (ms > 0)
                w->release_at = sc_ns_min(w->release_at, sc_ns_add(w->now, sc_ns_from_ms((int64_t)ms)));
}

void sc_work_release(struct sc_work *w)
{
        sc_work_drain(w, 0);
        w->release_at = w->now;
}

static bool is_late(const struct sc_work *w)
{
        return w->now >= w->release_at;
}

static void say_leave(struct sc_work *w, struct sc_out *out)
{
        if (w->link == 0 || w->told_leave)
                return;
        w->told_leave = true;
        (void)sc_out_send(out, w->link, SC_MSG_LEAVE);
}

static void return_list(struct sc_work *w, struct sc_list *list, struct sc_out *out)
{
        struct sc_list *next = list->next;
        while (next != list && sc_work_room(out) > LEAVE_ROOM) {
                struct sc_run *run = SC_CONTAINER(next, struct sc_run, link);
                next               = next->next;
                if (run->held)
                        sc_run_forget(w, run, out);
                else
                        sc_run_give_back(w, run, out);
        }
}

static bool is_idle(const struct sc_work *w)
{
        return w->count[SC_RUN_QUEUED] + w->count[SC_RUN_OFFERED] + w->count[SC_RUN_RUNNING] +
                       w->count[SC_RUN_OWING] ==
               0;
}

/* For answers to be confirmed; without a link, for as long as they are kept for the next one. */
static bool waits(struct sc_work *w)
{
        if (w->count[SC_RUN_DONE] + w->count[SC_RUN_GHOST] == 0)
                return false;
        if (w->link == 0)
                return !w->gave_up && !is_late(w);
        if (w->leave_at == SC_NEVER)
                w->leave_at = sc_ns_add(w->now, SC_RUN_LEAVE_AFTER);
        return w->now < w->leave_at;
}

void sc_work_leave(struct sc_work *w, struct sc_out *out)
{
        say_leave(w, out);
        sc_work_begun(w, out);
        sc_work_resume(w, out);
        return_list(w, &w->list[SC_RUN_QUEUED], out);
        if (is_late(w)) {
                return_list(w, &w->list[SC_RUN_RUNNING], out);
                return_list(w, &w->list[SC_RUN_OWING], out);
        }
        if (!is_idle(w) || waits(w))
                return;
        if (w->link != 0)
                sc_out_send(out, w->link, SC_MSG_BYE)->bye.why = (struct sc_view){ .ptr = "drained", .len = 7 };
        sc_out_add(out, SC_FX_CLOSED);
        w->link   = 0;
        w->closed = true;
        sc_run_hold_all(w, &w->list[SC_RUN_DONE]);
        while (!sc_list_empty(&w->unsent))
                sc_run_forget(w, SC_CONTAINER(w->unsent.next, struct sc_run, link), out);
}

sc_ns sc_work_leave_at(const struct sc_work *w)
{
        const bool runs = w->count[SC_RUN_RUNNING] + w->count[SC_RUN_OWING] > 0;
        if (w->count[SC_RUN_QUEUED] > 0 || (is_late(w) && runs))
                return w->now;
        return is_late(w) ? w->leave_at : sc_ns_min(w->leave_at, w->release_at);
}
