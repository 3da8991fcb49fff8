/*
 * What the scheduler's files share: what it is made of, and the calls between nouns.  Only sched*.c
 * includes this.
 */
#ifndef SC_SCHED_STATE_H
#define SC_SCHED_STATE_H

#include "sched_family.h"
#include "sched_rows.h"

/* ---- sched.c -----------------------------------------------------------------------------------*/

bool sc_sched_bulk(struct sc_sched *s, const struct sc_out *out); /* may a bulk loop do one row more? notes it if not */
bool sc_sched_passes_on(const struct sc_sched *s); /* ends to tasks that depend on them */
bool sc_sched_tight(struct sc_sched *s); /* is memory short, so that more must wait? notes it if so */
/* A log line or a text is built piece by piece; what does not fit is left out. */
struct sched_text {
        char  *at;
        size_t len, max;
};
void sc_sched_text(struct sched_text *text, const char *words);
void sc_sched_text_name(struct sched_text *text, const char *name, size_t len); /* control characters become '?' */
void sc_sched_text_number(struct sched_text *text, uint64_t number);
/* A line that starts with a subject; more may be appended to it until the next one.  False: enough for this step. */
bool sc_sched_note(struct sc_sched *s, struct sc_out *out, struct sc_id id, struct sched_text *text);
struct sched_link *sc_sched_link(const struct sc_sched *s, sc_link_id link);
/* Closes a link and does all that its loss means. */
void sc_sched_close(struct sc_sched *s, struct sched_link *l, int status, const char *text, struct sc_out *out);
/* The same for what a peer should never have said; leaves a note. */
void sc_sched_nonsense(struct sc_sched *s, struct sched_link *l, int status, const char *text, struct sc_out *out);

/* ---- sched_table.c -----------------------------------------------------------------------------*/

bool     sc_sched_table_reserve(struct sched_table *t, struct sc_mem *mem);
uint32_t sc_sched_table_put(struct sched_table *t, void *what);
void     sc_sched_table_drop(struct sched_table *t, uint32_t index);
void     sc_sched_table_fini(struct sched_table *t, struct sc_mem *mem);

static inline struct sched_worker *sc_sched_worker(const struct sc_sched *s, uint32_t index)
{
        return s->worker_at.at[index];
}

static inline struct sched_client *sc_sched_client(const struct sc_sched *s, uint32_t index)
{
        return s->client_at.at[index];
}

static inline struct sched_edge *sc_sched_edge(const struct sc_sched *s, uint32_t index)
{
        return &s->edge_page[index / SCHED_PAGE][index % SCHED_PAGE];
}

static inline struct sched_answer *sc_sched_answer(const struct sched_task *t)
{
        return (struct sched_answer *)(void *)t->block;
}

/* What heads the block, before the plan: a node, a graph, or nothing. */
static inline size_t sc_sched_head_size(const struct sched_task *t)
{
        const size_t nest = t->spec_flags & SCHED_CHILD ? sizeof(struct sched_nest) : 0;
        if (!(t->flags & SCHED_NODE))
                return nest;
        return t->kind == SC_TASK_GRAPH ? sizeof(struct sched_graph) : sizeof(struct sched_node) + nest;
}

static inline struct sched_class *sc_sched_class(const struct sc_sched *s, uint32_t index)
{
        return s->classes.at[index];
}

static inline struct sched_set *sc_sched_set(const struct sc_sched *s, uint32_t index)
{
        return s->sets.at[index];
}

static inline struct sched_lane *sc_sched_lane(const struct sc_sched *s, uint32_t index)
{
        return s->lanes.at[index];
}

/* ---- sched_row.c: the table of rows ------------------------------------------------------------*/

static inline struct sched_task *sc_sched_row(const struct sc_sched *s, uint32_t index)
{
        return &s->page[index / SCHED_PAGE]->task[index % SCHED_PAGE];
}

struct sched_task *sc_sched_find(const struct sc_sched *s, struct sc_id id);
struct sched_task *sc_sched_row_new(struct sc_sched *s, struct sc_id id); /* NULL: no memory, or tasks_max */
void               sc_sched_row_free(struct sc_sched *s, struct sched_task *t);
void               sc_sched_row_rename(struct sc_sched *s, struct sched_task *t, struct sc_id id);
void               sc_sched_rows_fini(struct sc_sched *s);
void sc_sched_queue_init(struct sched_queue *q);
void sc_sched_queue_add(struct sc_sched *s, struct sched_queue *q, enum sched_link_pair pair, struct sched_task *t);
void sc_sched_queue_remove(struct sc_sched *s, struct sched_queue *q, enum sched_link_pair pair, struct sched_task *t);
/* A row that is in it goes before another one. */
void sc_sched_queue_before(struct sc_sched *s, struct sched_queue *q, enum sched_link_pair pair, struct sched_task *t,
                           struct sched_task *other);

static inline bool sc_sched_share_capped(const struct sched_share *share)
{
        return share->running_max > 0 && share->running >= share->running_max;
}

/* Where its last run was, or is. */
static inline uint64_t sc_sched_last_worker(const struct sc_sched *s, const struct sched_task *t)
{
        return sc_task_is_held(t->state) ? sc_sched_worker(s, t->worker)->id : t->last_worker;
}

/* As sc_heap_top, where a call would cost more than what it does. */
static inline void *sc_sched_top(const struct sc_heap *heap)
{
        return heap->len > 0 ? heap->at[0] : NULL;
}

/* The place of a task among others: deeper nested ones first, then who came first. */
static inline uint64_t sc_sched_order(uint8_t depth, uint64_t counter)
{
        return (uint64_t)(UINT8_MAX - depth) << 56 | counter;
}

/* The how-manieth task it was, whatever its depth. */
static inline uint64_t sc_sched_counter(uint64_t order)
{
        return order & ((UINT64_C(1) << 56) - 1);
}

/* ---- sched_task.c: admission, moves, ends ------------------------------------------------------*/

void sc_sched_move(struct sc_sched *s, struct sched_task *t, enum sc_task_move move);
void sc_sched_on_submit(struct sc_sched *s, struct sched_link *l, const struct sc_submit *m, struct sc_out *out);
void sc_sched_claims_wake(struct sc_sched *s, struct sc_out *out);
/* Ends a task by `move` as `outcome` says, and tells whoever must know. */
void sc_sched_end(struct sc_sched *s, struct sched_task *t, enum sc_task_move move, const struct sc_outcome *outcome,
                  struct sc_out *out);
void sc_sched_end_cancelled(struct sc_sched *s, struct sched_task *t, enum sc_task_move move, struct sc_out *out);
/* As that of its key's work. */
void sc_sched_end_as(struct sc_sched *s, struct sched_task *t, enum sc_task_move move, struct sched_key *k,
                     struct sc_out *out);
/* The same without bytes of its own, which needs no memory. */
void sc_sched_end_plainly(struct sc_sched *s, struct sched_task *t, enum sc_task_move move, enum sc_reason reason,
                          enum sched_words words, struct sc_out *out);
struct sc_view sc_sched_body(const struct sched_task *t);
struct sc_view sc_sched_constants(const struct sched_task *t); /* of a node */
uint32_t       sc_sched_weight(const struct sched_task *t);    /* bytes that its client is charged */
void sc_sched_outcome(const struct sched_task *t, struct sc_outcome *out);
bool sc_sched_outcome_fits(const struct sc_sched *s, const struct sched_task *t, const struct sc_outcome *outcome);
void sc_sched_tasks_init(struct sc_sched *s);

/* Of ended rows: gone unless somebody will read the result.  False: it is kept. */
bool sc_sched_let_go(struct sc_sched *s, struct sched_task *t);
/* A graph's row, all of whose nodes have ended: its block stays. */
void sc_sched_end_graph(struct sc_sched *s, struct sched_task *t, enum sc_reason reason, struct sc_out *out);

/* ---- sched_plan.c: what few tasks ask for in time ----------------------------------------------*/

void               sc_sched_plans_init(struct sc_sched *s);
struct sched_plan *sc_sched_plan(const struct sched_task *t); /* NULL: none */
struct sc_view     sc_sched_plan_tag(const struct sched_task *t);
const char        *sc_sched_plan_fault(const struct sc_plan *plan);
size_t             sc_sched_plan_size(const struct sc_spec *spec); /* 0: it needs none */
void sc_sched_plan_fill(struct sc_sched *s, struct sched_task *t, const struct sc_spec *spec);
void sc_sched_plan_moved(struct sc_sched *s, struct sched_task *t, enum sc_task_state from);
struct sc_view sc_sched_plan_retry_on(const struct sched_plan *plan);
void sc_sched_plan_wake(struct sc_sched *s, struct sched_task *t, sc_ns at); /* BACKOFF, not before: earlier now */
void sc_sched_plan_started(struct sc_sched *s, struct sched_task *t);
void sc_sched_plan_tried(struct sc_sched *s, struct sched_task *t);
bool sc_sched_plan_retries(const struct sched_task *t, const struct sc_outcome *outcome); /* worth another run? */
enum sc_task_move sc_sched_plan_unblock(const struct sc_sched *s, const struct sched_task *t); /* UNBLOCK or DELAY */
enum sc_task_move sc_sched_plan_retry(struct sc_sched *s, struct sched_task *t);          /* RETRY or DELAY */
bool sc_sched_overdue(const struct sc_sched *s, const struct sched_task *t);
void sc_sched_end_overdue(struct sc_sched *s, struct sched_task *t, enum sc_task_move move, struct sc_out *out);
void sc_sched_plans_run(struct sc_sched *s, struct sc_out *out);

/* ---- sched_cancel.c ----------------------------------------------------------------------------*/

void sc_sched_on_cancel(struct sc_sched *s, struct sched_link *l, const struct sc_cancel *m, struct sc_out *out);
void sc_sched_stop(struct sc_sched *s, struct sched_task *t, bool force, struct sc_out *out); /* ASSIGNED and on */
void sc_sched_confirm_all(struct sc_sched *s, struct sched_task *t, enum sc_cancelled outcome, struct sc_out *out);
void sc_sched_stop_send(struct sc_sched *s, struct sched_task *t, bool force, struct sc_out *out);

/* ---- sched_bulk.c: cancels of many -------------------------------------------------------------*/

void sc_sched_on_cancel_many(struct sc_sched *s, struct sched_link *l, const struct sc_cancel_many *m,
                             struct sc_out *out);
void sc_sched_bulks_run(struct sc_sched *s, struct sc_out *out);
/* The row is about to leave its client's queue. */
void sc_sched_bulks_leave(const struct sched_client *c, const struct sched_task *t);
void sc_sched_bulks_forget(struct sched_client *c); /* it goes, and has no rows */
void sc_sched_bulks_drop(struct sc_sched *s, sc_link_id link);
void sc_sched_bulks_fini(struct sc_sched *s);

/* ---- sched_amount.c ----------------------------------------------------------------------------*/

bool sc_sched_sets_init(struct sc_sched *s);
void sc_sched_sets_fini(struct sc_sched *s);
/* The needs of a task as a set's text has them; `text` lends the room.  False: they are not canonical. */
bool sc_sched_needs(const struct sc_spec *spec, char text[SC_AMOUNTS_TEXT + 1], struct sc_view *needs);
struct sched_set *sc_sched_set_take(struct sc_sched *s, struct sc_view needs, bool *full); /* counted */
void              sc_sched_set_drop(struct sc_sched *s, struct sched_set *set);
struct sc_view    sc_sched_set_text(const struct sched_set *set);
/* What a worker offers, cpu included.  False: not canonical. */
bool sc_sched_offers(const struct sc_hello *h, struct sched_amount out[SC_AMOUNTS_MAX + 1], uint32_t *count);
bool sc_sched_fulfils(const struct sc_sched *s, const struct sched_crew *crew, const struct sched_set *set); /* ever */
bool sc_sched_fits(const struct sc_sched *s, const struct sched_worker *w, const struct sched_set *set);    /* now */
/* Would it fit if no run of `without` held anything? */
bool sc_sched_fits_without(const struct sc_sched *s, const struct sched_worker *w, const struct sched_set *set,
                           const struct sched_set *without);
struct sched_runs *sc_sched_runs(const struct sched_worker *w, uint32_t set); /* NULL: there are none */
/* By what it counts at a worker: an orphan by the first set, and all where amounts are not counted. */
struct sched_set *sc_sched_set_of(const struct sc_sched *s, const struct sched_task *t);
/* Takes amounts off what is free, or gives them back, with nobody to hold them: for looking ahead. */
void sc_sched_claim(const struct sc_sched *s, struct sched_worker *w, const struct sched_set *set, bool more);
void sc_sched_runs_join(struct sc_sched *s, struct sched_worker *w, const struct sched_set *set, bool started);
void sc_sched_runs_leave(struct sc_sched *s, struct sched_worker *w, const struct sched_set *set, bool started);
/* A run of a set that is not the first comes to wait, or goes on: of what it needs it gives back cpu alone. */
void sc_sched_runs_park(struct sc_sched *s, struct sched_worker *w, const struct sched_set *set);
void sc_sched_runs_unpark(struct sc_sched *s, struct sched_worker *w, const struct sched_set *set);
bool     sc_sched_is_cpu(const struct sched_amount *amount);
uint64_t sc_sched_offered(const struct sched_crew *crew, const struct sched_amount *need); /* 0: not at all */

/* ---- sched_crew.c ------------------------------------------------------------------------------*/

struct sched_crew *sc_sched_crew_take(struct sc_sched *s, const struct sc_hello *hello); /* NULL: no memory */
void sc_sched_crew_drop(struct sc_sched *s, struct sched_crew *crew);
void sc_sched_crew_live(struct sc_sched *s, struct sched_crew *crew, bool joins); /* a worker of it comes or goes */
bool sc_sched_crew_serves(const struct sched_crew *crew, const struct sched_class *c);
bool sc_sched_crew_knows(const struct sched_crew *crew, uint32_t function);
bool sc_sched_crew_roomier(const void *a, const void *b);
void sc_sched_crew_moved(void *item, size_t position);
void sc_sched_crew_changed(struct sc_sched *s, struct sched_crew *crew); /* the heap of its workers did */

static inline bool sc_sched_serves(const struct sched_crew *crew, uint32_t set, uint32_t function)
{
        if (!(crew->sets[set / 64] >> set % 64 & 1))
                return false;
        return function < SCHED_BITS ? crew->known[function / 64] >> function % 64 & 1
                                     : sc_sched_crew_knows(crew, function);
}

/* ---- sched_class.c -----------------------------------------------------------------------------*/

struct sc_id sc_sched_hash(const struct sc_sched *s, struct sc_view bytes);
struct sched_function *sc_sched_function_take(struct sc_sched *s, struct sc_view name); /* counted; NULL: no memory */
void sc_sched_function_drop(struct sc_sched *s, struct sched_function *f);
void sc_sched_measured(struct sc_sched *s, struct sched_function *f, sc_ns took);
struct sched_class *sc_sched_class_of(struct sc_sched *s, struct sc_view name, struct sc_view needs, bool *full);
void sc_sched_class_drop(struct sc_sched *s, struct sched_class *c); /* unless it has levels */
void sc_sched_class_crew(struct sc_sched *s, struct sched_class *c, bool joins);
void sc_sched_lane_bytes(struct sc_sched *s, size_t size, bool more); /* on or off the bill */
void sc_sched_activate(struct sc_sched *s, struct sched_class *c);
void sc_sched_entry_stuck(struct sc_sched *s, struct sched_entry *e, bool stuck);
void sc_sched_entry_dry(struct sc_sched *s, struct sched_entry *e, bool dry);
void sc_sched_entry_forget(struct sc_sched *s, struct sched_class *c); /* something in it came to be placeable */

/* ---- sched_lane.c ------------------------------------------------------------------------------*/

/* The lane of a task, counted.  NULL: no memory, or with *full one of the limits. */
struct sched_lane *sc_sched_lane_take(struct sc_sched *s, struct sched_client *c, const struct sc_spec *spec,
                                      struct sc_view needs, bool *full);
void sc_sched_lane_drop(struct sc_sched *s, struct sched_lane *lane);
void sc_sched_levels_init(struct sc_sched *s, struct sched_class *c);
void sc_sched_lanes_fini(struct sc_sched *s);
void sc_sched_lane_enter(struct sc_sched *s, struct sched_lane *lane); /* it has something to place */
void sc_sched_lane_older(struct sc_sched *s, struct sched_lane *lane, uint64_t order); /* its head has become older */
void sc_sched_uncap(struct sc_sched *s, struct sched_share *share, bool of_tenant);
/* Whose turn it is in a class, or NULL; and the oldest below a priority, with when it came as of priority 0. */
struct sched_lane *sc_sched_class_pick(struct sc_sched *s, struct sched_class *c);
struct sched_lane *sc_sched_class_oldest(struct sc_sched *s, struct sched_class *c, int32_t below, int64_t *age);

/* ---- sched_tenant.c ----------------------------------------------------------------------------*/

bool sc_sched_tenants_init(struct sc_sched *s);
void sc_sched_tenants_fini(struct sc_sched *s);
struct sched_tenant *sc_sched_tenant_take(struct sc_sched *s, struct sc_view name); /* counted; NULL: no memory */
void sc_sched_tenant_drop(struct sc_sched *s, struct sched_tenant *tenant);
void sc_sched_share_init(struct sched_share *share, uint32_t weight, uint32_t running_max);
void sc_sched_share_enter(struct sched_share *share, uint64_t clock); /* something is ready again */
void sc_sched_charge(struct sc_sched *s, struct sched_task *t, bool in_turn);   /* as it is placed */
void sc_sched_settle(struct sc_sched *s, struct sched_task *t, sc_ns took); /* as its run ends; 0: it was not made */
void sc_sched_running(struct sc_sched *s, struct sched_client *c, bool more);

/* ---- sched_ready.c -----------------------------------------------------------------------------*/

void sc_sched_ready_add(struct sc_sched *s, struct sched_task *t);
void sc_sched_ready_remove(struct sc_sched *s, struct sched_task *t);
uint32_t sc_sched_ready_head(const struct sc_sched *s, const struct sched_lane *lane); /* oldest but last chances */
bool sc_sched_is_last_chance(const struct sc_sched *s, const struct sched_task *t);

/* ---- sched_place.c -----------------------------------------------------------------------------*/

enum sched_takes { SCHED_NOT, SCHED_BEHIND, SCHED_NOW }; /* behind: it would wait for a run of the same set to end */

void sc_sched_place(struct sc_sched *s, struct sc_out *out);
enum sched_takes sc_sched_takes(const struct sc_sched *s, const struct sched_worker *w, const struct sched_class *c);
bool sc_sched_has_room(const struct sched_worker *w);
void sc_sched_recall(struct sc_sched *s, struct sched_task *t, struct sc_out *out);
void sc_sched_worker_changed(struct sc_sched *s, struct sched_worker *w);
void sc_sched_worker_gained(struct sc_sched *s, struct sched_worker *w);
void sc_sched_worker_leaves_room(struct sc_sched *s, struct sched_worker *w);
void sc_sched_unreserve(struct sc_sched *s, struct sched_worker *w);
bool sc_sched_roomier(const void *a, const void *b);
void sc_sched_roomy_moved(void *item, size_t position);

/* ---- sched_balance.c ---------------------------------------------------------------------------*/

void  sc_sched_balance(struct sc_sched *s, struct sc_out *out);
sc_ns sc_sched_balance_deadline(const struct sc_sched *s);

/* ---- sched_worker.c ----------------------------------------------------------------------------*/

/* False: no memory, and nothing is changed. */
bool sc_sched_worker_up(struct sc_sched *s, struct sched_link *l, const struct sc_event *ev, struct sc_out *out);
void sc_sched_worker_down(struct sc_sched *s, struct sched_worker *w, enum sched_parting how, struct sc_out *out);
void sc_sched_on_started(struct sc_sched *s, struct sched_worker *w, const struct sc_about_run *m);
void sc_sched_on_returned(struct sc_sched *s, struct sched_worker *w, const struct sc_about_run *m, struct sc_out *out);
void sc_sched_on_done(struct sc_sched *s, struct sched_link *l, const struct sc_done *m, struct sc_out *out);
void sc_sched_worker_grant(struct sc_sched *s, struct sched_worker *w, uint32_t credit);
void sc_sched_workers_todo(struct sc_sched *s, struct sc_out *out);
void sc_sched_orphans_expire(struct sc_sched *s, struct sc_out *out);
void sc_sched_attach(struct sc_sched *s, struct sched_task *t);
void sc_sched_detach(struct sc_sched *s, struct sched_task *t);
void sc_sched_worker_keeps(struct sc_sched *s, struct sched_worker *w); /* a run whose task has just ended without it */
void sc_sched_mark_started(struct sc_sched *s, struct sched_task *t);
void sc_sched_send_about(struct sc_sched *s, const struct sched_task *t, enum sc_msg_kind kind, struct sc_out *out);
void sc_sched_orphan_drop(struct sc_sched *s, struct sched_task *t, struct sc_out *out);
struct sched_task *sc_sched_held(struct sc_sched *s, const struct sched_worker *w, struct sc_id id, uint64_t run);
void sc_sched_worker_free(struct sc_sched *s, struct sched_worker *w);

/* ---- sched_tally.c -----------------------------------------------------------------------------*/

struct sched_tally *sc_sched_tally_take(struct sc_sched *s, uint64_t id); /* NULL: no memory */
void                sc_sched_tally_drop(struct sc_sched *s, struct sched_tally *t, bool for_good);
void                sc_sched_tallies_fini(struct sc_sched *s);

/* ---- sched_client.c ----------------------------------------------------------------------------*/

bool sc_sched_client_up(struct sc_sched *s, struct sched_link *l, const struct sc_event *ev, struct sc_out *out);
void sc_sched_client_down(struct sc_sched *s, struct sched_client *c, bool for_good);
void sc_sched_client_acked(struct sc_sched *s, struct sched_link *l, uint64_t count, struct sc_out *out);
void sc_sched_client_ack(struct sc_sched *s, struct sched_client *c, struct sc_out *out); /* works one of them off */
void sc_sched_clients_todo(struct sc_sched *s, struct sc_out *out);
void sc_sched_clients_expire(struct sc_sched *s);
void sc_sched_client_free(struct sc_sched *s, struct sched_client *c);
void sc_sched_ended_add(struct sc_sched *s, struct sched_task *t);
void sc_sched_ended_remove(struct sc_sched *s, struct sched_task *t);
void sc_sched_result_offer(struct sc_sched *s, struct sched_task *t, struct sc_out *out);
void sc_sched_welcome(struct sc_sched *s, struct sched_link *l, uint64_t known, struct sc_out *out);

/* ---- sched_grant.c -----------------------------------------------------------------------------*/

void sc_sched_on_want(struct sc_sched *s, struct sched_client *c, const struct sc_want *m, struct sc_out *out);
void sc_sched_grant_tell(const struct sc_sched *s, const struct sched_client *c, struct sc_out *out);
void sc_sched_grant_first(struct sc_sched *s, struct sched_client *c, struct sc_out *out);
uint32_t sc_sched_grant_most_tasks(const struct sc_sched *s, const struct sched_client *c); /* that it may ever have */
uint32_t sc_sched_grant_most_kib(const struct sc_sched *s);
void sc_sched_grant_more(struct sc_sched *s, struct sched_client *c, struct sc_out *out);
void sc_sched_grant_shrink(struct sc_sched *s, struct sched_client *c); /* without a link: what its rows need */
void sc_sched_grants_round(struct sc_sched *s, struct sc_out *out);

/* ---- sched_check.c, sched_check_lanes.c --------------------------------------------------------*/

uint32_t sc_sched_queue_check(const struct sc_sched *s, const struct sched_queue *q, enum sched_link_pair pair);
void     sc_sched_heap_check(const struct sc_heap *heap);
void     sc_sched_check_lanes(const struct sc_sched *s);
void     sc_sched_check_amounts(const struct sc_sched *s);

/* ---- sched_output.c, sched_query.c -------------------------------------------------------------*/

void sc_sched_on_output(struct sc_sched *s, struct sched_worker *w, const struct sc_output *m, struct sc_out *out);
void sc_sched_on_output_ack(struct sc_sched *s, struct sched_link *l, const struct sc_output_ack *m,
                            struct sc_out *out);
void sc_sched_on_query(struct sc_sched *s, struct sched_link *l, const struct sc_query_msg *m, struct sc_out *out);
void sc_sched_reply_drop(struct sc_sched *s); /* what the last answer lent is not needed any more */

#endif
