/*
 * The simulated world: whole clusters in one thread under a virtual clock, from one seed.  The shells,
 * stations, wire and cores are the real ones; nets, clocks, processes and applications are made up here.
 * Everything that happens is an event in one queue, and all chance comes from one generator, so a seed
 * is a whole history.  Files: sim_clock (events, chance, trace), sim_net (connections), sim_node
 * sim_plan (offers, needs, shares), sim_ledger, sim_idle and sim_explain (judges of them), sim_keys, sim_graph
 * (dependencies), sim_graph_judge, sim_nested, sim_full, sim_world.
 */
#ifndef SIM_H
#define SIM_H

#include "codec.h"
#include "frame.h"
#include "sc_assert.h"
#include "sc_buf.h"
#include "sc_heap.h"
#include "sc_list.h"
#include "sc_map.h"
#include "sc_mem.h"
#include "sc_rng.h"
#include "sc_status.h"
#include "shell.h"

#define SIM_OWNS_PACKET UINT64_MAX /* in an event's b: ptr is a packet on its way */
enum { SIM_NODES_MAX = 32, SIM_TASKS_MAX = 1024, SIM_RUNS_MAX = 160, SIM_FUNCTIONS = 4, SIM_DEPS_MAX = 32 };

enum { SIM_WORKERS_MAX = 8, SIM_TENANTS_MAX = 4, SIM_TEXT_MAX = 127 };

struct sim;

/* ---- amounts ------------------------------------------------------------------------------------- */

enum { SIM_CPU, SIM_GPU, SIM_LINUX, SIM_MEM, SIM_NOWHERE, SIM_AMOUNTS }; /* in the order of their names */

struct sim_amounts {
        uint32_t names; /* bit set */
        uint64_t of[SIM_AMOUNTS];
        char     text[SIM_TEXT_MAX + 1]; /* as it is said; a cpu that goes without saying is not in it */
};

struct sim_tenant {
        char     name[8];
        uint32_t weight, queued_max, running_max;
        uint32_t rows; /* that the scheduler has, as far as frames tell */
};

/* ---- clock, chance, trace ------------------------------------------------------------------------ */

struct sim_event {
        sc_ns    at;
        uint64_t order;
        void (*run)(struct sim *w, struct sim_event *ev);
        void    *ptr;
        uint32_t node, generation;
        uint64_t a, b;
};

/* ---- net ------------------------------------------------------------------------------------------- */

struct sim_packet { /* what one send() carried */
        struct sc_list   link;
        struct sim_conn *to;
        uint64_t         number;
        size_t           len;
        uint8_t         *bytes;
};

struct sim_conn { /* one end; the other end is `other` */
        struct sc_conn   base;
        struct sim      *w;
        struct sim_conn *other, *next; /* next: of all, to be freed with the world */
        uint64_t         id;
        uint32_t         node, generation;
        void            *user;
        bool             up;          /* the station has been told, and knows it still */
        bool             closed;      /* by the station, or told that it is down, or its process is gone */
        bool             busy, stuck; /* a send is in flight; it waits for the window */
        bool             dead;        /* what this end sends from now on never arrives */
        uint64_t         sent, cut;   /* packets sent; those from `cut` on are lost */
        sc_ns            last_arrival, clog_until;
        sc_ns            welcomed_at; /* when the scheduler said so */
        uint32_t         credit;      /* scheduler's end: what the worker has told it takes, */
        bool             less;        /* and that is less than when it was sent something last */
        size_t           in_flight;
        bool             leaves;    /* scheduler's end: the worker was told to leave */
        sc_ns            leaves_at; /* it has said that it does; 0: not */
};

struct sim_net {
        struct sc_net base;
        struct sim   *w;
        uint32_t      node, generation;
        uint64_t      ticket; /* of the dial that is going on; 0: none */
};

/* ---- nodes ----------------------------------------------------------------------------------------- */

enum sim_kind { SIM_SCHEDULER, SIM_WORKER, SIM_CLIENT, SIM_ADMIN, SIM_HOSTILE };

struct sim_post { /* waits in a process's inbox for its next turn */
        struct sc_list link;
        void (*run)(struct sim *w, struct sim_post *post);
        struct sim_conn   *conn;
        struct sim_packet *packet;
        uint32_t           node;
        uint64_t           a, b;
};

struct sim_run {            /* on a worker */
        uint64_t run, exec; /* run 0: free */
        uint32_t task;
        uint64_t printed;
        bool     may_print, stopped;
        bool     returned; /* though it had begun */
        bool     begun;  /* else it waits for a slot */
        bool     nests, waits, woken, parked; /* for its children: until it goes on; told; told to go on; no slot */
        sc_ns    began_at;
        uint64_t order;  /* in which it was told */
        uint64_t gpus;   /* indices, when it has some */
        uint64_t life; /* tells events of an earlier use of this place */
};

struct sim_node {
        enum sim_kind          kind;
        uint32_t               generation; /* counts its processes */
        bool                   alive, turn_due, gave_up, closing, closed, orderly;
        sc_ns                  paused_until, deadline, clock_offset;
        int64_t                clock_ppm;
        uint64_t               turn_order; /* the turn event that counts */
        uint64_t               id;
        struct sc_mem          mem;
        size_t                 blocks;
        uint64_t               allocations, fail_at, fail_count;
        struct sim_net         net;
        struct sc_station_door door;
        struct sc_list         inbox;
        struct sc_sched_shell *sched;
        struct sc_work_shell  *work;
        struct sc_cli_shell   *cli;
        uint64_t               epoch;            /* scheduler */
        uint32_t               slots, functions; /* worker: bit set */
        struct sim_run         run[SIM_RUNS_MAX];
        uint32_t               next_task; /* client: first of its tasks not yet submitted */
        bool                   full;
        struct sim_conn       *raw; /* hostile */
        uint32_t               raw_seq, raw_heard;
        uint64_t               raw_id;
        uint8_t                raw_role;
        uint32_t               taken; /* tasks, by a liar */
        uint32_t               pair;   /* of a worker its own client, and of that its worker; 0: none */
        struct sim_amounts     offers;              /* worker */
        uint32_t               tenant, weight, running_max; /* client */
        sc_ns                  joined_at;                   /* worker: welcomed; 0: not */
        sc_ns                  sweep_at[2];                 /* client: when it cancels many, and of which tag */
        uint32_t               sweep_tag[2], sweeps, swept; /* asked, and answered */
        bool                   drains;  /* worker: somebody wants it to leave and come back */
        bool                   told;    /* worker, scheduler: it knows, and begins nothing more */
        sc_ns                  told_at;
        bool                   untimed; /* nobody has set it a deadline */
        sc_ns                  gone_by; /* 0: no matter */
        uint32_t               asked, answered; /* admin: of drains */
};

/* ---- tasks ------------------------------------------------------------------------------------------ */

enum sim_told { SIM_TOLD_DONE, SIM_TOLD_FAILED, SIM_TOLD_CANCELLED, SIM_TOLD_SKIPPED, SIM_TOLDS };

struct sim_dep { /* on an older task of the same client */
        uint32_t task;
        bool     read; /* its result is an argument */
        bool     used; /* it was there to be named when the task was submitted */
};

struct sim_deps { /* of one submit */
        struct sc_plan plan;
        uint8_t        after[8 * SIM_DEPS_MAX];
        struct sc_view results[SIM_DEPS_MAX];
        uint8_t       *bytes[SIM_DEPS_MAX];
};

enum sim_end { SIM_SUCCEEDS, SIM_FAILS, SIM_POISON };

struct sim_task {
        uint32_t     client;                  /* node */
        uint32_t     parent, children;        /* index + 1 of the task that submits it; how many it submits */
        uint64_t     parent_run;
        sc_ns        submit_at, cancel_at[2]; /* 0: never */
        bool         force[2];
        bool         submitted, orphaned, ended, cancel_asked[2];
        uint8_t      kind;
        bool         stream, ignores_cancel, inline_end;
        enum sim_end end;
        sc_ns        duration;
        uint32_t     function, retries, fails_first;
        uint64_t     timeout_ms;
        size_t       body_len, result_len;
        uint64_t     stream_len;
        struct sc_id id;
        /* what happened */
        uint32_t starts, confirms, cancels, assigns, released;
        uint8_t  confirm, reason;
        uint32_t wire_cancels, wire_confirms, losses, attempts;
        sc_ns    cancelled_at; /* asked first */
        uint64_t got, exec_of_stream, unconsumed;
        bool     stream_broken;
        uint64_t last_epoch, last_run, last_held_epoch, last_held_run; /* the run last made, and who executes it */
        uint64_t window_end, confirmed;                                /* of its output */
        uint64_t cancel_conn;                                          /* on which a cancel went out last */
        /* what it asks for besides */
        struct sim_amounts needs;
        int32_t            priority;
        uint64_t           not_before_ms, queue_ms, deadline_ms;
        uint32_t           backoff_ms, backoff_max_ms;
        const char        *retry_on, *tag;
        bool               hopeless; /* no worker will ever offer what it needs */
        /* what the scheduler knows of it */
        uint8_t          standing;    /* enum sim_standing */
        bool             kept, spoilt; /* spoilt: cancelled, lost or answered, so that the order does not bind it */
        struct sim_conn *at;          /* scheduler's end, while it is PLACED */
        sc_ns            heard_at, ready_at, recalled_at;
        sc_ns            passed_at; /* somebody was placed before it who should not have been; 0: nobody */
        uint32_t         passed_by;
        /* of its times */
        sc_ns    submitted_at, answered_at; /* answered: the scheduler heard of a run's end */
        uint32_t failures;
        bool     swept; /* by a cancel of many, */
        sc_ns    swept_at; /* the first one */
        /* of what it depends on */
        struct sim_dep deps[SIM_DEPS_MAX]; /* those it reads come first */
        uint32_t       dep_count, head;    /* head: its graph's task, plus one */
        uint32_t       nodes;              /* of a graph; they are the client's next tasks */
        bool           inner, fail_fast;   /* inner: nobody has a future for it */
        bool           good, counted, marked;
        uint8_t        root_reason, expected;
        uint32_t       told[SIM_TOLDS];       /* of a graph: its targets */
        bool           gives_up;             /* one that does so at the first failure may have had one */
        uint64_t       value, final_exec, root;
        sc_ns          good_at, ended_at, said_at; /* said: its SUBMIT has been sent to this scheduler; 0: not */
        /* of its key: see sim_keys.c */
        char                   key[8];  /* "": none */
        uint32_t               variant; /* of what defines the work */
        uint32_t               canon;   /* the task that stands for the work; itself without a key */
        bool                   answered;
        sc_ns                  cancel_heard_at;
        struct sc_id           work;    /* of a canon: what workers call it */
        const struct sim_conn *holder;  /* scheduler's end to the worker that has its run; NULL: none */
        uint64_t               answer;  /* the execution whose result its tasks have; 0: none yet */
        sc_ns            fits_at[SIM_WORKERS_MAX]; /* since when that worker could have begun it; 0: it could not */
};

enum sim_standing { SIM_UNKNOWN, SIM_READY, SIM_PLACED, SIM_ANSWERED, SIM_OVER };

struct sim_owed { /* a DONE that its worker must keep */
        uint32_t     node, generation, seq;
        uint64_t     conn, run;
        struct sc_id task;
        sc_ns        at;
};

struct sim_exec { /* one execution by a worker */
        uint32_t task;
        uint64_t epoch, run;
        bool     begun, finished, success;
        uint32_t node, generation; /* of its worker */
        bool     brief; /* its output comes with its end */
};

struct sim_alias { /* a kept run: the number it has now, and the one under which it was made */
        uint32_t task;
        uint64_t epoch, run, made_epoch, made_run;
};

/* ---- the world --------------------------------------------------------------------------------------- */

struct sim_config {
        bool breaks, half_open, clogs, pauses, worker_crashes, client_crashes, scheduler_crashes, skew, hostile, memory;
        bool drains, rolling, restarts; /* see sim_drain.c */
        bool poison_only, blips_only, brief, liars, cancels, streams, big, slow_readers, refused_functions;
        uint32_t schedulers, clients, admins, workers, hostiles, tasks;
        /* shared: see sim_plan.c; calm: and no fault ever happens; full: see sim_full.c */
        bool     graphs; /* see sim_graph.c */
        bool     shared, calm, full, needs, shares, caps, times;
        bool     nested; /* see sim_nested.c */
        bool     keys, keys_quiet, keys_forget; /* quiet: no fault ever happens */
        uint8_t  allocate;
        sc_ns    aging;
        uint32_t tasks_max, client_tasks_max;
        size_t   budget; /* the scheduler's memory; 0: as much as it likes */
        sc_ns    faults_until, finish_by, delay_max, fault_gap, client_grace;
};

struct sim {
        uint64_t              seed;
        struct sim_config     config;
        bool                  trace, healed, quiet;
        uint64_t              hash;
        sc_ns                 now;
        struct sc_rng         rng;
        struct sc_mem         mem;
        struct sc_heap        events;
        uint64_t              order, ids, execs_count, execs_cap;
        struct sim_exec      *execs;
        struct sim_alias     *aliases;
        uint64_t              aliases_count, aliases_cap;
        struct sim_owed      *owed;
        uint64_t              owed_count, owed_cap;
        struct sim_conn      *conns;
        struct sim_node      *nodes;
        uint32_t              node_count;
        struct sim_task      *tasks;
        uint32_t              task_count, ended_count, gone_count;
        struct sc_map         by_id; /* task id -> task */
        struct sc_codec_arena arena;
        uint8_t              *replay[64]; /* frames that hostile peers may repeat */
        size_t                replay_len[64];
        uint32_t              replay_count;
        uint8_t              *pattern;           /* bytes to be cut from for bodies, results and output */
        uint64_t              runs_told;         /* counts what workers were told to run */
        uint64_t              turns, lost_slots; /* lost_slots: of worker processes that died */
        sc_ns                 healed_at;
        int                   phase; /* of the end: 0 tasks, 1 clients leave, 2 workers leave, 3 over */
        struct sc_listener    listener;
        struct sim_tenant     tenants[SIM_TENANTS_MAX];
        sc_ns                 epoch_at; /* when the present scheduler began */
        sc_ns                 longest, full_from, full_for, used[1 + SIM_TENANTS_MAX]; /* used: by client */
        bool                  full_judged;
};

_Noreturn void    sim_fail(struct sim *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint64_t          sim_below(struct sim *w, uint64_t bound);
bool              sim_chance(struct sim *w, uint32_t percent);
sc_ns             sim_between(struct sim *w, sc_ns low, sc_ns high); /* spread evenly over magnitudes */
void              sim_trace(struct sim *w, const char *what, uint64_t a, uint64_t b, uint64_t c);
struct sim_event *sim_at(struct sim *w, sc_ns at, void (*run)(struct sim *w, struct sim_event *ev));
struct sim_event *sim_at_node(struct sim *w, sc_ns at, uint32_t node, void (*run)(struct sim *w, struct sim_event *ev));
bool              sim_event_stale(struct sim *w, const struct sim_event *ev); /* its process is gone */
bool              sim_step(struct sim *w);                                    /* false: nothing left to happen */

void             sim_net_init(struct sim *w, uint32_t node);
void             sim_net_gone(struct sim *w, uint32_t node); /* its process died: the others hear of it, or do not */
void             sim_net_break(struct sim *w, struct sim_conn *conn, bool both_hear_soon);
void             sim_net_half_open(struct sim *w, struct sim_conn *conn);
void             sim_net_clog(struct sim *w, struct sim_conn *conn, sc_ns until);
struct sim_conn *sim_net_some_conn(struct sim *w); /* an open one between two honest nodes, or NULL */
void             sim_net_fini(struct sim *w);
void             sim_net_send_raw(struct sim *w, struct sim_conn *conn, const uint8_t *bytes, size_t len);

struct sim_post *sim_post(struct sim *w, uint32_t node, void (*run)(struct sim *w, struct sim_post *post));
void             sim_post_free(struct sim *w, struct sim_post *post);
void             sim_node_start(struct sim *w, uint32_t node);
void             sim_node_stop(struct sim *w, uint32_t node); /* at once, as by kill -9 */
void             sim_node_restart_at(struct sim *w, uint32_t node, sc_ns at);
void             sim_node_pause(struct sim *w, uint32_t node, sc_ns until);
void             sim_node_wake(struct sim *w, uint32_t node); /* a turn is due now */
sc_ns            sim_node_now(const struct sim *w, uint32_t node);
void             sim_node_check(struct sim *w, uint32_t node);
void             sim_nodes_free(struct sim *w);

extern const struct sc_work_shell_upcalls  sim_work_upcalls;
extern const struct sc_cli_shell_upcalls   sim_client_upcalls;
extern const struct sc_sched_shell_upcalls sim_sched_upcalls;
void                                       sim_client_begin(struct sim *w, uint32_t node);
void                                       sim_client_close(struct sim *w, uint32_t node);
size_t                                     sim_task_body(const struct sim *w, uint32_t task, uint8_t *out);
uint8_t                                    sim_byte(const struct sim *w, uint64_t key, uint64_t offset);

void  sim_faults_begin(struct sim *w);
void  sim_heal(struct sim *w);
void  sim_hostile_begin(struct sim *w, uint32_t node);
void *sim_hostile_up(struct sim *w, struct sim_conn *conn);
void  sim_hostile_frame(struct sim *w, uint32_t node, const uint8_t *bytes, size_t len);
void  sim_hostile_send(struct sim *w, struct sim_node *n, const struct sc_msg *msg, uint8_t type, uint32_t grant);
void  sim_liar_up(struct sim *w, struct sim_conn *conn);
void  sim_liar_frame(struct sim *w, uint32_t node, const uint8_t *bytes, size_t len);

bool             sim_honest(const struct sim *w, uint32_t node);
void             sim_judge_frames(struct sim *w, struct sim_conn *from, const uint8_t *bytes, size_t len);
void             sim_judge_result(struct sim *w, uint32_t task, const struct sc_result *result);
void             sim_judge_losses(struct sim *w);
void             sim_judge_cancels(struct sim *w);
void             sim_judge_end(struct sim *w);
/* What is asked of the order among tasks, and the judges of it. */
void sim_plan_config(struct sim *w);
void sim_plan(struct sim *w);
bool sim_amounts_same(const struct sim_amounts *a, const struct sim_amounts *b);
bool sim_amounts_within(const struct sim_amounts *needs, const struct sim_amounts *offers, bool names_only);
void sim_amounts_add(struct sim_amounts *sum, const struct sim_amounts *more);
void sim_ledger_new(struct sim *w);
void sim_ledger_heard(struct sim *w, struct sim_conn *at, const uint8_t *frame, size_t len);
void sim_ledger_said(struct sim *w, const struct sim_conn *from, const struct sc_msg *msg);
void sim_ledger_gone(struct sim *w, const struct sim_conn *at);
void sim_idle_changed(struct sim *w, uint32_t node, uint32_t task); /* a run of the task has begun there, or ended */
void sim_idle_waits(struct sim *w, uint32_t task);                  /* the task has come to wait, or does no more */
void sim_idle_joined(struct sim *w, uint32_t node);
void sim_idle_told(struct sim *w, uint32_t node); /* it wants more than before, or less */
void           sim_explain(struct sim *w); /* what the scheduler says of a task and a worker is true */
void           sim_times_plan(struct sim *w);
struct sc_plan sim_times_of(const struct sim_task *t);
void           sim_times_begin(struct sim *w, uint32_t node);
void           sim_times_swept(struct sim *w, uint32_t node, const struct sc_confirm_many *confirm);
void           sim_times_began(struct sim *w, uint32_t task);
void           sim_times_answered(struct sim *w, uint32_t task, const struct sc_outcome *outcome);
void           sim_times_again(struct sim *w, uint32_t task);
bool           sim_times_retries(const struct sim_task *t, uint8_t reason);
void           sim_times_ended(struct sim *w, uint32_t task, const struct sc_result *result);
uint32_t       sim_times_unanswered(const struct sim *w); /* a client; 0: none */

void sim_graph_config(struct sim *w);
void sim_graph_plan(struct sim *w);
void sim_graph_fill(struct sim *w, uint32_t task, struct sim_deps *d);
void sim_deps_free(struct sim_deps *d);
void sim_graph_result(const struct sim *w, uint32_t task, uint64_t exec, uint8_t *bytes);
void sim_graph_assigned(struct sim *w, uint32_t task, const struct sc_plan *plan);
void sim_graph_done(struct sim *w, uint32_t task, const struct sc_graph_done *done);
void sim_graph_ran(struct sim *w, uint32_t task);
bool sim_graph_ended(struct sim *w, uint32_t task, const struct sc_result *result);
void sim_graph_rows(struct sim *w);

void sim_drain_config(struct sim *w);
void sim_drain_shape(struct sim *w);
void sim_drain_begin(struct sim *w);
void sim_drain_left(struct sim *w, uint32_t node);    /* a worker has closed */
void sim_drain_stopped(struct sim *w, uint32_t node); /* so has a scheduler */
void sim_drain_answered(struct sim *w, uint32_t node, const struct sc_msg *row);
void sim_drain_judge_end(struct sim *w);
void sim_drain_heard(struct sim *w, struct sim_conn *at, const uint8_t *frame, size_t len);
void sim_drain_see(struct sim *w, struct sim_conn *from, const struct sc_msg *msg);
void sim_drain_granted(struct sim *w, const struct sim_conn *from, uint32_t tasks);
void sim_drain_runs(struct sim *w, uint32_t node, uint32_t task);
/* Tasks that submit tasks. */
void           sim_nested_config(struct sim *w);
void           sim_nested_shape(struct sim *w);
void           sim_nested_plan(struct sim *w);
void           sim_nested_nodes(struct sim *w, struct sim_node *(*add)(struct sim *w, enum sim_kind kind));
bool           sim_nested_is_inner(const struct sim *w, uint32_t node);
void           sim_nested_stopped(struct sim *w, uint32_t worker);
void           sim_nested_prune(struct sim *w);
void           sim_nested_begin(struct sim *w, struct sim_node *n, struct sim_run *r, uint64_t place);
void           sim_nested_stop(struct sim *w, struct sim_node *n, struct sim_run *r, uint64_t place);
struct sc_plan sim_nested_sign(const struct sim *w, const struct sim_task *t, struct sc_plan plan,
                               uint8_t room[SC_PARENT_SIZE]);
void           sim_nested_ended(struct sim *w, uint32_t task);
bool           sim_nested_may_be_cancelled(const struct sim *w, uint32_t task);
void           sim_nested_resumed(struct sim *w, struct sim_node *n, int status);
void           sim_nested_judge_end(struct sim *w);
void           sim_work_goes_on(struct sim *w, struct sim_node *n, const struct sim_run *r);
int            sim_client_submit(struct sim *w, struct sim_node *n, uint32_t task, uint64_t seq);

void sim_keys_config(struct sim *w);
void sim_keys_plan(struct sim *w);
void sim_keys_said(struct sim *w, const struct sim_conn *from, const struct sc_msg *msg);
void sim_keys_heard(struct sim *w, const uint8_t *frame, size_t len);
void sim_keys_ended(struct sim *w, uint32_t task, const struct sc_result *result);
void sim_keys_end(struct sim *w);
void sim_full_config(struct sim *w);
void sim_full_shape(struct sim *w);
void sim_full_plan(struct sim *w);
void sim_full_ran(struct sim *w, uint32_t client, sc_ns began_at);
void sim_full_heard(struct sim *w);
void sim_judge_held(struct sim *w, uint32_t node, struct sim_run *run);

void             sim_links_frame(struct sim *w, const struct sim_conn *from, const struct sc_frame_head *head);
void             sim_links_record(struct sim *w, const struct sim_conn *from, uint32_t seq, const struct sc_msg *msg);
void             sim_links_cancels(struct sim *w);
struct sim_task *sim_task_of(struct sim *w, struct sc_id id, uint32_t *index);

/* Runs one seed to its end; gives the hash of all that happened.  What goes wrong aborts with seed and time. */
uint64_t sim_run(uint64_t seed, bool trace);
uint64_t sim_seed_now(void); /* the seed that is being run, for a signal handler */
void     sim_watch(void);    /* whoever fails from now on says which seed it was */

#endif
