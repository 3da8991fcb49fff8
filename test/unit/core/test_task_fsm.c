/* The table of states and moves, written down a second time as sentences: no cell more, no cell less. */
#include "task_fsm.h"

#include <check.h>
#include <string.h>

#include "run_tests.h"

struct cell {
        enum sc_task_state from;
        enum sc_task_move  move;
        enum sc_task_state to;
};

#define CELL(from, move, to) { SC_STATE_##from, SC_MOVE_##move, SC_STATE_##to }
static const struct cell cells[] = {
        CELL(FREE, ADMIT, READY), CELL(FREE, BLOCK, WAITING), CELL(FREE, DELAY, BACKOFF), CELL(FREE, HOLD, ORPHAN),
        CELL(WAITING, UNBLOCK, READY), CELL(WAITING, FAIL, ENDED), CELL(WAITING, CANCEL, ENDED),
        CELL(WAITING, TIME_OUT, ENDED), CELL(WAITING, DELAY, BACKOFF), CELL(WAITING, KEEP, ASSIGNED),
        CELL(WAITING, FINISH, ENDED),
        CELL(READY, PLACE, ASSIGNED), CELL(READY, KEEP, ASSIGNED), CELL(READY, CANCEL, ENDED),
        CELL(READY, TIME_OUT, ENDED), CELL(READY, FAIL, ENDED),
        CELL(ASSIGNED, RECALL, RECALLING), CELL(ASSIGNED, START, ASSIGNED), CELL(ASSIGNED, RETURN, READY),
        CELL(ASSIGNED, RETRY, READY), CELL(ASSIGNED, DELAY, BACKOFF),
        CELL(ASSIGNED, LOSE, READY), CELL(ASSIGNED, LOSE_LAST, ENDED),
        CELL(ASSIGNED, FINISH, ENDED), CELL(ASSIGNED, CANCEL, CANCELLING),
        CELL(RECALLING, START, ASSIGNED), CELL(RECALLING, RETURN, READY), CELL(RECALLING, RETRY, READY),
        CELL(RECALLING, DELAY, BACKOFF),
        CELL(RECALLING, LOSE, READY), CELL(RECALLING, FINISH, ENDED), CELL(RECALLING, CANCEL, CANCELLING),
        CELL(CANCELLING, START, CANCELLING), CELL(CANCELLING, RETURN, ENDED), CELL(CANCELLING, LOSE, ENDED),
        CELL(CANCELLING, FINISH, ENDED), CELL(CANCELLING, CANCEL, CANCELLING),
        CELL(CANCELLING, RELEASE, ENDED),
        CELL(BACKOFF, WAKE, READY), CELL(BACKOFF, KEEP, ASSIGNED), CELL(BACKOFF, CANCEL, ENDED),
        CELL(BACKOFF, TIME_OUT, ENDED), CELL(BACKOFF, FAIL, ENDED),
        CELL(ORPHAN, KEEP, ASSIGNED), CELL(ORPHAN, LOSE, FREE), CELL(ORPHAN, EXPIRE, FREE),
        CELL(FREE, JOIN, JOINED), CELL(READY, JOIN, JOINED), CELL(BACKOFF, JOIN, JOINED),
        CELL(ASSIGNED, JOIN, JOINED), CELL(RECALLING, JOIN, JOINED), CELL(JOINED, UNBLOCK, READY),
        CELL(JOINED, DELAY, BACKOFF), CELL(JOINED, KEEP, ASSIGNED), CELL(JOINED, FINISH, ENDED),
        CELL(JOINED, CANCEL, ENDED), CELL(JOINED, TIME_OUT, ENDED),
        CELL(ENDED, RETAIN, KEPT), CELL(ENDED, FORGET, FREE), CELL(KEPT, FORGET, FREE),
};
enum { CELLS = sizeof cells / sizeof cells[0] };

START_TEST(the_table_has_these_moves_and_no_others)
{
        int found = 0;
        for (int from = 0; from < SC_STATES; from++) {
                for (int move = 0; move < SC_MOVES; move++)
                        found += sc_task_may((enum sc_task_state)from, (enum sc_task_move)move);
        }
        ck_assert_int_eq(found, CELLS);
        for (int i = 0; i < CELLS; i++) {
                ck_assert(sc_task_may(cells[i].from, cells[i].move));
                ck_assert_int_eq(sc_task_next(cells[i].from, cells[i].move), cells[i].to);
        }
}
END_TEST

START_TEST(every_state_can_be_reached_and_left)
{
        bool reached[SC_STATES] = { [SC_STATE_FREE] = true }, left[SC_STATES] = { false };
        for (int round = 0; round < SC_STATES; round++) {
                for (int i = 0; i < CELLS; i++) {
                        reached[cells[i].to] = reached[cells[i].to] || reached[cells[i].from];
                        left[cells[i].from]  = left[cells[i].from] || cells[i].from != cells[i].to;
                }
        }
        for (int state = 0; state < SC_STATES; state++)
                ck_assert(reached[state] && left[state]);
}
END_TEST

START_TEST(every_state_and_move_has_a_name)
{
        for (int state = 0; state < SC_STATES; state++)
                ck_assert_str_ne(sc_task_state_name((enum sc_task_state)state), "?");
        for (int move = 0; move < SC_MOVES; move++)
                ck_assert_str_ne(sc_task_move_name((enum sc_task_move)move), "?");
        ck_assert_str_eq(sc_task_state_name(SC_STATES), "?");
        ck_assert_str_eq(sc_task_move_name(SC_MOVES), "?");
        ck_assert(!sc_task_may(SC_STATES, SC_MOVE_ADMIT));
        ck_assert(!sc_task_may(SC_STATE_FREE, SC_MOVES));
}
END_TEST

START_TEST(a_worker_has_a_run_in_four_states)
{
        int held = 0;
        for (int state = 0; state < SC_STATES; state++)
                held += sc_task_is_held((enum sc_task_state)state);
        ck_assert_int_eq(held, 4);
        ck_assert(sc_task_is_held(SC_STATE_ORPHAN) && !sc_task_is_held(SC_STATE_READY));
}
END_TEST

START_TEST(a_move_that_is_not_there_stops_the_process)
{
        sc_task_next(SC_STATE_ENDED, SC_MOVE_PLACE);
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("task_fsm");
        tcase_add_test(tests, the_table_has_these_moves_and_no_others);
        tcase_add_test(tests, every_state_can_be_reached_and_left);
        tcase_add_test(tests, every_state_and_move_has_a_name);
        tcase_add_test(tests, a_worker_has_a_run_in_four_states);
        tcase_add_test_raise_signal(tests, a_move_that_is_not_there_stops_the_process, 6);
        return run_tests("task_fsm", tests);
}
