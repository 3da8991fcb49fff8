/*
 * The bytes as arguments and as a command.  What is unpacked can be packed again and comes back.
 */
#include <string.h>

#include "body.h"
#include "fuzz.h"
#include "sc_assert.h"
#include "sc_buf.h"
#include "sc_mem.h"

static void as_args(struct sc_mem *mem, struct sc_view body)
{
        struct sc_view args[SC_ARGS_MAX];
        struct sc_buf  buf;
        uint32_t       count, again;
        if (sc_body_unpack_args(body, args, SC_ARGS_MAX, &count) != 0)
                return;
        sc_buf_init(&buf, mem, SC_BODY_MAX);
        SC_ASSERT(sc_body_pack_args(&buf, args, count) == 0);
        SC_ASSERT(sc_body_unpack_args((struct sc_view){ buf.data, buf.len }, args, SC_ARGS_MAX, &again) == 0);
        SC_ASSERT(again == count);
        sc_buf_fini(&buf);
}

static void pack_again(struct sc_mem *mem, const struct sc_command *command)
{
        struct sc_buf     buf;
        struct sc_command back;
        sc_buf_init(&buf, mem, SC_BODY_MAX);
        SC_ASSERT(sc_body_pack_command(&buf, command) == 0);
        SC_ASSERT(sc_body_unpack_command((struct sc_view){ buf.data, buf.len }, &back, NULL, NULL) == 0);
        SC_ASSERT(back.argc == command->argc && back.envc == command->envc && back.flags == command->flags);
        sc_buf_fini(&buf);
}

static void as_command(struct sc_mem *mem, struct sc_view body)
{
        struct sc_command command;
        if (sc_body_unpack_command(body, &command, NULL, NULL) != 0)
                return;
        const uint32_t  argc = command.argc, envc = command.envc;
        struct sc_view *argv = sc_mem_array(mem, argc, sizeof(*argv));
        struct sc_view *env  = sc_mem_array(mem, envc, sizeof(*env));
        SC_ASSERT(argv && (env || envc == 0));
        SC_ASSERT(sc_body_unpack_command(body, &command, argv, env) == 0);
        SC_ASSERT(command.argc == argc && command.envc == envc);
        pack_again(mem, &command);
        sc_mem_release(mem, env, envc * sizeof(*env));
        sc_mem_release(mem, argv, argc * sizeof(*argv));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
        struct sc_mem        mem;
        const struct sc_view body = { bytes, len };
        sc_mem_init_libc(&mem);
        as_args(&mem, body);
        as_command(&mem, body);
        SC_ASSERT(atomic_load(&mem.used) == 0);
        return 0;
}
