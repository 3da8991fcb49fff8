/*
 * What a command's environment says of the devices it holds: SCALER_GPU=0,1 for two of a worker's gpus, and for
 * those CUDA_VISIBLE_DEVICES too.  It comes last, so that it counts.
 */
#include "command_env.h"

#include <stdio.h>
#include <string.h>

#include "sc_mem.h"

enum { INDEX_TEXT = 3 * 64, ENTRY_TEXT = sizeof "SCALER_=" + SC_NAME_MAX + INDEX_TEXT };

/* "0,1,5" */
static void print_indices(uint64_t indices, char text[INDEX_TEXT + 1])
{
        size_t len = 0;
        for (unsigned i = 0; i < 64; i++)
                if (indices >> i & 1)
                        len += (size_t)snprintf(text + len, INDEX_TEXT + 1 - len, "%s%u", len > 0 ? "," : "", i);
}

/* The letters of a name large, and what no variable's name may have as _. */
static void print_name(struct sc_view name, char text[SC_NAME_MAX + 1])
{
        const char *from = name.ptr;
        for (size_t i = 0; i < name.len; i++) {
                const char c = from[i];
                text[i]      = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c == '.' || c == '-' ? '_' : c;
        }
        text[name.len] = '\0';
}

static void add(struct sc_command_env *env, const char *name, const char *indices)
{
        char *at                 = env->text + (size_t)env->count * ENTRY_TEXT;
        const int len            = snprintf(at, ENTRY_TEXT, "%s=%s", name, indices);
        env->view[env->count++] = (struct sc_view){ at, (size_t)len };
}

bool sc_command_env_init(struct sc_command_env *env, struct sc_mem *mem, const struct sc_held *held, uint32_t count)
{
        *env             = (struct sc_command_env){ .mem = mem };
        uint32_t entries = 0;
        for (uint32_t i = 0; i < count; i++)
                entries += held[i].indices ? 2 : 0;
        if (entries == 0)
                return true;
        env->size = (size_t)entries * ENTRY_TEXT;
        env->text = sc_mem_alloc(mem, env->size);
        if (!env->text)
                return false;
        for (uint32_t i = 0; i < count; i++) {
                char indices[INDEX_TEXT + 1], name[SC_NAME_MAX + 1], variable[SC_NAME_MAX + sizeof "SCALER_"];
                if (held[i].indices == 0)
                        continue;
                print_indices(held[i].indices, indices);
                print_name(held[i].name, name);
                snprintf(variable, sizeof variable, "SCALER_%s", name);
                add(env, variable, indices);
                if (held[i].name.len == 3 && memcmp(held[i].name.ptr, "gpu", 3) == 0)
                        add(env, "CUDA_VISIBLE_DEVICES", indices);
        }
        return true;
}

void sc_command_env_fini(struct sc_command_env *env)
{
        sc_mem_release(env->mem, env->text, env->size);
}
