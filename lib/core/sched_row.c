/*
 * The table of rows: pages that never move, a free list, and the map from task ids to rows.  The map
 * is a linear hash (Litwin 1980): there are as many buckets as rows ever made, and making one more
 * row splits one bucket, so a table of millions grows without ever stopping to rehash.
 */
#include "sched_state.h"

#include <string.h>

#include "sc_assert.h"

/* Tasks that come one after another stand in neighbouring buckets, and so in few cache lines; more of them than
 * that do not, whatever numbers a client gives its tasks. */
enum { NEIGHBOURS = 64 };

static uint32_t hash_of(const struct sc_sched *s, struct sc_id id)
{
        return (uint32_t)(sc_id_hash((struct sc_id){ id.hi ^ s->opt.seed, id.lo / NEIGHBOURS }) * NEIGHBOURS +
                          id.lo % NEIGHBOURS);
}

/* The highest power of two that is not above n; n > 0. */
static uint32_t power_below(uint32_t n)
{
        n |= n >> 1;
        n |= n >> 2;
        n |= n >> 4;
        n |= n >> 8;
        n |= n >> 16;
        return n - (n >> 1);
}

static uint32_t *bucket_at(const struct sc_sched *s, uint32_t index)
{
        return &s->page[index / SCHED_PAGE]->bucket[index % SCHED_PAGE];
}

static uint32_t *bucket_of(const struct sc_sched *s, struct sc_id id)
{
        uint32_t power = power_below(s->made);
        uint32_t hash  = hash_of(s, id);
        uint32_t index = hash & (2 * power - 1);
        return bucket_at(s, index < s->made ? index : hash & (power - 1));
}

struct sched_task *sc_sched_find(const struct sc_sched *s, struct sc_id id)
{
        if (s->made == 0)
                return NULL;
        for (uint32_t at = *bucket_of(s, id); at != SCHED_NONE;) {
                struct sched_task *t = sc_sched_row(s, at);
                if (sc_id_equal(t->id, id))
                        return t;
                at = t->chain;
        }
        return NULL;
}

static void chain_add(struct sc_sched *s, struct sched_task *t)
{
        uint32_t *bucket = bucket_of(s, t->id);
        t->chain         = *bucket;
        *bucket          = t->self;
}

static void chain_remove(struct sc_sched *s, struct sched_task *t)
{
        uint32_t *at = bucket_of(s, t->id);
        while (*at != t->self)
                at = &sc_sched_row(s, *at)->chain;
        *at = t->chain;
}

/* Bucket `made` comes to be; what belongs there stands in the bucket below its highest bit. */
static void split(struct sc_sched *s)
{
        uint32_t fresh           = s->made++;
        *bucket_at(s, fresh)     = SCHED_NONE;
        if (fresh == 0)
                return;
        uint32_t *old = bucket_at(s, fresh - power_below(fresh));
        uint32_t  at  = *old;
        *old          = SCHED_NONE;
        while (at != SCHED_NONE) {
                struct sched_task *t = sc_sched_row(s, at);
                at                   = t->chain;
                chain_add(s, t);
        }
}

static bool page_add(struct sc_sched *s)
{
        uint32_t index = s->made / SCHED_PAGE;
        if (index == s->page_cap) {
                uint32_t            cap  = s->page_cap > 0 ? s->page_cap * 2 : 16;
                struct sched_page **page = s->page;
                page = sc_mem_resize(s->mem, page, s->page_cap * sizeof *page, cap * sizeof *page);
                if (!page)
                        return false;
                s->page     = page;
                s->page_cap = cap;
        }
        s->page[index] = sc_mem_alloc(s->mem, sizeof **s->page);
        return s->page[index] != NULL;
}

static struct sched_task *take(struct sc_sched *s)
{
        if (s->free_row != SCHED_NONE) {
                struct sched_task *t = sc_sched_row(s, s->free_row);
                s->free_row          = t->chain;
                return t;
        }
        if (s->made == s->opt.tasks_max || (s->made % SCHED_PAGE == 0 && !page_add(s)))
                return NULL;
        split(s);
        struct sched_task *t = sc_sched_row(s, s->made - 1);
        t->self              = s->made - 1;
        return t;
}

struct sched_task *sc_sched_row_new(struct sc_sched *s, struct sc_id id)
{
        struct sched_task *t = take(s);
        if (!t)
                return NULL;
        uint32_t self = t->self;
        memset(t, 0, sizeof *t);
        t->self        = self;
        t->id          = id;
        t->state       = SC_STATE_FREE;
        t->lane        = t->worker = t->client = t->child = t->asks = t->edges = SCHED_NONE;
        t->link[SCHED_AT] = t->link[SCHED_MINE] = (struct sched_pair){ SCHED_NONE, SCHED_NONE };
        chain_add(s, t);
        s->rows++;
        return t;
}

void sc_sched_row_free(struct sc_sched *s, struct sched_task *t)
{
        SC_ASSERT(t->state == SC_STATE_FREE && !t->block);
        chain_remove(s, t);
        t->id       = (struct sc_id){ 0, 0 };
        t->chain    = s->free_row;
        s->free_row = t->self;
        s->rows--;
}

void sc_sched_row_rename(struct sc_sched *s, struct sched_task *t, struct sc_id id)
{
        chain_remove(s, t);
        t->id = id;
        chain_add(s, t);
}

void sc_sched_rows_fini(struct sc_sched *s)
{
        for (uint32_t i = 0; i < s->made; i++) {
                struct sched_task *t = sc_sched_row(s, i);
                if (!sc_id_is_nil(t->id))
                        sc_mem_release(s->mem, t->block, t->block_size);
        }
        for (uint32_t i = 0; i < (s->made + SCHED_PAGE - 1) / SCHED_PAGE; i++)
                sc_mem_release(s->mem, s->page[i], sizeof *s->page[i]);
        sc_mem_release(s->mem, s->page, s->page_cap * sizeof *s->page);
}

/* ---- queues of rows ----------------------------------------------------------------------------*/

void sc_sched_queue_init(struct sched_queue *q)
{
        *q = (struct sched_queue){ SCHED_NONE, SCHED_NONE, 0 };
}

void sc_sched_queue_add(struct sc_sched *s, struct sched_queue *q, enum sched_link_pair pair, struct sched_task *t)
{
        t->link[pair] = (struct sched_pair){ .next = SCHED_NONE, .prev = q->tail };
        if (q->tail == SCHED_NONE)
                q->head = t->self;
        else
                sc_sched_row(s, q->tail)->link[pair].next = t->self;
        q->tail = t->self;
        q->len++;
}

void sc_sched_queue_remove(struct sc_sched *s, struct sched_queue *q, enum sched_link_pair pair, struct sched_task *t)
{
        struct sched_pair at = t->link[pair];
        SC_ASSERT(q->len > 0);
        if (at.prev == SCHED_NONE)
                q->head = at.next;
        else
                sc_sched_row(s, at.prev)->link[pair].next = at.next;
        if (at.next == SCHED_NONE)
                q->tail = at.prev;
        else
                sc_sched_row(s, at.next)->link[pair].prev = at.prev;
        t->link[pair] = (struct sched_pair){ SCHED_NONE, SCHED_NONE };
        q->len--;
}

void sc_sched_queue_before(struct sc_sched *s, struct sched_queue *q, enum sched_link_pair pair, struct sched_task *t,
                           struct sched_task *other)
{
        sc_sched_queue_remove(s, q, pair, t);
        const uint32_t prev = other->link[pair].prev;
        t->link[pair]       = (struct sched_pair){ .next = other->self, .prev = prev };
        if (prev == SCHED_NONE)
                q->head = t->self;
        else
                sc_sched_row(s, prev)->link[pair].next = t->self;
        other->link[pair].prev = t->self;
        q->len++;
}
