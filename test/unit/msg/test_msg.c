/* Names of messages and the rights table. */
#include "msg.h"

#include <check.h>

#include "run_tests.h"

START_TEST(every_message_has_a_name_and_a_stranger_has_none)
{
        ck_assert_str_eq(sc_msg_name(SC_MSG_HELLO), "HELLO");
        ck_assert_str_eq(sc_msg_name(SC_MSG_QUERY_END), "QUERY_END");
        ck_assert_str_eq(sc_msg_name(0), "?");
        ck_assert_str_eq(sc_msg_name(-1), "?");
        ck_assert_str_eq(sc_msg_name(1000), "?");
}
END_TEST

START_TEST(each_role_may_send_its_own_messages_only)
{
        ck_assert(sc_msg_may_send(SC_ROLE_CLIENT, SC_MSG_SUBMIT));
        ck_assert(!sc_msg_may_send(SC_ROLE_ADMIN, SC_MSG_SUBMIT));
        ck_assert(!sc_msg_may_send(SC_ROLE_WORKER, SC_MSG_SUBMIT));
        ck_assert(sc_msg_may_send(SC_ROLE_ADMIN, SC_MSG_CANCEL));
        ck_assert(sc_msg_may_send(SC_ROLE_WORKER, SC_MSG_DONE));
        ck_assert(!sc_msg_may_send(SC_ROLE_CLIENT, SC_MSG_DONE));
        ck_assert(sc_msg_may_send(SC_ROLE_SCHEDULER, SC_MSG_OUTPUT));
        ck_assert(sc_msg_may_send(SC_ROLE_WORKER, SC_MSG_OUTPUT));
        ck_assert(!sc_msg_may_send(SC_ROLE_CLIENT, SC_MSG_OUTPUT));
        ck_assert(!sc_msg_may_send(SC_ROLE_SCHEDULER, SC_MSG_HELLO));
}
END_TEST

START_TEST(nobody_and_strangers_may_send_nothing)
{
        for (int kind = -2; kind < 300; kind++) {
                ck_assert(!sc_msg_may_send(SC_ROLE_NONE, kind));
                ck_assert(!sc_msg_may_send(SC_ROLES, kind));
        }
        for (int role = 0; role <= SC_ROLES; role++)
                ck_assert(!sc_msg_may_send((enum sc_role)role, 1000));
}
END_TEST

START_TEST(every_known_message_has_a_sender)
{
#define SENT(name, number, from) \
        ck_assert(sc_msg_may_send(SC_ROLE_CLIENT, number) || sc_msg_may_send(SC_ROLE_WORKER, number) || \
                  sc_msg_may_send(SC_ROLE_ADMIN, number) || sc_msg_may_send(SC_ROLE_SCHEDULER, number));
        SC_MSG_LIST(SENT)
#undef SENT
}
END_TEST

START_TEST(results_and_ends_of_runs_are_kept_until_confirmed)
{
        int kept = 0;
        for (int kind = 0; kind < 300; kind++)
                kept += sc_msg_is_acked(kind);
        ck_assert_int_eq(kept, 3);
        ck_assert(sc_msg_is_acked(SC_MSG_RESULT) && sc_msg_is_acked(SC_MSG_DONE) && sc_msg_is_acked(SC_MSG_GRAPH_DONE));
}
END_TEST

START_TEST(roles_reasons_and_states_have_names)
{
        for (int role = 0; role < SC_ROLES; role++)
                ck_assert_str_ne(sc_role_name((enum sc_role)role), "?");
        for (int reason = 0; reason < SC_REASONS; reason++)
                ck_assert_str_ne(sc_reason_name(reason), "?");
        for (int state = 0; state < SC_PUBLIC_STATES; state++)
                ck_assert_str_ne(sc_public_state_name(state), "?");
        ck_assert_str_eq(sc_role_name(SC_ROLES), "?");
        ck_assert_str_eq(sc_reason_name(SC_REASONS), "?");
        ck_assert_str_eq(sc_public_state_name(-1), "?");
        ck_assert_str_eq(sc_reason_name(SC_REASON_WORKER_DIED), "worker_died");
        ck_assert_str_eq(sc_public_state_name(SC_PUBLIC_BALANCE_CANCELING), "balance-canceling");
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("msg");
        tcase_add_test(tests, every_message_has_a_name_and_a_stranger_has_none);
        tcase_add_test(tests, each_role_may_send_its_own_messages_only);
        tcase_add_test(tests, nobody_and_strangers_may_send_nothing);
        tcase_add_test(tests, every_known_message_has_a_sender);
        tcase_add_test(tests, results_and_ends_of_runs_are_kept_until_confirmed);
        tcase_add_test(tests, roles_reasons_and_states_have_names);
        return run_tests("msg", tests);
}
