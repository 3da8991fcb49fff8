/*
 * explain: why a task is where it is and why a worker gets nothing, for people or as one JSON object.
 * A status; SCALER_E_NOT_FOUND when there is none such.
 */
#ifndef TOOLS_CTL_EXPLAIN_H
#define TOOLS_CTL_EXPLAIN_H

#include "show.h"

int explain_task(const struct show *s, scaler_id task); /* as scaler_client_explain() takes it */
int explain_worker(const struct show *s, const char *name); /* name or id; all that are called so */

#endif
