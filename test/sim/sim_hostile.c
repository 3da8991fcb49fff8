/*
 * Peers that mean harm: old frames of others sent again, garbled frames, more than was granted, lies
 * about runs.  They may end their own links and nothing else.
 */
#include <string.h>

#include "sim.h"

static void again(struct sim *w, struct sim_event *ev);

static void dial_event(struct sim *w, struct sim_event *ev)
{
        if (sim_event_stale(w, ev) || w->healed)
                return;
        struct sim_node *n = &w->nodes[ev->node];
        struct sc_why    why;
        if (!w->config.liars || n->raw == NULL || n->raw->closed)
                n->net.base.ops->dial(&n->net.base, "sim:scheduler", ++n->raw_heard + 1000, &why);
        sim_at_node(w, w->now + sim_between(w, 10 * SC_MS, 5 * SC_S), ev->node, dial_event);
}

void sim_hostile_begin(struct sim *w, uint32_t node)
{
        w->nodes[node].raw = NULL;
        sim_at_node(w, w->now + sim_between(w, SC_MS, SC_S), node, dial_event);
}

/* One bit, but not of the length, nor of the grants: a worker with room is given tasks, and may then lose them. */
static void flip(struct sim *w, uint8_t *bytes, size_t len)
{
        const size_t at = 4 + sim_below(w, len - 4);
        if (at < 16 || at >= SC_FRAME_HEAD)
                bytes[at] ^= (uint8_t)(1u << sim_below(w, 8));
}

static void send_record(struct sim *w, struct sim_node *n, const struct sc_msg *msg, uint8_t type, uint32_t grant,
                        bool garble)
{
        struct sc_buf buf;
        sc_buf_init(&buf, &w->mem, SC_FRAME_MAX);
        static const uint8_t room[SC_FRAME_HEAD];
        SC_ASSERT(sc_buf_add(&buf, room, sizeof room) && sc_codec_pack(&buf, msg) == 0);
        const struct sc_frame_head head = { .length      = (uint32_t)buf.len,
                                            .type        = type,
                                            .count       = 1,
                                            .seq         = ++n->raw_seq,
                                            .grant_tasks = grant,
                                            .grant_kib   = 1000 };
        sc_frame_put(&head, buf.data);
        if (garble)
                for (uint64_t i = 1 + sim_below(w, 4); i > 0; i--)
                        flip(w, buf.data, buf.len);
        sim_net_send_raw(w, n->raw, buf.data, buf.len);
        sc_buf_fini(&buf);
}

void sim_hostile_send(struct sim *w, struct sim_node *n, const struct sc_msg *msg, uint8_t type, uint32_t grant)
{
        send_record(w, n, msg, type, grant, false);
}

static uint32_t usual_grant(const struct sim_node *n)
{
        return n->raw_role == SC_ROLE_WORKER ? 0 : 1000;
}

void *sim_hostile_up(struct sim *w, struct sim_conn *conn)
{
        struct sim_node *n = &w->nodes[conn->node];
        n->raw             = conn;
        n->raw_seq         = 0;
        n->raw_id          = sc_rng_next(&w->rng) | 1;
        if (w->config.liars) {
                sim_liar_up(w, conn);
                return n;
        }
        n->raw_role        = (uint8_t)(1 + sim_below(w, 2)); /* an admin may do harm by right */
        if (sim_chance(w, 80)) {
                const struct sc_hold hold     = { .task  = { 77, 1 + sim_below(w, 9) },
                                                  .epoch = sim_below(w, 2) ? w->nodes[0].epoch : 5,
                                                  .run   = 1 + sim_below(w, 20),
                                                  .flags = SC_HOLD_RUNNING };
                const struct sc_view function = { "none", 4 };
                struct sc_msg        msg      = { .kind  = SC_MSG_HELLO,
                                                  .hello = { .version_min = 1,
                                                             .version_max = sim_chance(w, 95) ? 1 : 9,
                                                             .role        = n->raw_role,
                                                             .id          = n->raw_id,
                                                             .incarnation = 1,
                                                             .name        = { "evil", 4 } } };
                if (n->raw_role == SC_ROLE_WORKER) {
                        msg.hello.slots = msg.hello.free_slots = 1 + (uint32_t)sim_below(w, 4);
                        msg.hello.functions                    = &function;
                        msg.hello.function_count               = 1;
                        msg.hello.holds                        = &hold;
                        msg.hello.hold_count                   = (uint32_t)sim_below(w, 2);
                }
                send_record(w, n, &msg, SC_FRAME_HELLO, usual_grant(n), sim_chance(w, 10));
        }
        sim_at_node(w, w->now + sim_between(w, SC_US, SC_S), conn->node, again)->ptr = conn;
        return n;
}

static struct sc_id some_task(struct sim *w)
{
        const struct sim_task *t = &w->tasks[sim_below(w, w->task_count)];
        return sc_id_is_nil(t->id) ? (struct sc_id){ 9, 9 } : t->id;
}

/* About runs it does not have: everything it says must fall at the fence. */
static void lie(struct sim *w, struct sim_node *n)
{
        static const int       kinds[] = { SC_MSG_STARTED, SC_MSG_RETURNED, SC_MSG_DONE, SC_MSG_OUTPUT };
        const struct sim_task *t       = &w->tasks[sim_below(w, w->task_count)];
        const uint64_t         run     = t->last_run > 0 && sim_below(w, 2) ? t->last_run : 1 + sim_below(w, 50);
        const struct sc_id     id      = sc_id_is_nil(t->id) ? (struct sc_id){ 9, 9 } : t->id;
        struct sc_msg          msg     = { .kind = kinds[sim_below(w, 4)] };
        if (msg.kind == SC_MSG_DONE)
                msg.done = (struct sc_done){ .task = id, .run = run, .outcome = { .result = { "lie", 3 } } };
        else if (msg.kind == SC_MSG_OUTPUT)
                msg.output = (struct sc_output){ .task = id, .run = run, .stream = 1, .bytes = { "lie", 3 } };
        else
                msg.about = (struct sc_about_run){ .task = id, .run = run };
        send_record(w, n, &msg, SC_FRAME_DATA, usual_grant(n), false);
}

static void ask_too_much(struct sim *w, struct sim_node *n)
{
        struct sc_msg msg = { .kind = SC_MSG_CANCEL, .cancel = { .task = some_task(w), .force = true } };
        if (sim_chance(w, 60))
                msg = (struct sc_msg){ .kind   = SC_MSG_SUBMIT,
                                       .submit = { .task = { n->raw_id, 1 + sim_below(w, n->raw_seq + 1) },
                                                   .spec = { .kind     = SC_TASK_FUNCTION,
                                                             .function = { "none", 4 },
                                                             .body     = { "x", 1 } } } };
        else if (sim_chance(w, 50))
                msg = (struct sc_msg){ .kind = SC_MSG_WANT, .want = { .tasks = UINT32_MAX, .kib = UINT32_MAX } };
        send_record(w, n, &msg, SC_FRAME_DATA, usual_grant(n), false);
}

static void replay(struct sim *w, struct sim_node *n)
{
        if (w->replay_count == 0)
                return;
        const uint32_t at = (uint32_t)sim_below(w, w->replay_count < 64 ? w->replay_count : 64);
        uint8_t        copy[4096];
        memcpy(copy, w->replay[at], w->replay_len[at]);
        struct sc_frame_head head;
        const char          *why;
        const bool next = sim_chance(w, 70);
        if (sc_frame_get(copy, &head, &why) == 0 && head.type != SC_FRAME_HELLO) {
                head.grant_tasks = head.grant_kib = 0; /* or it would be given tasks, and lose them */
                head.seq         = next ? ++n->raw_seq : head.seq;
                head.ack         = next ? 0 : head.ack;
                sc_frame_put(&head, copy);
        }
        if (sim_chance(w, 30))
                flip(w, copy, w->replay_len[at]);
        if (copy[4] == SC_FRAME_HELLO)
                return; /* somebody else's name: who has no token to check lets that happen */
        sim_net_send_raw(w, n->raw, copy, w->replay_len[at]);
}

static void again(struct sim *w, struct sim_event *ev)
{
        struct sim_node *n = &w->nodes[ev->node];
        if (sim_event_stale(w, ev) || n->raw != ev->ptr || n->raw->closed || w->healed)
                return;
        const uint64_t what = sim_below(w, 4);
        if (what == 0)
                replay(w, n);
        else if (what == 1 && n->raw_role == SC_ROLE_WORKER)
                lie(w, n);
        else
                ask_too_much(w, n);
        sim_at_node(w, w->now + sim_between(w, SC_US, SC_S), ev->node, again)->ptr = ev->ptr;
}

void sim_hostile_frame(struct sim *w, uint32_t node, const uint8_t *bytes, size_t len)
{
        if (w->config.liars)
                sim_liar_frame(w, node, bytes, len); /* the others do not listen */
}
