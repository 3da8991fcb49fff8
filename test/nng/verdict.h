/*
 * What the reproducers share: a verdict is printed and never fails a build, because which defects
 * this nng has is a fact about this nng; a time limit makes a hang a verdict, too.
 */
#ifndef VERDICT_H
#define VERDICT_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <nng/nng.h>

static inline _Noreturn void verdict(bool defect, const char *what)
{
        printf("nng %s: %s: %s\n", nng_version(), defect ? "DEFECT" : "good", what);
        fflush(stdout);
        _exit(EXIT_SUCCESS); /* not exit(): a hung nng would hang that as well */
}

/* A reproducer that could not be set up is a failure: it would say nothing. */
static inline void need(const char *what, int result)
{
        if (result == 0)
                return;
        fprintf(stderr, "%s: %s\n", what, nng_strerror(result));
        _exit(EXIT_FAILURE);
}

#endif
