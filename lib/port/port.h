/*
 * All seams between the library and the world, in one page.  Everything here is called, and calls
 * back, inside a turn of the runtime that owns it (loop.h), unless a line says otherwise; so no
 * upcall ever races with another of the same runtime.
 */
#ifndef SC_PORT_H
#define SC_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sc_time.h"

struct sc_buf;
struct sc_mem;

enum { SC_URL_MAX = 255, SC_WHY_MAX = 199 };

struct sc_why { /* words for people beside a status */
        char text[SC_WHY_MAX + 1];
};

/* ---- net: connections that carry whole frames -------------------------------------------------- */

struct sc_net;

struct sc_conn { /* how every net's connections begin */
        struct sc_net *net;
};

struct sc_listener { /* how every net's listeners begin */
        struct sc_net *net;
};

struct sc_net_upcalls {
        /* A connection is there: accepted by `listener`, or dialled with `ticket` (listener NULL).  The
         * return value is handed back as `user` in the other upcalls; NULL refuses: the connection is closed. */
        void *(*up)(void *ctx, struct sc_conn *conn, struct sc_listener *listener, uint64_t ticket);
        /* One whole frame, 24 <= len <= SC_FRAME_MAX by its own length field; lent for the call. */
        void (*frame)(void *ctx, void *user, const uint8_t *bytes, size_t len);
        /* The buffer given to send() has left; send() may be called again. */
        void (*writable)(void *ctx, void *user);
        /* The last upcall of a connection, unless close() came first, after which there is none. */
        void (*down)(void *ctx, void *user, int status, const char *why);
        /* A dial did not make it. */
        void (*dial_failed)(void *ctx, uint64_t ticket, int status, const char *why);
        /* A listener cannot accept just now and tries again by itself; not said too often.  May be NULL. */
        void (*accept_failed)(void *ctx, const char *why);
};

struct sc_net_ops {
        /* Listens; `bound` gets the real address (port 0 resolved).  0, SC_E_ADDRESS, SC_E_NOMEM, SC_E_UNSUPPORTED. */
        int  (*listen)(struct sc_net *net, const char *url, struct sc_listener **out, char bound[SC_URL_MAX + 1],
                       struct sc_why *why);
        void (*unlisten)(struct sc_net *net, struct sc_listener *listener);
        /* Starts to connect; ends in up() or dial_failed() with `ticket`, never inside this call. */
        int  (*dial)(struct sc_net *net, const char *url, uint64_t ticket, struct sc_why *why);
        void (*dial_cancel)(struct sc_net *net, uint64_t ticket); /* no upcall for it any more */
        /* Sends all bytes of `frames` (whole frames) by swapping buffers: `frames` comes back empty, maybe with
         * capacity.  Only when idle: not before writable() has followed the last send. */
        void (*send)(struct sc_conn *conn, struct sc_buf *frames);
        void (*close)(struct sc_conn *conn); /* what send() took and has not left yet is lost, see linger below */
        /* Closes after what send() took has left, at most `linger` later. */
        void (*close_after)(struct sc_conn *conn, sc_ns linger);
        void (*pause)(struct sc_conn *conn, bool paused); /* stop and resume reading (data links only) */
        void (*destroy)(struct sc_net *net);              /* closes everything; returns when no callback can come */
};

struct sc_net {
        const struct sc_net_ops     *ops;
        const struct sc_net_upcalls *upcalls;
        void                        *ctx;  /* of the upcalls */
};

/* ---- run: something that executes ASSIGNs ------------------------------------------------------ */
/* run_threads.h (functions on slot threads) and spawn_posix.h (commands) are used by role/worker.c
 * directly: they have one implementation each, and the simulator stands in at the shell (work_shell.h). */

#endif
