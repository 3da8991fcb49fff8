/*
 * progress: one line at the bottom of the terminal.  It is drawn when something has happened, at most ten
 * times a second, and taken away before anything else is printed.
 */
#ifndef RUN_PROGRESS_H
#define RUN_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "settings.h"

struct progress {
        bool     enabled;
        bool     lines; /* no terminal: each time a line of its own, less often */
        bool     eta;   /* told even while it is not known */
        bool     colour;
        bool     shown;
        bool     changed;
        int64_t  start_ms, drawn_ms;
        uint64_t ended, failed, total; /* total 0: not known yet */
};

int64_t clock_ms(void); /* monotonic */
int64_t clock_us(void);

void    progress_init(struct progress *p, const struct settings *s);
void    progress_set(struct progress *p, uint64_t ended, uint64_t failed, uint64_t total);
void    progress_hide(struct progress *p);
void    progress_draw(struct progress *p, int64_t now_ms);
void    progress_finish(struct progress *p); /* the last line, or none */
int64_t progress_wait_ms(const struct progress *p, int64_t now_ms); /* until draw has something to do; -1: nothing */

#endif
