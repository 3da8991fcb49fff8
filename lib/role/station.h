/*
 * What every role does with its links, in one place and without the world: hello and its time limit,
 * one frame writer per link, sequence and acknowledgement, grants, liveness, redial.  Time comes in;
 * bytes go out through port.h's net.  The roles' shells stand on it, and so does the simulator.
 *
 * Links are freed, and role upcalls `down` for lost ones made, only from net upcalls, tick and flush; so
 * send, grant, close and hang_up may be called from inside any upcall.
 */
#ifndef SC_STATION_H
#define SC_STATION_H

#include "core.h"
#include "port.h"

struct sc_mem;
struct sc_station;


struct sc_station_upcalls {
        /* Something came from a net: before anything else.  The role begins the turn (sc_station_begin with the loop's
         * time and lateness; twice in a turn is harmless) and touches its loop member, so that flush follows.
         * NULL: whoever drives the net has done so (the simulator). */
        void (*enter)(void *role);
        /* A dialled link is connected: fill the HELLO and its grants (dialling roles). */
        void (*greet)(void *role, struct sc_hello *out, uint32_t *grant_tasks, uint32_t *grant_kib);
        /* The other side's HELLO or WELCOME is in and is of a version, magic and role that fit. */
        void (*up)(void *role, sc_link_id link, const struct sc_msg *hello, uint32_t grant_tasks, uint32_t grant_kib);
        void (*message)(void *role, sc_link_id link, const struct sc_msg *msg);
        void (*acked)(void *role, sc_link_id link, uint32_t count);
        void (*grant)(void *role, sc_link_id link, uint32_t tasks, uint32_t kib); /* only when it changed */
        void (*down)(void *role, sc_link_id link, int status, const char *why);   /* only after up, never after close */
        void (*note)(void *role, int level, const char *line);                    /* a log line */
        /* The other side says that it will never have us (denied, version, role); redialling goes on unless the
         * role hangs up.  NULL: ignored. */
        void (*refused)(void *role, int status, const char *why);
};

struct sc_station_options {
        struct sc_mem *mem;
        const struct sc_station_upcalls *upcalls;
        void          *role;
        enum sc_role   self;          /* SC_ROLE_SCHEDULER accepts, the others dial */
        uint64_t       seed;          /* for redial jitter */
        uint32_t       peers_max;     /* 0: 65,536 */
        uint32_t       hellos_max;    /* links without a hello at once; 0: 256 */
        sc_ns          hello_limit;   /* 0: 5 s */
        sc_ns          silent;        /* 0: 10 s; dialling roles take the WELCOME's when given */
        sc_ns          redial_min, redial_max; /* 0: 10 ms, 1 s; doubling, with jitter */
};

int   sc_station_create(const struct sc_station_options *options, struct sc_station **out);
void  sc_station_destroy(struct sc_station *st);
/* Several nets may serve one station, each through a door of its own; the role stores it:
 *
 *     door->station = st;
 *     sc_net_x_create(mem, loop, sc_station_door_upcalls(), door, &door->net);
 */
struct sc_station_door {
        struct sc_station *station;
        struct sc_net     *net;
};
const struct sc_net_upcalls *sc_station_door_upcalls(void); /* ctx: the door */

/* Scheduler: nothing to do but let nets listen.  Dialling roles: keep a link to `url` over `net` from now on. */
int   sc_station_dial(struct sc_station *st, struct sc_net *net, const char *url, sc_ns now);
/* No redial any more; links close after what is pending has left. */
void  sc_station_hang_up(struct sc_station *st, sc_ns now);

void  sc_station_begin(struct sc_station *st, sc_ns now, sc_ns lateness); /* before upcalls of a turn: sets the time */
/* Queued; stale links are ignored. */
void  sc_station_send(struct sc_station *st, sc_link_id link, const struct sc_msg *msg);
void  sc_station_grant(struct sc_station *st, sc_link_id link, uint32_t tasks, uint32_t kib);
/* BYE with why, then closes. */
void  sc_station_close(struct sc_station *st, sc_link_id link, int status, const char *why);
void  sc_station_flush(struct sc_station *st, sc_ns now);   /* every dirty link that may send, sends */
sc_ns sc_station_deadline(const struct sc_station *st);
void  sc_station_tick(struct sc_station *st, sc_ns now);
uint32_t sc_station_links(const struct sc_station *st);

struct sc_station_stats {
        uint64_t frames_in, frames_out, records_in, records_out, bytes_in, bytes_out, refused, died_silent;
};
void  sc_station_stats(const struct sc_station *st, struct sc_station_stats *out);

#endif
