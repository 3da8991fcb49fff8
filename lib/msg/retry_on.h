/*
 * Which failures of its own a task is tried again after: "1,70-79,timeout,signal".  Parts with a comma between
 * them, no blanks.  A number or a range of numbers is what a function failed with or a command's exit code; words are
 * `timeout` (ran longer than it may), `signal` (a command ended by one), `limit` (another limit of the task) and
 * `not_started`.  An empty list stands for all of them.
 */
#ifndef SC_RETRY_ON_H
#define SC_RETRY_ON_H

#include "msg.h"

/* Whether it is such a list of at most SC_RETRY_ON_MAX bytes; if not, *wrong (NULL: nobody asks) is the part that is
 * not, or the whole text when that is too long. */
bool sc_retry_on_is_good(struct sc_view text, struct sc_view *wrong);
/* Whether a run that ended so, and not by success, cancel or loss, is one of them.  `text` is good. */
bool sc_retry_on_has(struct sc_view text, const struct sc_outcome *outcome);

#endif
