/*
 * The net over nng's byte streams: tcp: ipc: abstract: (tls+tcp: later).  net_nng.c and its reaper
 * net_nng_reap.c are the only files that see nng.
 *
 *     tcp://HOST:PORT   a name, an IPv4 address or [an IPv6 address]; PORT 0 when listening: any free one
 *     ipc:///PATH       a socket file; one that a dead process left behind is replaced, a living one is in use
 *     abstract://NAME   Linux's own names without files
 *
 * listen() looks names up at once and so may block; dial() never does.  destroy() is for whoever holds
 * the loop (sc_loop_hold), because nng may be waiting for a callback in which a turn goes on.
 */
#ifndef SC_NET_NNG_H
#define SC_NET_NNG_H

#include "loop.h"
#include "port.h"

/* [in a turn, or held] 0 with a net that lives on `loop`, whose upcalls come in its turns; SC_E_NOMEM, SC_E_IO. */
int sc_net_nng_create(struct sc_mem *mem, struct sc_loop *loop, const struct sc_net_upcalls *upcalls, void *ctx,
                      struct sc_net **out);

#endif
