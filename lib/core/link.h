/*
 * One connection, as arithmetic: frame sequences and their acknowledgement, grants, and when to
 * speak, ask or give up.  No bytes and no sockets; the station (role/station.h) owns both and asks
 * here what they mean.  Times are the station's awake clock, which stands still while the process
 * was stopped, so that nobody is judged by our own sleep.
 */
#ifndef SC_LINK_H
#define SC_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "sc_time.h"

enum {
        SC_LINK_RING        = 64,  /* unconfirmed frames told apart; later ones share the last place */
        SC_LINK_ACK_FRAMES  = 64,  /* unacknowledged frames that make an ack leave at once */
        SC_LINK_ACK_RECORDS = 512  /* likewise records that their sender keeps until then */
};
#define SC_LINK_ACK_DELAY (5 * SC_MS)

struct sc_link_sent { /* the records in frames up to `seq` that wait for its acknowledgement */
        uint32_t seq, count;
};

struct sc_link {
        bool     up;                      /* the other side's hello is in */
        bool     dialled;                 /* we asked for this connection: we ask first whether it lives */
        bool     pinged;                  /* since the last frame heard */
        uint32_t sent, heard;             /* last sequence of either direction; 0: none yet */
        uint32_t confirmed;               /* highest of ours that was acknowledged */
        uint32_t owed_frames, owed_records; /* arrived since we last acknowledged */
        uint32_t in_tasks, in_kib;        /* what they grant us */
        uint32_t out_tasks, out_kib;      /* what we grant them */
        sc_ns    heard_at, silent, hello_by, ack_by;
        uint32_t first, count;            /* of the ring */
        struct sc_link_sent ring[SC_LINK_RING];
};

void sc_link_init(struct sc_link *link, bool dialled, sc_ns now, sc_ns hello_limit, sc_ns silent);
/* The other side's hello is in; from now on it must not fall silent. */
void sc_link_up(struct sc_link *link, sc_ns silent);

/* A frame has come.  0 with the number of records it confirms, or SC_E_PROTOCOL with words: a frame is
 * missing or came twice, or it acknowledges what was never sent. */
int  sc_link_hear(struct sc_link *link, uint32_t seq, uint32_t ack, sc_ns now, uint32_t *confirmed_out,
                  const char **why);
/* All records of the frame heard last are stepped; `records` of them are kept by their sender until acknowledged. */
void sc_link_stepped(struct sc_link *link, uint32_t records, sc_ns now);
bool sc_link_granted(struct sc_link *link, uint32_t tasks, uint32_t kib); /* by them; true: that is news */
bool sc_link_grant(struct sc_link *link, uint32_t tasks, uint32_t kib);   /* by us; true: that is news */

/* A frame leaves with so many records to be acknowledged: gives its sequence.  It acknowledges link->heard, or less:
 * then that stays owed. */
uint32_t sc_link_seal(struct sc_link *link, uint32_t records, bool acknowledges);
/* Too much is unacknowledged to wait for a frame that happens to leave. */
bool     sc_link_ack_urgent(const struct sc_link *link);

enum sc_link_due {
        SC_LINK_NOT_DUE,
        SC_LINK_HELLO_LATE, /* no hello within the limit */
        SC_LINK_DEAD,       /* silent for too long */
        SC_LINK_PING,       /* ask for a sign of life, then call sc_link_pinged() */
        SC_LINK_ACK         /* a bare ack must leave */
};
enum sc_link_due sc_link_due(const struct sc_link *link, sc_ns now);
void             sc_link_pinged(struct sc_link *link);
void             sc_link_ack_taken(struct sc_link *link); /* the caller sees to it that a frame leaves */
sc_ns            sc_link_deadline(const struct sc_link *link);

#endif
