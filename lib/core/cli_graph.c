/*
 * Dependencies and graphs as the client keeps them.  What a task depends on stays, held with its result, until that
 * task has ended: should the scheduler be another one by then, or have forgotten, the result travels along.  A graph
 * is a row whose nodes have the sequences behind it; it is sent when the grant covers all of it, and ends when the
 * scheduler says that all nodes have.  In a new epoch only what unanswered targets need is sent again.
 */
#include "cli_own.h"

#include <string.h>

#include "after.h"
#include "sc_assert.h"
#include "sc_mem.h"
#include "sc_status.h"

/* ---- kept with the row ----------------------------------------------------------------------------- */

static uint32_t reads(const struct sc_plan *plan)
{
        uint32_t count = 0;
        for (uint32_t i = 0; i < sc_after_count(plan->after); i++)
                count += (sc_after_get(plan->after, i) & SC_AFTER_READ) != 0;
        return count;
}

static size_t own_bytes(const struct sc_plan *plan)
{
        size_t size = 0;
        for (uint32_t i = 0; i < plan->results.count; i++)
                size += sizeof(uint32_t) + plan->results.at[i].len;
        return size;
}

size_t sc_cli_graph_size(const struct sc_plan *plan)
{
        return (plan->nodes > 0 ? sizeof(struct sc_cli_graph) : 0) + reads(plan) * sizeof(struct sc_view) +
               plan->after.len + own_bytes(plan);
}

/* `at` is aligned for all of it. */
void sc_cli_graph_keep(struct sc_cli_row *row, const struct sc_plan *plan, unsigned char **at)
{
        struct sc_cli_plan *kept = sc_cli_plan(row);
        row->inner               = (plan->graph_flags & SC_GRAPH_INNER) && plan->nodes == 0;
        if (plan->nodes > 0) {
                kept->graph = (struct sc_cli_graph *)(void *)*at;
                *at += sizeof *kept->graph;
                *kept->graph = (struct sc_cli_graph){ .nodes = plan->nodes };
                sc_list_init(&kept->graph->over);
        }
        kept->results = (struct sc_view *)(void *)*at;
        *at += reads(plan) * sizeof *kept->results;
        kept->after = *at;
        if (plan->after.len > 0)
                memcpy(kept->after, plan->after.ptr, plan->after.len);
        *at += plan->after.len;
        kept->plan.after = (struct sc_view){ kept->after, plan->after.len };
        kept->own        = *at;
        for (uint32_t i = 0; i < plan->results.count; i++) {
                const struct sc_view bytes = plan->results.at[i];
                const uint32_t       len   = (uint32_t)bytes.len;
                memcpy(*at, &len, sizeof len);
                *at += sizeof len;
                if (len > 0)
                        memcpy(*at, bytes.ptr, len);
                *at += len;
                row->extra += len;
        }
        kept->plan.results = (struct sc_views){ NULL, 0 };
}

struct sc_cli_row *sc_cli_graph_head(const struct sc_cli *c, const struct sc_cli_row *row)
{
        if (!row->spec.plan || row->spec.plan->graph == 0)
                return NULL;
        return sc_cli_find(c, (struct sc_id){ c->id, row->spec.plan->graph });
}

struct sc_cli_graph *sc_cli_graph_of(const struct sc_cli *c, const struct sc_cli_row *row)
{
        struct sc_cli_row *head = sc_cli_graph_head(c, row);
        return head ? sc_cli_plan(head)->graph : NULL;
}

/* ---- who depends on whom ------------------------------------------------------------------------------ */

/* What entry i names, if that is still there; an entry whose result came with the task names nothing. */
static struct sc_cli_row *named(const struct sc_cli *c, const struct sc_cli_row *row, uint32_t i, uint64_t *entry)
{
        *entry = sc_after_get(row->spec.plan->after, i);
        return sc_cli_find(c, (struct sc_id){ c->id, *entry & SC_AFTER_SEQUENCE });
}

static uint32_t entries(const struct sc_cli_row *row)
{
        return row->spec.plan ? sc_after_count(row->spec.plan->after) : 0;
}

static bool is_live(enum sc_cli_state state)
{
        return state == SC_CLI_UNSENT || state == SC_CLI_SENT;
}

static void free_held(struct sc_cli *c, struct sc_cli_row *row)
{
        if (row->held)
                sc_mem_release(c->mem, row->held, sizeof *row->held + row->held->len);
        row->held = NULL;
}

static void depend(struct sc_cli *c, const struct sc_cli_row *row)
{
        for (uint32_t i = 0; i < entries(row); i++) {
                uint64_t           entry;
                struct sc_cli_row *of = named(c, row, i, &entry);
                SC_ASSERT(of || (entry & SC_AFTER_ENDED));
                if (of)
                        of->readers++;
        }
}

static void count_refs(struct sc_cli *c, const struct sc_cli_row *row, bool sent)
{
        for (uint32_t i = 0; i < entries(row); i++) {
                uint64_t           entry;
                struct sc_cli_row *of = named(c, row, i, &entry);
                if (!of || (entry & SC_AFTER_ENDED))
                        continue;
                of->refs += sent ? 1 : UINT32_MAX;
                if (of->state == SC_CLI_HELD && of->refs == 0)
                        c->held_counted--;
        }
}

static void let_go(struct sc_cli *c, const struct sc_cli_row *row)
{
        for (uint32_t i = 0; i < entries(row); i++) {
                uint64_t           entry;
                struct sc_cli_row *of = named(c, row, i, &entry);
                if (of && --of->readers == 0 && of->state == SC_CLI_HELD)
                        sc_cli_move_row(c, of, SC_CLI_END);
        }
}

static void node_moved(struct sc_cli_graph *g, enum sc_cli_state from, enum sc_cli_state to, size_t weight)
{
        g->admitted += from == SC_CLI_FREE;
        g->live += (uint32_t)is_live(to) - (uint32_t)is_live(from);
        g->unsent += (uint32_t)(to == SC_CLI_UNSENT) - (uint32_t)(from == SC_CLI_UNSENT);
        g->unsent_bytes += to == SC_CLI_UNSENT ? weight : 0;
        g->unsent_bytes -= from == SC_CLI_UNSENT ? weight : 0;
}

/* The row has its new state, and is still there. */
void sc_cli_graph_moved(struct sc_cli *c, struct sc_cli_row *row, enum sc_cli_state from, size_t weight)
{
        const enum sc_cli_state to = row->state;
        struct sc_cli_graph    *g  = sc_cli_graph_of(c, row);
        if (g)
                node_moved(g, from, to, weight);
        if (from == SC_CLI_FREE)
                depend(c, row);
        if (from == SC_CLI_SENT || to == SC_CLI_SENT)
                count_refs(c, row, to == SC_CLI_SENT);
        if (is_live(from) && !is_live(to))
                let_go(c, row);
        if (to == SC_CLI_HELD && row->refs > 0)
                c->held_counted++;
        if (to == SC_CLI_FREE)
                free_held(c, row);
}

/* ---- results that are kept ------------------------------------------------------------------------------ */

/* False: nobody will ask for it.  Without memory those who would have read it end as if it had failed. */
bool sc_cli_graph_hold(struct sc_cli *c, struct sc_cli_row *row, const struct sc_result *result)
{
        if (row->readers == 0 || c->phase != SC_CLI_OPEN)
                return false;
        const struct sc_view bytes = result->outcome.result;
        const bool           good  = result->outcome.reason == SC_REASON_SUCCESS;
        row->held = sc_mem_alloc(c->mem, sizeof *row->held + (good ? bytes.len : 0));
        if (row->held) {
                *row->held = (struct sc_cli_held){ .reason = result->outcome.reason, .root = result->root,
                                                   .root_reason = result->root_reason, .len = good ? bytes.len : 0 };
                if (row->held->len > 0)
                        memcpy(row->held->bytes, bytes.ptr, bytes.len);
        }
        sc_cli_move_row(c, row, SC_CLI_HOLD);
        return true;
}

static void break_plan(struct sc_plan *plan, uint64_t root, uint32_t reason)
{
        if (plan->root_reason != 0)
                return;
        plan->root        = root;
        plan->root_reason = reason;
}

static void broken_by(struct sc_plan *plan, const struct sc_cli_row *of)
{
        if (!of->held)
                break_plan(plan, of->sequence, SC_REASON_CLIENT);
        else if (of->held->root != 0)
                break_plan(plan, of->held->root, of->held->root_reason);
        else
                break_plan(plan, of->sequence, of->held->reason);
}

static struct sc_view next_own(const uint8_t **at)
{
        uint32_t len;
        memcpy(&len, *at, sizeof len);
        const struct sc_view bytes = { *at + sizeof len, len };
        *at += sizeof len + len;
        return bytes;
}

/* The results that are told: what it came with, and what is held of those it reads. */
static void fill_results(struct sc_cli *c, struct sc_cli_row *row)
{
        struct sc_cli_plan *kept  = sc_cli_plan(row);
        const uint8_t      *own   = kept->own;
        uint32_t            known = 0;
        row->extra                = 0;
        for (uint32_t i = 0; i < entries(row); i++) {
                uint64_t                 entry;
                const struct sc_cli_row *of = named(c, row, i, &entry);
                if (!(entry & SC_AFTER_READ) || !(entry & SC_AFTER_ENDED))
                        continue;
                struct sc_view *view = &kept->results[known++];
                if ((entry & SC_AFTER_SEQUENCE) == 0)
                        *view = next_own(&own);
                else if (of && of->held)
                        *view = (struct sc_view){ of->held->bytes, of->held->len };
                else
                        *view = (struct sc_view){ "", 0 };
                row->extra += view->len;
        }
        kept->plan.results = (struct sc_views){ kept->results, known };
}

/* Before it is sent: what has ended meanwhile is told as ended. */
void sc_cli_graph_prepare(struct sc_cli *c, struct sc_cli_row *row)
{
        const size_t before = sc_cli_weight(row);
        for (uint32_t i = 0; i < entries(row); i++) {
                uint64_t                 entry;
                const struct sc_cli_row *of = named(c, row, i, &entry);
                if ((entry & SC_AFTER_ENDED) || of->state != SC_CLI_HELD)
                        continue;
                sc_after_put(sc_cli_plan(row)->after, i, entry | SC_AFTER_ENDED);
                if (!of->held || of->held->reason != SC_REASON_SUCCESS)
                        broken_by(&sc_cli_plan(row)->plan, of);
        }
        if (entries(row) == 0)
                return;
        fill_results(c, row);
        if (row->spec.body.len + row->extra > SC_BODY_MAX && reads(row->spec.plan) > 0)
                break_plan(&sc_cli_plan(row)->plan, row->sequence, SC_REASON_LIMIT);
        if (row->spec.plan->root_reason != 0) { /* it will not run: nobody needs the bytes */
                for (uint32_t i = 0; i < row->spec.plan->results.count; i++)
                        sc_cli_plan(row)->results[i].len = 0;
                row->extra = 0;
        }
        const size_t         after = sc_cli_weight(row);
        struct sc_cli_graph *g     = sc_cli_graph_of(c, row);
        c->bytes += after - before;
        if (g)
                g->unsent_bytes += after - before;
}

/* ---- credit --------------------------------------------------------------------------------------------- */

/* What must be free for the next row to be sent: a graph is sent whole. */
void sc_cli_graph_need(const struct sc_cli *c, const struct sc_cli_row *row, uint64_t *tasks, uint64_t *bytes)
{
        const bool                 head = row->spec.plan && row->spec.plan->nodes > 0;
        const struct sc_cli_graph *g = head ? sc_cli_plan((struct sc_cli_row *)(uintptr_t)row)->graph
                                            : sc_cli_graph_of(c, row);
        *tasks = g ? g->unsent + (uint64_t)head : 1;
        *bytes = (g ? g->unsent_bytes : 0) + (g && !head ? 0 : sc_cli_weight(row));
}

bool sc_cli_graph_fits(const struct sc_cli *c, const struct sc_cli_row *row)
{
        uint64_t tasks, bytes;
        if (row->spec.plan && row->spec.plan->nodes > 0) {
                const struct sc_cli_graph *g = sc_cli_plan((struct sc_cli_row *)(uintptr_t)row)->graph;
                if (g->admitted < g->nodes || g->is_over)
                        return false;
        }
        sc_cli_graph_need(c, row, &tasks, &bytes);
        const uint64_t used = c->pending - c->unsent_count + c->held_counted;
        return used + tasks <= c->grant_tasks && c->sent_bytes + bytes <= (uint64_t)c->grant_kib << 10;
}

static char *add(char *at, const char *end, const char *words)
{
        while (*words && at < end)
                *at++ = *words++;
        return at;
}

static char *add_number(char *at, const char *end, uint64_t number)
{
        char digits[21], *first = digits + sizeof digits - 1;
        *first = '\0';
        do {
                *--first = (char)('0' + number % 10);
                number /= 10;
        } while (number > 0);
        return add(at, end, first);
}

/* True: the scheduler will never grant so much, and the graph is being ended.  That is known once it is all here, and
 * its nodes could not be ended before. */
bool sc_cli_graph_refuse(struct sc_cli *c, struct sc_cli_row *row)
{
        if (!row->spec.plan || row->spec.plan->nodes == 0)
                return false;
        const struct sc_cli_graph *g = sc_cli_plan(row)->graph;
        uint64_t                   tasks, bytes;
        if (g->admitted < g->nodes)
                return false;
        sc_cli_graph_need(c, row, &tasks, &bytes);
        const bool many = c->tasks_most > 0 && tasks > c->tasks_most;
        const bool big  = c->kib_most > 0 && bytes > (uint64_t)c->kib_most << 10;
        if (!many && !big)
                return false;
        char        text[SC_TEXT_MAX + 1];
        const char *end = text + SC_TEXT_MAX;
        char       *at  = add(text, end, many ? "the graph has " : "the graph's arguments have ");
        at              = add_number(at, end, many ? tasks - 1 : bytes);
        at              = add(at, end, many ? " nodes; of one client the scheduler holds at most "
                                            : " bytes; of one client the scheduler holds at most ");
        at              = add_number(at, end, many ? c->tasks_most - 1u : (uint64_t)c->kib_most << 10);
        *at             = '\0';
        sc_cli_graph_end(c, row, SC_REASON_LIMIT, text);
        return true;
}

/* ---- a new epoch ---------------------------------------------------------------------------------------- */

static void rewind_begins(struct sc_cli_graph *g)
{
        if (g->rewinding)
                return;
        g->rewinding = true;
        g->cull      = g->unsent == 0; /* else nodes that were never sent would have to be looked at first */
}

/* Nodes come last first: whoever needs one has been here before it.  True: it was not needed, and is gone. */
bool sc_cli_graph_cull(struct sc_cli *c, struct sc_cli_row *row)
{
        struct sc_cli_graph *g = sc_cli_graph_of(c, row);
        if (!g)
                return false;
        rewind_begins(g);
        if (row->told || row->cancelling != SC_CLI_CANCEL_NONE)
                return false; /* it ends here, and needs nothing */
        if (row->inner && g->cull && !row->needed) {
                g->culled++;
                sc_cli_move_row(c, row, SC_CLI_END);
                return true;
        }
        row->needed = false;
        for (uint32_t i = 0; i < entries(row); i++) {
                uint64_t           entry;
                struct sc_cli_row *of = named(c, row, i, &entry);
                if (of && of->state != SC_CLI_HELD)
                        of->needed = true;
        }
        return false;
}

static void add_counts(struct sc_graph_done *to, const struct sc_graph_done *of)
{
        to->succeeded += of->succeeded;
        to->failed += of->failed;
        to->cancelled += of->cancelled;
        to->skipped += of->skipped;
        if (to->root_reason == 0) {
                to->root        = of->root;
                to->root_reason = of->root_reason;
        }
}

/* The graph's own row is to be sent again, with what is left of it. */
void sc_cli_graph_rewound(struct sc_cli *c, struct sc_cli_row *row)
{
        struct sc_cli_graph *g = sc_cli_plan(row)->graph;
        if (!g)
                return;
        g->rewinding = g->cull = false;
        add_counts(&g->before, &g->told);
        g->told = (struct sc_graph_done){ .reason = 0 };
        if (row->cancelling != SC_CLI_CANCEL_NONE)
                sc_cli_graph_end(c, row, SC_REASON_CANCELLED, "cancelled");
        else if (g->live == 0)
                sc_cli_graph_end(c, row, SC_REASON_SUCCESS, "");
}

/* ---- ends ------------------------------------------------------------------------------------------------- */

void sc_cli_graph_answered(struct sc_cli *c, const struct sc_cli_row *row, uint8_t reason, uint64_t root,
                           uint8_t root_reason)
{
        struct sc_cli_graph *g = sc_cli_graph_of(c, row);
        if (!g)
                return;
        g->told.succeeded += reason == SC_REASON_SUCCESS;
        g->told.cancelled += reason == SC_REASON_CANCELLED;
        g->told.skipped += reason == SC_REASON_DEPENDENCY;
        g->told.failed += reason != SC_REASON_SUCCESS && reason != SC_REASON_CANCELLED &&
                          reason != SC_REASON_DEPENDENCY;
        if (g->told.root_reason == 0 && reason != SC_REASON_SUCCESS && reason != SC_REASON_CANCELLED) {
                g->told.root        = root != 0 ? root : row->sequence;
                g->told.root_reason = root != 0 ? root_reason : reason;
        }
}

/* What is left of it is ended, some rows a step; then it is over itself. */
static void begin_end(struct sc_cli *c, struct sc_cli_row *row, enum sc_reason reason, const char *text)
{
        struct sc_cli_graph *g = sc_cli_plan(row)->graph;
        SC_ASSERT(!g->is_over);
        g->is_over = true;
        g->reason  = (uint8_t)reason;
        g->sequence = row->sequence;
        g->cursor   = row->sequence + 1;
        const size_t len = strlen(text) < SC_TEXT_MAX ? strlen(text) : SC_TEXT_MAX;
        memcpy(g->text, text, len);
        g->text[len] = '\0';
        sc_list_add_tail(&c->graphs_over, &g->over);
}

static enum sc_reason reason_of(const struct sc_graph_done *done)
{
        if (done->failed + done->skipped > 0)
                return SC_REASON_DEPENDENCY;
        return done->cancelled > 0 ? SC_REASON_CANCELLED : SC_REASON_SUCCESS;
}

/* Without the scheduler's word: of its nodes we know what we were told. */
void sc_cli_graph_end(struct sc_cli *c, struct sc_cli_row *row, enum sc_reason reason, const char *text)
{
        struct sc_cli_graph *g = sc_cli_plan(row)->graph;
        if (g->is_over)
                return;
        g->done = (struct sc_graph_done){ .reason = (uint8_t)reason };
        add_counts(&g->done, &g->before);
        add_counts(&g->done, &g->told);
        const bool whole = g->done.failed + g->done.cancelled + g->done.skipped == 0;
        g->done.succeeded += whole && reason == SC_REASON_SUCCESS ? g->culled : 0;
        g->done.skipped += whole && reason == SC_REASON_SUCCESS ? 0 : g->culled;
        g->done.cancelled += reason == SC_REASON_CANCELLED ? g->live : 0;
        g->done.failed += reason != SC_REASON_CANCELLED ? g->live : 0;
        if (reason == SC_REASON_SUCCESS)
                g->done.reason = (uint8_t)reason_of(&g->done);
        begin_end(c, row, reason, text);
}

void sc_cli_graph_done(struct sc_cli *c, const struct sc_graph_done *done)
{
        struct sc_cli_row   *row = sc_cli_find(c, done->task);
        struct sc_cli_graph *g   = row && row->spec.plan ? sc_cli_plan(row)->graph : NULL;
        if (!g || g->is_over || row->state != SC_CLI_SENT)
                return; /* a repetition */
        g->done = *done;
        const uint8_t reason = done->reason;
        add_counts(&g->done, &g->before);
        const bool whole = g->done.failed + g->done.cancelled + g->done.skipped == 0;
        g->done.succeeded += whole ? g->culled : 0;
        g->done.skipped += whole ? 0 : g->culled;
        if (reason == SC_REASON_SUCCESS)
                g->done.reason = (uint8_t)reason_of(&g->done);
        begin_end(c, row, SC_REASON_CLIENT, "the scheduler ended its graph without a word of it");
}

void sc_cli_graph_report(const struct sc_cli_row *row, struct sc_graph_done *out)
{
        const struct sc_cli_graph *g = sc_cli_plan((struct sc_cli_row *)(uintptr_t)row)->graph;
        *out                         = g->done;
        if (g->is_over)
                return;
        add_counts(out, &g->before);
        add_counts(out, &g->told);
}

static void end_node(struct sc_cli *c, const struct sc_cli_graph *g, struct sc_cli_row *row, struct sc_out *out)
{
        if (row->inner)
                sc_cli_move_row(c, row, SC_CLI_END);
        else
                sc_cli_end(c, row, (enum sc_reason)g->reason, 0, c->graph_text, out);
}

/* True: it is over. */
static bool end_some(struct sc_cli *c, struct sc_cli_graph *g, struct sc_out *out)
{
        uint32_t visits = 0;
        for (; g->cursor <= g->sequence + g->admitted; g->cursor++) {
                if (++visits > SC_ROWS_MAX || sc_cli_room(out) < 4)
                        return false;
                struct sc_cli_row *row = sc_cli_find(c, (struct sc_id){ c->id, g->cursor });
                if (row && is_live(row->state))
                        end_node(c, g, row, out);
        }
        return true;
}

/* One a step: what its effects say is lent by the client, since the graph's row goes. */
void sc_cli_graphs_run(struct sc_cli *c, struct sc_out *out)
{
        if (sc_list_empty(&c->graphs_over))
                return;
        struct sc_cli_graph *g = SC_CONTAINER(c->graphs_over.next, struct sc_cli_graph, over);
        memcpy(c->graph_text, g->text, sizeof c->graph_text);
        if (!end_some(c, g, out))
                return;
        sc_list_remove(&g->over);
        struct sc_cli_row   *row    = sc_cli_find(c, (struct sc_id){ c->id, g->sequence });
        const enum sc_reason reason = (enum sc_reason)g->done.reason;
        const bool           ours   = g->reason != SC_REASON_CLIENT && g->reason != SC_REASON_SUCCESS;
        const char          *other  = reason == SC_REASON_SUCCESS ? "" : "not all of its nodes have succeeded";
        sc_cli_end(c, row, reason, 0, ours ? c->graph_text : other, out);
}
