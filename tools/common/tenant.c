/* tenant: the last colon ends the name; what follows are limits, each once. */
#include "tenant.h"

#include <stdlib.h>
#include <string.h>

#include "text.h"

#define WEIGHT_MAX 1000000
#define TASKS_MAX  1073741823

static int64_t *limit_of(scaler_tenant *t, const char *word, size_t size, int64_t *most)
{
        struct {
                const char *name;
                int64_t    *target;
                int64_t     most;
        } limits[] = { { "weight", &t->weight, WEIGHT_MAX },
                       { "queued", &t->queued_max, TASKS_MAX },
                       { "running", &t->running_max, UINT32_MAX } };
        for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
                if (strlen(limits[i].name) == size && memcmp(limits[i].name, word, size) == 0) {
                        *most = limits[i].most;
                        return limits[i].target;
                }
        return NULL;
}

/* One "name=number". */
static bool read_limit(scaler_tenant *t, const char *item)
{
        const char *equals = strchr(item, '=');
        int64_t     most = 0, value = 0;
        int64_t    *target = equals ? limit_of(t, item, (size_t)(equals - item), &most) : NULL;
        if (!target || *target != 0 || !option_read_count(equals + 1, &value) || value < 1 || value > most)
                return false;
        *target = value;
        return true;
}

static bool read_limits(const struct program *p, scaler_tenant *t, const char *asked, const char *limits)
{
        bool good = true;
        for (const char *at = limits; good; at++) {
                const size_t size = strcspn(at, ",");
                char        *item = memory_copy(at, size);
                good              = read_limit(t, item);
                if (!good)
                        program_refuse(p, "--tenant: '%s': '%s' is not weight=N (1 to %d), queued=N (1 to %d) or "
                                       "running=N (1 to %u), each once",
                                       asked, item, WEIGHT_MAX, TASKS_MAX, (unsigned)UINT32_MAX);
                free(item);
                at += size;
                if (*at == '\0')
                        break;
        }
        return good;
}

static bool read_tenant(const struct program *p, const char *asked, scaler_tenant *t)
{
        const char *colon = strrchr(asked, ':');
        scaler_init(t, sizeof *t);
        if (!colon) {
                program_refuse(p, "--tenant: '%s' is not NAME:weight=N,queued=N,running=N", asked);
                return false;
        }
        t->name = memory_copy(asked, (size_t)(colon - asked));
        return read_limits(p, t, asked, colon + 1);
}

scaler_tenant *tenants_read(const struct program *p, const struct option_list *asked)
{
        scaler_tenant *all  = memory_grow(NULL, (asked->count + 1) * sizeof *all);
        bool           good = true;
        memset(all, 0, (asked->count + 1) * sizeof *all);
        for (size_t i = 0; i < asked->count && good; i++)
                good = read_tenant(p, asked->items[i], &all[i]);
        if (good)
                return all;
        tenants_free(all, asked->count);
        return NULL;
}

void tenants_free(scaler_tenant *tenants, size_t count)
{
        for (size_t i = 0; tenants && i < count; i++)
                free((char *)(uintptr_t)tenants[i].name);
        free(tenants);
}
