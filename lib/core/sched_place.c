/*
 * Who runs what.  The oldest task goes first among the classes that somebody with room can serve; it
 * goes to the least loaded of those.  A worker that has just given something back is filled again by
 * itself, so in the steady state nobody is searched for.  Deep queues are handed out in runs, which
 * make full frames; shallow ones are spread.  Workers with room stand in a heap by load.
 */
#include "sched_state.h"

#include "sc_assert.h"

enum { RUN_MIN = 16, RUN_MAX = 64, LOOKS_MAX = 64 };

/* ---- room --------------------------------------------------------------------------------------*/

bool sc_sched_roomier(const void *a, const void *b)
{
        const struct sched_worker *x = a, *y = b;
        uint64_t left  = (uint64_t)x->assigned * y->slots;
        uint64_t right = (uint64_t)y->assigned * x->slots;
        return left != right ? left < right : x->serial < y->serial;
}

void sc_sched_roomy_moved(void *item, size_t position)
{
        ((struct sched_worker *)item)->position = position;
}

bool sc_sched_has_room(const struct sched_worker *w)
{
        return !w->gone && !w->joining && !w->alone && w->reserved == SCHED_NONE && w->assigned < w->credit;
}

bool sc_sched_serves(const struct sched_worker *w, uint32_t class_index)
{
        uint32_t low = 0, high = w->class_count;
        while (low < high) {
                uint32_t middle = low + (high - low) / 2;
                if (w->classes[middle] < class_index)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < w->class_count && w->classes[low] == class_index;
}

static void count_roomy(struct sc_sched *s, const struct sched_worker *w, uint32_t difference)
{
        for (uint32_t i = 0; i < w->class_count; i++)
                sc_sched_class(s, w->classes[i])->roomy += difference;
}

static void enter_room(struct sc_sched *s, struct sched_worker *w)
{
        sc_heap_push(&s->roomy, w);
        count_roomy(s, w, 1);
}

void sc_sched_worker_leaves_room(struct sc_sched *s, struct sched_worker *w)
{
        if (w->position == SC_HEAP_NOWHERE)
                return;
        sc_heap_remove(&s->roomy, w->position);
        count_roomy(s, w, UINT32_MAX);
}

/* After anything that room depends on.  Whoever gains room is looked at first at the end of the step. */
void sc_sched_worker_changed(struct sc_sched *s, struct sched_worker *w)
{
        s->balance_due = true;
        if (!sc_sched_has_room(w)) {
                sc_sched_worker_leaves_room(s, w);
                return;
        }
        if (w->position != SC_HEAP_NOWHERE) {
                sc_heap_fix(&s->roomy, w->position);
        } else if (!w->touched) {
                w->touched = true;
                sc_list_add_tail(&s->touched, &w->touch);
        }
}

/* ---- one task to one worker --------------------------------------------------------------------*/

static bool may_place(struct sc_sched *s, const struct sc_out *out)
{
        if (s->bytes > s->opt.bytes_max && s->ended_bytes > 0)
                return false; /* results first; with none of them waiting, placing is what frees memory */
        if (out->len < SC_EFFECTS_MAX - SCHED_ROOM_PLACE && s->visits < SC_ROWS_MAX &&
            s->inputs_used <= SCHED_INPUTS_STEP)
                return true;
        s->more = true;
        return false;
}

static void assign(struct sc_sched *s, struct sched_worker *w, uint32_t row, struct sc_out *out)
{
        struct sched_task *t = sc_sched_row(s, row);
        t->run               = ++s->runs;
        t->attempt++;
        t->worker      = w->self;
        t->last_worker = w->id;
        t->flags &= (uint16_t)~(SCHED_STARTED | SCHED_CHARGED | SCHED_FORCED | SCHED_ANSWERED);
        sc_sched_move(s, t, SC_MOVE_PLACE);
        s->visits++;
        const struct sched_class  *c     = sc_sched_class(s, t->class_index);
        const struct sched_plan   *plan  = sc_sched_plan(t);
        struct sc_assign *m = &sc_out_send(out, w->link, SC_MSG_ASSIGN)->assign;
        *m = (struct sc_assign){ .task = t->id, .run = t->run, .attempt = t->attempt };
        m->spec = (struct sc_spec){
                .kind = t->kind, .flags = t->spec_flags, .priority = t->priority, .retries = t->retries,
                .timeout_ms = plan ? plan->timeout_ms : 0,
                .function = { c->name, c->name_len }, .body = sc_sched_body(t),
        };
        if (t->flags & SCHED_NODE)
                sc_sched_inputs(s, t, &m->spec);
}

/* ---- last chances ------------------------------------------------------------------------------*/

void sc_sched_unreserve(struct sc_sched *s, struct sched_worker *w)
{
        if (w->reserved == SCHED_NONE)
                return;
        sc_sched_class(s, w->reserved)->reserved = SCHED_NONE;
        w->reserved                              = SCHED_NONE;
        s->reservations--;
        sc_sched_worker_changed(s, w);
}

/* The least loaded worker with room that serves the class, or NULL. */
static struct sched_worker *least_loaded(struct sc_sched *s, const struct sched_class *c)
{
        struct sched_worker *best = sc_heap_top(&s->roomy);
        if (!best || sc_sched_serves(best, c->self))
                return best;
        best = NULL;
        for (size_t i = 1; i < s->roomy.len; i++) {
                struct sched_worker *w = s->roomy.at[i];
                if ((!best || sc_sched_roomier(w, best)) && sc_sched_serves(w, c->self))
                        best = w;
        }
        return best;
}

static void assign_alone(struct sc_sched *s, struct sched_worker *w, struct sched_class *c, struct sc_out *out)
{
        uint32_t row = c->alone;
        sc_sched_row(s, row)->flags |= SCHED_ALONE;
        w->alone = true;
        assign(s, w, row, out);
}

/* Among all workers that serve the class, with or without room: the one that will be empty first, as far as we know. */
static struct sched_worker *to_be_emptied(const struct sc_sched *s, const struct sched_class *c)
{
        struct sched_worker *best = NULL;
        for (uint32_t i = 0; i < s->worker_at.len; i++) {
                struct sched_worker *w = sc_sched_worker(s, i);
                if (!w || w->gone || w->joining || w->alone || w->reserved != SCHED_NONE || w->credit == 0)
                        continue;
                if ((!best || sc_sched_roomier(w, best)) && sc_sched_serves(w, c->self))
                        best = w;
        }
        return best;
}

static void reserve(struct sc_sched *s, struct sched_class *c)
{
        uint32_t most = s->worker_count > 2 ? s->worker_count / 2 : 1;
        if (c->reserved != SCHED_NONE || s->reservations >= most)
                return;
        struct sched_worker *w = to_be_emptied(s, c);
        if (!w)
                return;
        c->reserved = w->self;
        w->reserved = c->self;
        s->reservations++;
        sc_sched_worker_changed(s, w);
}

static void place_alone_of(struct sc_sched *s, struct sched_class *c, struct sc_out *out)
{
        while (c->alone != SCHED_NONE && may_place(s, out)) {
                struct sched_worker *w = least_loaded(s, c);
                if (c->reserved != SCHED_NONE && sc_sched_worker(s, c->reserved)->assigned == 0)
                        w = sc_sched_worker(s, c->reserved);
                if (!w || w->assigned > 0) {
                        reserve(s, c);
                        return;
                }
                if (c->reserved != SCHED_NONE)
                        sc_sched_unreserve(s, sc_sched_worker(s, c->reserved));
                if (w->credit == 0)
                        return;
                assign_alone(s, w, c, out);
        }
}

static void place_alone(struct sc_sched *s, struct sc_out *out)
{
        if (s->alone_ready == 0 && s->reservations == 0)
                return;
        for (uint32_t i = s->active_len; i-- > 0;) {
                struct sched_class *c = sc_sched_class(s, s->active[i]);
                place_alone_of(s, c, out);
        }
        for (uint32_t i = 0; s->reservations > 0 && i < s->worker_at.len; i++) {
                struct sched_worker *w = sc_sched_worker(s, i);
                if (w && w->reserved != SCHED_NONE && sc_sched_class(s, w->reserved)->alone == SCHED_NONE)
                        sc_sched_unreserve(s, w);
        }
}

/* ---- the others --------------------------------------------------------------------------------*/

/* The active class with the oldest head that `w`, or if NULL anybody with room, can serve. */
static struct sched_class *oldest(const struct sc_sched *s, const struct sched_worker *w)
{
        struct sched_class *best       = NULL;
        uint64_t            best_order = UINT64_MAX;
        for (uint32_t i = 0; i < s->active_len; i++) {
                struct sched_class *c    = sc_sched_class(s, s->active[i]);
                uint32_t            head = sc_sched_ready_head(s, c);
                if (head == SCHED_NONE || sc_sched_row(s, head)->order > best_order)
                        continue;
                if (w ? !sc_sched_serves(w, c->self) : c->roomy == 0)
                        continue;
                best       = c;
                best_order = sc_sched_row(s, head)->order;
        }
        return best;
}

/* Only while nobody with room is less loaded: what it gave back because others idle must not return to it. */
static bool is_first(const struct sc_sched *s, const struct sched_worker *w)
{
        const struct sched_worker *top = sc_heap_top(&s->roomy);
        return !top || top == w || sc_sched_roomier(w, top);
}

static void refill(struct sc_sched *s, struct sched_worker *w, struct sc_out *out)
{
        while (sc_sched_has_room(w) && is_first(s, w) && may_place(s, out)) {
                struct sched_class *c = oldest(s, w);
                if (!c)
                        return;
                assign(s, w, sc_sched_ready_head(s, c), out);
        }
}

static void place_touched(struct sc_sched *s, struct sc_out *out)
{
        for (struct sc_list *at; (at = sc_list_take(&s->touched)) != NULL;) {
                struct sched_worker *w = SC_CONTAINER(at, struct sched_worker, touch);
                refill(s, w, out);
                w->touched = false;
                if (sc_sched_has_room(w) && w->position == SC_HEAP_NOWHERE)
                        enter_room(s, w);
        }
}

static uint32_t run_length(const struct sched_class *c)
{
        uint32_t share = c->ready / c->roomy;
        if (share < RUN_MIN)
                return 1;
        return share < RUN_MAX ? share : RUN_MAX;
}

static void place_others(struct sc_sched *s, struct sc_out *out)
{
        while (s->roomy.len > 0 && s->active_len > 0 && may_place(s, out)) {
                struct sched_class *c = oldest(s, NULL);
                if (!c)
                        return;
                struct sched_worker *w = least_loaded(s, c);
                SC_ASSERT(w != NULL);
                for (uint32_t left = run_length(c); left > 0 && sc_sched_has_room(w) && may_place(s, out); left--) {
                        uint32_t head = sc_sched_ready_head(s, c);
                        if (head == SCHED_NONE)
                                break;
                        assign(s, w, head, out);
                }
        }
}

void sc_sched_place(struct sc_sched *s, struct sc_out *out)
{
        place_alone(s, out);
        place_touched(s, out);
        place_others(s, out);
        if (s->alone_ready > 0)
                place_alone(s, out); /* who has just turned out to have room may be empty */
        if (!sc_list_empty(&s->touched)) {
                place_touched(s, out);
                place_others(s, out);
        }
}

/* ---- balance -----------------------------------------------------------------------------------*/

static uint32_t surplus(const struct sched_worker *w)
{
        uint32_t kept = w->slots + w->recalling;
        return !w->gone && w->assigned > kept ? w->assigned - kept : 0;
}

static struct sched_worker *most_loaded(const struct sc_sched *s)
{
        struct sched_worker *worst = NULL;
        for (uint32_t i = 0; i < s->worker_at.len; i++) {
                struct sched_worker *w = sc_sched_worker(s, i);
                if (w && !w->gone && surplus(w) > 0 && (!worst || sc_sched_roomier(worst, w)))
                        worst = w;
        }
        return worst;
}

/* Of the scheduler's life, modulo 2^32, which is 49 days; never 0. */
static uint32_t life_ms(const struct sc_sched *s)
{
        uint32_t ms = (uint32_t)((s->now - s->start) / SC_MS);
        return ms != 0 ? ms : 1;
}

static bool rested(const struct sc_sched *s, const struct sched_task *t)
{
        return t->recalled_ms == 0 || life_ms(s) - t->recalled_ms >= SCHED_RECALL_REST_MS;
}

void sc_sched_recall(struct sc_sched *s, struct sched_task *t, struct sc_out *out)
{
        t->recalled_ms = life_ms(s);
        sc_sched_move(s, t, SC_MOVE_RECALL);
        sc_sched_send_about(s, t, SC_MSG_RECALL, out);
}

/* Newest first, at most `wanted` of what `idle` can serve; gives how many. */
static uint32_t recall_from(struct sc_sched *s, struct sched_worker *from, const struct sched_worker *idle,
                            uint32_t wanted, struct sc_out *out)
{
        uint32_t done = 0, spare = surplus(from);
        for (uint32_t at = from->unstarted.tail; at != SCHED_NONE && done < wanted && done < spare;) {
                struct sched_task *t = sc_sched_row(s, at);
                at                   = t->link[SCHED_AT].prev;
                if (++s->visits >= SC_ROWS_MAX || out->len >= SC_EFFECTS_MAX - SCHED_ROOM_BALANCE)
                        return done;
                if (t->state != SC_STATE_ASSIGNED || !rested(s, t) || !sc_sched_serves(idle, t->class_index))
                        continue;
                sc_sched_recall(s, t, out);
                done++;
        }
        return done;
}

/* When somebody idles and nothing ready fits, what others have queued beyond their slots is asked back. */
void sc_sched_balance(struct sc_sched *s, struct sc_out *out)
{
        const struct sched_worker *idle = sc_heap_top(&s->roomy);
        if (!s->balance_due || s->now < s->balance_at || s->excess == 0 || !idle || idle->assigned >= idle->slots)
                return;
        s->balance_due = false;
        s->balance_at  = sc_ns_add(s->now, SCHED_BALANCE_REST);
        uint32_t out_there = s->count[SC_STATE_RECALLING];
        for (size_t i = 0; i < s->roomy.len && i < LOOKS_MAX; i++) {
                idle           = s->roomy.at[i];
                uint32_t slots = idle->slots > idle->assigned ? idle->slots - idle->assigned : 0;
                uint32_t known = slots < out_there ? slots : out_there;
                out_there -= known;
                if (slots == known)
                        continue;
                struct sched_worker *from = most_loaded(s);
                if (!from)
                        return;
                if (recall_from(s, from, idle, slots - known, out) == slots - known)
                        continue;
                s->balance_due = true;
                s->balance_at  = sc_ns_add(s->now, SCHED_RECALL_REST_MS * SC_MS);
        }
}
