/*
 * joblog: one line per ended task, in the columns of GNU parallel.  A line is written when what the task
 * has printed has left, so nothing that the log names is missing from the outputs; whole lines are written
 * at a time, at the end of the file.
 */
#ifndef RUN_JOBLOG_H
#define RUN_JOBLOG_H

#include "window.h"

#define JOBLOG_WAITING_MAX (1024 * 1024)

struct joblog {
        int         fd; /* -1: none is wanted */
        const char *host;
        bool        nodes; /* each line begins with the name of a node */
        struct text waiting; /* lines of tasks whose outputs may not have left yet */
};

/* 0, or -1 and errno.  A log that goes on loses a last line without its end. */
int  joblog_open(struct joblog *log, const struct settings *s);
void joblog_close(struct joblog *log);

void joblog_add(struct joblog *log, const struct task *task);
bool joblog_is_full(const struct joblog *log);
int  joblog_flush(struct joblog *log); /* 0, or -1 and errno */

/* The exit code and the signal that stand for an ended task, as a shell and GNU parallel would have them. */
void joblog_codes(const struct task *task, int *exit_out, int *signal_out);

#endif
