/*
 * The table of runs: pages of rows that never move, a map by handle, one table of moves and one
 * function that writes a row's state with all its bookkeeping.  Everything a row may ever need but
 * bytes is reserved together with the row.
 */
#include "work_own.h"

#include <string.h>

#include "sc_assert.h"
#include "sc_mem.h"

#define NEVER_MOVES SC_RUN_STATES

static const uint8_t moves[SC_RUN_STATES][SC_RUN_EVENTS] = {
        /*                  ADMIT          START           RETURN       RETURN_OWING  ANSWER        FORGET
                            OFFER          TAKE_BACK */
        [SC_RUN_FREE]   = { SC_RUN_QUEUED, NEVER_MOVES, NEVER_MOVES, NEVER_MOVES, NEVER_MOVES, NEVER_MOVES,
                            NEVER_MOVES, NEVER_MOVES },
        [SC_RUN_QUEUED] = { NEVER_MOVES, SC_RUN_RUNNING, NEVER_MOVES, NEVER_MOVES, SC_RUN_DONE, SC_RUN_FREE,
                            SC_RUN_OFFERED, NEVER_MOVES },
        [SC_RUN_OFFERED] = { NEVER_MOVES, SC_RUN_RUNNING, SC_RUN_DONE, NEVER_MOVES, NEVER_MOVES, NEVER_MOVES,
                             NEVER_MOVES, SC_RUN_QUEUED },
        [SC_RUN_RUNNING] = { NEVER_MOVES, NEVER_MOVES, SC_RUN_DONE, SC_RUN_OWING, SC_RUN_GHOST, SC_RUN_ABANDONED,
                             NEVER_MOVES, NEVER_MOVES },
        [SC_RUN_OWING]   = { NEVER_MOVES, NEVER_MOVES, NEVER_MOVES, NEVER_MOVES, SC_RUN_DONE, SC_RUN_FREE,
                             NEVER_MOVES, NEVER_MOVES },
        [SC_RUN_DONE]    = { NEVER_MOVES, NEVER_MOVES, NEVER_MOVES, NEVER_MOVES, NEVER_MOVES, SC_RUN_FREE,
                             NEVER_MOVES, NEVER_MOVES },
        [SC_RUN_GHOST]   = { NEVER_MOVES, NEVER_MOVES, SC_RUN_DONE, NEVER_MOVES, NEVER_MOVES, SC_RUN_ABANDONED,
                             NEVER_MOVES, NEVER_MOVES },
        [SC_RUN_ABANDONED] = { NEVER_MOVES, NEVER_MOVES, SC_RUN_FREE, NEVER_MOVES, NEVER_MOVES, NEVER_MOVES,
                               NEVER_MOVES, NEVER_MOVES },
};

void *sc_work_get(struct sc_work *w, size_t size)
{
        struct sc_scrap *scrap = sc_mem_alloc(w->mem, size);
        if (scrap)
                *scrap = (struct sc_scrap){ .size = size };
        return scrap;
}

void sc_work_discard(struct sc_work *w, struct sc_scrap *scrap)
{
        if (!scrap)
                return;
        scrap->next = w->scrap;
        w->scrap    = scrap;
}

void sc_work_sweep(struct sc_work *w)
{
        while (w->scrap) {
                struct sc_scrap *scrap = w->scrap;
                w->scrap               = scrap->next;
                sc_mem_release(w->mem, scrap, scrap->size);
        }
}

static bool add_page(struct sc_work *w)
{
        if (w->pages == SC_RUN_PAGES)
                return false;
        size_t rows = (size_t)(w->pages + 1) * SC_RUN_PAGE;
        if (!sc_map_reserve(&w->by_handle, rows) || !sc_heap_reserve(&w->timed, rows))
                return false;
        struct sc_run *page = sc_mem_zalloc(w->mem, SC_RUN_PAGE * sizeof *page);
        if (!page)
                return false;
        const size_t    old   = (size_t)w->pages * SC_RUN_PAGE * sizeof *w->holds;
        struct sc_hold *holds = sc_mem_resize(w->mem, w->holds, old, rows * sizeof *holds);
        if (!holds) {
                sc_mem_release(w->mem, page, SC_RUN_PAGE * sizeof *page);
                return false;
        }
        w->holds            = holds;
        w->page[w->pages++] = page;
        for (uint32_t i = 0; i < SC_RUN_PAGE; i++) {
                sc_list_init(&page[i].report);
                sc_list_init(&page[i].alias);
                sc_list_init(&page[i].ripe);
                page[i].position = SC_HEAP_NOWHERE;
                sc_list_add_tail(&w->list[SC_RUN_FREE], &page[i].link);
        }
        w->count[SC_RUN_FREE] += SC_RUN_PAGE;
        return true;
}

bool sc_run_reserve(struct sc_work *w, uint32_t rows)
{
        while (w->pages * SC_RUN_PAGE < rows) {
                if (!add_page(w))
                        return false;
        }
        return true;
}

static struct sc_list *home(struct sc_work *w, const struct sc_run *run)
{
        if (run->state != SC_RUN_DONE && run->state != SC_RUN_GHOST)
                return &w->list[run->state];
        return run->held ? &w->unsent : &w->list[SC_RUN_DONE];
}

static void let_go(struct sc_work *w, struct sc_run *run)
{
        sc_work_discard(w, run->kept);
        run->kept = NULL;
        sc_run_rename(w, run, 0);
        if (run->held)
                sc_run_hold(w, run, false);
}

/* What a row of that state has no use for any more. */
static void leave(struct sc_work *w, struct sc_run *run, enum sc_run_state next)
{
        if (run->state == SC_RUN_RUNNING)
                sc_list_remove(&run->report);
        if (run->spec && next != SC_RUN_OFFERED && next != SC_RUN_QUEUED) {
                sc_work_discard(w, &run->spec->scrap);
                run->spec = NULL;
        }
        if (next != SC_RUN_RUNNING && next != SC_RUN_OWING) {
                run->limit_at = run->escalate_at = SC_NEVER;
                sc_run_output_drop(w, run);
        }
        if (next == SC_RUN_RUNNING)
                sc_run_share_take(w, run);
        else if (sc_run_has_slot(run->state) && !sc_run_has_slot((uint8_t)next))
                sc_run_share_give(w, run);
        if (next != SC_RUN_QUEUED && !sc_run_has_slot((uint8_t)next))
                sc_run_share_drop(w, run);
        if (next == SC_RUN_FREE || next == SC_RUN_ABANDONED)
                let_go(w, run);
        if (next == SC_RUN_FREE)
                (void)sc_map_remove(&w->by_handle, (struct sc_id){ .lo = run->handle });
}

void sc_run_move(struct sc_work *w, struct sc_run *run, enum sc_run_event event)
{
        const enum sc_run_state next = moves[run->state][event];
        SC_ASSERT(next != NEVER_MOVES);
        leave(w, run, next);
        const struct sc_list *from = home(w, run);
        w->count[run->state]--;
        w->count[next]++;
        w->held[run->state] -= run->held;
        w->held[next] += run->held;
        w->parked_stuck -= sc_run_is_parked_stuck(run);
        if (run->command)
                w->commands += sc_run_has_slot((uint8_t)next) - (uint32_t)sc_run_has_slot(run->state);
        run->state = (uint8_t)next;
        w->parked_stuck += sc_run_is_parked_stuck(run);
        if (home(w, run) != from) {
                sc_list_remove(&run->link);
                if (next == SC_RUN_FREE || event == SC_RUN_TAKE_BACK) /* warm ones first; to its old place */
                        sc_list_add_head(&w->list[next], &run->link);
                else
                        sc_list_add_tail(home(w, run), &run->link);
        }
        sc_run_retime(w, run);
}

void sc_run_hold(struct sc_work *w, struct sc_run *run, bool held)
{
        SC_ASSERT(run->held != held);
        w->parked_stuck -= sc_run_is_parked_stuck(run);
        run->held = held;
        w->parked_stuck += sc_run_is_parked_stuck(run);
        if (held) {
                w->held[run->state]++;
                w->held_total++;
        } else {
                w->held[run->state]--;
                w->held_total--;
        }
        if (run->state == SC_RUN_DONE || run->state == SC_RUN_GHOST) {
                sc_list_remove(&run->link);
                sc_list_add_tail(home(w, run), &run->link);
        }
}

void sc_run_rename(struct sc_work *w, struct sc_run *run, uint64_t number)
{
        run->run = number;
        sc_list_remove(&run->alias);
        if (number != 0 && number != run->handle)
                sc_list_add_tail(&w->renamed, &run->alias);
}

static bool is(const struct sc_run *run, struct sc_id task, uint64_t epoch, uint64_t number)
{
        return run->run == number && run->epoch == epoch && sc_id_equal(run->task, task);
}

struct sc_run *sc_run_find(const struct sc_work *w, struct sc_id task, uint64_t epoch, uint64_t number)
{
        if (number == 0)
                return NULL;
        struct sc_run *run = sc_map_get(&w->by_handle, (struct sc_id){ .lo = number });
        if (run && is(run, task, epoch, number))
                return run;
        for (struct sc_list *at = w->renamed.next; at != &w->renamed; at = at->next) {
                run = SC_CONTAINER(at, struct sc_run, alias);
                if (is(run, task, epoch, number))
                        return run;
        }
        return NULL;
}

static uint64_t free_handle(struct sc_work *w, uint64_t number)
{
        if (!sc_map_get(&w->by_handle, (struct sc_id){ .lo = number }))
                return number;
        do {
                number = UINT64_C(1) << 63 | ++w->handles;
        } while (sc_map_get(&w->by_handle, (struct sc_id){ .lo = number }));
        return number;
}

struct sc_run *sc_run_take(struct sc_work *w, const struct sc_assign *assign)
{
        if (sc_list_empty(&w->list[SC_RUN_FREE]) && !add_page(w))
                return NULL;
        struct sc_run *run = SC_CONTAINER(w->list[SC_RUN_FREE].next, struct sc_run, link);
        run->task          = assign->task;
        run->handle        = free_handle(w, assign->run);
        run->epoch         = w->epoch;
        run->attempt       = assign->attempt;
        run->cause         = SC_CAUSE_NONE;
        run->stop          = 0;
        run->wanted        = 0;
        run->recalled      = false;
        run->waits         = false;
        run->parked        = false;
        run->told_waiting  = false;
        run->command       = assign->spec.kind == SC_TASK_COMMAND;
        run->streams       = (assign->spec.flags & SC_SPEC_STREAM) != 0;
        run->timeout_ms    = assign->spec.timeout_ms;
        run->limit_at      = SC_NEVER;
        run->escalate_at   = SC_NEVER;
        run->started       = w->now;
        sc_run_rename(w, run, assign->run);
        sc_map_put(&w->by_handle, (struct sc_id){ .lo = run->handle }, run);
        sc_run_move(w, run, SC_RUN_ADMIT);
        return run;
}

void sc_run_retime(struct sc_work *w, struct sc_run *run)
{
        sc_ns deadline = sc_ns_min(run->limit_at, run->escalate_at);
        if (run->output)
                deadline = sc_ns_min(deadline, run->output->probe_at);
        if (run->state != SC_RUN_RUNNING && run->state != SC_RUN_OWING)
                deadline = SC_NEVER;
        run->deadline = deadline;
        if (deadline == SC_NEVER) {
                if (run->position != SC_HEAP_NOWHERE)
                        sc_heap_remove(&w->timed, run->position);
        } else if (run->position == SC_HEAP_NOWHERE) {
                sc_heap_push(&w->timed, run);
        } else {
                sc_heap_fix(&w->timed, run->position);
        }
}
