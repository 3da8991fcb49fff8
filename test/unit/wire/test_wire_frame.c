/*
 * The frame header: the bytes are those of the page, and what no peer may send is refused by name.
 */
#include <string.h>

#include "frame.h"
#include "msg.h"
#include "run_tests.h"
#include "sc_rng.h"
#include "sc_status.h"

static int get(const struct sc_frame_head *head, const char **why)
{
        uint8_t              bytes[SC_FRAME_HEAD];
        struct sc_frame_head back;
        sc_frame_put(head, bytes);
        return sc_frame_get(bytes, &back, why);
}

static void refused(struct sc_frame_head head, const char *words)
{
        const char *why = "";
        ck_assert_int_eq(get(&head, &why), SC_E_PROTOCOL);
        ck_assert_str_eq(why, words);
}

static void accepted(struct sc_frame_head head)
{
        const char *why = "";
        ck_assert_msg(get(&head, &why) == 0, "%s", why);
}

static struct sc_frame_head data(uint32_t length, uint16_t count)
{
        return (struct sc_frame_head){ .length = length, .type = SC_FRAME_DATA, .count = count };
}

START_TEST(the_bytes_are_those_of_the_page)
{
        static const uint8_t       want[SC_FRAME_HEAD] = { 0x04, 0x03, 0x02, 0x00, 0x02, 0x00, 0x06, 0x05,
                                                           0x0a, 0x09, 0x08, 0x07, 0x0e, 0x0d, 0x0c, 0x0b,
                                                           0x12, 0x11, 0x10, 0x0f, 0x16, 0x15, 0x14, 0x13 };
        const struct sc_frame_head head                = { 0x00020304, SC_FRAME_DATA, 0,          0x0506,
                                                           0x0708090a, 0x0b0c0d0e,    0x0f101112, 0x13141516 };
        uint8_t                    bytes[SC_FRAME_HEAD];
        struct sc_frame_head       back;
        const char                *why;
        sc_frame_put(&head, bytes);
        ck_assert_mem_eq(bytes, want, SC_FRAME_HEAD);
        ck_assert_int_eq(sc_frame_get(bytes, &back, &why), 0);
        sc_frame_put(&back, bytes);
        ck_assert_mem_eq(bytes, want, SC_FRAME_HEAD);
}
END_TEST

START_TEST(lengths_are_bounded_on_both_sides)
{
        refused(data(0, 0), "the frame is shorter than its header");
        refused(data(23, 0), "the frame is shorter than its header");
        accepted(data(24, 0));
        accepted(data(SC_FRAME_MAX, 1));
        refused(data(SC_FRAME_MAX + 1, 1), "the frame is longer than allowed");
        refused(data(UINT32_MAX, 1), "the frame is longer than allowed");
}
END_TEST

START_TEST(types_and_flags_must_be_known)
{
        struct sc_frame_head head = data(24, 0);
        for (int type = 0; type < 256; type++) {
                head.type = (uint8_t)type;
                if (type == SC_FRAME_HELLO)
                        refused(head, "a hello frame holds one record");
                else if (type == SC_FRAME_DATA || type == SC_FRAME_PING)
                        accepted(head);
                else
                        refused(head, "the type of the frame is unknown");
        }
        for (int bit = 0; bit < 8; bit++) {
                head       = data(24, 0);
                head.flags = (uint8_t)(1 << bit);
                refused(head, "the frame has unknown flags");
        }
}
END_TEST

START_TEST(the_count_of_records_fits_type_and_length)
{
        struct sc_frame_head head = { .length = 60, .type = SC_FRAME_HELLO, .count = 1, .seq = 1 };
        accepted(head);
        head.count = 2;
        refused(head, "a hello frame holds one record");
        head = (struct sc_frame_head){ .length = 27, .type = SC_FRAME_PING, .count = 1 };
        refused(head, "a ping holds no records");
        refused(data(25, 0), "the frame has bytes but no records");
        refused(data(24, 1), "the frame is too short for its records");
        refused(data(26, 1), "the frame is too short for its records");
        accepted(data(27, 1));
        accepted(data(24 + 3 * 65535, 65535));
        refused(data(24 + 3 * 65535 - 1, 65535), "the frame is too short for its records");
}
END_TEST

START_TEST(the_length_is_known_from_the_fourth_byte_on)
{
        const uint8_t bytes[] = { 0x18, 0x01, 0x02, 0xff, 0x77 };
        for (size_t len = 0; len < 4; len++)
                ck_assert_uint_eq(sc_frame_length(bytes, len), 0);
        ck_assert_uint_eq(sc_frame_length(bytes, 4), 0xff020118u);
        ck_assert_uint_eq(sc_frame_length(bytes, 5), 0xff020118u);
}
END_TEST

START_TEST(what_is_refused_leaves_the_head_alone)
{
        const uint8_t        bytes[SC_FRAME_HEAD] = { 0 };
        struct sc_frame_head head = { .length = 77, .seq = 5 }, before = head;
        const char          *why;
        ck_assert_int_eq(sc_frame_get(bytes, &head, &why), SC_E_PROTOCOL);
        ck_assert_mem_eq(&head, &before, sizeof(head));
}
END_TEST

START_TEST(any_header_is_refused_or_comes_back_the_same)
{
        struct sc_rng rng = { 7 };
        for (int i = 0; i < 1000000; i++) {
                uint8_t              bytes[SC_FRAME_HEAD], back[SC_FRAME_HEAD];
                struct sc_frame_head head;
                const char          *why;
                for (size_t k = 0; k < 3; k++) {
                        const uint64_t word = sc_rng_next(&rng);
                        memcpy(bytes + 8 * k, &word, 8);
                }
                bytes[3] = 0; /* else nearly none is short enough */
                bytes[5] = 0;
                bytes[4] &= 3;
                if (sc_frame_get(bytes, &head, &why) != 0)
                        continue;
                sc_frame_put(&head, back);
                if (memcmp(bytes, back, SC_FRAME_HEAD) != 0)
                        ck_abort_msg("a header came back different");
        }
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("frame");
        tcase_add_test(tests, the_bytes_are_those_of_the_page);
        tcase_add_test(tests, lengths_are_bounded_on_both_sides);
        tcase_add_test(tests, types_and_flags_must_be_known);
        tcase_add_test(tests, the_count_of_records_fits_type_and_length);
        tcase_add_test(tests, the_length_is_known_from_the_fourth_byte_on);
        tcase_add_test(tests, what_is_refused_leaves_the_head_alone);
        tcase_add_test(tests, any_header_is_refused_or_comes_back_the_same);
        return run_tests("wire frame", tests);
}
