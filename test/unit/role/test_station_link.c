/* One connection as arithmetic: sequences that wrap, the ring of unconfirmed frames, deadlines. */
#include "link.h"
#include "run_tests.h"
#include "sc_status.h"

static struct sc_link link;

static void setup(void)
{
        sc_link_init(&link, true, 0, 5 * SC_S, 8 * SC_S);
        sc_link_up(&link, 8 * SC_S);
}

START_TEST(sequences_may_wrap)
{
        uint32_t    confirmed;
        const char *why;
        link.heard = link.sent = link.confirmed = UINT32_MAX - 1;
        ck_assert_uint_eq(sc_link_seal(&link, 1, true), UINT32_MAX);
        ck_assert_uint_eq(sc_link_seal(&link, 2, true), 0);
        ck_assert_uint_eq(sc_link_seal(&link, 4, true), 1);
        ck_assert_int_eq(sc_link_hear(&link, UINT32_MAX, UINT32_MAX, 1, &confirmed, &why), 0);
        ck_assert_uint_eq(confirmed, 1);
        ck_assert_int_eq(sc_link_hear(&link, 0, 1, 1, &confirmed, &why), 0);
        ck_assert_uint_eq(confirmed, 6);
        ck_assert_int_eq(sc_link_hear(&link, 1, 2, 1, &confirmed, &why), SC_E_PROTOCOL);
        ck_assert_int_eq(sc_link_hear(&link, 1, 0, 1, &confirmed, &why), SC_E_PROTOCOL);
}
END_TEST

START_TEST(frames_beyond_the_ring_are_confirmed_together_and_none_is_forgotten)
{
        uint32_t    confirmed, sum = 0, in = 1;
        const char *why;
        for (int i = 0; i < 3 * SC_LINK_RING; i++)
                sc_link_seal(&link, 1, true);
        for (uint32_t ack = 1; ack <= 3 * SC_LINK_RING; ack++) {
                ck_assert_int_eq(sc_link_hear(&link, in++, ack, 1, &confirmed, &why), 0);
                sum += confirmed;
                ck_assert_uint_le(sum, ack);
        }
        ck_assert_uint_eq(sum, 3 * SC_LINK_RING);
}
END_TEST

START_TEST(a_ping_is_asked_once_and_then_death_is_due)
{
        ck_assert_int_eq(sc_link_deadline(&link), 4800 * SC_MS);
        ck_assert_int_eq(sc_link_due(&link, 4800 * SC_MS), SC_LINK_PING);
        sc_link_pinged(&link);
        ck_assert_int_eq(sc_link_due(&link, 7 * SC_S), SC_LINK_NOT_DUE);
        ck_assert_int_eq(sc_link_deadline(&link), 8 * SC_S);
        ck_assert_int_eq(sc_link_due(&link, 8 * SC_S), SC_LINK_DEAD);
}
END_TEST

START_TEST(the_side_that_was_dialled_asks_first)
{
        link.dialled = false;
        ck_assert_int_eq(sc_link_deadline(&link), 3200 * SC_MS);
}
END_TEST

START_TEST(frames_without_records_to_confirm_need_no_acknowledgement)
{
        for (int i = 0; i < 1000; i++)
                sc_link_stepped(&link, 0, 1);
        ck_assert(!sc_link_ack_urgent(&link));
        ck_assert_int_eq(link.ack_by, SC_NEVER);
        sc_link_stepped(&link, 1, 1);
        ck_assert(sc_link_ack_urgent(&link));
        sc_link_seal(&link, 0, true);
        ck_assert(!sc_link_ack_urgent(&link));
}
END_TEST

START_TEST(what_a_frame_does_not_acknowledge_stays_owed)
{
        sc_link_stepped(&link, 1, 1);
        const sc_ns by = link.ack_by;
        sc_link_seal(&link, 1, false);
        ck_assert_int_eq(link.ack_by, by);
        ck_assert_uint_eq(link.owed_records, 1);
        sc_link_seal(&link, 1, true);
        ck_assert_int_eq(link.ack_by, SC_NEVER);
}
END_TEST

START_TEST(a_grant_is_news_once)
{
        ck_assert(sc_link_granted(&link, 1, 2));
        ck_assert(!sc_link_granted(&link, 1, 2));
        ck_assert(sc_link_grant(&link, 1, 2));
        ck_assert(!sc_link_grant(&link, 1, 2));
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("link");
        tcase_add_checked_fixture(tests, setup, NULL);
        tcase_add_test(tests, sequences_may_wrap);
        tcase_add_test(tests, frames_beyond_the_ring_are_confirmed_together_and_none_is_forgotten);
        tcase_add_test(tests, a_ping_is_asked_once_and_then_death_is_due);
        tcase_add_test(tests, the_side_that_was_dialled_asks_first);
        tcase_add_test(tests, frames_without_records_to_confirm_need_no_acknowledgement);
        tcase_add_test(tests, what_a_frame_does_not_acknowledge_stays_owed);
        tcase_add_test(tests, a_grant_is_news_once);
        return run_tests("link", tests);
}
