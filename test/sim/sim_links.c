/*
 * What must hold over links that break: a DONE is kept until it is confirmed, a cancel without an answer is
 * said again on the next link, and output stays within what the client has room for.  Like the judge, this
 * reads frames when they are sent, and asks no core what to expect.
 */
#include "sim.h"

enum { OUTPUT_WINDOW = 256 * 1024 }; /* the default of both sides */

#define KEPT_FOR  (50 * SC_S) /* a minute by the worker's clock, which may be fast */
#define SAY_AGAIN (10 * SC_S)

/* ---- DONEs --------------------------------------------------------------------------------------------- */

static void owe(struct sim *w, const struct sim_conn *from, uint32_t seq, const struct sc_done *done)
{
        if (w->owed_count == w->owed_cap) {
                const uint64_t   cap   = w->owed_cap == 0 ? 64 : 2 * w->owed_cap;
                struct sim_owed *grown = sc_mem_resize(&w->mem, w->owed, w->owed_cap * sizeof *grown,
                                                       cap * sizeof *grown);
                SC_ASSERT(grown != NULL);
                w->owed     = grown;
                w->owed_cap = cap;
        }
        w->owed[w->owed_count++] = (struct sim_owed){ .node       = from->node,
                                                      .generation = from->generation,
                                                      .seq        = seq,
                                                      .conn       = from->id,
                                                      .run        = done->run,
                                                      .task       = done->task,
                                                      .at         = w->now };
}

/* Once it is kept or dropped, by its number of then. */
static void settle(struct sim *w, uint32_t node, const struct sc_about_run *about)
{
        for (uint64_t i = w->owed_count; i-- > 0;) {
                const struct sim_owed *owed = &w->owed[i];
                if (owed->node == node && owed->run == about->held_run && sc_id_equal(owed->task, about->task))
                        w->owed[i] = w->owed[--w->owed_count];
        }
}

static void confirm(struct sim *w, uint64_t conn, uint32_t ack)
{
        for (uint64_t i = w->owed_count; i-- > 0;)
                if (w->owed[i].conn == conn && w->owed[i].seq <= ack)
                        w->owed[i] = w->owed[--w->owed_count];
}

/* It has them all, whether its link is the one they went out on or another. */
static void count_owed(struct sim *w, const struct sim_conn *from)
{
        const struct sim_node *n     = &w->nodes[from->node];
        uint32_t               count = 0;
        struct sc_work_stats   stats;
        if (!n->alive || n->closing || n->closed)
                return;
        for (uint64_t i = 0; i < w->owed_count; i++) {
                const struct sim_owed *owed = &w->owed[i];
                count += owed->node == from->node && owed->generation == from->generation &&
                         w->now < owed->at + KEPT_FOR;
        }
        sc_work_stats(sc_work_shell_core(n->work), &stats);
        if (stats.unconfirmed < count)
                sim_fail(w, "worker %u has %u ends without a confirmation, and %u were not confirmed", from->node,
                         stats.unconfirmed, count);
}

static bool is_held(const struct sc_hello *hello, const struct sim_owed *owed)
{
        for (uint32_t i = 0; i < hello->hold_count; i++)
                if (hello->holds[i].run == owed->run && sc_id_equal(hello->holds[i].task, owed->task))
                        return true;
        return false;
}

static void see_hello(struct sim *w, const struct sim_conn *from, const struct sc_hello *hello)
{
        for (uint64_t i = w->owed_count; i-- > 0;) {
                const struct sim_owed *owed = &w->owed[i];
                if (owed->node != from->node || (owed->generation == from->generation && is_held(hello, owed)))
                        continue;
                if (owed->generation == from->generation && w->now < owed->at + KEPT_FOR)
                        sim_fail(w, "worker %u has forgotten run %llu, of which no DONE was confirmed", from->node,
                                 (unsigned long long)owed->run);
                w->owed[i] = w->owed[--w->owed_count];
        }
}

/* ---- output ---------------------------------------------------------------------------------------------- */

static void see_output(struct sim *w, const struct sim_conn *from, const struct sc_output *output)
{
        uint32_t               task;
        const struct sim_task *t = sim_task_of(w, output->task, &task);
        if (t == NULL || output->run != t->last_run || t->last_epoch != w->nodes[from->node].epoch)
                return;
        if (output->offset + output->bytes.len > t->window_end)
                sim_fail(w, "task %u: output to %llu, and the client takes it to %llu", task,
                         (unsigned long long)(output->offset + output->bytes.len), (unsigned long long)t->window_end);
}

static void see_output_ack(struct sim *w, const struct sc_output_ack *ack)
{
        struct sim_task *t = sim_task_of(w, ack->task, NULL);
        if (t == NULL || ack->run != t->last_run)
                return;
        if (t->window_end < ack->limit)
                t->window_end = ack->limit;
        if (t->confirmed < ack->received)
                t->confirmed = ack->received;
}

static void see_run(struct sim *w, struct sc_id id, bool is_new)
{
        struct sim_task *t = sim_task_of(w, id, NULL);
        if (t == NULL)
                return;
        if (is_new)
                t->confirmed = t->window_end = 0;
        if (t->window_end < t->confirmed + OUTPUT_WINDOW)
                t->window_end = t->confirmed + OUTPUT_WINDOW;
}

/* ---- frames ---------------------------------------------------------------------------------------------- */

void sim_links_frame(struct sim *w, const struct sim_conn *from, const struct sc_frame_head *head)
{
        if (w->nodes[from->node].kind == SIM_SCHEDULER)
                confirm(w, from->other->id, head->ack);
        else if (w->nodes[from->node].kind == SIM_WORKER && w->nodes[from->node].generation == from->generation)
                count_owed(w, from);
}

static void see_scheduler(struct sim *w, const struct sim_conn *from, const struct sc_msg *msg)
{
        if (msg->kind == SC_MSG_WELCOME)
                from->other->welcomed_at = w->now;
        else if (msg->kind == SC_MSG_ASSIGN)
                see_run(w, msg->assign.task, true);
        else if (msg->kind == SC_MSG_KEEP)
                see_run(w, msg->about.task, false);
        if (msg->kind == SC_MSG_KEEP || msg->kind == SC_MSG_DROP)
                settle(w, from->other->node, &msg->about);
}

void sim_links_record(struct sim *w, const struct sim_conn *from, uint32_t seq, const struct sc_msg *msg)
{
        const enum sim_kind kind = w->nodes[from->node].kind;
        if (kind == SIM_SCHEDULER) {
                see_scheduler(w, from, msg);
        } else if (kind == SIM_WORKER && msg->kind == SC_MSG_HELLO) {
                see_hello(w, from, &msg->hello);
        } else if (kind == SIM_WORKER && msg->kind == SC_MSG_DONE) {
                if (msg->done.outcome.reason != SC_REASON_CANCELLED) /* that one nobody wants a second time */
                        owe(w, from, seq, &msg->done);
        } else if (kind == SIM_WORKER && msg->kind == SC_MSG_OUTPUT) {
                see_output(w, from, &msg->output);
        } else if (kind == SIM_CLIENT && msg->kind == SC_MSG_OUTPUT_ACK) {
                see_output_ack(w, &msg->output_ack);
        } else if (kind == SIM_CLIENT && msg->kind == SC_MSG_CANCEL) {
                struct sim_task *t = sim_task_of(w, msg->cancel.task, NULL);
                if (t != NULL)
                        t->cancel_conn = from->id;
        } else if (kind == SIM_CLIENT && msg->kind == SC_MSG_SUBMIT) {
                struct sim_task *t = sim_task_of(w, msg->submit.task, NULL);
                if (t != NULL)
                        t->said_at = w->now;
        }
}

/* ---- cancels --------------------------------------------------------------------------------------------- */

/* The link that a client has used undisturbed for long enough to have said all it has to say; 0: none. */
static uint64_t settled_link(const struct sim *w, uint32_t node)
{
        const struct sim_node *n = &w->nodes[node];
        struct sc_cli_stats    stats;
        if (!n->alive || n->closing || w->now < n->paused_until + SAY_AGAIN)
                return 0;
        sc_cli_stats(sc_cli_shell_core(n->cli), &stats);
        for (const struct sim_conn *conn = w->conns; stats.connected && conn != NULL; conn = conn->next) {
                if (conn->node != node || conn->generation != n->generation || !conn->up || conn->closed)
                        continue;
                const bool quiet = !conn->busy && !conn->stuck && w->now > conn->clog_until + SAY_AGAIN;
                return quiet && conn->welcomed_at != 0 && w->now > conn->welcomed_at + SAY_AGAIN ? conn->id : 0;
        }
        return 0;
}

void sim_links_cancels(struct sim *w)
{
        for (uint32_t i = 0; i < w->task_count && !w->config.memory; i++) {
                const struct sim_task *t = &w->tasks[i];
                if (t->cancels == 0 || t->confirms > 0 || t->ended || t->orphaned ||
                    w->now < t->cancelled_at + SAY_AGAIN || (t->head != 0 && t->said_at == 0))
                        continue; /* a node is sent with its whole graph, whatever becomes of it */
                const uint64_t link = settled_link(w, t->client);
                if (link != 0 && t->cancel_conn != link)
                        sim_fail(w, "task %u: its cancel was said on link %llu and is not said again on %llu", i,
                                 (unsigned long long)t->cancel_conn, (unsigned long long)link);
        }
}
