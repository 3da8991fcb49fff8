/*
 * Ready rows, one class per function name (commands are the class without a name).  In a class a
 * row that comes with the highest order goes to the end of a plain queue; one that regains an older
 * place goes into a pairing heap, which needs no memory of its own; one that has its last chance
 * waits apart, because it needs an empty worker.  The head of a class is the older of the two heads.
 */
#include "sched_state.h"

#include <string.h>

#include "sc_assert.h"

/* ---- classes -----------------------------------------------------------------------------------*/

static struct sc_id key_of(const struct sc_sched *s, struct sc_view name)
{
        const unsigned char *at = name.ptr;
        uint64_t             a  = s->opt.seed ^ name.len;
        uint64_t             b  = UINT64_C(0xcbf29ce484222325);
        for (size_t i = 0; i < name.len; i++) {
                a = (a ^ at[i]) * UINT64_C(0x9e3779b97f4a7c15);
                a ^= a >> 29;
                b = (b ^ at[i]) * UINT64_C(0x100000001b3);
        }
        return (struct sc_id){ a, b };
}

static bool is_named(const struct sched_class *c, struct sc_view name)
{
        return c->name_len == name.len && (name.len == 0 || memcmp(c->name, name.ptr, name.len) == 0);
}

static bool active_reserve(struct sc_sched *s)
{
        uint32_t need = s->classes.cap;
        if (need <= s->active_cap)
                return true;
        uint32_t *active = sc_mem_resize(s->mem, s->active, s->active_cap * sizeof *active, need * sizeof *active);
        if (!active)
                return false;
        s->active     = active;
        s->active_cap = need;
        return true;
}

static struct sched_class *class_new(struct sc_sched *s, struct sc_id key, struct sc_view name)
{
        if (!sc_sched_table_reserve(&s->classes, s->mem) || !active_reserve(s) ||
            !sc_map_reserve(&s->class_map, s->class_map.len + 1))
                return NULL;
        struct sched_class *c = sc_mem_zalloc(s->mem, sizeof *c + name.len);
        if (!c)
                return NULL;
        c->key      = key;
        c->name_len = (uint8_t)name.len;
        if (name.len > 0)
                memcpy(c->name, name.ptr, name.len);
        c->heap = c->alone = c->active = c->reserved = SCHED_NONE;
        sc_sched_queue_init(&c->fifo);
        c->same = sc_map_remove(&s->class_map, key);
        sc_map_put(&s->class_map, key, c);
        c->self = sc_sched_table_put(&s->classes, c);
        return c;
}

struct sched_class *sc_sched_class_take(struct sc_sched *s, struct sc_view name)
{
        SC_ASSERT(name.len <= SC_NAME_MAX);
        struct sc_id        key = key_of(s, name);
        struct sched_class *c   = sc_map_get(&s->class_map, key);
        while (c && !is_named(c, name))
                c = c->same;
        if (!c)
                c = class_new(s, key, name);
        if (c)
                c->refs++;
        return c;
}

void sc_sched_class_drop(struct sc_sched *s, struct sched_class *c)
{
        SC_ASSERT(c->refs > 0);
        if (--c->refs > 0)
                return;
        SC_ASSERT(c->ready == 0 && c->workers == 0 && c->active == SCHED_NONE && c->reserved == SCHED_NONE);
        struct sched_class *first = sc_map_remove(&s->class_map, c->key);
        if (first != c) {
                struct sched_class *before = first;
                while (before->same != c)
                        before = before->same;
                before->same = c->same;
        } else {
                first = c->same;
        }
        if (first)
                sc_map_put(&s->class_map, c->key, first);
        sc_sched_table_drop(&s->classes, c->self);
        sc_mem_release(s->mem, c, sizeof *c + c->name_len);
}

/* A class is active while it has ready rows and somebody who could run them. */
static void activate(struct sc_sched *s, struct sched_class *c)
{
        bool wanted = c->ready > 0 && c->workers > 0;
        if (wanted == (c->active != SCHED_NONE))
                return;
        if (wanted) {
                SC_ASSERT(s->active_len < s->active_cap);
                c->active                  = s->active_len;
                s->active[s->active_len++] = c->self;
                return;
        }
        uint32_t last                            = s->active[--s->active_len];
        s->active[c->active]                     = last;
        sc_sched_class(s, last)->active = c->active;
        c->active                                = SCHED_NONE;
}

void sc_sched_class_worker(struct sc_sched *s, struct sched_class *c, bool joins)
{
        c->workers += joins ? 1 : UINT32_MAX;
        activate(s, c);
}

/* ---- pairing heap (Fredman, Sedgewick, Sleator, Tarjan 1986) -----------------------------------*/

static uint32_t meld(struct sc_sched *s, uint32_t a, uint32_t b)
{
        if (a == SCHED_NONE || b == SCHED_NONE)
                return a == SCHED_NONE ? b : a;
        struct sched_task *top = sc_sched_row(s, a);
        struct sched_task *sub = sc_sched_row(s, b);
        if (sub->order < top->order) {
                struct sched_task *swap = top;
                top                     = sub;
                sub                     = swap;
        }
        sub->link[SCHED_AT] = (struct sched_pair){ .next = top->child, .prev = top->self };
        if (top->child != SCHED_NONE)
                sc_sched_row(s, top->child)->link[SCHED_AT].prev = sub->self;
        top->child          = sub->self;
        top->link[SCHED_AT] = (struct sched_pair){ SCHED_NONE, SCHED_NONE };
        return top->self;
}

/* Takes the first of a chain of siblings off; *first becomes the second. */
static uint32_t unchain(struct sc_sched *s, uint32_t *first)
{
        uint32_t at = *first;
        if (at == SCHED_NONE)
                return SCHED_NONE;
        struct sched_task *t = sc_sched_row(s, at);
        *first               = t->link[SCHED_AT].next;
        t->link[SCHED_AT]    = (struct sched_pair){ SCHED_NONE, SCHED_NONE };
        s->visits++;
        return at;
}

/* Melds siblings in pairs from left to right, then the pairs from right to left. */
static uint32_t meld_all(struct sc_sched *s, uint32_t first)
{
        uint32_t pairs = SCHED_NONE;
        while (first != SCHED_NONE) {
                uint32_t a                             = unchain(s, &first);
                uint32_t both                          = meld(s, a, unchain(s, &first));
                sc_sched_row(s, both)->link[SCHED_AT].next = pairs;
                pairs                                  = both;
        }
        uint32_t root = SCHED_NONE;
        while (pairs != SCHED_NONE)
                root = meld(s, root, unchain(s, &pairs));
        return root;
}

static void heap_add(struct sc_sched *s, uint32_t *root, struct sched_task *t)
{
        t->child          = SCHED_NONE;
        t->link[SCHED_AT] = (struct sched_pair){ SCHED_NONE, SCHED_NONE };
        *root             = meld(s, *root, t->self);
}

static void heap_remove(struct sc_sched *s, uint32_t *root, struct sched_task *t)
{
        struct sched_pair at  = t->link[SCHED_AT];
        uint32_t          sub = meld_all(s, t->child);
        t->child              = SCHED_NONE;
        t->link[SCHED_AT]     = (struct sched_pair){ SCHED_NONE, SCHED_NONE };
        if (*root == t->self) {
                *root = sub;
                return;
        }
        struct sched_task *before = sc_sched_row(s, at.prev); /* parent or left neighbour */
        if (before->child == t->self)
                before->child = at.next;
        else
                before->link[SCHED_AT].next = at.next;
        if (at.next != SCHED_NONE)
                sc_sched_row(s, at.next)->link[SCHED_AT].prev = at.prev;
        *root = meld(s, *root, sub);
}

/* ---- ready rows --------------------------------------------------------------------------------*/

bool sc_sched_is_last_chance(const struct sc_sched *s, const struct sched_task *t)
{
        return t->losses > 0 && t->losses + 1u >= s->opt.losses_max;
}

static bool goes_last(const struct sc_sched *s, const struct sched_class *c, const struct sched_task *t)
{
        return c->fifo.tail == SCHED_NONE || sc_sched_row(s, c->fifo.tail)->order < t->order;
}

void sc_sched_ready_add(struct sc_sched *s, struct sched_task *t)
{
        struct sched_class *c = sc_sched_class(s, t->class_index);
        if (sc_sched_is_last_chance(s, t)) {
                t->flags |= SCHED_IN_ALONE;
                heap_add(s, &c->alone, t);
                s->alone_ready++;
        } else if (goes_last(s, c, t)) {
                sc_sched_queue_add(s, &c->fifo, SCHED_AT, t);
        } else {
                t->flags |= SCHED_IN_HEAP;
                heap_add(s, &c->heap, t);
        }
        c->ready++;
        activate(s, c);
}

void sc_sched_ready_remove(struct sc_sched *s, struct sched_task *t)
{
        struct sched_class *c = sc_sched_class(s, t->class_index);
        if (t->flags & SCHED_IN_ALONE) {
                heap_remove(s, &c->alone, t);
                s->alone_ready--;
        } else if (t->flags & SCHED_IN_HEAP) {
                heap_remove(s, &c->heap, t);
        } else {
                sc_sched_queue_remove(s, &c->fifo, SCHED_AT, t);
        }
        t->flags &= (uint16_t)~(SCHED_IN_ALONE | SCHED_IN_HEAP);
        c->ready--;
        activate(s, c);
}

uint32_t sc_sched_ready_head(const struct sc_sched *s, const struct sched_class *c)
{
        if (c->heap == SCHED_NONE || c->fifo.head == SCHED_NONE)
                return c->heap == SCHED_NONE ? c->fifo.head : c->heap;
        return sc_sched_row(s, c->heap)->order < sc_sched_row(s, c->fifo.head)->order ? c->heap : c->fifo.head;
}
