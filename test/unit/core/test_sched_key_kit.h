/* What the tests of keys share: three clients, two of a tenant, workers, and the name that the work goes by. */
#ifndef TEST_SCHED_KEY_KIT_H
#define TEST_SCHED_KEY_KIT_H

#include "test_sched_kit.h"

enum { C = 1, D = 2, E = 3, W = 4, W2 = 5, A = 6, CD = CLIENT + 1, CE = CLIENT + 2 };

static inline void tenant_up(sc_link_id link, uint64_t id, const char *tenant)
{
        struct sc_hello hello = hello_of(SC_ROLE_CLIENT, id);
        hello.epoch           = EPOCH;
        hello.tenant          = (struct sc_view){ tenant, strlen(tenant) };
        up(link, hello, 0);
}

/* C and D are of one tenant, E of another. */
static inline void begin_with(struct sc_sched_options options)
{
        setup(options);
        tenant_up(C, CLIENT, "t");
        tenant_up(D, CD, "t");
        tenant_up(E, CE, "other");
}

static inline void begin(void)
{
        begin_with((struct sc_sched_options){ .tasks_max = 0 });
}

static inline uint64_t client_of(sc_link_id link)
{
        return CLIENT + link - C;
}

static inline void submit_keyed_spec(sc_link_id link, uint64_t seq, const char *key, struct sc_spec spec,
                                     struct sc_plan plan)
{
        plan.key  = (struct sc_view){ key, strlen(key) };
        spec.plan = &plan;
        submit_spec(link, client_of(link), seq, spec);
}

static inline void submit_keyed(sc_link_id link, uint64_t seq, const char *key)
{
        submit_keyed_spec(link, seq, key, spec_f(), (struct sc_plan){ .queue_ms = 0 });
}

static inline void submit_planned(sc_link_id link, uint64_t seq, struct sc_plan plan)
{
        submit_keyed_spec(link, seq, "k", spec_f(), plan);
}

static inline void submit_at(sc_link_id link, uint64_t seq, int32_t priority)
{
        struct sc_spec spec = spec_f();
        spec.priority       = priority;
        submit_keyed_spec(link, seq, "k", spec, (struct sc_plan){ .queue_ms = 0 });
}

/* What the last step assigned to a worker: the name of the work and its run. */
static struct sc_id work;
static uint64_t     run;

static inline void assigned(sc_link_id link)
{
        const struct sc_assign *m = &sent(link, SC_MSG_ASSIGN)->assign;
        ck_assert(m->task.lo & SC_SEQUENCE_KEY);
        work = m->task;
        run  = m->run;
}

static inline void work_done(sc_link_id link, uint8_t reason)
{
        done(link, work, run, reason);
}

/* The last step sent one RESULT there, like this. */
static inline const struct sc_result *got(sc_link_id link, uint64_t seq, enum sc_reason reason)
{
        ck_assert_uint_eq(sends(link, SC_MSG_RESULT), 1);
        const struct sc_result *m = &sent(link, SC_MSG_RESULT)->result;
        ck_assert_uint_eq(m->task.lo, seq);
        ck_assert_str_eq(sc_reason_name(m->outcome.reason), sc_reason_name((int)reason));
        return m;
}

#endif
