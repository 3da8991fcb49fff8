/*
 * What clients may send.  A grant is a limit of rows and of KiB of arguments, and what is used is
 * the client's rows, so nothing has to be reconciled after a break.  Grants never sum above the
 * limits; a sixteenth of the rows is kept back.  A client without a link holds just what its rows need.
 */
#include "sched_state.h"

#include "sc_assert.h"

enum { LARGEST_KIB = (SC_BODY_MAX + SC_NAME_MAX) / 1024 + 1 }; /* of a task, its function's name included */

static uint32_t free_tasks(const struct sc_sched *s)
{
        uint64_t most = s->opt.tasks_max - s->opt.tasks_max / 16;
        uint64_t used = s->grant_sum + s->count[SC_STATE_ORPHAN];
        return used < most ? (uint32_t)(most - used) : 0;
}

/* What there is for one client: its tenant may be limited, too. */
static uint32_t tasks_for(const struct sc_sched *s, const struct sched_client *c)
{
        const struct sched_tenant *tenant = c->tenant;
        const uint32_t             left   = free_tasks(s);
        if (tenant->queued_max == 0)
                return left;
        const uint64_t own = tenant->granted < tenant->queued_max ? tenant->queued_max - tenant->granted : 0;
        return own < left ? (uint32_t)own : left;
}

static uint32_t free_kib(const struct sc_sched *s)
{
        uint64_t most = s->opt.bytes_max / 1024;
        uint64_t left = s->kib_sum < most ? most - s->kib_sum : 0;
        return left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
}

uint32_t sc_sched_grant_most_tasks(const struct sc_sched *s, const struct sched_client *c)
{
        const uint32_t all    = s->opt.tasks_max - s->opt.tasks_max / 16;
        const uint32_t most   = all < s->opt.client_tasks_max ? all : s->opt.client_tasks_max;
        const uint32_t queued = c->tenant->queued_max;
        return queued == 0 || most < queued ? most : queued;
}

uint32_t sc_sched_grant_most_kib(const struct sc_sched *s)
{
        const uint64_t all = s->opt.bytes_max / 1024;
        return all < UINT32_MAX ? (uint32_t)all : UINT32_MAX;
}

static uint32_t kib_needed(const struct sched_client *c)
{
        uint64_t kib = (c->body_bytes + 1023) / 1024;
        return kib < UINT32_MAX ? (uint32_t)kib : UINT32_MAX;
}

static void set(struct sc_sched *s, struct sched_client *c, uint32_t tasks, uint32_t kib)
{
        s->grants_freed = s->grants_freed || tasks < c->grant || kib < c->kib;
        s->grant_sum += tasks;
        s->grant_sum -= c->grant;
        c->tenant->granted += tasks;
        c->tenant->granted -= c->grant;
        s->kib_sum += kib;
        s->kib_sum -= c->kib;
        c->grant = tasks;
        c->kib   = kib;
}

/* The client does not count what it has the result of; until it confirms that, it may use that much less. */
void sc_sched_grant_tell(const struct sc_sched *s, const struct sched_client *c, struct sc_out *out)
{
        struct sc_effect *effect = sc_out_add(out, SC_FX_GRANT);
        effect->link             = c->link;
        const bool none          = sc_sched_is_stopping(s);
        effect->tasks            = !none && c->grant > c->stale ? c->grant - c->stale : 0;
        effect->kib              = none ? 0 : c->kib;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
        return a < b ? a : b;
}

/*
 * Who has nothing here may have a task of the largest size to send, and cannot begin with less.  Where several wait
 * for that, each with a part of it, one at a time is lent what is missing beyond the limit.
 */
static uint32_t lendable_kib(const struct sc_sched *s, const struct sched_client *c)
{
        uint32_t left = free_kib(s);
        bool     lent = s->kib_sum > s->opt.bytes_max / 1024;
        if (c->mine.len > 0 || c->kib >= LARGEST_KIB || left >= LARGEST_KIB - c->kib || lent)
                return left;
        return LARGEST_KIB - c->kib;
}

/* What is wanted, at most half of what is free, and something if anything is; but up to `least` all that is free. */
static uint32_t raised(uint32_t have, uint32_t want, uint32_t left, uint32_t least)
{
        if (want <= have || left == 0)
                return have;
        uint32_t most = left > 1 ? left / 2 : 1;
        if (have + most < least)
                most = smaller(left, least - have);
        return have + smaller(want - have, most);
}

/* With less than its least it can send nothing: it gets both, however much of what is free that is, or neither. */
static bool reach_least(const struct sc_sched *s, const struct sched_client *c, uint32_t *tasks, uint32_t *kib)
{
        if (c->least <= *tasks && c->least_kib <= *kib)
                return true;
        const uint32_t more = c->least > c->grant ? c->least - c->grant : 0;
        const uint32_t wide = c->least_kib > c->kib ? c->least_kib - c->kib : 0;
        if (more > tasks_for(s, c) || wide > lendable_kib(s, c))
                return false;
        *tasks = *tasks > c->least ? *tasks : c->least;
        *kib   = *kib > c->least_kib ? *kib : c->least_kib;
        return true;
}

static bool raise(struct sc_sched *s, struct sched_client *c, struct sc_out *out)
{
        if (sc_sched_is_stopping(s))
                return false;
        if (c->mine.len > 0 && sc_sched_tight(s)) {
                s->grants_freed = true; /* asked again when there is memory */
                return false;
        }
        uint32_t least = c->mine.len == 0 ? LARGEST_KIB : 0;
        uint32_t tasks = raised(c->grant, c->want, tasks_for(s, c), 0);
        uint32_t kib   = raised(c->kib, c->want_kib, lendable_kib(s, c), least);
        if (!reach_least(s, c, &tasks, &kib))
                return false;
        if (tasks == c->grant && kib == c->kib)
                return false;
        set(s, c, tasks, kib);
        sc_sched_grant_tell(s, c, out);
        return true;
}

static void file(struct sc_sched *s, struct sched_client *c)
{
        sc_list_remove(&c->hungry);
        if (c->link != 0 && !c->doomed && (c->want > c->grant || c->want_kib > c->kib))
                sc_list_add_tail(&s->hungry, &c->hungry);
}

/* A client that wants less is bound by that at once: it has said so. */
void sc_sched_on_want(struct sc_sched *s, struct sched_client *c, const struct sc_want *m, struct sc_out *out)
{
        c->want        = smaller(m->tasks, s->opt.client_tasks_max);
        c->want_kib    = m->kib;
        c->least       = smaller(m->least_tasks, c->want);
        c->least_kib   = smaller(m->least_kib, c->want_kib);
        uint32_t tasks = c->want < c->grant ? c->want : c->grant;
        uint32_t kib   = c->want_kib < c->kib ? c->want_kib : c->kib;
        tasks          = tasks > c->mine.len ? tasks : smaller(c->mine.len, c->grant);
        kib            = kib > kib_needed(c) ? kib : smaller(kib_needed(c), c->kib);
        bool lowered   = tasks < c->grant || kib < c->kib;
        set(s, c, tasks, kib);
        if (!raise(s, c, out) && lowered)
                sc_sched_grant_tell(s, c, out);
        file(s, c);
}

/* So that there is something left for however many come. */
static uint32_t first_share(uint32_t left)
{
        return left < 4 ? left : left / 4;
}

void sc_sched_grant_first(struct sc_sched *s, struct sched_client *c, struct sc_out *out)
{
        uint32_t most  = s->opt.client_tasks_max > c->mine.len ? s->opt.client_tasks_max - c->mine.len : 0;
        uint32_t left  = free_tasks(s);
        /* Who gets less than usual keeps nothing of it when idle, so that whoever comes last does not wait for ever. */
        uint32_t usual = left >= 2 * SCHED_GRANT_FIRST ? SCHED_GRANT_FIRST : SCHED_GRANT_FIRST - 1;
        uint32_t tasks = smaller(smaller(usual, most), tasks_for(s, c));
        uint32_t kib   = smaller(SCHED_KIB_FIRST, first_share(free_kib(s)));
        c->want        = c->want_kib = c->least = c->least_kib = 0;
        set(s, c, c->grant + tasks, c->kib + kib);
        /* Whoever gets nothing at all is served when there is something again. */
        c->want     = c->grant == 0 ? 1 : c->want;
        c->want_kib = c->kib == 0 ? 1 : c->want_kib;
        file(s, c);
        c->stale = c->ended.len;
        sc_sched_grant_tell(s, c, out);
}

/* A client that fills what it has, and wants more, need not ask again. */
void sc_sched_grant_more(struct sc_sched *s, struct sched_client *c, struct sc_out *out)
{
        bool filling = c->mine.len >= c->grant - c->grant / 4 || c->body_bytes >= c->kib * UINT64_C(768);
        if (sc_list_empty(&c->hungry) || !filling)
                return;
        raise(s, c, out);
        file(s, c);
}

void sc_sched_grant_shrink(struct sc_sched *s, struct sched_client *c)
{
        if (c->link != 0 && !c->doomed)
                return;
        set(s, c, smaller(c->mine.len, c->grant), smaller(kib_needed(c), c->kib));
        file(s, c);
}

/* Something was given back: each of those who wait gets a share, in turn. */
void sc_sched_grants_round(struct sc_sched *s, struct sc_out *out)
{
        struct sc_list round;
        if (!s->grants_freed || sc_list_empty(&s->hungry))
                return;
        s->grants_freed = false;
        sc_list_init(&round);
        sc_list_splice(&round, &s->hungry);
        while (!sc_list_empty(&round) && (free_tasks(s) > 0 || free_kib(s) > 0) && out->len < SC_EFFECTS_MAX - 1) {
                struct sched_client *c = SC_CONTAINER(round.next, struct sched_client, hungry);
                raise(s, c, out);
                file(s, c);
        }
        if (!sc_list_empty(&round) && (free_tasks(s) > 0 || free_kib(s) > 0))
                s->grants_freed = s->more = true;
        /* Those not served come first the next time. */
        struct sc_list served;
        sc_list_init(&served);
        sc_list_splice(&served, &s->hungry);
        sc_list_splice(&s->hungry, &round);
        sc_list_splice(&s->hungry, &served);
}
