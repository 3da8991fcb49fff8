/*
 * A scheduler's tenants: from the caller's array, whose stride is the first one's size, to the core's.
 */
#include "tenants.h"

#include <string.h>

static int refuse(scaler_error *err, size_t index, const char *what)
{
        return sc_error_set(err, SC_E_INVALID, "scheduler: tenant %zu: %s", index, what);
}

static int check_number(int64_t value, int64_t most, const char *name, size_t index, scaler_error *err)
{
        if (value >= 0 && value <= most)
                return 0;
        return sc_error_set(err, SC_E_INVALID, "scheduler: tenant %zu: %s %lld is not within 0 and %lld", index, name,
                            (long long)value, (long long)most);
}

static bool same(struct sc_view a, struct sc_view b)
{
        return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0;
}

static int read_one(const scaler_tenant *t, size_t index, struct sc_tenant_options *out, scaler_error *err)
{
        const char *name   = t->name ? t->name : "";
        int         status = check_number(t->weight, SC_WEIGHT_MAX, "weight", index, err);
        if (!status)
                status = check_number(t->queued_max, UINT32_MAX / 4, "queued_max", index, err);
        if (!status)
                status = check_number(t->running_max, UINT32_MAX, "running_max", index, err);
        if (!status && strlen(name) > SC_NAME_MAX)
                status = refuse(err, index, "the name is longer than 127 bytes");
        if (status)
                return status;
        *out = (struct sc_tenant_options){
                .name        = { name, strlen(name) },
                .weight      = (uint32_t)t->weight,
                .queued_max  = (uint32_t)t->queued_max,
                .running_max = (uint32_t)t->running_max,
        };
        return 0;
}

static int read_all(const scaler_scheduler_options *o, struct sc_tenant_options *out, scaler_error *err)
{
        for (size_t i = 0; i < o->tenant_count; i++) {
                const void   *at = (const char *)o->tenants + i * o->tenants->size;
                scaler_tenant t;
                if (((const scaler_tenant *)at)->size != o->tenants->size || !sc_sized_in(&t, sizeof t, at))
                        return refuse(err, i, "its size is 0, absurd or not that of tenant 0");
                const int status = read_one(&t, i, &out[i], err);
                if (status)
                        return status;
                for (size_t k = 0; k < i; k++)
                        if (same(out[k].name, out[i].name))
                                return refuse(err, i, "another one has its name");
        }
        return 0;
}

int sc_tenants_read(struct sc_mem *mem, const scaler_scheduler_options *o, struct sc_tenant_options **out,
                    scaler_error *err)
{
        *out = NULL;
        if (o->tenant_count > SC_TENANTS_MAX)
                return sc_error_set(err, SC_E_INVALID, "scheduler: %zu tenants; at most %d it may have",
                                    o->tenant_count, SC_TENANTS_MAX);
        if (o->tenant_count && !o->tenants)
                return sc_error_set(err, SC_E_INVALID, "scheduler: tenant_count without tenants");
        if (o->tenant_count == 0)
                return 0;
        struct sc_tenant_options *all = sc_mem_array(mem, o->tenant_count, sizeof *all);
        if (!all)
                return sc_error_set(err, SC_E_NOMEM, "scheduler: out of memory");
        const int status = read_all(o, all, err);
        if (status)
                sc_mem_release(mem, all, o->tenant_count * sizeof *all);
        else
                *out = all;
        return status;
}

int sc_allocate_read(const char *text, uint8_t *out, scaler_error *err)
{
        static const char *names[] = { [SC_ALLOCATE_SPREAD]     = "spread",
                                       [SC_ALLOCATE_EVEN_LOAD]  = "even_load",
                                       [SC_ALLOCATE_CAPABILITY] = "capability" };
        *out                       = SC_ALLOCATE_SPREAD;
        for (uint8_t i = 0; text && i < sizeof names / sizeof names[0]; i++)
                if (strcmp(text, names[i]) == 0) {
                        *out = i;
                        return 0;
                }
        if (!text)
                return 0;
        return sc_error_set(err, SC_E_INVALID, "scheduler: allocate \"%.40s\" is not spread, even_load or capability",
                            text);
}
