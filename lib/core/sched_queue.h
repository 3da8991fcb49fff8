/*
 * Queues of rows, linked by index.  The queue that its state puts a row on hangs on AT; the rows of a client, or all
 * orphans, on MINE.
 */
#ifndef SC_SCHED_QUEUE_H
#define SC_SCHED_QUEUE_H

#include <stdint.h>

enum sched_link_pair { SCHED_AT, SCHED_MINE, SCHED_PAIRS };

struct sched_pair {
        uint32_t next, prev;
};

struct sched_queue {
        uint32_t head, tail, len;
};

#endif
