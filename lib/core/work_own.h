/*
 * The inside of the worker's core, shared by its files only.  A run is a row of a paged table, found
 * by its handle: the number under which the shell knows it.  The handle is the scheduler's run number
 * unless a kept run of an older epoch has that number already; it never changes, while a KEEP may
 * give the run a new number of the scheduler's.
 *
 * Bytes that an effect may still point to are never freed in the step that lets go of them: they go
 * to the scrap chain, which the next step empties.
 */
#ifndef SC_WORK_OWN_H
#define SC_WORK_OWN_H

#include "amounts.h"
#include "sc_heap.h"
#include "sc_list.h"
#include "sc_map.h"
#include "work.h"

enum {
        SC_RUN_PAGE   = 64, /* rows allocated at a time */
        SC_RUN_PAGES  = SC_HOLDS_MAX / SC_RUN_PAGE,
        SC_RUN_SMALL  = 40, /* result bytes that fit into the row */
        SC_CHUNK_LEAST = 4096, /* output bytes allocated at a time, so that small writes share a chunk */
        SC_RUN_STREAK  = 16  /* so many short runs in a row, and the next are offered ahead */
};

#define SC_RUN_STARTED_AFTER (5 * SC_MS)
#define SC_RUN_QUEUED_WORK   (200 * SC_US) /* how much work adaptive prefetch wants to have waiting */
#define SC_RUN_OFFERED_WORK  (100 * SC_US) /* how much of it the shell is offered before a slot is free */
#define SC_RUN_LEAVE_AFTER   (5 * SC_S)    /* a drained worker waits no longer on a link for acknowledgements */
#define SC_RUN_PROBE_FIRST   SC_S          /* unconfirmed output is sent again after so long, and then ... */
#define SC_RUN_PROBE_LAST    (8 * SC_S)    /* ... after twice as long, up to this */

/*
 *                   START    RETURN  RETURN_OWING  ANSWER  FORGET     OFFER    TAKE_BACK
 * FREE -ADMIT-> QUEUED
 *     QUEUED        RUNNING  -       -             DONE    FREE       OFFERED  -
 *     OFFERED       RUNNING  DONE    -             -       -          -        QUEUED
 *     RUNNING       -        DONE    OWING         GHOST   ABANDONED  -        -
 *     OWING         -        -       -             DONE    FREE       -        -
 *     DONE          -        -       -             -       FREE       -        -
 *     GHOST         -        DONE    -             -       ABANDONED  -        -
 *     ABANDONED     -        FREE    -             -       -          -        -
 */
enum sc_run_state {
        SC_RUN_FREE,
        SC_RUN_QUEUED,
        SC_RUN_OFFERED,   /* given to the shell ahead, which begins the oldest when a slot comes free */
        SC_RUN_RUNNING,
        SC_RUN_OWING,     /* returned; part of its output is not confirmed yet */
        SC_RUN_DONE,      /* its outcome is kept until the scheduler has it */
        SC_RUN_GHOST,     /* as DONE, but it has not returned: its slot stays taken */
        SC_RUN_ABANDONED, /* nobody waits for it, but it has not returned */
        SC_RUN_STATES
};

enum sc_run_event {
        SC_RUN_ADMIT,
        SC_RUN_START,
        SC_RUN_RETURN,
        SC_RUN_RETURN_OWING,
        SC_RUN_ANSWER,
        SC_RUN_FORGET,
        SC_RUN_OFFER,
        SC_RUN_TAKE_BACK,
        SC_RUN_EVENTS
};

enum sc_run_cause { SC_CAUSE_NONE, SC_CAUSE_CANCEL, SC_CAUSE_TIMEOUT, SC_CAUSE_MEMORY };

struct sc_scrap { /* heads everything a row has allocated */
        struct sc_scrap *next;
        size_t           size;
};

struct sc_chunk {
        struct sc_scrap scrap;
        struct sc_list  link;
        uint64_t        offset;
        size_t          len, cap;
        uint8_t         stream;
        unsigned char   bytes[];
};

struct sc_run_output { /* of a run whose spec says SC_SPEC_STREAM */
        struct sc_scrap scrap;
        struct sc_list  chunks;    /* [confirmed, end) without gaps */
        uint64_t        confirmed, sent, end; /* confirmed <= sent <= end */
        uint64_t        sent_most; /* highest `sent` ever */
        uint64_t        limit;     /* the client takes bytes below this */
        size_t          held;      /* bytes allocated for chunks */
        sc_ns           probe_at, probe_wait;
        bool            asked_more; /* READ_MORE is out */
};

struct sc_spec_copy {
        struct sc_scrap scrap;
        struct sc_spec  spec;
        struct sc_plan  plan;    /* of a spec that reads results */
        unsigned char   bytes[]; /* views of those first */
};

enum { SC_INDICES_MAX = 64 };

struct sc_work_offer {
        struct sc_view name;
        uint64_t       amount, free; /* thousandths; 0: a capability */
        uint32_t       indices;      /* 0: its units have none */
        uint16_t       room[SC_INDICES_MAX]; /* thousandths that are free of each */
};

struct sc_run_part {
        struct sc_view name;   /* in the share's text */
        uint32_t       offer;  /* UINT32_MAX: of none, and amount is 0 */
        uint32_t       shared; /* index for what is left beside whole units; SC_INDICES_MAX: none */
        uint64_t       amount; /* at most what is offered */
        uint64_t       whole;  /* indices, when it has started */
};

struct sc_run_share {
        struct sc_scrap    scrap;
        struct sc_plan     plan; /* its needs alone */
        uint32_t           count;
        uint64_t           cpu; /* what it holds of that without naming it; 0: it is one of the parts */
        struct sc_run_part part[];
};

struct sc_run {
        struct sc_list  link;   /* in the list of its state */
        struct sc_list  report; /* RUNNING and not yet told STARTED */
        struct sc_list  ripe;   /* parked, and what it waited for has come */
        struct sc_list  alias;  /* its number is neither 0 nor its handle */
        struct sc_id    task;
        uint64_t        handle, run, epoch;
        uint32_t        attempt;
        uint8_t         state; /* written by sc_run_move alone */
        uint8_t         cause; /* enum sc_run_cause: why it is being stopped */
        uint8_t         stop;  /* the strongest enum sc_stop_how told so far; 0: none */
        bool            held;  /* belongs to no link: a lost one's, until KEEP or DROP */
        bool            streams, command;
        bool            waits;    /* its thread does, for others */
        bool            parked;   /* it has given its slot and cpu back meanwhile */
        bool            told_waiting; /* the scheduler has been told so last */
        bool            recalled; /* OFFERED: somebody else would take it */
        uint8_t         wanted;   /* OFFERED: the strongest enum sc_stop_how it shall hear if it has begun */
        size_t          position; /* in the heap of deadlines */
        sc_ns           deadline, started, limit_at, escalate_at;
        uint64_t        timeout_ms;
        struct sc_spec_copy  *spec;   /* QUEUED and OFFERED */
        struct sc_run_output *output; /* streams: until answered */
        struct sc_run_share  *share;  /* NULL: one cpu; until its slot is free again */
        struct sc_scrap      *kept;   /* bytes of the outcome that do not fit into `small` */
        struct sc_outcome     outcome;
        unsigned char         small[SC_RUN_SMALL];
        char                  text[80];
};

struct sc_work {
        struct sc_mem *mem;
        uint64_t       id, incarnation, epoch, handles;
        uint32_t       slots;
        int32_t        prefetch;
        uint64_t       output_window;
        sc_ns          keep, kill_grace, give_up;
        sc_ns          now, lost_at, leave_at, release_at;
        sc_link_id     link;
        struct sc_view name, tenant, token, offers;
        struct sc_view *functions;
        uint32_t        function_count;
        unsigned char  *words; /* what the views above point to */
        size_t          words_size;

        struct sc_work_offer *offer;
        size_t                offer_size;
        uint32_t              offer_count, cpu; /* cpu: its place among them */
        uint64_t              cpu_each;         /* what a run holds that names no needs */
        uint32_t              shares;           /* runs that name their needs and have a slot */
        bool                  filling;          /* a step had no room to start all that it could */

        struct sc_run  *page[SC_RUN_PAGES];
        uint32_t        pages;
        struct sc_hold *holds;
        struct sc_map   by_handle;
        struct sc_heap  timed;
        struct sc_list  list[SC_RUN_STATES]; /* DONE: sent on this link, oldest first, with GHOSTs among them */
        struct sc_list  unsent;              /* DONE and GHOST that are held */
        struct sc_list  report;
        struct sc_list  ripe;         /* in the order in which they may go on */
        uint32_t        waiting;      /* runs that do */
        uint32_t        parked;
        bool            has_waited;   /* some run has: those that went on are more than were granted, for a while */
        uint32_t        parked_stuck; /* of those the ones whose slots would not count as usable */
        uint32_t        count[SC_RUN_STATES], held[SC_RUN_STATES], held_total;
        struct sc_list  renamed; /* rows whose run is neither 0 nor their handle */
        struct sc_scrap *scrap;

        sc_ns    mean; /* weighted run time; -1: nothing has run yet */
        uint32_t streak;     /* short runs in a row, up to SC_RUN_STREAK */
        uint32_t commands;   /* of those that have a slot */
        bool     ask_back;   /* all that is OFFERED, as soon as there is room for it */
        bool     asked_back; /* some of it, in this step: what has begun is known after the answers */
        uint32_t told_usable, told_prefetch;
        bool     told, draining, told_leave, closed, gave_up;
        uint64_t done, failed, cancelled, released;
        char     text[SC_TEXT_MAX + 1];
        struct sc_plan plan; /* of the run that starts at once in this step */
};

static inline uint32_t sc_work_room(const struct sc_out *out)
{
        return SC_EFFECTS_MAX - out->len;
}

static inline bool sc_run_has_slot(uint8_t state)
{
        return state == SC_RUN_RUNNING || state == SC_RUN_GHOST || state == SC_RUN_ABANDONED;
}

static inline uint32_t sc_work_busy(const struct sc_work *w)
{
        return w->count[SC_RUN_RUNNING] + w->count[SC_RUN_GHOST] + w->count[SC_RUN_ABANDONED] - w->parked;
}

/* Nobody knows when such a one gives up the slot that it will take once more. */
static inline bool sc_run_is_parked_stuck(const struct sc_run *run)
{
        return run->parked && (run->state != SC_RUN_RUNNING || run->held);
}

/* work_rows.c: the table, the states, memory */
bool           sc_run_reserve(struct sc_work *w, uint32_t rows);
struct sc_run *sc_run_take(struct sc_work *w, const struct sc_assign *assign); /* QUEUED, or NULL: no room */
void           sc_run_move(struct sc_work *w, struct sc_run *run, enum sc_run_event event);
void           sc_run_hold(struct sc_work *w, struct sc_run *run, bool held);
void           sc_run_hold_all(struct sc_work *w, struct sc_list *list);
void           sc_run_rename(struct sc_work *w, struct sc_run *run, uint64_t number);
struct sc_run *sc_run_find(const struct sc_work *w, struct sc_id task, uint64_t epoch, uint64_t number);
void           sc_run_retime(struct sc_work *w, struct sc_run *run);
void          *sc_work_get(struct sc_work *w, size_t size); /* starts with a struct sc_scrap */
void           sc_work_discard(struct sc_work *w, struct sc_scrap *scrap);
void           sc_work_sweep(struct sc_work *w);

/* work_amounts.c: what is offered and held */
bool           sc_work_amounts_init(struct sc_work *w);
void           sc_work_amounts_fini(struct sc_work *w);
/* False: no memory. */
bool           sc_run_share_open(struct sc_work *w, struct sc_run *run, const struct sc_plan *plan);
void           sc_run_share_drop(struct sc_work *w, struct sc_run *run);
bool           sc_run_share_fits(const struct sc_work *w, const struct sc_run_share *share);
void           sc_run_share_take(struct sc_work *w, struct sc_run *run);
void           sc_run_share_give(struct sc_work *w, struct sc_run *run);
/* Its cpu alone, while it waits. */
bool sc_run_cpu_fits(const struct sc_work *w, const struct sc_run *run);
void sc_run_cpu_take(struct sc_work *w, struct sc_run *run);
void sc_run_cpu_give(struct sc_work *w, struct sc_run *run);
struct sc_run *sc_work_next(const struct sc_work *w); /* the first queued one that fits, or NULL */
void           sc_work_amounts_check(const struct sc_work *w);

/* Whoever names no needs has a cpu as soon as it has a slot. */
static inline bool sc_work_cpu_to_spare(const struct sc_work *w)
{
        return w->shares == 0 && w->offer[w->cpu].amount >= w->slots * w->cpu_each;
}

static inline bool sc_run_fits(const struct sc_work *w, const struct sc_run *run)
{
        return run->share ? sc_run_share_fits(w, run->share) : w->offer[w->cpu].free >= w->cpu_each;
}

/* work_ahead.c: slots, and what is offered ahead of them */
void sc_run_start(struct sc_work *w, struct sc_run *run, const struct sc_spec *spec, struct sc_out *out);
void sc_work_fill(struct sc_work *w, struct sc_out *out); /* what free slots can take */
void sc_work_begun(struct sc_work *w, struct sc_out *out); /* OFFERED runs for which a slot has come free */
void sc_work_ask_back(struct sc_work *w, struct sc_out *out); /* if it is due */
void sc_run_ask_back(struct sc_work *w, const struct sc_run *run, struct sc_out *out);
void sc_run_back(struct sc_work *w, struct sc_run *run, struct sc_out *out);
void sc_run_give_back(struct sc_work *w, struct sc_run *run, struct sc_out *out);
bool sc_work_fill_due(const struct sc_work *w);

/* work_leave.c: drain */
void  sc_work_drain(struct sc_work *w, uint64_t deadline_ms); /* 0: none */
void  sc_work_release(struct sc_work *w);
void  sc_work_leave(struct sc_work *w, struct sc_out *out); /* while draining, in each step */
sc_ns sc_work_leave_at(const struct sc_work *w);

/* work_end.c: outcomes and answers */
void sc_run_keep_outcome(struct sc_work *w, struct sc_run *run, const struct sc_outcome *outcome);
void sc_run_answer(struct sc_work *w, struct sc_run *run, struct sc_out *out); /* DONE, now or when kept */
void sc_run_fail(struct sc_work *w, struct sc_run *run, enum sc_reason reason, const char *text, struct sc_out *out);
void sc_run_ended(struct sc_work *w, struct sc_run *run, const struct sc_outcome *outcome, struct sc_out *out);
void sc_run_settle(struct sc_work *w, struct sc_run *run, struct sc_out *out); /* answers now, with what there is */

/* work_wait.c: runs that wait for others */
void sc_run_waits(struct sc_work *w, struct sc_run *run, struct sc_out *out);
void sc_run_wakes(struct sc_work *w, struct sc_run *run, struct sc_out *out);
void sc_run_park(struct sc_work *w, struct sc_run *run, struct sc_out *out); /* it waits, and has begun */
void sc_run_say_waiting(struct sc_work *w, struct sc_run *run, struct sc_out *out); /* unless that was said last */
void sc_work_resume(struct sc_work *w, struct sc_out *out); /* whoever may go on, before anything new */
bool sc_work_resume_due(const struct sc_work *w);
void sc_work_wait_check(const struct sc_work *w);

/* work_stop.c: cancel, limits, timers */
void sc_run_stop(struct sc_work *w, struct sc_run *run, bool force, struct sc_out *out);
void sc_run_tell(struct sc_work *w, struct sc_run *run, enum sc_stop_how how, struct sc_out *out);
void sc_run_forget(struct sc_work *w, struct sc_run *run, struct sc_out *out);
void sc_run_report(struct sc_work *w, struct sc_run *run, struct sc_out *out);
void sc_work_timers(struct sc_work *w, struct sc_out *out);
bool sc_run_is_stopped(const struct sc_run *run); /* for somebody, and will not succeed any more, or should not */
void sc_work_forget_stopped(struct sc_work *w, struct sc_out *out); /* of those held */

/* work_output.c: streamed output */
bool sc_run_output_open(struct sc_work *w, struct sc_run *run);
void sc_run_output_drop(struct sc_work *w, struct sc_run *run);
void sc_run_output_add(struct sc_work *w, struct sc_run *run, uint8_t stream, struct sc_view bytes, struct sc_out *out);
bool sc_run_output_ack(struct sc_work *w, struct sc_run *run, const struct sc_output_ack *ack, struct sc_out *out);
void sc_run_output_again(struct sc_work *w, struct sc_run *run, struct sc_out *out); /* after KEEP */
void sc_run_output_probe(struct sc_work *w, struct sc_run *run, struct sc_out *out);

#endif
