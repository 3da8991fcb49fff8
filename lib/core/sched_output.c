/*
 * Output of running tasks passes through, in both directions, between the worker that holds the run
 * and the client that owns the task.  Nothing is stored: what meets no link is dropped, and the client
 * asks for it again from the worker, which keeps it until the client has it.
 */
#include "sched_state.h"

void sc_sched_on_output(struct sc_sched *s, struct sched_worker *w, const struct sc_output *m, struct sc_out *out)
{
        const struct sched_task *t = sc_sched_held(s, w, m->task, m->run);
        if (!t)
                return;
        const struct sched_client *c = sc_sched_client(s, t->client);
        if (c->link != 0 && !c->doomed && !sc_sched_owner(t)) /* what several wait for is not streamed */
                sc_out_send(out, c->link, SC_MSG_OUTPUT)->output = *m;
}

void sc_sched_on_output_ack(struct sc_sched *s, struct sched_link *l, const struct sc_output_ack *m, struct sc_out *out)
{
        if (m->task.hi != l->peer) {
                sc_sched_nonsense(s, l, SC_E_DENIED, "word about somebody else's output", out);
                return;
        }
        const struct sched_task *t = sc_sched_find(s, m->task);
        if (!t || t->state == SC_STATE_ORPHAN || !sc_task_is_held(t->state) || t->run != m->run) {
                s->stale++;
                return;
        }
        const struct sched_worker *w = sc_sched_worker(s, t->worker);
        if (!w->gone)
                sc_out_send(out, w->link, SC_MSG_OUTPUT_ACK)->output_ack = *m;
}
