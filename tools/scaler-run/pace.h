/*
 * pace: when the next task may start, by --delay and --max-rate.  A delay is kept between any two starts; a
 * rate makes up for what late looks have cost, but never for more than PACE_SLACK_US.
 */
#ifndef RUN_PACE_H
#define RUN_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define PACE_SLACK_US 10000

struct pace {
        int64_t delay_us, gap_us; /* 0: none */
        int64_t delay_end_us, rate_next_us;
};

void    pace_init(struct pace *p, int64_t delay_ms, int64_t rate_gap_us);
bool    pace_is_on(const struct pace *p);
void    pace_started(struct pace *p, int64_t now_us);
int64_t pace_wait_ms(const struct pace *p, int64_t now_us); /* rounded up; 0: start */

#endif
