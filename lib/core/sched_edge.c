/*
 * Who depends on whom.  An edge is found from both its ends: it stands in the chain of the task that is
 * waited for, until that ends, and in the list of the one that waits, until that ends.  A row that is read is
 * kept until its last reader has ended.  Rows whose end is to be passed on are marked and queue up; that queue,
 * and the edges of ended rows that are not let go yet, are worked off in steps of bounded length.
 */
#include "sched_state.h"

#include <string.h>

#include "after.h"
#include "sc_assert.h"

/* ---- the pool ----------------------------------------------------------------------------------*/

static bool page_add(struct sc_sched *s)
{
        uint32_t pages = s->edge_made / SCHED_PAGE;
        if (pages == s->edge_page_cap) {
                uint32_t            cap  = pages > 0 ? pages * 2 : 16;
                struct sched_edge **page = s->edge_page;
                page = sc_mem_resize(s->mem, page, pages * sizeof *page, cap * sizeof *page);
                if (!page)
                        return false;
                s->edge_page     = page;
                s->edge_page_cap = cap;
        }
        struct sched_edge *fresh = sc_mem_array(s->mem, SCHED_PAGE, sizeof *fresh);
        if (!fresh)
                return false;
        s->edge_page[pages] = fresh;
        for (uint32_t i = SCHED_PAGE; i-- > 0;) {
                fresh[i]     = (struct sched_edge){ .sibling = s->edge_free };
                s->edge_free = s->edge_made + i;
        }
        s->edge_made += SCHED_PAGE;
        s->edge_spare += SCHED_PAGE;
        return true;
}

bool sc_sched_edges_reserve(struct sc_sched *s, uint32_t count)
{
        while (s->edge_spare < count) {
                if (!page_add(s))
                        return false;
        }
        return true;
}

void sc_sched_edges_fini(struct sc_sched *s)
{
        for (uint32_t i = 0; i < s->edge_made / SCHED_PAGE; i++)
                sc_mem_release(s->mem, s->edge_page[i], SCHED_PAGE * sizeof **s->edge_page);
        sc_mem_release(s->mem, s->edge_page, s->edge_page_cap * sizeof *s->edge_page);
}

static uint32_t take(struct sc_sched *s)
{
        SC_ASSERT(s->edge_spare > 0);
        uint32_t at  = s->edge_free;
        s->edge_free = sc_sched_edge(s, at)->sibling;
        s->edge_spare--;
        return at;
}

static void give_back(struct sc_sched *s, uint32_t at)
{
        *sc_sched_edge(s, at) = (struct sched_edge){ .sibling = s->edge_free };
        s->edge_free          = at;
        s->edge_spare++;
}

/* ---- chains ------------------------------------------------------------------------------------*/

static void chain(struct sc_sched *s, uint32_t at, struct sched_task *of)
{
        struct sched_edge *e = sc_sched_edge(s, at);
        e->chained           = true;
        e->prev              = SCHED_NONE;
        e->next              = of->edges;
        if (of->edges != SCHED_NONE)
                sc_sched_edge(s, of->edges)->prev = at;
        of->edges = at;
}

static void unchain(struct sc_sched *s, struct sched_edge *e)
{
        if (e->prev == SCHED_NONE)
                sc_sched_row(s, e->of)->edges = e->next;
        else
                sc_sched_edge(s, e->prev)->next = e->next;
        if (e->next != SCHED_NONE)
                sc_sched_edge(s, e->next)->prev = e->prev;
        e->chained = false;
}

static void unref(struct sc_sched *s, struct sched_task *t)
{
        SC_ASSERT(t->refs > 0);
        if (--t->refs == 0 && t->state == SC_STATE_KEPT && !(t->flags & SCHED_OPEN))
                sc_sched_move(s, t, SC_MOVE_FORGET);
}

/* ---- admission ---------------------------------------------------------------------------------*/

void sc_sched_break(struct sched_node *node, uint64_t root, uint8_t reason)
{
        if (node->root_reason != 0)
                return;
        node->root        = root;
        node->root_reason = reason;
}

static bool is_broken_by(const struct sched_task *of)
{
        return of->words >= SCHED_WORDS_DEPENDENCY;
}

static uint64_t root_of(const struct sched_task *of)
{
        return is_broken_by(of) ? of->order : of->id.lo;
}

static uint8_t root_reason_of(const struct sched_task *of)
{
        return is_broken_by(of) ? (uint8_t)of->root_reason : of->reason;
}

static size_t result_length(const struct sched_task *of)
{
        struct sc_outcome outcome;
        sc_sched_outcome(of, &outcome);
        return outcome.result.len;
}

/* `of` is there: waited for, read, or of no further interest. */
static void connect(struct sc_sched *s, struct sched_node *node, uint32_t at, struct sched_task *of)
{
        struct sched_edge *e     = sc_sched_edge(s, at);
        const bool         ended = of->state == SC_STATE_ENDED || of->state == SC_STATE_KEPT;
        if (ended && of->reason != SC_REASON_SUCCESS) {
                sc_sched_break(node, root_of(of), root_reason_of(of));
                return;
        }
        if (ended && !e->read)
                return;
        e->of = of->self;
        of->refs += e->read;
        if (ended) {
                node->input_bytes += result_length(of);
                return;
        }
        chain(s, at, of);
        node->waiting++;
}

void sc_sched_edges_add(struct sc_sched *s, struct sched_task *t, const struct sc_plan *plan)
{
        struct sched_node *node  = sc_sched_node(t);
        uint32_t           count = (uint32_t)(plan->after.len / 8), known = 0, *link = &node->edges;
        for (uint32_t i = 0; i < count; i++) {
                uint64_t           entry = sc_after_get(plan->after, i);
                uint32_t           at    = take(s);
                struct sched_edge *e     = sc_sched_edge(s, at);
                *e = (struct sched_edge){ .reader = t->self, .of = SCHED_NONE, .sibling = SCHED_NONE,
                                          .read = (entry & SC_AFTER_READ) != 0 };
                *link = at;
                link  = &e->sibling;
                node->inputs += e->read;
                if (!(entry & SC_AFTER_ENDED))
                        connect(s, node, at, sc_sched_find(s, (struct sc_id){ t->id.hi, entry & SC_AFTER_SEQUENCE }));
                else if (e->read)
                        e->prev = (uint32_t)plan->results.at[known++].len;
        }
        node->input_bytes += node->constants;
}

/* ---- passing an end on -------------------------------------------------------------------------*/

void sc_sched_mark(struct sc_sched *s, struct sched_task *t)
{
        if (t->flags & SCHED_MARKED)
                return;
        t->flags |= SCHED_MARKED;
        t->refs++;
        t->child = SCHED_NONE;
        if (s->marked_first == SCHED_NONE)
                s->marked_first = t->self;
        else
                sc_sched_row(s, s->marked_last)->child = t->self;
        s->marked_last = t->self;
}

static void unmark(struct sc_sched *s, struct sched_task *t)
{
        s->marked_first = t->child;
        t->child        = SCHED_NONE;
        t->flags &= (uint16_t)~SCHED_MARKED;
        unref(s, t);
}

static bool is_live(const struct sched_task *t)
{
        return t->state != SC_STATE_ENDED && t->state != SC_STATE_KEPT;
}

/* All has succeeded that it waited for. */
static void unblock(struct sc_sched *s, struct sched_task *t, struct sched_node *node)
{
        if (sc_sched_node_is_too_big(t, node)) {
                sc_sched_break(node, t->id.lo, SC_REASON_LIMIT);
                return;
        }
        t->flags &= (uint16_t)~SCHED_BLOCKED;
        if (t->state == SC_STATE_WAITING)
                sc_sched_move(s, t, sc_sched_plan_unblock(s, t));
}

/* The first edge of the chain of an ended row is passed. */
static void pass(struct sc_sched *s, struct sched_task *of)
{
        struct sched_edge *e      = sc_sched_edge(s, of->edges);
        struct sched_task *reader = sc_sched_row(s, e->reader);
        unchain(s, e);
        if (!is_live(reader))
                return; /* its edges are on their way out */
        struct sched_node *node = sc_sched_node(reader);
        node->waiting--;
        if (of->reason != SC_REASON_SUCCESS)
                sc_sched_break(node, root_of(of), root_reason_of(of));
        else if (e->read)
                node->input_bytes += result_length(of);
        if (!e->read)
                e->of = SCHED_NONE;
        if (node->root_reason == 0 && node->waiting == 0)
                unblock(s, reader, node);
        if (node->root_reason != 0 && reader->state == SC_STATE_WAITING)
                sc_sched_mark(s, reader);
}

static void end_too_big(struct sc_sched *s, struct sched_task *t, const struct sched_node *node, struct sc_out *out)
{
        char              words[SC_TEXT_MAX];
        struct sched_text text = { .at = words, .max = sizeof words };
        sc_sched_text(&text, "its arguments with the results it reads have ");
        sc_sched_text_number(&text, node->input_bytes + sc_sched_body(t).len);
        sc_sched_text(&text, " bytes, the most is ");
        sc_sched_text_number(&text, SC_BODY_MAX);
        struct sc_outcome outcome = { .reason = SC_REASON_LIMIT, .text = { words, text.len } };
        sc_sched_end(s, t, SC_MOVE_FAIL, &outcome, out);
}

/* It waits for what cannot come. */
static void fail(struct sc_sched *s, struct sched_task *t, struct sc_out *out)
{
        const struct sched_node *node      = sc_sched_node(t);
        const uint64_t           root      = node->root;
        const uint8_t            reason    = node->root_reason;
        const bool               cancelled = reason == SC_REASON_CANCELLED;
        if (root == t->id.lo && reason == SC_REASON_LIMIT) {
                end_too_big(s, t, node, out);
                return;
        }
        t->order       = root;
        t->root_reason = reason;
        sc_sched_end_plainly(s, t, SC_MOVE_FAIL, cancelled ? SC_REASON_CANCELLED : SC_REASON_DEPENDENCY,
                             cancelled ? SCHED_WORDS_DEPENDENCY_CANCELLED : SCHED_WORDS_DEPENDENCY, out);
}

/* ---- letting go --------------------------------------------------------------------------------*/

static void let_go(struct sc_sched *s, uint32_t at)
{
        struct sched_edge *e    = sc_sched_edge(s, at);
        const uint32_t     of   = e->of;
        const bool         read = e->read;
        if (e->chained)
                unchain(s, e);
        give_back(s, at);
        if (read && of != SCHED_NONE)
                unref(s, sc_sched_row(s, of));
}

/* Lets go of a list of siblings, as long as there is room for visits; gives where to go on. */
static uint32_t let_go_some(struct sc_sched *s, uint32_t at)
{
        while (at != SCHED_NONE && s->visits < SC_ROWS_MAX) {
                uint32_t next = sc_sched_edge(s, at)->sibling;
                let_go(s, at);
                s->visits++;
                at = next;
        }
        return at;
}

/* The first of those that are left carries the list of lists: it must not be in a chain any more. */
static void put_off(struct sc_sched *s, uint32_t at)
{
        struct sched_edge *e = sc_sched_edge(s, at);
        if (e->chained)
                unchain(s, e);
        e->next    = s->release;
        s->release = at;
        s->more    = true;
}

void sc_sched_edges_release(struct sc_sched *s, struct sched_task *t, struct sched_node *node)
{
        uint32_t left = let_go_some(s, node->edges);
        node->edges   = SCHED_NONE;
        if (left == SCHED_NONE)
                return;
        t->refs++;
        s->releasing++;
        put_off(s, left);
}

static void release_some(struct sc_sched *s)
{
        uint32_t at     = s->release;
        uint32_t reader = sc_sched_edge(s, at)->reader;
        s->release      = sc_sched_edge(s, at)->next;
        uint32_t left   = let_go_some(s, at);
        if (left != SCHED_NONE) {
                put_off(s, left);
                return;
        }
        s->releasing--;
        unref(s, sc_sched_row(s, reader));
}

/* ---- what is left to do ------------------------------------------------------------------------*/

/* True: there is nothing more to be done for the first of those that are marked. */
static bool pass_on(struct sc_sched *s, struct sched_task *t, struct sc_out *out)
{
        if (t->state == SC_STATE_WAITING) {
                fail(s, t, out); /* and is marked still, if somebody waits for it */
                return t->edges == SCHED_NONE;
        }
        if (is_live(t) || t->edges == SCHED_NONE)
                return true;
        pass(s, t);
        return t->edges == SCHED_NONE;
}

bool sc_sched_edges_todo(struct sc_sched *s, struct sc_out *out)
{
        while (s->release != SCHED_NONE) {
                if (!sc_sched_bulk(s, out))
                        return false;
                release_some(s);
        }
        while (s->marked_first != SCHED_NONE) {
                if (!sc_sched_bulk(s, out))
                        return false;
                struct sched_task *t = sc_sched_row(s, s->marked_first);
                if (pass_on(s, t, out))
                        unmark(s, t);
        }
        return true;
}
