/*
 * text: bytes that grow at the end, for messages, rows and JSON.  A tool without memory can do nothing
 * useful, so running out of it ends the program here and no caller checks.  The owner frees the text.
 */
#ifndef TOOLS_TEXT_H
#define TOOLS_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct text {
        char  *data; /* terminated whenever not NULL */
        size_t size;
        size_t room;
};

/* Bytes of somebody else. */
struct span {
        const char *data;
        size_t      size;
};

void text_add(struct text *t, const void *bytes, size_t size);
void text_add_string(struct text *t, const char *string);
void text_add_char(struct text *t, char c);
void text_print(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_print_va(struct text *t, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
void text_clear(struct text *t);
void text_free(struct text *t);

/* For people: control characters and broken UTF-8 become \xNN, and what is longer than size_max is cut. */
void text_add_shown(struct text *t, const void *bytes, size_t size, size_t size_max);

/* Length of the valid UTF-8 sequence at bytes[0], or 0. */
size_t utf8_length(const unsigned char *bytes, size_t size);

void *memory_grow(void *ptr, size_t size);         /* realloc() or the end of the program */
char *memory_copy(const void *bytes, size_t size); /* with a terminator */

#endif
