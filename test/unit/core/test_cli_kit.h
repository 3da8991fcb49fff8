/* A client's core with somebody who plays scheduler and application: one call is one step, checked after it. */
#ifndef TEST_CLI_KIT_H
#define TEST_CLI_KIT_H

#include <check.h>
#include <string.h>

#include "cli.h"
#include "fail_mem.h"
#include "sc_assert.h"
#include "sc_mem.h"
#include "sc_status.h"

#define ME 77u

struct rig {
        struct fail_mem fail;
        struct sc_cli  *c;
        sc_ns           now;
        sc_link_id      link;
        uint64_t        epoch;
        bool            unchecked; /* for tests so big that walking everything each step takes too long */
};

static struct rig    rig;
static struct sc_out out;

static inline struct sc_id task(uint64_t sequence)
{
        return (struct sc_id){ .hi = ME, .lo = sequence };
}

static inline void step(struct sc_event ev)
{
        out.len = 0;
        ev.now  = rig.now;
        sc_cli_step(rig.c, &ev, &out);
        if (!rig.unchecked)
                sc_cli_check(rig.c);
}

static inline bool setup_cli(const struct sc_cli_options *given, size_t fail_at)
{
        struct sc_cli_options options = *given;
        memset(&rig, 0, sizeof rig);
        fail_mem_init(&rig.fail, fail_at);
        rig.now     = SC_S;
        rig.epoch   = 100;
        options.id  = ME;
        options.now = rig.now;
        if (options.role == SC_ROLE_NONE)
                options.role = SC_ROLE_CLIENT;
        rig.c = sc_cli_create(&rig.fail.mem, &options);
        return rig.c != NULL;
}

static inline void teardown_cli(void)
{
        sc_cli_destroy(rig.c);
        rig.c = NULL;
        ck_assert_uint_eq(fail_mem_leaks(&rig.fail), 0);
}

static inline void say(const struct sc_msg *msg)
{
        step((struct sc_event){ .kind = SC_EV_MSG, .link = rig.link, .msg = msg });
}

static inline void up_known(uint64_t known, uint32_t tasks, uint32_t kib)
{
        const struct sc_msg welcome = {
                .kind = SC_MSG_WELCOME, .welcome = { .epoch = rig.epoch, .known_up_to = known }
        };
        rig.link++;
        step((struct sc_event){ .kind = SC_EV_UP, .link = rig.link, .msg = &welcome, .tasks = tasks, .kib = kib });
}

static inline void granted(uint32_t tasks, uint32_t kib)
{
        step((struct sc_event){ .kind = SC_EV_GRANT, .link = rig.link, .tasks = tasks, .kib = kib });
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

static inline int submit_plan(const struct sc_plan *plan, const void *body, size_t len)
{
        const struct sc_spec spec   = { .function = { "f", 1 }, .body = { body, len }, .plan = plan };
        const int            status = sc_cli_admissible(rig.c, &spec);
        if (status)
                return status;
        const struct sc_msg  msg  = {
                .kind = SC_MSG_SUBMIT, .submit = { .task = task(sc_cli_next_sequence(rig.c)), .spec = spec }
        };
        step((struct sc_event){ .kind = SC_EV_SUBMIT, .msg = &msg });
        return 0;
}

static inline int submit_body(const void *body, size_t len)
{
        return submit_plan(NULL, body, len);
}

static inline void submit(uint32_t count)
{
        for (uint32_t i = 0; i < count; i++)
                ck_assert_int_eq(submit_body("body", 4), 0);
}

static inline void result(uint64_t sequence, enum sc_reason reason)
{
        const struct sc_msg msg = {
                .kind = SC_MSG_RESULT, .result = { .task = task(sequence), .outcome = { .reason = (uint8_t)reason } }
        };
        say(&msg);
}

static inline void cancel(uint64_t sequence, bool force)
{
        const struct sc_msg msg = { .kind = SC_MSG_CANCEL, .cancel = { .task = task(sequence), .force = force } };
        step((struct sc_event){ .kind = SC_EV_CANCEL, .msg = &msg });
}

static inline void confirm(struct sc_id id, enum sc_cancelled outcome)
{
        const struct sc_msg msg = { .kind = SC_MSG_CONFIRM, .confirm = { .task = id, .outcome = (uint8_t)outcome } };
        say(&msg);
}

static inline void output(uint64_t sequence, uint64_t run, uint64_t offset, const char *text)
{
        const struct sc_msg msg = {
                .kind   = SC_MSG_OUTPUT,
                .output = {
                        .task   = task(sequence),
                        .run    = run,
                        .stream = 1,
                        .offset = offset,
                        .bytes  = { text, strlen(text) },
                },
        };
        say(&msg);
}

static inline void consumed(uint64_t sequence, uint64_t bytes)
{
        step((struct sc_event){ .kind = SC_EV_CONSUMED, .task = task(sequence), .count = bytes });
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

static inline struct sc_cli_stats stats(void)
{
        struct sc_cli_stats got;
        sc_cli_stats(rig.c, &got);
        return got;
}

#endif
