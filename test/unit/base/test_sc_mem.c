/*
 * The allocator handle: what is counted, what the budget refuses, and that a refusal changes
 * nothing, also when several threads ask at once.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>

#include "fail_mem.h"
#include "run_tests.h"
#include "sc_mem.h"
#include "sc_rng.h"

static struct fail_mem fail;

static size_t used(void)
{
        return atomic_load(&fail.mem.used);
}

static void start(void)
{
        fail_mem_init(&fail, 0);
}

START_TEST(what_callers_asked_for_is_counted)
{
        void *a = sc_mem_alloc(&fail.mem, 100);
        void *b = sc_mem_alloc(&fail.mem, 1);
        ck_assert_uint_eq(used(), 101);
        sc_mem_release(&fail.mem, a, 100);
        ck_assert_uint_eq(used(), 1);
        sc_mem_release(&fail.mem, b, 1);
        ck_assert_uint_eq(used(), 0);
        ck_assert_uint_eq(fail_mem_leaks(&fail), 0);
}
END_TEST

START_TEST(size_zero_is_null_and_asks_nobody)
{
        ck_assert_ptr_null(sc_mem_alloc(&fail.mem, 0));
        ck_assert_ptr_null(sc_mem_zalloc(&fail.mem, 0));
        ck_assert_ptr_null(sc_mem_array(&fail.mem, 0, 8));
        ck_assert_ptr_null(sc_mem_array(&fail.mem, 8, 0));
        ck_assert_ptr_null(sc_mem_resize(&fail.mem, NULL, 0, 0));
        ck_assert_uint_eq(fail.asked, 0);
}
END_TEST

START_TEST(releasing_null_does_nothing)
{
        sc_mem_release(&fail.mem, NULL, 0);
        sc_mem_release(&fail.mem, NULL, 77);
        ck_assert_uint_eq(used(), 0);
}
END_TEST

START_TEST(the_last_byte_of_the_budget_can_be_had_and_no_more)
{
        fail.mem.budget = 100;
        void *a         = sc_mem_alloc(&fail.mem, 99);
        ck_assert_ptr_null(sc_mem_alloc(&fail.mem, 2));
        ck_assert_uint_eq(used(), 99);
        void *b = sc_mem_alloc(&fail.mem, 1);
        ck_assert_ptr_nonnull(b);
        ck_assert_ptr_null(sc_mem_alloc(&fail.mem, 1));
        ck_assert_ptr_null(sc_mem_alloc(&fail.mem, SIZE_MAX));
        ck_assert_uint_eq(used(), 100);
        sc_mem_release(&fail.mem, a, 99);
        sc_mem_release(&fail.mem, b, 1);
}
END_TEST

START_TEST(a_budget_lowered_below_what_is_used_refuses_until_it_fits)
{
        void *a         = sc_mem_alloc(&fail.mem, 100);
        fail.mem.budget = 50;
        ck_assert_ptr_null(sc_mem_alloc(&fail.mem, 1));
        sc_mem_release(&fail.mem, a, 100);
        a = sc_mem_alloc(&fail.mem, 50);
        ck_assert_ptr_nonnull(a);
        sc_mem_release(&fail.mem, a, 50);
}
END_TEST

START_TEST(a_refusal_of_the_allocator_costs_nothing)
{
        fail_mem_init(&fail, 1);
        ck_assert_ptr_null(sc_mem_alloc(&fail.mem, 10));
        ck_assert(fail_mem_hit(&fail));
        ck_assert_uint_eq(used(), 0);

        fail_mem_init(&fail, 1);
        ck_assert_ptr_null(sc_mem_zalloc(&fail.mem, 10));
        ck_assert_uint_eq(used(), 0);

        fail_mem_init(&fail, 1);
        ck_assert_ptr_null(sc_mem_text(&fail.mem, "x", 1));
        ck_assert_uint_eq(used(), 0);
}
END_TEST

START_TEST(zeroed_memory_is_zero)
{
        char *a = sc_mem_zalloc(&fail.mem, 1000);
        for (size_t i = 0; i < 1000; i++)
                ck_assert_int_eq(a[i], 0);
        sc_mem_release(&fail.mem, a, 1000);
}
END_TEST

START_TEST(resizing_keeps_the_bytes_and_counts_the_difference)
{
        char *a = sc_mem_resize(&fail.mem, NULL, 0, 4);
        memcpy(a, "abcd", 4);
        a = sc_mem_resize(&fail.mem, a, 4, 400);
        ck_assert_uint_eq(used(), 400);
        ck_assert_mem_eq(a, "abcd", 4);
        a = sc_mem_resize(&fail.mem, a, 400, 2);
        ck_assert_uint_eq(used(), 2);
        ck_assert_mem_eq(a, "ab", 2);
        ck_assert_ptr_null(sc_mem_resize(&fail.mem, a, 2, 0));
        ck_assert_uint_eq(used(), 0);
        ck_assert_uint_eq(fail_mem_leaks(&fail), 0);
}
END_TEST

START_TEST(a_refused_resize_leaves_block_and_count)
{
        for (int larger = 0; larger < 2; larger++) {
                fail_mem_init(&fail, 2);
                char *a = sc_mem_alloc(&fail.mem, 8);
                memcpy(a, "12345678", 8);
                ck_assert_ptr_null(sc_mem_resize(&fail.mem, a, 8, larger ? 9 : 7));
                ck_assert_uint_eq(used(), 8);
                ck_assert_mem_eq(a, "12345678", 8);
                sc_mem_release(&fail.mem, a, 8);
        }
}
END_TEST

START_TEST(a_resize_may_fill_the_budget_and_not_pass_it)
{
        fail.mem.budget = 10;
        void *a         = sc_mem_alloc(&fail.mem, 4);
        ck_assert_ptr_null(sc_mem_resize(&fail.mem, a, 4, 11));
        ck_assert_uint_eq(used(), 4);
        a = sc_mem_resize(&fail.mem, a, 4, 10);
        ck_assert_ptr_nonnull(a);
        sc_mem_release(&fail.mem, a, 10);
}
END_TEST

START_TEST(an_array_whose_size_overflows_is_refused)
{
        ck_assert_ptr_null(sc_mem_array(&fail.mem, SIZE_MAX / 8 + 1, 8));
        ck_assert_ptr_null(sc_mem_array(&fail.mem, SIZE_MAX, SIZE_MAX));
        ck_assert_uint_eq(fail.asked, 0);
        void *a = sc_mem_array(&fail.mem, 3, 8);
        ck_assert_uint_eq(used(), 24);
        sc_mem_release(&fail.mem, a, 24);
}
END_TEST

START_TEST(a_text_is_copied_and_terminated)
{
        char *a = sc_mem_text(&fail.mem, "hello world", 5);
        ck_assert_str_eq(a, "hello");
        ck_assert_uint_eq(used(), 6);
        sc_mem_release(&fail.mem, a, 6);
        a = sc_mem_text(&fail.mem, NULL, 0);
        ck_assert_str_eq(a, "");
        sc_mem_release(&fail.mem, a, 1);
        ck_assert_ptr_null(sc_mem_text(&fail.mem, "x", SIZE_MAX));
}
END_TEST

START_TEST(releasing_more_than_is_used_aborts)
{
        struct sc_mem mem;
        sc_mem_init_libc(&mem);
        void *a = sc_mem_alloc(&mem, 8);
        sc_mem_release(&mem, a, 9);
}
END_TEST

#define THREADS 4
#define BLOCKS  16
#define ROUNDS  20000

struct user {
        struct sc_mem *mem;
        uint64_t       seed;
        size_t         passed_budget, refused;
};

static void *use(void *arg)
{
        struct user  *user          = arg;
        struct sc_rng rng           = { .state = user->seed };
        void         *block[BLOCKS] = { NULL };
        size_t        size[BLOCKS]  = { 0 };
        for (int round = 0; round < ROUNDS; round++) {
                size_t i    = (size_t)sc_rng_below(&rng, BLOCKS);
                size_t want = 1 + (size_t)sc_rng_below(&rng, 100);
                void  *next = sc_mem_resize(user->mem, block[i], size[i], want);
                if (next) {
                        block[i] = next;
                        size[i]  = want;
                } else {
                        user->refused++;
                        sc_mem_release(user->mem, block[i], size[i]);
                        block[i] = NULL;
                        size[i]  = 0;
                }
                user->passed_budget += atomic_load(&user->mem->used) > user->mem->budget;
        }
        for (size_t i = 0; i < BLOCKS; i++)
                sc_mem_release(user->mem, block[i], size[i]);
        return NULL;
}

START_TEST(threads_together_never_pass_the_budget_and_end_at_zero)
{
        struct sc_mem mem;
        sc_mem_init_libc(&mem);
        mem.budget = BLOCKS * 40; /* less than even one thread would like */
        struct user user[THREADS];
        pthread_t   thread[THREADS];
        for (size_t i = 0; i < THREADS; i++) {
                user[i] = (struct user){ .mem = &mem, .seed = i };
                ck_assert_int_eq(pthread_create(&thread[i], NULL, use, &user[i]), 0);
        }
        size_t refused = 0;
        for (size_t i = 0; i < THREADS; i++) {
                pthread_join(thread[i], NULL);
                ck_assert_uint_eq(user[i].passed_budget, 0);
                refused += user[i].refused;
        }
        ck_assert_uint_gt(refused, 0);
        ck_assert_uint_eq(atomic_load(&mem.used), 0);
}
END_TEST

START_TEST(how_much_of_a_budget_is_in_use_is_told_by_eighths)
{
        fail.mem.budget = 800;
        void *a         = sc_mem_alloc(&fail.mem, 600);
        ck_assert(!sc_mem_beyond(&fail.mem, SC_MEM_ASKED, 0));
        ck_assert(sc_mem_beyond(&fail.mem, SC_MEM_ASKED, 1));
        ck_assert(!sc_mem_beyond(&fail.mem, SC_MEM_BEGUN, 100));
        ck_assert(sc_mem_beyond(&fail.mem, SC_MEM_BEGUN, 101));
        ck_assert(sc_mem_beyond(&fail.mem, SC_MEM_BEGUN, SIZE_MAX));
        ck_assert(sc_mem_has(&fail.mem, 200));
        ck_assert(!sc_mem_has(&fail.mem, 201));
        fail.mem.budget = 599;
        ck_assert(sc_mem_beyond(&fail.mem, 8, 0));
        ck_assert(!sc_mem_has(&fail.mem, 0));
        fail.mem.budget = SIZE_MAX;
        ck_assert(!sc_mem_beyond(&fail.mem, 1, SIZE_MAX));
        sc_mem_release(&fail.mem, a, 600);
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("sc_mem");
        tcase_add_checked_fixture(tests, start, NULL);
        tcase_add_test(tests, what_callers_asked_for_is_counted);
        tcase_add_test(tests, size_zero_is_null_and_asks_nobody);
        tcase_add_test(tests, releasing_null_does_nothing);
        tcase_add_test(tests, the_last_byte_of_the_budget_can_be_had_and_no_more);
        tcase_add_test(tests, a_budget_lowered_below_what_is_used_refuses_until_it_fits);
        tcase_add_test(tests, a_refusal_of_the_allocator_costs_nothing);
        tcase_add_test(tests, zeroed_memory_is_zero);
        tcase_add_test(tests, resizing_keeps_the_bytes_and_counts_the_difference);
        tcase_add_test(tests, a_refused_resize_leaves_block_and_count);
        tcase_add_test(tests, a_resize_may_fill_the_budget_and_not_pass_it);
        tcase_add_test(tests, an_array_whose_size_overflows_is_refused);
        tcase_add_test(tests, a_text_is_copied_and_terminated);
        tcase_add_test_raise_signal(tests, releasing_more_than_is_used_aborts, SIGABRT);
        tcase_add_test(tests, threads_together_never_pass_the_budget_and_end_at_zero);
        tcase_add_test(tests, how_much_of_a_budget_is_in_use_is_told_by_eighths);
        return run_tests("sc_mem", tests);
}
