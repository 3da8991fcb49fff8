/* Why a task is where it is: the table, and each reason by a transcript that leads to it. */
#include "test_sched_why_kit.h"

#include "run_tests.h"
#include "sched_explain.h"

/* ---- the table -------------------------------------------------------------------------------------------- */

START_TEST(every_state_of_a_task_has_a_reason_and_no_task_has_none)
{
        for (int state = 0; state < SC_STATES; state++) {
                uint32_t reasons = 0;
                for (int why = 0; why < SC_WHYS; why++)
                        reasons += sc_sched_why_fits((enum sc_task_state)state, (enum sc_cause)why);
                ck_assert((reasons > 0) == (state != SC_STATE_FREE));
        }
        ck_assert(!sc_sched_why_fits(SC_STATES, SC_WHY_RUNNING));
        ck_assert(!sc_sched_why_fits(SC_STATE_READY, SC_WHYS));
}
END_TEST

START_TEST(every_reason_belongs_to_a_state_and_has_a_word_of_its_own)
{
        static const int all[] = {
#define NUMBER(name, number, word) number,
                SC_WHY_LIST(NUMBER)
#undef NUMBER
        };
        const size_t count = sizeof all / sizeof all[0];
        for (size_t i = 0; i < count; i++) {
                uint32_t states = 0;
                for (int state = 0; state < SC_STATES; state++)
                        states += sc_sched_why_fits((enum sc_task_state)state, (enum sc_cause)all[i]);
                ck_assert_msg(states > 0, "%s", sc_why_name(all[i]));
                for (size_t k = 0; k < i; k++)
                        ck_assert_str_ne(sc_why_name(all[i]), sc_why_name(all[k]));
        }
        ck_assert_str_eq(sc_why_name(0), "?");
        ck_assert_str_eq(sc_why_name(SC_WHYS), "?");
        ck_assert_str_eq(sc_idle_name(0), "?");
        ck_assert_str_eq(sc_idle_name(SC_IDLES), "?");
}
END_TEST

/* ---- ready, and never to be placed as things are ------------------------------------------------------------ */

START_TEST(a_task_waits_because_there_is_no_worker)
{
        begin();
        submit(C, CLIENT, 1);
        tick(3 * SC_S);
        is_because(1, SC_WHY_NO_WORKER, "There is no worker.");
        const struct sc_task_why *why = why_of(CLIENT, 1);
        ck_assert_uint_eq(why->stage, SC_STATE_READY);
        ck_assert_uint_eq(why->state, SC_PUBLIC_INACTIVE);
        ck_assert_uint_eq(why->since_ms, 3000);
        ck_assert_uint_eq(why->age_ms, 3000);
        ck_assert_uint_eq(why->until_ms, 0);
        ck_assert_uint_eq(why->attempt, 0);
        ck_assert_uint_eq(why->worker, 0);
        ck_assert_str_eq(text_of(why->function), "f");
        ck_assert_uint_eq(why->needs.len, 0);
        teardown();
}
END_TEST

START_TEST(a_task_waits_because_no_worker_has_its_function)
{
        begin();
        worker_up(W, WORKER, 2, 2);
        submit_named(1, "h");
        is_because(1, SC_WHY_NO_FUNCTION, "No worker has its function, 'h'.");
        submit_named(2, "a_function_with_a_name_that_goes_on_and_on_and_on");
        is_because(2, SC_WHY_NO_FUNCTION,
                   "No worker has its function, 'a_function_with_a_name_that_goes_on_and_...'.");
        teardown();
}
END_TEST

START_TEST(a_task_waits_because_nobody_offers_what_it_needs)
{
        begin();
        worker_offers(W, WORKER, 2, 2, "gpu=2000,linux");
        worker_offers(W2, WORKER + 1, 4, 4, "mem=68719476736000");
        submit_needs(1, "tpu=1000");
        is_because(1, SC_WHY_NO_OFFER, "It needs tpu=1, and no worker that has function 'f' offers tpu.");
        submit_needs(2, "windows");
        is_because(2, SC_WHY_NO_OFFER, "It needs windows, and no worker that has function 'f' offers windows.");
        submit_needs(3, "gpu=4500");
        is_because(3, SC_WHY_TOO_MUCH,
                   "It needs gpu=4.5, and the most that any worker that has function 'f' offers is 2.");
        ck_assert_uint_eq(why_of(CLIENT, 3)->number, 2);
        submit_needs(4, "cpu=5000");
        is_because(4, SC_WHY_TOO_MUCH, "It needs cpu=5, and the most that any worker that has function 'f' "
                                       "offers is 4.");
        submit_needs(5, "gpu=500,mem=34359738368000");
        is_because(5, SC_WHY_NO_MATCH, "It needs gpu=0.5,mem=32G, and no worker offers all of that together.");
        ck_assert_str_eq(text_of(why_of(CLIENT, 5)->needs), "gpu=0.5,mem=32G");
        submit_named(6, "nothing");
        down(W);
        is_because(1, SC_WHY_NO_OFFER, "It needs tpu=1, and no worker that has function 'f' offers tpu.");
        is_because(3, SC_WHY_NO_OFFER, "It needs gpu=4.5, and no worker that has function 'f' offers gpu.");
        teardown();
}
END_TEST

START_TEST(of_a_command_only_what_it_needs_is_said)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        const struct sc_plan plan = { .needs = { "gpu=1000", 8 } };
        submit_plan(1, &plan, SC_TASK_COMMAND);
        is_because(1, SC_WHY_NO_OFFER, "It needs gpu=1, and no worker offers gpu.");
        teardown();
}
END_TEST

/* ---- ready, and waiting for its turn ------------------------------------------------------------------------ */

START_TEST(a_task_waits_because_all_that_fit_are_full)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit(C, CLIENT, 1);
        submit(C, CLIENT, 2);
        is_because(2, SC_WHY_ALL_FULL, "1 worker fits, and it is full.");
        worker_up(W2, WORKER + 1, 1, 1);
        submit(C, CLIENT, 3);
        is_because(3, SC_WHY_ALL_FULL, "2 workers fit, and all are full.");
        ck_assert_uint_eq(why_of(CLIENT, 3)->number, 2);
        teardown();
}
END_TEST

START_TEST(a_task_waits_because_what_it_needs_is_in_use)
{
        begin();
        worker_offers(W, WORKER, 4, 4, "gpu=1000");
        worker_offers(W2, WORKER + 1, 4, 0, "gpu=1000");
        submit_needs(1, "gpu=600");
        submit_needs(2, "gpu=500");
        is_because(2, SC_WHY_ALL_FULL, "2 workers fit, and none has room: 1 with too little free of what it needs, 1 "
                                       "that takes nothing just now.");
        teardown();
}
END_TEST

START_TEST(a_task_waits_for_its_clients_or_its_tenants_limit)
{
        const struct sc_tenant_options tenants[] = { { .name = { "team", 4 }, .running_max = 1 } };
        setup((struct sc_sched_options){ .tenants = tenants, .tenant_count = 1 });
        struct sc_hello hello = hello_of(SC_ROLE_CLIENT, CLIENT);
        hello.epoch           = EPOCH;
        hello.running_max     = 1;
        up(C, hello, 0);
        hello.id          = CLIENT + 1;
        hello.running_max = 0;
        hello.tenant      = (struct sc_view){ "team", 4 };
        up(C2, hello, 0);
        up(A, hello_of(SC_ROLE_ADMIN, ADMIN), 0);
        worker_up(W, WORKER, 8, 8);
        for (uint64_t seq = 1; seq <= 2; seq++) {
                submit(C, CLIENT, seq);
                submit(C2, CLIENT + 1, seq);
        }
        is_because(2, SC_WHY_CLIENT_CAP, "Its client has 1 task with workers, and may have 1.");
        const struct sc_task_why *why = why_of(CLIENT + 1, 2);
        ck_assert_str_eq(sc_why_name(why->why), "tenant-cap");
        ck_assert_str_eq(text_of(why->text), "Its tenant 'team' has 1 task with workers, and may have 1.");
        ck_assert_str_eq(text_of(why->tenant), "team");
        idles_because(WORKER, SC_IDLE_CAPPED, "What fits is of clients or tenants that have as many runs as they may.");
        teardown();
}
END_TEST

START_TEST(a_task_waits_for_its_last_chance_alone)
{
        begin_with((struct sc_sched_options){ .losses_max = 2 });
        worker_up(W, WORKER, 1, 1);
        worker_up(W2, WORKER + 1, 1, 2);
        submit(C, CLIENT, 1);
        submit(C, CLIENT, 2);
        submit(C, CLIENT, 3);
        started(W, 1);
        down(W);
        is_because(1, SC_WHY_LAST_CHANCE,
                   "It lost its worker 1 time and gets its last chance alone, on a worker that has nothing else.");
        ck_assert_uint_eq(why_of(CLIENT, 1)->number, 1);
        ck_assert_uint_eq(why_of(CLIENT, 1)->losses, 1);
        idles_because(WORKER + 1, SC_IDLE_RESERVED, "It is being emptied for a task that gets its last chance alone.");
        submit(C, CLIENT, 4);
        is_because(4, SC_WHY_ALL_FULL, "1 worker fits, and it has no room: 1 kept for a task's last chance.");
        done(W2, task(CLIENT, 2), run_of(CLIENT, 2), SC_REASON_SUCCESS);
        done(W2, task(CLIENT, 3), run_of(CLIENT, 3), SC_REASON_SUCCESS);
        ck_assert_uint_eq(why_of(CLIENT, 1)->stage, SC_STATE_ASSIGNED);
        idles_because(WORKER + 1, SC_IDLE_ALONE,
                      "It has a task that gets its last chance alone, and nothing joins that.");
        teardown();
}
END_TEST

START_TEST(a_task_waits_for_memory)
{
        begin_with((struct sc_sched_options){ .bytes_max = 64 });
        worker_up(W, WORKER, 1, 1);
        submit(C, CLIENT, 1);
        submit(C, CLIENT, 2);
        const struct sc_outcome big = { .reason = SC_REASON_SUCCESS, .result = { functions_fg, sizeof functions_fg } };
        done_as(W, task(CLIENT, 1), run_of(CLIENT, 1), big);
        is_because(2, SC_WHY_MEMORY,
                   "The scheduler is short of memory, and hands out more when it has some again.");
        idles_because(WORKER, SC_IDLE_MEMORY,
                      "The scheduler is short of memory, and hands out more when it has some again.");
        acked(C, 1);
        ck_assert_uint_eq(why_of(CLIENT, 2)->stage, SC_STATE_ASSIGNED);
        teardown();
}
END_TEST

START_TEST(a_task_lets_others_go_first_that_wait_for_what_its_like_hold)
{
        begin();
        worker_offers(W, WORKER, 4, 8, "gpu=1000");
        submit_needs(1, "gpu=1000");
        const struct sc_plan higher = { .needs = { "gpu=900", 7 } };
        struct sc_spec       spec   = spec_f();
        spec.plan                   = &higher;
        spec.priority               = 5;
        submit_spec(C, CLIENT, 2, spec);
        submit_needs(3, "gpu=1000");
        is_because(2, SC_WHY_ALL_FULL,
                   "1 worker fits, and it has no room: 1 with too little free of what it needs.");
        is_because(3, SC_WHY_WITHHELD, "It could only wait behind its like, at 1 worker, where others come "
                                       "before it that wait for a slot or for what those hold.");
        ck_assert_int_eq(why_of(CLIENT, 2)->priority, 5);
        idles_because(WORKER, SC_IDLE_WITHHELD, "What fits could only wait behind its like, and lets others go "
                                                "first that wait for a slot or for what those hold.");
        teardown();
}
END_TEST

/* A step places only so much; what is left is told to be placed in a moment. */
START_TEST(a_task_that_is_about_to_be_placed_says_so)
{
        begin();
        rig.unchecked = true;
        enum { MANY = 2000 };
        struct sc_msg want = { .kind = SC_MSG_WANT, .want = { .tasks = MANY, .kib = 1024 } };
        say(C, &want);
        for (uint64_t seq = 1; seq <= MANY; seq++)
                submit(C, CLIENT, seq);
        worker_up(W, WORKER, SC_SLOTS_MAX, 4000);
        ck_assert_int_eq(sc_sched_deadline(rig.s), rig.now);
        struct sc_task_why why;
        char               room[SC_SCHED_EXPLAIN_ROOM];
        ck_assert(sc_sched_explain_task(rig.s, rig.now, task(CLIENT, 1000), room, &why));
        ck_assert_str_eq(sc_why_name(why.why), "placing");
        ck_assert_str_eq(text_of(why.text), "1 worker has room for it, so it is placed in a moment.");
        struct sc_worker_why worker;
        ck_assert(sc_sched_explain_worker(rig.s, rig.now, WORKER, room, &worker));
        ck_assert_str_eq(sc_idle_name(worker.why), "placing");
        ck_assert_str_eq(text_of(worker.text), "It is given something in a moment.");
        settle();
        rig.unchecked = false;
        teardown();
}
END_TEST

/* ---- waiting, and later --------------------------------------------------------------------------------------- */

START_TEST(a_task_waits_for_those_it_depends_on)
{
        begin();
        submit(C, CLIENT, 1);
        submit(C, CLIENT, 2);
        submit_after(3, (const uint64_t[]){ reads(1), 2 }, 2, 0, 0);
        is_because(3, SC_WHY_DEPENDENCIES, "It waits for 2 tasks that it depends on.");
        ck_assert_uint_eq(why_of(CLIENT, 3)->number, 2);
        ck_assert_uint_eq(why_of(CLIENT, 3)->stage, SC_STATE_WAITING);
        worker_up(W, WORKER, 1, 1);
        succeed(1, "x");
        tick(0);
        is_because(3, SC_WHY_DEPENDENCIES, "It waits for 1 task that it depends on.");
        acked(C, 1);
        is_because(1, SC_WHY_KEPT, "It has ended as success, and tasks that depend on it are still to be dealt with.");
        ck_assert_uint_eq(why_of(CLIENT, 1)->number, 1);
        ck_assert_uint_eq(why_of(CLIENT, 1)->reason, SC_REASON_SUCCESS);
        teardown();
}
END_TEST

START_TEST(a_graph_says_how_many_of_its_nodes_are_left)
{
        begin();
        submit_graph(1, 3, 0);
        is_because(1, SC_WHY_GRAPH, "3 of the 3 tasks of this graph have not ended; its client is still "
                                    "submitting 3 of "
                                    "them.");
        ck_assert_uint_eq(why_of(CLIENT, 1)->kind, SC_TASK_GRAPH);
        worker_up(W, WORKER, 1, 1);
        submit_inner(2, 1);
        succeed(2, "x");
        is_because(2, SC_WHY_KEPT,
                   "It has ended as success, and its graph, in which others may read it, is still being submitted.");
        submit_inner(3, 1);
        submit_inner(4, 1);
        is_because(1, SC_WHY_GRAPH, "2 of the 3 tasks of this graph have not ended.");
        teardown();
}
END_TEST

START_TEST(a_task_waits_for_its_time)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        const struct sc_plan plan = { .not_before_ms = 2500, .tag = { "night", 5 } };
        submit_plan(1, &plan, SC_TASK_FUNCTION);
        tick(SC_S);
        is_because(1, SC_WHY_NOT_BEFORE, "It is not to start before its time, which comes in 1.5 s.");
        ck_assert_uint_eq(why_of(CLIENT, 1)->until_ms, 1500);
        ck_assert_uint_eq(why_of(CLIENT, 1)->since_ms, 1000);
        ck_assert_str_eq(text_of(why_of(CLIENT, 1)->tag), "night");
        teardown();
}
END_TEST

START_TEST(a_task_that_failed_waits_to_be_tried_again)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        const struct sc_plan plan = { .backoff_ms = 4000 };
        struct sc_spec       spec = spec_f();
        spec.plan                 = &plan;
        spec.retries              = 1;
        submit_spec(C, CLIENT, 1, spec);
        fail_it(1);
        const struct sc_task_why *why = why_of(CLIENT, 1);
        ck_assert_str_eq(sc_why_name(why->why), "backoff");
        ck_assert_uint_eq(why->stage, SC_STATE_BACKOFF);
        ck_assert(why->until_ms >= 3000 && why->until_ms <= 5000);
        ck_assert(strncmp(text_of(why->text), "It failed and is tried again in ", 32) == 0);
        ck_assert_uint_eq(why->attempts, 1);
        teardown();
}
END_TEST

START_TEST(a_task_of_an_earlier_scheduler_waits_until_workers_have_claimed_theirs)
{
        begin_with((struct sc_sched_options){ .claim_delay = 60 * SC_S });
        struct sc_spec spec = spec_f();
        spec.flags          = SC_SPEC_RESUBMITTED;
        submit_spec(C, CLIENT, 1, spec);
        is_because(1, SC_WHY_CLAIM, "The scheduler has only just started, and a worker may still say that "
                                    "it has it; it is "
                                    "placed in 50.0 s.");
        ck_assert_uint_eq(why_of(CLIENT, 1)->until_ms, 50000);
        teardown();
}
END_TEST

/* ---- at a worker ---------------------------------------------------------------------------------------------- */

START_TEST(a_task_is_at_a_worker_and_then_runs_there)
{
        begin();
        worker_up(W, WORKER, 1, 2);
        submit(C, CLIENT, 1);
        submit(C, CLIENT, 2);
        tick(SC_S);
        is_because(2, SC_WHY_AT_WORKER, "Worker 'peer' has it and has not said that it started; there are 2 "
                                        "runs for 1 slot "
                                        "there.");
        ck_assert_uint_eq(why_of(CLIENT, 2)->number, 2);
        ck_assert_uint_eq(why_of(CLIENT, 2)->since_ms, 1000);
        started(W, 1);
        tick(2340 * SC_MS);
        is_because(1, SC_WHY_RUNNING, "It has been running at worker 'peer' for 2.3 s.");
        const struct sc_task_why *why = why_of(CLIENT, 1);
        ck_assert_uint_eq(why->stage, SC_STATE_ASSIGNED);
        ck_assert_uint_eq(why->state, SC_PUBLIC_RUNNING);
        ck_assert_uint_eq(why->since_ms, 2340);
        ck_assert_uint_eq(why->age_ms, 3340);
        ck_assert_uint_eq(why->attempt, 1);
        ck_assert_uint_eq(why->worker, WORKER);
        ck_assert_str_eq(text_of(why->worker_name), "peer");
        about(W, SC_MSG_WAITING, task(CLIENT, 1), run_of(CLIENT, 1));
        is_because(1, SC_WHY_NESTED, "It waits at worker 'peer' for tasks that it has submitted, and has given its "
                                     "slot back; 1 run waits so there.");
        about(W, SC_MSG_RESUMED, task(CLIENT, 1), run_of(CLIENT, 1));
        teardown();
}
END_TEST

START_TEST(a_task_is_asked_back)
{
        begin();
        worker_up(W, WORKER, 1, 2);
        submit(C, CLIENT, 1);
        submit(C, CLIENT, 2);
        tick(SC_S);
        worker_up(W2, WORKER + 1, 1, 1);
        tick(500 * SC_MS);
        is_because(2, SC_WHY_RECALLING,
                   "It has been asked back from worker 'peer', unless it has started there; the answer is on its way.");
        ck_assert_uint_eq(why_of(CLIENT, 2)->since_ms, 500);
        ck_assert_uint_eq(why_of(CLIENT, 2)->state, SC_PUBLIC_BALANCE_CANCELING);
        teardown();
}
END_TEST

START_TEST(a_task_is_being_cancelled)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit(C, CLIENT, 1);
        started(W, 1);
        tick(SC_S);
        cancel(C, task(CLIENT, 1), false);
        tick(SC_S / 2);
        is_because(1, SC_WHY_CANCELLING,
                   "It is being cancelled, and worker 'peer' was asked to stop it; the answer is awaited.");
        ck_assert_uint_eq(why_of(CLIENT, 1)->since_ms, 500);
        cancel(C, task(CLIENT, 1), true);
        is_because(1, SC_WHY_CANCELLING,
                   "It is being cancelled, and worker 'peer' was told to kill it; the answer is awaited.");
        teardown();
}
END_TEST

START_TEST(a_task_is_past_its_deadline)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        const struct sc_plan plan = { .deadline_ms = 1000 };
        submit_plan(1, &plan, SC_TASK_FUNCTION);
        tick(SC_S);
        is_because(1, SC_WHY_OVERDUE,
                   "Its deadline has passed, and worker 'peer' was told to kill it; the answer is awaited.");
        ck_assert_uint_eq(why_of(CLIENT, 1)->until_ms, 6000);
        teardown();
}
END_TEST

START_TEST(an_orphan_waits_for_its_client)
{
        begin_with((struct sc_sched_options){ .claim_delay = 60 * SC_S });
        const struct sc_hold hold = { .task = { CLIENT, 9 }, .epoch = 5, .run = 3, .flags = SC_HOLD_RUNNING };
        worker_up_holding(W, WORKER, 1, 1, &hold, 1);
        tick(SC_S);
        is_because(9, SC_WHY_ORPHAN, "Worker 'peer' has had it since before this scheduler started; its "
                                     "client has 59.0 s "
                                     "left to come for it.");
        ck_assert_uint_eq(why_of(CLIENT, 9)->stage, SC_STATE_ORPHAN);
        ck_assert_uint_eq(why_of(CLIENT, 9)->tenant.len, 0);
        teardown();
}
END_TEST

/* A worker's loss is dealt with in steps of so many rows. */
START_TEST(a_task_of_a_worker_that_is_gone_says_so)
{
        begin();
        rig.unchecked = true;
        enum { MANY = 1500 };
        struct sc_msg want = { .kind = SC_MSG_WANT, .want = { .tasks = MANY, .kib = 1024 } };
        say(C, &want);
        worker_up(W, WORKER, SC_SLOTS_MAX, 4000);
        for (uint64_t seq = 1; seq <= MANY; seq++)
                submit(C, CLIENT, seq);
        settle();
        for (uint64_t seq = 1; seq <= 1020; seq++)
                started(W, seq);
        cancel_many(C, (struct sc_cancel_many){ .ticket = 1 });
        settle();
        down(W);
        ck_assert_int_eq(sc_sched_deadline(rig.s), rig.now);
        struct sc_task_why why;
        char               room[SC_SCHED_EXPLAIN_ROOM];
        uint32_t           gone = 0;
        for (uint64_t seq = 1; seq <= MANY; seq++)
                if (sc_sched_explain_task(rig.s, rig.now, task(CLIENT, seq), room, &why))
                        gone += why.why == SC_WHY_WORKER_GONE;
        ck_assert_uint_gt(gone, 0);
        settle();
        rig.unchecked = false;
        teardown();
}
END_TEST

/* ---- ended ---------------------------------------------------------------------------------------------------- */

START_TEST(a_task_that_has_ended_waits_to_be_confirmed_or_for_its_client)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit(C, CLIENT, 1);
        fail_it(1);
        tick(SC_S);
        is_because(1, SC_WHY_UNCONFIRMED, "It has ended as task, and its client has not confirmed yet that it knows.");
        const struct sc_task_why *why = why_of(CLIENT, 1);
        ck_assert_uint_eq(why->stage, SC_STATE_ENDED);
        ck_assert_uint_eq(why->state, SC_PUBLIC_FAILED);
        ck_assert_uint_eq(why->reason, SC_REASON_TASK);
        ck_assert_uint_eq(why->since_ms, 1000);
        ck_assert_uint_eq(why->attempts, 0);
        down(C);
        tick(10 * SC_S);
        is_because(1, SC_WHY_CLIENT_AWAY,
                   "It has ended as task; its client is away and has 50.0 s left to come back.");
        ck_assert_uint_eq(why_of(CLIENT, 1)->until_ms, 50000);
        teardown();
}
END_TEST

START_TEST(a_client_that_has_left_is_the_reason_of_what_it_leaves)
{
        begin();
        rig.unchecked = true;
        enum { MANY = 6000 };
        struct sc_msg want = { .kind = SC_MSG_WANT, .want = { .tasks = MANY, .kib = 1024 } };
        say(C, &want);
        for (uint64_t seq = 1; seq <= MANY; seq++)
                submit(C, CLIENT, seq);
        bye(C);
        struct sc_task_why why;
        char               room[SC_SCHED_EXPLAIN_ROOM];
        ck_assert(sc_sched_explain_task(rig.s, rig.now, task(CLIENT, MANY), room, &why));
        ck_assert_str_eq(sc_why_name(why.why), "leaving");
        ck_assert_str_eq(text_of(why.text), "Its client has left for good, so it is about to end.");
        settle();
        rig.unchecked = false;
        teardown();
}
END_TEST

/* ---- leaving, and keys ------------------------------------------------------------------------------------------ */

static void leaving_worker_up(sc_link_id link, uint64_t id)
{
        struct sc_hello hello = hello_of(SC_ROLE_WORKER, id);
        hello.slots = hello.free_slots = 1;
        hello.functions      = functions_fg;
        hello.function_count = 2;
        hello.features       = SC_FEATURE_LEAVE;
        up(link, hello, 1);
}

static void drain(uint64_t worker)
{
        say(A, &(struct sc_msg){ .kind = SC_MSG_DRAIN, .drain = { .ticket = 1, .worker = worker } });
}

START_TEST(a_worker_that_leaves_fits_and_has_no_room)
{
        begin();
        leaving_worker_up(W, WORKER);
        submit(C, CLIENT, 1);
        drain(WORKER);
        submit(C, CLIENT, 2);
        is_because(2, SC_WHY_ALL_FULL, "1 worker fits, and it has no room: 1 leaving.");
        idles_because(WORKER, SC_IDLE_DRAINING, "It is leaving, and gets nothing more.");
        const struct sc_about_run back = { .task = task(CLIENT, 1), .run = run_of(CLIENT, 1), .released = true };
        say(W, &(struct sc_msg){ .kind = SC_MSG_RETURNED, .about = back });
        ck_assert_uint_eq(why_of(CLIENT, 1)->attempts, 1);
        ck_assert_str_eq(text_of(sent(A, SC_MSG_ATTEMPT_ROW)->attempt_row.text),
                         "the worker left, which does not count");
        ck_assert_uint_eq(sent(A, SC_MSG_TASK_WHY)->task_why.losses, 0);
        teardown();
}
END_TEST

START_TEST(a_scheduler_that_stops_is_the_reason_of_what_waits)
{
        begin();
        leaving_worker_up(W, WORKER);
        submit(C, CLIENT, 1);
        submit(C, CLIENT, 2);
        drain(0);
        is_because(2, SC_WHY_STOPPING, "The scheduler is about to stop, and hands out nothing more.");
        idles_because(WORKER, SC_IDLE_STOPPING, "The scheduler is about to stop, and hands out nothing more.");
        teardown();
}
END_TEST

START_TEST(a_task_waits_for_another_one_with_its_key_and_attempts_go_with_the_work)
{
        begin();
        const struct sc_plan plan = { .key = { "k", 1 }, .backoff_ms = 60000 };
        struct sc_spec       spec = spec_f();
        spec.plan                 = &plan;
        spec.retries              = 3;
        client_up(C2, CLIENT + 1);
        worker_up(W, WORKER, 1, 1);
        submit_spec(C, CLIENT, 1, spec);
        submit_spec(C2, CLIENT + 1, 1, spec);
        const struct sc_task_why *why = why_of(CLIENT + 1, 1);
        ck_assert_str_eq(sc_why_name(why->why), "joined");
        ck_assert_str_eq(text_of(why->text), "Another task with the same key does the work for both, and is assigned.");
        ck_assert_uint_eq(why->stage, SC_STATE_JOINED);
        submit(C, CLIENT, 2);
        const struct sc_task_why *first = why_of(CLIENT, 1);
        ck_assert_uint_eq(first->stage, SC_STATE_ASSIGNED);
        const struct sched_task *t = sc_sched_find(rig.s, task(CLIENT, 1));
        done(W, sc_sched_work_name(t), t->run, SC_REASON_TASK);
        ck_assert_uint_eq(why_of(CLIENT, 1)->attempts, 1);
        cancel(C, task(CLIENT, 1), false);
        ck_assert_uint_eq(why_of(CLIENT + 1, 1)->attempts, 1);
        ck_assert_uint_eq(sent(A, SC_MSG_TASK_WHY)->task_why.stage, SC_STATE_BACKOFF);
        teardown();
}
END_TEST

int main(void)
{
        TCase *t = tcase_create("why");
        tcase_add_test(t, a_worker_that_leaves_fits_and_has_no_room);
        tcase_add_test(t, a_scheduler_that_stops_is_the_reason_of_what_waits);
        tcase_add_test(t, a_task_waits_for_another_one_with_its_key_and_attempts_go_with_the_work);
        tcase_add_test(t, every_state_of_a_task_has_a_reason_and_no_task_has_none);
        tcase_add_test(t, every_reason_belongs_to_a_state_and_has_a_word_of_its_own);
        tcase_add_test(t, a_task_waits_because_there_is_no_worker);
        tcase_add_test(t, a_task_waits_because_no_worker_has_its_function);
        tcase_add_test(t, a_task_waits_because_nobody_offers_what_it_needs);
        tcase_add_test(t, of_a_command_only_what_it_needs_is_said);
        tcase_add_test(t, a_task_waits_because_all_that_fit_are_full);
        tcase_add_test(t, a_task_waits_because_what_it_needs_is_in_use);
        tcase_add_test(t, a_task_waits_for_its_clients_or_its_tenants_limit);
        tcase_add_test(t, a_task_waits_for_its_last_chance_alone);
        tcase_add_test(t, a_task_waits_for_memory);
        tcase_add_test(t, a_task_lets_others_go_first_that_wait_for_what_its_like_hold);
        tcase_add_test(t, a_task_that_is_about_to_be_placed_says_so);
        tcase_add_test(t, a_task_waits_for_those_it_depends_on);
        tcase_add_test(t, a_graph_says_how_many_of_its_nodes_are_left);
        tcase_add_test(t, a_task_waits_for_its_time);
        tcase_add_test(t, a_task_that_failed_waits_to_be_tried_again);
        tcase_add_test(t, a_task_of_an_earlier_scheduler_waits_until_workers_have_claimed_theirs);
        tcase_add_test(t, a_task_is_at_a_worker_and_then_runs_there);
        tcase_add_test(t, a_task_is_asked_back);
        tcase_add_test(t, a_task_is_being_cancelled);
        tcase_add_test(t, a_task_is_past_its_deadline);
        tcase_add_test(t, an_orphan_waits_for_its_client);
        tcase_add_test(t, a_task_of_a_worker_that_is_gone_says_so);
        tcase_add_test(t, a_task_that_has_ended_waits_to_be_confirmed_or_for_its_client);
        tcase_add_test(t, a_client_that_has_left_is_the_reason_of_what_it_leaves);
        return run_tests("sched_why", t);
}
