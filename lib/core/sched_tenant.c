/*
 * Shares: of tenants among each other, and of clients within their tenant.  A run is charged what its
 * like usually takes when it is placed, and the difference when it ends: what was too little makes
 * virtual time go on, what was too much is a credit for later runs, so virtual time never falls.  Who
 * had nothing ready comes in at the present minimum and has no claim on what it left to others.
 */
#include "sched_state.h"

#include <string.h>

#include "sc_assert.h"

/* ---- shares ------------------------------------------------------------------------------------*/

void sc_sched_share_init(struct sched_share *share, uint32_t weight, uint32_t running_max)
{
        *share = (struct sched_share){ .weight = weight > 0 ? weight : SCHED_WEIGHT, .running_max = running_max };
        sc_list_init(&share->capped);
}

void sc_sched_share_enter(struct sched_share *share, uint64_t clock)
{
        share->credit = 0;
        if (share->time < clock)
                share->time = clock;
}

static void use(struct sched_share *share, uint64_t ns)
{
        const uint64_t step = (uint64_t)share->weight * SCHED_SHARE_UNIT;
        const uint64_t paid = ns < share->credit ? ns : share->credit;
        share->credit -= paid;
        share->rest += ns - paid;
        if (share->rest < step)
                return;
        const uint64_t steps = share->rest / step;
        share->rest -= steps * step;
        share->time = steps < UINT64_MAX - share->time ? share->time + steps : UINT64_MAX;
}

static void give_back(struct sched_share *share, uint64_t ns)
{
        share->credit = ns < UINT64_MAX - share->credit ? share->credit + ns : UINT64_MAX;
}

/* In turn: it was chosen for its share, and not for its age; the clock goes by those. */
void sc_sched_charge(struct sc_sched *s, struct sched_task *t, bool in_turn)
{
        const struct sched_lane *lane     = sc_sched_lane(s, t->lane);
        struct sched_client     *c        = lane->client;
        const uint64_t           expected = (uint64_t)lane->class->function->expected;
        const uint64_t           us       = expected / SC_US > 0 ? expected / SC_US : 1;
        t->charged_us                     = us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
        if (in_turn && s->clock < c->tenant->share.time)
                s->clock = c->tenant->share.time;
        if (in_turn && c->tenant->clock < c->share.time)
                c->tenant->clock = c->share.time;
        use(&c->tenant->share, t->charged_us * (uint64_t)SC_US);
        use(&c->share, t->charged_us * (uint64_t)SC_US);
}

void sc_sched_settle(struct sc_sched *s, struct sched_task *t, sc_ns took)
{
        if (t->client == SCHED_NONE || t->lane == SCHED_NONE)
                return;
        struct sched_client *c       = sc_sched_lane(s, t->lane)->client;
        const uint64_t       charged = t->charged_us * (uint64_t)SC_US;
        const uint64_t       actual  = (uint64_t)took;
        t->charged_us                = 0;
        if (actual > charged) {
                use(&c->tenant->share, actual - charged);
                use(&c->share, actual - charged);
        } else if (actual < charged) {
                give_back(&c->tenant->share, charged - actual);
                give_back(&c->share, charged - actual);
        }
}

static void run_count(struct sc_sched *s, struct sched_share *share, bool more, bool of_tenant)
{
        const bool was_capped = sc_sched_share_capped(share);
        SC_ASSERT(more || share->running > 0);
        share->running += more ? 1 : UINT32_MAX;
        if (was_capped && !sc_sched_share_capped(share))
                sc_sched_uncap(s, share, of_tenant);
}

void sc_sched_running(struct sc_sched *s, struct sched_client *c, bool more)
{
        run_count(s, &c->share, more, false);
        run_count(s, &c->tenant->share, more, true);
}

/* ---- tenants -----------------------------------------------------------------------------------*/

static bool is_named(const struct sched_tenant *tenant, struct sc_view name)
{
        return tenant->name_len == name.len && (name.len == 0 || memcmp(tenant->name, name.ptr, name.len) == 0);
}

static struct sched_tenant *tenant_new(struct sc_sched *s, struct sc_id key, struct sc_view name,
                                       const struct sc_tenant_options *options)
{
        if (!sc_sched_table_reserve(&s->tenants, s->mem) || !sc_map_reserve(&s->tenant_map, s->tenant_map.len + 1))
                return NULL;
        struct sched_tenant *tenant = sc_mem_zalloc(s->mem, sizeof *tenant + name.len);
        if (!tenant)
                return NULL;
        tenant->key        = key;
        tenant->queued_max = options->queued_max;
        tenant->name_len   = (uint8_t)name.len;
        if (name.len > 0)
                memcpy(tenant->name, name.ptr, name.len);
        sc_sched_share_init(&tenant->share, options->weight, options->running_max);
        tenant->same = sc_map_remove(&s->tenant_map, key);
        sc_map_put(&s->tenant_map, key, tenant);
        tenant->self = sc_sched_table_put(&s->tenants, tenant);
        return tenant;
}

static struct sched_tenant *take(struct sc_sched *s, struct sc_view name, const struct sc_tenant_options *options)
{
        struct sc_id         key    = sc_sched_hash(s, name);
        struct sched_tenant *tenant = sc_map_get(&s->tenant_map, key);
        while (tenant && !is_named(tenant, name))
                tenant = tenant->same;
        if (!tenant)
                tenant = tenant_new(s, key, name, options);
        if (tenant)
                tenant->refs++;
        return tenant;
}

struct sched_tenant *sc_sched_tenant_take(struct sc_sched *s, struct sc_view name)
{
        return take(s, name, &s->others);
}

void sc_sched_tenant_drop(struct sc_sched *s, struct sched_tenant *tenant)
{
        SC_ASSERT(tenant->refs > 0);
        if (--tenant->refs > 0)
                return;
        SC_ASSERT(tenant->granted == 0 && tenant->share.running == 0 && sc_list_empty(&tenant->share.capped));
        struct sched_tenant *first = sc_map_remove(&s->tenant_map, tenant->key);
        if (first != tenant) {
                struct sched_tenant *before = first;
                while (before->same != tenant)
                        before = before->same;
                before->same = tenant->same;
        } else {
                first = tenant->same;
        }
        if (first)
                sc_map_put(&s->tenant_map, tenant->key, first);
        sc_sched_table_drop(&s->tenants, tenant->self);
        sc_mem_release(s->mem, tenant, sizeof *tenant + tenant->name_len);
}

/* Those with options of their own are there for ever. */
bool sc_sched_tenants_init(struct sc_sched *s)
{
        SC_ASSERT(s->opt.tenant_count <= SCHED_TENANTS_MAX);
        for (uint32_t i = 0; i < s->opt.tenant_count; i++) {
                const struct sc_tenant_options *options = &s->opt.tenants[i];
                SC_ASSERT(options->name.len <= SC_NAME_MAX && options->weight <= SC_WEIGHT_MAX);
                if (options->name.len == 1 && memcmp(options->name.ptr, "*", 1) == 0)
                        s->others = *options;
                else if (!take(s, options->name, options))
                        return false;
        }
        s->others.name = (struct sc_view){ "", 0 };
        s->opt.tenants = NULL; /* lent for the call */
        return true;
}

void sc_sched_tenants_fini(struct sc_sched *s)
{
        for (uint32_t i = 0; i < s->tenants.len; i++) {
                struct sched_tenant *tenant = s->tenants.at[i];
                if (tenant)
                        sc_mem_release(s->mem, tenant, sizeof *tenant + tenant->name_len);
        }
        sc_sched_table_fini(&s->tenants, s->mem);
        sc_map_fini(&s->tenant_map);
}
