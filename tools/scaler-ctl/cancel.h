/*
 * cancel: tasks by their ids, with an outcome each; all that one request can name, with their number; or
 * those that a selection picks out, one by one.
 */
#ifndef TOOLS_CTL_CANCEL_H
#define TOOLS_CTL_CANCEL_H

#include "show.h"

/* A status, or the worst scaler_cancel_outcome.  words from `first` on are ids, or "last". */
int cancel(const struct show *s, bool force, const struct option_list *words, size_t first);

#endif
