/*
 * Bodies: arguments are {1: [bytes or nil ...]}, and no bytes at all when there are none; a command is a map
 * of seven keys.  Sizes are computed first, so that a body is appended whole or not at all.
 */
#include "body.h"

#include <string.h>

#include "cursor.h"
#include "sc_assert.h"
#include "sc_buf.h"
#include "sc_status.h"

enum { KEY_ARGS = 1 };
enum { KEY_FLAGS = 1, KEY_OUTPUT_MAX, KEY_CWD, KEY_INPUT, KEY_ARGV, KEY_ENV, KEY_NICE };
enum { FLAGS_ALL = SC_COMMAND_CLEAR_ENV | SC_COMMAND_SHELL | SC_COMMAND_MERGE };

/* ---- arrays of bytes ---------------------------------------------------------------------------- */

/* Grows *size by what an array takes with its key; false once that passes a body's limit. */
static bool add_array(size_t *size, const struct sc_view *items, uint32_t count)
{
        *size += 1 + sc_size_count(count);
        for (uint32_t i = 0; i < count && *size <= SC_BODY_MAX; i++) {
                const bool result = sc_arg_is_result(items[i]);
                if (!result && items[i].len > SC_BODY_MAX)
                        return false;
                *size += result ? 1 : sc_size_bytes(items[i].len);
        }
        return *size <= SC_BODY_MAX;
}

static uint8_t *put_array(uint8_t *at, uint8_t key, const struct sc_view *items, uint32_t count)
{
        *at = key;
        at  = sc_put_array(at + 1, count);
        for (uint32_t i = 0; i < count; i++)
                at = sc_arg_is_result(items[i]) ? sc_put_nil(at) : sc_put_bytes(at, items[i]);
        return at;
}

static bool no_nul(struct sc_view view)
{
        return view.len == 0 || !memchr(view.ptr, 0, view.len);
}

static bool fit_for_argv(struct sc_view item)
{
        return no_nul(item);
}

static bool fit_for_env(struct sc_view item)
{
        return item.len > 0 && *(const char *)item.ptr != '=' && no_nul(item);
}

static bool fit_for_args(struct sc_view item)
{
        (void)item;
        return true;
}

typedef bool (*fit_fn)(struct sc_view item);

/* Bytes, or for arguments nil. */
static bool get_item(struct sc_cursor *c, fit_fn fit, struct sc_view *out)
{
        if (fit == fit_for_args && sc_get_nil(c)) {
                *out = SC_ARG_RESULT;
                return true;
        }
        return sc_get_bytes(c, out);
}

/* An array of at most `limit` fit items; the first `max` go to `out`. */
static bool get_array(struct sc_cursor *c, fit_fn fit, uint32_t limit, struct sc_view *out, uint32_t max,
                      uint32_t *count)
{
        uint32_t n;
        if (!sc_get_array(c, &n))
                return false;
        if (n > limit)
                return sc_get_fail(c, "too many items");
        for (uint32_t i = 0; i < n; i++) {
                struct sc_view item;
                if (!get_item(c, fit, &item))
                        return false;
                if (!fit(item))
                        return sc_get_fail(c, "an item that no command can have");
                if (i < max)
                        out[i] = item;
        }
        *count = n;
        return true;
}

/* The bytes of a body to read; none of them is not NULL. */
static struct sc_cursor cursor_of(struct sc_view body)
{
        const uint8_t *at = body.len > 0 ? body.ptr : (const uint8_t *)"";
        return (struct sc_cursor){ .at = at, .end = at + body.len };
}

static int reserve(struct sc_buf *buf, size_t size)
{
        if (sc_buf_reserve(buf, size))
                return 0;
        return size > buf->max - buf->len ? SC_E_TOO_BIG : SC_E_NOMEM;
}

/* ---- arguments ---------------------------------------------------------------------------------- */

int sc_body_pack_args(struct sc_buf *buf, const struct sc_view *args, uint32_t count)
{
        size_t size = 1;
        if (count == 0)
                return 0;
        if (count > SC_ARGS_MAX || !add_array(&size, args, count))
                return SC_E_TOO_BIG;
        const int status = reserve(buf, size);
        if (status != 0)
                return status;
        uint8_t *at = buf->data + buf->len;
        at          = put_array(sc_put_map(at, 1), KEY_ARGS, args, count);
        buf->len += size;
        SC_ASSERT(at == buf->data + buf->len);
        return 0;
}

int sc_body_unpack_args(struct sc_view body, struct sc_view *args, uint32_t max, uint32_t *count)
{
        struct sc_cursor c     = cursor_of(body);
        struct sc_keys   keys  = { 0, 0 };
        uint32_t         pairs = 0, found = 0;
        if (body.len > SC_BODY_MAX || (body.len > 0 && !sc_get_map(&c, &pairs)))
                return SC_E_PROTOCOL;
        for (uint32_t i = 0; i < pairs; i++) {
                uint8_t key;
                if (!sc_get_key(&c, &keys, &key))
                        return SC_E_PROTOCOL;
                if (!(key == KEY_ARGS ? get_array(&c, fit_for_args, SC_ARGS_MAX, args, max, &found) : sc_get_skip(&c)))
                        return SC_E_PROTOCOL;
        }
        if (c.at != c.end)
                return SC_E_PROTOCOL;
        *count = found;
        return 0;
}

/* ---- commands ----------------------------------------------------------------------------------- */

static bool all_fit(const struct sc_view *items, uint32_t count, fit_fn fit)
{
        for (uint32_t i = 0; i < count; i++)
                if (!fit(items[i]))
                        return false;
        return true;
}

/* 0 with the exact size, SC_E_INVALID or SC_E_TOO_BIG. */
static int command_size(const struct sc_command *k, size_t *out)
{
        if (k->argc < 1 || (k->flags & ~(uint32_t)FLAGS_ALL) != 0 || !no_nul(k->cwd) ||
            k->nice > SC_NICE_MAX)
                return SC_E_INVALID;
        if (k->argc > SC_ARGV_MAX || k->envc > SC_ENV_MAX || k->input.len > SC_BODY_MAX || k->cwd.len > SC_BODY_MAX)
                return SC_E_TOO_BIG;
        if (!all_fit(k->argv, k->argc, fit_for_argv) || !all_fit(k->env, k->envc, fit_for_env))
                return SC_E_INVALID;
        size_t size = 1;
        size += k->flags ? 1 + sc_size_uint(k->flags) : 0;
        size += k->output_max ? 1 + sc_size_uint(k->output_max) : 0;
        size += k->cwd.len ? 1 + sc_size_bytes(k->cwd.len) : 0;
        size += k->input.len ? 1 + sc_size_bytes(k->input.len) : 0;
        if (!add_array(&size, k->argv, k->argc))
                return SC_E_TOO_BIG;
        if (k->envc > 0 && !add_array(&size, k->env, k->envc))
                return SC_E_TOO_BIG;
        size += k->nice ? 1 + sc_size_uint(k->nice) : 0;
        if (size > SC_BODY_MAX)
                return SC_E_TOO_BIG;
        *out = size;
        return 0;
}

/* Both write the key before the value is looked at: argv, which always follows, has room for it. */
static uint8_t *put_number(uint8_t *at, uint8_t key, uint64_t value)
{
        *at = key;
        return value > 0 ? sc_put_uint(at + 1, value) : at;
}

static uint8_t *put_view(uint8_t *at, uint8_t key, struct sc_view view)
{
        *at = key;
        return view.len > 0 ? sc_put_bytes(at + 1, view) : at;
}

int sc_body_pack_command(struct sc_buf *buf, const struct sc_command *k)
{
        size_t size;
        int    status = command_size(k, &size);
        if (status == 0)
                status = reserve(buf, size);
        if (status != 0)
                return status;
        const uint32_t pairs = 1u + (k->flags > 0) + (k->output_max > 0) + (k->cwd.len > 0) + (k->input.len > 0) +
                               (k->envc > 0) + (k->nice > 0);
        uint8_t *at = sc_put_map(buf->data + buf->len, pairs);
        at          = put_number(at, KEY_FLAGS, k->flags);
        at          = put_number(at, KEY_OUTPUT_MAX, k->output_max);
        at          = put_view(at, KEY_CWD, k->cwd);
        at          = put_view(at, KEY_INPUT, k->input);
        at          = put_array(at, KEY_ARGV, k->argv, k->argc);
        if (k->envc > 0)
                at = put_array(at, KEY_ENV, k->env, k->envc);
        if (k->nice > 0)
                at = put_number(at, KEY_NICE, k->nice);
        buf->len += size;
        SC_ASSERT(at == buf->data + buf->len);
        return 0;
}

/* The value of one key of a command, known or not. */
static bool get_value(struct sc_cursor *c, uint8_t key, struct sc_command *k, struct sc_view *argv, struct sc_view *env)
{
        uint64_t flags, nice;
        switch (key) {
        case KEY_FLAGS:
                if (!sc_get_uint(c, &flags))
                        return false;
                k->flags = (uint32_t)(flags & FLAGS_ALL);
                return flags <= FLAGS_ALL || sc_get_fail(c, "unknown flags");
        case KEY_OUTPUT_MAX:
                return sc_get_uint(c, &k->output_max);
        case KEY_CWD:
                return sc_get_bytes(c, &k->cwd) && (no_nul(k->cwd) || sc_get_fail(c, "a directory with a NUL"));
        case KEY_INPUT:
                return sc_get_bytes(c, &k->input);
        case KEY_ARGV:
                return get_array(c, fit_for_argv, SC_ARGV_MAX, argv, argv ? SC_ARGV_MAX : 0, &k->argc);
        case KEY_ENV:
                return get_array(c, fit_for_env, SC_ENV_MAX, env, env ? SC_ENV_MAX : 0, &k->envc);
        case KEY_NICE:
                if (!sc_get_uint(c, &nice))
                        return false;
                k->nice = (uint32_t)(nice & 0xff);
                return nice <= SC_NICE_MAX || sc_get_fail(c, "a niceness beyond the limit");
        default:
                return sc_get_skip(c);
        }
}

int sc_body_unpack_command(struct sc_view body, struct sc_command *out, struct sc_view *argv, struct sc_view *env)
{
        struct sc_cursor  c    = cursor_of(body);
        struct sc_keys    keys = { 0, 0 };
        struct sc_command k    = { .argv = argv, .env = env };
        uint32_t          pairs;
        if (body.len == 0 || body.len > SC_BODY_MAX || !sc_get_map(&c, &pairs))
                return SC_E_PROTOCOL;
        for (uint32_t i = 0; i < pairs; i++) {
                uint8_t key;
                if (!sc_get_key(&c, &keys, &key) || !get_value(&c, key, &k, argv, env))
                        return SC_E_PROTOCOL;
        }
        if (c.at != c.end || k.argc < 1)
                return SC_E_PROTOCOL;
        *out = k;
        return 0;
}
