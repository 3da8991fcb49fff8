/*
 * The net inside one process: `inproc://NAME` addresses join runtimes by handing frame buffers over,
 * without nng.  The names are the process's, because they must join runtimes that know nothing of
 * each other: that makes them the one guarded static of the library.  Its lock also covers who is
 * linked to whom and whose buffer is full; it is held for a few instructions, never during an upcall.
 *
 * What was sent stays the sender's memory: the receiver reads it in place, and writable() follows when
 * it has read everything.  A net that is destroyed waits for a reader that is in the middle of it.
 * What was sent before a close is still received, as with a socket; so close and close_after are one.
 */
#ifndef SC_NET_MEM_H
#define SC_NET_MEM_H

#include "loop.h"
#include "port.h"

/* 0 or SC_E_NOMEM.  destroy() is for whoever holds the loop. */
int sc_net_mem_create(struct sc_mem *mem, struct sc_loop *loop, const struct sc_net_upcalls *upcalls, void *ctx,
                      struct sc_net **out);

#endif
