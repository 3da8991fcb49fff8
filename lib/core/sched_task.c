/*
 * The life of a row: admission reserves all that its task will ever need, one function writes the
 * state with what entering and leaving it means, and one function ends a task.
 */
#include "sched_explain.h"

#include <string.h>

#include "sc_assert.h"

void sc_sched_tasks_init(struct sc_sched *s)
{
        s->free_row = SCHED_NONE;
        s->ask_free = SCHED_NONE;
        sc_sched_queue_init(&s->claims);
        sc_sched_queue_init(&s->orphans);
        sc_sched_plans_init(s);
        sc_list_init(&s->graphs);
        sc_sched_keys_init(s);
        s->edge_free = s->release = s->marked_first = SCHED_NONE;
}

/* ---- the block ---------------------------------------------------------------------------------*/

/* A block is: node or graph, plan, constants, body. */
static size_t head_size(const struct sched_task *t)
{
        const struct sched_plan *plan = sc_sched_plan(t);
        return sc_sched_head_size(t) + (plan ? sizeof *plan + plan->tag_len + plan->retry_len : 0);
}

struct sc_view sc_sched_body(const struct sched_task *t)
{
        if (!t->block)
                return (struct sc_view){ "", 0 };
        const struct sched_owner *owner = sc_sched_owner(t);
        if (owner)
                return (struct sc_view){ owner->key->body, owner->key->body_len };
        size_t skip = head_size(t);
        if (t->flags & SCHED_NODE)
                skip += sc_sched_constants(t).len;
        return (struct sc_view){ t->block + skip, t->block_size - skip };
}

struct sc_view sc_sched_constants(const struct sched_task *t)
{
        const struct sched_node *node = sc_sched_node(t);
        return (struct sc_view){ node ? t->block + head_size(t) : (const uint8_t *)"", node ? node->constants : 0 };
}

uint32_t sc_sched_weight(const struct sched_task *t)
{
        const struct sched_node *node = sc_sched_node(t);
        return (uint32_t)sc_sched_body(t).len + (node ? node->weight : 0);
}

static void block_drop(struct sc_sched *s, struct sched_task *t)
{
        if (t->words == SCHED_WORDS_SHARED) {
                sc_sched_answer_drop(s, sc_sched_answer(t));
                t->block = NULL;
                return;
        }
        s->bytes -= t->block_size;
        sc_mem_release(s->mem, t->block, t->block_size);
        t->block      = NULL;
        t->block_size = 0;
}

/* What it depends on is let go; the row itself remembers its graph. */
static void node_drop(struct sc_sched *s, struct sched_task *t)
{
        struct sched_node *node = sc_sched_node(t);
        t->graph                = node->graph;
        sc_sched_edges_release(s, t, node);
}

static void body_drop(struct sc_sched *s, struct sched_task *t)
{
        const struct sched_plan *plan = sc_sched_plan(t);
        sc_sched_client(s, t->client)->body_bytes -= sc_sched_weight(t);
        if (plan) {
                SC_ASSERT(plan->position == SC_HEAP_NOWHERE);
                s->plan_count--;
                if (plan->owner)
                        sc_sched_owner_leaves(s, t, plan->owner);
        }
        if (t->spec_flags & SCHED_CHILD)
                sc_sched_nest_drop(s, t);
        if (t->flags & SCHED_NODE)
                node_drop(s, t);
        block_drop(s, t);
        t->flags &= (uint16_t)~(SCHED_PLANNED | SCHED_NODE | SCHED_BLOCKED);
}

static const struct sc_view no_bytes = { "", 0 };

static struct sc_view append(uint8_t **at, struct sc_view bytes)
{
        struct sc_view copy = { *at, bytes.len };
        if (bytes.len > 0)
                memcpy(*at, bytes.ptr, bytes.len);
        *at += bytes.len;
        return copy;
}

static size_t outcome_size(const struct sc_outcome *o)
{
        return sizeof *o + o->result.len + o->errors.len + o->text.len;
}

/* What is kept must still be told, one at a time in the worst case: a frame for the largest, whose buffer may be twice
 * as large while it grows. */
static size_t room_to_tell(const struct sc_sched *s, size_t size)
{
        return 2 * (size > s->ended_largest ? size : s->ended_largest) + SCHED_ROOM_TELL;
}

/* As far as the budget is concerned, and as long as other results hold memory that will be free again.  The only one is
 * kept in any case: what else holds memory then does not wait for it to be told. */
bool sc_sched_outcome_fits(const struct sc_sched *s, const struct sched_task *t, const struct sc_outcome *outcome)
{
        const size_t size = outcome_size(outcome);
        const size_t more = size > t->block_size ? size - t->block_size : 0;
        return s->ended_bytes == 0 || sc_mem_has(s->mem, more + room_to_tell(s, size));
}

static void ended_add(struct sc_sched *s, size_t size)
{
        s->ended_bytes += size;
        s->ended_largest = size > s->ended_largest ? size : s->ended_largest;
}

/* Keeps the outcome with its bytes; without memory for it the task ends all the same, and says so. */
static void outcome_keep(struct sc_sched *s, struct sched_task *t, const struct sc_outcome *outcome)
{
        size_t size = outcome_size(outcome);
        t->reason   = outcome->reason;
        t->block    = sc_mem_alloc(s->mem, size);
        if (!t->block) {
                t->words = outcome->reason == SC_REASON_WORKER_DIED ? SCHED_WORDS_DIED : SCHED_WORDS_MEMORY;
                if (t->words == SCHED_WORDS_MEMORY)
                        t->reason = SC_REASON_LIMIT;
                return;
        }
        t->block_size           = (uint32_t)size;
        struct sc_outcome *kept = (struct sc_outcome *)(void *)t->block;
        uint8_t           *at   = t->block + sizeof *kept;
        *kept                   = *outcome;
        kept->result            = append(&at, outcome->result);
        kept->errors            = append(&at, outcome->errors);
        kept->text              = append(&at, outcome->text);
        s->bytes += size;
        ended_add(s, size);
}

void sc_sched_outcome(const struct sched_task *t, struct sc_outcome *out)
{
        static const char *const words[] = {
                [SCHED_WORDS_NONE]            = "",
                [SCHED_WORDS_MEMORY]          = "the scheduler had no memory for the result",
                [SCHED_WORDS_CANCELLED]       = "cancelled",
                [SCHED_WORDS_DIED]            = "every run lost its worker",
                [SCHED_WORDS_NOT_STARTED]     = "it was not started within its time in the queue",
                [SCHED_WORDS_OVERDUE_QUEUED]  = "its deadline came while it waited for a worker",
                [SCHED_WORDS_OVERDUE_BACKOFF] = "its deadline came while it waited for its time",
                [SCHED_WORDS_OVERDUE_RUN]     = "its deadline came while a worker had it",
                [SCHED_WORDS_OWN_KEY]         = "would deadlock: it has the key of a task that may wait for it",
                [SCHED_WORDS_PARENT]          = "cancelled: the run that submitted it is over",
                [SCHED_WORDS_DEPENDENCY]      = "a task that it depends on did not succeed",
                [SCHED_WORDS_DEPENDENCY_CANCELLED] = "a task that it depends on was cancelled",
        };
        SC_ASSERT(t->state == SC_STATE_ENDED || t->state == SC_STATE_KEPT);
        if (t->words == SCHED_WORDS_SHARED) {
                *out = sc_sched_answer(t)->outcome;
                return;
        }
        if (t->block) {
                *out = *(const struct sc_outcome *)(const void *)t->block;
                return;
        }
        *out = (struct sc_outcome){ .reason = t->reason, .result = no_bytes, .errors = no_bytes };
        out->text = (struct sc_view){ words[t->words], strlen(words[t->words]) };
}

/* ---- moves -------------------------------------------------------------------------------------*/

static void release(struct sc_sched *s, struct sched_task *t)
{
        SC_ASSERT(t->asks == SCHED_NONE);
        if (t->client != SCHED_NONE) {
                struct sched_client *c = sc_sched_client(s, t->client);
                block_drop(s, t);
                sc_sched_attempts_drop(s, t);
                if (s->sweeps > 0)
                        sc_sched_graph_passes(s, t);
                sc_sched_bulks_leave(c, t);
                sc_sched_queue_remove(s, &c->mine, SCHED_MINE, t);
                sc_sched_grant_shrink(s, c);
                if (c->mine.len == 0 && !sc_list_empty(&c->hungry))
                        s->grants_freed = true; /* it may be lent more now: see sched_grant.c */
                if (c->mine.len == 0 && (c->doomed || c->link == 0) && sc_list_empty(&c->todo))
                        sc_list_add_tail(&s->todo_clients, &c->todo);
                if (t->lane != SCHED_NONE) {
                        struct sched_client *owner = sc_sched_lane(s, t->lane)->client;
                        sc_sched_lane_drop(s, sc_sched_lane(s, t->lane));
                        if (owner != c)
                                sc_sched_guest_left(s, owner);
                }
        }
        sc_sched_row_free(s, t);
}

static struct sched_queue *open_of(const struct sc_sched *s, const struct sched_task *t)
{
        return &sc_sched_graph(sc_sched_row(s, t->graph))->open;
}

static void recalling(struct sc_sched *s, const struct sched_task *t, bool more)
{
        struct sched_worker *w = sc_sched_worker(s, t->worker);
        w->recalling += more ? 1 : UINT32_MAX;
        sc_sched_runs(w, sc_sched_set_of(s, t)->self)->recalling += more ? 1 : UINT32_MAX;
}

/* Held back until the workers have said what they have, and for no other reason. */
static bool is_claim(const struct sched_task *t)
{
        const struct sched_plan *plan = sc_sched_plan(t);
        return !plan || plan->wake_at == SC_NEVER;
}

static void leave(struct sc_sched *s, struct sched_task *t, enum sc_task_state to)
{
        if (t->state == SC_STATE_READY)
                sc_sched_ready_remove(s, t);
        if (t->state == SC_STATE_BACKOFF && is_claim(t))
                sc_sched_queue_remove(s, &s->claims, SCHED_AT, t);
        if (t->state == SC_STATE_RECALLING)
                recalling(s, t, false);
        if (t->state == SC_STATE_ORPHAN) {
                sc_sched_queue_remove(s, &s->orphans, SCHED_MINE, t);
                s->grants_freed = true;
        }
        if (t->state == SC_STATE_ENDED) {
                s->ended_bytes -= t->block_size;
                if (t->words == SCHED_WORDS_SHARED)
                        sc_sched_answer_told(s, sc_sched_answer(t));
                if (s->ended_bytes == 0)
                        s->ended_largest = 0;
                sc_sched_ended_remove(s, t);
        }
        if (t->state == SC_STATE_KEPT && (t->flags & SCHED_OPEN))
                sc_sched_queue_remove(s, open_of(s, t), SCHED_AT, t);
        if (t->state == SC_STATE_JOINED)
                sc_sched_joined_remove(s, t);
        if (sc_task_is_held(t->state) && !sc_task_is_held(to)) {
                if (t->child != SCHED_NONE)
                        sc_sched_family_leaves(s, t, to);
                sc_sched_detach(s, t);
        }
}

static void enter(struct sc_sched *s, struct sched_task *t, enum sc_task_state from)
{
        const bool held = sc_task_is_held(t->state);
        if (held && !sc_task_is_held(from))
                sc_sched_attach(s, t);
        if (!held)
                t->state_ms = s->life_ms;
        else if (t->state == SC_STATE_CANCELLING || !sc_task_is_held(from))
                t->held_since = s->now;
        if (t->state == SC_STATE_READY)
                sc_sched_ready_add(s, t);
        if (t->state == SC_STATE_BACKOFF && is_claim(t))
                sc_sched_queue_add(s, &s->claims, SCHED_AT, t);
        if (t->state == SC_STATE_RECALLING)
                recalling(s, t, true);
        if (t->state == SC_STATE_ORPHAN)
                sc_sched_queue_add(s, &s->orphans, SCHED_MINE, t);
        if (t->flags & SCHED_PLANNED)
                sc_sched_plan_moved(s, t, from);
        if (t->state == SC_STATE_ENDED)
                sc_sched_ended_add(s, t);
        if (t->state == SC_STATE_WAITING)
                sc_sched_node_waits(s, t);
        if (t->state == SC_STATE_KEPT && (t->flags & SCHED_OPEN))
                sc_sched_queue_add(s, open_of(s, t), SCHED_AT, t);
        if (t->state == SC_STATE_JOINED)
                sc_sched_joined_add(s, t);
        if (t->state == SC_STATE_FREE)
                release(s, t);
}

/* The only place where a state is written.  After a move to FREE the row is gone.  What has dependencies that have not
 * succeeded waits for them wherever it would be ready else: so a run comes back that was kept over our restart. */
void sc_sched_move(struct sc_sched *s, struct sched_task *t, enum sc_task_move move)
{
        enum sc_task_state from = t->state;
        enum sc_task_state to   = sc_task_next(from, move);
        if (to == SC_STATE_READY && (t->flags & SCHED_BLOCKED))
                to = SC_STATE_WAITING;
        if (from == to)
                return;
        leave(s, t, to);
        if (from != SC_STATE_FREE)
                s->count[from]--;
        if (to != SC_STATE_FREE)
                s->count[to]++;
        t->state = (uint8_t)to;
        enter(s, t, from);
        if (s->limbo.len > 0)
                sc_sched_family_moved(s, t, move);
}

/* ---- ends --------------------------------------------------------------------------------------*/

static void tally(struct sc_sched *s, const struct sched_task *t)
{
        if (t->reason == SC_REASON_SUCCESS)
                s->succeeded++;
        else if (t->reason == SC_REASON_CANCELLED)
                s->cancelled++;
        else
                s->failed++;
}

static void tell(struct sc_sched *s, struct sched_task *t, struct sc_out *out)
{
        const bool doomed = sc_sched_client(s, t->client)->doomed;
        tally(s, t);
        if (t->edges != SCHED_NONE)
                sc_sched_mark(s, t);
        if ((t->flags & SCHED_IN_GRAPH) && t->graph != SCHED_NONE)
                sc_sched_graph_count(s, t);
        if (!doomed && !(t->flags & SCHED_INNER))
                sc_sched_result_offer(s, t, out);
        sc_sched_confirm_all(s, t, doomed || t->reason == SC_REASON_CANCELLED ? SC_CANCEL_CANCELED : SC_CANCEL_FAILED,
                             out);
        if (doomed || (t->flags & SCHED_INNER))
                sc_sched_let_go(s, t);
}

bool sc_sched_let_go(struct sc_sched *s, struct sched_task *t)
{
        if ((t->flags & SCHED_OPEN) && (sc_sched_client(s, t->client)->doomed || !sc_sched_graph_is_open(s, t)))
                t->flags &= (uint16_t)~SCHED_OPEN;
        const bool kept = t->refs > 0 || (t->flags & SCHED_OPEN);
        sc_sched_move(s, t, kept ? SC_MOVE_RETAIN : SC_MOVE_FORGET);
        return !kept;
}

void sc_sched_end(struct sc_sched *s, struct sched_task *t, enum sc_task_move move, const struct sc_outcome *outcome,
                  struct sc_out *out)
{
        if (sc_sched_owner(t) && outcome->reason != SC_REASON_CANCELLED) {
                sc_sched_end_for_all(s, t, move, outcome, out);
                return;
        }
        sc_sched_move(s, t, move);
        SC_ASSERT(t->state == SC_STATE_ENDED);
        body_drop(s, t);
        outcome_keep(s, t, outcome);
        tell(s, t, out);
}

/* Each owner in time: for who was to have ended by then the end came too late. */
void sc_sched_end_as(struct sc_sched *s, struct sched_task *t, enum sc_task_move move, struct sched_key *k,
                     struct sc_out *out)
{
        struct sched_answer *a      = k->answer;
        const uint8_t        reason = k->reason, words = a ? SCHED_WORDS_SHARED : k->words;
        if (sc_sched_plan(t)->deadline_at <= k->ended_at) {
                sc_sched_end_overdue(s, t, move, out);
                return;
        }
        if (a)
                a->refs++; /* the key may go with this owner */
        sc_sched_move(s, t, move);
        SC_ASSERT(t->state == SC_STATE_ENDED);
        body_drop(s, t);
        t->reason = reason;
        t->words  = words;
        t->block  = (uint8_t *)a;
        if (a && a->ended++ == 0)
                ended_add(s, a->size);
        tell(s, t, out);
}

void sc_sched_end_plainly(struct sc_sched *s, struct sched_task *t, enum sc_task_move move, enum sc_reason reason,
                          enum sched_words words, struct sc_out *out)
{
        sc_sched_move(s, t, move);
        SC_ASSERT(t->state == SC_STATE_ENDED);
        body_drop(s, t);
        t->reason = (uint8_t)reason;
        t->words  = (uint8_t)words;
        tell(s, t, out);
}

/* What a worker had until its deadline ended by that, whoever stopped it. */
void sc_sched_end_cancelled(struct sc_sched *s, struct sched_task *t, enum sc_task_move move, struct sc_out *out)
{
        if (sc_task_is_held(t->state) && sc_sched_overdue(s, t))
                sc_sched_end_overdue(s, t, move, out);
        else
                sc_sched_end_plainly(s, t, move, SC_REASON_CANCELLED, SCHED_WORDS_CANCELLED, out);
}

void sc_sched_end_graph(struct sc_sched *s, struct sched_task *t, enum sc_reason reason, struct sc_out *out)
{
        sc_sched_move(s, t, SC_MOVE_FINISH);
        if (t->flags & SCHED_PLANNED)
                s->plan_count--;
        t->flags &= (uint16_t)~SCHED_PLANNED;
        s->ended_bytes += t->block_size;
        t->reason = (uint8_t)reason;
        tell(s, t, out);
}

/* ---- admission ---------------------------------------------------------------------------------*/

static const char *spec_fault(const struct sc_spec *spec)
{
        if (spec->kind >= SC_TASK_KINDS)
                return "a task of an unknown kind";
        if (spec->function.len > SC_NAME_MAX)
                return "a function's name that is too long";
        if ((spec->kind == SC_TASK_FUNCTION) == (spec->function.len == 0))
                return "a function without a name, or a command with one";
        if (spec->body.len > SC_BODY_MAX)
                return "a task's body that is too big";
        if (spec->priority < -SC_PRIORITY_MAX || spec->priority > SC_PRIORITY_MAX)
                return "a priority out of bounds";
        const char *fault = sc_sched_parent_fault(spec);
        return fault ? fault : sc_sched_plan_fault(spec->plan);
}

static const char *submit_fault(const struct sc_sched *s, const struct sc_submit *m)
{
        const char *fault = spec_fault(&m->spec);
        return fault ? fault : sc_sched_node_fault(s, m);
}

/* What a submit needs in memory. */
struct reserved {
        uint8_t           *block;
        size_t             size;
        struct sched_lane *lane;
        struct sched_joint joint;
        bool               full; /* no lane, because there are too many */
};

static void unreserve(struct sc_sched *s, struct reserved *r)
{
        sc_mem_release(s->mem, r->block, r->size);
        if (r->lane)
                sc_sched_lane_drop(s, r->lane);
        sc_sched_joint_cancel(s, &r->joint);
}

/* All that can fail for want of memory, before anything is changed.  `owner` is whose task it counts as. */
static bool reserve(struct sc_sched *s, struct sched_client *owner, const struct sc_spec *spec, struct sc_view needs,
                    struct reserved *r)
{
        const size_t plan  = sc_sched_plan_size(spec);
        const bool   keyed = sc_sched_is_keyed(spec); /* then the body is the key's */
        *r                 = (struct reserved){
                .size = plan + sc_sched_node_size(spec) + sc_sched_nest_size(spec) + sc_sched_constants_size(spec) +
                        (keyed ? 0 : spec->body.len)
        };
        if (plan > 0 && !sc_heap_reserve(&s->plans, s->plan_count + 1u))
                return false;
        if (spec->plan && !sc_sched_node_reserve(s, spec))
                return false;
        r->block = r->size > 0 ? sc_mem_alloc(s->mem, r->size) : NULL;
        if (r->size > 0 && !r->block)
                return false;
        if (spec->kind == SC_TASK_GRAPH)
                return true;
        r->lane = sc_sched_lane_take(s, owner, spec, needs, &r->full);
        if (r->full)
                return true;
        if (r->lane && (!keyed || sc_sched_joint_reserve(s, owner, spec, needs, &r->joint)))
                return true;
        unreserve(s, r);
        return false;
}

/* A new row, or an orphan that becomes this client's task. */
static void fill(struct sc_sched *s, struct sched_task *t, struct sched_client *c, const struct sc_spec *spec,
                 const struct sched_parent *parent, struct sched_joint *joint)
{
        t->order      = sc_sched_order(parent->depth, ++s->order);
        t->since      = s->now;
        t->client     = c->self;
        t->kind       = spec->kind;
        t->spec_flags = spec->flags;
        t->retries    = spec->retries;
        if (sc_sched_node_size(spec) > 0)
                t->flags |= SCHED_NODE;
        if (sc_sched_nest_size(spec) > 0)
                sc_sched_nest_fill(s, t, spec, parent);
        if (sc_sched_plan_size(spec) > 0)
                sc_sched_plan_fill(s, t, spec);
        if (sc_sched_is_keyed(spec))
                sc_sched_joint_fill(s, t, joint);
        else if (spec->body.len > 0)
                memcpy(t->block + (t->block_size - spec->body.len), spec->body.ptr, spec->body.len);
        if (t->flags & SCHED_NODE)
                sc_sched_node_fill(s, t, spec);
        c->body_bytes += sc_sched_weight(t);
        s->bytes += t->block_size;
        sc_sched_queue_add(s, &c->mine, SCHED_MINE, t);
}

/* The run that a worker kept over our restart becomes the task's run, under a number of ours. */
static void adopt(struct sc_sched *s, struct sched_task *t, uint64_t held_epoch, struct sc_out *out)
{
        uint64_t held_run = t->run;
        t->run            = ++s->runs;
        t->attempt        = 1;
        s->kept++;
        struct sc_msg *m = sc_out_send(out, sc_sched_worker(s, t->worker)->link, SC_MSG_KEEP);
        m->about         = (struct sc_about_run){
                .task = sc_sched_work_name(t), .run = t->run, .held_epoch = held_epoch, .held_run = held_run };
        if (t->flags & SCHED_STARTED)
                sc_sched_mark_started(s, t);
        sc_sched_plan_moved(s, t, SC_STATE_ORPHAN); /* it had none when it moved */
        if (t->waits == SCHED_AWAKE)
                sc_sched_running(s, sc_sched_lane(s, t->lane)->client, true);
}

/* There are as many lanes as there may be, and none for this task: that is its end. */
static void refuse(struct sc_sched *s, struct sched_task *t, struct sc_out *out)
{
        static const char words[] = "more different needs, functions and priorities at once than are kept apart here";
        struct sc_outcome outcome = { .reason = SC_REASON_LIMIT, .text = { words, sizeof words - 1 } };
        sc_sched_end(s, t, SC_MOVE_FAIL, &outcome, out);
}

static void admit(struct sc_sched *s, struct sched_task *t, struct sched_client *c, const struct sc_spec *spec,
                  const struct sched_parent *parent, struct sched_joint *joint, struct sc_out *out)
{
        uint64_t held_epoch = t->order;
        if (t->state == SC_STATE_ORPHAN) {
                sc_sched_move(s, t, SC_MOVE_KEEP); /* first: the client's queue takes the links of the orphans' */
                fill(s, t, c, spec, parent, joint);
                adopt(s, t, held_epoch, out);
                return;
        }
        fill(s, t, c, spec, parent, joint);
        if (joint->how > SCHED_JOINT_LEAD) {
                sc_sched_joint_admit(s, t, joint, out);
                return;
        }
        bool delayed = (spec->flags & SC_SPEC_RESUBMITTED) && s->now < s->claim_end;
        if (!is_claim(t))
                delayed = true;
        if ((t->flags & SCHED_BLOCKED) || t->lane == SCHED_NONE)
                sc_sched_move(s, t, SC_MOVE_BLOCK);
        else
                sc_sched_move(s, t, delayed ? SC_MOVE_DELAY : SC_MOVE_ADMIT);
}

/* What is confirmed does not count, though it may not be worked off yet; when the table is full, it is. */
static void acks_make_room(struct sc_sched *s, struct sched_client *c, struct sc_out *out)
{
        if (!c->names && c->mine.len >= c->grant && c->acks > 0)
                sc_sched_client_ack(s, c, out);
        uint32_t visits = 0; /* what is still read is kept: the next one may go */
        for (struct sc_list *at = s->todo_clients.next; s->rows >= s->opt.tasks_max && at != &s->todo_clients;
             at = at->next) {
                struct sched_client *other = SC_CONTAINER(at, struct sched_client, todo);
                while (other->acks > 0 && s->rows >= s->opt.tasks_max && visits++ < SC_ROWS_MAX)
                        sc_sched_client_ack(s, other, out);
        }
}

static bool is_granted(const struct sc_sched *s, const struct sched_client *c, const struct sc_spec *spec)
{
        const uint64_t weight = spec->body.len + sc_sched_constants_size(spec) +
                                (spec->plan ? spec->plan->after.len : 0);
        return c->mine.len - c->acks < (uint64_t)c->grant + s->releasing &&
               c->body_bytes + weight <= c->kib * UINT64_C(1024) + SC_BODY_MAX;
}

/* What an orphan needs is known only now: until then it counts as one that needs what most do. */
static void set_lane(struct sc_sched *s, struct sched_task *t, const struct sched_lane *lane)
{
        struct sched_worker *w       = t->state == SC_STATE_ORPHAN ? sc_sched_worker(s, t->worker) : NULL;
        const bool           started = (t->flags & SCHED_STARTED) != 0;
        const bool           counts  = w && t->waits == SCHED_AWAKE;
        if (counts)
                sc_sched_runs_leave(s, w, sc_sched_set_of(s, t), started);
        t->lane = lane ? lane->self : SCHED_NONE;
        if (!counts)
                return;
        sc_sched_runs_join(s, w, sc_sched_set_of(s, t), started);
        sc_sched_worker_gained(s, w);
}

/* The run of that id that a worker kept over our restart, or NULL. */
static struct sched_task *orphan_of(struct sc_sched *s, struct sc_id id)
{
        struct sched_task *t = sc_sched_find(s, id);
        SC_ASSERT(!t || t->state == SC_STATE_ORPHAN);
        if (!t || !sc_sched_worker(s, t->worker)->gone)
                return t;
        sc_sched_move(s, t, SC_MOVE_LOSE);
        return NULL;
}

/* The row of a task whose room is reserved: an orphan's that it adopts, or a new one.  NULL: no memory.  What has a
 * key is looked for under the name of its work; no honest worker calls it anything else. */
static struct sched_task *row_for(struct sc_sched *s, struct sc_id id, const struct reserved *r, struct sc_out *out)
{
        const bool         keyed = r->joint.how != SCHED_JOINT_NONE;
        struct sched_task *t     = orphan_of(s, id);
        if (t && (keyed || !r->lane)) {
                sc_sched_orphan_drop(s, t, out);
                t = NULL;
        }
        if (r->joint.how == SCHED_JOINT_LEAD)
                t = orphan_of(s, r->joint.key->id);
        if (t && keyed)
                sc_sched_row_rename(s, t, id);
        return t ? t : sc_sched_row_new(s, id);
}

/* False: it closed the link. */
static bool is_good(struct sc_sched *s, struct sched_link *l, const struct sc_submit *m,
                    char text[SC_AMOUNTS_TEXT + 1], struct sc_view *needs, struct sc_out *out)
{
        const char *fault = submit_fault(s, m);
        if (!fault && !sc_sched_needs(&m->spec, text, needs))
                fault = "needs that are not canonical";
        if (fault) {
                sc_sched_nonsense(s, l, SC_E_PROTOCOL, fault, out);
                return false;
        }
        if (is_granted(s, sc_sched_client(s, l->index), &m->spec))
                return true;
        sc_sched_nonsense(s, l, SC_E_FULL, "more tasks or bytes than it was granted", out);
        return false;
}

void sc_sched_on_submit(struct sc_sched *s, struct sched_link *l, const struct sc_submit *m, struct sc_out *out)
{
        char                 text[SC_AMOUNTS_TEXT + 1];
        struct sc_view       needs;
        struct sched_client *c = sc_sched_client(s, l->index);
        SC_ASSERT(!c->doomed);
        if (m->task.hi != c->id || m->task.lo == 0 || m->task.lo > SC_SEQUENCE_MAX) {
                sc_sched_nonsense(s, l, SC_E_PROTOCOL, "a task id that is not its own", out);
                return;
        }
        if (m->task.lo <= c->known)
                return; /* said again after a break: it is here, or was, and its result is on its way */
        acks_make_room(s, c, out); /* first: what it depends on must not go after it was looked at */
        if (!is_good(s, l, m, text, &needs, out))
                return;
        struct sc_spec spec = m->spec;
        if (sc_sched_is_keyed(&spec))
                spec.flags |= SC_SPEC_RESUBMITTED; /* by whomever: some worker may have a run of it */
        struct reserved     reserved;
        struct sched_parent parent;
        const bool          room = sc_sched_parent_find(s, c, &m->spec, &parent) &&
                          reserve(s, parent.owner, &spec, needs, &reserved);
        struct sched_task *t = room ? row_for(s, m->task, &reserved, out) : NULL;
        if (!t) {
                if (room)
                        unreserve(s, &reserved);
                sc_sched_close(s, l, SC_E_NOMEM, "the scheduler has no memory for another task", out);
                return;
        }
        c->known = m->task.lo;
        c->submitted++;
        s->submitted++;
        t->block      = reserved.block;
        t->block_size = (uint32_t)reserved.size;
        set_lane(s, t, reserved.lane);
        admit(s, t, c, &spec, &parent, &reserved.joint, out);
        if (t->flags & SCHED_NODE)
                sc_sched_node_admitted(s, t, out);
        if (reserved.full)
                refuse(s, t, out);
        else if (parent.nested && m->spec.kind != SC_TASK_GRAPH)
                sc_sched_nest_admitted(s, t, out);
        sc_sched_grant_more(s, c, out);
}

/* The first part of the epoch is over: what nobody claimed may be placed. */
void sc_sched_claims_wake(struct sc_sched *s, struct sc_out *out)
{
        if (s->now < s->claim_end)
                return;
        sc_sched_strays_claimed(s, out);
        while (s->claims.head != SCHED_NONE && sc_sched_bulk(s, out))
                sc_sched_move(s, sc_sched_row(s, s->claims.head), SC_MOVE_WAKE);
}
