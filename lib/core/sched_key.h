/*
 * Tasks with idempotency keys.  All tasks of a tenant that have one key are owners of one piece of work.  One of them
 * leads: its row is where the work stands, and has its runs.  The others are JOINED and wait for its end.  What is
 * kept of a key after that, how an end is shared, and the calls to the three files that know.  Included by
 * sched_rows.h only.
 */
#ifndef SC_SCHED_KEY_H
#define SC_SCHED_KEY_H

#include "msg.h"
#include "sc_heap.h"
#include "sc_list.h"
#include "sc_time.h"
#include "task_fsm.h"

struct sc_out;
struct sc_sched;
struct sched_client;
struct sched_task;
struct sched_tenant;

/* An outcome that rows share, and perhaps a key that is remembered. */
struct sched_answer {
        struct sc_list    list; /* of all */
        struct sc_outcome outcome;
        uint64_t          worker;
        size_t            size;
        uint32_t          attempts, losses;
        uint32_t          refs;  /* of rows, and one of its key */
        uint32_t          ended; /* of those, rows whose result is not confirmed */
        uint32_t          seen, seen_ended; /* counted again by a check */
        uint8_t           bytes[];
};

struct sched_key {
        struct sc_id         id;     /* what workers call the work: told by tenant and key, and by the digest */
        struct sc_id         digest; /* of all that defines it */
        struct sched_key    *same;   /* next in the map with as much of its id */
        struct sched_tenant *tenant; /* counted */
        struct sched_answer *answer; /* once it has ended; NULL then: there was no memory for it */
        struct sc_heap       joined; /* owners that do not lead: by priority, oldest first */
        struct sc_list       todo;   /* what is due: see sc_sched_keys_run */
        struct sc_list       kept;   /* among those that are remembered, oldest end first */
        sc_ns                ended_at;
        uint8_t             *body;   /* until the end */
        uint32_t             body_len, retries;
        uint32_t             leader; /* row; SCHED_NONE: it has ended */
        uint8_t              reason, words; /* of an end without an answer */
        bool                 ended, found;  /* found: in the map */
        uint8_t              len;
        char                 text[];
};

/* What the plan of a live owner points to. */
struct sched_owner {
        struct sched_key *key;
        size_t            position; /* among those that have joined; SC_HEAP_NOWHERE: it leads */
        uint64_t          order;
        uint32_t          row;
        int32_t           priority;
};

/* What becomes of a submit with a key. */
enum sched_joint_how {
        SCHED_JOINT_NONE,  /* it has no key */
        SCHED_JOINT_LEAD,  /* it is the first */
        SCHED_JOINT_JOIN,  /* the work is under way */
        SCHED_JOINT_KNOWN, /* its end is remembered */
        SCHED_JOINT_OTHER  /* the key is another task's, which is not the same */
};

struct sched_joint {
        enum sched_joint_how how;
        struct sched_key    *key;
        struct sched_owner  *owner; /* reserved; LEAD and JOIN */
};

/* ---- sched_key.c: keys, who has them, what workers call them -----------------------------------*/

static inline bool sc_sched_is_keyed(const struct sc_spec *spec)
{
        return spec->plan && spec->plan->key.len > 0;
}

void  sc_sched_keys_init(struct sc_sched *s);
void  sc_sched_keys_fini(struct sc_sched *s); /* before the rows go */
/* False: no memory.  `needs` is canonical. */
bool  sc_sched_joint_reserve(struct sc_sched *s, struct sched_client *c, const struct sc_spec *spec,
                             struct sc_view needs, struct sched_joint *j);
void  sc_sched_joint_cancel(struct sc_sched *s, struct sched_joint *j);
/* The row is there, with its plan. */
void  sc_sched_joint_fill(struct sc_sched *s, struct sched_task *t, struct sched_joint *j);
/* In place of what becomes of others that are new. */
void  sc_sched_joint_admit(struct sc_sched *s, struct sched_task *t, const struct sched_joint *j, struct sc_out *out);
struct sched_owner *sc_sched_owner(const struct sched_task *t); /* NULL: none, or it has ended */
/* The row whose run a worker means, or of an orphan; NULL: there is none. */
struct sched_task *sc_sched_work(const struct sc_sched *s, struct sc_id id);
struct sc_id sc_sched_work_name(const struct sched_task *t); /* what workers call a task */
bool  sc_sched_work_is_over(const struct sc_sched *s, struct sc_id id); /* its end is remembered */
/* Whose end a task that has joined waits for; NULL: it has not. */
const struct sched_task *sc_sched_joined_to(const struct sc_sched *s, const struct sched_task *t);
uint64_t sc_sched_key_size(const struct sched_key *k); /* its bytes among those held */
void  sc_sched_key_release(struct sc_sched *s, struct sched_key *k); /* unless it has owners, or is remembered */
void  sc_sched_key_unfind(struct sc_sched *s, struct sched_key *k);  /* off the map */
void  sc_sched_key_body_drop(struct sc_sched *s, struct sched_key *k);

/* ---- sched_joint.c: who leads ------------------------------------------------------------------*/

void  sc_sched_joined_init(struct sc_sched *s, struct sched_key *k);
void  sc_sched_joined_add(struct sc_sched *s, struct sched_task *t);    /* it has entered that state */
void  sc_sched_joined_remove(struct sc_sched *s, struct sched_task *t); /* it leaves it */
void  sc_sched_joined_due(struct sc_sched *s, struct sched_key *k); /* to be looked at before this step places */
void  sc_sched_joined_hurry(struct sc_sched *s, struct sched_key *k, const struct sched_task *t);
bool  sc_sched_has_others(const struct sched_task *t); /* it leads, and would leave the work to somebody */
/* It is about to end by its owner's wish or time: if others are there one of them leads from now on, and this one has
 * only joined.  False: it is what it was. */
bool  sc_sched_part(struct sc_sched *s, struct sched_task *t);
void  sc_sched_owner_leaves(struct sc_sched *s, struct sched_task *t, struct sched_owner *owner); /* it has ended */
void  sc_sched_keys_run(struct sc_sched *s, struct sc_out *out);

/* ---- sched_answer.c: ends that are shared and remembered ---------------------------------------*/

/* It leads, and ends like this for all of its owners: this row now, the others in steps. */
void  sc_sched_end_for_all(struct sc_sched *s, struct sched_task *t, enum sc_task_move move,
                           const struct sc_outcome *outcome, struct sc_out *out);
void  sc_sched_answer_drop(struct sc_sched *s, struct sched_answer *a);
void  sc_sched_answer_told(struct sc_sched *s, struct sched_answer *a); /* a row of it is no longer ENDED */
bool  sc_sched_key_is_past(const struct sc_sched *s, const struct sched_key *k); /* remembered for too long */
void  sc_sched_key_forget(struct sc_sched *s, struct sched_key *k); /* it is remembered */
void  sc_sched_keys_forget(struct sc_sched *s, struct sc_out *out); /* those that are too old, or too many */
sc_ns sc_sched_keys_deadline(const struct sc_sched *s);
void  sc_sched_key_check(const struct sc_sched *s, uint64_t *bytes, uint64_t *ended_bytes);

#endif
