/*
 * What a task's `body` holds: the arguments of a function, or a command.  The scheduler carries it
 * unread; client and worker agree on it here.  msgpack with small integer keys, like all else.
 */
#ifndef SC_BODY_H
#define SC_BODY_H

#include "msg.h"

struct sc_buf;

enum { SC_ARGS_MAX = 131072, SC_ARGV_MAX = 131072, SC_ENV_MAX = 65536, SC_NICE_MAX = 19 };

/* An argument that is a result of another task: it is not in the body. */
#define SC_ARG_RESULT ((struct sc_view){ NULL, SIZE_MAX })
static inline bool sc_arg_is_result(struct sc_view arg)
{
        return !arg.ptr && arg.len == SIZE_MAX;
}

/* 0, SC_E_NOMEM, SC_E_TOO_BIG. */
int sc_body_pack_args(struct sc_buf *buf, const struct sc_view *args, uint32_t count);
/* 0 with *count set and min(*count, max) views filled; SC_E_PROTOCOL.  max 0: only counts. */
int sc_body_unpack_args(struct sc_view body, struct sc_view *args, uint32_t max, uint32_t *count);

enum {
        SC_COMMAND_CLEAR_ENV = 1, /* start from an empty environment */
        SC_COMMAND_SHELL     = 2, /* argv[0] is a script for /bin/sh -c; argv[1..] are its "$1" ... */
        SC_COMMAND_MERGE     = 4  /* stderr goes where stdout goes */
};

struct sc_command {
        uint32_t flags;
        uint64_t output_max;         /* bytes of both outputs together; beyond: reason `limit`; 0: no limit */
        struct sc_view cwd;          /* empty: the worker's */
        struct sc_view input;        /* bytes on stdin; empty: /dev/null */
        const struct sc_view *argv;  /* argc >= 1; each without a NUL inside */
        uint32_t              argc;
        const struct sc_view *env;   /* "NAME=value" sets, "NAME" alone removes */
        uint32_t              envc;
        uint32_t              nice;  /* added to the worker's niceness, at most SC_NICE_MAX */
};

int sc_body_pack_command(struct sc_buf *buf, const struct sc_command *command);
/* Two passes: with argv and env NULL it checks everything and sets argc and envc; then again with
 * out->argv and out->env pointing to arrays of that size (cast away const inside).  0 or SC_E_PROTOCOL. */
int sc_body_unpack_command(struct sc_view body, struct sc_command *out, struct sc_view *argv, struct sc_view *env);

#endif
