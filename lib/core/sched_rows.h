/*
 * What the scheduler is made of: its rows, peers and classes.  Rows live in pages that never move;
 * everything refers to everything else by index, and to a run by its number as well.
 */
#ifndef SC_SCHED_ROWS_H
#define SC_SCHED_ROWS_H

#include "sc_heap.h"
#include "sc_list.h"
#include "sc_map.h"
#include "sc_mem.h"
#include "sc_status.h"
#include "sc_sched.h"
#include "sched_drain.h"
#include "sched_graph.h"
#include "sched_key.h"
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
        SCHED_KEYS_KEPT    = 100000, /* ended keys that are remembered, unless an option says */
        SCHED_KEYS_SHARE   = 8,    /* they may take so much of bytes_max: one in eight */
        SCHED_LANES_LEAST  = 1 << 20, /* bytes, however small bytes_max is */
        SCHED_WEIGHT       = 1000,    /* of who says none */
        SCHED_TENANTS_MAX  = 1024  /* with options of their own */
};

#define SCHED_TIGHT_REST   (10 * SC_MS)  /* between two looks at whether there is memory again */
#define SCHED_AGING_MAX    (INT64_MAX / 4096) /* 26 days: what is longer makes no difference, and cannot overflow */
#define SCHED_KEYS_AGE     (3600 * SC_S) /* for so long */
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
        SCHED_TRIED    = 1 << 9,  /* attempts of it are remembered */
        SCHED_MARKED   = 1 << 10, /* in the queue of rows whose end, or failed dependency, is to be passed on */
        SCHED_IN_GRAPH = 1 << 11, /* counts in a graph */
        SCHED_NODE     = 1 << 12, /* the block starts with a node or, of a graph's row, with a graph */
        SCHED_BLOCKED  = 1 << 13, /* some dependency has not succeeded: it waits wherever else it would be ready */
        SCHED_OPEN     = 1 << 14, /* ended while its graph was still coming in: nodes to come may read it */
        SCHED_INNER    = 1 << 15  /* nobody waits for its result but other tasks */
};

enum { SCHED_CHILD = 1 << 7 }; /* in spec_flags: a run submitted it; its block has a nest until it ends */

enum sched_words {
        SCHED_WORDS_NONE,
        SCHED_WORDS_MEMORY,
        SCHED_WORDS_CANCELLED,
        SCHED_WORDS_DIED,
        SCHED_WORDS_NOT_STARTED,
        SCHED_WORDS_OVERDUE_QUEUED,
        SCHED_WORDS_OVERDUE_BACKOFF,
        SCHED_WORDS_OVERDUE_RUN,
        SCHED_WORDS_PARENT,
        SCHED_WORDS_OWN_KEY,
        SCHED_WORDS_SHARED,     /* the block is an answer that others have, too */
        SCHED_WORDS_DEPENDENCY, /* from here on `order` and `root_reason` say whose end it was */
        SCHED_WORDS_DEPENDENCY_CANCELLED
};

struct sched_task {
        struct sc_id      id;
        uint64_t          run;   /* the current or last one; an orphan's as its worker calls it */
        uint64_t          order; /* place among all tasks; an orphan's epoch, or the root of an end, instead */
        sc_ns             since; /* admitted, or first held */
        uint8_t          *block; /* until the end: plan if any, body; then: outcome with its bytes, or NULL */
        union {
                uint64_t last_worker; /* where its last run was */
                sc_ns    held_since;  /* held: since when it runs or is to be stopped, else since it was given away */
        };
        uint32_t          block_size, self, lane, worker, client;
        struct sched_pair link[SCHED_PAIRS];
        uint32_t          child; /* in a heap of ready rows; next of those that are marked; at a worker: the family */
        uint32_t          chain; /* next of the same bucket */
        uint32_t          asks;  /* who waits for the end of a cancel */
        uint32_t          edges; /* first of the chain of those who wait for its end */
        uint32_t          refs;  /* reads to come, and to-do lists that it is on */
        uint32_t          attempt;
        union {
                uint32_t retries;
                uint32_t graph; /* ended: the row of its graph, as long as that is there */
        };
        union {
                uint32_t charged_us; /* held: slot-time its shares were charged for the present run */
                uint32_t state_ms;   /* else: since when it is in this state, of the scheduler's life */
        };
        union {
                uint32_t recalled_ms; /* of the scheduler's life; 0: never */
                uint32_t root_reason; /* ended */
        };
        uint16_t          flags;
        uint8_t           losses, state, kind, spec_flags;
        union {
                uint8_t reason; /* ended */
                uint8_t waits;  /* at a worker: enum sched_waits */
        };
        uint8_t           words;
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
        struct sched_owner *owner; /* NULL: it has no key */
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

/* Runs of one set at one worker.  `holders` of them hold its amounts, the others wait for one of those to end.
 * `started` ones are reported to run, or kept: when there are more of those than hold, the worker has come to begin
 * them in place of some that were to hold. */
struct sched_runs {
        uint32_t set, assigned, holders, recalling, started;
        uint32_t parked; /* of the holders: they wait for tasks of their own, without slot and cpu */
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
        bool       parted; /* it was told goodbye, because the scheduler stops */
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
        uint32_t           credit_most; /* that it ever told; more would be nonsense to it */
        uint32_t           assigned; /* runs it has: those of rows, and `kept`, but not those that wait */
        uint32_t           waiting;  /* for tasks of their own */
        uint32_t           kept;     /* runs it has not answered for, whose tasks ended without it */
        struct sched_queue started, unstarted;
        struct sched_crew *crew;
        struct sched_runs *runs; /* the first set's stand first */
        uint32_t           runs_len, runs_cap, runs_base; /* base: capacity without any that wait */
        uint32_t           held; /* runs that hold amounts */
        uint64_t           there; /* a bit for each set with runs here, modulo 64 */
        uint64_t          *used; /* of each offer */
        uint32_t           shares; /* what load is counted by: slots, or 1 */
        uint32_t           reserved; /* emptied for the last chance of this class, or SCHED_NONE */
        size_t             position; /* in the heap of those of its crew with room */
        uint32_t           suspects; /* gone: oldest unreported runs still to be charged */
        uint32_t           alone;    /* runs that have their last chance, and do not wait */
        bool               gone, orderly, spared, joining, touched;
        bool               has_waited; /* some run has, so for moments more is going on than there are slots */
        bool               leaves;   /* SC_FEATURE_LEAVE */
        bool               draining; /* it is to leave, and gets nothing more */
        struct sched_leave leave;
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
        bool               lowering; /* wants less than its rows need; when some go, `hungry` enters that list */
        bool               doomed; /* all it asked is being cancelled; a new link is welcomed after that */
        sc_ns              since, grace_at;
        struct sc_list     todo, hungry, lost;
        struct sc_list     bulks; /* those that walk `mine` */
        uint32_t           guests; /* rows of others in its lanes: what its tasks submit */
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
        uint32_t                life_ms; /* of the scheduler, modulo 2^32, which is 49 days */
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
        struct sched_table  families;
        struct sc_map       limbo;         /* families whose worker cannot be heard, by row */
        struct sc_list      families_todo; /* with an errand */
        uint32_t            stray;         /* first row whose run's worker has not claimed it yet */
        uint32_t            waiting, waiting_needy; /* runs that do; those that hold something meanwhile */
        struct sc_map       keys;      /* by the first half of their ids */
        struct sc_list      keys_todo, keys_kept, answers;
        uint32_t            kept_count;
        uint64_t            kept_bytes;
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
        uint32_t            long_active;         /* active classes whose runs are expected to be long */
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
        struct sc_list     touched, todo_workers, todo_clients, lost_clients, hungry, lowering;
        struct sc_list     dead_workers, dead_clients; /* until the next step: an effect may lend their names */
        uint32_t           excess; /* runs that hold nothing yet, and wait behind others */
        sc_ns              balance_at, rested_at; /* rested_at: when to look again though nothing has happened */
        uint32_t           balance_crew; /* where the next look begins */
        bool               balance_due, grants_freed;

        struct sched_stop stop;

        uint64_t grant_sum, kib_sum;
        uint64_t submitted, succeeded, failed, cancelled, lost, kept, stale;
        struct sc_map attempts; /* row -> the newest of its attempts that are remembered */
        uint64_t attempt_bytes;
        char    *reply; /* what the answer of this step lends, until the next one */
        size_t   reply_size;
        uint32_t note_len;
        char     note[SCHED_NOTES_MAX][SCHED_NOTE_SIZE];
};

#endif
