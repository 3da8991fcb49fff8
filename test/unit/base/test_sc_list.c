/*
 * The intrusive list: order, removal from anywhere, and splicing.
 */
#include <string.h>

#include "run_tests.h"
#include "sc_list.h"

struct letter {
        char           name;
        struct sc_list link;
};

static struct sc_list head;
static struct letter  letter[5];

static void start(void)
{
        sc_list_init(&head);
        for (size_t i = 0; i < 5; i++) {
                letter[i].name = (char)('a' + i);
                sc_list_init(&letter[i].link);
        }
}

/* The names forwards; asserts that backwards they are the same. */
static const char *names(const struct sc_list *list)
{
        static char text[16];
        size_t      len = 0;
        for (struct sc_list *node = list->next; node != list; node = node->next) {
                ck_assert_ptr_eq(node->next->prev, node);
                ck_assert_ptr_eq(node->prev->next, node);
                text[len++] = SC_CONTAINER(node, struct letter, link)->name;
        }
        text[len] = '\0';
        return text;
}

START_TEST(a_new_list_is_empty)
{
        ck_assert(sc_list_empty(&head));
        ck_assert_ptr_null(sc_list_take(&head));
}
END_TEST

START_TEST(tail_and_head_are_the_two_ends)
{
        sc_list_add_tail(&head, &letter[1].link);
        sc_list_add_tail(&head, &letter[2].link);
        sc_list_add_head(&head, &letter[0].link);
        sc_list_add_after(&letter[1].link, &letter[4].link);
        ck_assert_str_eq(names(&head), "abec");
        ck_assert(!sc_list_empty(&head));
}
END_TEST

START_TEST(a_node_leaves_from_anywhere_and_leaving_twice_is_harmless)
{
        for (size_t i = 0; i < 5; i++)
                sc_list_add_tail(&head, &letter[i].link);
        sc_list_remove(&letter[2].link);
        ck_assert_str_eq(names(&head), "abde");
        sc_list_remove(&letter[0].link);
        sc_list_remove(&letter[4].link);
        sc_list_remove(&letter[4].link);
        ck_assert_str_eq(names(&head), "bd");
        ck_assert(sc_list_empty(&letter[4].link));
}
END_TEST

START_TEST(taking_gives_the_first_until_none_is_left)
{
        for (size_t i = 0; i < 5; i++)
                sc_list_add_tail(&head, &letter[i].link);
        for (size_t i = 0; i < 5; i++) {
                ck_assert_ptr_eq(sc_list_take(&head), &letter[i].link);
                ck_assert(sc_list_empty(&letter[i].link));
        }
        ck_assert_ptr_null(sc_list_take(&head));
}
END_TEST

START_TEST(splicing_moves_everything_to_the_tail)
{
        struct sc_list other;
        sc_list_init(&other);
        sc_list_splice(&head, &other);
        ck_assert_str_eq(names(&head), "");
        sc_list_add_tail(&other, &letter[0].link);
        sc_list_splice(&head, &other);
        ck_assert_str_eq(names(&head), "a");
        sc_list_add_tail(&other, &letter[1].link);
        sc_list_add_tail(&other, &letter[2].link);
        sc_list_splice(&head, &other);
        ck_assert_str_eq(names(&head), "abc");
        ck_assert(sc_list_empty(&other));
        sc_list_splice(&head, &other);
        ck_assert_str_eq(names(&head), "abc");
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("sc_list");
        tcase_add_checked_fixture(tests, start, NULL);
        tcase_add_test(tests, a_new_list_is_empty);
        tcase_add_test(tests, tail_and_head_are_the_two_ends);
        tcase_add_test(tests, a_node_leaves_from_anywhere_and_leaving_twice_is_harmless);
        tcase_add_test(tests, taking_gives_the_first_until_none_is_left);
        tcase_add_test(tests, splicing_moves_everything_to_the_tail);
        return run_tests("sc_list", tests);
}
