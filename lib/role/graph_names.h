/*
 * Names of the specs of a graph: index of a name, by hashing; no copies.
 */
#ifndef SC_GRAPH_NAMES_H
#define SC_GRAPH_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_mem;

struct sc_names {
        struct sc_mem     *mem;
        const char *const *names;
        uint32_t          *slots; /* index + 1; 0: none */
        size_t             size;  /* a power of two */
};

/* 0; SC_E_NOMEM; or SC_E_EXISTS with the two that have the same name. */
int  sc_names_init(struct sc_names *n, struct sc_mem *mem, const char *const *names, size_t count, size_t twice[2]);
void sc_names_fini(struct sc_names *n);
bool sc_names_find(const struct sc_names *n, const char *name, size_t *out);

#endif
