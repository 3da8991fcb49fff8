/*
 * One word for the whole process, written by the one thread there is in the child of a fork.
 */
#include "fork.h"

#include <pthread.h>
#include <stdatomic.h>

enum { UNWATCHED, WATCHED, FORKED };

static atomic_int fork_state;

static void on_child(void)
{
        atomic_store_explicit(&fork_state, FORKED, memory_order_relaxed);
}

void sc_fork_watch(void)
{
        int unwatched = UNWATCHED;
        if (atomic_compare_exchange_strong(&fork_state, &unwatched, WATCHED))
                pthread_atfork(NULL, NULL, on_child);
}

bool sc_forked(void)
{
        return atomic_load_explicit(&fork_state, memory_order_relaxed) == FORKED;
}
