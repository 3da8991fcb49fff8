/*
 * What must hold about dependencies and graphs, found by counting again: every read is one reference, every
 * edge is found from both its ends, every graph counts its nodes.  It costs as much as there is.
 */
#include "sched_state.h"

#include <string.h>

#include "sc_assert.h"

static bool is_ended(const struct sched_task *t)
{
        return t->state == SC_STATE_ENDED || t->state == SC_STATE_KEPT;
}

/* Edges of the list that starts at `at`, all of them chained where they say and counted as read in `refs`. */
static uint32_t siblings_check(const struct sc_sched *s, uint32_t at, uint32_t reader, uint32_t *waiting,
                               uint32_t *reads)
{
        uint32_t count = 0;
        for (; at != SCHED_NONE; at = sc_sched_edge(s, at)->sibling, count++) {
                const struct sched_edge *e = sc_sched_edge(s, at);
                SC_ASSERT(e->reader == reader);
                SC_ASSERT(!e->chained || e->of != SCHED_NONE);
                SC_ASSERT(!e->read || *reads == count);
                *reads += e->read;
                *waiting += e->chained;
                if (e->chained && e->prev == SCHED_NONE)
                        SC_ASSERT(sc_sched_row(s, e->of)->edges == at);
                else if (e->chained)
                        SC_ASSERT(sc_sched_edge(s, e->prev)->next == at);
        }
        return count;
}

static uint32_t chain_check(const struct sc_sched *s, const struct sched_task *t)
{
        uint32_t count = 0, before = SCHED_NONE;
        for (uint32_t at = t->edges; at != SCHED_NONE; at = sc_sched_edge(s, at)->next, count++) {
                const struct sched_edge *e = sc_sched_edge(s, at);
                SC_ASSERT(e->chained && e->of == t->self && e->prev == before);
                before = at;
        }
        SC_ASSERT(count == 0 || !is_ended(t) || (t->flags & SCHED_MARKED));
        return count;
}

static uint32_t node_check(const struct sc_sched *s, const struct sched_task *t)
{
        const struct sched_node *node = sc_sched_node(t);
        if (!node)
                return 0;
        uint32_t waiting = 0, reads = 0;
        uint32_t count = siblings_check(s, node->edges, t->self, &waiting, &reads);
        SC_ASSERT(!is_ended(t) && node->waiting == waiting && node->inputs == reads);
        SC_ASSERT(((t->flags & SCHED_BLOCKED) != 0) == (waiting > 0 || node->root_reason != 0));
        SC_ASSERT(node->root_reason == 0 || t->state != SC_STATE_WAITING || (t->flags & SCHED_MARKED));
        SC_ASSERT(node->graph == SCHED_NONE || sc_sched_row(s, node->graph)->kind == SC_TASK_GRAPH);
        SC_ASSERT((t->flags & SCHED_IN_GRAPH) == (node->graph != SCHED_NONE ? SCHED_IN_GRAPH : 0));
        return count;
}

static void graph_check(const struct sc_sched *s, const struct sched_task *t)
{
        const struct sched_graph *g    = sc_sched_graph(t);
        uint32_t                  live = 0;
        SC_ASSERT(g->self == t->self && g->admitted <= g->nodes && !(t->flags & SCHED_BLOCKED));
        SC_ASSERT(t->state == SC_STATE_WAITING || t->state == SC_STATE_ENDED);
        SC_ASSERT(g->live + g->succeeded + g->failed + g->cancelled + g->skipped == g->admitted);
        SC_ASSERT(!g->sweeping || !sc_list_empty(&g->todo));
        SC_ASSERT(t->state == SC_STATE_WAITING || (g->live == 0 && g->open.len == 0 && sc_list_empty(&g->todo)));
        for (uint32_t i = 0; i < s->made; i++) {
                const struct sched_node *node = sc_sched_node(sc_sched_row(s, i));
                live += node && node->graph == t->self;
        }
        SC_ASSERT(live == g->live);
        uint32_t open = 0;
        for (uint32_t at = g->open.head; at != SCHED_NONE; at = sc_sched_row(s, at)->link[SCHED_AT].next, open++) {
                const struct sched_task *kept = sc_sched_row(s, at);
                SC_ASSERT(kept->state == SC_STATE_KEPT && (kept->flags & SCHED_OPEN) && kept->graph == t->self);
        }
        SC_ASSERT(open == g->open.len);
}

/* Adds to refs[row] what each list of siblings reads. */
static void reads_count(const struct sc_sched *s, uint32_t at, uint32_t *refs)
{
        for (; at != SCHED_NONE; at = sc_sched_edge(s, at)->sibling) {
                const struct sched_edge *e = sc_sched_edge(s, at);
                if (e->read && e->of != SCHED_NONE)
                        refs[e->of]++;
        }
}

static void refs_check(const struct sc_sched *s)
{
        uint32_t *refs = sc_mem_array(s->mem, s->made + 1, sizeof *refs);
        if (!refs)
                return; /* a test without memory */
        memset(refs, 0, s->made * sizeof *refs);
        uint32_t releasing = 0;
        for (uint32_t i = 0; i < s->made; i++) {
                const struct sched_node *node = sc_sched_node(sc_sched_row(s, i));
                if (node)
                        reads_count(s, node->edges, refs);
        }
        for (uint32_t at = s->release; at != SCHED_NONE; at = sc_sched_edge(s, at)->next, releasing++) {
                reads_count(s, at, refs);
                refs[sc_sched_edge(s, at)->reader]++;
        }
        for (uint32_t at = s->marked_first; at != SCHED_NONE; at = sc_sched_row(s, at)->child) {
                SC_ASSERT(sc_sched_row(s, at)->flags & SCHED_MARKED);
                refs[at]++;
        }
        for (uint32_t i = 0; i < s->made; i++) {
                const struct sched_task *t = sc_sched_row(s, i);
                SC_ASSERT(t->state == SC_STATE_FREE || t->refs == refs[i]);
                SC_ASSERT(t->state != SC_STATE_KEPT || t->refs > 0 || (t->flags & SCHED_OPEN));
        }
        SC_ASSERT(releasing == s->releasing);
        sc_mem_release(s->mem, refs, (s->made + 1) * sizeof *refs);
}

void sc_sched_graph_check(const struct sc_sched *s)
{
        uint32_t edges = 0, sweeps = 0, used = s->edge_made - s->edge_spare;
        bool     any = used > 0;
        for (uint32_t i = 0; i < s->made; i++) {
                const struct sched_task *t = sc_sched_row(s, i);
                if (t->state == SC_STATE_FREE)
                        continue;
                chain_check(s, t);
                edges += node_check(s, t);
                any = any || t->refs > 0 || t->kind == SC_TASK_GRAPH || t->state == SC_STATE_KEPT;
                if (t->kind != SC_TASK_GRAPH)
                        continue;
                graph_check(s, t);
                sweeps += sc_sched_graph(t)->sweeping;
        }
        for (uint32_t at = s->release; at != SCHED_NONE; at = sc_sched_edge(s, at)->next) {
                for (uint32_t one = at; one != SCHED_NONE; one = sc_sched_edge(s, one)->sibling)
                        edges++;
        }
        SC_ASSERT(edges == used && sweeps == s->sweeps);
        bool idle = s->marked_first == SCHED_NONE && s->release == SCHED_NONE && sc_list_empty(&s->graphs);
        SC_ASSERT(s->more || idle);
        if (any)
                refs_check(s);
}
