/*
 * report: one JSON line for an ended task, made piece by piece, so that an output of any size needs the
 * memory of one piece.
 */
#ifndef RUN_REPORT_H
#define RUN_REPORT_H

#include "window.h"

enum report_stage { REPORT_HEAD = 0, REPORT_LOOK, REPORT_BODY };

struct report {
        enum report_stage   stage;
        int                 stream; /* 0 stdout, 1 stderr */
        bool                binary;
        struct spool_cursor at;
        char                carry[4]; /* bytes that need their followers */
        size_t              carry_size;
};

/* Adds the next piece to out.  1: there is more; 0: the line is complete and the report starts anew; -1: errno. */
int report_next(struct report *r, struct window *w, struct task *task, struct text *out);

#endif
