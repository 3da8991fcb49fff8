/*
 * Commands: a long-lived thread spawns and watches its share of a worker's children.  A child gets its
 * own process group, default signal dispositions and mask, only descriptors 0 1 2, stdin from
 * /dev/null or from given bytes (memfd), and pipes for its outputs.  Its end is taken by pidfd
 * and waitid on that pid alone, so the host's SIGCHLD handling is neither used nor disturbed; when
 * the host ignores SIGCHLD or reaps with wait(-1) the status is reported as stolen, never waited
 * for.  Output is read only as the worker's core asks, so memory stays flat.
 */
#ifndef SC_SPAWN_POSIX_H
#define SC_SPAWN_POSIX_H

#include "body.h"
#include "loop.h"
#include "msg.h"

struct sc_spawner;
struct sc_child;

struct sc_child_upcalls { /* in turns of the loop given to create */
        /* Bytes of stream 1 or 2, at most SC_OUTPUT_CHUNK; lent.  No more for this child until sc_child_read_more(). */
        void (*output)(void *ctx, struct sc_child *child, uint8_t stream, const void *bytes, size_t len);
        /* All outputs have been delivered and the process has ended (or never started): the last upcall.  The child is
         * freed after it.  outcome: how, code, usage, text; reason SUCCESS, TASK (exit code not 0, signal),
         * NOT_STARTED or LIMIT (output_max; what came before the limit was delivered); the caller overrides it for
         * cancels and time limits.
         * peak_kib 0: not known, because it was not above our own, which the kernel counts in. */
        void (*ended)(void *ctx, struct sc_child *child, const struct sc_outcome *outcome);
};

/* The environment children start from is that of the process now.  0, SC_E_NOMEM, SC_E_IO: no descriptor or thread. */
int  sc_spawner_create(struct sc_mem *mem, struct sc_loop *loop, const struct sc_child_upcalls *upcalls,
                       struct sc_spawner **out);
/* With the loop held, not in a turn: it joins the thread.  Kills and reaps what still runs; no upcalls after it. */
void sc_spawner_destroy(struct sc_spawner *spawner);

/* In a turn.  Copies what it needs of `command`.  Failure to start arrives by ended(), not here: 0 or SC_E_NOMEM. */
int  sc_child_start(struct sc_spawner *spawner, const struct sc_command *command, void *ctx, struct sc_child **out);
void sc_child_read_more(struct sc_child *child); /* in a turn, after output() */
void sc_child_signal(struct sc_child *child, int signal); /* in a turn: to its process group; harmless after its end */
void sc_child_ask(struct sc_child *child); /* in a turn: SIGTERM to the group, by which a command is asked to end */
/* In a turn: SIGKILL to the group, and outputs held open by escaped grandchildren are closed: ended() follows soon.
 * What the pipes held when the process ended is still delivered, as long as each output() is answered by
 * sc_child_read_more() at once.  Without a kill, ended() waits for whoever holds the outputs, as ssh does. */
void sc_child_kill(struct sc_child *child);

#endif
