/*
 * json: adds JSON to a text.  A string that is not UTF-8 cannot be one: callers ask first and choose
 * base64 under a key of its own.
 */
#ifndef TOOLS_JSON_H
#define TOOLS_JSON_H

#include <stdint.h>

#include "text.h"

void json_string(struct text *t, const void *bytes, size_t size);  /* with quotes; broken bytes become U+FFFD */
void json_escaped(struct text *t, const void *bytes, size_t size); /* without quotes */
void json_base64(struct text *t, const void *bytes, size_t size);  /* without quotes; padded unless size % 3 is 0 */

/* `"key":` with a comma before it unless it comes first in its object. */
void json_key(struct text *t, const char *key);
void json_add_string(struct text *t, const char *key, const char *value);
void json_add_uint(struct text *t, const char *key, uint64_t value);
void json_add_bool(struct text *t, const char *key, bool value);

#endif
