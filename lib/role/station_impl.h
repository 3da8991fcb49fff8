/*
 * Inside the station: its links, what waits to leave on each, and the one dial it keeps up.  Shared
 * by station*.c and nobody else.  A link is found by its id, also by the net's upcalls, so that a late
 * word about a link that is gone finds nothing.
 */
#ifndef SC_STATION_IMPL_H
#define SC_STATION_IMPL_H

#include "codec.h"
#include "frame.h"
#include "link.h"
#include "sc_assert.h"
#include "sc_buf.h"
#include "sc_heap.h"
#include "sc_list.h"
#include "sc_map.h"
#include "sc_mem.h"
#include "sc_rng.h"
#include "sc_status.h"
#include "station.h"

enum {
        SC_CHUNK_BYTES = 256 * 1024,       /* a frame is closed before it passes this, unless one record is bigger */
        SC_CHUNK_RECORDS = 65535,
        SC_CHUNK_LEAST = 4096,             /* what a spare one keeps while memory is short */
        SC_CHUNK_SPARE = 16,               /* empty buffers kept for the next frames */
        SC_CHUNK_SPARE_FEW = 3,            /* likewise, while memory is short */
        SC_ANSWERS_MAX = 16 * 1024 * 1024, /* answers to requests that wait for a peer that does not read */
        SC_NOTES_MAX = 20                  /* log lines about peers in one second */
};
#define SC_LINGER_REFUSED (100 * SC_MS) /* for the reason to be read */
#define SC_LINGER_ORDERLY (5 * SC_S)    /* for what is pending to leave */

struct sc_chunk { /* one frame that waits to leave: room for its header, then records */
        struct sc_list queue;
        struct sc_buf  buf;
        uint32_t       count, acked, answers;
        uint32_t       heard; /* pinned: the last frame that had been taken in when its first dependent was queued */
        uint8_t        type;
        bool           pinned;
};

enum sc_peer_state {
        SC_PEER_GREETING,  /* the other side's hello is awaited */
        SC_PEER_UP,        /* the role knows it */
        SC_PEER_LOST,      /* failed inside a call; the role hears of it at the next flush */
        SC_PEER_LINGERING  /* the role has forgotten it; what is queued still leaves */
};

struct sc_peer {
        struct sc_link     link;
        sc_link_id         id;
        struct sc_net     *net;
        struct sc_conn    *conn;
        enum sc_peer_state state;
        enum sc_role       role;   /* of the other side, once up */
        bool               busy;   /* the net has a send in flight */
        bool               hello_queued;
        bool               speak;  /* a frame must leave even without records: answer, grant, ack */
        bool               ping;
        bool               parted; /* the other side has said goodbye */
        int                status; /* why it was lost */
        const char        *why;
        sc_ns              linger_by, up_at;
        uint64_t           answers; /* bytes queued that the peer asked for */
        struct sc_chunk   *pinned;  /* the first such chunk in the queue, or NULL */
        struct sc_list     touched; /* on the station's list of links to flush */
        struct sc_list     queue;   /* of chunks */
        sc_ns              key;     /* in the heap: never later than the link's real deadline */
        size_t             position;
};

enum sc_dial_state { SC_DIAL_OFF, SC_DIAL_WAITING, SC_DIAL_CONNECTING, SC_DIAL_LINKED };

struct sc_dial {
        enum sc_dial_state state;
        struct sc_net     *net;
        uint64_t           ticket;
        sc_ns              due, delay;
        bool               told;   /* why there is no link, once until there is one */
        char               url[SC_URL_MAX + 1];
};

struct sc_station {
        struct sc_station_options options;
        sc_ns                  now;    /* awake: the turns' time less what we slept */
        sc_ns                  slept, late_at;
        sc_link_id             link_ids;
        struct sc_rng          rng;
        struct sc_map          peers;  /* by id */
        struct sc_heap         due;
        struct sc_list         touched;
        struct sc_list         spare;
        uint32_t               spare_count, greeting;
        struct sc_peer        *last;   /* found last */
        sc_link_id             last_id;
        struct sc_dial         dial;
        struct sc_codec_arena  arena;
        struct sc_station_stats stats;
        sc_ns                  notes_since;
        uint32_t               notes;
        bool                   hung_up, asked; /* asked: somebody for a sign of life, in this tick */
};

struct sc_peer *sc_peer_find(struct sc_station *st, sc_link_id id);
void sc_peer_touch(struct sc_station *st, struct sc_peer *peer);
void sc_peer_rearm(struct sc_station *st, struct sc_peer *peer);
void sc_peer_linger(struct sc_station *st, struct sc_peer *peer, sc_ns limit);
void sc_peer_lose(struct sc_station *st, struct sc_peer *peer, int status, const char *why);
/* Off all lists and freed; the net has forgotten it, or does when `close`. */
void sc_peer_drop(struct sc_station *st, struct sc_peer *peer, bool close);
/* Tells the role, then closes with a BYE; for use where links may be freed or lost. */
void sc_peer_refuse(struct sc_station *st, struct sc_peer *peer, int status, const char *why);

void sc_peer_enqueue(struct sc_station *st, struct sc_peer *peer, const struct sc_msg *msg);
void sc_peer_bye(struct sc_station *st, struct sc_peer *peer, int status, const char *why);
void sc_peer_forget_queue(struct sc_station *st, struct sc_peer *peer);
void sc_spare_drop(struct sc_station *st); /* there is one */
void sc_peer_flush(struct sc_station *st, struct sc_peer *peer);

void sc_peer_frame(struct sc_station *st, struct sc_peer *peer, const uint8_t *bytes, size_t len);

void sc_dial_again(struct sc_station *st, bool fresh);
void sc_dial_tick(struct sc_station *st);
void sc_dial_off(struct sc_station *st);

/* id 0: about no link in particular. */
void sc_station_note(struct sc_station *st, sc_link_id id, const char *text, const char *more, size_t more_len);

#endif
