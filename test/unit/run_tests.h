/*
 * The end of every Check program: run one case as a suite, print the totals, and tell the exit
 * code.  The time limit is generous, because the same tests run under sanitizers and valgrind.
 */
#ifndef RUN_TESTS_H
#define RUN_TESTS_H

#include <check.h>
#include <stdlib.h>

static inline int run_tests(const char *name, TCase *tests)
{
        Suite *suite = suite_create(name);
        tcase_set_timeout(tests, 120);
        suite_add_tcase(suite, tests);
        SRunner *runner = srunner_create(suite);
        srunner_run_all(runner, CK_ENV);
        int failed = srunner_ntests_failed(runner);
        int ran    = srunner_ntests_run(runner);
        srunner_free(runner);
        return failed == 0 && ran > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
