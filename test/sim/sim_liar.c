/*
 * A worker that takes tasks and gives every one back, but not before it has said, in every way there is,
 * that other runs of them are over.  It keeps its link; only the numbers are wrong.
 */
#include "sim.h"

enum { TASKS = 20 }; /* then it takes no more, so that the world gets on */

static void send(struct sim *w, struct sim_node *n, const struct sc_msg *msg)
{
        sim_hostile_send(w, n, msg, SC_FRAME_DATA, n->taken < TASKS ? 2 : 0);
}

static void lie(struct sim *w, struct sim_node *n, struct sc_id id, uint64_t run)
{
        const struct sc_about_run about = { .task = id, .run = run };
        const struct sc_done      done  = { .task = id, .run = run, .outcome = { .result = { "lie", 3 } } };
        const struct sc_output    said  = { .task = id, .run = run, .stream = 1, .bytes = { "lie", 3 } };
        send(w, n, &(struct sc_msg){ .kind = SC_MSG_STARTED, .about = about });
        send(w, n, &(struct sc_msg){ .kind = SC_MSG_OUTPUT, .output = said });
        if (sim_chance(w, 50))
                send(w, n, &(struct sc_msg){ .kind = SC_MSG_RETURNED, .about = about });
        send(w, n, &(struct sc_msg){ .kind = SC_MSG_DONE, .done = done });
}

static void answer(struct sim *w, struct sim_event *ev)
{
        struct sim_node *n = &w->nodes[ev->node];
        if (sim_event_stale(w, ev) || n->raw != ev->ptr || n->raw->closed || w->healed)
                return;
        const struct sim_task    *t     = &w->tasks[ev->a];
        const struct sc_id        id    = sc_id_is_nil(t->work) ? t->id : t->work; /* as it was told */
        const struct sc_about_run about = { .task = id, .run = ev->b };
        lie(w, n, id, ev->b + 1);
        if (ev->b > 1)
                lie(w, n, id, ev->b - 1);
        send(w, n, &(struct sc_msg){ .kind = SC_MSG_RETURNED, .about = about });
}

/* Whoever says nothing is lost. */
static void speak(struct sim *w, struct sim_event *ev)
{
        struct sim_node *n = &w->nodes[ev->node];
        if (sim_event_stale(w, ev) || n->raw != ev->ptr || n->raw->closed || w->healed)
                return;
        const struct sc_about_run about = { .task = { 9, 9 }, .run = UINT64_MAX };
        send(w, n, &(struct sc_msg){ .kind = SC_MSG_STARTED, .about = about });
        sim_at_node(w, w->now + SC_S, ev->node, speak)->ptr = ev->ptr;
}

void sim_liar_up(struct sim *w, struct sim_conn *conn)
{
        static const struct sc_view functions[] = { { "f0", 2 }, { "f1", 2 }, { "f2", 2 }, { "f3", 2 } };
        struct sim_node            *n           = &w->nodes[conn->node];
        const struct sc_hello       hello       = { .version_min    = 1,
                                                    .version_max    = 1,
                                                    .role           = SC_ROLE_WORKER,
                                                    .id             = n->raw_id,
                                                    .incarnation    = 1,
                                                    .name           = { "liar", 4 },
                                                    .slots          = 2,
                                                    .free_slots     = 2,
                                                    .functions      = functions,
                                                    .function_count = 4 };
        n->raw_role = SC_ROLE_WORKER;
        sim_hostile_send(w, n, &(struct sc_msg){ .kind = SC_MSG_HELLO, .hello = hello }, SC_FRAME_HELLO, 2);
        sim_at_node(w, w->now + SC_S, conn->node, speak)->ptr = conn;
}

void sim_liar_frame(struct sim *w, uint32_t node, const uint8_t *bytes, size_t len)
{
        struct sim_node     *n = &w->nodes[node];
        struct sc_frame_head head;
        const char          *why;
        size_t               cursor = 0;
        SC_ASSERT(sc_frame_get(bytes, &head, &why) == 0);
        for (uint32_t i = 0; i < head.count; i++) {
                struct sc_msg msg;
                uint32_t      task;
                SC_ASSERT(sc_codec_unpack(bytes + SC_FRAME_HEAD, len - SC_FRAME_HEAD, &cursor, &w->arena, &msg, &why) ==
                          1);
                if (msg.kind != SC_MSG_ASSIGN || sim_task_of(w, msg.assign.task, &task) == NULL)
                        continue;
                n->taken++;
                struct sim_event *ev = sim_at_node(w, w->now + sim_between(w, SC_MS, SC_S), node, answer);
                ev->ptr              = n->raw;
                ev->a                = task;
                ev->b                = msg.assign.run;
        }
}
