/*
 * Growable bytes: the maximum, the all-or-nothing append, and the capacity that is kept or given
 * back.
 */
#include <signal.h>
#include <stdint.h>
#include <string.h>

#include "fail_mem.h"
#include "run_tests.h"
#include "sc_buf.h"

static struct fail_mem fail;
static struct sc_buf   buf;

static void start(void)
{
        fail_mem_init(&fail, 0);
        sc_buf_init(&buf, &fail.mem, 1000);
}

static void finish(void)
{
        sc_buf_fini(&buf);
        ck_assert_uint_eq(fail_mem_leaks(&fail), 0);
}

static void fill(size_t len)
{
        for (size_t i = 0; i < len; i++) {
                uint8_t byte = (uint8_t)i;
                ck_assert(sc_buf_add(&buf, &byte, 1));
        }
}

START_TEST(an_empty_buffer_holds_no_memory)
{
        ck_assert_ptr_null(buf.data);
        ck_assert_uint_eq(fail.asked, 0);
        ck_assert(sc_buf_reserve(&buf, 0));
        ck_assert(sc_buf_add(&buf, NULL, 0));
        ck_assert_uint_eq(fail.asked, 0);
}
END_TEST

START_TEST(bytes_added_one_by_one_are_all_there)
{
        fill(1000);
        ck_assert_uint_eq(buf.len, 1000);
        for (size_t i = 0; i < 1000; i++)
                ck_assert_uint_eq(buf.data[i], (uint8_t)i);
        ck_assert_uint_lt(fail.asked, 8); /* grew by doubling */
}
END_TEST

START_TEST(the_maximum_can_be_reached_and_not_passed)
{
        uint8_t bytes[1001] = { 7 };
        ck_assert(!sc_buf_add(&buf, bytes, 1001));
        ck_assert_uint_eq(buf.len, 0);
        ck_assert(sc_buf_add(&buf, bytes, 1000));
        ck_assert(!sc_buf_add(&buf, bytes, 1));
        ck_assert(!sc_buf_reserve(&buf, SIZE_MAX));
        ck_assert_uint_eq(buf.len, 1000);
        ck_assert_uint_eq(buf.cap, 1000);
}
END_TEST

START_TEST(a_maximum_of_zero_takes_only_nothing)
{
        struct sc_buf none;
        sc_buf_init(&none, &fail.mem, 0);
        ck_assert(sc_buf_add(&none, "", 0));
        ck_assert(!sc_buf_add(&none, "x", 1));
        sc_buf_fini(&none);
}
END_TEST

START_TEST(a_small_maximum_bounds_the_capacity_too)
{
        struct sc_buf small;
        sc_buf_init(&small, &fail.mem, 10);
        ck_assert(sc_buf_add(&small, "x", 1));
        ck_assert_uint_eq(small.cap, 10);
        sc_buf_fini(&small);
}
END_TEST

START_TEST(a_maximum_of_everything_does_not_overflow)
{
        struct sc_buf large;
        sc_buf_init(&large, &fail.mem, SIZE_MAX);
        fail.mem.budget = 1000;
        ck_assert(sc_buf_add(&large, "x", 1));
        ck_assert(!sc_buf_reserve(&large, SIZE_MAX));
        ck_assert(!sc_buf_reserve(&large, SIZE_MAX - 1));
        ck_assert_uint_eq(large.len, 1);
        sc_buf_fini(&large);
}
END_TEST

START_TEST(an_append_without_memory_changes_nothing)
{
        fill(64);
        struct sc_buf before = buf;
        fail.fail_at         = fail.asked + 1;
        ck_assert(!sc_buf_add(&buf, "0123456789", 10));
        ck_assert(fail_mem_hit(&fail));
        ck_assert_ptr_eq(buf.data, before.data);
        ck_assert_uint_eq(buf.len, 64);
        ck_assert_uint_eq(buf.cap, before.cap);
}
END_TEST

START_TEST(reserved_room_is_used_without_asking_again)
{
        ck_assert(sc_buf_reserve(&buf, 500));
        ck_assert_uint_eq(buf.len, 0);
        size_t asked = fail.asked;
        fill(500);
        ck_assert_uint_eq(fail.asked, asked);
}
END_TEST

START_TEST(a_reset_keeps_the_capacity)
{
        fill(300);
        size_t cap = buf.cap;
        sc_buf_reset(&buf);
        ck_assert_uint_eq(buf.len, 0);
        ck_assert_uint_eq(buf.cap, cap);
}
END_TEST

START_TEST(shrinking_gives_back_what_is_above)
{
        fill(500);
        sc_buf_shrink(&buf, 499); /* too small for what is in it: stays */
        ck_assert_uint_ge(buf.cap, 500);
        sc_buf_shrink(&buf, 500);
        ck_assert_uint_eq(buf.cap, 500);
        ck_assert_uint_eq(fail.bytes, 500);
        ck_assert_uint_eq(buf.data[255], 255);
        sc_buf_shrink(&buf, 900); /* already below: stays */
        ck_assert_uint_eq(buf.cap, 500);
        sc_buf_reset(&buf);
        sc_buf_shrink(&buf, 0);
        ck_assert_uint_eq(fail_mem_leaks(&fail), 0);
        ck_assert(sc_buf_add(&buf, "again", 5));
}
END_TEST

START_TEST(shrinking_that_the_allocator_refuses_keeps_the_block)
{
        fill(500);
        size_t cap   = buf.cap;
        fail.fail_at = fail.asked + 1;
        sc_buf_shrink(&buf, 500);
        ck_assert_uint_eq(buf.cap, cap);
        ck_assert_uint_eq(buf.data[255], 255);
}
END_TEST

START_TEST(dropping_the_front_moves_the_rest_there)
{
        ck_assert(sc_buf_add(&buf, "abcdef", 6));
        sc_buf_drop_front(&buf, 0);
        ck_assert_uint_eq(buf.len, 6);
        sc_buf_drop_front(&buf, 2);
        ck_assert_uint_eq(buf.len, 4);
        ck_assert_mem_eq(buf.data, "cdef", 4);
        sc_buf_drop_front(&buf, 4);
        ck_assert_uint_eq(buf.len, 0);
        sc_buf_drop_front(&buf, 0);
}
END_TEST

START_TEST(dropping_more_than_there_is_aborts)
{
        sc_buf_drop_front(&buf, 1);
}
END_TEST

START_TEST(swapped_buffers_carry_their_memory_along)
{
        struct sc_buf other;
        sc_buf_init(&other, &fail.mem, 10);
        ck_assert(sc_buf_add(&buf, "left", 4));
        ck_assert(sc_buf_add(&other, "right", 5));
        sc_buf_swap(&buf, &other);
        ck_assert_mem_eq(buf.data, "right", 5);
        ck_assert_uint_eq(buf.max, 10);
        ck_assert_mem_eq(other.data, "left", 4);
        sc_buf_fini(&other);
}
END_TEST

START_TEST(fini_accepts_zeroed_and_finished_buffers)
{
        struct sc_buf zeroed;
        memset(&zeroed, 0, sizeof zeroed);
        sc_buf_fini(&zeroed);
        fill(10);
        sc_buf_fini(&buf);
        sc_buf_fini(&buf);
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("sc_buf");
        tcase_add_checked_fixture(tests, start, finish);
        tcase_add_test(tests, an_empty_buffer_holds_no_memory);
        tcase_add_test(tests, bytes_added_one_by_one_are_all_there);
        tcase_add_test(tests, the_maximum_can_be_reached_and_not_passed);
        tcase_add_test(tests, a_maximum_of_zero_takes_only_nothing);
        tcase_add_test(tests, a_small_maximum_bounds_the_capacity_too);
        tcase_add_test(tests, a_maximum_of_everything_does_not_overflow);
        tcase_add_test(tests, an_append_without_memory_changes_nothing);
        tcase_add_test(tests, reserved_room_is_used_without_asking_again);
        tcase_add_test(tests, a_reset_keeps_the_capacity);
        tcase_add_test(tests, shrinking_gives_back_what_is_above);
        tcase_add_test(tests, shrinking_that_the_allocator_refuses_keeps_the_block);
        tcase_add_test(tests, dropping_the_front_moves_the_rest_there);
        tcase_add_test_raise_signal(tests, dropping_more_than_there_is_aborts, SIGABRT);
        tcase_add_test(tests, swapped_buffers_carry_their_memory_along);
        tcase_add_test(tests, fini_accepts_zeroed_and_finished_buffers);
        return run_tests("sc_buf", tests);
}
