/*
 * ranges: grows the last range while numbers are near it; settling sorts and joins the rest.
 */
#include "ranges.h"

#include <stdlib.h>

#include "text.h"

void ranges_add(struct ranges *r, uint64_t number)
{
        struct range *last = r->count ? &r->items[r->count - 1] : NULL;
        if (last && number >= last->first && number <= last->last)
                return;
        if (last && number == last->last + 1) {
                last->last++;
                return;
        }
        if (r->count == r->room) {
                r->room  = r->room ? r->room * 2 : 16;
                r->items = memory_grow(r->items, r->room * sizeof *r->items);
        }
        r->items[r->count++] = (struct range){ number, number };
}

static int compare(const void *a, const void *b)
{
        const struct range *left = a, *right = b;
        return (left->first > right->first) - (left->first < right->first);
}

void ranges_settle(struct ranges *r)
{
        size_t kept = 0;
        if (r->count > 1)
                qsort(r->items, r->count, sizeof *r->items, compare);
        for (size_t i = 1; i < r->count; i++) {
                struct range *to = &r->items[kept];
                if (r->items[i].first > to->last && r->items[i].first - to->last > 1)
                        r->items[++kept] = r->items[i];
                else if (r->items[i].last > to->last)
                        to->last = r->items[i].last;
        }
        if (r->count > 0)
                r->count = kept + 1;
}

bool ranges_have(const struct ranges *r, uint64_t number)
{
        size_t from = 0, to = r->count;
        while (from < to) {
                size_t middle = from + (to - from) / 2;
                if (r->items[middle].last < number)
                        from = middle + 1;
                else
                        to = middle;
        }
        return from < r->count && r->items[from].first <= number;
}

void ranges_free(struct ranges *r)
{
        free(r->items);
        *r = (struct ranges){ 0 };
}
