/*
 * The plan of a specification as the map it travels as, by the table of fields.h.  Apart from the codec, which
 * has none to pack or unpack for most tasks and shall not grow for the few.
 */
#ifndef SC_PLAN_MAP_H
#define SC_PLAN_MAP_H

#include "cursor.h"

bool     sc_plan_map_is_empty(const struct sc_plan *plan); /* asks for nothing: NULL, or all zero and empty */
size_t   sc_plan_map_bound(const struct sc_plan *plan);
uint8_t *sc_plan_map_put(uint8_t *at, const struct sc_plan *plan);
/* Texts are lent by the cursor's bytes; its amounts are canonical and its list of failures is one.  Its results are
 * passed over: where they are, or NULL.  They are read by the two below. */
bool     sc_plan_map_get(struct sc_cursor *c, struct sc_plan *plan, struct sc_view *results);
bool     sc_plan_results_count(struct sc_cursor *c, uint32_t *count);
bool     sc_plan_results_get(struct sc_cursor *c, struct sc_view *out, uint32_t count);

extern const char sc_not_canonical[]; /* what is said of amounts that are not */
bool              sc_amounts_are_canonical(struct sc_view text);

#endif
