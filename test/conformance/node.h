/*
 * A process's worth of net for the conformance tests: a loop, a net of some kind on it, and peers that
 * count what happens to them.  Frames carry a number in their first body bytes, so that order, loss and
 * repetition show.  Everything in a node is guarded by its lock; waits have deadlines.
 */
#ifndef NODE_H
#define NODE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loop.h"
#include "port.h"
#include "sc_buf.h"
#include "sc_mem.h"

enum kind { KIND_TCP, KIND_IPC, KIND_ABSTRACT, KIND_MEM, KIND_INPROC_NNG, KIND_TLS, KINDS };

/* How much of something that is a lot: TLS is some 25 times as slow as tcp:. */
uint32_t kind_share(enum kind kind, uint32_t amount);

enum { FRAME_MIN = 32 }; /* header and number */

struct node;

struct peer {
        struct node        *node;
        struct peer        *next;
        struct sc_conn     *conn;     /* NULL: gone */
        struct sc_listener *listener; /* NULL: dialled */
        uint64_t            ticket;
        bool                sending;
        int                 downs, status;
        char                why[SC_WHY_MAX + 1];
        uint64_t            frames_in, frames_out, bytes_in, wrong, writables;
        uint64_t            pump_left;  /* frames still to be sent by themselves */
        size_t              pump_size, pump_batch;
        struct sc_buf       echo;       /* frames to be sent back */
};

struct node {
        enum kind        kind;
        struct sc_mem    mem;
        struct sc_loop  *loop;
        struct sc_net   *net;
        pthread_mutex_t  lock;
        pthread_cond_t   changed;
        struct peer     *peers;
        uint32_t         ups, live, downs, dials_failed;
        int              dial_status;
        char             dial_why[SC_WHY_MAX + 1];
        bool             echoes;  /* sends every frame back */
        bool             refuses; /* up() says no */
        uint64_t         pump;    /* frames that every new peer is to send */
        size_t           pump_size;
        struct sc_listener *listener;
        char             bound[SC_URL_MAX + 1];
        char             dir[64]; /* of the ipc socket */
};

const char *kind_name(enum kind kind);

void node_start(struct node *node, enum kind kind);
void node_start_beside(struct node *node, const struct node *other); /* same kind, same loop */
void node_stop(struct node *node);     /* destroys net and loop; asserts that no memory is out */
void node_stop_net(struct node *node); /* the first half */
void node_listen(struct node *node);   /* at a fresh address of its kind, in node->bound */
uint64_t node_dial(struct node *node, const char *url); /* the ticket */

/* Waits until *counter reaches `value`; false after `seconds`. */
bool node_wait_u32(struct node *node, const uint32_t *counter, uint32_t value, int seconds);
bool node_wait_u64(struct node *node, const uint64_t *counter, uint64_t value, int seconds);
void node_quiesce(struct node *node, int seconds); /* waits until every peer that came up is down; asserts it */
bool peer_wait_down(struct peer *peer, int seconds);
struct peer *node_newest(struct node *node); /* the peer that came up last; NULL: none */
struct peer *node_dialled(struct node *node, uint64_t ticket, int seconds); /* waits until it is up; NULL: it is not */

void peer_pump(struct peer *peer, uint64_t frames, size_t size, size_t batch); /* sends them as it can */
void peer_send_raw(struct peer *peer, const void *bytes, size_t len);
void peer_close(struct peer *peer);
void peer_close_after(struct peer *peer, sc_ns linger);
void peer_pause(struct peer *peer, bool paused);
uint64_t node_read(struct node *node, const uint64_t *counter);
uint32_t node_read_u32(struct node *node, const uint32_t *counter);

void frame_fill(uint8_t *frame, size_t size, uint64_t number);

#endif
