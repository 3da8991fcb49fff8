/*
 * What the files of net_nng share.  Everything belongs to the turn, except: `result`, `count` and
 * `remains.stream` are written by nng's callback before it posts, and are the turn's from then on;
 * remains belong to the reaper from sc_nng_bury() until their `buried` post runs.
 *
 * A callback does two things: it notes how the operation ended, and posts.  Nothing is submitted to
 * an aio by anybody but the turn, and nothing by the turn after the burial: so the reaper's stop is final.
 */
#ifndef SC_NET_NNG_IMPL_H
#define SC_NET_NNG_IMPL_H

#include <nng/nng.h>
#include <pthread.h>

#include "net_nng.h"
#include "net_nng_tls.h"
#include "sc_buf.h"
#include "sc_heap.h"

enum {
        SC_NNG_READ_MIN  = 4096,       /* bytes of a quiet connection's receive buffer */
        SC_NNG_READ_MAX  = 256 * 1024, /* at most so many are received, or sent, at once */
        SC_NNG_RETRY_MS  = 100,        /* before accepting again when descriptors have run out */
        SC_NNG_SAY_S     = 60,         /* at most so often is said that it cannot accept */
        SC_NNG_DRAIN_MS  = 50,         /* for the last record of TLS to leave */
        SC_NNG_GONE_MS   = 10,         /* for what TLS has decrypted already, once the other side is gone */
        SC_NNG_BRIEF_MS  = 1000,       /* an accepted connection that lives less is a brief one: see pace */
        SC_NNG_PACE_MS   = 2,          /* in the long run so far apart brief ones are let in, */
        SC_NNG_BURST     = 256,        /* after so many at once */
        SC_NNG_IDLE_MS   = 1000,       /* without a byte: buffers shrink */
        SC_NNG_HUNGRY_MS = 10,         /* between two looks at whether there is memory for what waits to be received */
        SC_NNG_STARVED_MS = 2000,      /* after so long without any the connection ends */
        SC_NNG_BROKEN_MS = 1000        /* from a send that failed to giving up on what can still be received */
};

struct sc_nng_timer { /* in a connection or a listener */
        sc_ns  due;
        size_t position;
        void (*fire)(struct sc_nng_timer *timer, sc_ns now);
};

struct sc_nng_remains { /* what the reaper closes, stops and frees, in this order */
        struct sc_list       link;
        struct sc_post       buried; /* run in a turn when it is done */
        nng_stream_listener *listener;
        nng_stream_dialer   *dialer;
        nng_stream          *stream;
        nng_aio             *aio[2];
        bool                 given; /* to the reaper */
};

struct sc_nng_reaper {
        struct sc_loop *loop;
        pthread_t       thread;
        pthread_mutex_t lock;
        pthread_cond_t  wake;
        struct sc_list  queue;
        bool            started, stop;
};

struct sc_nng_net {
        struct sc_net        base;
        struct sc_mem       *mem;
        struct sc_loop      *loop;
        struct sc_member     member;
        struct sc_list       conns, listeners, dials; /* also those that are being buried */
        struct sc_list       rearm;                   /* connections that want to receive, at the next flush */
        struct sc_heap       timers;
        size_t               timed;                   /* things that have a timer */
        nng_aio             *quick;                   /* without a callback: see push() */
        struct sc_nng_reaper reaper;
        struct sc_nng_tls    tls;
        sc_ns                pace; /* when the brief connections there were would all be due, evenly spaced */
};

enum sc_nng_state {
        SC_NNG_OPEN,
        SC_NNG_LINGERING, /* closed for its user; what was sent is leaving */
        SC_NNG_CLOSED     /* buried, or about to be */
};

struct sc_nng_conn {
        struct sc_conn        base;
        struct sc_nng_net    *net;
        struct sc_list        link, rearm;
        struct sc_nng_remains remains; /* aio[0] receives, aio[1] sends */
        struct sc_nng_timer   timer;
        enum sc_nng_state     state;
        void                 *user;

        struct sc_post received;
        int            receive_result;
        size_t         receive_count, asked;
        struct sc_buf  in;
        sc_ns          busy_at; /* when bytes last came, or had left */
        sc_ns          hungry_since; /* there was no memory for receiving; 0: there is */
        bool           receiving, paused;
        bool           tls, verifies; /* verifies: the other side's certificate */
        bool           heard;         /* a whole frame has come */
        bool           accepted;
        sc_ns          born;
        int            end; /* of the stream, as nng says; 0: not yet */

        struct sc_post sent;
        int            send_result;
        size_t         send_count, out_at;
        struct sc_buf  out;
        bool           sending; /* from send() to writable() */
        bool           waiting; /* for the callback of the send */
        bool           broken;  /* a send has failed */
};

/* net_nng.c */
bool        sc_nng_reserve_timer(struct sc_nng_net *net, struct sc_nng_timer *timer,
                                 void (*fire)(struct sc_nng_timer *, sc_ns));
void        sc_nng_set_timer(struct sc_nng_net *net, struct sc_nng_timer *timer, sc_ns due); /* SC_NEVER: off */
int         sc_nng_status(int result);
const char *sc_nng_words(int result);

/* net_nng_conn.c */
/* NULL: no memory.  Takes the stream either way. */
struct sc_nng_conn *sc_nng_conn_create(struct sc_nng_net *net, nng_stream *stream, bool tls);
void sc_nng_conn_up(struct sc_nng_conn *conn, struct sc_listener *listener, uint64_t ticket);
void sc_nng_conn_free(struct sc_nng_conn *conn);
void sc_nng_conn_rearm(struct sc_nng_conn *conn, sc_ns now); /* at the flush */
void sc_nng_conn_send(struct sc_conn *base, struct sc_buf *frames);
void sc_nng_conn_close(struct sc_conn *base);
void sc_nng_conn_close_after(struct sc_conn *base, sc_ns linger);
void sc_nng_conn_pause(struct sc_conn *base, bool paused);

/* net_nng_meet.c */
int  sc_nng_listen(struct sc_net *base, const char *url, struct sc_listener **out, char bound[SC_URL_MAX + 1],
                   struct sc_why *why);
void sc_nng_unlisten(struct sc_net *base, struct sc_listener *listener);
int  sc_nng_dial(struct sc_net *base, const char *url, uint64_t ticket, struct sc_why *why);
void sc_nng_dial_cancel(struct sc_net *base, uint64_t ticket);
void sc_nng_meet_bury(struct sc_nng_net *net); /* all listeners and dials */
void sc_nng_meet_free(struct sc_nng_net *net); /* after the reaper has ended */

/* net_nng_start.c */
int sc_nng_start(void); /* before anything of nng's: 0; SC_E_IO: no memory or threads for it, SC_E_NOMEM */

/* net_nng_reap.c */
int  sc_nng_reaper_start(struct sc_nng_reaper *reaper); /* if it does not run yet: 0, SC_E_IO */
void sc_nng_reaper_finish(struct sc_nng_reaper *reaper); /* buries all that is queued: no callback can come after it */
void sc_nng_bury(struct sc_nng_reaper *reaper, struct sc_nng_remains *remains);

#endif
