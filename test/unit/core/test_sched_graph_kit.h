/* Nodes, graphs and dependencies by hand, over the scheduler's kit. */
#ifndef TEST_SCHED_GRAPH_KIT_H
#define TEST_SCHED_GRAPH_KIT_H

#include "test_sched_kit.h"

enum { C = 1, W = 2, W2 = 3, A = 4, C2 = 5 };

/* Entries of `after` as they travel; good until the next call. */
static inline struct sc_view after_of(const uint64_t *entries, uint32_t count)
{
        static uint8_t bytes[8 * (SC_AFTER_MAX + 1)];
        ck_assert_uint_le(count, SC_AFTER_MAX + 1);
        for (uint32_t i = 0; i < 8 * count; i++)
                bytes[i] = (uint8_t)(entries[i / 8] >> (8 * (i % 8)));
        return (struct sc_view){ bytes, 8 * (size_t)count };
}

static inline uint64_t reads(uint64_t sequence)
{
        return SC_AFTER_READ | sequence;
}

static inline void submit_plan(uint64_t seq, const struct sc_plan *plan, uint8_t kind)
{
        struct sc_spec spec = spec_f();
        spec.kind           = kind;
        spec.plan           = plan;
        if (kind != SC_TASK_FUNCTION)
                spec.function = (struct sc_view){ "", 0 };
        if (kind == SC_TASK_GRAPH)
                spec.body = (struct sc_view){ "", 0 };
        submit_spec(C, CLIENT, seq, spec);
}

/* A function that depends on others, of the graph or of none (0). */
static inline void submit_after(uint64_t seq, const uint64_t *entries, uint32_t count, uint64_t graph, uint8_t flags)
{
        const struct sc_plan plan = { .after = after_of(entries, count), .graph = graph, .graph_flags = flags };
        submit_plan(seq, &plan, SC_TASK_FUNCTION);
}

static inline void submit_after_one(uint64_t seq, uint64_t entry)
{
        submit_after(seq, &entry, 1, 0, 0);
}

static inline void submit_graph(uint64_t seq, uint32_t nodes, uint8_t flags)
{
        const struct sc_plan plan = { .nodes = nodes, .graph_flags = flags };
        submit_plan(seq, &plan, SC_TASK_GRAPH);
}

static inline void submit_inner(uint64_t seq, uint64_t graph)
{
        const struct sc_plan plan = { .graph = graph, .graph_flags = SC_GRAPH_INNER };
        submit_plan(seq, &plan, SC_TASK_FUNCTION);
}

static inline void succeed(uint64_t seq, const char *bytes)
{
        const struct sc_outcome outcome = { .reason = SC_REASON_SUCCESS, .result = { bytes, strlen(bytes) } };
        done_as(W, task(CLIENT, seq), run_of(CLIENT, seq), outcome);
}

static inline void fail_it(uint64_t seq)
{
        done(W, task(CLIENT, seq), run_of(CLIENT, seq), SC_REASON_TASK);
}

static inline const struct sc_result *result_of(uint64_t seq)
{
        for (uint32_t i = 0; i < sends(C, SC_MSG_RESULT); i++) {
                const struct sc_result *r = &sent_nth(C, SC_MSG_RESULT, i)->result;
                if (r->task.lo == seq)
                        return r;
        }
        ck_abort_msg("no result of %u", (unsigned)seq);
        return NULL;
}

static inline const struct sc_assign *assign_of(uint64_t seq)
{
        for (uint32_t i = 0; i < sends(W, SC_MSG_ASSIGN); i++) {
                const struct sc_assign *a = &sent_nth(W, SC_MSG_ASSIGN, i)->assign;
                if (a->task.lo == seq)
                        return a;
        }
        ck_abort_msg("%u was not assigned", (unsigned)seq);
        return NULL;
}

static inline uint32_t input_count(const struct sc_assign *a)
{
        return a->spec.plan ? a->spec.plan->results.count : 0;
}

static inline void expect_input(const struct sc_assign *a, uint32_t index, const char *bytes)
{
        ck_assert_uint_lt(index, input_count(a));
        ck_assert_uint_eq(a->spec.plan->results.at[index].len, strlen(bytes));
        ck_assert_mem_eq(a->spec.plan->results.at[index].ptr, bytes, strlen(bytes));
}

static inline void pair_up(uint32_t slots, uint32_t credit)
{
        setup((struct sc_sched_options){ .tasks_max = 0 });
        client_up(C, CLIENT);
        worker_up(W, WORKER, slots, credit);
}

#endif
