/*
 * Keys: which tasks are one, and what workers call them.  A key is found by its tenant and text while its work is
 * under way or its end is remembered.  Workers know the work by an id that tenant, key and all that defines it tell,
 * so that a run outlives both the task that it was begun for and the scheduler.
 */
#include "sched_key.h"

#include <string.h>

#include "sc_assert.h"
#include "sc_digest.h"
#include "sched_state.h"

void sc_sched_keys_init(struct sc_sched *s)
{
        sc_map_init(&s->keys, s->mem);
        sc_list_init(&s->keys_todo);
        sc_list_init(&s->keys_kept);
        sc_list_init(&s->answers);
}

struct sched_owner *sc_sched_owner(const struct sched_task *t)
{
        const struct sched_plan *plan = sc_sched_plan(t);
        return plan ? plan->owner : NULL;
}

uint64_t sc_sched_key_size(const struct sched_key *k)
{
        return sizeof *k + k->len + (k->body ? k->body_len : 0);
}

/* ---- what is the same --------------------------------------------------------------------------*/

/* What defines the work beside tenant and key; all else is an owner's own affair. */
struct sched_work {
        const struct sc_spec *spec;
        struct sc_view        key, needs;
        uint32_t              backoff_ms, backoff_max_ms;
        struct sc_id          id, digest;
};

static struct sched_work work_of(const struct sched_tenant *tenant, const struct sc_spec *spec, struct sc_view needs)
{
        const struct sc_plan *p    = spec->plan;
        struct sched_work     work = { .spec = spec, .key = p->key, .needs = needs, .backoff_ms = p->backoff_ms };
        work.backoff_max_ms        = p->backoff_max_ms > 0 ? p->backoff_max_ms : SCHED_BACKOFF_MAX_MS;
        struct sc_digest d;
        sc_digest_init(&d, (struct sc_id){ 0, 0 });
        sc_digest_text(&d, tenant->name, tenant->name_len);
        sc_digest_text(&d, p->key.ptr, p->key.len);
        work.id.hi = sc_digest_end(&d).hi;
        sc_digest_number(&d, spec->kind);
        sc_digest_number(&d, spec->retries);
        sc_digest_number(&d, spec->timeout_ms);
        sc_digest_number(&d, work.backoff_ms);
        sc_digest_number(&d, work.backoff_max_ms);
        sc_digest_text(&d, spec->function.ptr, spec->function.len);
        sc_digest_text(&d, needs.ptr, needs.len);
        sc_digest_text(&d, p->retry_on.ptr, p->retry_on.len);
        sc_digest_text(&d, spec->body.ptr, spec->body.len);
        work.digest = sc_digest_end(&d);
        work.id.hi += work.id.hi == 0;
        work.id.lo = work.digest.lo | SC_SEQUENCE_KEY;
        return work;
}

static bool is_same_text(struct sc_view a, struct sc_view b)
{
        return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* The digest tells; as long as the work is there, it is compared as well. */
static bool is_same(const struct sc_sched *s, const struct sched_key *k, const struct sched_work *work)
{
        if (!sc_id_equal(k->digest, work->digest) || k->body_len != work->spec->body.len)
                return false;
        if (k->leader == SCHED_NONE)
                return true;
        const struct sched_task     *t    = sc_sched_row(s, k->leader);
        const struct sched_plan     *plan = sc_sched_plan(t);
        const struct sched_class    *c    = sc_sched_lane(s, t->lane)->class;
        const struct sched_function *f    = c->function;
        return t->kind == work->spec->kind && k->retries == work->spec->retries &&
               plan->timeout_ms == work->spec->timeout_ms && plan->backoff_ms == work->backoff_ms &&
               plan->backoff_max_ms == work->backoff_max_ms &&
               is_same_text((struct sc_view){ f->name, f->name_len }, work->spec->function) &&
               is_same_text(sc_sched_set_text(c->set), work->needs) &&
               is_same_text(sc_sched_plan_retry_on(plan), work->spec->plan->retry_on) &&
               is_same_text((struct sc_view){ k->body, k->body_len }, work->spec->body);
}

/* ---- the map -----------------------------------------------------------------------------------*/

static struct sched_key *find(const struct sc_sched *s, const struct sched_tenant *tenant,
                              const struct sched_work *work)
{
        struct sched_key *k = sc_map_get(&s->keys, (struct sc_id){ work->id.hi, 0 });
        while (k && (k->tenant != tenant || !is_same_text((struct sc_view){ k->text, k->len }, work->key)))
                k = k->same;
        return k;
}

void sc_sched_key_unfind(struct sc_sched *s, struct sched_key *k)
{
        const struct sc_id at    = { k->id.hi, 0 };
        struct sched_key  *first = sc_map_remove(&s->keys, at);
        SC_ASSERT(k->found);
        k->found = false;
        if (first == k) {
                first = k->same;
        } else {
                struct sched_key *before = first;
                while (before->same != k)
                        before = before->same;
                before->same = k->same;
        }
        k->same = NULL;
        if (first)
                sc_map_put(&s->keys, at, first);
}

void sc_sched_key_body_drop(struct sc_sched *s, struct sched_key *k)
{
        if (!k->body)
                return;
        s->bytes -= k->body_len;
        sc_mem_release(s->mem, k->body, k->body_len);
        k->body = NULL;
}

static void destroy(struct sc_sched *s, struct sched_key *k)
{
        sc_list_remove(&k->todo);
        sc_list_remove(&k->kept);
        if (k->answer)
                sc_sched_answer_drop(s, k->answer);
        sc_sched_key_body_drop(s, k);
        s->bytes -= sc_sched_key_size(k);
        sc_heap_fini(&k->joined);
        sc_sched_tenant_drop(s, k->tenant);
        sc_mem_release(s->mem, k, sizeof *k + k->len);
}

void sc_sched_key_release(struct sc_sched *s, struct sched_key *k)
{
        if (k->leader != SCHED_NONE || k->joined.len > 0 || !sc_list_empty(&k->kept))
                return;
        if (k->found)
                sc_sched_key_unfind(s, k);
        destroy(s, k);
}

static struct sched_key *key_new(struct sc_sched *s, struct sched_tenant *tenant, const struct sched_work *work)
{
        const struct sc_view body = work->spec->body;
        if (!sc_map_reserve(&s->keys, s->keys.len + 1))
                return NULL;
        struct sched_key *k    = sc_mem_zalloc(s->mem, sizeof *k + work->key.len);
        uint8_t          *copy = sc_mem_alloc(s->mem, body.len);
        if (!k || (body.len > 0 && !copy)) {
                sc_mem_release(s->mem, k, k ? sizeof *k + work->key.len : 0);
                sc_mem_release(s->mem, copy, body.len);
                return NULL;
        }
        k->id       = work->id;
        k->digest   = work->digest;
        k->tenant   = tenant;
        k->body     = copy;
        k->body_len = (uint32_t)body.len;
        k->retries  = work->spec->retries;
        k->leader   = SCHED_NONE;
        k->len      = (uint8_t)work->key.len;
        memcpy(k->text, work->key.ptr, work->key.len);
        if (body.len > 0)
                memcpy(copy, body.ptr, body.len);
        sc_sched_joined_init(s, k);
        sc_list_init(&k->todo);
        sc_list_init(&k->kept);
        tenant->refs++;
        s->bytes += sc_sched_key_size(k);
        return k;
}

static void make_found(struct sc_sched *s, struct sched_key *k)
{
        const struct sc_id at = { k->id.hi, 0 };
        k->same               = sc_map_remove(&s->keys, at);
        sc_map_put(&s->keys, at, k);
        k->found = true;
}

/* ---- a submit with a key -----------------------------------------------------------------------*/

bool sc_sched_joint_reserve(struct sc_sched *s, struct sched_client *c, const struct sc_spec *spec,
                            struct sc_view needs, struct sched_joint *j)
{
        const struct sched_work work = work_of(c->tenant, spec, needs);
        struct sched_key       *k    = find(s, c->tenant, &work);
        *j                           = (struct sched_joint){ .how = SCHED_JOINT_JOIN };
        if (k && k->ended && sc_sched_key_is_past(s, k)) {
                sc_sched_key_forget(s, k);
                k = NULL;
        }
        if (k && (k->ended || !is_same(s, k, &work))) {
                j->how = is_same(s, k, &work) ? SCHED_JOINT_KNOWN : SCHED_JOINT_OTHER;
                j->key = k;
                return true;
        }
        j->owner = sc_mem_alloc(s->mem, sizeof *j->owner);
        if (!j->owner)
                return false;
        if (!k) {
                j->how = SCHED_JOINT_LEAD;
                k      = key_new(s, c->tenant, &work);
        }
        j->key = k;
        if (k && sc_heap_reserve(&k->joined, k->joined.len + 2))
                return true;
        sc_sched_joint_cancel(s, j);
        return false;
}

void sc_sched_joint_cancel(struct sc_sched *s, struct sched_joint *j)
{
        if (j->how == SCHED_JOINT_LEAD && j->key)
                sc_sched_key_release(s, j->key);
        sc_mem_release(s->mem, j->owner, j->owner ? sizeof *j->owner : 0);
        *j = (struct sched_joint){ .how = SCHED_JOINT_NONE };
}

void sc_sched_joint_fill(struct sc_sched *s, struct sched_task *t, struct sched_joint *j)
{
        if (!j->owner)
                return;
        *j->owner = (struct sched_owner){
                .key = j->key, .position = SC_HEAP_NOWHERE, .order = t->order, .row = t->self,
                .priority = sc_sched_lane(s, t->lane)->priority,
        };
        sc_sched_plan(t)->owner = j->owner;
        s->bytes += sizeof *j->owner;
        if (j->how != SCHED_JOINT_LEAD)
                return;
        j->key->leader = t->self;
        make_found(s, j->key);
}

static void refuse(struct sc_sched *s, struct sched_task *t, const struct sched_key *k, struct sc_out *out)
{
        char              words[SC_TEXT_MAX];
        struct sched_text text = { .at = words, .max = sizeof words };
        sc_sched_text(&text, k->ended ? "the key \"" : "another task has the key \"");
        sc_sched_text_name(&text, k->text, k->len);
        sc_sched_text(&text, k->ended ? "\" was another task's, and this one is not the same"
                                      : "\", and this one is not the same");
        struct sc_outcome outcome = { .reason = SC_REASON_KEY, .code = SC_E_EXISTS, .text = { words, text.len } };
        sc_sched_end(s, t, SC_MOVE_FAIL, &outcome, out);
}

void sc_sched_joint_admit(struct sc_sched *s, struct sched_task *t, const struct sched_joint *j, struct sc_out *out)
{
        if (j->how == SCHED_JOINT_JOIN) {
                sc_sched_move(s, t, SC_MOVE_JOIN);
                sc_sched_joined_hurry(s, j->key, t);
                return;
        }
        sc_sched_move(s, t, SC_MOVE_BLOCK);
        if (j->how == SCHED_JOINT_KNOWN)
                sc_sched_end_as(s, t, SC_MOVE_FINISH, j->key, out);
        else
                refuse(s, t, j->key, out);
}

/* ---- what workers say --------------------------------------------------------------------------*/

static struct sched_key *of_work(const struct sc_sched *s, struct sc_id id)
{
        struct sched_key *k = sc_map_get(&s->keys, (struct sc_id){ id.hi, 0 });
        while (k && !sc_id_equal(k->id, id))
                k = k->same;
        return k;
}

struct sched_task *sc_sched_work(const struct sc_sched *s, struct sc_id id)
{
        if (!(id.lo & SC_SEQUENCE_KEY)) {
                struct sched_task *t = sc_sched_find(s, id);
                return t && sc_sched_owner(t) ? NULL : t;
        }
        const struct sched_key *k = of_work(s, id);
        return k && k->leader != SCHED_NONE ? sc_sched_row(s, k->leader) : sc_sched_find(s, id);
}

struct sc_id sc_sched_work_name(const struct sched_task *t)
{
        const struct sched_owner *owner = sc_sched_owner(t);
        return owner ? owner->key->id : t->id;
}

bool sc_sched_work_is_over(const struct sc_sched *s, struct sc_id id)
{
        return (id.lo & SC_SEQUENCE_KEY) && of_work(s, id);
}

const struct sched_task *sc_sched_joined_to(const struct sc_sched *s, const struct sched_task *t)
{
        if (t->state != SC_STATE_JOINED)
                return NULL;
        const uint32_t leader = sc_sched_owner(t)->key->leader;
        return leader != SCHED_NONE ? sc_sched_row(s, leader) : NULL;
}

/* ---- the end of all ----------------------------------------------------------------------------*/

/* What rows have of it goes first, as long as they are there. */
static void rows_strip(struct sc_sched *s)
{
        for (uint32_t i = 0; i < s->made; i++) {
                struct sched_task  *t     = sc_sched_row(s, i);
                struct sched_owner *owner = sc_id_is_nil(t->id) ? NULL : sc_sched_owner(t);
                if (owner)
                        sc_mem_release(s->mem, owner, sizeof *owner);
                if (t->words != SCHED_WORDS_SHARED || sc_id_is_nil(t->id))
                        continue;
                sc_sched_answer_drop(s, sc_sched_answer(t));
                t->block = NULL;
        }
}

void sc_sched_keys_fini(struct sc_sched *s)
{
        rows_strip(s);
        for (struct sc_list *at; (at = sc_list_take(&s->keys_kept)) != NULL;)
                sc_list_init(at);
        size_t cursor = 0;
        for (struct sched_key *k; (k = sc_map_each(&s->keys, &cursor)) != NULL;) {
                for (struct sched_key *next; k; k = next) {
                        next = k->same;
                        destroy(s, k);
                }
        }
        while (!sc_list_empty(&s->keys_todo)) /* ended, and not remembered */
                destroy(s, SC_CONTAINER(s->keys_todo.next, struct sched_key, todo));
        sc_map_fini(&s->keys);
}
