/* The entries of a command's environment that name the devices it holds. */
#ifndef SC_COMMAND_ENV_H
#define SC_COMMAND_ENV_H

#include "work.h"

struct sc_command_env {
        struct sc_mem *mem;
        char          *text;
        size_t         size;
        struct sc_view view[2 * SC_AMOUNTS_MAX]; /* "NAME=0,1" */
        uint32_t       count;
};

bool sc_command_env_init(struct sc_command_env *env, struct sc_mem *mem, const struct sc_held *held, uint32_t count);
void sc_command_env_fini(struct sc_command_env *env);

#endif
