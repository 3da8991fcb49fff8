/*
 * The client's core: what was asked and not yet answered.  It is the journal of attached work:
 * a task's spec stays here until its result is in, and is sent again when a scheduler forgot it.
 */
#ifndef SC_CLI_H
#define SC_CLI_H

#include "core.h"

struct sc_mem;
struct sc_cli;

struct sc_cli_options {
        uint64_t       id; /* random, not 0: hi of every task id */
        uint8_t        role; /* SC_ROLE_CLIENT or SC_ROLE_ADMIN */
        uint32_t       pending_max;   /* tasks not yet completed; 0: 1,000,000 */
        uint64_t       output_window; /* bytes of one task's output delivered and not consumed; 0: 256 KiB */
        sc_ns          give_up;       /* without a scheduler for so long: all futures end; 0: 120 s; SC_NEVER: never */
        sc_ns          now;
        struct sc_view name, tenant, token;
        uint32_t       weight, running_max; /* told in HELLO */
};

struct sc_cli_stats {
        uint32_t pending, unsent, grant_tasks, grant_kib;
        uint64_t submitted, succeeded, failed, cancelled;
        bool     connected;
};

struct sc_cli *sc_cli_create(struct sc_mem *mem, const struct sc_cli_options *options);
void           sc_cli_destroy(struct sc_cli *c);
void           sc_cli_step(struct sc_cli *c, const struct sc_event *ev, struct sc_out *out);
sc_ns          sc_cli_deadline(const struct sc_cli *c);
/* Reserves all that a SUBMIT of that specification needs: 0, SC_E_FULL, SC_E_NOMEM, SC_E_TOO_BIG, or SC_E_STATE when
 * closing, given up, or not a client.  On 0 the very next step must be that SUBMIT, with task.lo =
 * sc_cli_next_sequence(). */
int            sc_cli_admissible(struct sc_cli *c, const struct sc_spec *spec);
uint64_t       sc_cli_next_sequence(const struct sc_cli *c); /* from 1 */
/* The next one will be `sequence`, not below the present next: those between went to tasks that could not be
 * admitted. */
void           sc_cli_skip_to(struct sc_cli *c, uint64_t sequence);
void           sc_cli_hello(struct sc_cli *c, struct sc_hello *out);
void           sc_cli_stats(const struct sc_cli *c, struct sc_cli_stats *out);
void           sc_cli_check(const struct sc_cli *c);

#endif
