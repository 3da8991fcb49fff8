/*
 * The client as an object.  API threads leave work at the front, under the gate's lock, and post;
 * the turn takes it all and gives it to the shell.  Nothing else is shared.
 */
#ifndef SC_CLIENT_H
#define SC_CLIENT_H

#include "future.h"
#include "sc_map.h"
#include "shell.h"

enum sc_client_state { SC_CLIENT_NEW, SC_CLIENT_STARTED, SC_CLIENT_STOPPED };

struct sc_request { /* somebody waits for it, on whose stack it is; on a list under the gate's lock */
        struct sc_list      link;
        bool                asked, done;
        bool                cancel; /* else a query */
        struct sc_id        task;
        bool                force;
        bool                  many; /* a cancel of many: what is asked, without its tag, and what is answered */
        struct sc_cancel_many cancel_many;
        char                  tag[SC_NAME_MAX + 1]; /* of that, or of a query */
        struct sc_query_msg query;
        bool                drains; /* asks for a drain instead */
        struct sc_drain     drain;
        int                 status; /* when done: an outcome, or a negative status */
        uint64_t            next;
        /* rows as they come: take() copies one to place `count` */
        void (*take)(struct sc_request *r, const struct sc_msg *row);
        void  *rows;
        size_t count, capacity;
};

struct scaler_client {
        struct scaler_runtime *rt;
        bool                   owns_runtime;
        struct sc_mem         *mem;
        struct sc_gate        *gate;
        struct sc_access       access;
        uint64_t               id;
        bool                   admin;
        bool                   nested; /* the tasks of a worker submit with it */
        uint64_t               pending_max;
        uint32_t               weight, running_max; /* as given */
        char                   url[SC_URL_MAX + 1];
        char                   name[SC_NAME_MAX + 1], tenant[SC_NAME_MAX + 1];
        sc_ns                  give_up;
        /* the gate's lock */
        enum sc_client_state state;
        struct sc_post       front;
        bool                 posted;
        struct sc_list       submits;  /* futures, by their work link */
        struct sc_list       todo;     /* likewise */
        struct sc_list       requests; /* struct sc_request */
        uint32_t             tickets;
        uint64_t             sequence; /* the last one given out */
        uint64_t             pending, submitted, succeeded, failed, cancelled;
        bool                 linked, closed;
        bool                 left;     /* every link is closed, after stop */
        int                  given_up; /* a status */
        char                 given_up_text[SC_WHY_MAX + 1];
        /* the turn's */
        struct sc_cli_shell *shell;
        struct sc_nets       nets;
        struct sc_member     member;
        struct sc_batch      batch;
        bool                 joined, leaving;
        struct sc_list       ended; /* futures of which nobody has been told yet, by their turn link */
        uint32_t             ended_count;
        struct sc_map        futures; /* {0, sequence} -> future, one reference each */
};

/* Leaves the request at the front and waits for it: 0 or SC_E_TIMEOUT; its link is off all lists afterwards. */
int sc_client_ask(struct scaler_client *c, struct sc_request *r, int64_t timeout_ms);

/* With an id: of the worker whose tasks will submit with it.  0: one of its own. */
int  sc_client_make(const scaler_client_options *options, uint64_t nested, struct scaler_client **out,
                    scaler_error *err);
void sc_client_unmake(struct scaler_client *c); /* as scaler_client_destroy(), which passes by those of workers */
void sc_client_leave(struct scaler_client *c);  /* in a turn or held: says goodbye */

/* ---- client_turn.c: in a turn, but for the last two ---- */

void                               sc_client_run_front(struct sc_post *post, sc_ns now);
const struct sc_cli_shell_upcalls *sc_client_upcalls(void);
const struct sc_member_ops        *sc_client_member_ops(void);
/* A future that the core never saw ends; drops the map's reference. */
void sc_client_end_unadmitted(struct scaler_client *c, struct scaler_future *f, int status);
void sc_client_give_up(struct scaler_client *c, int status, const char *why);
/* In a turn or held: all that is pending ends here, with these words. */
void sc_client_end_all(struct scaler_client *c, const char *why);
bool sc_client_mark_posted(struct scaler_client *c); /* locked; true: the caller posts the front */

/* Locked: may so many be submitted now, and futures with ids at the front. */
int  sc_client_may_submit(const struct scaler_client *c, size_t count, scaler_error *err);
int  sc_client_knock(const struct scaler_client *c, scaler_error *err); /* is there memory for more */

/* A future for the spec, its body encoded; SC_E_INVALID, SC_E_TOO_BIG, SC_E_NOMEM with words. */
int sc_client_make_future(struct scaler_client *c, const scaler_spec *spec, size_t index, struct scaler_future **out,
                          scaler_error *err);

/* ---- admin.c, explain.c: rows of answers ---- */

/* Terminated, and cut if need be. */
void sc_put_text(char *out, size_t size, struct sc_view text);
/* The place of the next row: the caller's, with the stride that its first one names. */
void *sc_request_place(const struct sc_request *r);
/* Asks and waits: 0, or why there is no answer. */
int sc_client_ask_query(struct scaler_client *c, struct sc_request *r, int64_t timeout_ms);
/* A page of rows: their number; `r` has the query but for its cursor and rows_max. */
int  sc_client_page(struct scaler_client *c, struct sc_request *r, uint64_t *cursor, int64_t timeout_ms, void *rows,
                    size_t count);
void sc_take_task(struct sc_request *r, const struct sc_msg *m);

/* What a STATUS row tells, as the public header has it. */
void sc_stats_from_row(scaler_scheduler_stats *out, const struct sc_status_row *row);

#endif
