/*
 * plugin: shared objects that register functions with a worker before it starts.  They stay loaded: their
 * functions may run until the process ends.
 */
#ifndef TOOLS_PLUGIN_H
#define TOOLS_PLUGIN_H

#include <scaler.h>

#include "option.h"

/* false: a line on stderr says which one and why. */
bool plugins_load(const struct program *p, scaler_worker *worker, const struct option_list *files);

#endif
