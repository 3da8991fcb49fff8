/*
 * The last attempts of tasks that go on after one: failed and to be tried again, or lost with their
 * worker.  Most tasks have none and pay nothing: a flag of the row says that there are some, and a map
 * finds them by the row.  They are for people, so they never take memory that something else needs.
 */
#include "sched_explain.h"

#include <string.h>

#include "sc_assert.h"

enum { SHARE = 32, LEAST = 1 << 20 }; /* of bytes_max: one part in so many; bytes, however small that is */

static struct sc_id key_of(const struct sched_task *t)
{
        return (struct sc_id){ 1, t->self };
}

const struct sched_attempt *sc_sched_attempts(const struct sc_sched *s, const struct sched_task *t)
{
        return t->flags & SCHED_TRIED ? sc_map_get(&s->attempts, key_of(t)) : NULL;
}

uint32_t sc_sched_attempts_count(const struct sc_sched *s, const struct sched_task *t)
{
        uint32_t count = 0;
        for (const struct sched_attempt *a = sc_sched_attempts(s, t); a; a = a->older)
                count++;
        return count;
}

static void release(struct sc_sched *s, struct sched_attempt *a)
{
        s->attempt_bytes -= a->size;
        sc_mem_release(s->mem, a, a->size);
}

static bool has_room(const struct sc_sched *s, size_t size)
{
        const uint64_t share = s->opt.bytes_max / SHARE;
        return s->attempt_bytes + size <= (share > LEAST ? share : LEAST) &&
               !sc_mem_beyond(s->mem, SC_MEM_BEGUN, s->saying + size);
}

static struct sched_attempt *make(struct sc_sched *s, const struct sched_task *t, const struct sc_outcome *o)
{
        const struct sched_worker *w    = sc_sched_worker(s, t->worker);
        const size_t               size = sizeof(struct sched_attempt) + w->name_len + o->text.len;
        SC_ASSERT(o->text.len <= SC_TEXT_MAX);
        if (!has_room(s, size) || !sc_map_reserve(&s->attempts, s->attempts.len + 1))
                return NULL;
        struct sched_attempt *a = sc_mem_alloc(s->mem, size);
        if (!a)
                return NULL;
        *a = (struct sched_attempt){
                .worker = w->id, .run = t->run, .began = t->held_since, .ended = s->now, .attempt = t->attempt,
                .wall_us = o->wall_us, .user_us = o->user_us, .sys_us = o->sys_us, .peak_kib = o->peak_kib,
                .size = (uint32_t)size, .code = o->code, .reason = o->reason, .how = o->how,
                .name_len = w->name_len, .text_len = (uint8_t)o->text.len,
        };
        memcpy(a->words, w->name, w->name_len);
        if (o->text.len > 0)
                memcpy(a->words + w->name_len, o->text.ptr, o->text.len);
        s->attempt_bytes += size;
        return a;
}

/* There are never more than so many: the oldest goes. */
static void shorten(struct sc_sched *s, struct sched_attempt *a)
{
        for (uint32_t i = 1; i < SC_ATTEMPTS_MAX && a; i++)
                a = a->older;
        if (!a || !a->older)
                return;
        SC_ASSERT(!a->older->older);
        release(s, a->older);
        a->older = NULL;
}

void sc_sched_attempt_add(struct sc_sched *s, struct sched_task *t, const struct sc_outcome *outcome)
{
        SC_ASSERT(sc_task_is_held(t->state));
        struct sched_attempt *a = make(s, t, outcome);
        if (!a)
                return;
        a->older = t->flags & SCHED_TRIED ? sc_map_remove(&s->attempts, key_of(t)) : NULL;
        sc_map_put(&s->attempts, key_of(t), a);
        t->flags |= SCHED_TRIED;
        shorten(s, a);
}

void sc_sched_attempt_undo(struct sc_sched *s, struct sched_task *t)
{
        const struct sched_attempt *last = sc_sched_attempts(s, t);
        if (!last || last->run != t->run)
                return;
        struct sched_attempt *a = sc_map_remove(&s->attempts, key_of(t));
        if (a->older)
                sc_map_put(&s->attempts, key_of(t), a->older);
        else
                t->flags &= (uint16_t)~SCHED_TRIED;
        release(s, a);
}

/* What was tried was the work, which goes on under another row. */
void sc_sched_attempts_move(struct sc_sched *s, struct sched_task *from, struct sched_task *to)
{
        SC_ASSERT(!(to->flags & SCHED_TRIED));
        if (!(from->flags & SCHED_TRIED))
                return;
        sc_map_put(&s->attempts, key_of(to), sc_map_remove(&s->attempts, key_of(from)));
        from->flags &= (uint16_t)~SCHED_TRIED;
        to->flags |= SCHED_TRIED;
}

static void drop_all(struct sc_sched *s, struct sched_attempt *a)
{
        while (a) {
                struct sched_attempt *older = a->older;
                release(s, a);
                a = older;
        }
}

void sc_sched_attempts_drop(struct sc_sched *s, struct sched_task *t)
{
        if (!(t->flags & SCHED_TRIED))
                return;
        drop_all(s, sc_map_remove(&s->attempts, key_of(t)));
        t->flags &= (uint16_t)~SCHED_TRIED;
}

void sc_sched_attempts_fini(struct sc_sched *s)
{
        size_t cursor = 0;
        for (struct sched_attempt *a; (a = sc_map_each(&s->attempts, &cursor)) != NULL;)
                drop_all(s, a);
        sc_map_fini(&s->attempts);
}

void sc_sched_attempts_check(const struct sc_sched *s)
{
        uint64_t bytes = 0;
        uint32_t rows  = 0;
        for (uint32_t i = 0; i < s->made; i++) {
                const struct sched_task    *t     = sc_sched_row(s, i);
                const struct sched_attempt *a     = sc_sched_attempts(s, t);
                const uint32_t              count = sc_sched_attempts_count(s, t);
                if (t->state == SC_STATE_FREE)
                        continue;
                SC_ASSERT((count > 0) == ((t->flags & SCHED_TRIED) != 0) && count <= SC_ATTEMPTS_MAX);
                SC_ASSERT(!a || a->run != t->run || !sc_task_is_held(t->state));
                rows += count > 0;
                for (; a; a = a->older) {
                        SC_ASSERT(a->attempt <= t->attempt + 1 && a->began <= a->ended);
                        SC_ASSERT(!a->older || a->older->ended <= a->ended);
                        bytes += a->size;
                }
        }
        SC_ASSERT(rows == s->attempts.len && bytes == s->attempt_bytes);
}
