/*
 * Cancels of many tasks at once: by tag, by client, or all.  Each goes over the rows in slices, one
 * slice of one cancel after the other, so that whoever else is there is served in between; only what was
 * admitted before it came is its.  It goes with the link that asked, and a client asks again on the next.
 */
#include "sched_state.h"

#include <string.h>

#include "sc_assert.h"

/* ---- asked -------------------------------------------------------------------------------------*/

static void confirm(const struct sched_bulk *b, struct sc_out *out)
{
        sc_out_send(out, b->link, SC_MSG_CONFIRM_MANY)->confirm_many =
                (struct sc_confirm_many){ .ticket = b->ticket, .count = b->count };
}

static void drop(struct sc_sched *s, struct sched_bulk *b)
{
        sc_list_remove(&b->list);
        sc_list_remove(&b->mine);
        sc_mem_release(s->mem, b, sizeof *b + b->tag_len);
}

static const char *fault(const struct sched_link *l, const struct sc_cancel_many *m)
{
        if (m->tag.len > SC_NAME_MAX)
                return "a tag that is too long";
        if (l->bulks >= SCHED_BULKS_MAX)
                return "one cancel of many after the other";
        return NULL;
}

/* Where it starts: at the oldest row of the client, or at the first of the table. */
static void point(const struct sc_sched *s, struct sched_bulk *b, uint64_t client)
{
        b->cursor = b->end = SCHED_NONE;
        if (client == 0) {
                b->cursor = 0;
                b->end    = s->made;
                return;
        }
        struct sched_client *c = sc_map_get(&s->clients, (struct sc_id){ 0, client });
        if (!c)
                return;
        b->cursor = c->mine.head;
        sc_list_add_tail(&c->bulks, &b->mine);
}

void sc_sched_on_cancel_many(struct sc_sched *s, struct sched_link *l, const struct sc_cancel_many *m,
                             struct sc_out *out)
{
        const bool  own   = l->role == SC_ROLE_CLIENT;
        const char *words = fault(l, m);
        if (words) {
                sc_sched_nonsense(s, l, SC_E_PROTOCOL, words, out);
                return;
        }
        if (own && m->client != 0 && m->client != l->peer) {
                sc_sched_nonsense(s, l, SC_E_DENIED, "a cancel of somebody else's tasks", out);
                return;
        }
        struct sched_bulk *b = sc_mem_alloc(s->mem, sizeof *b + m->tag.len);
        if (!b) {
                sc_sched_close(s, l, SC_E_NOMEM, "no room to remember who asked for a cancel", out);
                return;
        }
        *b = (struct sched_bulk){
                .link = l->id, .ticket = m->ticket, .force = m->force, .order_max = s->order,
                .up_to = m->up_to > 0 ? m->up_to : UINT64_MAX, .tag_len = (uint8_t)m->tag.len,
        };
        if (m->tag.len > 0)
                memcpy(b->tag, m->tag.ptr, m->tag.len);
        sc_list_init(&b->list);
        sc_list_init(&b->mine);
        sc_list_add_tail(&s->bulks, &b->list);
        point(s, b, own ? l->peer : m->client);
        l->bulks++;
}

/* ---- row by row --------------------------------------------------------------------------------*/

static bool is_its(const struct sched_bulk *b, const struct sched_task *t)
{
        const bool over = t->state == SC_STATE_FREE || t->state == SC_STATE_ORPHAN || t->state == SC_STATE_ENDED ||
                          t->state == SC_STATE_KEPT;
        if (over || sc_sched_counter(t->order) > b->order_max || t->id.lo > b->up_to)
                return false;
        if (b->tag_len == 0)
                return true;
        const struct sc_view tag = sc_sched_plan_tag(t);
        return tag.len == b->tag_len && memcmp(tag.ptr, b->tag, tag.len) == 0;
}

static void cancel(struct sc_sched *s, struct sched_bulk *b, struct sched_task *t, struct sc_out *out)
{
        b->count += t->state != SC_STATE_CANCELLING;
        (void)sc_sched_part(s, t);
        if (t->kind == SC_TASK_GRAPH)
                sc_sched_graph_cancel(s, t, b->force, true);
        else if (sc_task_is_held(t->state))
                sc_sched_stop(s, t, b->force, out);
        else
                sc_sched_end_cancelled(s, t, SC_MOVE_CANCEL, out);
}

/* The next row, or NULL at the end.  What is done to it may take it away: the cursor is past it by then. */
static struct sched_task *next_row(const struct sc_sched *s, struct sched_bulk *b)
{
        if (b->cursor == b->end)
                return NULL;
        struct sched_task *t = sc_sched_row(s, b->cursor);
        b->cursor            = b->end == SCHED_NONE ? t->link[SCHED_MINE].next : b->cursor + 1;
        return t;
}

static bool has_share(struct sc_sched *s, const struct sc_out *out)
{
        if (s->visits >= SC_ROWS_MAX / SCHED_BULK_SHARE || out->len >= SC_EFFECTS_MAX / SCHED_BULK_SHARE) {
                s->more = true;
                return false;
        }
        return sc_sched_bulk(s, out);
}

/* True: it is through. */
static bool slice(struct sc_sched *s, struct sched_bulk *b, struct sc_out *out)
{
        while (b->cursor != b->end) {
                if (!has_share(s, out))
                        return false;
                struct sched_task *t = next_row(s, b);
                if (is_its(b, t))
                        cancel(s, b, t, out);
        }
        return true;
}

void sc_sched_bulks_run(struct sc_sched *s, struct sc_out *out)
{
        while (!sc_list_empty(&s->bulks) && has_share(s, out)) {
                struct sched_bulk *b = SC_CONTAINER(s->bulks.next, struct sched_bulk, list);
                if (!slice(s, b, out)) {
                        sc_list_remove(&b->list); /* the next step is another one's */
                        sc_list_add_tail(&s->bulks, &b->list);
                        return;
                }
                sc_sched_link(s, b->link)->bulks--;
                confirm(b, out);
                drop(s, b);
        }
}

/* ---- what goes away meanwhile ------------------------------------------------------------------*/

void sc_sched_bulks_leave(const struct sched_client *c, const struct sched_task *t)
{
        for (struct sc_list *at = c->bulks.next; at != &c->bulks; at = at->next) {
                struct sched_bulk *b = SC_CONTAINER(at, struct sched_bulk, mine);
                if (b->cursor == t->self)
                        b->cursor = t->link[SCHED_MINE].next;
        }
}

void sc_sched_bulks_forget(struct sched_client *c)
{
        for (struct sc_list *at; (at = sc_list_take(&c->bulks)) != NULL;)
                SC_ASSERT(SC_CONTAINER(at, struct sched_bulk, mine)->cursor == SCHED_NONE);
}

void sc_sched_bulks_drop(struct sc_sched *s, sc_link_id link)
{
        for (struct sc_list *at = s->bulks.next, *next; at != &s->bulks; at = next) {
                next                 = at->next;
                struct sched_bulk *b = SC_CONTAINER(at, struct sched_bulk, list);
                if (b->link == link)
                        drop(s, b);
        }
}

void sc_sched_bulks_fini(struct sc_sched *s)
{
        while (!sc_list_empty(&s->bulks))
                drop(s, SC_CONTAINER(s->bulks.next, struct sched_bulk, list));
}
