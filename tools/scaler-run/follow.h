/*
 * follow: which task comes after which.  The steps of a chain enter the window together, each after the one before;
 * the nodes of a graph one by one, as those they wait for have succeeded or, where nobody must decide first, early:
 * then the scheduler keeps them until they may run.  What waits for a task that does not succeed is skipped, told once.
 */
#ifndef RUN_FOLLOW_H
#define RUN_FOLLOW_H

#include "run.h"

/* Takes a record with all its steps that are to be run into the window, which has room for them. */
void follow_add_steps(struct run *r, const struct record *record);

/* Takes nodes into the window as long as it has room. */
void follow_add_nodes(struct run *r);

/* Fills what the task is submitted after.  False: it has been skipped meanwhile, and has ended. */
bool follow_fill(struct run *r, struct task *task, scaler_spec *spec);

/* A task has ended: what comes after it is to be submitted, or skipped. */
void follow_ended(struct run *r, struct task *task);

#endif
