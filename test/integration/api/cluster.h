/*
 * What the API tests share: a cluster in this process with some functions, and short names for what
 * every test does.  Only scaler.h is seen.
 */
#ifndef CLUSTER_H
#define CLUSTER_H

#include <check.h>

#include "scaler.h"

enum { WAIT_MS = 20000 }; /* far above what anything here takes, even under a sanitizer */

/*
 * echo       returns its first argument
 * fail       fails with code 7, words "as asked" and its first argument as detail
 * code       returns the int32 in its first argument as its code
 * block      runs until cancelled or released; then returns 0 when released, 1 when cancelled
 * stubborn   runs until released, whatever is asked of it
 * attempt    returns its attempt as text; fails below the int32 in its first argument
 * defer      defers, and completes from another thread with the int32 in its first argument
 * hasty      completes itself though it was not deferred
 * log        logs the line "as asked"
 * aligned    fails with the number of the first argument that is not aligned for every type
 * big        returns as many bytes as its first argument says
 */
struct cluster {
        scaler_runtime *rt;
        scaler_local   *local;
        scaler_client  *client;
        struct gate    *gate; /* of block and stubborn */
};

void cluster_up(struct cluster *c, int slots);
void cluster_up_with(struct cluster *c, int slots, const scaler_runtime_options *options);
void cluster_down(struct cluster *c);
void cluster_release(struct cluster *c);              /* block and stubborn return */
void cluster_await_running(struct cluster *c, int n); /* until n of them have begun */
void cluster_functions(struct cluster *c, int (*add)(void *to, const scaler_function *f), void *to);

scaler_future *submit(scaler_client *client, const char *function, const void *arg, size_t size);
scaler_future *submit_spec(scaler_client *client, const scaler_spec *spec);
scaler_future *submit_command(scaler_client *client, const char *const *argv, uint32_t flags);
void           expect_bytes(scaler_future *f, const void *bytes, size_t size); /* waits; unrefs */
void           expect_text(scaler_future *f, const char *text);
void           expect_failure(scaler_future *f, int status, int reason, int code); /* waits; keeps the reference */

int run_suite(const char *name, TCase *tests); /* an exit code; without forking, as nng wants */

#endif
