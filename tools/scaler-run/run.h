/*
 * run: the one loop of scaler-run.  Everything that can happen is a descriptor in one poll(): a future has
 * ended or has output, a signal came, an input can be read, an output can be written.  One thread.
 */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include "cluster.h"
#include "graph.h"
#include "joblog.h"
#include "pace.h"
#include "printer.h"
#include "summary.h"
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
        bool                   inputs_wait; /* there is none now; of a graph: no node may run now */
        bool                   client_full;
        bool                   drained;
        uint32_t               unsent_first, unsent_last; /* places of tasks that wait for the client, or the pace */
        struct graph          *graph; /* NULL: there are inputs */
        struct summary         summary;
        scaler_future        **after; /* of one submit */
        size_t                 after_room;
        struct text            node_cwd; /* of one submit, as is */
        const char           **node_env;
        size_t                 node_env_room;
        bool                   linked;
        int64_t                unlinked_since_ms;
};

void run_loop(struct run *r);
int  run_exit_code(const struct run *r);

/* tasks.c: from inputs to tasks, and from futures back to tasks. */
void run_submit(struct run *r);
void run_collect(struct run *r);
void run_cancel_all(struct run *r, uint32_t flags);
bool run_has_room(const struct run *r); /* one more may be in flight, and now */
void run_take(struct run *r, struct task *task, const struct record *record); /* a new one; record NULL: a node's */
void run_enqueue(struct run *r, struct task *task);
void run_describe(struct run *r, struct task *task); /* makes its command, for --joblog and --verbose */
/* Ends one that was never submitted; what follows it is not told. */
void run_end_unsent(struct run *r, struct task *task, int32_t reason, const char *text);
void run_drop_unsent(struct run *r);
uint64_t run_total(const struct run *r); /* how many tasks there will have been; 0: not known yet */

/* nodes.c: what a node asks for beyond what all do. */
void nodes_fill(struct run *r, const struct task *task, scaler_command *command, scaler_spec *spec);
/* What no scheduler would take is refused with the line of the file: a client that is not started only checks. */
int nodes_check(scaler_client *client, const struct settings *s, const struct graph *g, scaler_error *err);

/* stop.c: the ways to end early. */
void run_break(struct run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void run_take_signal(struct run *r);
void run_look_at_halt(struct run *r);
void run_look(struct run *r); /* at the link, the drain and the outputs */

#endif
