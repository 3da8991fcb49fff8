/*
 * The net over nng's byte streams: tcp: ipc: abstract: tls+tcp:.  The files net_nng*.c are the only ones
 * that see nng.
 *
 *     tcp://HOST:PORT   a name, an IPv4 address or [an IPv6 address]; PORT 0 when listening: any free one
 *     ipc:///PATH       a socket file; one that a dead process left behind is replaced, a living one is in use
 *     abstract://NAME   Linux's own names without files
 *     tls+tcp://HOST:PORT   tcp: under TLS, after sc_net_nng_secure()
 *
 * listen() looks names up at once and so may block; dial() never does.  destroy() is for whoever holds
 * the loop (sc_loop_hold), because nng may be waiting for a callback in which a turn goes on.
 */
#ifndef SC_NET_NNG_H
#define SC_NET_NNG_H

#include "loop.h"
#include "port.h"

enum { SC_TLS_NAME_MAX = 255 };

struct sc_tls { /* files are PEM; NULL: none */
        const char *cert_file;   /* ours, then those that signed it; to listen, and to be known by */
        const char *key_file;    /* without a password; NULL: it is in cert_file */
        const char *ca_file;     /* whom to trust; revocation lists in it are heeded */
        const char *server_name; /* what the other side's certificate must be for; NULL: the host dialled */
        bool        unverified;  /* dials: believes everybody */
        bool        mutual;      /* listens: whoever has no certificate signed by ca_file stays outside */
};

/* [in a turn, or held] 0 with a net that lives on `loop`, whose upcalls come in its turns; SC_E_NOMEM, SC_E_IO. */
int sc_net_nng_create(struct sc_mem *mem, struct sc_loop *loop, const struct sc_net_upcalls *upcalls, void *ctx,
                      struct sc_net **out);

/* [in a turn, or held] By what its tls+tcp: addresses go from now on; all files are read at once.  0; SC_E_INVALID,
 * SC_E_IO, SC_E_NOMEM, SC_E_UNSUPPORTED with words. */
int sc_net_nng_secure(struct sc_net *base, const struct sc_tls *tls, struct sc_why *why);

#endif
