/*
 * The simulated world: whole clusters in one thread under a virtual clock, from one seed.  The shells,
 * stations, wire and cores are the real ones; nets, clocks, processes and applications are made up here.
 * Everything that happens is an event in one queue, and all chance comes from one generator, so a seed
 * is a whole history.  Files: sim_clock (events, chance, trace), sim_net (connections), sim_node
 * (processes), sim_work and sim_client (applications), sim_fault, sim_hostile, sim_liar, sim_judge, sim_links,
 * sim_world.
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
enum { SIM_NODES_MAX = 32, SIM_TASKS_MAX = 1024, SIM_RUNS_MAX = 160, SIM_FUNCTIONS = 4 };

struct sim;

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
        size_t           in_flight;
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
        bool     begun;  /* else it waits for a slot */
        sc_ns    began_at;
        uint64_t order;  /* in which it was told */
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
};

/* ---- tasks ------------------------------------------------------------------------------------------ */

enum sim_end { SIM_SUCCEEDS, SIM_FAILS, SIM_POISON };

struct sim_task {
        uint32_t     client;                  /* node */
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
        uint32_t starts, confirms, cancels, assigns;
        uint8_t  confirm, reason;
        uint32_t wire_cancels, wire_confirms, losses;
        sc_ns    cancelled_at; /* asked first */
        uint64_t got, exec_of_stream, unconsumed;
        bool     stream_broken;
        uint64_t last_epoch, last_run, last_held_epoch, last_held_run; /* the run last made, and who executes it */
        uint64_t window_end, confirmed;                                /* of its output */
        uint64_t cancel_conn;                                          /* on which a cancel went out last */
};

struct sim_owed { /* a DONE that its worker must keep */
        uint32_t     node, generation, seq;
        uint64_t     conn, run;
        struct sc_id task;
        sc_ns        at;
};

struct sim_exec { /* one execution by a worker */
        uint32_t task;
        uint64_t epoch, run;
        bool     finished, success;
        bool     brief; /* its output comes with its end */
};

struct sim_alias { /* a kept run: the number it has now, and the one under which it was made */
        uint32_t task;
        uint64_t epoch, run, made_epoch, made_run;
};

/* ---- the world --------------------------------------------------------------------------------------- */

struct sim_config {
        bool breaks, half_open, clogs, pauses, worker_crashes, client_crashes, scheduler_crashes, skew, hostile, memory;
        bool poison_only, blips_only, brief, liars, cancels, streams, big, slow_readers, refused_functions;
        uint32_t schedulers, clients, admins, workers, hostiles, tasks;
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
void             sim_judge_frames(struct sim *w, const struct sim_conn *from, const uint8_t *bytes, size_t len);
void             sim_judge_result(struct sim *w, uint32_t task, const struct sc_result *result);
void             sim_judge_losses(struct sim *w);
void             sim_judge_cancels(struct sim *w);
void             sim_judge_end(struct sim *w);
void             sim_links_frame(struct sim *w, const struct sim_conn *from, const struct sc_frame_head *head);
void             sim_links_record(struct sim *w, const struct sim_conn *from, uint32_t seq, const struct sc_msg *msg);
void             sim_links_cancels(struct sim *w);
struct sim_task *sim_task_of(struct sim *w, struct sc_id id, uint32_t *index);

/* Runs one seed to its end; gives the hash of all that happened.  What goes wrong aborts with seed and time. */
uint64_t sim_run(uint64_t seed, bool trace);
uint64_t sim_seed_now(void); /* the seed that is being run, for a signal handler */

#endif
