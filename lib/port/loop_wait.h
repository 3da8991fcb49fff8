/*
 * What a host-driven loop waits on: one epoll descriptor over an eventfd (somebody posted) and a
 * timerfd (a deadline is due).  Threads: wait and arm by whoever holds the token, ring from any.
 */
#ifndef SC_LOOP_WAIT_H
#define SC_LOOP_WAIT_H

#include "sc_time.h"

struct sc_loop_wait {
        int   epoll, event, timer; /* -1: none */
        sc_ns armed;               /* what the timer is set to */
};

int  sc_loop_wait_init(struct sc_loop_wait *wait); /* 0, SC_E_IO */
void sc_loop_wait_fini(struct sc_loop_wait *wait);
void sc_loop_wait_ring(struct sc_loop_wait *wait);
void sc_loop_wait_clear(struct sc_loop_wait *wait); /* takes the ring back */
void sc_loop_wait_arm(struct sc_loop_wait *wait, sc_ns due);
void sc_loop_wait_until(struct sc_loop_wait *wait, sc_ns due); /* readable, or `due` on the monotonic clock */

#endif
