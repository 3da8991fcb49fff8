/*
 * Memory that is counted and can be told to fail: what goes through the host's allocator below, and what the library
 * asks of malloc, which the linker sends here (--wrap).  One ledger for the process; a test binary of its own.
 * Failing is armed for the calling thread alone, or for every thread, and counts from there.
 */
#ifndef LEDGER_H
#define LEDGER_H

#include <stdbool.h>

#include "scaler.h"

enum ledger_how { LEDGER_ONCE, LEDGER_FROM_THEN_ON };

/* The at-th allocation from now fails, or that one and all later ones; 0: none, they are only counted. */
void ledger_arm(long at, enum ledger_how how, bool every_thread);
long ledger_disarm(void); /* how many were asked for meanwhile */

long ledger_blocks(void); /* held now, of both kinds */
long ledger_bytes(void);  /* of the host's allocator */

scaler_allocator ledger_allocator(void);

#endif
