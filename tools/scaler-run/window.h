/*
 * window: the tasks between being submitted and being printed, at most WINDOW_TASKS of them.  A task is
 * PENDING until its future has ended, then ENDED until it has been printed, then its place is free.
 * In input order nobody gets further ahead of the oldest unprinted task than the window is wide.
 */
#ifndef RUN_WINDOW_H
#define RUN_WINDOW_H

#include <scaler.h>
#include <stdbool.h>
#include <stdint.h>

#include "record.h"
#include "spool.h"

#define WINDOW_TASKS  1024
#define WINDOW_NOBODY UINT32_MAX

enum task_stage { TASK_FREE = 0, TASK_PENDING, TASK_ENDED };

struct task {
        enum task_stage     stage;
        uint64_t            number; /* from 1, what people know it by */
        uint64_t            order;  /* from 1, without holes */
        uint64_t            input_number; /* from 1; several tasks of a chain have the same one */
        uint32_t            step;         /* of a chain, from 1; 0: there is no chain */
        uint32_t            waits_for;    /* place of the step before, until that has succeeded */
        uint32_t            followed_by;  /* place of the next step */
        uint32_t            next_unsent;  /* in the queue of those to be submitted */
        bool                unsent;       /* it is there */
        uint64_t            root;         /* number of the task whose failure skipped it; 0: none */
        const char         *root_name;    /* of a node; lent by the graph */
        scaler_future      *future; /* NULL: never submitted */
        char               *values; /* with a NUL between each two */
        size_t              values_size;
        uint32_t            value_count;
        char               *input;  /* for people: the values with a space between each two */
        bool                script; /* the value is the whole command */
        char               *command; /* as a shell would read it; NULL: nobody asked */
        scaler_task_state   state; /* when ENDED: DONE, FAILED or CANCELLED */
        scaler_failure      failure;
        scaler_exit         exit;
        int64_t             ended_ms; /* since 1970 */
        uint64_t            received; /* bytes of stdout */
        struct spool        output[2]; /* stdout, stderr */
        struct spool_cursor printed[2];
        bool                announced; /* its command is printed */
        bool                stored;    /* its results are in their files */
        size_t              lines[2];  /* bytes of whole lines, not printed yet; when lines are printed as they come */
        size_t              piece[2];  /* bytes behind them */
        bool                in_turn;
        uint32_t            next_ended; /* in the order of ending, or of having lines */
};

struct window {
        struct task       tasks[WINDOW_TASKS];
        uint32_t          free_places[WINDOW_TASKS];
        uint32_t          free_count;
        uint32_t          by_order[WINDOW_TASKS]; /* order % WINDOW_TASKS -> place, in input order only */
        uint32_t          first_ended, last_ended;
        bool              ordered;
        uint64_t          added;
        uint64_t          next_printed; /* order of the oldest unprinted task */
        uint32_t          pending;
        uint32_t          blocked; /* of those pending: waits_for is somebody */
        uint64_t          done, failed, skipped, cancelled;
        struct spool_pool pool;
};

void window_init(struct window *w, bool ordered);
void window_fini(struct window *w);

bool         window_has_room(const struct window *w, uint32_t count);
bool         window_is_empty(const struct window *w);
struct task *window_add(struct window *w, const struct record *record);
uint32_t     window_place(const struct window *w, const struct task *task);

/* Ends a task by its future, or by words of our own.  A cancel that nobody here asked for is a failure. */
void window_end(struct window *w, struct task *task, bool cancel_asked);
void window_end_unsent(struct window *w, struct task *task, int32_t reason, const char *text);

/* It waits for what was before it in a chain; false: it does no more. */
void window_block(struct window *w, struct task *task, uint32_t place);
void window_unblock(struct window *w, struct task *task);

/* Who prints next, ended or not; NULL: nobody here. */
struct task *window_next(struct window *w);
void         window_remove(struct window *w, struct task *task);

/* Without order: a task that runs has lines to print, and has printed them. */
void window_enter_turn(struct window *w, struct task *task);
void window_leave_turn(struct window *w, struct task *task);

void task_forget_output(struct window *w, struct task *task);

/* It has failed only because another one had. */
bool task_is_skipped(const struct task *task);

/* "exit 3", "killed by signal 9 (Killed)", "timed out" ...: why an ended task has failed. */
void task_describe(const struct task *task, struct text *out);

#endif
