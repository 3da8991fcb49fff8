/*
 * A scheduler's core with somebody who plays all peers and the shell: one call is one step, checked
 * after it.  What the step wanted stands in `out` until the next one.
 */
#ifndef TEST_SCHED_KIT_H
#define TEST_SCHED_KIT_H

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "fail_mem.h"
#include "sc_assert.h"
#include "sc_mem.h"
#include "sc_sched.h"
#include "sc_status.h"

struct sched_rig {
        struct fail_mem  fail;
        struct sc_sched *s;
        sc_ns            now;
        bool             unchecked; /* for tests so big that walking everything each step takes too long */
};

static struct sched_rig rig;
static struct sc_out    out;

enum { EPOCH = 77, CLIENT = 1000, WORKER = 2000, ADMIN = 3000 };

static inline bool setup_at(const struct sc_sched_options *given, size_t fail_at)
{
        struct sc_sched_options options = *given;
        memset(&rig, 0, sizeof rig);
        fail_mem_init(&rig.fail, fail_at);
        rig.now       = 100 * SC_S;
        options.id    = 5;
        options.epoch = options.epoch != 0 ? options.epoch : EPOCH;
        options.seed  = 12345;
        options.now   = rig.now;
        rig.s         = sc_sched_create(&rig.fail.mem, &options);
        rig.now += 10 * SC_S;
        return rig.s != NULL;
}

static inline void setup(struct sc_sched_options options)
{
        ck_assert(setup_at(&options, 0));
}

static inline void teardown(void)
{
        sc_sched_destroy(rig.s);
        rig.s = NULL;
        ck_assert_uint_eq(fail_mem_leaks(&rig.fail), 0);
}

static inline void step(struct sc_event ev)
{
        out.len = 0;
        ev.now  = rig.now;
        sc_sched_step(rig.s, &ev, &out);
        if (!rig.unchecked)
                sc_sched_check(rig.s);
}

static inline void tick(sc_ns later)
{
        rig.now += later;
        step((struct sc_event){ .kind = SC_EV_TICK });
}

/* ---- peers speak -------------------------------------------------------------------------------*/

static inline void say(sc_link_id link, const struct sc_msg *m)
{
        step((struct sc_event){ .kind = SC_EV_MSG, .link = link, .msg = m });
}

static inline void down(sc_link_id link)
{
        step((struct sc_event){ .kind = SC_EV_DOWN, .link = link });
}

static inline void acked(sc_link_id link, uint64_t count)
{
        step((struct sc_event){ .kind = SC_EV_ACKED, .link = link, .count = count });
}

static inline void bye(sc_link_id link)
{
        say(link, &(struct sc_msg){ .kind = SC_MSG_BYE });
}

static inline struct sc_hello hello_of(uint8_t role, uint64_t id)
{
        return (struct sc_hello){ .version_min = 1, .version_max = 1, .role = role, .id = id, .name = { "peer", 4 } };
}

static inline void up(sc_link_id link, struct sc_hello hello, uint32_t credit)
{
        struct sc_msg m = { .kind = SC_MSG_HELLO, .hello = hello };
        step((struct sc_event){ .kind = SC_EV_UP, .link = link, .msg = &m, .tasks = credit });
}

static inline void client_up(sc_link_id link, uint64_t id)
{
        struct sc_hello hello = hello_of(SC_ROLE_CLIENT, id);
        hello.epoch           = EPOCH;
        up(link, hello, 0);
}

static const struct sc_view functions_fg[] = { { "f", 1 }, { "g", 1 } };

/* Serves f and g. */
static inline void worker_up_holding(sc_link_id link, uint64_t id, uint32_t slots, uint32_t credit,
                                     const struct sc_hold *holds, uint32_t count)
{
        struct sc_hello hello = hello_of(SC_ROLE_WORKER, id);
        hello.slots = hello.free_slots = slots;
        hello.functions      = functions_fg;
        hello.function_count = 2;
        hello.holds          = holds;
        hello.hold_count     = count;
        up(link, hello, credit);
}

static inline void worker_up(sc_link_id link, uint64_t id, uint32_t slots, uint32_t credit)
{
        worker_up_holding(link, id, slots, credit, NULL, 0);
}

static inline struct sc_spec spec_f(void)
{
        return (struct sc_spec){ .kind = SC_TASK_FUNCTION, .function = { "f", 1 }, .body = { "0123456789abcdef", 16 } };
}

static inline struct sc_id task(uint64_t client, uint64_t seq)
{
        return (struct sc_id){ client, seq };
}

static inline void submit_spec(sc_link_id link, uint64_t client, uint64_t seq, struct sc_spec spec)
{
        struct sc_msg m = { .kind = SC_MSG_SUBMIT, .submit = { .task = task(client, seq), .spec = spec } };
        say(link, &m);
}

static inline void submit(sc_link_id link, uint64_t client, uint64_t seq)
{
        submit_spec(link, client, seq, spec_f());
}

static inline void cancel(sc_link_id link, struct sc_id id, bool force)
{
        struct sc_msg m = { .kind = SC_MSG_CANCEL, .cancel = { .task = id, .force = force } };
        say(link, &m);
}

static inline void cancel_many(sc_link_id link, struct sc_cancel_many m)
{
        say(link, &(struct sc_msg){ .kind = SC_MSG_CANCEL_MANY, .cancel_many = m });
}

static inline void about(sc_link_id link, int kind, struct sc_id id, uint64_t run)
{
        struct sc_msg m = { .kind = kind, .about = { .task = id, .run = run } };
        say(link, &m);
}

static inline void done_as(sc_link_id link, struct sc_id id, uint64_t run, struct sc_outcome outcome)
{
        struct sc_msg m = { .kind = SC_MSG_DONE, .done = { .task = id, .run = run, .outcome = outcome } };
        say(link, &m);
}

static inline void done(sc_link_id link, struct sc_id id, uint64_t run, uint8_t reason)
{
        done_as(link, id, run, (struct sc_outcome){ .reason = reason, .code = 42, .result = { "ok", 2 } });
}

/* ---- what the step wanted ----------------------------------------------------------------------*/

/* How many notes the last step made; each of them is a warning. */
static inline uint32_t warnings(void)
{
        uint32_t count = 0;
        for (uint32_t i = 0; i < out.len; i++) {
                if (out.at[i].kind != SC_FX_NOTE)
                        continue;
                ck_assert_int_eq(out.at[i].status, SC_NOTE_WARN);
                count++;
        }
        return count;
}

static inline uint32_t effects(enum sc_effect_kind kind)
{
        uint32_t count = 0;
        for (uint32_t i = 0; i < out.len; i++)
                count += out.at[i].kind == kind;
        return count;
}

static inline const struct sc_effect *effect(enum sc_effect_kind kind)
{
        for (uint32_t i = 0; i < out.len; i++) {
                if (out.at[i].kind == kind)
                        return &out.at[i];
        }
        ck_abort_msg("no effect %d", (int)kind);
        return NULL;
}

static inline uint32_t sends(sc_link_id link, int kind)
{
        uint32_t count = 0;
        for (uint32_t i = 0; i < out.len; i++)
                count += out.at[i].kind == SC_FX_SEND && out.at[i].link == link && out.at[i].msg.kind == kind;
        return count;
}

static inline const struct sc_msg *sent_nth(sc_link_id link, int kind, uint32_t nth)
{
        for (uint32_t i = 0; i < out.len; i++) {
                const struct sc_effect *e = &out.at[i];
                if (e->kind == SC_FX_SEND && e->link == link && e->msg.kind == kind && nth-- == 0)
                        return &e->msg;
        }
        ck_abort_msg("%s was not sent to %u", sc_msg_name(kind), (unsigned)link);
        return NULL;
}

static inline const struct sc_msg *sent(sc_link_id link, int kind)
{
        return sent_nth(link, kind, 0);
}

static inline bool said_nothing(void)
{
        return out.len == 0;
}

static inline struct sc_status_row stats(void)
{
        struct sc_status_row row;
        sc_sched_stats(rig.s, rig.now, &row);
        return row;
}

static inline uint64_t run_of(uint64_t client, uint64_t seq)
{
        return sc_sched_run_of(rig.s, task(client, seq));
}

/* Steps while the core says it is not through. */
static inline uint32_t settle(void)
{
        uint32_t steps = 0;
        while (sc_sched_deadline(rig.s) <= rig.now) {
                tick(0);
                steps++;
                ck_assert_uint_lt(steps, 100000);
        }
        return steps;
}

static inline bool is_closed(sc_link_id link, int status)
{
        for (uint32_t i = 0; i < out.len; i++) {
                if (out.at[i].kind == SC_FX_CLOSE && out.at[i].link == link && out.at[i].status == status)
                        return true;
        }
        return false;
}

static inline const char *text_of(struct sc_view view)
{
        static char text[SC_TEXT_MAX + 1];
        ck_assert_uint_le(view.len, SC_TEXT_MAX);
        memcpy(text, view.ptr, view.len);
        text[view.len] = '\0';
        return text;
}

#endif
