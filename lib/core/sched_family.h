/*
 * Nested tasks: what a run has submitted, and runs that wait for it.  Included by sched_state.h only.
 */
#ifndef SC_SCHED_FAMILY_H
#define SC_SCHED_FAMILY_H

#include "sched_rows.h"

enum sched_waits {
        SCHED_AWAKE  = 0,
        SCHED_PARKED = 1, /* counts nowhere at its worker */
        SCHED_HOLDS  = 2  /* counts by what it holds beside a slot and cpu */
};

enum sched_errand { SCHED_NO_ERRAND, SCHED_INSPECT, SCHED_DISSOLVE };

/* Of one run: those of its tasks that have not ended.  A row that a worker holds has the index of its family in
 * `child`; when the worker's link is lost the family waits, with the row, for the run to be kept or made again. */
struct sched_family {
        struct sc_list todo;
        uint64_t       worker; /* its id */
        sc_ns          since, waited; /* when it came to wait, and for how long it has before */
        uint32_t       self, row;     /* row: SCHED_NONE: the run is over */
        uint32_t       first, cursor; /* children, by their nests; the next one of the errand */
        uint8_t        errand;
        bool           force, lost;
        bool           blamed; /* it waits for what may have killed its worker */
};

/* In the block of a task that a run submitted, behind its node if any.  Whose run is not known yet is a stray. */
struct sched_nest {
        struct sc_id parent;
        uint32_t     family; /* SCHED_NONE: none */
        uint32_t     next, prev;
        bool         listed; /* is in the chain of its family, or of strays */
};

/* What a SUBMIT says of its parent. */
struct sched_parent {
        struct sched_client *owner; /* whose task it counts as */
        uint32_t             family;
        uint8_t              depth;
        bool                 nested, stray;
};

/* ---- sched_family.c ----------------------------------------------------------------------------*/

const char *sc_sched_parent_fault(const struct sc_spec *spec);
size_t      sc_sched_nest_size(const struct sc_spec *spec);
/* Finds the run; makes its family if it has none.  False: no memory. */
bool        sc_sched_parent_find(struct sc_sched *s, struct sched_client *c, const struct sc_spec *spec,
                                 struct sched_parent *out);
void        sc_sched_nest_fill(struct sc_sched *s, struct sched_task *t, const struct sc_spec *spec,
                               const struct sched_parent *parent);
/* It is in its first state; nobody's child ends here. */
void        sc_sched_nest_admitted(struct sc_sched *s, struct sched_task *t, struct sc_out *out);
void        sc_sched_nest_drop(struct sc_sched *s, struct sched_task *t);   /* it ends */
void        sc_sched_nest_back(struct sc_sched *s, struct sched_task *t, struct sc_out *out); /* it is ready again */
void        sc_sched_guest_left(struct sc_sched *s, struct sched_client *owner);
void        sc_sched_family_leaves(struct sc_sched *s, struct sched_task *t, enum sc_task_state to);
void        sc_sched_family_moved(struct sc_sched *s, struct sched_task *t, enum sc_task_move move); /* some are lost */
void        sc_sched_family_pass(struct sc_sched *s, struct sched_task *from, struct sched_task *to);
void        sc_sched_family_stop(struct sc_sched *s, struct sched_task *t, bool force);
void        sc_sched_family_inspect(struct sc_sched *s, struct sched_family *f); /* who may come to deadlock now */
void        sc_sched_families_inspect(struct sc_sched *s); /* a worker is gone */
void        sc_sched_families_todo(struct sc_sched *s, struct sc_out *out);
void        sc_sched_strays_claimed(struct sc_sched *s, struct sc_out *out);
void        sc_sched_families_fini(struct sc_sched *s);
void        sc_sched_families_check(const struct sc_sched *s);
struct sched_nest *sc_sched_nest(const struct sched_task *t); /* of one that has not ended; NULL: no run submitted it */

/* ---- sched_wait.c ------------------------------------------------------------------------------*/

void sc_sched_on_waiting(struct sc_sched *s, struct sched_link *l, const struct sc_about_run *m, struct sc_out *out);
void sc_sched_on_resumed(struct sc_sched *s, struct sched_worker *w, const struct sc_about_run *m);
/* Its worker has died: who waits there for what may have killed it is as suspect as that. */
void sc_sched_blame(struct sc_sched *s, const struct sched_worker *w);
bool sc_sched_is_blamed(const struct sc_sched *s, const struct sched_task *t);
void sc_sched_park(struct sc_sched *s, struct sched_task *t);   /* it has a worker and is awake */
void sc_sched_unpark(struct sc_sched *s, struct sched_task *t); /* it leaves its worker */
sc_ns sc_sched_waited(const struct sc_sched *s, const struct sched_task *t);
/* Whether it has joined a task above it by its key, which may wait for it. */
bool sc_sched_joins_above(struct sc_sched *s, struct sched_task *t);
/* Whether it fits only into what its own waiting ancestors hold; then it ends, or is asked back to end. */
bool sc_sched_would_deadlock(struct sc_sched *s, struct sched_task *t, struct sc_out *out);

#endif
