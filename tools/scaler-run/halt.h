/*
 * halt: the condition of --halt, and whether the counts of ended tasks fulfil it.
 */
#ifndef RUN_HALT_H
#define RUN_HALT_H

#include <stdbool.h>
#include <stdint.h>

#define HALT_COUNT_MAX INT64_C(1000000000)

enum halt_when { HALT_NEVER = 0, HALT_SOON /* let running tasks finish */, HALT_NOW /* stop them */ };
enum halt_what { HALT_FAIL = 0, HALT_SUCCESS, HALT_DONE };

struct halt {
        enum halt_when when;
        enum halt_what what;
        bool           percent; /* of all inputs, once their number is known */
        int64_t        count;
};

/* "never", or WHEN,WHAT=N or WHEN,WHAT=N%.  False: none of these. */
bool halt_read(const char *text, struct halt *out);

/* total 0: not known yet. */
bool halt_is_reached(const struct halt *h, uint64_t succeeded, uint64_t failed, uint64_t total);

#endif
