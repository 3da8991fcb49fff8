/*
 * Index -> object.  An index stays with its object for life and is used again after it; room is
 * reserved before the object is made, so that putting it in cannot fail.
 */
#include "sched_state.h"

#include <string.h>

#include "sc_assert.h"

bool sc_sched_table_reserve(struct sched_table *t, struct sc_mem *mem)
{
        if (t->free_len > 0 || t->len < t->cap)
                return true;
        uint32_t  cap  = t->cap > 0 ? t->cap * 2 : 8;
        void    **at   = sc_mem_array(mem, cap, sizeof *at);
        uint32_t *free = sc_mem_array(mem, cap, sizeof *free);
        if (!at || !free) {
                sc_mem_release(mem, at, cap * sizeof *at);
                sc_mem_release(mem, free, cap * sizeof *free);
                return false;
        }
        struct sched_table grown = { .at = at, .free = free, .cap = cap, .len = t->len };
        if (t->len > 0)
                memcpy(at, t->at, t->len * sizeof *at);
        sc_sched_table_fini(t, mem);
        *t = grown;
        return true;
}

uint32_t sc_sched_table_put(struct sched_table *t, void *what)
{
        SC_ASSERT(t->free_len > 0 || t->len < t->cap);
        uint32_t index = t->free_len > 0 ? t->free[--t->free_len] : t->len++;
        t->at[index]   = what;
        return index;
}

void sc_sched_table_drop(struct sched_table *t, uint32_t index)
{
        SC_ASSERT(index < t->len && t->at[index]);
        t->at[index]           = NULL;
        t->free[t->free_len++] = index;
}

void sc_sched_table_fini(struct sched_table *t, struct sc_mem *mem)
{
        sc_mem_release(mem, t->at, t->cap * sizeof *t->at);
        sc_mem_release(mem, t->free, t->cap * sizeof *t->free);
        *t = (struct sched_table){ .cap = 0 };
}
