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
#include "sched_graph.h"
#include "sched_queue.h"
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
        SCHED_ROOM_TELL    = 16384, /* bytes that telling a result needs beside its frame */
        SCHED_BULK_SHARE   = 2,    /* a step's bulk cancels leave half of it to everything else */
        SCHED_ROOM_BALANCE = 32,
        SCHED_RECALL_REST_MS = 1000, /* between two recalls of one task */
        SCHED_NOTES_MAX    = 16,
        SCHED_BACKOFF_MAX_MS = 60000, /* the longest wait before a retry, unless the plan says */
        SCHED_TALLIES_MAX  = 1024, /* workers that were lost and are remembered */
        SCHED_NOTE_SIZE    = 320,
        SCHED_INPUTS_STEP  = 4096, /* results read by the runs that one step places, but for the last of them */
        SCHED_SETS_MAX     = 4096, /* requirement sets kept apart at once; the first is cpu=1 */
        SCHED_BITS         = 1024, /* functions whose index is below are looked up by a bit */
        SCHED_NEEDY_MAX    = 4096, /* classes that need anything else than cpu=1 */
        SCHED_LANES_SHARE  = 4,    /* classes and lanes may take so much of bytes_max: one in four */
        SCHED_LANES_LEAST  = 1 << 20, /* bytes, however small bytes_max is */
        SCHED_WEIGHT       = 1000,    /* of who says none */
        SCHED_TENANTS_MAX  = 1024  /* with options of their own */
};

#define SCHED_TIGHT_REST   (10 * SC_MS)  /* between two looks at whether there is memory again */
#define SCHED_AGING_MAX    (INT64_MAX / 4096) /* 26 days: what is longer makes no difference, and cannot overflow */
#define SCHED_FIRST_GUESS  SC_MS         /* what a run takes whose like has never been measured */
#define SCHED_SHORT        SC_MS         /* tasks that take no longer are handed out in runs */
#define SCHED_LONG         (50 * SC_MS)  /* of those that do, a slot has at most one waiting behind it */
#define SCHED_SHARE_UNIT   256           /* slot-nanoseconds at weight 1 for one step of virtual time */

#define SCHED_BALANCE_REST SC_MS         /* between two looks at who is idle */
#define SCHED_LOOK_ON      (10 * SC_MS)  /* when there were too many to look at all of them */
#define SCHED_KILL_GRACE   (5 * SC_S)    /* what the worker needs to kill a run past its limit */
#define SCHED_BACKSTOP     (10 * SC_S)   /* and what we give it on top, twice */
#define SCHED_RELEASE_AFTER (6 * SC_S)   /* from a deadline to the end without the worker: its grace and a moment */

/* ---- rows --------------------------------------------------------------------------------------*/

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
        uint32_t          block_size, self, lane, worker, client;
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
        uint32_t          charged_us; /* slot-time its shares were charged for the present run */
        union {
                uint32_t recalled_ms; /* of the scheduler's life; 0: never */
                uint32_t root_reason; /* ended */
        };
        uint16_t          flags;
        uint8_t           losses, state, kind, spec_flags, reason, words;
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

/* ---- what is needed and what is offered --------------------------------------------------------*/

struct sched_amount {
        uint64_t name[4]; /* its bytes, zeros after them: compared as numbers */
        uint64_t thousandths; /* 0: it is there, or it is not */
};

/* What a task needs, sorted by name.  Its text is canonical and leaves "cpu=1000" out; the first set has none. */
struct sched_set {
        struct sc_id        key;  /* hash of the text */
        struct sched_set   *same; /* next of the same hash */
        uint32_t            self, refs, count, text_len;
        struct sc_plan        said; /* what an ASSIGN says of it */
        const struct sc_plan *plan; /* that, or NULL for the first set */
        struct sched_amount amount[]; /* and the text */
};

/* Runs of one set at one worker.  `holders` of them hold its amounts, the others wait for one of those to end. */
struct sched_runs {
        uint32_t set, assigned, holders, recalling;
};

/* Workers that offer the same: functions and amounts. */
struct sched_crew {
        struct sc_id         key;
        struct sched_crew   *same;
        uint32_t             self, refs, live; /* workers: all, and those that are not gone */
        uint32_t             mixed;            /* those that have runs of other sets than the first */
        uint32_t             function_count, offer_count;
        bool                 even;             /* as much cpu as slots: the first set is bounded by slots alone */
        uint32_t            *functions;        /* ascending */
        struct sched_amount *offers;           /* sorted by name */
        struct sc_heap       roomy;            /* those with room, by load */
        size_t               position;         /* in the heap of crews that have somebody with room */
        uint64_t             sets[SCHED_SETS_MAX / 64]; /* which it could ever fulfil */
        uint64_t             known[SCHED_BITS / 64];    /* functions of low indices, once more */
};

/* ---- ready rows, by what they need and whose they are ------------------------------------------*/

struct sched_class;

struct sched_function {
        struct sc_id           key;  /* hash of the name */
        struct sched_function *same; /* next of the same hash */
        struct sched_class    *first, *last;
        uint32_t               self, refs;
        sc_ns                  expected; /* slot-time of a run */
        uint8_t                name_len;
        char                   name[];
};

/* A function and what it needs.  A level is those of one priority in it, a group those of one tenant in that, a
 * lane those of one client in that: it owns the queues.  What has nothing to place leaves its heaps when next
 * it is looked at, and who is over a limit waits on a list of those whose limit it is. */
struct sched_class {
        struct sched_function *function;
        struct sched_set      *set;
        struct sched_class    *next, *before; /* of the same function */
        struct sc_heap         tops, ages;    /* levels: by priority, by the age of the oldest row */
        struct sc_list         alone;         /* lanes with last chances */
        uint32_t               self, levels;
        uint32_t               crews;    /* crews of workers that serve it */
        uint32_t               ready, ready_alone;
        uint32_t               active;   /* position among active classes, or SCHED_NONE */
        uint32_t               reserved; /* the worker that is being emptied for the last chance of one of these */
};

/* What a key in the map of parts is for; the rest of it is exact, so none has the key of another. */
enum sched_part { SCHED_PART_CLASS, SCHED_PART_LEVEL, SCHED_PART_GROUP, SCHED_PART_LANE };

enum sched_standing { SCHED_OUT, SCHED_IN, SCHED_CAPPED };

struct sched_level {
        struct sched_class *class;
        struct sc_heap      shares, ages; /* groups */
        size_t              position[2];  /* in the class's heaps */
        int64_t             age;          /* key: when its oldest row came, earlier for each step of priority */
        int32_t             priority;
        uint32_t            groups;
        bool                in;
};

struct sched_group {
        struct sched_level  *level;
        struct sched_tenant *tenant;
        struct sc_heap       shares, ages; /* lanes */
        size_t               position[2];  /* in the level's heaps */
        uint64_t             share, order; /* keys: virtual time, order of the oldest row */
        struct sc_list       capped;
        uint32_t             lanes;
        uint8_t              standing; /* enum sched_standing */
};

struct sched_lane {
        struct sched_group  *group;
        struct sched_class  *class;
        struct sched_client *client;
        size_t               position[2];  /* in the group's heaps */
        uint64_t             share, order; /* keys */
        struct sched_queue   fifo;
        uint32_t             heap, alone;  /* roots */
        uint32_t             self, refs, ready; /* rows: all, and ready ones that are no last chances */
        int32_t              priority;
        struct sc_list       capped, last; /* `last`: among the lanes of the class with last chances */
        uint8_t              standing;
};

/* An active class as the choice sees it.  Keys are not higher than what they stand for. */
struct sched_entry {
        struct sched_class  *class;
        struct sched_lane   *lane;   /* whose turn it was when the keys were filled in */
        struct sched_tenant *tenant; /* of the only lane there is: its virtual times are read as they are now */
        struct sched_client *client;
        uint64_t             tenant_time, client_time, order;
        uint32_t             set, function; /* of the class */
        int32_t              priority;
        bool                 known; /* the keys are filled in */
        bool                 dry;   /* nothing in it may be placed, last chances apart */
        bool                 stuck; /* nobody with room takes it; whoever gains room looks again */
};

enum sched_parting { SCHED_LOST, SCHED_LEFT, SCHED_SPARED }; /* spared: for want of memory, so that nobody is charged */

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
        struct sched_crew *crew;
        struct sched_runs *runs; /* the first set's stand first */
        uint32_t           runs_len, runs_cap;
        uint32_t           held; /* runs that hold amounts */
        uint64_t           there; /* a bit for each set with runs here, modulo 64 */
        uint64_t          *used; /* of each offer */
        uint32_t           shares; /* what load is counted by: slots, or 1 */
        uint32_t           reserved; /* emptied for the last chance of this class, or SCHED_NONE */
        size_t             position; /* in the heap of those of its crew with room */
        uint32_t           suspects; /* gone: oldest unreported runs still to be charged */
        bool               gone, orderly, spared, joining, alone, touched;
        struct sc_hold    *holds;
        uint32_t           hold_count, hold_next;
        struct sched_tally *tally;
        sc_ns              since;
        struct sc_list     todo, touch;
        uint8_t            name_len;
        char               name[SC_NAME_MAX + 1];
};

/* Part in what is to be had.  Virtual time is slot-time by weight; it never falls. */
struct sched_share {
        uint64_t       time, rest; /* slot-nanoseconds that do not make a step yet */
        uint64_t       credit;     /* charged, and not used */
        uint32_t       weight, ready, running, running_max; /* running_max 0: no limit */
        struct sc_list capped;     /* lanes or groups that wait until it has fewer running */
};

struct sched_tenant {
        struct sc_id         key;  /* hash of the name */
        struct sched_tenant *same; /* next of the same hash */
        struct sched_share   share;
        uint64_t             clock; /* virtual time of the last client chosen */
        uint64_t             granted; /* to its clients */
        uint32_t             self, refs, queued_max; /* queued_max 0: no limit */
        uint8_t              name_len;
        char                 name[];
};

struct sched_client {
        uint64_t           id;
        sc_link_id         link; /* 0: none at present */
        uint32_t           self;
        struct sched_tenant *tenant;
        struct sched_share share;
        struct sched_lane *lane; /* the last one used; NULL: none.  Kept for the next task, which is often like it */
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
        uint8_t            name_len;
        char               name[SC_NAME_MAX + 1];
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
        bool                    tight;  /* something was put off in this step until there is memory */
        size_t                  saying; /* bytes of bodies and results that this step sends: frames will hold them */

        struct sched_page **page;
        uint32_t            page_cap, made, free_row, rows;
        uint32_t            count[SC_STATES];
        uint64_t            order, runs, bytes, ended_bytes;
        size_t              ended_largest; /* of the results kept since there were none */
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

        struct sc_map       function_map, set_map, crew_map; /* by hash */
        struct sc_map       parts; /* classes, levels, groups and lanes by what they are of */
        struct sched_table  functions, sets, crews, classes, lanes;
        struct sched_entry *active; /* classes with ready rows and a worker */
        uint32_t            active_len, active_cap;
        uint32_t            loose;  /* active ones that are neither dry nor stuck */
        uint32_t            stuck;
        uint32_t            needy, needy_active; /* classes of another set than the first: all, and active ones */
        uint32_t            uneven; /* levels of another priority than 0 */
        uint64_t            lane_bytes; /* of classes and all beneath; part of `bytes` */
        uint32_t            alone_ready, reservations;

        struct sc_map       tenant_map; /* by hash of the name */
        struct sched_table  tenants;
        struct sc_tenant_options others; /* of tenants that are not listed */
        uint64_t            clock;  /* virtual time of the last tenant chosen */

        struct sc_map      links;   /* link -> sched_link */
        struct sc_map      peers;   /* role, peer -> sched_link */
        struct sc_map      clients; /* peer -> sched_client */
        struct sc_map      tallies; /* peer -> sched_tally */
        struct sc_list     idle_tallies; /* those without a link, longest first */
        uint32_t           idle_tally_count;
        struct sched_table client_at, worker_at;
        uint32_t           worker_count, client_links, admin_links;
        uint64_t           worker_serial;
        struct sc_heap     roomy; /* crews, by their least loaded worker with room */
        uint32_t           room_count; /* workers in all of them */
        struct sc_list     touched, todo_workers, todo_clients, lost_clients, hungry;
        struct sc_list     dead_workers, dead_clients; /* until the next step: an effect may lend their names */
        uint32_t           excess; /* runs that hold nothing yet, and wait behind others */
        sc_ns              balance_at, rested_at; /* rested_at: when to look again though nothing has happened */
        uint32_t           balance_crew; /* where the next look begins */
        bool               balance_due, grants_freed;

        uint64_t grant_sum, kib_sum;
        uint64_t submitted, succeeded, failed, cancelled, lost, kept, stale;
        uint32_t note_len;
        char     note[SCHED_NOTES_MAX][SCHED_NOTE_SIZE];
};

/* ---- sched.c -----------------------------------------------------------------------------------*/

bool sc_sched_bulk(struct sc_sched *s, const struct sc_out *out); /* may a bulk loop do one row more? notes it if not */
bool sc_sched_tight(struct sc_sched *s); /* is memory short, so that more must wait? notes it if so */
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

static inline struct sched_set *sc_sched_set(const struct sc_sched *s, uint32_t index)
{
        return s->sets.at[index];
}

static inline struct sched_lane *sc_sched_lane(const struct sc_sched *s, uint32_t index)
{
        return s->lanes.at[index];
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

static inline bool sc_sched_share_capped(const struct sched_share *share)
{
        return share->running_max > 0 && share->running >= share->running_max;
}

/* As sc_heap_top, where a call would cost more than what it does. */
static inline void *sc_sched_top(const struct sc_heap *heap)
{
        return heap->len > 0 ? heap->at[0] : NULL;
}

/* The place of a task among others: deeper nested ones first, then who came first. */
static inline uint64_t sc_sched_order(uint8_t depth, uint64_t counter)
{
        return (uint64_t)(UINT8_MAX - depth) << 56 | counter;
}

/* The how-manieth task it was, whatever its depth. */
static inline uint64_t sc_sched_counter(uint64_t order)
{
        return order & ((UINT64_C(1) << 56) - 1);
}

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
bool sc_sched_outcome_fits(const struct sc_sched *s, const struct sched_task *t, const struct sc_outcome *outcome);
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

/* ---- sched_amount.c ----------------------------------------------------------------------------*/

bool sc_sched_sets_init(struct sc_sched *s);
void sc_sched_sets_fini(struct sc_sched *s);
/* The needs of a task as a set's text has them; `text` lends the room.  False: they are not canonical. */
bool sc_sched_needs(const struct sc_spec *spec, char text[SC_AMOUNTS_TEXT + 1], struct sc_view *needs);
struct sched_set *sc_sched_set_take(struct sc_sched *s, struct sc_view needs, bool *full); /* counted */
void              sc_sched_set_drop(struct sc_sched *s, struct sched_set *set);
struct sc_view    sc_sched_set_text(const struct sched_set *set);
/* What a worker offers, cpu included.  False: not canonical. */
bool sc_sched_offers(const struct sc_hello *h, struct sched_amount out[SC_AMOUNTS_MAX + 1], uint32_t *count);
bool sc_sched_fulfils(const struct sc_sched *s, const struct sched_crew *crew, const struct sched_set *set); /* ever */
bool sc_sched_fits(const struct sc_sched *s, const struct sched_worker *w, const struct sched_set *set);    /* now */
/* Would it fit if no run of `without` held anything? */
bool sc_sched_fits_without(const struct sc_sched *s, const struct sched_worker *w, const struct sched_set *set,
                           const struct sched_set *without);
struct sched_runs *sc_sched_runs(const struct sched_worker *w, uint32_t set); /* NULL: there are none */
/* By what it counts at a worker: an orphan by the first set, and all where amounts are not counted. */
struct sched_set *sc_sched_set_of(const struct sc_sched *s, const struct sched_task *t);
/* Takes amounts off what is free, or gives them back, with nobody to hold them: for looking ahead. */
void sc_sched_claim(const struct sc_sched *s, struct sched_worker *w, const struct sched_set *set, bool more);
void sc_sched_runs_join(struct sc_sched *s, struct sched_worker *w, const struct sched_set *set);
void sc_sched_runs_leave(struct sc_sched *s, struct sched_worker *w, const struct sched_set *set);

/* ---- sched_crew.c ------------------------------------------------------------------------------*/

struct sched_crew *sc_sched_crew_take(struct sc_sched *s, const struct sc_hello *hello); /* NULL: no memory */
void sc_sched_crew_drop(struct sc_sched *s, struct sched_crew *crew);
void sc_sched_crew_live(struct sc_sched *s, struct sched_crew *crew, bool joins); /* a worker of it comes or goes */
bool sc_sched_crew_serves(const struct sched_crew *crew, const struct sched_class *c);
bool sc_sched_crew_knows(const struct sched_crew *crew, uint32_t function);
bool sc_sched_crew_roomier(const void *a, const void *b);
void sc_sched_crew_moved(void *item, size_t position);
void sc_sched_crew_changed(struct sc_sched *s, struct sched_crew *crew); /* the heap of its workers did */

static inline bool sc_sched_serves(const struct sched_crew *crew, uint32_t set, uint32_t function)
{
        if (!(crew->sets[set / 64] >> set % 64 & 1))
                return false;
        return function < SCHED_BITS ? crew->known[function / 64] >> function % 64 & 1
                                     : sc_sched_crew_knows(crew, function);
}

/* ---- sched_class.c -----------------------------------------------------------------------------*/

struct sc_id sc_sched_hash(const struct sc_sched *s, struct sc_view bytes);
struct sched_function *sc_sched_function_take(struct sc_sched *s, struct sc_view name); /* counted; NULL: no memory */
void sc_sched_function_drop(struct sc_sched *s, struct sched_function *f);
void sc_sched_measured(struct sc_sched *s, struct sched_function *f, sc_ns took);
struct sched_class *sc_sched_class_of(struct sc_sched *s, struct sc_view name, struct sc_view needs, bool *full);
void sc_sched_class_drop(struct sc_sched *s, struct sched_class *c); /* unless it has levels */
void sc_sched_class_crew(struct sc_sched *s, struct sched_class *c, bool joins);
void sc_sched_lane_bytes(struct sc_sched *s, size_t size, bool more); /* on or off the bill */
void sc_sched_activate(struct sc_sched *s, struct sched_class *c);
void sc_sched_entry_stuck(struct sc_sched *s, struct sched_entry *e, bool stuck);
void sc_sched_entry_dry(struct sc_sched *s, struct sched_entry *e, bool dry);
void sc_sched_entry_forget(struct sc_sched *s, struct sched_class *c); /* something in it came to be placeable */

/* ---- sched_lane.c ------------------------------------------------------------------------------*/

/* The lane of a task, counted.  NULL: no memory, or with *full one of the limits. */
struct sched_lane *sc_sched_lane_take(struct sc_sched *s, struct sched_client *c, const struct sc_spec *spec,
                                      struct sc_view needs, bool *full);
void sc_sched_lane_drop(struct sc_sched *s, struct sched_lane *lane);
void sc_sched_levels_init(struct sc_sched *s, struct sched_class *c);
void sc_sched_lanes_fini(struct sc_sched *s);
void sc_sched_lane_enter(struct sc_sched *s, struct sched_lane *lane); /* it has something to place */
void sc_sched_lane_older(struct sc_sched *s, struct sched_lane *lane, uint64_t order); /* its head has become older */
void sc_sched_uncap(struct sc_sched *s, struct sched_share *share, bool of_tenant);
/* Whose turn it is in a class, or NULL; and the oldest below a priority, with when it came as of priority 0. */
struct sched_lane *sc_sched_class_pick(struct sc_sched *s, struct sched_class *c);
struct sched_lane *sc_sched_class_oldest(struct sc_sched *s, struct sched_class *c, int32_t below, int64_t *age);

/* ---- sched_tenant.c ----------------------------------------------------------------------------*/

bool sc_sched_tenants_init(struct sc_sched *s);
void sc_sched_tenants_fini(struct sc_sched *s);
struct sched_tenant *sc_sched_tenant_take(struct sc_sched *s, struct sc_view name); /* counted; NULL: no memory */
void sc_sched_tenant_drop(struct sc_sched *s, struct sched_tenant *tenant);
void sc_sched_share_init(struct sched_share *share, uint32_t weight, uint32_t running_max);
void sc_sched_share_enter(struct sched_share *share, uint64_t clock); /* something is ready again */
void sc_sched_charge(struct sc_sched *s, struct sched_task *t, bool in_turn);   /* as it is placed */
void sc_sched_settle(struct sc_sched *s, struct sched_task *t, sc_ns took); /* as its run ends; 0: it was not made */
void sc_sched_running(struct sc_sched *s, struct sched_client *c, bool more);

/* ---- sched_ready.c -----------------------------------------------------------------------------*/

void sc_sched_ready_add(struct sc_sched *s, struct sched_task *t);
void sc_sched_ready_remove(struct sc_sched *s, struct sched_task *t);
uint32_t sc_sched_ready_head(const struct sc_sched *s, const struct sched_lane *lane); /* oldest but last chances */
bool sc_sched_is_last_chance(const struct sc_sched *s, const struct sched_task *t);

/* ---- sched_place.c -----------------------------------------------------------------------------*/

enum sched_takes { SCHED_NOT, SCHED_BEHIND, SCHED_NOW }; /* behind: it would wait for a run of the same set to end */

void sc_sched_place(struct sc_sched *s, struct sc_out *out);
enum sched_takes sc_sched_takes(const struct sc_sched *s, const struct sched_worker *w, const struct sched_class *c);
bool sc_sched_has_room(const struct sched_worker *w);
void sc_sched_recall(struct sc_sched *s, struct sched_task *t, struct sc_out *out);
void sc_sched_worker_changed(struct sc_sched *s, struct sched_worker *w);
void sc_sched_worker_gained(struct sc_sched *s, struct sched_worker *w);
void sc_sched_worker_leaves_room(struct sc_sched *s, struct sched_worker *w);
void sc_sched_unreserve(struct sc_sched *s, struct sched_worker *w);
bool sc_sched_roomier(const void *a, const void *b);
void sc_sched_roomy_moved(void *item, size_t position);

/* ---- sched_balance.c ---------------------------------------------------------------------------*/

void  sc_sched_balance(struct sc_sched *s, struct sc_out *out);
sc_ns sc_sched_balance_deadline(const struct sc_sched *s);

/* ---- sched_worker.c ----------------------------------------------------------------------------*/

/* False: no memory, and nothing is changed. */
bool sc_sched_worker_up(struct sc_sched *s, struct sched_link *l, const struct sc_event *ev, struct sc_out *out);
void sc_sched_worker_down(struct sc_sched *s, struct sched_worker *w, enum sched_parting how, struct sc_out *out);
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
void sc_sched_orphan_drop(struct sc_sched *s, struct sched_task *t, struct sc_out *out);
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
uint32_t sc_sched_grant_most_tasks(const struct sc_sched *s, const struct sched_client *c); /* that it may ever have */
uint32_t sc_sched_grant_most_kib(const struct sc_sched *s);
void sc_sched_grant_more(struct sc_sched *s, struct sched_client *c, struct sc_out *out);
void sc_sched_grant_shrink(struct sc_sched *s, struct sched_client *c); /* without a link: what its rows need */
void sc_sched_grants_round(struct sc_sched *s, struct sc_out *out);

/* ---- sched_check.c, sched_check_lanes.c --------------------------------------------------------*/

uint32_t sc_sched_queue_check(const struct sc_sched *s, const struct sched_queue *q, enum sched_link_pair pair);
void     sc_sched_heap_check(const struct sc_heap *heap);
void     sc_sched_check_lanes(const struct sc_sched *s);
void     sc_sched_check_amounts(const struct sc_sched *s);

/* ---- sched_output.c, sched_query.c -------------------------------------------------------------*/

void sc_sched_on_output(struct sc_sched *s, struct sched_worker *w, const struct sc_output *m, struct sc_out *out);
void sc_sched_on_output_ack(struct sc_sched *s, struct sched_link *l, const struct sc_output_ack *m,
                            struct sc_out *out);
void sc_sched_on_query(struct sc_sched *s, struct sched_link *l, const struct sc_query_msg *m, struct sc_out *out);

#endif
