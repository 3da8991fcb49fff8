/*
 * select: which tasks are meant, as options say it, and going over them page by page or, for the newest
 * ones, in that order.  The newest of everybody are the newest of each client, merged by their age.
 */
#ifndef TOOLS_CTL_SELECT_H
#define TOOLS_CTL_SELECT_H

#include <scaler.h>

#include "option.h"

struct selection {
        const char *tag, *client, *state, *range; /* as given; NULL: not */
        int64_t     last;                         /* the newest so many; 0: all */
        bool        all;
        /* what is made of them */
        scaler_task_filter filter;
};

/* Makes the filter.  PROGRAM_GOES_ON, or the exit code after one line that names the option. */
int selection_read(struct selection *s, const struct program *p);
/* Whether tasks are picked by more than tag and client, which one request cannot say. */
bool selection_is_fine(const struct selection *s);
/* The first option that was given, to be named in a complaint, without its dashes; NULL: none. */
const char *selection_option(const struct selection *s);

/* Calls each() for the tasks, then page() where output may be flushed: a status. */
struct selected {
        void (*each)(void *ctx, const scaler_task_info *task);
        void (*page)(void *ctx);
        void *ctx;
};
int selection_walk(const struct selection *s, scaler_client *client, int64_t timeout_ms, const struct selected *to);

#endif
