/* See select.h. */
#include "select.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#define PAGE 256

/* ---- options ---- */

static uint32_t bit_of(const char *(*name)(int32_t), int32_t from, int32_t to, const char *word, size_t size)
{
        for (int32_t i = from; i < to; i++)
                if (strlen(name(i)) == size && memcmp(name(i), word, size) == 0)
                        return 1u << i;
        return 0;
}

/* Words of either kind, parted by commas. */
static int read_states(struct selection *s, const struct program *p)
{
        enum { STATES = 10, STAGE_FIRST = SCALER_STAGE_WAITING, STAGE_LAST = SCALER_STAGE_JOINED };
        for (const char *word = s->state; word; word = strchr(word, ',') ? strchr(word, ',') + 1 : NULL) {
                const size_t   size  = strcspn(word, ",");
                const uint32_t state = bit_of(scaler_task_info_state_name, 0, STATES, word, size);
                const uint32_t stage = bit_of(scaler_stage_name, STAGE_FIRST, STAGE_LAST + 1, word, size);
                if (state == 0 && stage == 0)
                        return program_refuse(p, "--state: '%.*s' is not a state (see scaler-ctl(1))", (int)size, word);
                s->filter.states |= state;
                s->filter.stages |= stage;
        }
        return PROGRAM_GOES_ON;
}

static bool read_number(const char **at, uint64_t *out)
{
        const char *from = *at;
        *out             = 0;
        for (; **at >= '0' && **at <= '9'; (*at)++) {
                const uint64_t digit = (uint64_t)(**at - '0');
                if (*out > (UINT64_MAX - digit) / 10)
                        return false;
                *out = *out * 10 + digit;
        }
        return *at != from;
}

/* "5-90", "5-" or "5". */
static bool read_range(const char *text, uint64_t *first, uint64_t *last)
{
        if (!read_number(&text, first) || *first == 0)
                return false;
        *last = *first;
        if (*text == '\0')
                return true;
        if (*text++ != '-')
                return false;
        *last = 0;
        if (*text == '\0')
                return true;
        return read_number(&text, last) && *text == '\0' && *last >= *first;
}

int selection_read(struct selection *s, const struct program *p)
{
        scaler_init(&s->filter, sizeof s->filter);
        if (s->tag && (!*s->tag || strlen(s->tag) >= SCALER_NAME_MAX))
                return program_refuse(p, "--tag: 1 to %d bytes", SCALER_NAME_MAX - 1);
        if (s->client && (scaler_id_parse(s->client, &s->filter.client) < 0 || s->filter.client.hi != 0 ||
                          s->filter.client.lo == 0))
                return program_refuse(p, "--client: '%s' is not the id of a client (see --json clients)", s->client);
        if (s->range && !read_range(s->range, &s->filter.first, &s->filter.last))
                return program_refuse(p, "--range: '%s' is not A-B, A- or A, numbers of tasks from 1", s->range);
        s->filter.tag    = s->tag;
        s->filter.newest = s->last > 0;
        return read_states(s, p);
}

bool selection_is_fine(const struct selection *s)
{
        return s->state || s->range || s->last > 0;
}

const char *selection_option(const struct selection *s)
{
        if (s->all)
                return "all";
        if (s->tag)
                return "tag";
        if (s->client)
                return "client";
        if (s->state)
                return "state";
        if (s->range)
                return "range";
        return s->last > 0 ? "last" : NULL;
}

/* ---- the newest ---- */

struct newest {
        scaler_task_info *at;
        size_t            count, cap;
};

static int by_age(const void *a, const void *b)
{
        const scaler_task_info *x = a, *y = b;
        if (x->age_ms != y->age_ms)
                return x->age_ms < y->age_ms ? -1 : 1;
        if (x->id.hi != y->id.hi)
                return x->id.hi < y->id.hi ? -1 : 1;
        return x->id.lo > y->id.lo ? -1 : 1;
}

static void newest_add(struct newest *n, const scaler_task_info *rows, size_t count)
{
        if (n->count + count > n->cap) {
                n->cap = 2 * (n->count + count);
                n->at  = memory_grow(n->at, n->cap * sizeof *n->at);
        }
        for (size_t i = 0; i < count; i++)
                n->at[n->count++] = rows[i];
}

/* The newest of one client join those that are known; the oldest of all then go. */
static int newest_of(const struct selection *s, scaler_client *client, int64_t timeout_ms, scaler_id of,
                     struct newest *n)
{
        scaler_task_filter filter = s->filter;
        uint64_t           cursor = 0;
        int64_t            left   = s->last;
        filter.client             = of;
        do {
                scaler_task_info rows[PAGE];
                scaler_init(&rows[0], sizeof rows[0]);
                const int count = scaler_client_tasks_select(client, &filter, &cursor, timeout_ms, rows,
                                                             left < PAGE ? (size_t)left : PAGE);
                if (count < 0)
                        return count;
                newest_add(n, rows, (size_t)count);
                left -= count;
        } while (left > 0 && cursor != 0);
        if (n->count > 0)
                qsort(n->at, n->count, sizeof *n->at, by_age);
        if (n->count > (size_t)s->last)
                n->count = (size_t)s->last;
        return 0;
}

static int newest_of_all(const struct selection *s, scaler_client *client, int64_t timeout_ms, struct newest *n)
{
        uint64_t cursor = 0;
        do {
                scaler_client_info rows[PAGE];
                scaler_init(&rows[0], sizeof rows[0]);
                const int count = scaler_client_clients(client, &cursor, timeout_ms, rows, PAGE);
                if (count < 0)
                        return count;
                for (int i = 0; i < count; i++) {
                        const int status = rows[i].tasks > 0 ? newest_of(s, client, timeout_ms, rows[i].id, n) : 0;
                        if (status < 0)
                                return status;
                }
        } while (cursor != 0);
        return 0;
}

static int walk_newest(const struct selection *s, scaler_client *client, int64_t timeout_ms, const struct selected *to)
{
        struct newest n      = { .at = NULL };
        const int     status = s->client ? newest_of(s, client, timeout_ms, s->filter.client, &n)
                                         : newest_of_all(s, client, timeout_ms, &n);
        for (size_t i = 0; status == 0 && i < n.count; i++)
                to->each(to->ctx, &n.at[i]);
        if (status == 0)
                to->page(to->ctx);
        free(n.at);
        return status;
}

/* ---- all of them ---- */

int selection_walk(const struct selection *s, scaler_client *client, int64_t timeout_ms, const struct selected *to)
{
        uint64_t cursor = 0;
        if (s->last > 0)
                return walk_newest(s, client, timeout_ms, to);
        do {
                scaler_task_info rows[PAGE];
                scaler_init(&rows[0], sizeof rows[0]);
                const int count = scaler_client_tasks_select(client, &s->filter, &cursor, timeout_ms, rows, PAGE);
                if (count < 0)
                        return count;
                for (int i = 0; i < count; i++)
                        to->each(to->ctx, &rows[i]);
                to->page(to->ctx);
        } while (cursor != 0);
        return 0;
}
