/*
 * tenant: "NAME:weight=2000,queued=5000,running=16" as a tenant of a scheduler.  An empty NAME stands for clients that
 * name none, * for every tenant not listed.
 */
#ifndef TOOLS_TENANT_H
#define TOOLS_TENANT_H

#include <scaler.h>

#include "option.h"

/* An array as long as the list; names are its own, too.  NULL after one line on stderr that names the wrong part. */
scaler_tenant *tenants_read(const struct program *p, const struct option_list *asked);
void           tenants_free(scaler_tenant *tenants, size_t count);

#endif
