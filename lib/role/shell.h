/*
 * A core and its station: events in, effects carried out.  Three shells, one shape; no threads, no
 * clock, no nng, so the simulator runs these very objects over its own net.  The public roles
 * (scheduler.c, worker.c, client.c) add the runtime, the ports and the locks.
 *
 * All calls inside a turn; `now` never goes back.  sc_x_shell_flush steps the core's due deadline too.
 * enter(role) comes before everything that a net caused: the role calls sc_x_shell_begin with the loop's time
 * and lateness and touches its loop member; NULL when the caller has done so.  Nothing is flushed on its own.
 * No shell function but those that say so may be called from inside an upcall.
 */
#ifndef SC_SHELL_H
#define SC_SHELL_H

#include "cli.h"
#include "sc_sched.h"
#include "station.h"
#include "work.h"

/* ---- scheduler --------------------------------------------------------------------------------- */

struct sc_sched_shell_upcalls {
        void (*enter)(void *role);
        void (*note)(void *role, int level, const char *line);
        /* 0, or SC_E_DENIED: is this HELLO's token good for its role?  NULL: everybody is. */
        int  (*admit)(void *role, const struct sc_hello *hello);
        /* It has stopped, and told everybody; nothing is called from inside. */
        void (*closed)(void *role);
};

struct sc_sched_shell;
int sc_sched_shell_create(struct sc_mem *mem, const struct sc_sched_options *core,
                          const struct sc_station_options *station, const struct sc_sched_shell_upcalls *upcalls,
                          void *role, struct sc_sched_shell **out);
void sc_sched_shell_destroy(struct sc_sched_shell *x);
struct sc_station *sc_sched_shell_station(struct sc_sched_shell *x);
struct sc_sched   *sc_sched_shell_core(struct sc_sched_shell *x);
void  sc_sched_shell_begin(struct sc_sched_shell *x, sc_ns now, sc_ns lateness);
sc_ns sc_sched_shell_deadline(const struct sc_sched_shell *x);
void  sc_sched_shell_tick(struct sc_sched_shell *x, sc_ns now);
void  sc_sched_shell_flush(struct sc_sched_shell *x, sc_ns now);
/* Not from inside an upcall; `deadline_ms` as of SC_EV_DRAIN.  Release: the time is up now. */
void  sc_sched_shell_drain(struct sc_sched_shell *x, uint64_t deadline_ms, sc_ns now);
void  sc_sched_shell_release(struct sc_sched_shell *x, sc_ns now);

/* ---- worker ------------------------------------------------------------------------------------- */

struct sc_work_shell_upcalls {
        void (*enter)(void *role);
        /* Start it as soon as a slot is free, in the order of these calls; ends in sc_work_shell_ran(). */
        void (*run)(void *role, const struct sc_assign *assign);
        bool (*take_back)(void *role, uint64_t run);                     /* it had not begun, and will not */
        void (*stop)(void *role, uint64_t run, enum sc_stop_how how);
        void (*read_more)(void *role, uint64_t run);
        void (*park)(void *role, uint64_t run);                          /* it waits: its slot is free for others */
        void (*resume)(void *role, uint64_t run, int status);            /* see SC_FX_RESUME */
        void (*note)(void *role, int level, const char *line);
        void (*closed)(void *role);                                      /* drained */
        void (*give_up)(void *role, int status, const char *why);
        void (*linked)(void *role, bool up);
};

struct sc_work_shell;
int sc_work_shell_create(struct sc_mem *mem, const struct sc_work_options *core,
                         const struct sc_station_options *station, const struct sc_work_shell_upcalls *upcalls,
                         void *role, struct sc_work_shell **out);
void sc_work_shell_destroy(struct sc_work_shell *x);
struct sc_station *sc_work_shell_station(struct sc_work_shell *x);
struct sc_work    *sc_work_shell_core(struct sc_work_shell *x);
void  sc_work_shell_begin(struct sc_work_shell *x, sc_ns now, sc_ns lateness);
sc_ns sc_work_shell_deadline(const struct sc_work_shell *x);
void  sc_work_shell_tick(struct sc_work_shell *x, sc_ns now);
void  sc_work_shell_flush(struct sc_work_shell *x, sc_ns now);
/* A run may end inside run(); all three may be called from inside an upcall: they queue, in order.  When there is no
 * memory for that, the run ends as a failure that says so, and what it still prints is read and forgotten. */
void  sc_work_shell_ran(struct sc_work_shell *x, uint64_t run, const struct sc_outcome *outcome, sc_ns now);
void  sc_work_shell_output(struct sc_work_shell *x, uint64_t run, uint8_t stream, struct sc_view bytes, sc_ns now);
/* Not from inside an upcall. */
void  sc_work_shell_waits(struct sc_work_shell *x, uint64_t run, sc_ns now);
void  sc_work_shell_wakes(struct sc_work_shell *x, uint64_t run, sc_ns now);
/* `deadline_ms` as of SC_EV_DRAIN.  Release: the time is up now. */
void  sc_work_shell_drain(struct sc_work_shell *x, uint64_t deadline_ms, sc_ns now);
void  sc_work_shell_release(struct sc_work_shell *x, sc_ns now);

/* ---- client ------------------------------------------------------------------------------------- */

struct sc_cli_shell_upcalls {
        void (*enter)(void *role);
        void (*complete)(void *role, const struct sc_result *result);
        void (*graph)(void *role, const struct sc_graph_done *done); /* its complete() comes next */
        void (*confirm)(void *role, const struct sc_confirm *confirm);
        void (*deliver)(void *role, const struct sc_output *output, bool restart);
        void (*reply)(void *role, const struct sc_msg *row);
        void (*room)(void *role);
        void (*note)(void *role, int level, const char *line);
        void (*closed)(void *role);
        void (*give_up)(void *role, int status, const char *why);
        void (*linked)(void *role, bool up);
};

struct sc_cli_shell;
int sc_cli_shell_create(struct sc_mem *mem, const struct sc_cli_options *core,
                        const struct sc_station_options *station, const struct sc_cli_shell_upcalls *upcalls,
                        void *role, struct sc_cli_shell **out);
void sc_cli_shell_destroy(struct sc_cli_shell *x);
struct sc_station *sc_cli_shell_station(struct sc_cli_shell *x);
struct sc_cli     *sc_cli_shell_core(struct sc_cli_shell *x);
void  sc_cli_shell_begin(struct sc_cli_shell *x, sc_ns now, sc_ns lateness);
sc_ns sc_cli_shell_deadline(const struct sc_cli_shell *x);
void  sc_cli_shell_tick(struct sc_cli_shell *x, sc_ns now);
void  sc_cli_shell_flush(struct sc_cli_shell *x, sc_ns now);
/* `sequence` is above every earlier one; holes are fine.  0, or the status of sc_cli_admissible().  From inside an
 * upcall: only from room(), else SC_E_STATE.  The other six may be called from inside any upcall: they queue, and give
 * SC_E_NOMEM when there is no room for that. */
int   sc_cli_shell_submit(struct sc_cli_shell *x, const struct sc_spec *spec, uint64_t sequence, sc_ns now);
int   sc_cli_shell_cancel(struct sc_cli_shell *x, struct sc_id task, bool force, sc_ns now);
int   sc_cli_shell_cancel_many(struct sc_cli_shell *x, const struct sc_cancel_many *many, const char *tag, sc_ns now);
int   sc_cli_shell_consumed(struct sc_cli_shell *x, struct sc_id task, uint64_t bytes, sc_ns now);
int   sc_cli_shell_query(struct sc_cli_shell *x, const struct sc_query_msg *query, sc_ns now);
int   sc_cli_shell_drain(struct sc_cli_shell *x, const struct sc_drain *drain, sc_ns now);
void  sc_cli_shell_close(struct sc_cli_shell *x, sc_ns now);

#endif
