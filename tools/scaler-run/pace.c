/*
 * pace: two times, neither of which may lie ahead.
 */
#include "pace.h"

#define LOOK_US 2000 /* how late a look may be */

void pace_init(struct pace *p, int64_t delay_ms, int64_t rate_gap_us)
{
        *p = (struct pace){ .delay_us = delay_ms * 1000, .gap_us = rate_gap_us };
}

bool pace_is_on(const struct pace *p)
{
        return p->delay_us > 0 || p->gap_us > 0;
}

void pace_started(struct pace *p, int64_t now_us)
{
        int64_t slack   = p->gap_us < PACE_SLACK_US ? PACE_SLACK_US : LOOK_US;
        int64_t base    = p->rate_next_us == 0 ? now_us : p->rate_next_us;
        p->delay_end_us = now_us + p->delay_us;
        p->rate_next_us = (base > now_us - slack ? base : now_us - slack) + p->gap_us;
}

int64_t pace_wait_ms(const struct pace *p, int64_t now_us)
{
        if (!pace_is_on(p))
                return 0;
        int64_t next = p->delay_end_us;
        if (p->gap_us > 0 && p->rate_next_us > next)
                next = p->rate_next_us;
        return next > now_us ? (next - now_us + 999) / 1000 : 0;
}
