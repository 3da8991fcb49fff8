/*
 * Every message between roles, as a plain struct.  A message owns nothing: its views and arrays
 * point into the frame it was unpacked from, or into the rows of the core that sends it, and are
 * good until that frame or the core's next step.  Whoever keeps bytes copies them.
 *
 * Identity.  A task is (client, sequence).  A run is one execution of it: `run` counts up over a
 * scheduler's life and is never reused within its random `epoch`.  A message about a run is
 * accepted only from the connection that holds the task's current run (the fence).
 */
#ifndef SC_MSG_H
#define SC_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sc_id.h"
#include "why.h"

/* ---- limits, all enforced by the unpacker before anything is allocated ------------------------ */

enum {
        SC_NAME_MAX      = 127,     /* bytes of a function, worker, client or tenant name */
        SC_TOKEN_MAX     = 1024,    /* bytes of a token */
        SC_TEXT_MAX      = 199,     /* bytes of a failure's text or a closing reason */
        SC_BODY_MAX      = 1 << 20, /* bytes of a task's encoded arguments or command */
        SC_RESULT_MAX    = 1 << 20, /* bytes of one inline result, likewise of inline errors */
        SC_OUTPUT_CHUNK  = 1 << 16, /* bytes of one OUTPUT record */
        SC_FUNCTIONS_MAX = 4096,    /* functions one worker may offer */
        SC_HOLDS_MAX     = 4096,    /* runs one worker may hold at once (slots + prefetch, too) */
        SC_SLOTS_MAX     = 1024,
        SC_PREFETCH_MAX  = 256,
        SC_AMOUNTS_MAX   = 32,      /* names in a list of amounts */
        SC_AMOUNTS_TEXT  = 511,     /* bytes of such a list in its canonical form */
        SC_PRIORITY_MAX  = 1000,    /* priorities are -1,000 to 1,000 */
        SC_WEIGHT_MAX    = 1000000, /* weights are 1 to a million; 0 stands for 1,000 */
        SC_RETRY_ON_MAX  = 127,     /* bytes of a plan's retry_on */
        SC_AFTER_MAX     = 131072,  /* dependencies of one task, each read counted */
        SC_PARENT_SIZE   = 16,      /* bytes of a plan's parent */
        SC_WAITING_MAX   = 1024,    /* runs of one worker that wait for tasks of their own */
        SC_QUERY_ROWS_MAX = 256,    /* rows of one page */
        SC_ATTEMPTS_MAX  = 8        /* attempts of a task that are remembered, the last ones */
};

#define SC_FRAME_MAX (4u << 20) /* bytes of a frame with its header */

/* ---- bytes lent by somebody ------------------------------------------------------------------- */

struct sc_view {
        const void *ptr;
        size_t      len;
};

struct sc_views {
        const struct sc_view *at;
        uint32_t              count;
};

/* ---- kinds and who may send them ---------------------------------------------------------------*/

enum sc_role {
        SC_ROLE_NONE      = 0,
        SC_ROLE_CLIENT    = 1,
        SC_ROLE_WORKER    = 2,
        SC_ROLE_ADMIN     = 3,
        SC_ROLE_SCHEDULER = 4,
        SC_ROLES
};

/* X(name, number on the wire, roles that may send it as a bit set of 1 << enum sc_role) */
#define SC_FROM_C (1 << SC_ROLE_CLIENT)
#define SC_FROM_W (1 << SC_ROLE_WORKER)
#define SC_FROM_A (1 << SC_ROLE_ADMIN)
#define SC_FROM_S (1 << SC_ROLE_SCHEDULER)
#define SC_MSG_LIST(X) \
        X(HELLO, 1, SC_FROM_C | SC_FROM_W | SC_FROM_A) \
        X(WELCOME, 2, SC_FROM_S) \
        X(BYE, 3, SC_FROM_C | SC_FROM_W | SC_FROM_A | SC_FROM_S) \
        X(SUBMIT, 16, SC_FROM_C) \
        X(CANCEL, 17, SC_FROM_C | SC_FROM_A) \
        X(WANT, 18, SC_FROM_C) \
        X(CANCEL_MANY, 19, SC_FROM_C | SC_FROM_A) \
        X(DRAIN, 20, SC_FROM_A) \
        X(RESULT, 32, SC_FROM_S) \
        X(CONFIRM, 33, SC_FROM_S) \
        X(CONFIRM_MANY, 34, SC_FROM_S) \
        X(GRAPH_DONE, 35, SC_FROM_S) \
        X(DRAINED, 36, SC_FROM_S) \
        X(ASSIGN, 48, SC_FROM_S) \
        X(STOP, 49, SC_FROM_S) \
        X(RECALL, 50, SC_FROM_S) \
        X(KEEP, 51, SC_FROM_S) \
        X(DROP, 52, SC_FROM_S) \
        X(LEAVE, 53, SC_FROM_S | SC_FROM_W) \
        X(STARTED, 64, SC_FROM_W) \
        X(DONE, 65, SC_FROM_W) \
        X(RETURNED, 66, SC_FROM_W) \
        X(WAITING, 67, SC_FROM_W) \
        X(RESUMED, 68, SC_FROM_W) \
        X(OUTPUT, 72, SC_FROM_W | SC_FROM_S) \
        X(OUTPUT_ACK, 73, SC_FROM_C | SC_FROM_S) \
        X(QUERY, 80, SC_FROM_A | SC_FROM_C) \
        X(STATUS_ROW, 81, SC_FROM_S) \
        X(WORKER_ROW, 82, SC_FROM_S) \
        X(CLIENT_ROW, 83, SC_FROM_S) \
        X(TASK_ROW, 84, SC_FROM_S) \
        X(QUERY_END, 85, SC_FROM_S) \
        X(TASK_WHY, 86, SC_FROM_S) \
        X(ATTEMPT_ROW, 87, SC_FROM_S) \
        X(WORKER_WHY, 88, SC_FROM_S)

enum sc_msg_kind {
#define SC_MSG_ENUM(name, number, from) SC_MSG_##name = (number),
        SC_MSG_LIST(SC_MSG_ENUM)
#undef SC_MSG_ENUM
};

const char *sc_msg_name(int kind);                       /* "SUBMIT"; "?" for a stranger */
bool        sc_msg_may_send(enum sc_role from, int kind); /* the rights table */
const char *sc_role_name(enum sc_role role);             /* "worker" */

/* RESULT, GRAPH_DONE and DONE are kept by their sender until acknowledged; the rest is rebuilt after a break. */
static inline bool sc_msg_is_acked(int kind)
{
        return kind == SC_MSG_RESULT || kind == SC_MSG_DONE || kind == SC_MSG_GRAPH_DONE;
}

/* ---- the pieces --------------------------------------------------------------------------------*/

/* A GRAPH runs nothing: it stands for the nodes that name it, and ends when all of them have. */
enum sc_task_kind { SC_TASK_FUNCTION = 0, SC_TASK_COMMAND = 1, SC_TASK_GRAPH = 2, SC_TASK_KINDS };

/* Why a task, or one run of it, ended as it did.  Order is the wire's. */
#define SC_REASON_LIST(X) \
        X(SUCCESS, 0, "success") \
        X(TASK, 1, "task") \
        X(WORKER_DIED, 2, "worker_died") \
        X(RUN_TIMEOUT, 3, "run_timeout") \
        X(QUEUE_TIMEOUT, 4, "queue_timeout") \
        X(DEADLINE, 5, "deadline") \
        X(DEPENDENCY, 6, "dependency") \
        X(OBJECT_LOST, 7, "object_lost") \
        X(LIMIT, 8, "limit") \
        X(CANCELLED, 9, "cancelled") \
        X(CLIENT, 10, "client") \
        X(NOT_STARTED, 11, "not_started") \
        X(KEY, 12, "key") \
        X(WOULD_DEADLOCK, 13, "would_deadlock")

enum sc_reason {
#define SC_REASON_ENUM(name, number, text) SC_REASON_##name = (number),
        SC_REASON_LIST(SC_REASON_ENUM)
#undef SC_REASON_ENUM
        SC_REASONS
};

const char *sc_reason_name(int reason); /* "worker_died" */

/* How a command's process ended; NONE for functions. */
enum sc_how {
        SC_HOW_NONE        = 0,
        SC_HOW_EXITED      = 1,
        SC_HOW_SIGNALLED   = 2,
        SC_HOW_NOT_STARTED = 3,
        SC_HOW_STOLEN      = 4,
        SC_HOWS
};

/* The end of a run and of a task: DONE carries it in, RESULT carries it out, unchanged. */
struct sc_outcome {
        uint8_t  reason;       /* enum sc_reason */
        uint8_t  how;          /* enum sc_how */
        int32_t  code;         /* what the function returned or failed with; exit code; signal; errno */
        uint64_t wall_us, user_us, sys_us;
        uint64_t peak_kib;
        uint64_t streamed;     /* bytes of output that travelled in OUTPUT records, all of which came before */
        struct sc_view result; /* a function's result or failure detail; a command's stdout unless streamed */
        struct sc_view errors; /* a command's stderr unless streamed */
        struct sc_view text;   /* words for people; empty on success */
};

/* What few tasks ask for.  Times count from when the message is sent, so both ends need no common clock. */
struct sc_plan {
        uint64_t not_before_ms;  /* not placed earlier; 0: at once */
        uint64_t queue_ms;       /* reason queue_timeout when it has not been started by then; 0: no limit */
        uint64_t deadline_ms;    /* reason deadline when it has not ended by then, all its runs included; 0: none */
        uint32_t backoff_ms;     /* wait before the first retry; doubled for each further one, with jitter; 0: none */
        uint32_t backoff_max_ms; /* the longest such wait; 0: 60,000 */
        struct sc_view needs;    /* canonical amounts (amounts.h); empty: cpu=1 */
        struct sc_view tag;      /* for people and for cancels in bulk; <= SC_NAME_MAX */
        struct sc_view retry_on; /* which failures of its own are tried again: "1,70-79,timeout,signal"; empty: all */
        /* Graphs.  `after` are dependencies, older tasks of the same client: 8 bytes each, a sequence with SC_AFTER_*
         * (after.h).  Those that are read come first, in the order of the arguments that they become. */
        struct sc_view after;
        /* Results: in a SUBMIT those that are known already, one for each that is READ and ENDED; in an ASSIGN all that
         * it reads.  They become the arguments that the body leaves open, in order. */
        struct sc_views results;
        uint32_t nodes;          /* a GRAPH: how many tasks will name it */
        uint64_t graph;          /* sequence of the GRAPH it belongs to; 0: none */
        uint32_t graph_flags;    /* SC_GRAPH_* */
        uint32_t root_reason;    /* not 0: a dependency has ended so already, because of `root` ... */
        uint64_t root;           /* ... a sequence; its own: it cannot run for that reason itself */
        struct sc_view key;      /* of idempotency: tasks of a tenant that have the same are one; <= SC_NAME_MAX */
        /* Nested: the task whose run submits it, 16 bytes, client and sequence as `after` has them; empty: none.  And
         * that run; 0: the one that the sender's worker has kept over a break and not been told the number of yet. */
        struct sc_view parent;
        uint64_t       parent_run;
};
#define SC_AFTER_READ     (UINT64_C(1) << 63) /* its result is an argument */
#define SC_AFTER_ENDED    (UINT64_C(1) << 62) /* the sender knows its end: nothing to wait for */
#define SC_AFTER_SEQUENCE (SC_AFTER_ENDED - 1)
#define SC_SEQUENCE_MAX   SC_AFTER_SEQUENCE /* of a client's task */
/* In the sequence of an id: not a client's task, but what workers call those that have one key (sc_key). */
#define SC_SEQUENCE_KEY   (UINT64_C(1) << 63)
enum {
        SC_GRAPH_INNER     = 1, /* nobody waits for its RESULT: there is none */
        SC_GRAPH_FAIL_FAST = 2  /* a GRAPH: the first failure cancels all that has not ended */
};

/* What the scheduler must know of a task; `body` it only carries (wire/body.h). */
struct sc_spec {
        uint8_t  kind;             /* enum sc_task_kind */
        uint8_t  flags;            /* SC_SPEC_* */
        int32_t  priority;         /* -SC_PRIORITY_MAX .. SC_PRIORITY_MAX; higher first */
        uint32_t retries;          /* re-runs after a failure of its own, on request */
        uint64_t timeout_ms;       /* wall time per run; 0: none */
        struct sc_view function;   /* empty for a command */
        struct sc_view body;
        const struct sc_plan *plan; /* NULL: nothing of it; an ASSIGN's has `needs` and `results` alone */
};
enum {
        SC_SPEC_STREAM      = 1, /* output travels as OUTPUT records as it comes, not collected */
        SC_SPEC_RESUBMITTED = 2  /* sent before to another epoch or link: it may be running somewhere */
};

struct sc_hold { /* a run that a worker still has when it says hello */
        struct sc_id task;
        uint64_t     epoch, run;
        uint8_t      flags; /* SC_HOLD_* */
};
enum { SC_HOLD_RUNNING = 1, SC_HOLD_DONE = 2, SC_HOLD_WAITING = 4 /* running, for others, without a slot */ };

/* ---- the messages ------------------------------------------------------------------------------*/

enum { SC_VERSION_MIN = 1, SC_VERSION_MAX = 1 };

/* Optional abilities.  AFTER: a client that may name a task in `after` in the frame that confirms its RESULT, so what a
 * frame confirms is forgotten after its records.  LEAVE: a worker that may be asked to leave, and a scheduler that may
 * be told that a worker leaves. */
enum { SC_FEATURE_AFTER = 1, SC_FEATURE_LEAVE = 2, SC_FEATURES = SC_FEATURE_AFTER | SC_FEATURE_LEAVE };

struct sc_hello {
        uint32_t version_min, version_max;
        uint64_t features;     /* bit set of optional abilities; both sides use the intersection */
        uint8_t  role;         /* enum sc_role */
        uint64_t id;           /* random, not 0, minted once per role object */
        uint64_t incarnation;  /* counts the dials of that object, from 1 */
        uint64_t epoch;        /* of the scheduler last known; 0: none */
        struct sc_view token, name, tenant;
        /* client */
        uint32_t weight;       /* its share within its tenant; 0: 1,000 */
        uint32_t running_max;  /* at most so many of its tasks at workers; 0: no limit */
        /* worker */
        uint32_t slots, free_slots;
        struct sc_view        offers; /* canonical amounts; without a cpu it offers as many as it has slots */
        const struct sc_view *functions;
        uint32_t              function_count;
        const struct sc_hold *holds;
        uint32_t              hold_count;
};

struct sc_welcome {
        uint32_t version;
        uint64_t features;
        uint64_t id;           /* of the scheduler object */
        uint64_t epoch;
        uint64_t known_up_to;  /* clients: the highest sequence admitted; everything above is to be sent again */
        uint32_t silent_ms;    /* a link quiet for so long is dead */
        uint32_t tasks_most, kib_most; /* clients: never granted more than that; 0: it does not say */
        struct sc_view name;
};

struct sc_bye {              /* an orderly leave; the link closes after it */
        int32_t        status;
        struct sc_view why;
};

struct sc_submit {
        struct sc_id   task;
        struct sc_spec spec;
};

struct sc_cancel {
        struct sc_id task;
        bool         force;
};

enum sc_cancelled { SC_CANCEL_CANCELED = 0, SC_CANCEL_FAILED = 1, SC_CANCEL_NOT_FOUND = 2 };

struct sc_confirm {
        struct sc_id task;
        uint8_t      outcome; /* enum sc_cancelled */
};

/* All tasks, admitted before it came, that fit what is said here. */
struct sc_cancel_many {
        uint32_t       ticket; /* comes back in the answer */
        uint64_t       client; /* whose; 0: a client's own, everybody's for an admin */
        uint64_t       up_to;  /* none with a higher sequence; 0: any */
        struct sc_view tag;    /* only those with it; empty: with any or none */
        bool           force;
};

struct sc_confirm_many {     /* it has gone over all of them */
        uint32_t ticket;
        uint64_t count;      /* of tasks that ended by it or were told to stop */
        int32_t  status;     /* 0 or a negative status */
};

struct sc_drain {            /* a worker is to leave, or the scheduler itself is to stop */
        uint32_t ticket;
        uint64_t worker;      /* 0: the scheduler */
        uint64_t deadline_ms; /* what still runs by then is let go of; 0: it is waited for */
};

struct sc_drained {          /* it has left, or will not */
        uint32_t ticket;
        uint64_t worker;
        int32_t  status;     /* 0: in order; else why not */
        uint32_t finished, returned, released, lost; /* runs it had, since it was to leave */
        uint64_t took_ms;
        struct sc_view name;
};

struct sc_leave {            /* from the scheduler: leave; from a worker: it does */
        uint64_t deadline_ms; /* as of a drain */
};

struct sc_want {             /* what the client could use: rows and KiB of arguments */
        uint32_t tasks, kib;
        uint32_t least_tasks, least_kib; /* with less than both of these it can send nothing; 0: anything helps */
};

struct sc_result {
        struct sc_id      task;
        uint32_t          attempts, losses;
        uint64_t          worker; /* that ran it last; 0: none */
        uint64_t          root;   /* sequence of the task whose end ended this one; 0: it was its own */
        uint8_t           root_reason; /* how that ended */
        struct sc_outcome outcome;
};

struct sc_graph_done {       /* all nodes have ended; after the RESULTs of its targets */
        struct sc_id task;   /* the GRAPH */
        uint8_t      reason; /* success, cancelled, or dependency when some node failed */
        uint8_t      root_reason;
        uint64_t     root;   /* the first that failed; 0: none */
        uint32_t     succeeded, failed, cancelled, skipped;
};

struct sc_assign {
        struct sc_id   task;
        uint64_t       run;
        uint32_t       attempt; /* from 1 */
        struct sc_spec spec;
};

struct sc_about_run {        /* STOP RECALL KEEP DROP STARTED RETURNED WAITING RESUMED */
        struct sc_id task;
        uint64_t     run;
        uint64_t     held_epoch, held_run; /* KEEP, DROP: the hold this answers, which may be another epoch's */
        bool         force;    /* STOP */
        bool         released; /* RETURNED: it had begun, and its worker leaves without it */
};

struct sc_done {
        struct sc_id      task;
        uint64_t          run;
        struct sc_outcome outcome;
};

/* Output of one run is one sequence of bytes in which each chunk is tagged with its stream. */
struct sc_output {
        struct sc_id   task;
        uint64_t       run;    /* a new one: the output starts again at offset 0 */
        uint8_t        stream; /* 1 or 2 */
        uint64_t       offset;
        struct sc_view bytes;  /* 1 .. SC_OUTPUT_CHUNK */
};

struct sc_output_ack {
        struct sc_id task;
        uint64_t     run;
        uint64_t     received; /* everything below has arrived; the worker forgets it */
        uint64_t     limit;    /* the worker may send up to here */
        bool         again;    /* send everything from `received` once more */
};

/* WORKER_WHY of one worker, or pages of all. */
enum sc_query {
        SC_QUERY_STATUS     = 1,
        SC_QUERY_WORKERS    = 2,
        SC_QUERY_CLIENTS    = 3,
        SC_QUERY_TASKS      = 4,
        SC_QUERY_TASK_WHY   = 5,
        SC_QUERY_WORKER_WHY = 6,
        SC_QUERIES
};

/* Which tasks: what is 0, empty or false selects nothing out. */
struct sc_query_msg {
        uint32_t ticket; /* comes back in every row and in the end */
        uint8_t  what;   /* enum sc_query */
        uint64_t cursor; /* 0: from the start; else what QUERY_END gave */
        uint32_t rows_max; /* 1 .. SC_QUERY_ROWS_MAX */
        uint64_t client;   /* TASKS: of this client; TASK_WHY: whose; a client's own in any case */
        uint64_t sequence; /* TASK_WHY: which; 0: the newest that is still known */
        uint64_t worker;   /* WORKER_WHY: which; 0: a page of all */
        uint32_t states;   /* TASKS: in these public states, 1 << enum sc_public_state, ... */
        uint32_t stages;   /* ... or in these stages, 1 << state of task_fsm.h */
        uint64_t first, last; /* TASKS: sequences; last 0: no end */
        bool     newest;   /* TASKS of one client: the newest first */
        struct sc_view tag; /* TASKS: that have it */
};
enum { SC_STAGES = 16 }; /* room for states of task_fsm.h */

struct sc_status_row {
        uint32_t ticket;
        uint64_t epoch;
        uint64_t uptime_ms;
        uint32_t clients, workers, admins, links;
        uint32_t tasks_waiting, tasks_ready, tasks_assigned, tasks_ended_unacked, orphans;
        uint32_t slots_total, slots_busy;
        uint64_t tasks_submitted, tasks_done, tasks_failed, tasks_cancelled, runs_lost, runs_kept, stale_dropped;
        uint64_t bytes_used, bytes_max;
        uint32_t tasks_max;
        uint32_t tasks_kept; /* ended, and kept for those who will read the result */
        struct sc_view version;
};

struct sc_worker_row {
        uint32_t ticket;
        uint64_t worker;
        struct sc_view name;
        uint32_t slots, credit, assigned, started, functions;
        uint64_t done, failed, lost;
        uint64_t connected_ms;
        bool     draining; /* it is to leave, and gets nothing more */
};

struct sc_client_row {
        uint32_t ticket;
        uint64_t client;
        struct sc_view name, tenant;
        bool     connected;
        uint32_t tasks, grant_tasks;
        uint64_t submitted, connected_ms;
};

struct sc_task_row {
        uint32_t ticket;
        struct sc_id task;
        uint8_t  state;      /* enum sc_public_state */
        uint8_t  kind;
        uint32_t attempt, losses;
        uint64_t worker;     /* 0: none */
        uint64_t age_ms;
        struct sc_view function;
        uint8_t  stage;      /* enum sc_task_state of task_fsm.h */
        struct sc_view tag;
};

/* What is known of one task; its text is a sentence that says `why` with its numbers. */
struct sc_task_why {
        uint32_t ticket;
        struct sc_id task;
        uint8_t  state;      /* enum sc_public_state */
        uint8_t  stage;      /* enum sc_task_state of task_fsm.h */
        uint8_t  kind;
        uint8_t  why;        /* enum sc_cause */
        uint8_t  reason;     /* of an ended one: enum sc_reason */
        uint64_t since_ms;   /* for so long in this stage, or running */
        uint64_t age_ms;
        uint64_t until_ms;   /* when it goes on at the latest; 0: not known */
        uint64_t number;     /* what it waits for: dependencies, workers that fit, runs at its worker ... */
        uint32_t attempt, losses;
        uint32_t attempts;   /* rows that follow */
        int32_t  priority;
        uint64_t worker;     /* that has it; 0: none */
        struct sc_view text, worker_name, function, needs, tag, tenant;
};

/* One attempt that did not end its task, the oldest first. */
struct sc_attempt_row {
        uint32_t ticket;
        uint32_t attempt;
        uint64_t worker;
        uint64_t began_ms, ended_ms; /* so long ago */
        uint8_t  reason, how;
        int32_t  code;
        uint64_t wall_us, user_us, sys_us, peak_kib; /* 0: not known */
        struct sc_view worker_name, text;
};

struct sc_worker_why {
        uint32_t ticket;
        uint64_t worker;
        uint8_t  why;      /* enum sc_idle */
        uint32_t slots, credit, assigned, started;
        uint32_t held;     /* runs that hold slots and amounts */
        uint32_t functions;
        uint64_t done, failed, lost, connected_ms;
        struct sc_view name, text, offers, used; /* the last two: people's form of amounts */
};

struct sc_query_end {
        uint32_t ticket;
        uint64_t next;   /* 0: that was all */
        int32_t  status; /* 0 or a negative status */
};

/* The task states that monitors of this field know (the reference system's vocabulary). */
#define SC_PUBLIC_STATE_LIST(X) \
        X(INACTIVE, 0, "inactive") \
        X(RUNNING, 1, "running") \
        X(CANCELING, 2, "canceling") \
        X(BALANCE_CANCELING, 3, "balance-canceling") \
        X(SUCCESS, 4, "success") \
        X(FAILED, 5, "failed") \
        X(FAILED_WORKER_DIED, 6, "failed-worker-died") \
        X(CANCELED, 7, "canceled") \
        X(CANCELED_NOT_FOUND, 8, "canceled-not-found") \
        X(WORKER_DISCONNECTING, 9, "worker-disconnecting")

enum sc_public_state {
#define SC_PUBLIC_ENUM(name, number, text) SC_PUBLIC_##name = (number),
        SC_PUBLIC_STATE_LIST(SC_PUBLIC_ENUM)
#undef SC_PUBLIC_ENUM
        SC_PUBLIC_STATES
};

const char *sc_public_state_name(int state);

struct sc_msg {
        int kind; /* enum sc_msg_kind */
        union {
                struct sc_hello      hello;
                struct sc_welcome    welcome;
                struct sc_bye        bye;
                struct sc_submit     submit;
                struct sc_cancel     cancel;
                struct sc_cancel_many  cancel_many;
                struct sc_confirm_many confirm_many;
                struct sc_drain      drain;
                struct sc_drained    drained;
                struct sc_leave      leave;
                struct sc_want       want;
                struct sc_result     result;
                struct sc_confirm    confirm;
                struct sc_graph_done graph_done;
                struct sc_assign     assign;
                struct sc_about_run  about; /* STOP RECALL KEEP DROP STARTED RETURNED WAITING RESUMED */
                struct sc_done       done;
                struct sc_output     output;
                struct sc_output_ack output_ack;
                struct sc_query_msg  query;
                struct sc_status_row status_row;
                struct sc_worker_row worker_row;
                struct sc_client_row client_row;
                struct sc_task_row   task_row;
                struct sc_query_end  query_end;
                struct sc_task_why   task_why;
                struct sc_attempt_row attempt_row;
                struct sc_worker_why worker_why;
        };
};

#endif
