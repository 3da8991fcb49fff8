/*
 * A command as execve wants it: argv, environment and search path in one block of memory, so that
 * the birth of a child allocates nothing.  An environment the command does not touch is shared.
 */
#include <string.h>
#include <unistd.h>

#include "sc_mem.h"
#include "sc_status.h"
#include "spawn_posix_private.h"

static const char default_path[] = "/bin:/usr/bin"; /* what execvp searches when there is no PATH */

struct carver { /* hands out pieces of one block: pointers from the front, bytes behind them */
        char **pointers;
        char  *bytes;
};

static char *carve_text(struct carver *carver, const void *bytes, size_t len)
{
        char *text = carver->bytes;
        if (len > 0)
                memcpy(text, bytes, len);
        text[len] = '\0';
        carver->bytes += len + 1;
        return text;
}

/* ---- the process's environment ----------------------------------------------------------------- */

static void *carve_block(struct sc_mem *mem, size_t pointers, size_t bytes, size_t *size, struct carver *carver)
{
        *size       = pointers * sizeof(char *) + bytes + 1; /* never 0 */
        void *block = sc_mem_alloc(mem, *size);
        if (block)
                *carver = (struct carver){ .pointers = block, .bytes = (char *)block + pointers * sizeof(char *) };
        return block;
}

int sc_environment_copy(struct sc_environment *environment, struct sc_mem *mem)
{
        size_t count = 0, bytes = 0;
        for (char **entry = environ; entry && *entry; entry++, count++)
                bytes += strlen(*entry) + 1;
        struct carver carver;
        environment->block = carve_block(mem, count + 1, bytes, &environment->block_size, &carver);
        if (!environment->block)
                return SC_E_NOMEM;
        environment->entries = carver.pointers;
        environment->count   = count;
        for (size_t i = 0; i < count; i++)
                environment->entries[i] = carve_text(&carver, environ[i], strlen(environ[i]));
        environment->entries[count] = NULL;
        return SC_OK;
}

void sc_environment_fini(struct sc_environment *environment, struct sc_mem *mem)
{
        if (environment->block)
                sc_mem_release(mem, environment->block, environment->block_size);
        environment->block = NULL;
}

/* ---- a changed environment ---------------------------------------------------------------------- */

/* Entries by name: an open hash table of places in `entries`, plus one.  An entry that was replaced or removed is
 * NULL and keeps its place in the table, so later names behind it are still found. */
struct changed {
        char   **entries;
        size_t   count;
        uint32_t *table;
        size_t   mask;
};

static size_t name_len(const char *entry, size_t len)
{
        const char *end = len > 1 ? memchr(entry + 1, '=', len - 1) : NULL;
        return end ? (size_t)(end - entry) : len;
}

static uint32_t hash_name(const char *name, size_t len)
{
        uint32_t hash = 2166136261u;
        for (size_t i = 0; i < len; i++)
                hash = (hash ^ (uint8_t)name[i]) * 16777619u;
        return hash;
}

static bool has_name(const char *entry, const char *name, size_t len)
{
        return entry && strncmp(entry, name, len) == 0 && (entry[len] == '=' || entry[len] == '\0');
}

static void forget(struct changed *changed, const char *name, size_t len)
{
        for (size_t at = hash_name(name, len) & changed->mask; changed->table[at]; at = (at + 1) & changed->mask) {
                char **entry = &changed->entries[changed->table[at] - 1];
                if (has_name(*entry, name, len))
                        *entry = NULL;
        }
}

static void add(struct changed *changed, char *entry, size_t len)
{
        size_t at = hash_name(entry, len) & changed->mask;
        while (changed->table[at])
                at = (at + 1) & changed->mask;
        changed->entries[changed->count++] = entry;
        changed->table[at]                 = (uint32_t)changed->count;
}

static void apply(struct changed *changed, struct carver *carver, const struct sc_view *entry)
{
        const size_t whole = entry->len > 0 ? strnlen(entry->ptr, entry->len) : 0;
        if (whole == 0)
                return;
        const size_t len = name_len(entry->ptr, whole);
        forget(changed, entry->ptr, len);
        if (len < whole)
                add(changed, carve_text(carver, entry->ptr, whole), len);
}

static void compact(struct changed *changed)
{
        size_t kept = 0;
        for (size_t i = 0; i < changed->count; i++)
                if (changed->entries[i])
                        changed->entries[kept++] = changed->entries[i];
        changed->entries[kept] = NULL;
}

/* ---- the whole ---------------------------------------------------------------------------------- */

struct plan { /* how much room each part takes */
        size_t argv, env, table; /* pointers, pointers, places */
        size_t bytes;
};

static bool keeps_environment(const struct sc_command *command)
{
        return command->envc == 0 && (command->flags & SC_COMMAND_CLEAR_ENV) == 0;
}

static struct plan plan(const struct sc_command *command, const struct sc_environment *environment)
{
        struct plan plan = { .argv = (size_t)command->argc + 6, .bytes = command->cwd.len + command->input.len + 2 };
        plan.bytes += sizeof "sh" + sizeof "-c" + sizeof "/bin/sh";
        for (uint32_t i = 0; i < command->argc; i++)
                plan.bytes += command->argv[i].len + 1;
        if (keeps_environment(command))
                return plan;
        for (uint32_t i = 0; i < command->envc; i++)
                plan.bytes += command->env[i].len + 1;
        const size_t entries = environment->count + command->envc;
        plan.env             = entries + 1;
        for (plan.table = 16; plan.table < entries * 2;)
                plan.table *= 2;
        return plan;
}

static void fill_argv(struct sc_exec *exec, struct carver *carver, const struct sc_command *command)
{
        static const char *const shell[] = { "sh", "-c" };
        size_t count = 0;
        exec->argv   = carver->pointers + 1;
        if (command->flags & SC_COMMAND_SHELL)
                for (; count < 2; count++)
                        exec->argv[count] = carve_text(carver, shell[count], 2);
        for (uint32_t i = 0; i < command->argc; i++) {
                exec->argv[count++] = carve_text(carver, command->argv[i].ptr, command->argv[i].len);
                if (i == 0 && (command->flags & SC_COMMAND_SHELL))
                        exec->argv[count++] = exec->argv[0]; /* "$0" is sh, then come the arguments */
        }
        if (command->argc == 0)
                exec->argv[count++] = carve_text(carver, "", 0); /* no program has that name */
        exec->argv[count] = NULL;
}

static void fill_env(struct sc_exec *exec, struct carver *carver, char **entries, uint32_t *table, size_t table_len,
                     const struct sc_environment *environment, const struct sc_command *command)
{
        struct changed changed = { .entries = entries, .table = table, .mask = table_len - 1 };
        memset(table, 0, table_len * sizeof *table);
        if ((command->flags & SC_COMMAND_CLEAR_ENV) == 0)
                for (size_t i = 0; i < environment->count; i++)
                        add(&changed, environment->entries[i],
                            name_len(environment->entries[i], strlen(environment->entries[i])));
        for (uint32_t i = 0; i < command->envc; i++)
                apply(&changed, carver, &command->env[i]);
        compact(&changed);
        exec->env = entries;
}

static const char *search_path(char *const *env)
{
        for (; *env; env++)
                if (strncmp(*env, "PATH=", 5) == 0)
                        return *env + 5;
        return default_path;
}

int sc_exec_init(struct sc_exec *exec, struct sc_mem *mem, const struct sc_environment *environment,
                 const struct sc_command *command)
{
        const struct plan room = plan(command, environment);
        struct carver     carver;
        *exec       = (struct sc_exec){ .env = environment->entries };
        exec->block = carve_block(mem, room.argv + room.env, room.table * sizeof(uint32_t) + room.bytes,
                                  &exec->block_size, &carver);
        if (!exec->block)
                return SC_E_NOMEM;
        char    **entries = carver.pointers + room.argv;
        uint32_t *table   = (uint32_t *)(void *)carver.bytes; /* directly behind the pointers, so aligned */
        carver.bytes += room.table * sizeof *table;
        fill_argv(exec, &carver, command);
        if (!keeps_environment(command))
                fill_env(exec, &carver, entries, table, room.table, environment, command);
        exec->file = command->flags & SC_COMMAND_SHELL ? carve_text(&carver, "/bin/sh", 7) : exec->argv[0];
        exec->path = strchr(exec->file, '/') ? NULL : search_path(exec->env);
        if (command->cwd.len > 0)
                exec->cwd = carve_text(&carver, command->cwd.ptr, command->cwd.len);
        if (command->input.len > 0)
                exec->input = carve_text(&carver, command->input.ptr, command->input.len);
        exec->input_len = command->input.len;
        exec->nice      = (long)command->nice;
        return SC_OK;
}

void sc_exec_fini(struct sc_exec *exec, struct sc_mem *mem)
{
        if (exec->block)
                sc_mem_release(mem, exec->block, exec->block_size);
        exec->block = NULL;
}
