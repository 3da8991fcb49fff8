/*
 * json: a writer, not a tree: what it adds is complete when the caller closes its brackets.
 */
#include "json.h"

#include <inttypes.h>
#include <string.h>

static void add_control(struct text *t, unsigned char c)
{
        static const char short_form[] = "\bb\ff\nn\rr\tt\"\"\\\\";
        static const char digits[]     = "0123456789abcdef";
        for (const char *at = short_form; *at; at += 2) {
                if ((unsigned char)*at == c) {
                        text_add_char(t, '\\');
                        text_add_char(t, at[1]);
                        return;
                }
        }
        const char long_form[] = { '\\', 'u', '0', '0', digits[c >> 4], digits[c & 15] };
        text_add(t, long_form, sizeof long_form);
}

static bool is_plain(unsigned char c)
{
        return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

void json_escaped(struct text *t, const void *bytes, size_t size)
{
        const unsigned char *at = bytes;
        for (size_t i = 0; i < size;) {
                size_t plain = 0;
                while (i + plain < size && is_plain(at[i + plain]))
                        plain++;
                text_add(t, at + i, plain);
                i += plain;
                if (i == size)
                        break;
                size_t length = utf8_length(at + i, size - i);
                if (length == 0)
                        text_add_string(t, "\\ufffd");
                else if (length == 1)
                        add_control(t, at[i]);
                else
                        text_add(t, at + i, length);
                i += length ? length : 1;
        }
}

void json_string(struct text *t, const void *bytes, size_t size)
{
        text_add_char(t, '"');
        json_escaped(t, bytes, size);
        text_add_char(t, '"');
}

void json_base64(struct text *t, const void *bytes, size_t size)
{
        static const char    digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        const unsigned char *at       = bytes;
        for (size_t i = 0; i < size; i += 3) {
                size_t   left  = size - i < 3 ? size - i : 3;
                unsigned group = (unsigned)at[i] << 16;
                if (left > 1)
                        group |= (unsigned)at[i + 1] << 8;
                if (left > 2)
                        group |= (unsigned)at[i + 2];
                char out[4] = { digits[group >> 18], digits[(group >> 12) & 63], '=', '=' };
                if (left > 1)
                        out[2] = digits[(group >> 6) & 63];
                if (left > 2)
                        out[3] = digits[group & 63];
                text_add(t, out, sizeof out);
        }
}

void json_key(struct text *t, const char *key)
{
        char last = t->size ? t->data[t->size - 1] : '{';
        if (last != '{')
                text_add_char(t, ',');
        text_print(t, "\"%s\":", key);
}

void json_add_string(struct text *t, const char *key, const char *value)
{
        json_key(t, key);
        json_string(t, value, strlen(value));
}

void json_add_uint(struct text *t, const char *key, uint64_t value)
{
        json_key(t, key);
        text_print(t, "%" PRIu64, value);
}

void json_add_bool(struct text *t, const char *key, bool value)
{
        json_key(t, key);
        text_add_string(t, value ? "true" : "false");
}
