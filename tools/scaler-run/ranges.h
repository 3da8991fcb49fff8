/*
 * ranges: a set of numbers as the ranges it consists of.  Numbers that come in order take the room of one.
 */
#ifndef RUN_RANGES_H
#define RUN_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
        uint64_t first, last;
};

struct ranges {
        struct range *items;
        size_t        count, room;
};

void ranges_add(struct ranges *r, uint64_t number);
void ranges_settle(struct ranges *r); /* after the last add, before the first question */
bool ranges_have(const struct ranges *r, uint64_t number);
void ranges_free(struct ranges *r);

#endif
