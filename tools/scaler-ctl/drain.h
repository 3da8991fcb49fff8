/*
 * drain: asks workers to leave, or the scheduler to stop, waits for it, and says of each what came of it.
 */
#ifndef TOOLS_CTL_DRAIN_H
#define TOOLS_CTL_DRAIN_H

#include "show.h"

struct drain {
        const struct show *show;
        bool               all, scheduler;
        int64_t            deadline_ms; /* 0: none */
        int64_t            timeout_ms;  /* until all have left; 0: however long it takes */
        const char *const *workers;     /* names or ids */
        size_t             count;
};

/* 0; 1: somebody has not left in order; or a negative status. */
int drain_all(const struct drain *d);

#endif
