/* Questions to the scheduler's core, and what it answers in one step. */
#ifndef TEST_SCHED_WHY_KIT_H
#define TEST_SCHED_WHY_KIT_H

#include "test_sched_graph_kit.h"
#include "why.h"

static inline void ask(sc_link_id link, struct sc_query_msg query)
{
        query.ticket   = 7;
        query.rows_max = query.rows_max > 0 ? query.rows_max : 1;
        say(link, &(struct sc_msg){ .kind = SC_MSG_QUERY, .query = query });
        ck_assert_uint_eq(sends(link, SC_MSG_QUERY_END), 1);
        ck_assert_uint_eq(sent(link, SC_MSG_QUERY_END)->query_end.ticket, 7);
}

static inline int32_t answered(sc_link_id link)
{
        return sent(link, SC_MSG_QUERY_END)->query_end.status;
}

static inline void begin_with(struct sc_sched_options options)
{
        setup(options);
        client_up(C, CLIENT);
        up(A, hello_of(SC_ROLE_ADMIN, ADMIN), 0);
}

static inline void begin(void)
{
        begin_with((struct sc_sched_options){ .tasks_max = 0 });
}

/* The admin asks; good until the next step. */
static inline const struct sc_task_why *why_of(uint64_t client, uint64_t seq)
{
        ask(A, (struct sc_query_msg){ .what = SC_QUERY_TASK_WHY, .client = client, .sequence = seq });
        ck_assert_int_eq(answered(A), SC_OK);
        const struct sc_task_why *why = &sent(A, SC_MSG_TASK_WHY)->task_why;
        ck_assert_uint_eq(why->ticket, 7);
        ck_assert_uint_eq(sends(A, SC_MSG_ATTEMPT_ROW), why->attempts);
        return why;
}

static inline void is_because(uint64_t seq, enum sc_cause cause, const char *words)
{
        const struct sc_task_why *why = why_of(CLIENT, seq);
        ck_assert_str_eq(sc_why_name(why->why), sc_why_name((int)cause));
        ck_assert_str_eq(text_of(why->text), words);
}

static inline const struct sc_worker_why *worker_why_of(uint64_t worker)
{
        ask(A, (struct sc_query_msg){ .what = SC_QUERY_WORKER_WHY, .worker = worker });
        ck_assert_int_eq(answered(A), SC_OK);
        ck_assert_uint_eq(sends(A, SC_MSG_WORKER_WHY), 1);
        ck_assert_uint_eq(sent(A, SC_MSG_WORKER_WHY)->worker_why.worker, worker);
        return &sent(A, SC_MSG_WORKER_WHY)->worker_why;
}

static inline void idles_because(uint64_t worker, enum sc_idle idle, const char *words)
{
        const struct sc_worker_why *why = worker_why_of(worker);
        ck_assert_str_eq(sc_idle_name(why->why), sc_idle_name((int)idle));
        ck_assert_str_eq(text_of(why->text), words);
}

static inline void worker_offers(sc_link_id link, uint64_t id, uint32_t slots, uint32_t credit, const char *offers)
{
        struct sc_hello hello = hello_of(SC_ROLE_WORKER, id);
        hello.slots = hello.free_slots = slots;
        hello.functions      = functions_fg;
        hello.function_count = 2;
        hello.offers         = (struct sc_view){ offers, strlen(offers) };
        up(link, hello, credit);
}

static inline void submit_needs(uint64_t seq, const char *needs)
{
        const struct sc_plan plan = { .needs = { needs, strlen(needs) } };
        submit_plan(seq, &plan, SC_TASK_FUNCTION);
}

static inline void submit_named(uint64_t seq, const char *function)
{
        struct sc_spec spec = spec_f();
        spec.function       = (struct sc_view){ function, strlen(function) };
        submit_spec(C, CLIENT, seq, spec);
}

static inline void started(sc_link_id link, uint64_t seq)
{
        about(link, SC_MSG_STARTED, task(CLIENT, seq), run_of(CLIENT, seq));
}

#endif
