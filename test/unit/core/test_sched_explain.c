/* Attempts that are remembered, why workers get nothing, and lists of tasks, each to its limit. */
#include "test_sched_why_kit.h"

#include <stdio.h>

#include "run_tests.h"
#include "sched_explain.h"

/* ---- attempts ------------------------------------------------------------------------------------------------ */

static void submit_retried(uint64_t seq, uint32_t retries)
{
        struct sc_spec spec = spec_f();
        spec.retries        = retries;
        submit_spec(C, CLIENT, seq, spec);
}

static const struct sc_attempt_row *attempt_nth(uint32_t nth)
{
        return &sent_nth(A, SC_MSG_ATTEMPT_ROW, nth)->attempt_row;
}

START_TEST(an_attempt_is_told_with_where_when_why_and_what_it_used)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_retried(1, 5);
        ck_assert_uint_eq(why_of(CLIENT, 1)->attempts, 0);
        tick(SC_S);
        started(W, 1);
        tick(2 * SC_S);
        const struct sc_outcome failed = {
                .reason = SC_REASON_TASK, .how = SC_HOW_EXITED, .code = 3, .wall_us = 2000000, .user_us = 11,
                .sys_us = 12, .peak_kib = 13, .text = { "exit code 3", 11 },
        };
        done_as(W, task(CLIENT, 1), run_of(CLIENT, 1), failed);
        tick(4 * SC_S);
        ck_assert_uint_eq(why_of(CLIENT, 1)->attempts, 1);
        ck_assert_uint_eq(sent(A, SC_MSG_TASK_WHY)->task_why.attempt, 2);
        const struct sc_attempt_row *row = attempt_nth(0);
        ck_assert_uint_eq(row->ticket, 7);
        ck_assert_uint_eq(row->attempt, 1);
        ck_assert_uint_eq(row->worker, WORKER);
        ck_assert_str_eq(text_of(row->worker_name), "peer");
        ck_assert_str_eq(text_of(row->text), "exit code 3");
        ck_assert_uint_eq(row->began_ms, 6000);
        ck_assert_uint_eq(row->ended_ms, 4000);
        ck_assert_uint_eq(row->reason, SC_REASON_TASK);
        ck_assert_uint_eq(row->how, SC_HOW_EXITED);
        ck_assert_int_eq(row->code, 3);
        ck_assert_uint_eq(row->wall_us, 2000000);
        ck_assert_uint_eq(row->user_us, 11);
        ck_assert_uint_eq(row->sys_us, 12);
        ck_assert_uint_eq(row->peak_kib, 13);
        teardown();
}
END_TEST

START_TEST(the_last_eight_attempts_are_remembered_and_go_with_their_task)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_retried(1, 1000);
        for (uint32_t i = 1; i <= 11; i++) {
                fail_it(1);
                ck_assert_uint_eq(why_of(CLIENT, 1)->attempts, i < 8 ? i : 8);
        }
        for (uint32_t i = 0; i < 8; i++)
                ck_assert_uint_eq(attempt_nth(i)->attempt, 4 + i);
        succeed(1, "x");
        ck_assert_uint_eq(why_of(CLIENT, 1)->attempts, 8);
        acked(C, 1);
        ask(A, (struct sc_query_msg){ .what = SC_QUERY_TASK_WHY, .client = CLIENT, .sequence = 1 });
        ck_assert_int_eq(answered(A), SC_E_NOT_FOUND);
        ck_assert_uint_eq(sends(A, SC_MSG_TASK_WHY) + sends(A, SC_MSG_ATTEMPT_ROW), 0);
        teardown();
}
END_TEST

START_TEST(a_loss_is_an_attempt_unless_it_comes_back)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit(C, CLIENT, 1);
        const uint64_t run = run_of(CLIENT, 1);
        started(W, 1);
        down(W);
        ck_assert_uint_eq(why_of(CLIENT, 1)->attempts, 1);
        ck_assert_uint_eq(attempt_nth(0)->reason, SC_REASON_WORKER_DIED);
        ck_assert_str_eq(text_of(attempt_nth(0)->text), "the worker was lost");
        const struct sc_hold hold = { .task = task(CLIENT, 1), .epoch = EPOCH, .run = run, .flags = SC_HOLD_RUNNING };
        worker_up_holding(W2, WORKER, 1, 1, &hold, 1);
        ck_assert_uint_eq(why_of(CLIENT, 1)->attempts, 0);
        ck_assert_uint_eq(sent(A, SC_MSG_TASK_WHY)->task_why.why, SC_WHY_RUNNING);
        teardown();
}
END_TEST

START_TEST(what_ran_at_a_worker_that_left_is_an_attempt_and_what_did_not_run_is_none)
{
        begin();
        worker_up(W, WORKER, 1, 2);
        submit(C, CLIENT, 1);
        submit(C, CLIENT, 2);
        started(W, 1);
        bye(W);
        ck_assert_uint_eq(why_of(CLIENT, 2)->attempts, 0);
        ck_assert_uint_eq(why_of(CLIENT, 1)->attempts, 1);
        ck_assert_str_eq(text_of(attempt_nth(0)->text), "the worker left, which does not count");
        ck_assert_uint_eq(sent(A, SC_MSG_TASK_WHY)->task_why.losses, 0);
        ck_assert_uint_eq(sent(A, SC_MSG_TASK_WHY)->task_why.attempt, 0);
        teardown();
}
END_TEST

START_TEST(attempts_take_no_more_than_their_share_of_memory)
{
        begin_with((struct sc_sched_options){ .bytes_max = 1 << 20 });
        rig.unchecked = true;
        worker_up(W, WORKER, 1, 1);
        const uint32_t max   = SC_TEXT_MAX;
        char           words[SC_TEXT_MAX];
        uint32_t       kept = 0;
        memset(words, 'x', sizeof words);
        struct sc_msg want = { .kind = SC_MSG_WANT, .want = { .tasks = 6000, .kib = 512 } };
        say(C, &want);
        const struct sc_outcome failed = { .reason = SC_REASON_TASK, .text = { words, max } };
        for (uint64_t seq = 1; seq <= 6000; seq++) {
                struct sc_plan plan = { .backoff_ms = 60000 };
                struct sc_spec spec = spec_f();
                spec.retries        = 9;
                spec.plan           = &plan;
                spec.body           = (struct sc_view){ "", 0 };
                submit_spec(C, CLIENT, seq, spec);
                done_as(W, task(CLIENT, seq), run_of(CLIENT, seq), failed);
        }
        for (uint64_t seq = 1; seq <= 6000; seq++) {
                char               room[SC_SCHED_EXPLAIN_ROOM];
                struct sc_task_why why;
                ck_assert(sc_sched_explain_task(rig.s, rig.now, task(CLIENT, seq), room, &why));
                ck_assert_str_eq(sc_why_name(why.why), "backoff");
                kept += why.attempts;
        }
        ck_assert_uint_gt(kept, 3000);
        ck_assert_uint_lt(kept, 4000);
        sc_sched_check(rig.s);
        teardown();
}
END_TEST

START_TEST(without_memory_an_attempt_is_not_remembered_and_a_question_is_refused)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_retried(1, 1000);
        rig.fail.fail_at = rig.fail.asked + 1;
        fail_it(1);
        rig.fail.fail_at = 0;
        ck_assert_uint_eq(why_of(CLIENT, 1)->attempts, 0);
        fail_it(1);
        ck_assert_uint_eq(why_of(CLIENT, 1)->attempts, 1);
        rig.fail.fail_at = rig.fail.asked + 1;
        ask(A, (struct sc_query_msg){ .what = SC_QUERY_TASK_WHY, .client = CLIENT, .sequence = 1 });
        ck_assert_int_eq(answered(A), SC_E_NOMEM);
        ck_assert_uint_eq(sends(A, SC_MSG_TASK_WHY), 0);
        rig.fail.fail_at = 0;
        teardown();
}
END_TEST

START_TEST(a_run_that_is_kept_owes_nothing_for_the_time_it_waited)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit(C, CLIENT, 1);
        const uint64_t run = run_of(CLIENT, 1);
        started(W, 1);
        tick(100 * SC_S);
        down(W);
        const struct sc_hold hold = { .task = task(CLIENT, 1), .epoch = EPOCH, .run = run, .flags = SC_HOLD_RUNNING };
        worker_up_holding(W2, WORKER, 1, 1, &hold, 1);
        const struct sched_task   *t      = sc_sched_find(rig.s, task(CLIENT, 1));
        const struct sched_client *client = sc_sched_client(rig.s, t->client);
        ck_assert_uint_eq(t->charged_us, 0);
        const uint64_t before = client->share.credit;
        done(W2, task(CLIENT, 1), run, SC_REASON_SUCCESS);
        ck_assert_uint_le(client->share.credit, before);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.worker, WORKER);
        teardown();
}
END_TEST

/* ---- workers -------------------------------------------------------------------------------------------------- */

START_TEST(a_worker_gets_nothing_because_nothing_is_ready)
{
        begin();
        worker_offers(W, WORKER, 4, 4, "gpu=2000,linux,mem=68719476736000");
        idles_because(WORKER, SC_IDLE_NOTHING_READY, "Nothing is ready.");
        submit_needs(1, "gpu=500,mem=1048576000");
        tick(3 * SC_S);
        const struct sc_worker_why *why = worker_why_of(WORKER);
        ck_assert_uint_eq(why->slots, 4);
        ck_assert_uint_eq(why->credit, 4);
        ck_assert_uint_eq(why->assigned, 1);
        ck_assert_uint_eq(why->held, 1);
        ck_assert_uint_eq(why->started, 0);
        ck_assert_uint_eq(why->functions, 2);
        ck_assert_uint_eq(why->connected_ms, 3000);
        ck_assert_str_eq(text_of(why->name), "peer");
        ck_assert_str_eq(text_of(why->offers), "cpu=4,gpu=2,linux,mem=64G");
        ck_assert_str_eq(text_of(why->used), "cpu=1,gpu=0.5,mem=1M");
        teardown();
}
END_TEST

START_TEST(a_worker_gets_nothing_because_nothing_fits_and_the_nearest_is_named)
{
        begin();
        worker_offers(W, WORKER, 4, 8, "gpu=1000");
        submit_named(1, "h");
        idles_because(WORKER, SC_IDLE_NOTHING_FITS,
                      "What waits does not fit: function 'h', and it does not have that.");
        submit_needs(2, "tpu=1000");
        idles_because(WORKER, SC_IDLE_NOTHING_FITS,
                      "What waits does not fit: function 'f' needs tpu=1, and it offers no tpu.");
        submit_needs(3, "gpu=600");
        submit_needs(4, "gpu=500");
        idles_because(WORKER, SC_IDLE_NOTHING_FITS,
                      "What waits does not fit: function 'f' needs gpu=0.5, and it has 0.4 free.");
        teardown();
}
END_TEST

START_TEST(a_worker_that_offers_too_little_says_how_much)
{
        begin();
        worker_offers(W, WORKER, 4, 8, "gpu=1000");
        submit_needs(1, "gpu=4000");
        idles_because(WORKER, SC_IDLE_NOTHING_FITS,
                      "What waits does not fit: function 'f' needs gpu=4, and it offers 1.");
        const struct sc_plan plan = { .needs = { "gpu=2000", 8 } };
        submit_plan(2, &plan, SC_TASK_COMMAND);
        cancel(A, task(CLIENT, 1), false);
        idles_because(WORKER, SC_IDLE_NOTHING_FITS, "What waits does not fit: commands needs gpu=2, and it offers 1.");
        teardown();
}
END_TEST

START_TEST(a_worker_is_full_or_takes_nothing)
{
        begin();
        worker_up(W, WORKER, 1, 2);
        for (uint64_t seq = 1; seq <= 3; seq++)
                submit(C, CLIENT, seq);
        idles_because(WORKER, SC_IDLE_FULL, "It is full: it has 2 runs for 1 slot and takes no more than 2.");
        step((struct sc_event){ .kind = SC_EV_GRANT, .link = W, .tasks = 0 });
        idles_because(WORKER, SC_IDLE_STUCK, "It takes nothing, since its slots are stuck or it is leaving.");
        teardown();
}
END_TEST

START_TEST(a_worker_has_only_last_chances_to_wait_for)
{
        begin_with((struct sc_sched_options){ .losses_max = 2 });
        for (sc_link_id link = 10; link < 13; link++)
                worker_up(link, WORKER + link, 2, 3);
        for (uint64_t seq = 1; seq <= 6; seq++)
                submit(C, CLIENT, seq);
        started(10, 1);
        const struct sched_task *t = sc_sched_find(rig.s, task(CLIENT, 1));
        const uint64_t           of = sc_sched_worker(rig.s, t->worker)->id;
        down((sc_link_id)(of - WORKER));
        uint32_t waiting = 0, kept = 0;
        for (sc_link_id link = 10; link < 13; link++) {
                if (WORKER + link == of)
                        continue;
                const struct sc_worker_why *why = worker_why_of(WORKER + link);
                waiting += why->why == SC_IDLE_LAST_CHANCES;
                kept += why->why == SC_IDLE_RESERVED;
        }
        ck_assert_uint_eq(kept, 1);
        ck_assert_uint_le(waiting, 1);
        teardown();
}
END_TEST

START_TEST(workers_are_told_in_pages_of_at_most_sixty_four)
{
        begin();
        for (sc_link_id link = 100; link < 250; link++)
                worker_up(link, WORKER + link, 1, 1);
        down(100);
        down(170);
        uint64_t next = 0;
        uint32_t pages = 0, rows = 0;
        do {
                ask(A, (struct sc_query_msg){ .what = SC_QUERY_WORKER_WHY, .cursor = next, .rows_max = 256 });
                ck_assert_int_eq(answered(A), SC_OK);
                ck_assert_uint_le(sends(A, SC_MSG_WORKER_WHY), 64);
                rows += sends(A, SC_MSG_WORKER_WHY);
                pages++;
                next = sent(A, SC_MSG_QUERY_END)->query_end.next;
        } while (next != 0);
        ck_assert_uint_eq(rows, 148);
        ck_assert_uint_eq(pages, 3);
        ask(A, (struct sc_query_msg){ .what = SC_QUERY_WORKER_WHY, .worker = WORKER + 100 });
        ck_assert_int_eq(answered(A), SC_E_NOT_FOUND);
        ask(A, (struct sc_query_msg){ .what = SC_QUERY_WORKER_WHY, .cursor = UINT64_MAX });
        ck_assert_int_eq(answered(A), SC_OK);
        ck_assert_uint_eq(sends(A, SC_MSG_WORKER_WHY), 0);
        teardown();
}
END_TEST

/* ---- who may ask ---------------------------------------------------------------------------------------------- */

START_TEST(a_client_is_told_of_its_own_tasks_and_of_nothing_else)
{
        begin();
        client_up(C2, CLIENT + 1);
        worker_up(W, WORKER, 1, 1);
        submit(C, CLIENT, 1);
        submit(C, CLIENT, 2);
        submit(C2, CLIENT + 1, 5);
        ask(C, (struct sc_query_msg){ .what = SC_QUERY_TASK_WHY, .sequence = 1 });
        ck_assert_int_eq(answered(C), SC_OK);
        ck_assert_uint_eq(sent(C, SC_MSG_TASK_WHY)->task_why.task.lo, 1);
        ask(C, (struct sc_query_msg){ .what = SC_QUERY_TASK_WHY });
        ck_assert_uint_eq(sent(C, SC_MSG_TASK_WHY)->task_why.task.lo, 2);
        ask(C, (struct sc_query_msg){ .what = SC_QUERY_TASK_WHY, .client = CLIENT + 1, .sequence = 5 });
        ck_assert_int_eq(answered(C), SC_E_NOT_FOUND);
        ck_assert_uint_eq(sends(C, SC_MSG_TASK_WHY), 0);
        ask(C, (struct sc_query_msg){ .what = SC_QUERY_TASKS, .client = CLIENT + 1, .rows_max = 256 });
        ck_assert_int_eq(answered(C), SC_E_NOT_FOUND);
        ck_assert_uint_eq(sends(C, SC_MSG_TASK_ROW), 0);
        ask(C, (struct sc_query_msg){ .what = SC_QUERY_WORKER_WHY, .worker = WORKER });
        ck_assert_int_eq(answered(C), SC_E_DENIED);
        ck_assert_uint_eq(sends(C, SC_MSG_WORKER_WHY), 0);
        tick(1);
        submit(C2, CLIENT + 1, 6);
        ask(A, (struct sc_query_msg){ .what = SC_QUERY_TASK_WHY });
        ck_assert_uint_eq(sent(A, SC_MSG_TASK_WHY)->task_why.task.lo, 6);
        ask(A, (struct sc_query_msg){ .what = SC_QUERY_TASK_WHY, .client = CLIENT });
        ck_assert_uint_eq(sent(A, SC_MSG_TASK_WHY)->task_why.task.lo, 2);
        ask(A, (struct sc_query_msg){ .what = SC_QUERY_TASK_WHY, .client = 99 });
        ck_assert_int_eq(answered(A), SC_E_NOT_FOUND);
        teardown();
}
END_TEST

/* ---- lists ---------------------------------------------------------------------------------------------------- */

enum { ROWS = 8000 };

struct listed {
        uint32_t rows, pages;
        uint64_t first, last;
        bool     ordered; /* each after the one before, or before it */
};

static struct listed list(struct sc_query_msg query)
{
        struct listed l = { .ordered = true };
        query.what      = SC_QUERY_TASKS;
        query.rows_max  = 256;
        do {
                ask(A, query);
                ck_assert_int_eq(answered(A), SC_OK);
                const uint32_t count = sends(A, SC_MSG_TASK_ROW);
                ck_assert_uint_le(count, 256);
                for (uint32_t i = 0, at = 0; i < count; i++, at++) {
                        while (out.at[at].kind != SC_FX_SEND || out.at[at].msg.kind != SC_MSG_TASK_ROW)
                                at++;
                        const uint64_t seq = out.at[at].msg.task_row.task.lo;
                        l.ordered          = l.ordered && (l.rows == 0 || (query.newest ? seq < l.last : seq > l.last));
                        l.first            = l.rows++ == 0 ? seq : l.first;
                        l.last             = seq;
                }
                query.cursor = sent(A, SC_MSG_QUERY_END)->query_end.next;
                l.pages++;
        } while (query.cursor != 0);
        return l;
}

static void begin_full(void)
{
        begin();
        rig.unchecked       = true;
        struct sc_msg want = { .kind = SC_MSG_WANT, .want = { .tasks = ROWS, .kib = 8192 } };
        say(C, &want);
        for (uint64_t seq = 1; seq <= ROWS; seq++) {
                const struct sc_plan plan = { .tag = { "night", 5 } };
                struct sc_spec       spec = spec_f();
                spec.plan                 = seq % 1000 == 0 ? &plan : NULL;
                submit_spec(C, CLIENT, seq, spec);
        }
}

START_TEST(a_clients_tasks_are_listed_in_order_either_way)
{
        begin_full();
        struct listed l = list((struct sc_query_msg){ .client = CLIENT });
        ck_assert(l.ordered && l.rows == ROWS && l.first == 1 && l.last == ROWS);
        l = list((struct sc_query_msg){ .client = CLIENT, .newest = true });
        ck_assert(l.ordered && l.rows == ROWS && l.first == ROWS && l.last == 1);
        l = list((struct sc_query_msg){ .client = CLIENT, .first = 100, .last = 700 });
        ck_assert(l.ordered && l.rows == 601 && l.first == 100 && l.last == 700);
        l = list((struct sc_query_msg){ .client = CLIENT, .first = 7990, .newest = true });
        ck_assert(l.ordered && l.rows == 11 && l.first == ROWS && l.last == 7990);
        l = list((struct sc_query_msg){ .first = 7990 });
        ck_assert_uint_eq(l.rows, 11);
        teardown();
}
END_TEST

START_TEST(a_list_of_few_among_many_is_made_in_bounded_steps)
{
        begin_full();
        struct listed l = list((struct sc_query_msg){ .client = CLIENT, .tag = { "night", 5 } });
        ck_assert(l.ordered && l.rows == 8 && l.first == 1000 && l.last == ROWS);
        ck_assert_uint_eq(l.pages, 2); /* one looks at 4,096 rows */
        l = list((struct sc_query_msg){ .tag = { "night", 5 } });
        ck_assert_uint_eq(l.rows, 8);
        ck_assert_uint_eq(l.pages, 2);
        l = list((struct sc_query_msg){ .tag = { "nigh", 4 } });
        ck_assert_uint_eq(l.rows, 0);
        ck_assert_uint_eq(l.pages, 2);
        teardown();
}
END_TEST

START_TEST(tasks_are_listed_by_state_and_stage)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit(C, CLIENT, 1);
        submit(C, CLIENT, 2);
        submit_after_one(3, 2);
        fail_it(1);
        ck_assert_uint_eq(list((struct sc_query_msg){ .stages = 1 << SC_STATE_WAITING }).last, 3);
        ck_assert_uint_eq(list((struct sc_query_msg){ .stages = 1 << SC_STATE_ASSIGNED }).last, 2);
        ck_assert_uint_eq(list((struct sc_query_msg){ .states = 1 << SC_PUBLIC_FAILED }).last, 1);
        ck_assert_uint_eq(list((struct sc_query_msg){ .states = 1 << SC_PUBLIC_SUCCESS }).rows, 0);
        const struct sc_query_msg either = { .states = 1 << SC_PUBLIC_FAILED, .stages = 1 << SC_STATE_ASSIGNED };
        ck_assert_uint_eq(list(either).rows, 2);
        ask(A, (struct sc_query_msg){ .what = SC_QUERY_TASKS, .rows_max = 256 });
        ck_assert_uint_eq(sent_nth(A, SC_MSG_TASK_ROW, 0)->task_row.stage, SC_STATE_ENDED);
        ck_assert_uint_eq(sent_nth(A, SC_MSG_TASK_ROW, 1)->task_row.stage, SC_STATE_ASSIGNED);
        ck_assert_uint_eq(sent_nth(A, SC_MSG_TASK_ROW, 2)->task_row.stage, SC_STATE_WAITING);
        teardown();
}
END_TEST

/* Whatever goes between two pages, what stays is told once, and nobody is told of twice. */
START_TEST(a_list_goes_on_where_its_row_was)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        for (uint64_t seq = 1; seq <= 9; seq++)
                submit(C, CLIENT, seq);
        ask(A, (struct sc_query_msg){ .what = SC_QUERY_TASKS, .client = CLIENT, .rows_max = 4, .newest = true });
        ck_assert_uint_eq(sent_nth(A, SC_MSG_TASK_ROW, 3)->task_row.task.lo, 6);
        const uint64_t next = sent(A, SC_MSG_QUERY_END)->query_end.next;
        cancel(C, task(CLIENT, 5), false);
        acked(C, 1);
        submit(C, CLIENT, 10); /* in the place of the fifth */
        ask(A, (struct sc_query_msg){ .what = SC_QUERY_TASKS, .client = CLIENT, .cursor = next, .rows_max = 9,
                                      .newest = true });
        ck_assert_uint_eq(sends(A, SC_MSG_TASK_ROW), 4);
        ck_assert_uint_eq(sent_nth(A, SC_MSG_TASK_ROW, 0)->task_row.task.lo, 4);
        ck_assert_uint_eq(sent(A, SC_MSG_QUERY_END)->query_end.next, 0);
        ask(A, (struct sc_query_msg){ .what = SC_QUERY_TASKS, .client = CLIENT, .cursor = next, .rows_max = 9 });
        ck_assert_uint_eq(sent_nth(A, SC_MSG_TASK_ROW, 0)->task_row.task.lo, 6);
        ask(A, (struct sc_query_msg){ .what = SC_QUERY_TASKS, .client = CLIENT, .cursor = UINT64_MAX, .rows_max = 9 });
        ck_assert_int_eq(answered(A), SC_OK);
        ask(A, (struct sc_query_msg){ .what = SC_QUERY_TASKS, .rows_max = 9, .newest = true });
        ck_assert_int_eq(answered(A), SC_E_INVALID);
        teardown();
}
END_TEST

START_TEST(orphans_of_a_client_that_is_not_here_are_listed_too)
{
        begin();
        const struct sc_hold hold = { .task = { 555, 9 }, .epoch = 5, .run = 3, .flags = SC_HOLD_RUNNING };
        worker_up_holding(W, WORKER, 1, 1, &hold, 1);
        submit(C, CLIENT, 1);
        ck_assert_uint_eq(list((struct sc_query_msg){ .client = 555 }).last, 9);
        ck_assert_uint_eq(list((struct sc_query_msg){ .client = 556 }).rows, 0);
        ck_assert_uint_eq(list((struct sc_query_msg){ .client = CLIENT }).rows, 1);
        ck_assert_uint_eq(list((struct sc_query_msg){ .stages = 1 << SC_STATE_ORPHAN }).rows, 1);
        teardown();
}
END_TEST

int main(void)
{
        TCase *t = tcase_create("explain");
        tcase_add_test(t, an_attempt_is_told_with_where_when_why_and_what_it_used);
        tcase_add_test(t, the_last_eight_attempts_are_remembered_and_go_with_their_task);
        tcase_add_test(t, a_loss_is_an_attempt_unless_it_comes_back);
        tcase_add_test(t, what_ran_at_a_worker_that_left_is_an_attempt_and_what_did_not_run_is_none);
        tcase_add_test(t, attempts_take_no_more_than_their_share_of_memory);
        tcase_add_test(t, without_memory_an_attempt_is_not_remembered_and_a_question_is_refused);
        tcase_add_test(t, a_run_that_is_kept_owes_nothing_for_the_time_it_waited);
        tcase_add_test(t, a_worker_gets_nothing_because_nothing_is_ready);
        tcase_add_test(t, a_worker_gets_nothing_because_nothing_fits_and_the_nearest_is_named);
        tcase_add_test(t, a_worker_that_offers_too_little_says_how_much);
        tcase_add_test(t, a_worker_is_full_or_takes_nothing);
        tcase_add_test(t, a_worker_has_only_last_chances_to_wait_for);
        tcase_add_test(t, workers_are_told_in_pages_of_at_most_sixty_four);
        tcase_add_test(t, a_client_is_told_of_its_own_tasks_and_of_nothing_else);
        tcase_add_test(t, a_clients_tasks_are_listed_in_order_either_way);
        tcase_add_test(t, a_list_of_few_among_many_is_made_in_bounded_steps);
        tcase_add_test(t, tasks_are_listed_by_state_and_stage);
        tcase_add_test(t, a_list_goes_on_where_its_row_was);
        tcase_add_test(t, orphans_of_a_client_that_is_not_here_are_listed_too);
        return run_tests("sched_explain", t);
}
