/*
 * The map against a naive model: an array indexed by the key's number.
 */
#include <signal.h>
#include <stdint.h>
#include <string.h>

#include "fail_mem.h"
#include "run_tests.h"
#include "sc_map.h"
#include "sc_rng.h"

static struct fail_mem fail;
static struct sc_map   map;
static int             value[1000]; /* their addresses are the values */

static void start(void)
{
        fail_mem_init(&fail, 0);
        sc_map_init(&map, &fail.mem);
}

static void finish(void)
{
        sc_map_fini(&map);
        ck_assert_uint_eq(fail_mem_leaks(&fail), 0);
}

static struct sc_id id(uint64_t lo)
{
        return (struct sc_id){ .hi = 42, .lo = lo };
}

START_TEST(an_empty_map_knows_nothing_and_holds_no_memory)
{
        size_t cursor = 0;
        ck_assert_ptr_null(sc_map_get(&map, id(1)));
        ck_assert_ptr_null(sc_map_remove(&map, id(1)));
        ck_assert_ptr_null(sc_map_each(&map, &cursor));
        ck_assert(sc_map_reserve(&map, 0));
        ck_assert_uint_eq(fail.asked, 0);
}
END_TEST

START_TEST(what_was_put_is_found_and_removed_once)
{
        ck_assert(sc_map_reserve(&map, 1));
        sc_map_put(&map, id(7), &value[7]);
        ck_assert_ptr_eq(sc_map_get(&map, id(7)), &value[7]);
        ck_assert_ptr_null(sc_map_get(&map, id(8)));
        ck_assert_ptr_eq(sc_map_remove(&map, id(7)), &value[7]);
        ck_assert_ptr_null(sc_map_remove(&map, id(7)));
        ck_assert_uint_eq(map.len, 0);
}
END_TEST

START_TEST(both_halves_of_the_key_count)
{
        struct sc_id a = { .hi = 1, .lo = 2 }, b = { .hi = 2, .lo = 1 }, nil = { .hi = 0, .lo = 0 };
        ck_assert(sc_map_reserve(&map, 3));
        sc_map_put(&map, a, &value[0]);
        sc_map_put(&map, b, &value[1]);
        sc_map_put(&map, nil, &value[2]);
        ck_assert_ptr_eq(sc_map_get(&map, a), &value[0]);
        ck_assert_ptr_eq(sc_map_get(&map, b), &value[1]);
        ck_assert_ptr_eq(sc_map_get(&map, nil), &value[2]);
}
END_TEST

START_TEST(keys_that_share_their_low_half_are_told_apart)
{
        ck_assert(sc_map_reserve(&map, 12));
        for (uint64_t hi = 0; hi < 12; hi++)
                sc_map_put(&map, (struct sc_id){ .hi = hi, .lo = 1 }, &value[hi]);
        for (uint64_t hi = 0; hi < 12; hi++)
                ck_assert_ptr_eq(sc_map_get(&map, (struct sc_id){ .hi = hi, .lo = 1 }), &value[hi]);
}
END_TEST

START_TEST(exactly_the_reserved_number_fits)
{
        for (size_t total = 1; total <= 200; total++) {
                struct sc_map one;
                sc_map_init(&one, &fail.mem);
                ck_assert(sc_map_reserve(&one, total));
                for (uint64_t i = 0; i < total; i++)
                        sc_map_put(&one, id(i), &value[i]);
                ck_assert_uint_le(one.len * 4, one.cap * 3);
                sc_map_fini(&one);
        }
}
END_TEST

START_TEST(a_put_beyond_the_room_aborts)
{
        ck_assert(sc_map_reserve(&map, 1));
        for (uint64_t i = 0; i < 16; i++)
                sc_map_put(&map, id(i), &value[i]);
}
END_TEST

START_TEST(putting_a_key_twice_aborts)
{
        ck_assert(sc_map_reserve(&map, 2));
        sc_map_put(&map, id(1), &value[1]);
        sc_map_put(&map, id(1), &value[2]);
}
END_TEST

START_TEST(putting_null_aborts)
{
        ck_assert(sc_map_reserve(&map, 1));
        sc_map_put(&map, id(1), NULL);
}
END_TEST

START_TEST(a_reserve_without_memory_keeps_what_is_there)
{
        ck_assert(sc_map_reserve(&map, 12));
        for (uint64_t i = 0; i < 12; i++)
                sc_map_put(&map, id(i), &value[i]);
        fail.fail_at = fail.asked + 1;
        ck_assert(!sc_map_reserve(&map, 13));
        ck_assert(fail_mem_hit(&fail));
        for (uint64_t i = 0; i < 12; i++)
                ck_assert_ptr_eq(sc_map_get(&map, id(i)), &value[i]);
}
END_TEST

START_TEST(a_reserve_whose_size_overflows_is_refused)
{
        ck_assert(!sc_map_reserve(&map, SIZE_MAX));
        ck_assert(!sc_map_reserve(&map, SIZE_MAX / sizeof(struct sc_map_slot)));
        ck_assert_uint_eq(fail.asked, 0);
}
END_TEST

/* The next lo at or after `from` whose home slot is `home` in a map of 16. */
static uint64_t at_home(uint64_t home, uint64_t from)
{
        while ((sc_id_hash(id(from)) & 15) != home)
                from++;
        return from;
}

START_TEST(keys_that_collide_over_the_end_survive_each_others_removal)
{
        uint64_t lo[6];
        for (size_t i = 0; i < 6; i++)
                lo[i] = at_home(i == 3 ? 0 : i == 5 ? 15 : 14, i > 0 ? lo[i - 1] + 1 : 0);
        for (size_t gone = 0; gone < 6; gone++) {
                ck_assert(sc_map_reserve(&map, 6));
                ck_assert_uint_eq(map.cap, 16);
                for (size_t i = 0; i < 6; i++)
                        sc_map_put(&map, id(lo[i]), &value[i]);
                ck_assert_ptr_eq(sc_map_remove(&map, id(lo[gone])), &value[gone]);
                for (size_t i = 0; i < 6; i++)
                        ck_assert_ptr_eq(sc_map_get(&map, id(lo[i])), i == gone ? NULL : &value[i]);
                sc_map_fini(&map);
                sc_map_init(&map, &fail.mem);
        }
}
END_TEST

START_TEST(the_same_history_gives_the_same_order)
{
        struct sc_map twin;
        sc_map_init(&twin, &fail.mem);
        for (uint64_t i = 0; i < 500; i++) {
                ck_assert(sc_map_reserve(&map, map.len + 1) && sc_map_reserve(&twin, twin.len + 1));
                sc_map_put(&map, id(i * i), &value[i]);
                sc_map_put(&twin, id(i * i), &value[i]);
                if (i % 3 == 2)
                        ck_assert_ptr_eq(sc_map_remove(&map, id(i * i / 4)), sc_map_remove(&twin, id(i * i / 4)));
        }
        size_t a = 0, b = 0;
        void  *each;
        do {
                each = sc_map_each(&map, &a);
                ck_assert_ptr_eq(each, sc_map_each(&twin, &b));
        } while (each);
        sc_map_fini(&twin);
}
END_TEST

static bool agree(const bool *in, size_t keys, size_t len)
{
        bool   seen[1000] = { false };
        size_t cursor     = 0;
        int   *each;
        while ((each = sc_map_each(&map, &cursor))) {
                size_t number = (size_t)(each - value);
                if (!in[number] || seen[number])
                        return false;
                seen[number] = true;
        }
        for (size_t i = 0; i < keys; i++) {
                if (seen[i] != in[i] || sc_map_get(&map, id(i)) != (in[i] ? &value[i] : NULL))
                        return false;
        }
        return map.len == len;
}

START_TEST(random_moves_agree_with_a_naive_model)
{
        struct sc_rng rng      = { .state = (uint64_t)_i };
        size_t        keys     = _i % 2 ? 1000 : 12; /* growing often, or a small map kept full */
        bool          in[1000] = { false };
        size_t        len      = 0;
        for (int round = 0; round < 20000; round++) {
                size_t number = (size_t)sc_rng_below(&rng, keys);
                if (in[number]) {
                        ck_assert_ptr_eq(sc_map_remove(&map, id(number)), &value[number]);
                        len--;
                } else {
                        ck_assert(sc_map_reserve(&map, map.len + 1));
                        sc_map_put(&map, id(number), &value[number]);
                        len++;
                }
                in[number] = !in[number];
                if (round % 100 == 0 || keys < 20)
                        ck_assert(agree(in, keys, len));
        }
}
END_TEST

START_TEST(fini_accepts_zeroed_and_finished_maps)
{
        struct sc_map zeroed;
        memset(&zeroed, 0, sizeof zeroed);
        sc_map_fini(&zeroed);
        ck_assert(sc_map_reserve(&map, 3));
        sc_map_fini(&map);
        sc_map_fini(&map);
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("sc_map");
        tcase_add_checked_fixture(tests, start, finish);
        tcase_add_test(tests, an_empty_map_knows_nothing_and_holds_no_memory);
        tcase_add_test(tests, what_was_put_is_found_and_removed_once);
        tcase_add_test(tests, both_halves_of_the_key_count);
        tcase_add_test(tests, keys_that_share_their_low_half_are_told_apart);
        tcase_add_test(tests, exactly_the_reserved_number_fits);
        tcase_add_test_raise_signal(tests, a_put_beyond_the_room_aborts, SIGABRT);
        tcase_add_test_raise_signal(tests, putting_a_key_twice_aborts, SIGABRT);
        tcase_add_test_raise_signal(tests, putting_null_aborts, SIGABRT);
        tcase_add_test(tests, a_reserve_without_memory_keeps_what_is_there);
        tcase_add_test(tests, a_reserve_whose_size_overflows_is_refused);
        tcase_add_test(tests, keys_that_collide_over_the_end_survive_each_others_removal);
        tcase_add_test(tests, the_same_history_gives_the_same_order);
        tcase_add_loop_test(tests, random_moves_agree_with_a_naive_model, 0, 8);
        tcase_add_test(tests, fini_accepts_zeroed_and_finished_maps);
        return run_tests("sc_map", tests);
}
