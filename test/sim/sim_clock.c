/*
 * Virtual time: one queue of events, one source of chance, one hash of all that happened.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim.h"

void sim_fail(struct sim *w, const char *format, ...)
{
        va_list args;
        va_start(args, format);
        fflush(stdout);
        fprintf(stderr, "seed %" PRIu64 " at %.6f s: ", w->seed, (double)w->now / 1e9);
        vfprintf(stderr, format, args);
        fprintf(stderr, "\n");
        va_end(args);
        abort();
}

uint64_t sim_below(struct sim *w, uint64_t bound)
{
        return bound == 0 ? 0 : sc_rng_below(&w->rng, bound);
}

bool sim_chance(struct sim *w, uint32_t percent)
{
        return sim_below(w, 100) < percent;
}

sc_ns sim_between(struct sim *w, sc_ns low, sc_ns high)
{
        int magnitudes = 0;
        for (sc_ns at = low > 0 ? low : 1; at < high / 2; at *= 2)
                magnitudes++;
        sc_ns top = low > 0 ? low : 1;
        for (uint64_t n = sim_below(w, (uint64_t)magnitudes + 1); n > 0; n--)
                top *= 2;
        const sc_ns value = top + (sc_ns)sim_below(w, (uint64_t)top);
        return value > high ? high : value;
}

void sim_trace(struct sim *w, const char *what, uint64_t a, uint64_t b, uint64_t c)
{
        const uint64_t words[] = { (uint64_t)w->now, (uint64_t)what[0] | (uint64_t)what[1] << 8, a, b, c };
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
                w->hash = (w->hash ^ words[i]) * UINT64_C(0x100000001b3) ^ (w->hash >> 29);
        if (w->trace)
                printf("%.6f %s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", (double)w->now / 1e9, what, a, b, c);
}

struct sim_event *sim_at(struct sim *w, sc_ns at, void (*run)(struct sim *w, struct sim_event *ev))
{
        struct sim_event *ev = calloc(1, sizeof *ev);
        if (ev == NULL || !sc_heap_reserve(&w->events, w->events.len + 1))
                abort();
        ev->at    = at < w->now ? w->now : at;
        ev->order = w->order++;
        ev->run   = run;
        sc_heap_push(&w->events, ev);
        return ev;
}

struct sim_event *sim_at_node(struct sim *w, sc_ns at, uint32_t node, void (*run)(struct sim *w, struct sim_event *ev))
{
        struct sim_event *ev = sim_at(w, at, run);
        ev->node             = node;
        ev->generation       = w->nodes[node].generation;
        return ev;
}

bool sim_event_stale(struct sim *w, const struct sim_event *ev)
{
        const struct sim_node *n = &w->nodes[ev->node];
        return !n->alive || n->generation != ev->generation;
}

bool sim_step(struct sim *w)
{
        struct sim_event *ev = sc_heap_pop(&w->events);
        if (ev == NULL)
                return false;
        w->now = ev->at;
        ev->run(w, ev);
        free(ev);
        return true;
}
