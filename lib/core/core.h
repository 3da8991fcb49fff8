/*
 * The contract of a core.  sc_x_step(core, event, out): one event in, effects appended to `out`,
 * returns.  No I/O, clock, thread, chance, callback, and no failure: what a thing will ever need is
 * reserved when it is admitted.  Time is event->now and never goes back.
 *
 * Lending.  What an event points to is lent for the step; a core copies what it keeps.  What an
 * effect points to is lent until the core's next step or the event's bytes go, whichever is first;
 * effects are carried out in order, before the next step.
 *
 * Bounds.  A step appends at most SC_EFFECTS_MAX effects and visits at most SC_ROWS_MAX rows; what
 * is left stays on a to-do list in the core and its deadline is `now`.
 */
#ifndef SC_CORE_H
#define SC_CORE_H

#include "msg.h"
#include "sc_time.h"

enum { SC_EFFECTS_MAX = 1024, SC_ROWS_MAX = 4096 };

typedef uint64_t sc_link_id; /* one connection, never reused; 0: none */

enum sc_event_kind {
        SC_EV_TICK = 1, /* the deadline has come, or just because */
        SC_EV_UP,       /* link: its hello (scheduler: HELLO; the others: WELCOME) is in `msg` */
        SC_EV_DOWN,     /* link is gone, after UP: `status`; SC_E_NOMEM: memory was wanting, and nobody is to blame */
        SC_EV_MSG,      /* link said `msg`, which its role may say */
        SC_EV_ACKED,    /* link: `count` more of the RESULTs or DONEs sent on it are confirmed, oldest first */
        SC_EV_GRANT,    /* link: the other side's limits are now `tasks` rows and `kib` KiB */
        /* client */
        SC_EV_SUBMIT,   /* the application: msg.submit; call sc_cli_admissible() first */
        SC_EV_CANCEL,   /* the application: msg.cancel */
        SC_EV_CANCEL_MANY, /* the application: msg.cancel_many; up_to 0: all that is admitted */
        SC_EV_CONSUMED, /* the application has taken output: `task`, `count` bytes more */
        SC_EV_QUERY,    /* the application: msg.query or msg.drain */
        SC_EV_CLOSE,    /* the application closes the client: say BYE, end all futures */
        /* worker */
        SC_EV_RAN,      /* a run is over: `run`, `outcome` */
        SC_EV_OUTPUT,   /* a run printed: `run`, `stream`, `bytes`; one at a time, the next after SC_FX_READ_MORE */
        SC_EV_BACK,     /* a run has not begun and will not: `run`, for which SC_FX_TAKE_BACK asked */
        SC_EV_WAITS,    /* a run's thread waits for others: `run`; once, until SC_FX_RESUME */
        SC_EV_WAKES,    /* what it waits for has come: `run` */
        /* worker and scheduler */
        SC_EV_DRAIN,    /* take nothing more, give queued runs back, finish running ones, then BYE; `count`: what runs
                         * after so many milliseconds is let go of; 0: nothing ever.  Again: the earlier one counts */
        SC_EV_RELEASE   /* the same, and the time is up now */
};

struct sc_event {
        enum sc_event_kind       kind;
        sc_ns                    now;
        sc_link_id               link;
        const struct sc_msg     *msg;
        const struct sc_outcome *outcome;
        struct sc_view           bytes;
        struct sc_id             task;
        uint64_t                 run;
        uint64_t                 count;
        uint32_t                 tasks, kib;
        int32_t                  status;
        uint8_t                  stream;
};

enum sc_effect_kind {
        SC_FX_SEND = 1,  /* link, msg */
        SC_FX_CLOSE,     /* link, status, text: nonsense or a newer link; SC_EV_DOWN for it will not follow */
        SC_FX_GRANT,     /* link, tasks, kib: our limits for that peer, on the next frame */
        SC_FX_NOTE,      /* text, id: one log line that somebody would act on; level in `status` */
        /* client */
        SC_FX_COMPLETE,  /* msg.result: the future ends, exactly once per task */
        SC_FX_GRAPH,     /* msg.graph_done: the counts of a graph, whose COMPLETE is the next effect */
        SC_FX_CONFIRM,   /* msg.confirm: the answer to a cancel */
        SC_FX_DELIVER,   /* msg.output: new bytes, in order, each once; status 1 (restart): forget earlier ones */
        SC_FX_REPLY,     /* msg.*_row, msg.query_end or msg.drained; msg.confirm_many: of a cancel of many */
        SC_FX_ROOM,      /* there is room for submits again after sc_cli_admissible() said no */
        SC_FX_GIVE_UP,   /* status, text: the role cannot go on (refused, version, unreachable too long) */
        SC_FX_CLOSED,    /* SC_EV_CLOSE or SC_EV_DRAIN is carried out as far as this core is concerned */
        /* worker */
        SC_FX_RUN,       /* msg.assign: start it as soon as a slot is free, which may be now */
        SC_FX_TAKE_BACK, /* run: unless it has begun, it shall not; then SC_EV_BACK comes before any other event */
        SC_FX_STOP,      /* run, status = enum sc_stop_how */
        SC_FX_READ_MORE, /* run: the next SC_EV_OUTPUT is welcome */
        SC_FX_PARK,      /* run: it waits, and its slot is another one's */
        SC_FX_RESUME     /* run: it goes on, with a slot; status SC_E_FULL: it had kept it, for too many wait */
};

enum { SC_NOTE_ERROR = 2, SC_NOTE_WARN = 3, SC_NOTE_INFO = 4 }; /* levels of a note: those of scaler.h */

enum sc_stop_how {
        SC_STOP_ASK  = 1, /* flag for a function, SIGTERM to the group of a command */
        SC_STOP_KILL = 2, /* SIGKILL to the group of a command; for a function the same flag again */
};

struct sc_effect {
        enum sc_effect_kind kind;
        int32_t             status;
        sc_link_id          link;
        uint64_t            run;
        uint32_t            tasks, kib;
        const char         *text; /* static or lent; NULL: none */
        struct sc_msg       msg;
};

struct sc_out {
        uint32_t         len;
        struct sc_effect at[SC_EFFECTS_MAX];
};

/* Appends a zeroed effect of that kind and gives it for filling; asserts that there is room. */
struct sc_effect *sc_out_add(struct sc_out *out, enum sc_effect_kind kind);
/* Appends SEND with a zeroed message of that kind and gives the message. */
struct sc_msg *sc_out_send(struct sc_out *out, sc_link_id link, enum sc_msg_kind kind);

#endif
