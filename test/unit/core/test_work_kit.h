/* A worker's core with somebody who plays scheduler and shell: one call is one step, checked after it. */
#ifndef TEST_WORK_KIT_H
#define TEST_WORK_KIT_H

#include <check.h>
#include <string.h>

#include "fail_mem.h"
#include "sc_assert.h"
#include "sc_mem.h"
#include "sc_status.h"
#include "work.h"

struct rig {
        struct fail_mem fail;
        struct sc_work *w;
        sc_ns           now;
        sc_link_id      link;
        uint64_t        epoch;
};

static struct rig    rig;
static struct sc_out out;

static inline struct sc_id task_of(uint64_t run)
{
        return (struct sc_id){ .hi = 7, .lo = 1000 + run };
}

static inline void step(struct sc_event ev)
{
        out.len = 0;
        ev.now  = rig.now;
        sc_work_step(rig.w, &ev, &out);
        sc_work_check(rig.w);
}

static inline bool setup_work(const struct sc_work_options *given, size_t fail_at)
{
        struct sc_work_options options = *given;
        memset(&rig, 0, sizeof rig);
        fail_mem_init(&rig.fail, fail_at);
        rig.now     = SC_S;
        rig.epoch   = 100;
        options.id  = 9;
        options.now = rig.now;
        rig.w       = sc_work_create(&rig.fail.mem, &options);
        return rig.w != NULL;
}

static inline void teardown_work(void)
{
        sc_work_destroy(rig.w);
        rig.w = NULL;
        ck_assert_uint_eq(fail_mem_leaks(&rig.fail), 0);
}

static inline void say(const struct sc_msg *msg)
{
        step((struct sc_event){ .kind = SC_EV_MSG, .link = rig.link, .msg = msg });
}

static inline void up(void)
{
        struct sc_hello     hello;
        uint32_t            grant;
        const struct sc_msg welcome = { .kind = SC_MSG_WELCOME, .welcome = { .version = 1, .epoch = rig.epoch } };
        sc_work_hello(rig.w, &hello, &grant);
        rig.link++;
        step((struct sc_event){ .kind = SC_EV_UP, .link = rig.link, .msg = &welcome });
}

static inline void down(void)
{
        step((struct sc_event){ .kind = SC_EV_DOWN, .link = rig.link });
}

static inline void tick(sc_ns later)
{
        rig.now += later;
        step((struct sc_event){ .kind = SC_EV_TICK });
}

static inline void assign_spec(uint64_t run, const struct sc_spec *spec)
{
        const struct sc_msg msg = {
                .kind = SC_MSG_ASSIGN, .assign = { .task = task_of(run), .run = run, .attempt = 1, .spec = *spec }
        };
        say(&msg);
}

static inline void assign(uint64_t run)
{
        const struct sc_spec spec = { .function = { "f", 1 }, .body = { "body", 4 } };
        assign_spec(run, &spec);
}

static inline void about(enum sc_msg_kind kind, uint64_t run, bool force)
{
        const struct sc_msg msg = { .kind = (int)kind, .about = { .task = task_of(run), .run = run, .force = force } };
        say(&msg);
}

/* KEEP or DROP of a hold of task `run`. */
static inline void answer_hold(enum sc_msg_kind kind, uint64_t run, uint64_t held_epoch, uint64_t number)
{
        const struct sc_msg msg = {
                .kind  = (int)kind,
                .about = { .task = task_of(run), .run = number, .held_epoch = held_epoch, .held_run = run },
        };
        say(&msg);
}

static inline void ran_for(uint64_t handle, enum sc_reason reason, uint64_t wall_us)
{
        const struct sc_outcome outcome = {
                .reason = (uint8_t)reason, .code = 3, .wall_us = wall_us, .result = { "result", 6 }
        };
        step((struct sc_event){ .kind = SC_EV_RAN, .run = handle, .outcome = &outcome });
}

/* It took what the clock says. */
static inline void ran(uint64_t handle, enum sc_reason reason)
{
        ran_for(handle, reason, UINT64_MAX);
}

static inline void back(uint64_t handle)
{
        step((struct sc_event){ .kind = SC_EV_BACK, .run = handle });
}

static inline void acked(uint64_t count)
{
        step((struct sc_event){ .kind = SC_EV_ACKED, .link = rig.link, .count = count });
}

static inline void printed(uint64_t handle, const char *text, size_t len)
{
        step((struct sc_event){ .kind = SC_EV_OUTPUT, .run = handle, .stream = 1, .bytes = { text, len } });
}

static inline void output_ack(uint64_t run, uint64_t received, uint64_t limit, bool again)
{
        const struct sc_msg msg = {
                .kind       = SC_MSG_OUTPUT_ACK,
                .output_ack = {
                        .task = task_of(run), .run = run, .received = received, .limit = limit, .again = again
                },
        };
        say(&msg);
}

static inline uint32_t effects(enum sc_effect_kind kind)
{
        uint32_t count = 0;
        for (uint32_t i = 0; i < out.len; i++)
                count += out.at[i].kind == kind;
        return count;
}

static inline uint32_t sends(enum sc_msg_kind kind)
{
        uint32_t count = 0;
        for (uint32_t i = 0; i < out.len; i++)
                count += out.at[i].kind == SC_FX_SEND && out.at[i].msg.kind == (int)kind;
        return count;
}

/* The first effect of that kind; it must be there. */
static inline const struct sc_effect *effect(enum sc_effect_kind kind)
{
        for (uint32_t i = 0; i < out.len; i++) {
                if (out.at[i].kind == kind)
                        return &out.at[i];
        }
        ck_abort_msg("no such effect");
        return NULL;
}

static inline const struct sc_msg *sent(enum sc_msg_kind kind)
{
        for (uint32_t i = 0; i < out.len; i++) {
                if (out.at[i].kind == SC_FX_SEND && out.at[i].msg.kind == (int)kind)
                        return &out.at[i].msg;
        }
        ck_abort_msg("no such message");
        return NULL;
}

static inline struct sc_work_stats stats(void)
{
        struct sc_work_stats got;
        sc_work_stats(rig.w, &got);
        return got;
}

#endif
