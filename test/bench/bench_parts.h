/*
 * What the benches of several processes share: the parts of a cluster, each this same program run again in
 * a role, and the load a client puts on it.  Only scaler.h is seen.  A part says "ready" when it is, ends
 * when its leash is closed, and may report on descriptor 3 when it was given one.
 */
#ifndef BENCH_PARTS_H
#define BENCH_PARTS_H

#include <scaler.h>
#include <stdint.h>
#include <sys/types.h>

enum { BENCH_PATIENCE_MS = 60000, BENCH_WARM_UP = 1000, BENCH_REPORT_FD = 3, BENCH_URL_MAX = 256 };

struct bench_part { /* another process of ours */
        pid_t pid;
        int   leash; /* it ends when this is closed */
};

/* Ends this program with words when status is a failure. */
void bench_check(const char *what, int status, const scaler_error *err);

/* Before anything of the library is touched.  `line` gets its last line before "ready"; argument NULL: none. */
struct bench_part bench_part_start(const char *role, const char *url, const char *argument, int report,
                                   char line[BENCH_URL_MAX]);
/* Gives the processor time of its whole life, user and system. */
uint64_t bench_part_end(const struct bench_part *part);
void     bench_ready(void); /* says so, and waits for the leash */

/* Where a scheduler may listen, in a directory of our own that goes with this process. */
void bench_url(const char *over, char url[BENCH_URL_MAX]);

void bench_be_scheduler(const char *url);
/* Created and started; runtime NULL: one of its own. */
scaler_worker *bench_worker(const char *url, scaler_runtime *runtime, int slots, const char *name, scaler_task_fn fn);
int            bench_noop(scaler_task *task, void *ctx);
void           bench_be_worker(const char *url, int slots); /* offers "noop" */

scaler_client *bench_connect(const char *url, int64_t pending_max); /* linked; 0: the usual */
void           bench_submit(scaler_client *client, const char *function, scaler_queue *queue, scaler_future **out);
/* `count` times "noop", at most `window` under way. */
void bench_run_window(scaler_client *client, long count, long window);

uint64_t bench_cpu_ns(pid_t pid); /* of another process so far, user and system */
void     bench_raise_descriptors(void);

#endif
