/*
 * Ends that are shared.  What came of the work is kept once, for all rows that end with it, and, if it is a success
 * or the task's own failure, with its key for a while: bounded by count, by age, and by a share of bytes_max.  What is
 * remembered goes first when memory is wanted.
 */
#include "sched_key.h"

#include <string.h>

#include "sc_assert.h"
#include "sched_state.h"

static struct sc_view copy(uint8_t **at, struct sc_view bytes)
{
        struct sc_view kept = { *at, bytes.len };
        if (bytes.len > 0)
                memcpy(*at, bytes.ptr, bytes.len);
        *at += bytes.len;
        return kept;
}

static struct sched_answer *answer_new(struct sc_sched *s, const struct sched_task *t, const struct sc_outcome *o)
{
        const size_t         size = sizeof(struct sched_answer) + o->result.len + o->errors.len + o->text.len;
        struct sched_answer *a    = sc_mem_alloc(s->mem, size);
        if (!a)
                return NULL;
        *a = (struct sched_answer){
                .outcome = *o, .worker = sc_sched_last_worker(s, t), .size = size, .attempts = t->attempt,
                .losses = t->losses, .refs = 1,
        };
        uint8_t *at       = a->bytes;
        a->outcome.result = copy(&at, o->result);
        a->outcome.errors = copy(&at, o->errors);
        a->outcome.text   = copy(&at, o->text);
        sc_list_init(&a->list);
        sc_list_add_tail(&s->answers, &a->list);
        s->bytes += size;
        return a;
}

void sc_sched_answer_drop(struct sc_sched *s, struct sched_answer *a)
{
        SC_ASSERT(a->refs > 0);
        if (--a->refs > 0)
                return;
        sc_list_remove(&a->list);
        s->bytes -= a->size;
        sc_mem_release(s->mem, a, a->size);
}

void sc_sched_answer_told(struct sc_sched *s, struct sched_answer *a)
{
        SC_ASSERT(a->ended > 0);
        if (--a->ended == 0)
                s->ended_bytes -= a->size;
}

/* ---- remembered --------------------------------------------------------------------------------*/

static uint64_t kept_size(const struct sched_key *k)
{
        return sc_sched_key_size(k) + k->answer->size;
}

static bool is_worth_it(const struct sc_sched *s, const struct sched_key *k)
{
        return k->answer && s->opt.keys_kept > 0 && (k->reason == SC_REASON_SUCCESS || k->reason == SC_REASON_TASK);
}

static struct sched_key *oldest(const struct sc_sched *s)
{
        return sc_list_empty(&s->keys_kept) ? NULL : SC_CONTAINER(s->keys_kept.next, struct sched_key, kept);
}

static void remember(struct sc_sched *s, struct sched_key *k)
{
        sc_list_add_tail(&s->keys_kept, &k->kept);
        s->kept_count++;
        s->kept_bytes += kept_size(k);
        if (s->kept_count > s->opt.keys_kept)
                sc_sched_key_forget(s, oldest(s));
}

void sc_sched_key_forget(struct sc_sched *s, struct sched_key *k)
{
        SC_ASSERT(!sc_list_empty(&k->kept));
        sc_list_remove(&k->kept);
        s->kept_count--;
        s->kept_bytes -= kept_size(k);
        sc_sched_key_unfind(s, k);
        sc_sched_key_release(s, k);
}

static sc_ns past_at(const struct sc_sched *s, const struct sched_key *k)
{
        return sc_ns_add(k->ended_at, s->opt.keys_age);
}

bool sc_sched_key_is_past(const struct sc_sched *s, const struct sched_key *k)
{
        return !sc_list_empty(&k->kept) && past_at(s, k) <= s->now;
}

sc_ns sc_sched_keys_deadline(const struct sc_sched *s)
{
        const struct sched_key *k = oldest(s);
        return k ? past_at(s, k) : SC_NEVER;
}

static bool is_too_much(const struct sc_sched *s)
{
        return s->kept_bytes > s->opt.bytes_max / SCHED_KEYS_SHARE || s->bytes > s->opt.bytes_max ||
               sc_mem_beyond(s->mem, SC_MEM_ASKED, 0);
}

void sc_sched_keys_forget(struct sc_sched *s, struct sc_out *out)
{
        for (struct sched_key *k; (k = oldest(s)) != NULL;) {
                if (!sc_sched_key_is_past(s, k) && !is_too_much(s))
                        return;
                if (!sc_sched_bulk(s, out))
                        return;
                sc_sched_key_forget(s, k);
        }
}

/* ---- an end ------------------------------------------------------------------------------------*/

void sc_sched_end_for_all(struct sc_sched *s, struct sched_task *t, enum sc_task_move move,
                          const struct sc_outcome *outcome, struct sc_out *out)
{
        struct sched_key *k = sc_sched_owner(t)->key;
        SC_ASSERT(k->leader == t->self && !k->ended);
        k->ended    = true;
        k->ended_at = s->now;
        k->reason   = outcome->reason;
        k->answer   = answer_new(s, t, outcome);
        if (!k->answer && outcome->reason == SC_REASON_WORKER_DIED) {
                k->words = SCHED_WORDS_DIED;
        } else if (!k->answer) {
                k->words  = SCHED_WORDS_MEMORY;
                k->reason = SC_REASON_LIMIT;
        }
        sc_sched_key_body_drop(s, k);
        if (k->joined.len > 0)
                sc_sched_joined_due(s, k);
        if (is_worth_it(s, k))
                remember(s, k); /* while the row is its owner: it may be forgotten at once, and stays all the same */
        else
                sc_sched_key_unfind(s, k);
        sc_sched_end_as(s, t, move, k, out);
}

/* ---- check -------------------------------------------------------------------------------------*/

static void owners_check(const struct sc_sched *s, const struct sched_key *k)
{
        sc_sched_heap_check(&k->joined);
        for (size_t i = 0; i < k->joined.len; i++) {
                const struct sched_owner *owner = k->joined.at[i];
                const struct sched_task  *t     = sc_sched_row(s, owner->row);
                SC_ASSERT(owner->position == i && owner->key == k && sc_sched_owner(t) == owner);
                SC_ASSERT(t->state == SC_STATE_JOINED && sc_sched_client(s, t->client)->tenant == k->tenant);
        }
        if (k->leader == SCHED_NONE) {
                SC_ASSERT(k->ended && (k->joined.len == 0 || !sc_list_empty(&k->todo)));
                return;
        }
        const struct sched_task  *t     = sc_sched_row(s, k->leader);
        const struct sched_owner *owner = sc_sched_owner(t);
        SC_ASSERT(!k->ended && t->state != SC_STATE_JOINED && owner && owner->key == k);
        SC_ASSERT(owner->position == SC_HEAP_NOWHERE && sc_sched_client(s, t->client)->tenant == k->tenant);
        const struct sched_owner *first = sc_heap_top(&k->joined);
        SC_ASSERT(t->state != SC_STATE_READY || !first || first->priority <= owner->priority ||
                  !sc_list_empty(&k->todo));
}

static uint64_t key_check(const struct sc_sched *s, const struct sched_key *k)
{
        owners_check(s, k);
        SC_ASSERT(!k->ended || !k->body);
        SC_ASSERT(sc_list_empty(&k->kept) || (k->found && k->ended && k->answer));
        SC_ASSERT(!k->found || !k->ended || !sc_list_empty(&k->kept));
        if (k->answer)
                k->answer->seen++;
        return sc_sched_key_size(k);
}

static void rows_count(const struct sc_sched *s, uint64_t *bytes)
{
        for (uint32_t i = 0; i < s->made; i++) {
                const struct sched_task *t = sc_sched_row(s, i);
                if (t->state == SC_STATE_FREE)
                        continue;
                if (sc_sched_owner(t))
                        *bytes += sizeof(struct sched_owner);
                SC_ASSERT((t->state == SC_STATE_JOINED) <= (sc_sched_owner(t) != NULL));
                if (t->words != SCHED_WORDS_SHARED)
                        continue;
                struct sched_answer *a = sc_sched_answer(t);
                SC_ASSERT(t->block_size == 0);
                a->seen++;
                a->seen_ended += t->state == SC_STATE_ENDED;
        }
}

void sc_sched_key_check(const struct sc_sched *s, uint64_t *bytes, uint64_t *ended_bytes)
{
        uint64_t kept = 0;
        uint32_t count = 0;
        for (struct sc_list *at = s->answers.next; at != &s->answers; at = at->next) {
                struct sched_answer *a = SC_CONTAINER(at, struct sched_answer, list);
                a->seen = a->seen_ended = 0;
        }
        size_t cursor = 0;
        for (const struct sched_key *k; (k = sc_map_each(&s->keys, &cursor)) != NULL;) {
                for (; k; k = k->same) {
                        SC_ASSERT(k->found);
                        *bytes += key_check(s, k);
                }
        }
        for (struct sc_list *at = s->keys_todo.next; at != &s->keys_todo; at = at->next) {
                const struct sched_key *k = SC_CONTAINER(at, struct sched_key, todo);
                if (!k->found)
                        *bytes += key_check(s, k);
        }
        for (struct sc_list *at = s->keys_kept.next; at != &s->keys_kept; at = at->next, count++)
                kept += kept_size(SC_CONTAINER(at, struct sched_key, kept));
        rows_count(s, bytes);
        for (struct sc_list *at = s->answers.next; at != &s->answers; at = at->next) {
                const struct sched_answer *a = SC_CONTAINER(at, struct sched_answer, list);
                SC_ASSERT(a->refs == a->seen && a->ended == a->seen_ended);
                *bytes += a->size;
                *ended_bytes += a->ended > 0 ? a->size : 0;
        }
        SC_ASSERT(count == s->kept_count && kept == s->kept_bytes && count <= s->opt.keys_kept);
        SC_ASSERT(s->more || sc_list_empty(&s->keys_todo));
        SC_ASSERT(s->more || count == 0 || (sc_sched_keys_deadline(s) > s->now && !is_too_much(s)));
}
