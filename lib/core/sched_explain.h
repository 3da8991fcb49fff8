/*
 * Answers to "why": what the files share that explain tasks and workers and list them.  Only sched*.c
 * includes this.  What an answer lends stands in a room that its asker gives, so that it outlives the rows.
 */
#ifndef SC_SCHED_EXPLAIN_H
#define SC_SCHED_EXPLAIN_H

#include "sched_state.h"

/* An attempt that did not end its task; the last ones of a task are chained, the newest first. */
struct sched_attempt {
        struct sched_attempt *older;
        uint64_t              worker, run;
        sc_ns                 began, ended;
        uint64_t              wall_us, user_us, sys_us, peak_kib;
        uint32_t              size, attempt;
        int32_t               code;
        uint8_t               reason, how, name_len, text_len;
        char                  words[]; /* the worker's name, the text */
};

/* ---- sched_attempt.c ---------------------------------------------------------------------------*/

/* Its present run is over and the task is not.  Without memory to spare it is not remembered. */
void sc_sched_attempt_add(struct sc_sched *s, struct sched_task *t, const struct sc_outcome *outcome);
void sc_sched_attempts_move(struct sc_sched *s, struct sched_task *from, struct sched_task *to);
void sc_sched_attempt_undo(struct sc_sched *s, struct sched_task *t); /* its last run goes on after all */
void sc_sched_attempts_drop(struct sc_sched *s, struct sched_task *t);
void sc_sched_attempts_fini(struct sc_sched *s);
uint32_t sc_sched_attempts_count(const struct sc_sched *s, const struct sched_task *t);
/* The newest one, or NULL. */
const struct sched_attempt *sc_sched_attempts(const struct sc_sched *s, const struct sched_task *t);
void sc_sched_attempts_check(const struct sc_sched *s);

/* ---- sched_why.c: tasks ------------------------------------------------------------------------*/

enum { SCHED_WHY_TASK_ROOM = SC_TEXT_MAX + 4 * SC_NAME_MAX + SC_AMOUNTS_TEXT + 8,
       SCHED_WHY_ATTEMPT_ROOM = SC_TEXT_MAX + SC_NAME_MAX,
       SCHED_WHY_WORKER_ROOM = SC_TEXT_MAX + SC_NAME_MAX + 2 * SC_AMOUNTS_TEXT };

enum sc_public_state sc_sched_public_state(const struct sc_sched *s, const struct sched_task *t);
bool sc_sched_why_fits(enum sc_task_state state, enum sc_cause why); /* the table */
/* `text` gets the sentence. */
struct sched_reason {
        enum sc_cause why;
        uint64_t    number;
        sc_ns       until; /* SC_NEVER: not known */
};
struct sched_reason sc_sched_why(const struct sc_sched *s, const struct sched_task *t, struct sched_text *text);
struct sc_sched sc_sched_at(const struct sc_sched *s, sc_ns now); /* as it is when nothing happens until then */
void sc_sched_task_why(const struct sc_sched *s, const struct sched_task *t, struct sched_text *room,
                       struct sc_task_why *out);

/* ---- sched_why_ready.c -------------------------------------------------------------------------*/

struct sched_reason sc_sched_why_ready(const struct sc_sched *s, const struct sched_task *t, struct sched_text *text);
bool sc_sched_is_short(const struct sc_sched *s); /* of memory, so that nothing is placed */

/* ---- sched_why_worker.c ------------------------------------------------------------------------*/

void sc_sched_worker_why(const struct sc_sched *s, const struct sched_worker *w, struct sched_text *room,
                         struct sc_worker_why *out);

/* ---- sched_words.c: pieces of sentences --------------------------------------------------------*/

struct sc_view sc_sched_say(struct sched_text *room, const void *bytes, size_t len); /* a copy in the room */
void sc_sched_text_view(struct sched_text *text, const char *name, size_t len); /* quoted, and cut if it is long */
void sc_sched_text_seconds(struct sched_text *text, sc_ns span);                /* "12.3 s" */
void sc_sched_text_count(struct sched_text *text, uint64_t count, const char *noun); /* "1 worker", "3 workers" */
void sc_sched_text_amount(struct sched_text *text, uint64_t thousandths);       /* people's form: "0.5", "64G" */
void sc_sched_text_name_of(struct sched_text *text, const struct sched_amount *amount);
void sc_sched_text_need(struct sched_text *text, const struct sched_amount *amount); /* "gpu=1", "linux" */
/* All of them, or as much as fits, without the cpu=1 that goes without saying. */
void sc_sched_text_needs(struct sched_text *text, const struct sched_amount *amount, uint32_t count);
uint32_t sc_sched_offer_at(const struct sched_crew *crew, const struct sched_amount *need); /* or offer_count */

/* ---- sched_list.c ------------------------------------------------------------------------------*/

/* A page of tasks; gives the cursor of the next one, 0: that was all. */
uint64_t sc_sched_list(struct sc_sched *s, const struct sched_link *l, const struct sc_query_msg *m,
                       struct sched_text *room, struct sc_out *out);
struct sched_task *sc_sched_newest(const struct sc_sched *s, uint64_t client); /* 0: of all; NULL: none */

#endif
