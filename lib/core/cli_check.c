/* Every invariant of the client's core, walked and asserted; for tests and the simulator. */
#include "cli_own.h"

#include "sc_assert.h"

static bool is_of_graph(const struct sc_cli_row *row)
{
        return row->spec.kind == SC_TASK_GRAPH || (row->spec.plan && row->spec.plan->graph != 0);
}

/* Results that are kept have somebody who depends on them. */
static void check_held(const struct sc_cli *c, uint32_t *planned)
{
        uint32_t counted = 0;
        for (struct sc_list *at = c->held.next; at != &c->held; at = at->next) {
                const struct sc_cli_row *row = SC_CONTAINER(at, struct sc_cli_row, link);
                SC_ASSERT(row->state == SC_CLI_HELD && row->readers > 0 && row->refs <= row->readers);
                SC_ASSERT(sc_cli_find(c, (struct sc_id){ .hi = c->id, .lo = row->sequence }) == row);
                counted += row->refs > 0;
                *planned += row->spec.plan != NULL;
        }
        SC_ASSERT(counted == c->held_counted);
}

/* A graph knows how many of its nodes are there. */
static void check_graph(const struct sc_cli *c, const struct sc_cli_row *row)
{
        const struct sc_cli_graph *g    = sc_cli_plan((struct sc_cli_row *)(uintptr_t)row)->graph;
        uint32_t                   live = 0, unsent = 0;
        if (!g)
                return;
        for (uint64_t at = row->sequence + 1; at <= row->sequence + g->admitted; at++) {
                const struct sc_cli_row *node = sc_cli_find(c, (struct sc_id){ .hi = c->id, .lo = at });
                live += node && (node->state == SC_CLI_SENT || node->state == SC_CLI_UNSENT);
                unsent += node && node->state == SC_CLI_UNSENT;
        }
        SC_ASSERT(live == g->live && unsent == g->unsent && g->admitted <= g->nodes);
}

static void check_plan(const struct sc_cli *c, struct sc_cli_row *row)
{
        const struct sc_cli_plan *plan  = sc_cli_plan(row);
        const bool                 timed = plan->position != SC_HEAP_NOWHERE;
        const bool                 late  = !sc_list_empty(&plan->overdue);
        SC_ASSERT(row->spec.plan == &plan->plan);
        SC_ASSERT(!timed || c->timed.at[plan->position] == plan);
        SC_ASSERT(!(timed && late));
        SC_ASSERT(!late || (row->state == SC_CLI_SENT && !row->told && plan->deadline_at <= c->now));
        SC_ASSERT(timed || late || row->told || plan->deadline_at == SC_NEVER || plan->plan.graph != 0);
}

static uint32_t check_list(const struct sc_cli *c, const struct sc_list *list, enum sc_cli_state state, uint64_t *last,
                           uint64_t *bytes, uint32_t *told, uint32_t *planned)
{
        uint32_t count = 0;
        for (struct sc_list *at = list->next; at != list; at = at->next) {
                const struct sc_cli_row *row = SC_CONTAINER(at, struct sc_cli_row, link);
                SC_ASSERT(row->state == state);
                SC_ASSERT(row->sequence > *last);
                SC_ASSERT(sc_cli_find(c, (struct sc_id){ .hi = c->id, .lo = row->sequence }) == row);
                SC_ASSERT(row->stream.consumed <= row->stream.received);
                SC_ASSERT((row->stream.run != 0) == !sc_list_empty(&row->output));
                SC_ASSERT(!row->unconfirmed || !sc_list_empty(&row->cancel));
                SC_ASSERT(row->unconfirmed || sc_list_empty(&row->cancel));
                SC_ASSERT(state == SC_CLI_SENT || row->cancelling == SC_CLI_CANCEL_NONE || is_of_graph(row));
                SC_ASSERT(!row->held && (row->readers > 0 || row->refs == 0));
                SC_ASSERT(!row->told || (state == SC_CLI_SENT && !row->unconfirmed && row->stream.run == 0));
                *told += row->told;
                *planned += row->spec.plan != NULL;
                if (row->spec.plan)
                        check_plan(c, (struct sc_cli_row *)(uintptr_t)row);
                if (row->spec.plan)
                        check_graph(c, row);
                *last = row->sequence;
                *bytes += sc_cli_weight(row);
                count++;
        }
        return count;
}

void sc_cli_check(const struct sc_cli *c)
{
        uint64_t       last  = 0;
        uint64_t       bytes = 0;
        uint32_t       told = 0, planned = 0;
        const uint32_t sent  = check_list(c, &c->sent, SC_CLI_SENT, &last, &bytes, &told, &planned);
        SC_ASSERT(bytes == c->sent_bytes);
        const uint32_t unsent = check_list(c, &c->unsent, SC_CLI_UNSENT, &last, &bytes, &told, &planned);
        SC_ASSERT(bytes == c->bytes);
        SC_ASSERT(unsent == c->unsent_count);
        SC_ASSERT(sent + unsent == c->pending);
        check_held(c, &planned);
        SC_ASSERT(told == c->told && planned == c->planned);
        for (size_t i = 1; i < c->timed.len; i++)
                SC_ASSERT(!sc_cli_plan_before(c->timed.at[i], c->timed.at[(i - 1) / 2]));
        SC_ASSERT(c->pending <= c->pending_max);
        SC_ASSERT(last < c->next);
        SC_ASSERT(c->link != 0 || c->ticket_count + c->ask_count == 0);
        SC_ASSERT(c->phase != SC_CLI_OVER || c->pending + c->many_count == 0);
        uint32_t sweeping = 0;
        for (uint32_t i = 0; i < c->many_count; i++)
                sweeping += c->many[i].state == SC_CLI_MANY_SWEEP;
        SC_ASSERT(sweeping == c->sweep_count && (c->sweep_count > 0 || !c->sweep));
        const struct sc_id at = { .hi = c->id, .lo = c->sweep ? c->sweep->sequence : 0 };
        SC_ASSERT(!c->sweep || sc_cli_find(c, at) == c->sweep);
}
