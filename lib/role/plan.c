/*
 * From the fields of a spec that few callers set to a plan.  Each field has one error of its own, which names the spec
 * and the field, and of a list the part that is wrong.
 */
#include "plan.h"

#include <stdio.h>
#include <string.h>

#include "retry_on.h"
#include "runtime.h"

enum { PART_SHOWN = 40 }; /* bytes of a wrong part in an error */

/* ---- amounts ---------------------------------------------------------------------------------------------- */

static int wrong_amounts(const char *subject, struct sc_view part, const char *why, scaler_error *err)
{
        const int shown = part.len < PART_SHOWN ? (int)part.len : PART_SHOWN;
        return sc_error_set(err, SC_E_INVALID, "%s \"%.*s\"%s: %s", subject, shown, (const char *)part.ptr,
                            part.len > PART_SHOWN ? "..." : "", why);
}

/* The part that is wrong by itself, or else all of it. */
static struct sc_view wrong_part(struct sc_view text)
{
        struct sc_amount amounts[SC_AMOUNTS_MAX];
        const char      *at = text.ptr, *why;
        uint32_t         count;
        for (;;) {
                const size_t         len  = strcspn(at, ",");
                const struct sc_view part = { at, len };
                if (len == 0 || sc_amounts_read(part, amounts, &count, &why) != 0)
                        return part;
                if (at[len] == '\0')
                        return text;
                at += len + 1;
        }
}

int sc_amounts_take(const char *text, const char *subject, char canonical[SC_AMOUNTS_TEXT + 1], struct sc_view *out,
                    scaler_error *err)
{
        struct sc_amount     amounts[SC_AMOUNTS_MAX];
        const struct sc_view all = { text ? text : "", text ? strlen(text) : 0 };
        uint32_t             count;
        const char          *why;
        if (sc_amounts_read(all, amounts, &count, &why) != 0)
                return wrong_amounts(subject, wrong_part(all), why, err);
        const size_t len = sc_amounts_write(amounts, count, canonical);
        if (len == SIZE_MAX)
                return wrong_amounts(subject, all, "the list is too long: 511 bytes it may have in all", err);
        *out = (struct sc_view){ canonical, len };
        return 0;
}

/* ---- the plan --------------------------------------------------------------------------------------------- */

static int invalid(scaler_error *err, size_t index, const char *what)
{
        return sc_error_set(err, SC_E_INVALID, "spec %zu: %s", index, what);
}

static int check_time(int64_t value, int64_t most, const char *name, size_t index, scaler_error *err)
{
        if (value < 0)
                return sc_error_set(err, SC_E_INVALID, "spec %zu: %s is negative", index, name);
        if (value > most)
                return sc_error_set(err, SC_E_INVALID, "spec %zu: %s is above %lld", index, name, (long long)most);
        return 0;
}

static int check_times(const scaler_spec *s, size_t index, scaler_error *err)
{
        int status = check_time(s->not_before_ms, INT64_MAX, "not_before_ms", index, err);
        if (!status)
                status = check_time(s->queue_timeout_ms, INT64_MAX, "queue_timeout_ms", index, err);
        if (!status)
                status = check_time(s->deadline_ms, INT64_MAX, "deadline_ms", index, err);
        if (!status)
                status = check_time(s->backoff_ms, UINT32_MAX, "backoff_ms", index, err);
        if (!status)
                status = check_time(s->backoff_max_ms, UINT32_MAX, "backoff_max_ms", index, err);
        return status;
}

static struct sc_view view_of(const char *text)
{
        return (struct sc_view){ text, text ? strlen(text) : 0 };
}

static int check_retry_on(struct sc_view text, size_t index, scaler_error *err)
{
        struct sc_view wrong;
        if (sc_retry_on_is_good(text, &wrong))
                return 0;
        if (text.len > SC_RETRY_ON_MAX)
                return invalid(err, index, "retry_on is longer than 127 bytes");
        return sc_error_set(err, SC_E_INVALID,
                            "spec %zu: retry_on \"%.*s\": a part is a number, a range like 70-79, timeout, signal, "
                            "limit or not_started",
                            index, (int)wrong.len, (const char *)wrong.ptr);
}

static bool asks(const scaler_spec *s)
{
        return s->needs || s->tag || s->retry_on || s->key || s->not_before_ms || s->queue_timeout_ms ||
               s->deadline_ms || s->backoff_ms || s->backoff_max_ms;
}

static int read_texts(const scaler_spec *s, size_t index, struct sc_plan_draft *out, scaler_error *err)
{
        char subject[40];
        snprintf(subject, sizeof subject, "spec %zu: needs", index);
        const int status = sc_amounts_take(s->needs, subject, out->needs, &out->plan.needs, err);
        if (status)
                return status;
        out->plan.tag      = view_of(s->tag);
        out->plan.retry_on = view_of(s->retry_on);
        out->plan.key      = view_of(s->key);
        if (out->plan.tag.len > SC_NAME_MAX)
                return invalid(err, index, "tag is longer than 127 bytes");
        if (s->key && (out->plan.key.len == 0 || out->plan.key.len > SC_NAME_MAX))
                return invalid(err, index, "key must have 1 to 127 bytes");
        return check_retry_on(out->plan.retry_on, index, err);
}

int sc_plan_read(const scaler_spec *s, size_t index, struct sc_plan_draft *out, scaler_error *err)
{
        out->asked = asks(s);
        if (s->priority < -SC_PRIORITY_MAX || s->priority > SC_PRIORITY_MAX)
                return invalid(err, index, "priority is not within -1,000 and 1,000");
        if (!out->asked)
                return 0;
        int status = check_times(s, index, err);
        if (status)
                return status;
        out->plan = (struct sc_plan){
                .not_before_ms  = (uint64_t)s->not_before_ms,
                .queue_ms       = (uint64_t)s->queue_timeout_ms,
                .deadline_ms    = (uint64_t)s->deadline_ms,
                .backoff_ms     = (uint32_t)s->backoff_ms,
                .backoff_max_ms = (uint32_t)s->backoff_max_ms,
        };
        return read_texts(s, index, out, err);
}

/* ---- kept ------------------------------------------------------------------------------------------------- */

size_t sc_plan_size(const struct sc_plan *plan)
{
        return plan ? sizeof *plan + plan->needs.len + plan->tag.len + plan->retry_on.len + plan->key.len : 0;
}

static struct sc_view keep(struct sc_view text, char **at)
{
        const struct sc_view kept = { *at, text.len };
        if (text.len > 0)
                memcpy(*at, text.ptr, text.len);
        *at += text.len;
        return kept;
}

const struct sc_plan *sc_plan_keep(const struct sc_plan *plan, void *room)
{
        struct sc_plan *kept = room;
        char           *at   = (char *)(kept + 1);
        *kept                = *plan;
        kept->needs          = keep(plan->needs, &at);
        kept->tag            = keep(plan->tag, &at);
        kept->retry_on       = keep(plan->retry_on, &at);
        kept->key            = keep(plan->key, &at);
        return kept;
}
