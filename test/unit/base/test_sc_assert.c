/*
 * Assertions: what a true one costs, and what a false one says before it stops the process.
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run_tests.h"
#include "sc_assert.h"

START_TEST(a_true_condition_is_evaluated_once)
{
        int evaluated = 0;
        SC_ASSERT(++evaluated > 0);
        ck_assert_int_eq(evaluated, 1);
}
END_TEST

START_TEST(a_false_condition_aborts)
{
        SC_ASSERT(_i != 0);
}
END_TEST

START_TEST(an_unreachable_line_aborts)
{
        SC_UNREACHABLE();
}
END_TEST

/* What a child that fails an assertion writes to descriptor 2. */
static size_t last_words(const char *file, int line, const char *what, char *text, size_t size)
{
        int ends[2];
        ck_assert_int_eq(pipe(ends), 0);
        pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
                dup2(ends[1], STDERR_FILENO);
                sc_assert_failed(file, line, what);
        }
        close(ends[1]);
        size_t  len = 0;
        ssize_t got;
        while ((got = read(ends[0], text + len, size - len)) > 0)
                len += (size_t)got;
        close(ends[0]);
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
        return len;
}

START_TEST(the_last_words_are_file_line_and_condition)
{
        char   text[1024];
        size_t len = last_words("some/file.c", 1203, "a == b", text, sizeof text);
        ck_assert_uint_eq(len, strlen("some/file.c:1203: a == b\n"));
        ck_assert_mem_eq(text, "some/file.c:1203: a == b\n", len);
}
END_TEST

START_TEST(a_very_long_condition_is_cut_and_still_ends_its_line)
{
        char what[2000];
        memset(what, 'x', sizeof what - 1);
        what[sizeof what - 1] = '\0';
        char   text[1024];
        size_t len = last_words("f.c", 0, what, text, sizeof text);
        ck_assert_uint_eq(len, 512);
        ck_assert_mem_eq(text, "f.c:0: xxx", 10);
        ck_assert_int_eq(text[len - 1], '\n');
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("sc_assert");
        tcase_add_test(tests, a_true_condition_is_evaluated_once);
        tcase_add_test_raise_signal(tests, a_false_condition_aborts, SIGABRT);
        tcase_add_test_raise_signal(tests, an_unreachable_line_aborts, SIGABRT);
        tcase_add_test(tests, the_last_words_are_file_line_and_condition);
        tcase_add_test(tests, a_very_long_condition_is_cut_and_still_ends_its_line);
        return run_tests("sc_assert", tests);
}
