/*
 * The heap against a naive model: an unordered array that is searched for its least item.
 */
#include <signal.h>
#include <stdint.h>
#include <string.h>

#include "fail_mem.h"
#include "run_tests.h"
#include "sc_heap.h"
#include "sc_rng.h"

struct item {
        uint64_t key;
        size_t   position;
};

static struct fail_mem fail;
static struct sc_heap  heap;

static bool before(const void *a, const void *b)
{
        return ((const struct item *)a)->key < ((const struct item *)b)->key;
}

static void moved(void *item, size_t position)
{
        ((struct item *)item)->position = position;
}

static void start(void)
{
        fail_mem_init(&fail, 0);
        sc_heap_init(&heap, &fail.mem, before, moved);
}

static void finish(void)
{
        sc_heap_fini(&heap);
        ck_assert_uint_eq(fail_mem_leaks(&fail), 0);
}

START_TEST(an_empty_heap_has_no_top)
{
        ck_assert_ptr_null(sc_heap_top(&heap));
        ck_assert_ptr_null(sc_heap_pop(&heap));
        ck_assert_uint_eq(fail.asked, 0);
}
END_TEST

START_TEST(items_come_out_in_order)
{
        struct item item[100];
        ck_assert(sc_heap_reserve(&heap, 100));
        for (size_t i = 0; i < 100; i++) {
                item[i].key = i * 37 % 100;
                sc_heap_push(&heap, &item[i]);
        }
        for (uint64_t key = 0; key < 100; key++) {
                struct item *top = sc_heap_top(&heap);
                ck_assert_uint_eq(top->key, key);
                ck_assert_uint_eq(top->position, 0);
                ck_assert_ptr_eq(sc_heap_pop(&heap), top);
                ck_assert_uint_eq(top->position, SC_HEAP_NOWHERE);
        }
        ck_assert_uint_eq(heap.len, 0);
}
END_TEST

START_TEST(reserving_one_more_each_time_asks_the_allocator_rarely)
{
        for (size_t total = 1; total <= 10000; total++)
                ck_assert(sc_heap_reserve(&heap, total));
        ck_assert_uint_le(fail.asked, 12);
}
END_TEST

START_TEST(a_reserve_without_memory_keeps_what_is_there)
{
        struct item one = { .key = 1 };
        ck_assert(sc_heap_reserve(&heap, 1));
        sc_heap_push(&heap, &one);
        fail.fail_at = fail.asked + 1;
        ck_assert(!sc_heap_reserve(&heap, heap.cap + 1));
        ck_assert(fail_mem_hit(&fail));
        ck_assert_ptr_eq(sc_heap_pop(&heap), &one);
}
END_TEST

START_TEST(a_reserve_whose_size_overflows_is_refused)
{
        ck_assert(!sc_heap_reserve(&heap, SIZE_MAX));
        ck_assert(!sc_heap_reserve(&heap, SIZE_MAX / sizeof(void *)));
        ck_assert_uint_eq(fail.asked, 0);
}
END_TEST

START_TEST(a_push_without_room_aborts)
{
        struct item item[64] = { { .key = 0 } };
        ck_assert(sc_heap_reserve(&heap, 1));
        for (size_t i = 0; i < 64; i++)
                sc_heap_push(&heap, &item[i]);
}
END_TEST

START_TEST(removing_where_nothing_is_aborts)
{
        sc_heap_remove(&heap, 0);
}
END_TEST

START_TEST(fixing_where_nothing_is_aborts)
{
        ck_assert(sc_heap_reserve(&heap, 1));
        sc_heap_fix(&heap, 0);
}
END_TEST

START_TEST(fini_accepts_zeroed_and_finished_heaps)
{
        struct sc_heap zeroed;
        memset(&zeroed, 0, sizeof zeroed);
        sc_heap_fini(&zeroed);
        ck_assert(sc_heap_reserve(&heap, 3));
        sc_heap_fini(&heap);
        sc_heap_fini(&heap);
}
END_TEST

#define ITEMS 200

struct model {
        struct item   item[ITEMS];
        struct item  *in[ITEMS]; /* in the heap, in any order */
        size_t        len;
        struct sc_rng rng;
};

static uint64_t least(const struct model *model)
{
        uint64_t key = UINT64_MAX;
        for (size_t i = 0; i < model->len; i++)
                key = model->in[i]->key < key ? model->in[i]->key : key;
        return key;
}

static void forget(struct model *model, const struct item *item)
{
        for (size_t i = 0; i < model->len; i++) {
                if (model->in[i] == item) {
                        model->in[i] = model->in[--model->len];
                        return;
                }
        }
        ck_abort_msg("the heap gave an item that is not in it");
}

static bool agree(const struct model *model)
{
        for (size_t i = 0; i < model->len; i++) {
                size_t position = model->in[i]->position;
                if (position >= heap.len || heap.at[position] != model->in[i])
                        return false;
        }
        const struct item *top = sc_heap_top(&heap);
        return heap.len == model->len && (model->len > 0 ? top->key == least(model) : !top);
}

/* Keys repeat, so that ties are common. */
static void push_one(struct model *model)
{
        struct item *item = &model->item[sc_rng_below(&model->rng, ITEMS)];
        if (item->position != SC_HEAP_NOWHERE)
                return;
        item->key = sc_rng_below(&model->rng, 50);
        ck_assert(sc_heap_reserve(&heap, heap.len + 1));
        sc_heap_push(&heap, item);
        model->in[model->len++] = item;
}

static void move(struct model *model)
{
        struct item *any = model->len > 0 ? model->in[sc_rng_below(&model->rng, model->len)] : NULL;
        switch (any ? sc_rng_below(&model->rng, 6) : 0) {
        case 3:
                any = sc_heap_pop(&heap);
                ck_assert_uint_eq(any->key, least(model));
                forget(model, any);
                break;
        case 4:
                sc_heap_remove(&heap, any->position);
                ck_assert_uint_eq(any->position, SC_HEAP_NOWHERE);
                forget(model, any);
                break;
        case 5:
                any->key = sc_rng_below(&model->rng, 50);
                sc_heap_fix(&heap, any->position);
                break;
        default:
                push_one(model);
                break;
        }
}

START_TEST(random_moves_agree_with_a_naive_model)
{
        struct model model = { .rng = { .state = (uint64_t)_i } };
        for (size_t i = 0; i < ITEMS; i++)
                model.item[i].position = SC_HEAP_NOWHERE;
        for (int round = 0; round < 5000; round++) {
                move(&model);
                ck_assert(agree(&model));
        }
        uint64_t last = 0;
        while (model.len > 0) {
                struct item *item = sc_heap_pop(&heap);
                ck_assert_uint_ge(item->key, last);
                last = item->key;
                forget(&model, item);
        }
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("sc_heap");
        tcase_add_checked_fixture(tests, start, finish);
        tcase_add_test(tests, an_empty_heap_has_no_top);
        tcase_add_test(tests, items_come_out_in_order);
        tcase_add_test(tests, reserving_one_more_each_time_asks_the_allocator_rarely);
        tcase_add_test(tests, a_reserve_without_memory_keeps_what_is_there);
        tcase_add_test(tests, a_reserve_whose_size_overflows_is_refused);
        tcase_add_test_raise_signal(tests, a_push_without_room_aborts, SIGABRT);
        tcase_add_test_raise_signal(tests, removing_where_nothing_is_aborts, SIGABRT);
        tcase_add_test_raise_signal(tests, fixing_where_nothing_is_aborts, SIGABRT);
        tcase_add_test(tests, fini_accepts_zeroed_and_finished_heaps);
        tcase_add_loop_test(tests, random_moves_agree_with_a_naive_model, 0, 8);
        return run_tests("sc_heap", tests);
}
