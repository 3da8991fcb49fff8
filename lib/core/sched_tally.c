/*
 * What came of each worker's runs.  A worker is made anew with every link; its tally outlives the link, so
 * that whoever looks at a worker that comes and goes sees what it has lost.  Of those that are away only so
 * many are remembered, and of those that left in order none.
 */
#include "sched_state.h"

#include "sc_assert.h"

struct sched_tally *sc_sched_tally_take(struct sc_sched *s, uint64_t id)
{
        struct sched_tally *t = sc_map_get(&s->tallies, (struct sc_id){ 0, id });
        if (!t) {
                if (!sc_map_reserve(&s->tallies, s->tallies.len + 1))
                        return NULL;
                t = sc_mem_alloc(s->mem, sizeof *t);
                if (!t)
                        return NULL;
                *t = (struct sched_tally){ .id = id };
                sc_list_init(&t->idle);
                sc_map_put(&s->tallies, (struct sc_id){ 0, id }, t);
        } else if (t->links == 0) {
                sc_list_remove(&t->idle);
                s->idle_tally_count--;
        }
        t->links++;
        return t;
}

static void forget(struct sc_sched *s, struct sched_tally *t)
{
        sc_map_remove(&s->tallies, (struct sc_id){ 0, t->id });
        sc_mem_release(s->mem, t, sizeof *t);
}

void sc_sched_tally_drop(struct sc_sched *s, struct sched_tally *t, bool for_good)
{
        SC_ASSERT(t->links > 0);
        if (--t->links > 0)
                return;
        if (for_good || t->done + t->failed + t->lost == 0) {
                forget(s, t);
                return;
        }
        sc_list_add_tail(&s->idle_tallies, &t->idle);
        if (++s->idle_tally_count <= SCHED_TALLIES_MAX)
                return;
        s->idle_tally_count--;
        forget(s, SC_CONTAINER(sc_list_take(&s->idle_tallies), struct sched_tally, idle));
}

void sc_sched_tallies_fini(struct sc_sched *s)
{
        for (struct sc_list *at; (at = sc_list_take(&s->idle_tallies)) != NULL;)
                forget(s, SC_CONTAINER(at, struct sched_tally, idle));
        SC_ASSERT(s->tallies.len == 0);
        sc_map_fini(&s->tallies);
}
