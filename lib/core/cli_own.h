/*
 * The inside of the client's core, shared by its files only.  A task is one row, allocated together
 * with the copy of its spec when it is admitted and freed when its future ends.  Rows are found by
 * sequence through pages of pointers, so that one slow task pins a page and not all that came after.
 *
 * `unsent` and `sent` are in order of sequence, and every row in `sent` is older than every row in
 * `unsent`.  After a reconnect, rows the scheduler does not know are moved back from the end of `sent`
 * a few thousand at a time (the rewind); nothing is sent before that is finished.
 */
#ifndef SC_CLI_OWN_H
#define SC_CLI_OWN_H

#include "cli.h"
#include "sc_heap.h"
#include "sc_list.h"
#include "sc_map.h"

enum {
        SC_CLI_PAGE     = 64,  /* sequences per page */
        SC_CLI_ASKS_MAX = 256, /* queries, and cancels of an admin, without an answer */
        SC_CLI_MANY_MAX = 8,   /* cancels of many without an answer */
        SC_CLI_ROOM     = 16,  /* effects kept free for what follows a bulk of them */
        SC_CLI_IDLE_TASKS = 1024, /* what an idle client keeps of its grant */
        SC_CLI_IDLE_KIB   = 1024,
        SC_CLI_LEAST_KIB  = 16
};

#define SC_CLI_IDLE_AFTER SC_S
#define SC_CLI_TIGHT_REST (10 * SC_MS) /* between two looks at whether there is memory again */

/*
 *                SEND   REWIND   HOLD   END
 * FREE -ADMIT-> UNSENT
 *     UNSENT     SENT   -        HELD   FREE
 *     SENT       -      UNSENT   HELD   FREE
 *     HELD       -      -        -      FREE
 */
enum sc_cli_state {
        SC_CLI_FREE,
        SC_CLI_UNSENT,
        SC_CLI_SENT,
        SC_CLI_HELD, /* its future has ended; tasks that depend on it may have to be sent with its result */
        SC_CLI_STATES
};
enum sc_cli_move { SC_CLI_ADMIT, SC_CLI_SEND, SC_CLI_REWIND, SC_CLI_HOLD, SC_CLI_END, SC_CLI_MOVES };

enum sc_cli_cancel { SC_CLI_CANCEL_NONE, SC_CLI_CANCEL_ASKED, SC_CLI_CANCEL_FORCED };

/* OVER: the scheduler that it was for is no more, and what it was for ends here. */
enum sc_cli_many_state { SC_CLI_MANY_SWEEP, SC_CLI_MANY_DUE, SC_CLI_MANY_SENT, SC_CLI_MANY_OVER };

struct sc_cli_many {
        uint64_t client, up_to, count; /* count: of rows it is for */
        uint32_t ticket;
        uint8_t  state, tag_len;
        bool     force, asks; /* asks: some of them were sent */
        char     tag[SC_NAME_MAX];
};

/* What becomes of the client as a whole. */
enum sc_cli_phase { SC_CLI_OPEN, SC_CLI_CLOSING, SC_CLI_GIVING_UP, SC_CLI_OVER };

struct sc_cli_stream { /* output of one run, as far as it has come */
        uint64_t run, epoch; /* run 0: nothing yet */
        uint64_t received, consumed, told_limit;
        uint64_t strange_run;  /* a run whose first record seen was not its first; 0: none */
        uint64_t strange_next; /* the offset after the last record seen of it */
        bool     asked_again;
};

struct sc_cli_graph { /* of a graph's row; its nodes have the sequences that follow */
        struct sc_list       over;     /* on the list of those whose nodes are being ended */
        uint64_t             sequence, cursor; /* over: its own, and the next of its nodes */
        struct sc_graph_done before;   /* counts of targets that were answered in earlier epochs */
        struct sc_graph_done told;     /* likewise in this one */
        struct sc_graph_done done;     /* what is reported in the end */
        uint64_t             unsent_bytes;
        uint32_t             nodes, admitted, live, unsent; /* live: not yet ended, as far as we know */
        uint32_t             culled;   /* inner nodes that no unanswered target needed after a restart */
        uint8_t              reason;   /* over: what live targets end with */
        bool                 rewinding, cull, is_over;
        char                 text[SC_TEXT_MAX + 1];
};

struct sc_cli_held { /* what came of a task whose result others need */
        uint64_t      root;
        size_t        len;
        uint8_t       reason, root_reason;
        unsigned char bytes[];
};

struct sc_cli_plan { /* at the head of a row's bytes when its spec has a plan */
        struct sc_plan plan; /* its times as last told */
        sc_ns          not_before_at, queue_at, deadline_at;
        sc_ns          due;      /* when we must look at it; while it is in the heap */
        size_t         position; /* in the heap */
        struct sc_list overdue;  /* sent, linked, and past its deadline */
        struct sc_view      *results; /* as many as it reads; those known are told */
        uint8_t             *after;   /* its dependencies, as they are told */
        const uint8_t       *own;     /* results that it came with */
        struct sc_cli_graph *graph;   /* NULL: it is none */
};

struct sc_cli_row {
        struct sc_list       link;   /* unsent or sent */
        struct sc_list       cancel; /* cancels to send, or to be confirmed */
        struct sc_list       output; /* streams to be told of again after a reconnect, or all of them */
        uint64_t             sequence;
        size_t               size; /* of this allocation */
        uint8_t              state;       /* written by sc_cli_move_row alone */
        uint8_t              cancelling;  /* enum sc_cli_cancel: the strongest asked for */
        bool                 unconfirmed; /* somebody waits for a CONFIRM */
        bool                 resubmitted;
        bool                 told; /* its future has ended; the scheduler does not know */
        bool                 inner; /* of a graph: no future, no result */
        bool                 needed; /* while rewinding: by a later one */
        uint32_t             readers; /* live rows that depend on it */
        uint32_t             refs;    /* those of them that were sent naming it: it counts in the grant */
        size_t               extra;   /* bytes of held results that it is sent with */
        struct sc_cli_held  *held;
        struct sc_spec       spec;
        struct sc_cli_stream stream;
        unsigned char        bytes[];
};

struct sc_cli_page {
        uint32_t           used;
        struct sc_cli_row *row[SC_CLI_PAGE];
};

struct sc_cli {
        struct sc_mem *mem;
        uint64_t       id, incarnation, epoch, output_window;
        uint8_t        role, phase;
        uint32_t       pending_max;
        sc_ns          give_up, now, lost_at, idle_since;
        sc_link_id     link;
        struct sc_view name, tenant, token;
        uint32_t       weight, running_max;
        unsigned char *words;
        size_t         words_size;

        struct sc_map      pages;
        struct sc_list     unsent, sent;
        struct sc_list     cancels_due, cancels_sent;
        struct sc_list     cancels_early; /* of nodes whose graph is on its way, and they are not */
        struct sc_list     held, graphs_over;
        uint32_t           held_counted; /* with refs */
        uint32_t           tasks_most, kib_most; /* the scheduler grants no more; 0: unknown */
        struct sc_list     streams_due, streams;
        struct sc_heap     timed;   /* plans, by when they are due */
        struct sc_list     overdue; /* plans */
        uint32_t           planned, told; /* rows with a plan; rows that are told */
        struct sc_cli_row *spare;      /* reserved by sc_cli_admissible */
        struct sc_cli_page *spare_page;
        uint64_t           next; /* sequence */
        uint32_t           pending, unsent_count;
        uint64_t           bytes, sent_bytes; /* of specs: pending, and sent of them */

        uint32_t grant_tasks, grant_kib;
        uint32_t want_tasks, want_kib; /* as last told on this link */
        uint32_t want_least, want_least_kib;
        bool     granted;  /* a grant has come on this link */
        uint32_t first_kib; /* that one: less than usual at a small scheduler, or one of many clients */
        bool     lowering; /* we said that less will do, and the scheduler has not yet answered */
        bool     rewinding;
        uint64_t rewind_to; /* rows above are unknown to the scheduler */
        bool     rewind_strange; /* it is another scheduler, or one that forgot us */
        bool     want_room;
        bool     tight;  /* a task was put off in this step until there is memory for its frame */
        size_t   saying; /* bytes of the tasks that this step sends: frames will hold them */

        uint32_t     ticket_count, ask_count;
        uint32_t     ticket[SC_CLI_ASKS_MAX];
        struct sc_id ask[SC_CLI_ASKS_MAX]; /* cancels of an admin */

        struct sc_cli_many many[SC_CLI_MANY_MAX]; /* in the order of their coming */
        uint32_t           many_count, sweep_count; /* sweep_count: those still to go over the rows */
        struct sc_cli_row *sweep; /* the next row for the first of these; NULL: none is left */

        int32_t  end_status;
        char     end_text[SC_TEXT_MAX + 1];
        char     graph_text[SC_TEXT_MAX + 1]; /* of the graph that is ended in this step */
        uint64_t submitted, succeeded, failed, cancelled;
};

static inline uint32_t sc_cli_room(const struct sc_out *out)
{
        return out->len + SC_CLI_ROOM < SC_EFFECTS_MAX ? SC_EFFECTS_MAX - SC_CLI_ROOM - out->len : 0;
}

static inline struct sc_cli_plan *sc_cli_plan(struct sc_cli_row *row)
{
        return (struct sc_cli_plan *)(void *)row->bytes;
}

static inline size_t sc_cli_plan_weight(const struct sc_plan *plan)
{
        return plan->after.len;
}

static inline size_t sc_cli_weight(const struct sc_cli_row *row)
{
        return row->spec.body.len + row->spec.function.len + row->extra +
               (row->spec.plan ? sc_cli_plan_weight(row->spec.plan) : 0);
}

/* cli_rows.c */
struct sc_cli_row *sc_cli_find(const struct sc_cli *c, struct sc_id task);
struct sc_cli_row *sc_cli_admit(struct sc_cli *c, const struct sc_submit *submit);
void               sc_cli_move_row(struct sc_cli *c, struct sc_cli_row *row, enum sc_cli_move move);
void               sc_cli_free_rows(struct sc_cli *c);

/* cli_plan.c: what few tasks ask for */
size_t sc_cli_plan_size(const struct sc_plan *plan); /* bytes at the head of a row's */
void   sc_cli_plan_keep(const struct sc_cli *c, struct sc_cli_row *row, const struct sc_plan *plan);
const struct sc_plan *sc_cli_plan_now(const struct sc_cli *c, struct sc_cli_row *row); /* NULL; lent by the row */
bool   sc_cli_plan_before(const void *a, const void *b);
void   sc_cli_plan_position(void *item, size_t position);
void   sc_cli_plan_retime(struct sc_cli *c, struct sc_cli_row *row);
bool   sc_cli_plan_expire(struct sc_cli *c, struct sc_cli_row *row, struct sc_out *out); /* true: it has ended */
void   sc_cli_timers(struct sc_cli *c, struct sc_out *out);
sc_ns  sc_cli_timers_at(const struct sc_cli *c);

/* cli_graph.c: dependencies and graphs */
size_t sc_cli_graph_size(const struct sc_plan *plan); /* bytes behind a plan */
void   sc_cli_graph_keep(struct sc_cli_row *row, const struct sc_plan *plan, unsigned char **at);
void   sc_cli_graph_moved(struct sc_cli *c, struct sc_cli_row *row, enum sc_cli_state from, size_t weight);
/* A node's; NULL: it is none. */
struct sc_cli_graph *sc_cli_graph_of(const struct sc_cli *c, const struct sc_cli_row *row);
struct sc_cli_row   *sc_cli_graph_head(const struct sc_cli *c, const struct sc_cli_row *row);
bool   sc_cli_graph_hold(struct sc_cli *c, struct sc_cli_row *row, const struct sc_result *result);
void   sc_cli_graph_answered(struct sc_cli *c, const struct sc_cli_row *row, uint8_t reason, uint64_t root,
                             uint8_t root_reason);
void   sc_cli_graph_prepare(struct sc_cli *c, struct sc_cli_row *row);
bool   sc_cli_graph_fits(const struct sc_cli *c, const struct sc_cli_row *row);
void   sc_cli_graph_need(const struct sc_cli *c, const struct sc_cli_row *row, uint64_t *tasks, uint64_t *bytes);
bool   sc_cli_graph_refuse(struct sc_cli *c, struct sc_cli_row *row);
bool   sc_cli_graph_cull(struct sc_cli *c, struct sc_cli_row *row);
void   sc_cli_graph_rewound(struct sc_cli *c, struct sc_cli_row *row);
void   sc_cli_graph_end(struct sc_cli *c, struct sc_cli_row *row, enum sc_reason reason, const char *text);
void   sc_cli_graph_done(struct sc_cli *c, const struct sc_graph_done *done);
void   sc_cli_graphs_run(struct sc_cli *c, struct sc_out *out);
void   sc_cli_graph_report(const struct sc_cli_row *row, struct sc_graph_done *out);

/* cli_link.c: reconnect, credit, what is sent when */
void  sc_cli_up(struct sc_cli *c, const struct sc_event *ev, struct sc_out *out);
void  sc_cli_down(struct sc_cli *c, struct sc_out *out);
void  sc_cli_pump(struct sc_cli *c, struct sc_out *out);
bool  sc_cli_work_left(const struct sc_cli *c);
sc_ns sc_cli_idle_at(const struct sc_cli *c);
void  sc_cli_granted(struct sc_cli *c, uint32_t tasks, uint32_t kib);

/* cli_end.c: endings and cancels */
void sc_cli_complete(struct sc_cli *c, struct sc_cli_row *row, const struct sc_result *result, struct sc_out *out);
void sc_cli_end(struct sc_cli *c, struct sc_cli_row *row, enum sc_reason reason, int32_t code, const char *text,
                struct sc_out *out);
void sc_cli_tell(struct sc_cli *c, struct sc_cli_row *row, enum sc_reason reason, const char *text,
                 struct sc_out *out); /* as sc_cli_end, but the row stays until the scheduler has answered */
void sc_cli_confirm(struct sc_id task, enum sc_cancelled outcome, struct sc_out *out);
void sc_cli_cancel(struct sc_cli *c, const struct sc_cancel *cancel, struct sc_out *out);
void sc_cli_confirmed(struct sc_cli *c, const struct sc_confirm *confirm, struct sc_out *out);
void sc_cli_end_all(struct sc_cli *c, struct sc_out *out);

/* cli_output.c */
void sc_cli_output(struct sc_cli *c, const struct sc_output *output, struct sc_out *out);
/* Before it does. */
void sc_cli_output_ends(struct sc_cli_row *row, const struct sc_result *result, struct sc_out *out);
void sc_cli_consumed(struct sc_cli *c, struct sc_id task, uint64_t bytes, struct sc_out *out);
void sc_cli_output_again(struct sc_cli *c, struct sc_cli_row *row, struct sc_out *out);

/* cli_many.c: cancels of many */
void sc_cli_cancel_many(struct sc_cli *c, const struct sc_cancel_many *ask, struct sc_out *out);
void sc_cli_many_leave(struct sc_cli *c, const struct sc_cli_row *row); /* it is about to leave its list for good */
bool sc_cli_sweeping(const struct sc_cli *c);
void sc_cli_many_sweep(struct sc_cli *c, struct sc_out *out);
void sc_cli_many_send(struct sc_cli *c, struct sc_out *out);
bool sc_cli_many_left(const struct sc_cli *c);
void sc_cli_many_confirmed(struct sc_cli *c, const struct sc_confirm_many *confirm, struct sc_out *out);
void sc_cli_many_up(struct sc_cli *c, bool strange);
void sc_cli_many_down(struct sc_cli *c, struct sc_out *out);
void sc_cli_many_end(struct sc_cli *c, struct sc_out *out);

/* cli_query.c */
void sc_cli_query(struct sc_cli *c, const struct sc_msg *question, struct sc_out *out); /* QUERY or DRAIN */
void sc_cli_reply(struct sc_cli *c, const struct sc_msg *msg, struct sc_out *out);
void sc_cli_queries_down(struct sc_cli *c, struct sc_out *out);

#endif
