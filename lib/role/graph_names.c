/* See graph_names.h. */
#include "graph_names.h"

#include <string.h>

#include "sc_mem.h"
#include "sc_status.h"

static size_t hash(const char *name)
{
        uint64_t h = UINT64_C(0xcbf29ce484222325);
        for (; *name; name++)
                h = (h ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
        return (size_t)(h ^ h >> 32);
}

/* The slot that has it, or the free one where it belongs. */
static uint32_t *slot_of(const struct sc_names *n, const char *name)
{
        size_t at = hash(name) & (n->size - 1);
        while (n->slots[at] != 0 && strcmp(n->names[n->slots[at] - 1], name) != 0)
                at = (at + 1) & (n->size - 1);
        return &n->slots[at];
}

int sc_names_init(struct sc_names *n, struct sc_mem *mem, const char *const *names, size_t count, size_t twice[2])
{
        size_t size = 4;
        while (size < 2 * count)
                size *= 2;
        *n = (struct sc_names){ .mem = mem, .names = names, .size = size };
        n->slots = sc_mem_zalloc(mem, size * sizeof *n->slots);
        if (!n->slots)
                return SC_E_NOMEM;
        for (size_t i = 0; i < count; i++) {
                if (!names[i])
                        continue;
                uint32_t *slot = slot_of(n, names[i]);
                if (*slot != 0) {
                        twice[0] = *slot - 1;
                        twice[1] = i;
                        return SC_E_EXISTS;
                }
                *slot = (uint32_t)i + 1;
        }
        return 0;
}

void sc_names_fini(struct sc_names *n)
{
        if (n->slots)
                sc_mem_release(n->mem, n->slots, n->size * sizeof *n->slots);
        n->slots = NULL;
}

bool sc_names_find(const struct sc_names *n, const char *name, size_t *out)
{
        const uint32_t *slot = slot_of(n, name);
        if (*slot == 0)
                return false;
        *out = *slot - 1;
        return true;
}
