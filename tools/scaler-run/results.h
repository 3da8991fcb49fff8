/*
 * results: the outputs of an ended task as files, where GNU parallel has them: DIR/1/VALUE1/2/VALUE2/ holds
 * stdout, stderr and seq.
 */
#ifndef RUN_RESULTS_H
#define RUN_RESULTS_H

#include "window.h"

/* 0, or -1 and errno. */
int results_write(const char *folder, struct spool_pool *pool, const struct task *task);

/* A value as the name of a directory: / is \_, a tab \t and a backslash two; "." and ".." get one before. */
void results_name(struct text *out, const char *value);

#endif
