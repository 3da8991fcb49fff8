/*
 * Functions and classes.  A class is a function with what it needs; it is active while it has ready
 * rows and a crew of workers that serves it.  The active ones stand in an array with the key of
 * whoever would be chosen in them, so that choosing among a hundred is one walk over it.  A function
 * remembers how long its runs take.
 */
#include "sched_state.h"

#include <string.h>

#include "sc_assert.h"

struct sc_id sc_sched_hash(const struct sc_sched *s, struct sc_view bytes)
{
        const unsigned char *at = bytes.ptr;
        uint64_t             a  = s->opt.seed ^ bytes.len;
        uint64_t             b  = UINT64_C(0xcbf29ce484222325);
        for (size_t i = 0; i < bytes.len; i++) {
                a = (a ^ at[i]) * UINT64_C(0x9e3779b97f4a7c15);
                a ^= a >> 29;
                b = (b ^ at[i]) * UINT64_C(0x100000001b3);
        }
        return (struct sc_id){ a, b };
}

/* ---- functions ---------------------------------------------------------------------------------*/

static bool is_named(const struct sched_function *f, struct sc_view name)
{
        return f->name_len == name.len && (name.len == 0 || memcmp(f->name, name.ptr, name.len) == 0);
}

static struct sched_function *function_new(struct sc_sched *s, struct sc_id key, struct sc_view name)
{
        if (!sc_sched_table_reserve(&s->functions, s->mem) ||
            !sc_map_reserve(&s->function_map, s->function_map.len + 1))
                return NULL;
        struct sched_function *f = sc_mem_zalloc(s->mem, sizeof *f + name.len);
        if (!f)
                return NULL;
        f->key      = key;
        f->expected = SCHED_FIRST_GUESS;
        f->name_len = (uint8_t)name.len;
        if (name.len > 0)
                memcpy(f->name, name.ptr, name.len);
        f->same = sc_map_remove(&s->function_map, key);
        sc_map_put(&s->function_map, key, f);
        f->self = sc_sched_table_put(&s->functions, f);
        return f;
}

struct sched_function *sc_sched_function_take(struct sc_sched *s, struct sc_view name)
{
        SC_ASSERT(name.len <= SC_NAME_MAX);
        struct sc_id           key = sc_sched_hash(s, name);
        struct sched_function *f   = sc_map_get(&s->function_map, key);
        while (f && !is_named(f, name))
                f = f->same;
        if (!f)
                f = function_new(s, key, name);
        if (f)
                f->refs++;
        return f;
}

void sc_sched_function_drop(struct sc_sched *s, struct sched_function *f)
{
        SC_ASSERT(f->refs > 0);
        if (--f->refs > 0)
                return;
        SC_ASSERT(!f->first);
        struct sched_function *first = sc_map_remove(&s->function_map, f->key);
        if (first != f) {
                struct sched_function *before = first;
                while (before->same != f)
                        before = before->same;
                before->same = f->same;
        } else {
                first = f->same;
        }
        if (first)
                sc_map_put(&s->function_map, f->key, first);
        sc_sched_table_drop(&s->functions, f->self);
        sc_mem_release(s->mem, f, sizeof *f + f->name_len);
}

/* Nobody is left for whose sake others were not let behind others. */
static void unstick_all(struct sc_sched *s)
{
        for (uint32_t i = 0; i < s->active_len && s->stuck > 0; i++)
                sc_sched_entry_stuck(s, &s->active[i], false);
}

/* An exponentially weighted mean.  Who turns out not to be long after all may be queued again. */
void sc_sched_measured(struct sc_sched *s, struct sched_function *f, sc_ns took)
{
        const bool was_long = f->expected >= SCHED_LONG;
        f->expected += (took - f->expected) / 8;
        const bool is_long = f->expected >= SCHED_LONG;
        if (was_long == is_long)
                return;
        for (const struct sched_class *c = f->first; c; c = c->next) {
                if (c->active == SCHED_NONE)
                        continue;
                s->long_active += is_long ? 1 : UINT32_MAX;
                if (was_long)
                        sc_sched_entry_stuck(s, &s->active[c->active], false);
        }
        if (was_long && s->long_active == 0)
                unstick_all(s);
}

/* ---- classes -----------------------------------------------------------------------------------*/

static struct sc_id class_key(const struct sched_function *f, const struct sched_set *set)
{
        return (struct sc_id){ (uint64_t)f->self << 32 | set->self, SCHED_PART_CLASS };
}

static bool active_reserve(struct sc_sched *s)
{
        uint32_t            need = s->classes.cap;
        struct sched_entry *active;
        if (need <= s->active_cap)
                return true;
        active = sc_mem_resize(s->mem, s->active, s->active_cap * sizeof *active, need * sizeof *active);
        if (!active)
                return false;
        s->active     = active;
        s->active_cap = need;
        return true;
}

static void class_link(struct sc_sched *s, struct sched_class *c, struct sched_function *f, struct sched_set *set)
{
        c->function = f;
        c->set      = set;
        c->before   = f->last;
        if (c->before)
                c->before->next = c;
        else
                f->first = c;
        f->last = c;
        sc_map_put(&s->parts, class_key(f, set), c);
        c->self = sc_sched_table_put(&s->classes, c);
        s->needy += set->self != 0;
        for (uint32_t i = 0; i < s->crews.len; i++) {
                const struct sched_crew *crew = s->crews.at[i];
                c->crews += crew && crew->live > 0 && sc_sched_crew_serves(crew, c);
        }
}

static struct sched_class *class_new(struct sc_sched *s, struct sched_function *f, struct sched_set *set)
{
        if (!sc_sched_table_reserve(&s->classes, s->mem) || !active_reserve(s) ||
            !sc_map_reserve(&s->parts, s->parts.len + 1))
                return NULL;
        struct sched_class *c = sc_mem_zalloc(s->mem, sizeof *c);
        if (!c)
                return NULL;
        c->active = c->reserved = SCHED_NONE;
        sc_list_init(&c->alone);
        sc_sched_levels_init(s, c);
        class_link(s, c, f, set);
        sc_sched_lane_bytes(s, sizeof *c, true);
        return c;
}

/* A fresh one has no levels: who asked for it either adds one or drops it. */
struct sched_class *sc_sched_class_of(struct sc_sched *s, struct sc_view name, struct sc_view needs, bool *full)
{
        struct sched_function *f   = sc_sched_function_take(s, name);
        struct sched_set      *set = f ? sc_sched_set_take(s, needs, full) : NULL;
        struct sched_class    *c   = set ? sc_map_get(&s->parts, class_key(f, set)) : NULL;
        const bool             had = c != NULL;
        if (set && !c && set->self != 0 && s->needy >= SCHED_NEEDY_MAX)
                *full = true;
        else if (set && !c)
                c = class_new(s, f, set);
        if (set && (had || !c))
                sc_sched_set_drop(s, set);
        if (f && (had || !c))
                sc_sched_function_drop(s, f);
        return c;
}

void sc_sched_class_drop(struct sc_sched *s, struct sched_class *c)
{
        if (c->levels > 0)
                return;
        if (c->reserved != SCHED_NONE)
                sc_sched_unreserve(s, sc_sched_worker(s, c->reserved));
        SC_ASSERT(c->ready == 0 && c->active == SCHED_NONE && sc_list_empty(&c->alone));
        if (c->next)
                c->next->before = c->before;
        else
                c->function->last = c->before;
        if (c->before)
                c->before->next = c->next;
        else
                c->function->first = c->next;
        sc_map_remove(&s->parts, class_key(c->function, c->set));
        sc_sched_table_drop(&s->classes, c->self);
        s->needy -= c->set->self != 0;
        sc_sched_set_drop(s, c->set);
        sc_sched_function_drop(s, c->function);
        sc_heap_fini(&c->tops);
        sc_heap_fini(&c->ages);
        sc_sched_lane_bytes(s, sizeof *c, false);
        sc_mem_release(s->mem, c, sizeof *c);
}

/* ---- active ones -------------------------------------------------------------------------------*/

static bool is_loose(const struct sched_entry *e)
{
        return !e->dry && !e->stuck;
}

void sc_sched_entry_stuck(struct sc_sched *s, struct sched_entry *e, bool stuck)
{
        if (e->stuck == stuck)
                return;
        s->loose -= is_loose(e);
        e->stuck = stuck;
        s->loose += is_loose(e);
        s->stuck += stuck ? 1 : UINT32_MAX;
}

void sc_sched_entry_dry(struct sc_sched *s, struct sched_entry *e, bool dry)
{
        s->loose -= is_loose(e);
        e->dry = dry;
        s->loose += is_loose(e);
}

void sc_sched_entry_forget(struct sc_sched *s, struct sched_class *c)
{
        if (c->active == SCHED_NONE)
                return;
        struct sched_entry *e = &s->active[c->active];
        e->known              = false;
        sc_sched_entry_dry(s, e, false);
}

void sc_sched_activate(struct sc_sched *s, struct sched_class *c)
{
        bool wanted = c->ready > 0 && c->crews > 0;
        if (wanted == (c->active != SCHED_NONE))
                return;
        if (wanted) {
                SC_ASSERT(s->active_len < s->active_cap);
                c->active              = s->active_len++;
                s->active[c->active]   = (struct sched_entry){
                        .class = c, .set = c->set->self, .function = c->function->self };
                s->needy_active += c->set->self != 0;
                s->long_active += c->function->expected >= SCHED_LONG;
                s->loose++;
                return;
        }
        struct sched_entry *e = &s->active[c->active];
        s->loose -= is_loose(e);
        s->stuck -= e->stuck;
        *e               = s->active[--s->active_len];
        e->class->active = c->active;
        c->active        = SCHED_NONE;
        const bool needy = c->set->self != 0, is_long = c->function->expected >= SCHED_LONG;
        s->needy_active -= needy;
        s->long_active -= is_long;
        if ((needy && s->needy_active == 0) || (is_long && s->long_active == 0))
                unstick_all(s);
}

void sc_sched_class_crew(struct sc_sched *s, struct sched_class *c, bool joins)
{
        c->crews += joins ? 1 : UINT32_MAX;
        sc_sched_activate(s, c);
}
