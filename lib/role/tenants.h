/* What a scheduler's options say of tenants and of who gets a task, checked. */
#ifndef SC_TENANTS_H
#define SC_TENANTS_H

#include "runtime.h"
#include "sc_sched.h"

enum { SC_TENANTS_MAX = 1024 };

/* *out: an array of tenant_count that the caller releases, names lent by the options; NULL when there are none. */
int sc_tenants_read(struct sc_mem *mem, const scaler_scheduler_options *o, struct sc_tenant_options **out,
                    scaler_error *err);
int sc_allocate_read(const char *text, uint8_t *out, scaler_error *err);

#endif
