/*
 * What few specs ask for, checked and brought to the form that travels; and amounts as people write them,
 * which specs need and workers offer.
 */
#ifndef SC_PLAN_H
#define SC_PLAN_H

#include "amounts.h"
#include "scaler.h"

struct sc_plan_draft {
        bool           asked; /* false: for nothing, and the rest is not filled */
        struct sc_plan plan;  /* its texts are the spec's, but for `needs` */
        char           needs[SC_AMOUNTS_TEXT + 1];
};

/* Checks the rules of scaler.h for priority, needs, tag, times and retry_on. */
int sc_plan_read(const scaler_spec *spec, size_t index, struct sc_plan_draft *out, scaler_error *err);
/* How many bytes sc_plan_keep() takes, a plan first and so aligned for one; 0 for none. */
size_t sc_plan_size(const struct sc_plan *plan);
/* Copies it and its texts there. */
const struct sc_plan *sc_plan_keep(const struct sc_plan *plan, void *room);

/* The canonical form of `text`, NULL being an empty one; or SC_E_INVALID with words that begin with `subject` and name
 * the part that is wrong. */
int sc_amounts_take(const char *text, const char *subject, char canonical[SC_AMOUNTS_TEXT + 1], struct sc_view *out,
                    scaler_error *err);

#endif
