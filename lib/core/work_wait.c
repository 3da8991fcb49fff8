/*
 * Runs that wait for tasks of their own.  Such a run is parked: its slot and its cpu are another one's, whatever else
 * it holds stays its own, and it counts neither as busy nor among the runs that were granted.  When what it waits for
 * has come it is ripe, and goes on as soon as there is a slot and cpu for it: ripe ones in their order, and before
 * anything new.  What was told ahead of its slot would be begun without asking, so as long as anybody waits nothing
 * is, and what has been is asked back before a ripe one goes on.
 */
#include "work_own.h"

#include "sc_assert.h"
#include "sc_status.h"

/* What going on may append: a RESUME, and a RESUMED. */
#define RESUME_ROOM 2

static void resume(struct sc_run *run, int status, struct sc_out *out)
{
        struct sc_effect *effect = sc_out_add(out, SC_FX_RESUME);
        effect->run              = run->handle;
        effect->status           = status;
}

/* Said to whom it belongs; who has kept it over a break learns it from the hello. */
void sc_run_say_waiting(struct sc_work *w, struct sc_run *run, struct sc_out *out)
{
        if (run->told_waiting == run->parked || run->held || w->link == 0 || run->state != SC_RUN_RUNNING)
                return;
        run->told_waiting  = run->parked;
        struct sc_msg *msg = sc_out_send(out, w->link, run->parked ? SC_MSG_WAITING : SC_MSG_RESUMED);
        msg->about.task    = run->task;
        msg->about.run     = run->run;
        sc_list_remove(&run->report); /* whoever waits has started */
}

void sc_run_park(struct sc_work *w, struct sc_run *run, struct sc_out *out)
{
        SC_ASSERT(run->waits && !run->parked && sc_run_has_slot(run->state));
        sc_run_cpu_give(w, run);
        run->parked   = true;
        w->has_waited = true;
        w->parked++;
        w->parked_stuck += sc_run_is_parked_stuck(run);
        sc_out_add(out, SC_FX_PARK)->run = run->handle;
        sc_run_say_waiting(w, run, out);
}

void sc_run_waits(struct sc_work *w, struct sc_run *run, struct sc_out *out)
{
        SC_ASSERT(!run->waits && (run->state == SC_RUN_OFFERED || sc_run_has_slot(run->state)));
        if (w->waiting == SC_WAITING_MAX) {
                resume(run, SC_E_FULL, out);
                return;
        }
        run->waits = true;
        w->waiting++;
        if (run->state != SC_RUN_OFFERED) /* else when it is known to have begun */
                sc_run_park(w, run, out);
}

static void let_go_on(struct sc_work *w, struct sc_run *run, struct sc_out *out)
{
        run->waits = false;
        w->waiting--;
        resume(run, SC_OK, out);
}

void sc_run_wakes(struct sc_work *w, struct sc_run *run, struct sc_out *out)
{
        SC_ASSERT(run->waits && sc_list_empty(&run->ripe));
        if (!run->parked) {
                let_go_on(w, run, out);
                return;
        }
        sc_list_add_tail(&w->ripe, &run->ripe);
        if (w->count[SC_RUN_OFFERED] > 0)
                w->ask_back = true;
}

static struct sc_run *next_ripe(const struct sc_work *w)
{
        if (sc_list_empty(&w->ripe) || w->count[SC_RUN_OFFERED] > 0 || sc_work_busy(w) >= w->slots)
                return NULL;
        struct sc_run *run = SC_CONTAINER(w->ripe.next, struct sc_run, ripe);
        return sc_run_cpu_fits(w, run) ? run : NULL;
}

void sc_work_resume(struct sc_work *w, struct sc_out *out)
{
        struct sc_run *run;
        while (sc_work_room(out) > RESUME_ROOM && (run = next_ripe(w)) != NULL) {
                sc_list_remove(&run->ripe);
                w->parked_stuck -= sc_run_is_parked_stuck(run);
                w->parked--;
                run->parked = false;
                sc_run_cpu_take(w, run);
                let_go_on(w, run, out);
                sc_run_say_waiting(w, run, out);
        }
}

uint32_t sc_work_to_park(const struct sc_work *w)
{
        return w->waiting - w->parked;
}

bool sc_work_waited_for(const struct sc_work *w)
{
        return w->waiting > 0;
}

bool sc_work_resume_due(const struct sc_work *w)
{
        return next_ripe(w) != NULL;
}

void sc_work_wait_check(const struct sc_work *w)
{
        uint32_t waiting = 0, parked = 0, stuck = 0, ripe = 0;
        for (uint32_t i = 0; i < w->pages * SC_RUN_PAGE; i++) {
                const struct sc_run *run = &w->page[i / SC_RUN_PAGE][i % SC_RUN_PAGE];
                if (run->state == SC_RUN_FREE)
                        continue;
                waiting += run->waits;
                parked += run->parked;
                stuck += sc_run_is_parked_stuck(run);
                ripe += !sc_list_empty(&run->ripe);
                const bool said = run->state == SC_RUN_RUNNING && !run->held && w->link != 0;
                SC_ASSERT(!said || run->told_waiting == run->parked);
        }
        for (const struct sc_list *at = w->ripe.next; at != &w->ripe; at = at->next)
                ripe--;
        SC_ASSERT(ripe == 0 && waiting == w->waiting && parked == w->parked && stuck == w->parked_stuck);
        SC_ASSERT(waiting <= SC_WAITING_MAX);
}
