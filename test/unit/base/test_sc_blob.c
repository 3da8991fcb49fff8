/*
 * Counted bytes: one allocation each, released once, by whoever lets go last.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>

#include "fail_mem.h"
#include "run_tests.h"
#include "sc_blob.h"

static struct fail_mem fail;

static void start(void)
{
        fail_mem_init(&fail, 0);
}

static void finish(void)
{
        ck_assert_uint_eq(fail_mem_leaks(&fail), 0);
}

START_TEST(null_stands_for_no_bytes)
{
        ck_assert_uint_eq(sc_blob_size(NULL), 0);
        ck_assert_str_eq(sc_blob_data(NULL), "");
        ck_assert_uint_eq(sc_blob_footprint(NULL), 0);
        ck_assert_ptr_null(sc_blob_ref(NULL));
        sc_blob_unref(NULL);
}
END_TEST

START_TEST(bytes_filled_in_place_are_what_readers_see)
{
        void           *data;
        struct sc_blob *blob = sc_blob_alloc(&fail.mem, 5, &data);
        memcpy(data, "hello", 5);
        ck_assert_uint_eq(fail.asked, 1); /* header and bytes in one */
        ck_assert_uint_eq(sc_blob_size(blob), 5);
        ck_assert_ptr_eq(sc_blob_data(blob), data);
        ck_assert_uint_eq((uintptr_t)data % _Alignof(max_align_t), 0);
        sc_blob_unref(blob);
}
END_TEST

START_TEST(a_copy_does_not_follow_its_source)
{
        char            source[] = "before";
        struct sc_blob *blob     = sc_blob_copy(&fail.mem, source, 6);
        memset(source, 'x', 6);
        ck_assert_uint_eq(fail.asked, 1);
        ck_assert_mem_eq(sc_blob_data(blob), "before", 6);
        sc_blob_unref(blob);
}
END_TEST

START_TEST(an_empty_blob_has_readable_data)
{
        struct sc_blob *blob = sc_blob_copy(&fail.mem, NULL, 0);
        ck_assert_ptr_nonnull(sc_blob_data(blob));
        ck_assert_uint_eq(sc_blob_size(blob), 0);
        sc_blob_unref(blob);
}
END_TEST

START_TEST(the_footprint_is_what_the_budget_pays)
{
        struct sc_blob *blob = sc_blob_copy(&fail.mem, "0123456789", 10);
        ck_assert_uint_eq(sc_blob_footprint(blob), fail.bytes);
        sc_blob_unref(blob);
}
END_TEST

START_TEST(a_size_that_overflows_is_refused)
{
        void *data = &fail;
        ck_assert_ptr_null(sc_blob_alloc(&fail.mem, SIZE_MAX, &data));
        ck_assert_ptr_eq(data, &fail); /* written only on success */
        ck_assert_uint_eq(fail.asked, 0);
}
END_TEST

static void count_release(void *ctx, void *data, size_t size)
{
        ck_assert_str_eq(data, "lent");
        ck_assert_uint_eq(size, 4);
        ++*(int *)ctx;
}

START_TEST(wrapped_bytes_are_released_once_with_the_last_reference)
{
        char            lent[]   = "lent";
        int             released = 0;
        struct sc_blob *blob     = sc_blob_wrap(&fail.mem, lent, 4, count_release, &released);
        ck_assert_ptr_eq(sc_blob_data(blob), lent);
        ck_assert_uint_eq(sc_blob_footprint(blob), fail.bytes + 4);
        ck_assert_ptr_eq(sc_blob_ref(blob), blob);
        sc_blob_unref(blob);
        ck_assert_int_eq(released, 0);
        sc_blob_unref(blob);
        ck_assert_int_eq(released, 1);
}
END_TEST

START_TEST(bytes_wrapped_without_a_release_outlive_the_blob)
{
        char            lent[] = "lent";
        struct sc_blob *blob   = sc_blob_wrap(&fail.mem, lent, 4, NULL, NULL);
        sc_blob_unref(blob);
        ck_assert_str_eq(lent, "lent");
}
END_TEST

START_TEST(a_wrap_without_memory_leaves_the_bytes_with_the_caller)
{
        char lent[]   = "lent";
        int  released = 0;
        fail_mem_init(&fail, 1);
        ck_assert_ptr_null(sc_blob_wrap(&fail.mem, lent, 4, count_release, &released));
        ck_assert_int_eq(released, 0);
        fail_mem_init(&fail, 1);
        ck_assert_ptr_null(sc_blob_copy(&fail.mem, lent, 4));
}
END_TEST

#define THREADS 4

static void *share(void *arg)
{
        struct sc_blob *blob = arg;
        for (int i = 0; i < 20000; i++)
                sc_blob_unref(sc_blob_ref(blob));
        sc_blob_unref(blob);
        return NULL;
}

START_TEST(threads_share_a_blob_and_the_last_one_frees_it)
{
        struct sc_mem mem;
        sc_mem_init_libc(&mem);
        struct sc_blob *blob = sc_blob_copy(&mem, "shared", 6);
        pthread_t       thread[THREADS];
        for (int i = 0; i < THREADS; i++)
                ck_assert_int_eq(pthread_create(&thread[i], NULL, share, sc_blob_ref(blob)), 0);
        sc_blob_unref(blob);
        for (int i = 0; i < THREADS; i++)
                pthread_join(thread[i], NULL);
        ck_assert_uint_eq(atomic_load(&mem.used), 0);
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("sc_blob");
        tcase_add_checked_fixture(tests, start, finish);
        tcase_add_test(tests, null_stands_for_no_bytes);
        tcase_add_test(tests, bytes_filled_in_place_are_what_readers_see);
        tcase_add_test(tests, a_copy_does_not_follow_its_source);
        tcase_add_test(tests, an_empty_blob_has_readable_data);
        tcase_add_test(tests, the_footprint_is_what_the_budget_pays);
        tcase_add_test(tests, a_size_that_overflows_is_refused);
        tcase_add_test(tests, wrapped_bytes_are_released_once_with_the_last_reference);
        tcase_add_test(tests, bytes_wrapped_without_a_release_outlive_the_blob);
        tcase_add_test(tests, a_wrap_without_memory_leaves_the_bytes_with_the_caller);
        tcase_add_test(tests, threads_share_a_blob_and_the_last_one_frees_it);
        return run_tests("sc_blob", tests);
}
