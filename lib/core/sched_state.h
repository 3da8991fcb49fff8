/*
 * What the scheduler's files share: its rows, peers and classes, and the calls between nouns.  Only
 * sched*.c includes this.  Rows live in pages that never move; everything refers to everything else
 * by index, and to a run by its number as well.
 */
#ifndef SC_SCHED_STATE_H
#define SC_SCHED_STATE_H

#include "sc_heap.h"
#include "sc_list.h"
#include "sc_map.h"
#include "sc_mem.h"
#include "sc_status.h"
#include "sc_sched.h"
#include "task_fsm.h"

#define SCHED_NONE UINT32_MAX

enum {
        SCHED_PAGE         = 1024, /* rows of a page; a power of two */
        SCHED_ASKERS_MAX   = 8,    /* links that may wait for the end of one cancel */
        SCHED_ASKS_MAX     = 16,   /* requests of one link for one task, unanswered */
        SCHED_BULKS_MAX    = 16,   /* cancels of many by one link, unanswered */
        SCHED_CREDIT_MAX   = 65536,
        SCHED_GRANT_FIRST  = 1024,
        SCHED_KIB_FIRST    = 16384,
        SCHED_ROOM_BULK    = 192,  /* effects a bulk loop leaves for others; one row's end needs at most 130 */
        SCHED_ROOM_PLACE   = 64,
        SCHED_BULK_SHARE   = 2,    /* a step's bulk cancels leave half of it to everything else */
        SCHED_ROOM_BALANCE = 32,
        SCHED_RECALL_REST_MS = 1000, /* between two recalls of one task */
        SCHED_NOTES_MAX    = 16,
        SCHED_BACKOFF_MAX_MS = 60000, /* the longest wait before a retry, unless the plan says */
        SCHED_TALLIES_MAX  = 1024, /* workers that were lost and are remembered */
        SCHED_NOTE_SIZE    = 320,
        SCHED_INPUTS_STEP  = 4096 /* results read by the runs that one step places, but for the last of them */
};

#define SCHED_BALANCE_REST SC_MS         /* between two looks at who is idle */
#define SCHED_KILL_GRACE   (5 * SC_S)    /* what the worker needs to kill a run past its limit */
#define SCHED_BACKSTOP     (10 * SC_S)   /* and what we give it on top, twice */
#define SCHED_RELEASE_AFTER (6 * SC_S)   /* from a deadline to the end without the worker: its grace and a moment */

/* ---- rows --------------------------------------------------------------------------------------*/

enum sched_link_pair { SCHED_AT, SCHED_MINE, SCHED_PAIRS };

/* The queue that its state puts a row on hangs on AT; the rows of a client, or all orphans, on MINE. */
struct sched_pair {
        uint32_t next, prev;
};

struct sched_queue {
        uint32_t head, tail, len;
};

enum { /* flags of a row */
        SCHED_STARTED  = 1 << 0, /* its run is reported to be running */
        SCHED_CHARGED  = 1 << 1, /* `run` is lost and counted among the losses */
        SCHED_FORCED   = 1 << 2, /* the worker is told to kill it */
        SCHED_VISITED  = 1 << 3, /* its client is gone for good, and it has been dealt with */
        SCHED_PLANNED  = 1 << 4, /* the block has a plan, at its start or behind the node */
        SCHED_IN_HEAP  = 1 << 5, /* ready, and not at the tail end of its class */
        SCHED_IN_ALONE = 1 << 6, /* ready for its last chance */
        SCHED_ALONE    = 1 << 7, /* runs its last chance; nothing may join it */
        SCHED_ANSWERED = 1 << 8, /* `run` has failed by itself and was counted; the task waits to be tried again */
        SCHED_MARKED   = 1 << 10, /* in the queue of rows whose end, or failed dependency, is to be passed on */
        SCHED_IN_GRAPH = 1 << 11, /* counts in a graph */
        SCHED_NODE     = 1 << 12, /* the block starts with a node or, of a graph's row, with a graph */
        SCHED_BLOCKED  = 1 << 13, /* some dependency has not succeeded: it waits wherever else it would be ready */
        SCHED_OPEN     = 1 << 14, /* ended while its graph was still coming in: nodes to come may read it */
        SCHED_INNER    = 1 << 15  /* nobody waits for its result but other tasks */
};

enum sched_words {
        SCHED_WORDS_NONE,
        SCHED_WORDS_MEMORY,
        SCHED_WORDS_CANCELLED,
        SCHED_WORDS_DIED,
        SCHED_WORDS_NOT_STARTED,
        SCHED_WORDS_OVERDUE_QUEUED,
        SCHED_WORDS_OVERDUE_BACKOFF,
        SCHED_WORDS_OVERDUE_RUN,
        SCHED_WORDS_DEPENDENCY, /* from here on `order` and `root_reason` say whose end it was */
        SCHED_WORDS_DEPENDENCY_CANCELLED
};

struct sched_task {
        struct sc_id      id;
        uint64_t          run;   /* the current or last one; an orphan's as its worker calls it */
        uint64_t          order; /* place among all tasks; an orphan's epoch, or the root of an end, instead */
        sc_ns             since; /* admitted, or first held */
        uint8_t          *block; /* until the end: plan if any, body; then: outcome with its bytes, or NULL */
        uint64_t          last_worker;
        uint32_t          block_size, self, class_index, worker, client;
        struct sched_pair link[SCHED_PAIRS];
        uint32_t          child; /* in a heap of ready rows; or next of those that are marked */
        uint32_t          chain; /* next of the same bucket */
        uint32_t          asks;  /* who waits for the end of a cancel */
        uint32_t          edges; /* first of the chain of those who wait for its end */
        uint32_t          refs;  /* reads to come, and to-do lists that it is on */
        uint32_t          attempt;
        union {
                uint32_t retries;
                uint32_t graph; /* ended: the row of its graph, as long as that is there */
        };
        int32_t           priority;
        union {
                uint32_t recalled_ms; /* of the scheduler's life; 0: never */
                uint32_t root_reason; /* ended */
        };
        uint16_t          flags;
        uint8_t           losses, state, kind, spec_flags, reason, words;
};

/* One dependency of one task; found from both its ends. */
struct sched_edge {
        uint32_t reader;     /* the row that depends */
        uint32_t of;         /* on this one; SCHED_NONE: on nothing any more, or a constant */
        uint32_t next, prev; /* in the chain of `of` until that ends; a constant: where it lies, how long it is */
        uint32_t sibling;    /* the next of the same reader */
        uint8_t  read, chained;
};

/* Heads the block of a task that depends on others or belongs to a graph. */
struct sched_node {
        uint64_t input_bytes; /* of what it reads, as far as that is known */
        uint64_t root;        /* if broken: why */
        uint32_t graph;       /* row, or SCHED_NONE */
        uint32_t edges;       /* the first of its own, in the order of `after` */
        uint32_t waiting;     /* how many of them are chained */
        uint32_t inputs;      /* how many are read: the first ones */
        uint32_t constants;   /* bytes of constants, behind the plan */
        uint32_t weight;      /* bytes it counts for its client beside the body */
        uint8_t  root_reason; /* not 0: broken, and to be ended where it waits */
};

/* Is the block of a graph's row, before and after its end. */
struct sched_graph {
        struct sc_list     todo;
        uint64_t           root;   /* sequence of the first that failed; 0: none */
        uint32_t           self, nodes, admitted, live, succeeded, failed, cancelled, skipped;
        uint32_t           cursor; /* sweeping: the next row of its client to be looked at */
        struct sched_queue open;   /* rows kept because the graph was still coming in */
        uint8_t            root_reason, flags;
        bool               sweeping, dead, force, asked;
};

/* What few tasks ask for.  Times that are not pending, or are met, are SC_NEVER. */
struct sched_plan {
        size_t   position;    /* in the heap of plans */
        sc_ns    at;          /* the earliest of those below that count in the row's state; the heap's key */
        sc_ns    wake_at;     /* BACKOFF: not before */
        sc_ns    queue_at;    /* is to have been started by then */
        sc_ns    deadline_at; /* is to have ended by then */
        sc_ns    limit_at;    /* backstop of the run's time limit; armed when it is reported started */
        sc_ns    release_at;  /* past its deadline: ends then, whether its worker has answered or not */
        uint64_t timeout_ms;
        uint32_t row, backoff_ms, backoff_max_ms, retried;
        bool     told;        /* past its limit: STOP went out; next the link is closed */
        uint8_t  tag_len, retry_len;
        char     words[];     /* tag, retry_on */
};

struct sched_page {
        uint32_t          bucket[SCHED_PAGE]; /* heads of chains: there are as many buckets as rows ever made */
        struct sched_task task[SCHED_PAGE];
};

/* A cancel of many on its way through the rows.  It stands at a row of its client's queue, which moves it on when
 * the row leaves; or for everybody's at a place in the table. */
struct sched_bulk {
        struct sc_list list, mine; /* of the scheduler, and of the client whose queue is walked */
        sc_link_id     link;
        uint64_t       order_max;  /* rows admitted later are none of its */
        uint64_t       up_to, count;
        uint32_t       ticket, cursor, end; /* end: of the table; SCHED_NONE: a client's queue is walked */
        bool           force;
        uint8_t        tag_len;
        char           tag[];
};

struct sched_ask {
        sc_link_id link;
        uint32_t   next, count;
};

/* ---- ready rows, by what they need -------------------------------------------------------------*/

struct sched_class {
        struct sc_id        key; /* hash of the name */
        struct sched_class *same; /* next of the same hash */
        struct sched_queue  fifo;
        uint32_t            heap, alone; /* roots */
        uint32_t            self, refs, workers, roomy, ready;
        uint32_t            active;   /* position among active classes, or SCHED_NONE */
        uint32_t            reserved; /* the worker that is being emptied for the last chance of one of these */
        uint8_t             name_len;
        char                name[];
};

/* ---- peers -------------------------------------------------------------------------------------*/

struct sched_link {
        sc_link_id id;
        uint64_t   peer;
        uint32_t   index; /* of the client or worker */
        uint8_t    role;
        bool       welcomed;
        uint8_t    bulks; /* cancels of many it waits for */
};

/* What came of the runs of one worker, over all its links. */
struct sched_tally {
        uint64_t       id, done, failed, lost;
        uint32_t       links; /* whose workers count here */
        struct sc_list idle;
};

struct sched_worker {
        uint64_t           id, serial;
        sc_link_id         link; /* 0: gone */
        uint32_t           self, slots, credit, recalling;
        uint32_t           assigned; /* runs it has: those of rows, and `kept` */
        uint32_t           kept;     /* runs it has not answered for, whose tasks ended without it */
        struct sched_queue started, unstarted;
        uint32_t          *classes; /* ascending */
        uint32_t           class_count;
        uint32_t           reserved; /* emptied for the last chance of this class, or SCHED_NONE */
        size_t             position; /* in the heap of those with room */
        uint32_t           suspects; /* gone: oldest unreported runs still to be charged */
        bool               gone, orderly, joining, alone, touched;
        struct sc_hold    *holds;
        uint32_t           hold_count, hold_next;
        struct sched_tally *tally;
        sc_ns              since;
        struct sc_list     todo, touch;
        uint8_t            name_len;
        char               name[SC_NAME_MAX + 1];
};

struct sched_client {
        uint64_t           id;
        sc_link_id         link; /* 0: none at present */
        uint32_t           self, last_class;
        struct sched_queue mine;   /* all its rows */
        struct sched_queue ended;  /* those with a result, oldest first: sent ones, then the others */
        uint32_t           unsent; /* first of `ended` not sent on this link, or SCHED_NONE */
        uint32_t           sent;   /* how many of `ended` are sent and not confirmed */
        uint64_t           acks;   /* confirmed, rows not yet freed: always the first of `ended` */
        uint64_t           known, body_bytes, submitted;
        uint32_t           grant, kib, want, want_kib, least, least_kib;
        uint32_t           stale;  /* first of `ended`: results that an earlier link may have brought already */
        bool               resend; /* `unsent` is to start at the first of `ended` once `acks` are worked off */
        bool               names;  /* SC_FEATURE_AFTER */
        bool               doomed; /* all it asked is being cancelled; a new link is welcomed after that */
        sc_ns              since, grace_at;
        struct sc_list     todo, hungry, lost;
        struct sc_list     bulks; /* those that walk `mine` */
        uint8_t            name_len, tenant_len;
        char               name[SC_NAME_MAX + 1], tenant[SC_NAME_MAX + 1];
};

/* Index -> object, with room for one more reserved beforehand. */
struct sched_table {
        void    **at;
        uint32_t *free;
        uint32_t  cap, len, free_len; /* len: indices ever used */
};

struct sc_sched {
        struct sc_mem          *mem;
        struct sc_sched_options opt;
        sc_ns                   now, start, claim_end;
        uint32_t                visits; /* rows seen in this step */
        uint32_t                speaking; /* the client whose link this step's event came over, or SCHED_NONE */
        bool                    more;   /* work is left for the next step */

        struct sched_page **page;
        uint32_t            page_cap, made, free_row, rows;
        uint32_t            count[SC_STATES];
        uint64_t            order, runs, bytes, ended_bytes;
        struct sched_queue  claims, orphans;
        struct sc_heap      plans;      /* those with a time pending */
        uint32_t            plan_count; /* of all rows */
        struct sc_list      bulks; /* each in its turn */
        struct sched_ask   *ask;
        uint32_t            ask_cap, ask_free;
        struct sched_edge **edge_page;
        uint32_t            edge_page_cap, edge_made, edge_free, edge_spare; /* spare: on the free list */
        uint32_t            marked_first, marked_last; /* rows, by their `child` */
        uint32_t            release;   /* first edges of what ended rows still hold, by their `next` */
        uint32_t            releasing; /* how many rows that are */
        struct sc_list      graphs;    /* with something to do */
        uint32_t            sweeps;
        struct sc_view     *inputs;    /* of this step's ASSIGNs */
        uint32_t            inputs_cap, inputs_used;
        struct sc_plan     *told;      /* likewise; as many as a step may have effects */
        uint32_t            plans_told;

        struct sc_map      class_map;
        struct sched_table classes;
        uint32_t          *active; /* classes with ready rows and a worker */
        uint32_t           active_len, active_cap;
        uint32_t           alone_ready, reservations;

        struct sc_map      links;   /* link -> sched_link */
        struct sc_map      peers;   /* role, peer -> sched_link */
        struct sc_map      clients; /* peer -> sched_client */
        struct sc_map      tallies; /* peer -> sched_tally */
        struct sc_list     idle_tallies; /* those without a link, longest first */
        uint32_t           idle_tally_count;
        struct sched_table client_at, worker_at;
        uint32_t           worker_count, client_links, admin_links;
        uint64_t           worker_serial;
        struct sc_heap     roomy;
        struct sc_list     touched, todo_workers, todo_clients, lost_clients, hungry;
        struct sc_list     dead_workers, dead_clients; /* until the next step: an effect may lend their names */
        uint32_t           excess; /* runs beyond the slots of their workers */
        sc_ns              balance_at;
        bool               balance_due, grants_freed;

        uint64_t grant_sum, kib_sum;
        uint64_t submitted, succeeded, failed, cancelled, lost, kept, stale;
        uint32_t note_len;
        char     note[SCHED_NOTES_MAX][SCHED_NOTE_SIZE];
};

/* ---- sched.c -----------------------------------------------------------------------------------*/

bool sc_sched_bulk(struct sc_sched *s, const struct sc_out *out); /* may a bulk loop do one row more? notes it if not */
/* A log line or a text is built piece by piece; what does not fit is left out. */
struct sched_text {
        char  *at;
        size_t len, max;
};
void sc_sched_text(struct sched_text *text, const char *words);
void sc_sched_text_name(struct sched_text *text, const char *name, size_t len); /* control characters become '?' */
void sc_sched_text_number(struct sched_text *text, uint64_t number);
/* A line that starts with a subject; more may be appended to it until the next one.  False: enough for this step. */
bool sc_sched_note(struct sc_sched *s, struct sc_out *out, struct sc_id id, struct sched_text *text);
struct sched_link *sc_sched_link(const struct sc_sched *s, sc_link_id link);
/* Closes a link and does all that its loss means. */
void sc_sched_close(struct sc_sched *s, struct sched_link *l, int status, const char *text, struct sc_out *out);
/* The same for what a peer should never have said; leaves a note. */
void sc_sched_nonsense(struct sc_sched *s, struct sched_link *l, int status, const char *text, struct sc_out *out);

/* ---- sched_table.c -----------------------------------------------------------------------------*/

bool     sc_sched_table_reserve(struct sched_table *t, struct sc_mem *mem);
uint32_t sc_sched_table_put(struct sched_table *t, void *what);
void     sc_sched_table_drop(struct sched_table *t, uint32_t index);
void     sc_sched_table_fini(struct sched_table *t, struct sc_mem *mem);

static inline struct sched_worker *sc_sched_worker(const struct sc_sched *s, uint32_t index)
{
        return s->worker_at.at[index];
}

static inline struct sched_client *sc_sched_client(const struct sc_sched *s, uint32_t index)
{
        return s->client_at.at[index];
}

static inline struct sched_edge *sc_sched_edge(const struct sc_sched *s, uint32_t index)
{
        return &s->edge_page[index / SCHED_PAGE][index % SCHED_PAGE];
}

/* What heads the block, before the plan: a node, a graph, or nothing. */
static inline size_t sc_sched_head_size(const struct sched_task *t)
{
        if (!(t->flags & SCHED_NODE))
                return 0;
        return t->kind == SC_TASK_GRAPH ? sizeof(struct sched_graph) : sizeof(struct sched_node);
}

static inline struct sched_class *sc_sched_class(const struct sc_sched *s, uint32_t index)
{
        return s->classes.at[index];
}

/* ---- sched_row.c: the table of rows ------------------------------------------------------------*/

static inline struct sched_task *sc_sched_row(const struct sc_sched *s, uint32_t index)
{
        return &s->page[index / SCHED_PAGE]->task[index % SCHED_PAGE];
}

struct sched_task *sc_sched_find(const struct sc_sched *s, struct sc_id id);
struct sched_task *sc_sched_row_new(struct sc_sched *s, struct sc_id id); /* NULL: no memory, or tasks_max */
void               sc_sched_row_free(struct sc_sched *s, struct sched_task *t);
void               sc_sched_rows_fini(struct sc_sched *s);
void sc_sched_queue_init(struct sched_queue *q);
void sc_sched_queue_add(struct sc_sched *s, struct sched_queue *q, enum sched_link_pair pair, struct sched_task *t);
void sc_sched_queue_remove(struct sc_sched *s, struct sched_queue *q, enum sched_link_pair pair, struct sched_task *t);

/* ---- sched_task.c: admission, moves, ends ------------------------------------------------------*/

void sc_sched_move(struct sc_sched *s, struct sched_task *t, enum sc_task_move move);
void sc_sched_on_submit(struct sc_sched *s, struct sched_link *l, const struct sc_submit *m, struct sc_out *out);
void sc_sched_claims_wake(struct sc_sched *s, struct sc_out *out);
/* Ends a task by `move` as `outcome` says, and tells whoever must know. */
void sc_sched_end(struct sc_sched *s, struct sched_task *t, enum sc_task_move move, const struct sc_outcome *outcome,
                  struct sc_out *out);
void sc_sched_end_cancelled(struct sc_sched *s, struct sched_task *t, enum sc_task_move move, struct sc_out *out);
/* The same without bytes of its own, which needs no memory. */
void sc_sched_end_plainly(struct sc_sched *s, struct sched_task *t, enum sc_task_move move, enum sc_reason reason,
                          enum sched_words words, struct sc_out *out);
struct sc_view sc_sched_body(const struct sched_task *t);
struct sc_view sc_sched_constants(const struct sched_task *t); /* of a node */
uint32_t       sc_sched_weight(const struct sched_task *t);    /* bytes that its client is charged */
void sc_sched_outcome(const struct sched_task *t, struct sc_outcome *out);
void sc_sched_tasks_init(struct sc_sched *s);

/* Of ended rows: gone unless somebody will read the result.  False: it is kept. */
bool sc_sched_let_go(struct sc_sched *s, struct sched_task *t);
/* A graph's row, all of whose nodes have ended: its block stays. */
void sc_sched_end_graph(struct sc_sched *s, struct sched_task *t, enum sc_reason reason, struct sc_out *out);

/* ---- sched_plan.c: what few tasks ask for in time ----------------------------------------------*/

void               sc_sched_plans_init(struct sc_sched *s);
struct sched_plan *sc_sched_plan(const struct sched_task *t); /* NULL: none */
struct sc_view     sc_sched_plan_tag(const struct sched_task *t);
const char        *sc_sched_plan_fault(const struct sc_plan *plan);
size_t             sc_sched_plan_size(const struct sc_spec *spec); /* 0: it needs none */
void sc_sched_plan_fill(struct sc_sched *s, struct sched_task *t, const struct sc_spec *spec);
void sc_sched_plan_moved(struct sc_sched *s, struct sched_task *t, enum sc_task_state from);
void sc_sched_plan_started(struct sc_sched *s, struct sched_task *t);
void sc_sched_plan_tried(struct sc_sched *s, struct sched_task *t);
bool sc_sched_plan_retries(const struct sched_task *t, const struct sc_outcome *outcome); /* worth another run? */
enum sc_task_move sc_sched_plan_unblock(const struct sc_sched *s, const struct sched_task *t); /* UNBLOCK or DELAY */
enum sc_task_move sc_sched_plan_retry(struct sc_sched *s, struct sched_task *t);          /* RETRY or DELAY */
bool sc_sched_overdue(const struct sc_sched *s, const struct sched_task *t);
void sc_sched_end_overdue(struct sc_sched *s, struct sched_task *t, enum sc_task_move move, struct sc_out *out);
void sc_sched_plans_run(struct sc_sched *s, struct sc_out *out);

/* ---- sched_edge.c: who depends on whom ---------------------------------------------------------*/

bool sc_sched_edges_reserve(struct sc_sched *s, uint32_t count);
void sc_sched_edges_add(struct sc_sched *s, struct sched_task *t, const struct sc_plan *plan);
/* It ends: what it depends on is let go, at once or in steps. */
void sc_sched_edges_release(struct sc_sched *s, struct sched_task *t, struct sched_node *node);
/* What waits for it, or it itself if it is broken, is dealt with before this step's end or in the next ones. */
void sc_sched_mark(struct sc_sched *s, struct sched_task *t);
bool sc_sched_edges_todo(struct sc_sched *s, struct sc_out *out); /* false: not finished */
void sc_sched_edges_fini(struct sc_sched *s);
void sc_sched_break(struct sched_node *node, uint64_t root, uint8_t reason);

/* ---- sched_graph.c: nodes and graphs -----------------------------------------------------------*/

struct sched_node  *sc_sched_node(const struct sched_task *t);  /* NULL: it depends on nothing */
struct sched_graph *sc_sched_graph(const struct sched_task *t); /* of a row of that kind */
const char *sc_sched_node_fault(const struct sc_sched *s, const struct sc_submit *m);
size_t sc_sched_node_size(const struct sc_spec *spec); /* what heads the block; 0: nothing */
size_t sc_sched_constants_size(const struct sc_spec *spec);
bool   sc_sched_node_reserve(struct sc_sched *s, const struct sc_spec *spec);
void   sc_sched_node_fill(struct sc_sched *s, struct sched_task *t, const struct sc_spec *spec);
void   sc_sched_node_waits(struct sc_sched *s, struct sched_task *t);
/* It is in its first state: what is to follow at once from what it is part of. */
void   sc_sched_node_admitted(struct sc_sched *s, struct sched_task *t, struct sc_out *out);
bool   sc_sched_node_is_too_big(const struct sched_task *t, const struct sched_node *node);
void   sc_sched_inputs(struct sc_sched *s, const struct sched_task *t, struct sc_spec *spec); /* of an ASSIGN */
void   sc_sched_graph_count(struct sc_sched *s, struct sched_task *t);
bool   sc_sched_graph_is_open(const struct sc_sched *s, const struct sched_task *t); /* of an ended node of it */
void   sc_sched_graph_cancel(struct sc_sched *s, struct sched_task *t, bool force, bool asked);
void   sc_sched_graph_abandon(struct sc_sched *s, struct sched_task *t); /* its client is gone for good */
void   sc_sched_graph_done(const struct sched_task *t, struct sc_graph_done *out);
void   sc_sched_graph_passes(struct sc_sched *s, const struct sched_task *t); /* a row leaves its client */
void   sc_sched_graphs_todo(struct sc_sched *s, struct sc_out *out);
void   sc_sched_graph_check(const struct sc_sched *s);

/* ---- sched_cancel.c ----------------------------------------------------------------------------*/

void sc_sched_on_cancel(struct sc_sched *s, struct sched_link *l, const struct sc_cancel *m, struct sc_out *out);
void sc_sched_stop(struct sc_sched *s, struct sched_task *t, bool force, struct sc_out *out); /* ASSIGNED and on */
void sc_sched_confirm_all(struct sc_sched *s, struct sched_task *t, enum sc_cancelled outcome, struct sc_out *out);
void sc_sched_stop_send(struct sc_sched *s, struct sched_task *t, bool force, struct sc_out *out);

/* ---- sched_bulk.c: cancels of many -------------------------------------------------------------*/

void sc_sched_on_cancel_many(struct sc_sched *s, struct sched_link *l, const struct sc_cancel_many *m,
                             struct sc_out *out);
void sc_sched_bulks_run(struct sc_sched *s, struct sc_out *out);
/* The row is about to leave its client's queue. */
void sc_sched_bulks_leave(const struct sched_client *c, const struct sched_task *t);
void sc_sched_bulks_forget(struct sched_client *c); /* it goes, and has no rows */
void sc_sched_bulks_drop(struct sc_sched *s, sc_link_id link);
void sc_sched_bulks_fini(struct sc_sched *s);

/* ---- sched_ready.c -----------------------------------------------------------------------------*/

struct sched_class *sc_sched_class_take(struct sc_sched *s, struct sc_view name); /* counted; NULL: no memory */
void sc_sched_class_drop(struct sc_sched *s, struct sched_class *c);
void sc_sched_class_worker(struct sc_sched *s, struct sched_class *c, bool joins);
void sc_sched_ready_add(struct sc_sched *s, struct sched_task *t);
void sc_sched_ready_remove(struct sc_sched *s, struct sched_task *t);
uint32_t sc_sched_ready_head(const struct sc_sched *s, const struct sched_class *c); /* oldest but last chances */
bool sc_sched_is_last_chance(const struct sc_sched *s, const struct sched_task *t);

/* ---- sched_place.c -----------------------------------------------------------------------------*/

void sc_sched_place(struct sc_sched *s, struct sc_out *out);
void sc_sched_balance(struct sc_sched *s, struct sc_out *out);
bool sc_sched_serves(const struct sched_worker *w, uint32_t class_index);
bool sc_sched_has_room(const struct sched_worker *w);
void sc_sched_recall(struct sc_sched *s, struct sched_task *t, struct sc_out *out);
void sc_sched_worker_changed(struct sc_sched *s, struct sched_worker *w);
void sc_sched_worker_leaves_room(struct sc_sched *s, struct sched_worker *w);
void sc_sched_unreserve(struct sc_sched *s, struct sched_worker *w);
bool sc_sched_roomier(const void *a, const void *b);
void sc_sched_roomy_moved(void *item, size_t position);

/* ---- sched_worker.c ----------------------------------------------------------------------------*/

/* False: no memory, and nothing is changed. */
bool sc_sched_worker_up(struct sc_sched *s, struct sched_link *l, const struct sc_event *ev, struct sc_out *out);
void sc_sched_worker_down(struct sc_sched *s, struct sched_worker *w, bool orderly, struct sc_out *out);
void sc_sched_on_started(struct sc_sched *s, struct sched_worker *w, const struct sc_about_run *m);
void sc_sched_on_returned(struct sc_sched *s, struct sched_worker *w, const struct sc_about_run *m, struct sc_out *out);
void sc_sched_on_done(struct sc_sched *s, struct sched_link *l, const struct sc_done *m, struct sc_out *out);
void sc_sched_worker_grant(struct sc_sched *s, struct sched_worker *w, uint32_t credit);
void sc_sched_workers_todo(struct sc_sched *s, struct sc_out *out);
void sc_sched_orphans_expire(struct sc_sched *s, struct sc_out *out);
void sc_sched_attach(struct sc_sched *s, struct sched_task *t);
void sc_sched_detach(struct sc_sched *s, struct sched_task *t);
void sc_sched_worker_keeps(struct sc_sched *s, struct sched_worker *w); /* a run whose task has just ended without it */
void sc_sched_mark_started(struct sc_sched *s, struct sched_task *t);
void sc_sched_send_about(struct sc_sched *s, const struct sched_task *t, enum sc_msg_kind kind, struct sc_out *out);
struct sched_task *sc_sched_held(struct sc_sched *s, const struct sched_worker *w, struct sc_id id, uint64_t run);
void sc_sched_worker_free(struct sc_sched *s, struct sched_worker *w);

/* ---- sched_tally.c -----------------------------------------------------------------------------*/

struct sched_tally *sc_sched_tally_take(struct sc_sched *s, uint64_t id); /* NULL: no memory */
void                sc_sched_tally_drop(struct sc_sched *s, struct sched_tally *t, bool for_good);
void                sc_sched_tallies_fini(struct sc_sched *s);

/* ---- sched_client.c ----------------------------------------------------------------------------*/

bool sc_sched_client_up(struct sc_sched *s, struct sched_link *l, const struct sc_event *ev, struct sc_out *out);
void sc_sched_client_down(struct sc_sched *s, struct sched_client *c, bool for_good);
void sc_sched_client_acked(struct sc_sched *s, struct sched_link *l, uint64_t count, struct sc_out *out);
void sc_sched_client_ack(struct sc_sched *s, struct sched_client *c, struct sc_out *out); /* works one of them off */
void sc_sched_clients_todo(struct sc_sched *s, struct sc_out *out);
void sc_sched_clients_expire(struct sc_sched *s);
void sc_sched_client_free(struct sc_sched *s, struct sched_client *c);
void sc_sched_ended_add(struct sc_sched *s, struct sched_task *t);
void sc_sched_ended_remove(struct sc_sched *s, struct sched_task *t);
void sc_sched_result_offer(struct sc_sched *s, struct sched_task *t, struct sc_out *out);
void sc_sched_welcome(struct sc_sched *s, struct sched_link *l, uint64_t known, struct sc_out *out);

/* ---- sched_grant.c -----------------------------------------------------------------------------*/

void sc_sched_on_want(struct sc_sched *s, struct sched_client *c, const struct sc_want *m, struct sc_out *out);
void sc_sched_grant_tell(const struct sched_client *c, struct sc_out *out);
void sc_sched_grant_first(struct sc_sched *s, struct sched_client *c, struct sc_out *out);
uint32_t sc_sched_grant_most_tasks(const struct sc_sched *s); /* that one client may have */
uint32_t sc_sched_grant_most_kib(const struct sc_sched *s);
void sc_sched_grant_more(struct sc_sched *s, struct sched_client *c, struct sc_out *out);
void sc_sched_grant_shrink(struct sc_sched *s, struct sched_client *c); /* without a link: what its rows need */
void sc_sched_grants_round(struct sc_sched *s, struct sc_out *out);

/* ---- sched_output.c, sched_query.c, sched_check.c ----------------------------------------------*/

void sc_sched_on_output(struct sc_sched *s, struct sched_worker *w, const struct sc_output *m, struct sc_out *out);
void sc_sched_on_output_ack(struct sc_sched *s, struct sched_link *l, const struct sc_output_ack *m,
                            struct sc_out *out);
void sc_sched_on_query(struct sc_sched *s, struct sched_link *l, const struct sc_query_msg *m, struct sc_out *out);

#endif
