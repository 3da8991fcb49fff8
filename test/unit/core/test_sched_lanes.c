/* Transcripts of the scheduler's core: whose turn it is by priority, age and share, and how tasks are spread. */
#include "test_sched_kit.h"

#include "run_tests.h"

enum { C = 1, C2 = 2, C3 = 3, W = 10, W2 = 11 };

static void client_of(sc_link_id link, uint64_t id, const char *tenant, uint32_t weight, uint32_t running_max)
{
        struct sc_hello hello = hello_of(SC_ROLE_CLIENT, id);
        hello.tenant          = (struct sc_view){ tenant, strlen(tenant) };
        hello.weight          = weight;
        hello.running_max     = running_max;
        up(link, hello, 0);
}

static void submit_at(sc_link_id link, uint64_t client, uint64_t seq, int32_t priority)
{
        struct sc_spec spec = spec_f();
        spec.priority       = priority;
        submit_spec(link, client, seq, spec);
}

static void submit_many(sc_link_id link, uint64_t client, uint64_t from, uint64_t to)
{
        for (uint64_t i = from; i <= to; i++)
                submit(link, client, i);
}

/* What the worker got in the last step, once. */
static struct sc_id got(sc_link_id link)
{
        ck_assert_uint_eq(sends(link, SC_MSG_ASSIGN), 1);
        return sent(link, SC_MSG_ASSIGN)->assign.task;
}

/* Ends what a worker of one slot runs, after so long, and says what it runs next. */
static struct sc_id next_after(sc_link_id link, struct sc_id id, sc_ns took)
{
        rig.now += took;
        done_as(link, id, sc_sched_run_of(rig.s, id), (struct sc_outcome){ .wall_us = (uint64_t)(took / SC_US) });
        return got(link);
}

START_TEST(the_highest_priority_goes_first_and_in_it_the_oldest)
{
        static const int32_t  priority[] = { 0, 5, -1000, 1000, 5, 0 };
        static const uint64_t order[]    = { 4, 2, 5, 1, 6, 3 };
        setup((struct sc_sched_options){ .tasks_max = 0 });
        client_up(C, CLIENT);
        for (uint64_t i = 1; i <= 6; i++)
                submit_at(C, CLIENT, i, priority[i - 1]);
        worker_up(W, WORKER, 1, 1);
        struct sc_id id = got(W);
        for (int i = 0; i < 6; i++) {
                ck_assert_uint_eq(id.lo, order[i]);
                if (i < 5)
                        id = next_after(W, id, SC_MS);
        }
        teardown();
}
END_TEST

/* Every other task calls g, every third one needs linux: four classes. */
static void submit_mixed(sc_link_id link, uint64_t client, uint64_t seq, int32_t priority)
{
        static const struct sc_plan linux_alone = { .needs = { "linux", 5 } };
        struct sc_spec              spec        = spec_f();
        spec.function = functions_fg[seq % 2];
        spec.plan     = seq % 3 == 0 ? &linux_alone : NULL;
        spec.priority = priority;
        submit_spec(link, client, seq, spec);
}

static void linux_up(void)
{
        struct sc_hello hello = hello_of(SC_ROLE_WORKER, WORKER);
        hello.slots = hello.free_slots = 1;
        hello.functions      = functions_fg;
        hello.function_count = 2;
        hello.offers         = (struct sc_view){ "linux", 5 };
        up(W, hello, 1);
}

START_TEST(order_and_age_hold_across_functions_and_needs)
{
        static const uint64_t order[] = { 4, 5, 6, 7, 8, 9, 1, 2, 3, 10, 11, 12 };
        setup((struct sc_sched_options){ .aging = SC_S });
        client_up(C, CLIENT);
        for (uint64_t i = 1; i <= 12; i++)
                submit_mixed(C, CLIENT, i, i >= 4 && i <= 9 ? 7 : 1);
        linux_up();
        struct sc_id id = got(W);
        for (size_t i = 0; i < 12; i++) {
                ck_assert_uint_eq(id.lo, order[i]);
                if (i < 11)
                        id = next_after(W, id, SC_MS);
        }
        for (uint64_t i = 13; i <= 16; i++)
                submit_mixed(C, CLIENT, i, (int32_t)i - 12);
        rig.now += 20 * SC_S;
        for (uint64_t i = 17; i <= 20; i++)
                submit_mixed(C, CLIENT, i, 5);
        for (uint64_t i = 16; i >= 13; i--) {
                id = next_after(W, id, SC_MS);
                ck_assert_uint_eq(id.lo, i);
        }
        teardown();
}
END_TEST

START_TEST(a_priority_out_of_bounds_closes_the_client)
{
        for (int sign = -1; sign <= 1; sign += 2) {
                setup((struct sc_sched_options){ .tasks_max = 0 });
                client_up(C, CLIENT);
                submit_at(C, CLIENT, 1, sign * SC_PRIORITY_MAX);
                ck_assert(!is_closed(C, SC_E_PROTOCOL));
                submit_at(C, CLIENT, 2, sign * (SC_PRIORITY_MAX + 1));
                ck_assert(is_closed(C, SC_E_PROTOCOL));
                teardown();
        }
}
END_TEST

/* One second of waiting is worth one priority here: the lower one is passed for as many seconds as it is lower. */
START_TEST(who_waits_long_enough_goes_before_a_higher_priority)
{
        setup((struct sc_sched_options){ .aging = SC_S });
        client_up(C, CLIENT);
        client_up(C2, CLIENT + 1);
        worker_up(W, WORKER, 1, 1);
        submit_at(C, CLIENT, 1, 9);
        struct sc_id id    = got(W);
        sc_ns        begun = rig.now;
        submit_at(C2, CLIENT + 1, 1, 0);
        submit_at(C2, CLIENT + 1, 2, 0);
        for (uint64_t i = 2; id.hi == CLIENT; i++) {
                submit_at(C, CLIENT, i, 5);
                id = next_after(W, id, 100 * SC_MS);
        }
        ck_assert_uint_eq(id.lo, 1);
        ck_assert_int_gt(rig.now - begun, 5 * SC_S);
        ck_assert_int_le(rig.now - begun, 5 * SC_S + 100 * SC_MS);
        id = next_after(W, id, 100 * SC_MS);
        ck_assert_uint_eq(id.hi, CLIENT + 1); /* the second one has waited as long */
        teardown();
}
END_TEST

START_TEST(without_ageing_a_lower_priority_waits_for_ever)
{
        setup((struct sc_sched_options){ .aging = SC_NEVER });
        client_up(C, CLIENT);
        worker_up(W, WORKER, 1, 1);
        submit_at(C, CLIENT, 1, 1);
        struct sc_id id = got(W);
        submit_at(C, CLIENT, 2, 0);
        for (uint64_t i = 3; i <= 100; i++) {
                submit_at(C, CLIENT, i, 1);
                id = next_after(W, id, 3600 * SC_S);
                ck_assert_uint_eq(id.lo, i);
        }
        ck_assert_uint_eq(next_after(W, id, SC_S).lo, 2);
        teardown();
}
END_TEST

/* Of several that wait below, the one that is furthest above its own goes, wherever it stands. */
START_TEST(of_the_aged_the_one_that_has_gained_most_goes_first)
{
        setup((struct sc_sched_options){ .aging = SC_S });
        client_up(C, CLIENT);
        worker_up(W, WORKER, 1, 1);
        submit_at(C, CLIENT, 1, 10);
        struct sc_id id = got(W);
        submit_at(C, CLIENT, 2, 0);
        rig.now += SC_S;
        submit_at(C, CLIENT, 3, 2); /* counts as if it had come a second before 2 */
        submit_at(C, CLIENT, 4, 10);
        submit_at(C, CLIENT, 5, 10);
        rig.now += 60 * SC_S;
        static const uint64_t order[] = { 3, 2, 4, 5 };
        for (int i = 0; i < 4; i++) {
                id = next_after(W, id, SC_MS);
                ck_assert_uint_eq(id.lo, order[i]);
        }
        teardown();
}
END_TEST

/* ---- shares --------------------------------------------------------------------------------------*/

static const struct sc_tenant_options three_to_one[] = {
        { .name = { "a", 1 }, .weight = 3000 },
        { .name = { "b", 1 }, .weight = 1000 },
        { .name = { "*", 1 }, .weight = 500 },
};

/* Runs so many tasks one after another; a task of client i takes took[i]; gives how much slot-time each got. */
static void run_share(sc_ns slot_time[3], const sc_ns took[3], int count)
{
        memset(slot_time, 0, 3 * sizeof *slot_time);
        struct sc_id id = got(W);
        for (int i = 0; i < count; i++) {
                const uint64_t client = id.hi - CLIENT;
                slot_time[client] += took[client];
                id = next_after(W, id, took[client]);
        }
}

static void is_share(const sc_ns slot_time[3], int which, int percent)
{
        const sc_ns all = slot_time[0] + slot_time[1] + slot_time[2];
        ck_assert_int_ge(slot_time[which] * 100, all * (percent - 2));
        ck_assert_int_le(slot_time[which] * 100, all * (percent + 2));
}

START_TEST(tenants_share_slot_time_by_weight_however_many_clients_they_are)
{
        static const sc_ns took[] = { SC_MS, SC_MS, SC_MS };
        sc_ns              slot_time[3];
        setup((struct sc_sched_options){ .tenants = three_to_one, .tenant_count = 3 });
        rig.unchecked = true;
        client_of(C, CLIENT, "a", 0, 0);
        client_of(C2, CLIENT + 1, "b", 0, 0);
        client_of(C3, CLIENT + 2, "b", 0, 0);
        submit_many(C3, CLIENT + 2, 1, 800);
        submit_many(C2, CLIENT + 1, 1, 800);
        submit_many(C, CLIENT, 1, 800);
        worker_up(W, WORKER, 1, 1);
        run_share(slot_time, took, 800);
        is_share(slot_time, 0, 75);
        is_share(slot_time, 1, 12);
        is_share(slot_time, 2, 12);
        sc_sched_check(rig.s);
        teardown();
}
END_TEST

START_TEST(tenants_share_across_functions_and_needs)
{
        static const sc_ns took[] = { SC_MS, 2 * SC_MS, SC_MS };
        sc_ns              slot_time[3];
        setup((struct sc_sched_options){ .tenants = three_to_one, .tenant_count = 3 });
        rig.unchecked = true;
        client_of(C, CLIENT, "a", 0, 0);
        client_of(C2, CLIENT + 1, "b", 0, 0);
        for (uint64_t i = 1; i <= 1000; i++) {
                submit_mixed(C, CLIENT, i, 0);
                submit_mixed(C2, CLIENT + 1, 2 * i, 0); /* of fewer classes */
        }
        linux_up();
        run_share(slot_time, took, 800);
        is_share(slot_time, 0, 75);
        is_share(slot_time, 1, 25);
        sc_sched_check(rig.s);
        teardown();
}
END_TEST

START_TEST(clients_share_slot_time_by_weight_and_not_tasks)
{
        static const sc_ns took[] = { 20 * SC_MS, SC_MS, 3 * SC_MS };
        sc_ns              slot_time[3];
        setup((struct sc_sched_options){ .tasks_max = 0 });
        rig.unchecked = true;
        client_of(C, CLIENT, "t", 2000, 0);
        client_of(C2, CLIENT + 1, "t", 1000, 0);
        client_of(C3, CLIENT + 2, "t", 0, 0);
        submit_many(C, CLIENT, 1, 1000);
        submit_many(C2, CLIENT + 1, 1, 1000);
        submit_many(C3, CLIENT + 2, 1, 1000);
        worker_up(W, WORKER, 1, 1);
        run_share(slot_time, took, 1200);
        is_share(slot_time, 0, 50);
        is_share(slot_time, 1, 25);
        is_share(slot_time, 2, 25);
        sc_sched_check(rig.s);
        teardown();
}
END_TEST

START_TEST(who_comes_late_has_no_claim_on_what_others_had_before)
{
        setup((struct sc_sched_options){ .tasks_max = 0 });
        rig.unchecked = true;
        client_of(C, CLIENT, "a", 0, 0);
        client_of(C2, CLIENT + 1, "b", 0, 0);
        submit_many(C, CLIENT, 1, 1000);
        worker_up(W, WORKER, 1, 1);
        struct sc_id id = got(W);
        for (int i = 0; i < 500; i++)
                id = next_after(W, id, SC_MS);
        submit_many(C2, CLIENT + 1, 1, 500);
        int second = 0;
        for (int i = 0; i < 100; i++) {
                id = next_after(W, id, SC_MS);
                second += id.hi == CLIENT + 1;
        }
        ck_assert_int_ge(second, 48);
        ck_assert_int_le(second, 52);
        teardown();
}
END_TEST

START_TEST(a_run_that_was_not_made_is_not_charged)
{
        setup((struct sc_sched_options){ .tasks_max = 0 });
        client_of(C, CLIENT, "a", 0, 0);
        client_of(C2, CLIENT + 1, "b", 0, 0);
        submit_many(C, CLIENT, 1, 100);
        submit_many(C2, CLIENT + 1, 1, 100);
        worker_up(W, WORKER, 1, 1);
        int          mine = 0;
        struct sc_id id   = got(W);
        for (int i = 0; i < 100; i++) {
                if (id.hi == CLIENT && i % 2) { /* given back once, and the next time run */
                        about(W, SC_MSG_RETURNED, id, sc_sched_run_of(rig.s, id));
                        id = got(W);
                }
                mine += id.hi == CLIENT;
                id = next_after(W, id, SC_MS);
        }
        ck_assert_int_ge(mine, 48);
        ck_assert_int_le(mine, 52);
        teardown();
}
END_TEST

/* ---- limits --------------------------------------------------------------------------------------*/

START_TEST(a_client_has_no_more_runs_than_it_said)
{
        setup((struct sc_sched_options){ .tasks_max = 0 });
        client_of(C, CLIENT, "a", 0, 3);
        client_of(C2, CLIENT + 1, "a", 0, 0);
        worker_up(W, WORKER, 2, 8);
        submit_many(C, CLIENT, 1, 10);
        ck_assert_uint_eq(stats().tasks_assigned, 3);
        submit_many(C2, CLIENT + 1, 1, 2);
        ck_assert_uint_eq(stats().tasks_assigned, 5);
        done(W, task(CLIENT, 1), run_of(CLIENT, 1), SC_REASON_SUCCESS);
        ck_assert_uint_eq(got(W).lo, 4);
        down(C);
        client_of(C, CLIENT, "a", 0, 5);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 2);
        teardown();
}
END_TEST

START_TEST(a_tenant_has_no_more_runs_than_its_limit)
{
        static const struct sc_tenant_options limits[] = {
                { .name = { "a", 1 }, .running_max = 4 },
                { .name = { "*", 1 }, .running_max = 1 },
        };
        setup((struct sc_sched_options){ .tenants = limits, .tenant_count = 2 });
        client_of(C, CLIENT, "a", 0, 0);
        client_of(C2, CLIENT + 1, "a", 0, 0);
        client_of(C3, CLIENT + 2, "b", 0, 0);
        worker_up(W, WORKER, 2, 16);
        submit_many(C, CLIENT, 1, 10);
        submit_many(C2, CLIENT + 1, 1, 10);
        submit_many(C3, CLIENT + 2, 1, 10);
        ck_assert_uint_eq(stats().tasks_assigned, 5);
        for (uint64_t i = 1; i <= 4; i++) {
                done(W, task(CLIENT, i), run_of(CLIENT, i), SC_REASON_SUCCESS);
                ck_assert_uint_ne(got(W).hi, CLIENT + 2);
                ck_assert_uint_eq(stats().tasks_assigned, 5);
        }
        teardown();
}
END_TEST

START_TEST(a_tenant_is_granted_no_more_than_its_limit)
{
        static const struct sc_tenant_options limits[] = { { .name = { "a", 1 }, .queued_max = 100 } };
        setup((struct sc_sched_options){ .tenants = limits, .tenant_count = 1 });
        client_of(C, CLIENT, "a", 0, 0);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 100);
        client_of(C2, CLIENT + 1, "a", 0, 0);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 0);
        client_of(C3, CLIENT + 2, "", 0, 0);
        ck_assert_uint_gt(effect(SC_FX_GRANT)->tasks, 100);
        say(C, &(struct sc_msg){ .kind = SC_MSG_WANT, .want = { .tasks = 10, .kib = 100 } });
        ck_assert_uint_eq(effects(SC_FX_GRANT), 2); /* less for the one, and the other's first */
        teardown();
}
END_TEST

START_TEST(a_run_not_begun_is_not_kept_beyond_the_limit)
{
        for (int running = 0; running < 2; running++) {
                setup((struct sc_sched_options){ .tasks_max = 0 });
                client_of(C, CLIENT, "a", 0, 2);
                worker_up(W, WORKER, 2, 2);
                submit_many(C, CLIENT, 1, 2);
                const struct sc_hold hold = {
                        .task = task(CLIENT, 2), .epoch = EPOCH, .run = run_of(CLIENT, 2),
                        .flags = running ? SC_HOLD_RUNNING : 0 };
                down(W);
                down(C);
                client_of(C2, CLIENT, "a", 0, 1);
                worker_up(W2, WORKER + 1, 1, 1);
                ck_assert_uint_eq(got(W2).lo, 1);
                worker_up_holding(W, WORKER, 2, 2, &hold, 1);
                ck_assert_uint_eq(sends(W, running ? SC_MSG_KEEP : SC_MSG_DROP), 1);
                ck_assert_uint_eq(stats().tasks_assigned, running ? 2 : 1);
                done(W2, task(CLIENT, 1), run_of(CLIENT, 1), SC_REASON_SUCCESS);
                ck_assert_uint_eq(stats().tasks_assigned, 1);
                teardown();
        }
}
END_TEST

/* ---- how tasks are spread ------------------------------------------------------------------------*/

START_TEST(of_long_tasks_a_slot_has_at_most_one_waiting)
{
        setup((struct sc_sched_options){ .tasks_max = 0 });
        client_up(C, CLIENT);
        worker_up(W, WORKER, 2, 64);
        uint64_t seq = 0;
        for (int i = 0; i < 20; i++) {
                submit(C, CLIENT, ++seq);
                rig.now += SC_S;
                done_as(W, task(CLIENT, seq), run_of(CLIENT, seq), (struct sc_outcome){ .wall_us = 1000000 });
        }
        submit_many(C, CLIENT, seq + 1, seq + 20);
        ck_assert_uint_eq(stats().tasks_assigned, 4);
        for (uint64_t i = seq + 1; i <= seq + 20; i++) /* and when they turn out to be short, more */
                done_as(W, task(CLIENT, i), run_of(CLIENT, i), (struct sc_outcome){ .wall_us = 10 });
        submit_many(C, CLIENT, seq + 21, seq + 40);
        for (uint64_t i = seq + 21; i <= seq + 40; i++)
                done_as(W, task(CLIENT, i), run_of(CLIENT, i), (struct sc_outcome){ .wall_us = 10 });
        submit_many(C, CLIENT, seq + 41, seq + 60);
        ck_assert_uint_eq(stats().tasks_assigned, 20);
        teardown();
}
END_TEST

/* g takes a second, f next to nothing; a slot may have many of f waiting, and one of g. */
static uint64_t learn_that_g_is_long(void)
{
        struct sc_spec spec = spec_f();
        for (uint64_t i = 1; i <= 40; i++) {
                spec.function = functions_fg[i % 2];
                submit_spec(C, CLIENT, i, spec);
                rig.now += SC_S;
                const uint64_t us = i % 2 == 1 ? 1000000 : 10;
                done_as(W, task(CLIENT, i), run_of(CLIENT, i), (struct sc_outcome){ .wall_us = us });
        }
        return 40;
}

START_TEST(a_long_task_whose_turn_it_is_is_not_passed_by_short_ones)
{
        setup((struct sc_sched_options){ .tasks_max = 0 });
        client_up(C, CLIENT);
        worker_up(W, WORKER, 1, 64);
        const uint64_t seq = learn_that_g_is_long();
        submit_many(C, CLIENT, seq + 1, seq + 5);
        ck_assert_uint_eq(stats().tasks_assigned, 5);
        struct sc_spec spec = spec_f();
        spec.function       = functions_fg[1];
        spec.priority       = 1;
        submit_spec(C, CLIENT, seq + 6, spec);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        submit_many(C, CLIENT, seq + 7, seq + 10);
        ck_assert_uint_eq(stats().tasks_assigned, 5);
        for (uint64_t i = seq + 1; i <= seq + 4; i++) {
                ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
                done_as(W, task(CLIENT, i), run_of(CLIENT, i), (struct sc_outcome){ .wall_us = 10 });
        }
        ck_assert_uint_eq(sent(W, SC_MSG_ASSIGN)->assign.task.lo, seq + 6);
        ck_assert_uint_eq(stats().tasks_assigned, 6); /* and now the others may wait behind it */
        teardown();
}
END_TEST

START_TEST(short_tasks_wait_again_when_no_long_one_is_left_to_come_before_them)
{
        setup((struct sc_sched_options){ .tasks_max = 0 });
        client_up(C, CLIENT);
        worker_up(W, WORKER, 1, 64);
        const uint64_t seq = learn_that_g_is_long();
        submit_many(C, CLIENT, seq + 1, seq + 5);
        struct sc_spec spec = spec_f();
        spec.function       = functions_fg[1];
        spec.priority       = 1;
        submit_spec(C, CLIENT, seq + 6, spec);
        submit_many(C, CLIENT, seq + 7, seq + 10);
        ck_assert_uint_eq(stats().tasks_assigned, 5);
        cancel(C, task(CLIENT, seq + 6), false);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 4);
        teardown();
}
END_TEST

static void submit_needing(uint64_t seq, const char *needs, int32_t priority)
{
        const struct sc_plan plan = { .needs = { needs, strlen(needs) } };
        struct sc_spec       spec = spec_f();
        spec.plan                 = &plan;
        spec.priority             = priority;
        submit_spec(C, CLIENT, seq, spec);
}

/* 3 and 4 would wait behind 1, and 2 waits for what that holds. */
START_TEST(what_has_aged_is_not_kept_out_by_those_that_came_later)
{
        setup((struct sc_sched_options){ .aging = SC_S });
        client_up(C, CLIENT);
        worker_up(W, WORKER, 2, 8);
        submit_needing(1, "cpu=2000", 0);
        submit_at(C, CLIENT, 2, -1);
        submit_needing(3, "cpu=2000", 0);
        ck_assert_uint_eq(got(W).lo, 3);
        rig.now += 2 * SC_S;
        submit_needing(4, "cpu=2000", 0);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        for (uint64_t i = 1; i <= 3; i += 2)
                done(W, task(CLIENT, i), run_of(CLIENT, i), SC_REASON_SUCCESS);
        ck_assert_uint_eq(got(W).lo, 2);
        teardown();
}
END_TEST

/* 3 and 4 are of different classes, of which that of 4 is there first. */
START_TEST(of_those_that_have_aged_alike_the_first_goes_first)
{
        static const uint64_t order[] = { 3, 4, 1, 2, 5 };
        struct sc_spec        spec    = spec_f();
        setup((struct sc_sched_options){ .aging = SC_S });
        client_up(C, CLIENT);
        for (uint64_t i = 1; i <= 2; i++) {
                spec.function = functions_fg[0];
                spec.priority = 9;
                submit_spec(C, CLIENT, i, spec);
        }
        spec.priority = 0;
        spec.function = functions_fg[1];
        submit_spec(C, CLIENT, 3, spec);
        spec.function = functions_fg[0];
        submit_spec(C, CLIENT, 4, spec);
        rig.now += 10 * SC_S;
        spec.priority = 9;
        submit_spec(C, CLIENT, 5, spec);
        worker_up(W, WORKER, 1, 1);
        struct sc_id id = got(W);
        for (int i = 0; i < 5; i++) {
                ck_assert_uint_eq(id.lo, order[i]);
                if (i < 4)
                        id = next_after(W, id, SC_US);
        }
        teardown();
}
END_TEST

static uint32_t assigned_to_first_of_two(bool measured_long)
{
        setup((struct sc_sched_options){ .tasks_max = 0 });
        client_up(C, CLIENT);
        worker_up(W, WORKER, 1, 64);
        uint64_t seq = 0;
        for (int i = 0; measured_long && i < 10; i++) {
                submit(C, CLIENT, ++seq);
                rig.now += SC_S;
                done_as(W, task(CLIENT, seq), run_of(CLIENT, seq), (struct sc_outcome){ .wall_us = 10000 });
        }
        step((struct sc_event){ .kind = SC_EV_GRANT, .link = W, .tasks = 0 });
        submit_many(C, CLIENT, seq + 1, seq + 40);
        worker_up(W2, WORKER + 1, 1, 0);
        step((struct sc_event){ .kind = SC_EV_GRANT, .link = W, .tasks = 20 });
        const uint32_t first = sends(W, SC_MSG_ASSIGN);
        teardown();
        return first;
}

START_TEST(deep_queues_of_short_tasks_are_handed_out_in_runs)
{
        ck_assert_uint_eq(assigned_to_first_of_two(false), 20);
        ck_assert_uint_eq(assigned_to_first_of_two(true), 20);
}
END_TEST

START_TEST(many_priorities_are_kept_apart)
{
        setup((struct sc_sched_options){ .tasks_max = 0 });
        rig.unchecked = true;
        client_up(C, CLIENT);
        say(C, &(struct sc_msg){ .kind = SC_MSG_WANT, .want = { .tasks = 10000, .kib = 10000 } });
        for (uint64_t i = 0; i <= 2 * SC_PRIORITY_MAX; i++)
                submit_at(C, CLIENT, i + 1, (int32_t)(i * 7 % (2 * SC_PRIORITY_MAX + 1)) - SC_PRIORITY_MAX);
        worker_up(W, WORKER, 1, 1);
        struct sc_id id   = got(W);
        int32_t      last = SC_PRIORITY_MAX + 1;
        for (int i = 0; i < 2 * SC_PRIORITY_MAX; i++) {
                const int32_t priority = (int32_t)((id.lo - 1) * 7 % (2 * SC_PRIORITY_MAX + 1)) - SC_PRIORITY_MAX;
                ck_assert_int_eq(priority, last - 1);
                last = priority;
                id   = next_after(W, id, SC_US);
        }
        sc_sched_check(rig.s);
        teardown();
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("lanes");
        tcase_set_timeout(tests, 60);
        tcase_add_test(tests, the_highest_priority_goes_first_and_in_it_the_oldest);
        tcase_add_test(tests, order_and_age_hold_across_functions_and_needs);
        tcase_add_test(tests, tenants_share_across_functions_and_needs);
        tcase_add_test(tests, a_priority_out_of_bounds_closes_the_client);
        tcase_add_test(tests, who_waits_long_enough_goes_before_a_higher_priority);
        tcase_add_test(tests, without_ageing_a_lower_priority_waits_for_ever);
        tcase_add_test(tests, of_the_aged_the_one_that_has_gained_most_goes_first);
        tcase_add_test(tests, tenants_share_slot_time_by_weight_however_many_clients_they_are);
        tcase_add_test(tests, clients_share_slot_time_by_weight_and_not_tasks);
        tcase_add_test(tests, who_comes_late_has_no_claim_on_what_others_had_before);
        tcase_add_test(tests, a_run_that_was_not_made_is_not_charged);
        tcase_add_test(tests, a_client_has_no_more_runs_than_it_said);
        tcase_add_test(tests, a_tenant_has_no_more_runs_than_its_limit);
        tcase_add_test(tests, a_tenant_is_granted_no_more_than_its_limit);
        tcase_add_test(tests, a_run_not_begun_is_not_kept_beyond_the_limit);
        tcase_add_test(tests, of_long_tasks_a_slot_has_at_most_one_waiting);
        tcase_add_test(tests, a_long_task_whose_turn_it_is_is_not_passed_by_short_ones);
        tcase_add_test(tests, short_tasks_wait_again_when_no_long_one_is_left_to_come_before_them);
        tcase_add_test(tests, what_has_aged_is_not_kept_out_by_those_that_came_later);
        tcase_add_test(tests, of_those_that_have_aged_alike_the_first_goes_first);
        tcase_add_test(tests, deep_queues_of_short_tasks_are_handed_out_in_runs);
        tcase_add_test(tests, many_priorities_are_kept_apart);
        return run_tests("sched lanes", tests);
}
