/*
 * unstarted: on a running cluster an interrupt gives up the tasks that no worker has yet.
 */
#ifndef RUN_UNSTARTED_H
#define RUN_UNSTARTED_H

#include "run.h"

/* Asks the scheduler which of our tasks still wait and cancels those.  Takes UNSTARTED_MS at most; when the
 * scheduler does not answer, or not to us, they run. */
#define UNSTARTED_MS 2000
void unstarted_cancel(struct run *r);

#endif
