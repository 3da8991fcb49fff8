/*
 * The worker as an object, and what it runs: functions on slot threads (task.c), commands as children
 * (command.c).  A run is known to the core by its handle; here by the task or command with that handle.
 */
#ifndef SC_WORKER_H
#define SC_WORKER_H

#include "client.h" /* enum sc_client_state */
#include "run_threads.h"
#include "sc_buf.h"
#include "shell.h"
#include "spawn_posix.h"

enum { SC_SPAWNERS_MAX = 4 };       /* a spawn stops its thread until the child has execed; a few overlap */
#define SC_EARLY_MAX   (16 * 1024)  /* streamed output up to here may come with the end */
#define SC_EARLY_DELAY (50 * SC_MS) /* but nobody waits longer than this for it */

struct scaler_task { /* a function's run, from RUN until it has returned and completed */
        struct sc_job                 job;
        struct sc_post                completed; /* of a deferred one */
        bool                          starting;  /* the turn's: on its worker's list, not yet given to a slot thread */
        struct scaler_worker         *worker;
        const struct scaler_function *function;
        uint64_t                      handle;
        struct sc_id                  id;
        uint32_t                      attempt;
        struct sc_family *_Atomic     family; /* the task's own thread's; NULL: it has not asked for its client */
        size_t                        size; /* of this allocation */
        _Atomic bool                  cancelled;
        /* the task's own thread, until its post */
        bool         failed, deferred;
        bool         complete; /* all its arguments came */
        int32_t      code, returned;
        scaler_blob *result;
        char         text[SC_TEXT_MAX + 1];
        struct sc_held *held; /* by a run that says what it needs; names are copies behind it */
        size_t          held_size;
        uint32_t        held_count;
        /* the turn's */
        int            waits; /* for fn to return, and for completion when deferred */
        uint32_t       arg_count;
        struct sc_view args[]; /* into the body's copy behind them */
};

struct sc_piece { /* of output not yet given to the core */
        struct sc_list link;
        size_t         size;
        uint8_t        stream;
        uint8_t        bytes[];
};

struct sc_command_run {
        struct scaler_worker *worker;
        struct sc_child      *child; /* NULL once it has ended */
        uint64_t              handle;
        bool                  stream, streaming, ended, reading; /* reading: the child waits for read_more */
        bool                  asking;                            /* the core has a piece and will say read_more */
        bool                  over;                              /* printed more than may be collected */
        bool                  no_memory;
        bool                  forsaken; /* nobody hears of it any more: what it prints is thrown away */
        struct sc_list        pieces;
        size_t                piece_bytes;
        struct sc_list        early; /* on the worker's list while output is held back */
        sc_ns                 early_since;
        struct sc_buf         collected[2];
        struct sc_outcome     outcome;
        char                  text[SC_TEXT_MAX + 1];
};

struct scaler_worker {
        struct scaler_runtime *rt;
        bool                   owns_runtime;
        struct sc_mem         *mem;
        struct sc_access       access;
        char                   url[SC_URL_MAX + 1], name[SC_NAME_MAX + 1];
        struct sc_work_options core; /* for start, when all functions are known */
        char                   offers[SC_AMOUNTS_TEXT + 1];
        bool                   commands;
        scaler_function       *functions; /* names are copies */
        size_t                 function_count, function_cap;
        enum sc_client_state   state;
        struct sc_gate        *gate;
        /* the gate's lock */
        bool     linked, closed, left;
        bool     making; /* `inner`, by one task's thread */
        struct scaler_client *inner; /* with which its tasks submit; NULL: none has asked for it */
        int      given_up;
        bool     lives; /* tasks or commands exist */
        /* the turn's */
        uint32_t              live; /* how many */
        struct sc_work_shell *shell;
        struct sc_nets        nets;
        struct sc_member      member;
        struct sc_batch       batch;
        bool                  joined, leaving;
        struct sc_map         tasks, commands_by_handle;
        struct sc_list        starting; /* tasks for the slot threads, given to them at the end of the pass or later */
        uint32_t              starting_count;
        struct sc_list        early;
        struct sc_slots      *slots;
        struct sc_spawner    *spawner[SC_SPAWNERS_MAX];
        uint32_t              spawners, spawners_max, spawned; /* made on demand; children go round */
};

/* The function registered last is no longer, as if it had never been: its destroy is not called. */
void sc_worker_forget_last(struct scaler_worker *w);

/* In a turn: RUN of the core.  Whatever goes wrong is that run's outcome. */
void sc_task_run(struct scaler_worker *w, const struct sc_assign *assign);
void sc_task_start_all(struct scaler_worker *w);
bool sc_task_take_back(struct scaler_task *t); /* true: it had not begun, and is gone */
void sc_task_stop(struct scaler_task *t);

void sc_command_run(struct scaler_worker *w, const struct sc_assign *assign);
void sc_command_stop(struct sc_command_run *c, enum sc_stop_how how);
/* Kills it, and does not wait for the core to want what it printed.  May end it, which removes it. */
void sc_command_forsake(struct sc_command_run *c);
void sc_command_read_more(struct sc_command_run *c);
void sc_command_flush_early(struct scaler_worker *w, sc_ns now); /* what was held back long enough */
const struct sc_child_upcalls *sc_command_upcalls(void);

/* The run could not even be begun. */
void sc_run_refused(struct scaler_worker *w, uint64_t handle, int code, const char *text);
void sc_run_born(struct scaler_worker *w);
void sc_run_gone(struct scaler_worker *w);

#endif
