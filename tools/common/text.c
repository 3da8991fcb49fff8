/*
 * text: growable bytes of the tools, and the one place where they run out of memory.
 */
#include "text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_NO_MEMORY 255

void *memory_grow(void *ptr, size_t size)
{
        void *grown = realloc(ptr, size ? size : 1);
        if (!grown) {
                fputs("scaler: out of memory\n", stderr);
                exit(EXIT_NO_MEMORY);
        }
        return grown;
}

char *memory_copy(const void *bytes, size_t size)
{
        char *copy = memory_grow(NULL, size + 1);
        if (size)
                memcpy(copy, bytes, size);
        copy[size] = '\0';
        return copy;
}

static void reserve(struct text *t, size_t more)
{
        if (t->room - t->size > more)
                return;
        size_t room = t->room ? t->room : 64;
        while (room - t->size <= more)
                room *= 2;
        t->data = memory_grow(t->data, room);
        t->room = room;
}

void text_add(struct text *t, const void *bytes, size_t size)
{
        reserve(t, size);
        if (size)
                memcpy(t->data + t->size, bytes, size);
        t->size += size;
        t->data[t->size] = '\0';
}

void text_add_string(struct text *t, const char *string)
{
        text_add(t, string, strlen(string));
}

void text_add_char(struct text *t, char c)
{
        text_add(t, &c, 1);
}

void text_print_va(struct text *t, const char *format, va_list args)
{
        va_list again;
        va_copy(again, args);
        int size = vsnprintf(NULL, 0, format, args);
        if (size > 0) {
                reserve(t, (size_t)size + 1);
                vsnprintf(t->data + t->size, (size_t)size + 1, format, again);
                t->size += (size_t)size;
        }
        va_end(again);
}

void text_print(struct text *t, const char *format, ...)
{
        va_list args;
        va_start(args, format);
        text_print_va(t, format, args);
        va_end(args);
}

void text_clear(struct text *t)
{
        t->size = 0;
        if (t->data)
                t->data[0] = '\0';
}

void text_free(struct text *t)
{
        free(t->data);
        *t = (struct text){ 0 };
}

static size_t sequence_length(unsigned char lead)
{
        if (lead < 0x80)
                return 1;
        if (lead >= 0xc2 && lead <= 0xdf)
                return 2;
        if (lead >= 0xe0 && lead <= 0xef)
                return 3;
        return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
}

/* Overlong forms, surrogates and numbers past U+10FFFF all show in the second byte. */
static bool second_is_fine(unsigned char lead, unsigned char second)
{
        if (lead == 0xe0)
                return second >= 0xa0;
        if (lead == 0xed)
                return second <= 0x9f;
        if (lead == 0xf0)
                return second >= 0x90;
        return lead != 0xf4 || second <= 0x8f;
}

size_t utf8_length(const unsigned char *bytes, size_t size)
{
        size_t length = size ? sequence_length(bytes[0]) : 0;
        if (length == 0 || length > size)
                return 0;
        for (size_t i = 1; i < length; i++)
                if ((bytes[i] & 0xc0) != 0x80)
                        return 0;
        return length > 1 && !second_is_fine(bytes[0], bytes[1]) ? 0 : length;
}

void text_add_shown(struct text *t, const void *bytes, size_t size, size_t size_max)
{
        const unsigned char *at    = bytes;
        size_t               shown = size < size_max ? size : size_max;
        for (size_t i = 0; i < shown;) {
                size_t length = utf8_length(at + i, size - i);
                if (length == 0 || (length == 1 && (at[i] < 0x20 || at[i] == 0x7f))) {
                        text_print(t, "\\x%02x", (unsigned)at[i]);
                        i++;
                } else {
                        text_add(t, at + i, length);
                        i += length;
                }
        }
        if (shown < size)
                text_add_string(t, "...");
}
