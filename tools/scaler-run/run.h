/*
 * run: the one loop of scaler-run.  Everything that can happen is a descriptor in one poll(): a future has
 * ended or has output, a signal came, an input can be read, an output can be written.  One thread.
 */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include "cluster.h"
#include "joblog.h"
#include "pace.h"
#include "printer.h"
#include "template.h"

enum run_mode {
        RUN_GOES = 0,
        RUN_FINISHES, /* a signal or --halt: starts nothing more */
        RUN_KILLS     /* a second signal, a closed stdout, or something is broken */
};

struct run {
        const struct settings *settings;
        const struct program  *program;
        struct records         records;
        struct joblog          joblog;
        struct pace            pace;
        struct window          window;
        struct printer         printer;
        struct progress        progress;
        struct cluster         cluster;
        scaler_security        security; /* of a running cluster */
        struct expansion       expansion;
        uint64_t               in_flight_max; /* tasks submitted and not ended; 0: the window's */
        char                  *cwd; /* the tasks' when the workers are elsewhere; NULL: theirs */
        int                    signals;
        enum run_mode          mode;
        int                    signal_number; /* the first one */
        bool                   broken;        /* said so; exit 255 */
        bool                   pipe_closed;   /* nobody reads stdout */
        bool                   inputs_ended;
        bool                   inputs_wait;
        bool                   drained;
        struct task           *held; /* waits for room in the client */
        bool                   linked;
        int64_t                unlinked_since_ms;
};

void run_loop(struct run *r);
int  run_exit_code(const struct run *r);

/* tasks.c: from inputs to tasks, and from futures back to tasks. */
void run_submit(struct run *r);
void run_collect(struct run *r);
void run_cancel_all(struct run *r, uint32_t flags);

/* stop.c: the ways to end early. */
void run_break(struct run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void run_take_signal(struct run *r);
void run_look_at_halt(struct run *r);
void run_look(struct run *r); /* at the link, the drain and the outputs */

#endif
