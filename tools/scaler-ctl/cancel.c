/* See cancel.h. */
#include "cancel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which ---- */

struct ids {
        scaler_id *at;
        size_t     count, cap;
};

static void keep_id(void *ctx, const scaler_task_info *task)
{
        struct ids *ids = ctx;
        if (ids->count == ids->cap) {
                ids->cap = ids->cap ? 2 * ids->cap : 64;
                ids->at  = memory_grow(ids->at, ids->cap * sizeof *ids->at);
        }
        ids->at[ids->count++] = task->id;
}

static void no_page(void *ctx)
{
        (void)ctx;
}

enum { UNFINISHED = 1 << SCALER_STAGE_WAITING | 1 << SCALER_STAGE_READY | 1 << SCALER_STAGE_ASSIGNED |
                    1 << SCALER_STAGE_RECALLING | 1 << SCALER_STAGE_CANCELLING | 1 << SCALER_STAGE_BACKOFF |
                    1 << SCALER_STAGE_JOINED };

/* The unfinished ones, unless states are named. */
static int find(const struct show *s, const struct selection *which, struct ids *ids)
{
        struct selection      unfinished = *which;
        const struct selected to         = { .each = keep_id, .page = no_page, .ctx = ids };
        if (!which->state)
                unfinished.filter.stages = UNFINISHED;
        return selection_walk(&unfinished, s->client, s->timeout_ms, &to);
}

static int newest(const struct show *s, scaler_id *out)
{
        struct selection last = { .last = 1, .filter = s->selection->filter };
        struct ids       ids  = { .at = NULL };
        last.filter.newest    = true;
        int status            = find(s, &last, &ids);
        if (status == 0 && ids.count == 0)
                status = SCALER_E_NOT_FOUND;
        if (status == 0)
                *out = ids.at[0];
        free(ids.at);
        return status;
}

/* ---- one by one ---- */

/* One line; *worst becomes the worst outcome. */
static int cancel_one(const struct show *s, bool force, scaler_id id, int *worst)
{
        static const char *const outcomes[] = { "canceled", "cancel-failed", "cancel-not-found" };
        char                     text[SCALER_ID_TEXT_MAX];
        const int outcome = scaler_client_cancel(s->client, id, force ? SCALER_CANCEL_FORCE : 0, s->timeout_ms);
        if (outcome < 0)
                return outcome;
        *worst = outcome > *worst ? outcome : *worst;
        printf(s->json ? "{\"id\":\"%s\",\"outcome\":\"%s\"}\n" : "%s %s\n", scaler_id_format(id, text),
               outcomes[outcome > SCALER_CANCEL_NOT_FOUND ? SCALER_CANCEL_FAILED : outcome]);
        return 0;
}

static int cancel_ids(const struct show *s, bool force, const struct option_list *words, size_t first)
{
        int worst = 0;
        for (size_t i = first; i < words->count; i++) {
                scaler_id id;
                int       status = 0;
                if (strcmp(words->items[i], "last") == 0)
                        status = newest(s, &id);
                else
                        scaler_id_parse(words->items[i], &id);
                if (status == 0)
                        status = cancel_one(s, force, id, &worst);
                if (status < 0)
                        return status;
        }
        return worst;
}

/* ---- by what they are ---- */

static int cancel_many(const struct show *s, bool force)
{
        scaler_selector selector;
        uint64_t        count = 0;
        scaler_init(&selector, sizeof selector);
        selector.tag     = s->selection->tag;
        selector.client  = s->selection->filter.client;
        const int status = scaler_client_cancel_many(s->client, &selector, force ? SCALER_CANCEL_FORCE : 0,
                                                     s->timeout_ms, &count);
        if (status == 0 && s->json)
                printf("{\"cancelled\":%" PRIu64 "}\n", count);
        else if (status == 0)
                printf("%" PRIu64 " tasks cancelled or told to stop\n", count);
        return status;
}

/* All are found before the first is cancelled, so that what comes meanwhile is left alone. */
static int cancel_selected(const struct show *s, bool force)
{
        struct ids ids    = { .at = NULL };
        int        worst  = 0;
        int        status = find(s, s->selection, &ids);
        for (size_t i = 0; status == 0 && i < ids.count; i++)
                status = cancel_one(s, force, ids.at[i], &worst);
        free(ids.at);
        return status < 0 ? status : worst;
}

int cancel(const struct show *s, bool force, const struct option_list *words, size_t first)
{
        if (first < words->count)
                return cancel_ids(s, force, words, first);
        return selection_is_fine(s->selection) ? cancel_selected(s, force) : cancel_many(s, force);
}
