/* Every invariant of the worker's core, walked and asserted; for tests and the simulator. */
#include "work_own.h"

#include "sc_assert.h"

static void check_output(const struct sc_run *run)
{
        struct sc_run_output *output = run->output;
        uint64_t              at     = output->end;
        size_t                held   = 0;
        for (struct sc_list *link = output->chunks.prev; link != &output->chunks; link = link->prev) {
                const struct sc_chunk *chunk = SC_CONTAINER(link, struct sc_chunk, link);
                SC_ASSERT(chunk->len <= chunk->cap);
                SC_ASSERT(chunk->offset + chunk->len == at);
                at = chunk->offset;
                held += chunk->scrap.size;
        }
        SC_ASSERT(held == output->held);
        SC_ASSERT(at <= output->confirmed);
        SC_ASSERT(output->confirmed <= output->sent);
        SC_ASSERT(output->sent <= output->end);
}

static void check_row(const struct sc_work *w, const struct sc_run *run)
{
        const bool timed = run->deadline != SC_NEVER && run->state != SC_RUN_FREE;
        SC_ASSERT(timed == (run->position != SC_HEAP_NOWHERE));
        if (run->state == SC_RUN_FREE)
                return;
        SC_ASSERT(sc_map_get(&w->by_handle, (struct sc_id){ .lo = run->handle }) == run);
        SC_ASSERT((run->run == 0) == (run->state == SC_RUN_ABANDONED));
        SC_ASSERT(!run->held || run->state != SC_RUN_QUEUED);
        SC_ASSERT(run->held || w->link != 0 || run->state == SC_RUN_ABANDONED);
        SC_ASSERT(run->share == NULL || run->state == SC_RUN_QUEUED || sc_run_has_slot(run->state));
        SC_ASSERT((run->spec != NULL) == (run->state == SC_RUN_QUEUED || run->state == SC_RUN_OFFERED));
        SC_ASSERT(run->state != SC_RUN_OFFERED || (!run->command && !run->streams));
        SC_ASSERT(run->state == SC_RUN_OFFERED || run->wanted == 0);
        SC_ASSERT(run->state == SC_RUN_OFFERED || !run->recalled);
        SC_ASSERT(sc_list_empty(&run->report) || (run->state == SC_RUN_RUNNING && !run->held));
        SC_ASSERT(!run->parked || (run->waits && sc_run_has_slot(run->state)));
        SC_ASSERT(!run->waits || run->parked || run->state == SC_RUN_OFFERED);
        SC_ASSERT(sc_list_empty(&run->ripe) || run->parked);
        SC_ASSERT(run->kept == NULL || run->state == SC_RUN_OWING || run->state == SC_RUN_DONE ||
                  run->state == SC_RUN_GHOST);
        if (run->output)
                check_output(run);
}

static uint32_t length(const struct sc_list *list)
{
        uint32_t count = 0;
        for (const struct sc_list *at = list->next; at != list; at = at->next)
                count++;
        return count;
}

void sc_work_check(const struct sc_work *w)
{
        uint32_t count[SC_RUN_STATES] = { 0 };
        uint32_t held[SC_RUN_STATES]  = { 0 };
        uint32_t held_total = 0, renamed = 0, commands = 0;
        for (uint32_t i = 0; i < w->pages * SC_RUN_PAGE; i++) {
                const struct sc_run *run = &w->page[i / SC_RUN_PAGE][i % SC_RUN_PAGE];
                check_row(w, run);
                count[run->state]++;
                held[run->state] += run->held;
                held_total += run->held;
                commands += run->command && sc_run_has_slot(run->state);
                renamed += run->run != 0 && run->run != run->handle;
                SC_ASSERT(sc_list_empty(&run->alias) == (run->run == 0 || run->run == run->handle));
        }
        for (int state = 0; state < SC_RUN_STATES; state++) {
                SC_ASSERT(count[state] == w->count[state]);
                SC_ASSERT(held[state] == w->held[state]);
                if (state != SC_RUN_DONE && state != SC_RUN_GHOST)
                        SC_ASSERT(length(&w->list[state]) == count[state]);
        }
        SC_ASSERT(length(&w->list[SC_RUN_DONE]) + length(&w->unsent) == count[SC_RUN_DONE] + count[SC_RUN_GHOST]);
        SC_ASSERT(held_total == w->held_total);
        for (size_t i = 1; i < w->timed.len; i++)
                SC_ASSERT(!w->timed.before(w->timed.at[i], w->timed.at[(i - 1) / 2]));
        SC_ASSERT(length(&w->renamed) == renamed);
        SC_ASSERT(w->by_handle.len == w->pages * SC_RUN_PAGE - count[SC_RUN_FREE]);
        SC_ASSERT(sc_work_busy(w) <= w->slots);
        sc_work_wait_check(w);
        sc_work_amounts_check(w);
        SC_ASSERT(commands == w->commands);
        SC_ASSERT(commands == 0 || count[SC_RUN_OFFERED] == 0);
        SC_ASSERT(count[SC_RUN_OFFERED] <= SC_OFFERED_MAX);
        SC_ASSERT(w->link != 0 || count[SC_RUN_QUEUED] == 0);
}
