/* What the tests of plans share: one client, tasks with plans, and time that passes in silence. */
#ifndef TEST_SCHED_PLAN_KIT_H
#define TEST_SCHED_PLAN_KIT_H

#include "test_sched_kit.h"

enum { C = 1, W = 2, W2 = 3, A = 4, C2 = 5 };

static inline void begin(void)
{
        setup((struct sc_sched_options){ .tasks_max = 0 });
        client_up(C, CLIENT);
}

static inline void submit_plan(uint64_t seq, struct sc_plan plan)
{
        struct sc_spec spec = spec_f();
        spec.plan           = &plan;
        submit_spec(C, CLIENT, seq, spec);
}

static inline void submit_retried(uint64_t seq, uint32_t retries, struct sc_plan plan)
{
        struct sc_spec spec = spec_f();
        spec.plan           = &plan;
        spec.retries        = retries;
        submit_spec(C, CLIENT, seq, spec);
}

static inline void started(sc_link_id link, uint64_t seq)
{
        about(link, SC_MSG_STARTED, task(CLIENT, seq), run_of(CLIENT, seq));
}

static inline void returned(sc_link_id link, uint64_t seq)
{
        about(link, SC_MSG_RETURNED, task(CLIENT, seq), run_of(CLIENT, seq));
}

static inline void end(sc_link_id link, uint64_t seq, uint8_t reason)
{
        done(link, task(CLIENT, seq), run_of(CLIENT, seq), reason);
}

static inline void ended_as(enum sc_reason reason)
{
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 1);
        const struct sc_outcome *outcome = &sent(C, SC_MSG_RESULT)->result.outcome;
        ck_assert_str_eq(sc_reason_name(outcome->reason), sc_reason_name((int)reason));
        ck_assert((reason != SC_REASON_DEADLINE && reason != SC_REASON_QUEUE_TIMEOUT) || outcome->text.len > 0);
}

/* Nothing happens until a nanosecond before; then it is `later`. */
static inline void quiet_until(sc_ns later)
{
        ck_assert_int_eq(sc_sched_deadline(rig.s), rig.now + later);
        tick(later - 1);
        ck_assert(said_nothing());
        tick(1);
}

#endif
