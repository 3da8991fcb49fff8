/*
 * Clients: coming, coming back, going for a while and going for good, and the delivery of results.
 * A client's ended rows stand in one queue: first those whose RESULT went out on the present link
 * and is not confirmed, then those still to be sent.  A new link sends all of them again.
 */
#include "sched_state.h"

#include <string.h>

#include "sc_assert.h"

/* ---- results -----------------------------------------------------------------------------------*/

void sc_sched_ended_add(struct sc_sched *s, struct sched_task *t)
{
        sc_sched_queue_add(s, &sc_sched_client(s, t->client)->ended, SCHED_AT, t);
}

void sc_sched_ended_remove(struct sc_sched *s, struct sched_task *t)
{
        struct sched_client *c = sc_sched_client(s, t->client);
        if (c->unsent == t->self)
                c->unsent = t->link[SCHED_AT].next;
        sc_sched_queue_remove(s, &c->ended, SCHED_AT, t);
}

static void result_send(struct sc_sched *s, struct sched_client *c, const struct sched_task *t, struct sc_out *out)
{
        c->sent++;
        if (t->kind == SC_TASK_GRAPH) {
                sc_sched_graph_done(t, &sc_out_send(out, c->link, SC_MSG_GRAPH_DONE)->graph_done);
                return;
        }
        struct sc_result *m = &sc_out_send(out, c->link, SC_MSG_RESULT)->result;
        m->task             = t->id;
        m->attempts         = t->attempt;
        m->losses           = t->losses;
        m->worker           = sc_sched_last_worker(s, t);
        sc_sched_outcome(t, &m->outcome);
        if (t->words == SCHED_WORDS_SHARED) {
                const struct sched_answer *a = sc_sched_answer(t);
                m->attempts                  = a->attempts;
                m->losses                    = a->losses;
                m->worker                    = a->worker;
                s->saying += a->size;
        }
        if (t->words >= SCHED_WORDS_DEPENDENCY) {
                m->root        = t->order;
                m->root_reason = (uint8_t)t->root_reason;
        }
        s->saying += t->block_size;
}

static void todo(struct sc_sched *s, struct sched_client *c)
{
        if (sc_list_empty(&c->todo))
                sc_list_add_tail(&s->todo_clients, &c->todo);
}

/* While memory is short one result at a time, whose confirmation brings the next. */
static bool may_send(struct sc_sched *s, const struct sched_client *c)
{
        return c->sent == 0 || !sc_sched_tight(s);
}

/* The row has just ended and is the last of its client's queue. */
void sc_sched_result_offer(struct sc_sched *s, struct sched_task *t, struct sc_out *out)
{
        struct sched_client *c = sc_sched_client(s, t->client);
        if (c->link == 0 || c->resend)
                return;
        if (c->unsent != SCHED_NONE)
                return;
        if (out->len < SC_EFFECTS_MAX - SCHED_ROOM_BULK && may_send(s, c)) {
                result_send(s, c, t, out);
                return;
        }
        c->unsent = t->self;
        todo(s, c);
}

void sc_sched_client_acked(struct sc_sched *s, struct sched_link *l, uint64_t count, struct sc_out *out)
{
        struct sched_client *c = sc_sched_client(s, l->index);
        if (count > c->sent) {
                sc_sched_nonsense(s, l, SC_E_PROTOCOL, "more confirmations than results", out);
                return;
        }
        c->sent -= (uint32_t)count;
        c->acks += count;
        todo(s, c);
}

/* ---- coming and going --------------------------------------------------------------------------*/

void sc_sched_welcome(struct sc_sched *s, struct sched_link *l, uint64_t known, struct sc_out *out)
{
        SC_ASSERT(!l->welcomed);
        l->welcomed          = true;
        struct sc_welcome *m = &sc_out_send(out, l->id, SC_MSG_WELCOME)->welcome;
        *m = (struct sc_welcome){
                .version = SC_VERSION_MAX, .id = s->opt.id, .epoch = s->opt.epoch, .known_up_to = known,
                .silent_ms = s->opt.silent_ms, .name = { s->opt.name, strlen(s->opt.name) },
        };
        if (l->role == SC_ROLE_WORKER && sc_sched_worker(s, l->index)->leaves)
                m->features = SC_FEATURE_LEAVE;
        if (l->role == SC_ROLE_CLIENT) {
                m->features   = sc_sched_client(s, l->index)->names ? SC_FEATURE_AFTER : 0;
                m->tasks_most = sc_sched_grant_most_tasks(s, sc_sched_client(s, l->index));
                m->kib_most   = sc_sched_grant_most_kib(s);
        }
}

/* The lane it used last is kept for it, until then. */
static void lane_forget(struct sc_sched *s, struct sched_client *c)
{
        if (c->lane)
                sc_sched_lane_drop(s, c->lane);
        c->lane = NULL;
}

static struct sched_client *client_new(struct sc_sched *s, uint64_t id, struct sc_view tenant)
{
        if (!sc_sched_table_reserve(&s->client_at, s->mem) || !sc_map_reserve(&s->clients, s->clients.len + 1))
                return NULL;
        struct sched_client *c = sc_mem_zalloc(s->mem, sizeof *c);
        if (!c)
                return NULL;
        c->tenant = sc_sched_tenant_take(s, tenant);
        if (!c->tenant) {
                sc_mem_release(s->mem, c, sizeof *c);
                return NULL;
        }
        c->id = id;
        sc_sched_share_init(&c->share, 0, 0);
        sc_sched_queue_init(&c->mine);
        sc_sched_queue_init(&c->ended);
        c->unsent = SCHED_NONE;
        sc_list_init(&c->todo);
        sc_list_init(&c->hungry);
        sc_list_init(&c->lost);
        sc_list_init(&c->bulks);
        c->self = sc_sched_table_put(&s->client_at, c);
        sc_map_put(&s->clients, (struct sc_id){ 0, id }, c);
        return c;
}

static uint8_t name_copy(char to[SC_NAME_MAX + 1], struct sc_view name)
{
        if (name.len > 0)
                memcpy(to, name.ptr, name.len);
        return (uint8_t)name.len;
}

static bool is_of(const struct sched_client *c, struct sc_view tenant)
{
        return c->tenant->name_len == tenant.len &&
               (tenant.len == 0 || memcmp(c->tenant->name, tenant.ptr, tenant.len) == 0);
}

/* Whose rows are still here stays with the tenant they are of. */
static bool tenant_change(struct sc_sched *s, struct sched_client *c, struct sc_view name)
{
        if (is_of(c, name) || c->mine.len + c->guests > 0)
                return true;
        struct sched_tenant *tenant = sc_sched_tenant_take(s, name);
        if (!tenant)
                return false;
        lane_forget(s, c);
        c->tenant->granted -= c->grant;
        sc_sched_tenant_drop(s, c->tenant);
        c->tenant = tenant;
        c->tenant->granted += c->grant;
        return true;
}

static void share_change(struct sc_sched *s, struct sched_client *c, const struct sc_hello *hello)
{
        c->share.weight      = hello->weight > 0 ? hello->weight : SCHED_WEIGHT;
        c->share.running_max = hello->running_max;
        if (!sc_sched_share_capped(&c->share))
                sc_sched_uncap(s, &c->share, false);
}

bool sc_sched_client_up(struct sc_sched *s, struct sched_link *l, const struct sc_event *ev, struct sc_out *out)
{
        const struct sc_hello *hello = &ev->msg->hello;
        struct sched_client   *c     = sc_map_get(&s->clients, (struct sc_id){ 0, hello->id });
        if (!c)
                c = client_new(s, hello->id, hello->tenant);
        if (!c || !tenant_change(s, c, hello->tenant))
                return false;
        SC_ASSERT(c->link == 0);
        l->index      = c->self;
        c->link       = ev->link;
        c->since      = s->now;
        c->names      = (hello->features & SC_FEATURE_AFTER) != 0;
        c->name_len   = name_copy(c->name, hello->name);
        share_change(s, c, hello);
        s->client_links++;
        sc_list_remove(&c->lost);
        if (c->doomed && c->mine.len == 0)
                todo(s, c);
        if (c->doomed)
                return true; /* welcomed as a stranger once all that was its is gone */
        sc_sched_grant_first(s, c, out);
        sc_sched_welcome(s, l, hello->epoch == s->opt.epoch ? c->known : 0, out);
        c->resend = true;
        todo(s, c);
        return true;
}

static void doom(struct sc_sched *s, struct sched_client *c)
{
        c->doomed = true;
        sc_list_remove(&c->lost);
        sc_sched_grant_shrink(s, c);
        todo(s, c);
}

void sc_sched_client_down(struct sc_sched *s, struct sched_client *c, bool for_good)
{
        c->link   = 0;
        c->sent   = 0;
        c->unsent = SCHED_NONE;
        c->resend = true;
        s->client_links--;
        sc_list_remove(&c->hungry);
        sc_sched_grant_shrink(s, c);
        if (c->doomed)
                return;
        if (for_good) {
                doom(s, c);
                return;
        }
        c->grace_at = sc_ns_add(s->now, s->opt.client_grace);
        sc_list_add_tail(&s->lost_clients, &c->lost);
        if (c->mine.len == 0)
                todo(s, c);
}

void sc_sched_clients_expire(struct sc_sched *s)
{
        while (!sc_list_empty(&s->lost_clients)) {
                struct sched_client *c = SC_CONTAINER(s->lost_clients.next, struct sched_client, lost);
                if (c->grace_at > s->now || ++s->visits >= SC_ROWS_MAX)
                        return;
                doom(s, c);
        }
}

void sc_sched_client_free(struct sc_sched *s, struct sched_client *c)
{
        sc_mem_release(s->mem, c, sizeof *c);
}

/* ---- what is left to do ------------------------------------------------------------------------*/

/* One row of a client that is gone for good.  What a worker holds stays until the worker answers, a result as long as
 * one of those reads it, and a graph until its last node has ended. */
static void dismiss(struct sc_sched *s, struct sched_client *c, struct sched_task *t, struct sc_out *out)
{
        const bool graph = t->kind == SC_TASK_GRAPH;
        if (t->state == SC_STATE_ENDED && sc_sched_let_go(s, t))
                return;
        (void)sc_sched_part(s, t);
        if (!sc_task_is_held(t->state) && t->state != SC_STATE_KEPT && !graph) {
                sc_sched_end_cancelled(s, t, SC_MOVE_CANCEL, out);
                return;
        }
        t->flags |= SCHED_VISITED;
        sc_sched_bulks_leave(c, t);
        sc_sched_queue_remove(s, &c->mine, SCHED_MINE, t);
        sc_sched_queue_add(s, &c->mine, SCHED_MINE, t);
        if (sc_task_is_held(t->state))
                sc_sched_stop(s, t, true, out);
        else if (graph)
                sc_sched_graph_abandon(s, t);
}

static bool dismiss_all(struct sc_sched *s, struct sched_client *c, struct sc_out *out)
{
        while (c->mine.head != SCHED_NONE) {
                struct sched_task *t = sc_sched_row(s, c->mine.head);
                if (t->flags & SCHED_VISITED)
                        return true;
                if (!sc_sched_bulk(s, out))
                        return false;
                dismiss(s, c, t, out);
        }
        return true;
}

void sc_sched_client_ack(struct sc_sched *s, struct sched_client *c, struct sc_out *out)
{
        c->acks--;
        if (c->stale > 0 && --c->stale == 0 && c->link != 0 && !c->doomed)
                sc_sched_grant_tell(s, c, out);
        sc_sched_let_go(s, sc_sched_row(s, c->ended.head));
}

static bool acks_work(struct sc_sched *s, struct sched_client *c, struct sc_out *out)
{
        while (c->acks > 0) {
                if (!sc_sched_bulk(s, out))
                        return false;
                sc_sched_client_ack(s, c, out);
        }
        return true;
}

static bool results_send(struct sc_sched *s, struct sched_client *c, struct sc_out *out)
{
        if (c->resend)
                c->unsent = c->ended.head;
        c->resend = false;
        while (c->unsent != SCHED_NONE && may_send(s, c)) {
                if (!sc_sched_bulk(s, out))
                        return false;
                const struct sched_task *t = sc_sched_row(s, c->unsent);
                c->unsent                  = t->link[SCHED_AT].next;
                result_send(s, c, t, out);
        }
        return true;
}

static void forget(struct sc_sched *s, struct sched_client *c)
{
        SC_ASSERT(c->mine.len == 0 && c->ended.len == 0 && c->link == 0 && c->body_bytes == 0);
        sc_sched_grant_shrink(s, c);
        SC_ASSERT(c->grant == 0 && c->kib == 0 && sc_list_empty(&c->hungry));
        lane_forget(s, c);
        sc_sched_tenant_drop(s, c->tenant);
        sc_list_remove(&c->lost);
        sc_sched_bulks_forget(c);
        sc_map_remove(&s->clients, (struct sc_id){ 0, c->id });
        sc_sched_table_drop(&s->client_at, c->self);
        sc_list_add_tail(&s->dead_clients, &c->todo);
}

/* Gone for good and back again before everything of its was gone. */
static void start_again(struct sc_sched *s, struct sched_client *c, struct sc_out *out)
{
        c->doomed = c->resend = false;
        c->known = c->submitted = 0;
        sc_sched_grant_first(s, c, out);
        sc_sched_welcome(s, sc_sched_link(s, c->link), 0, out);
}

/* True: nothing more can be done for it now. */
static bool todo_one(struct sc_sched *s, struct sched_client *c, struct sc_out *out)
{
        if (c->names && c->self == s->speaking && c->acks > 0) {
                s->more = true; /* what comes in the same frame may name what is confirmed by it */
                return false;
        }
        if (!acks_work(s, c, out))
                return false;
        if (c->doomed && !dismiss_all(s, c, out))
                return false;
        if (c->mine.len == 0 && c->link == 0)
                return true;
        if (c->doomed && c->mine.len == 0)
                start_again(s, c, out);
        return c->doomed || c->link == 0 || results_send(s, c, out);
}

void sc_sched_clients_todo(struct sc_sched *s, struct sc_out *out)
{
        while (!sc_list_empty(&s->todo_clients)) {
                struct sched_client *c = SC_CONTAINER(s->todo_clients.next, struct sched_client, todo);
                if (!todo_one(s, c, out))
                        return;
                sc_list_remove(&c->todo);
                if (c->mine.len == 0 && c->link == 0 && c->guests == 0)
                        forget(s, c);
        }
}
