/*
 * Nets without memory: whichever allocation fails, there is one clear status or a link that ends, and
 * nothing is left.  Both ends live on one loop, so all allocations happen in turns and can be counted.
 */
#include <pthread.h>
#include <string.h>

#include "fail_mem.h"
#include "net_mem.h"
#include "net_nng.h"
#include "certs.h"
#include "node.h"
#include "run_tests.h"
#include "sc_status.h"

static struct fail_mem  fail;
static struct sc_loop  *loop;
static struct sc_net   *net;
static pthread_mutex_t  lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t   changed = PTHREAD_COND_INITIALIZER;
static int              events; /* ends of what was begun: a frame came, or it went wrong */

static void event(void)
{
        pthread_mutex_lock(&lock);
        events++;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
}

/* The dialling end sends one frame of 20,000 bytes, for which the other has to grow its buffer. */
static void *up(void *ctx, struct sc_conn *conn, struct sc_listener *listener, uint64_t ticket)
{
        struct sc_buf frame;
        (void)ctx;
        (void)ticket;
        if (listener)
                return &events;
        sc_buf_init(&frame, &fail.mem, SIZE_MAX);
        if (!sc_buf_reserve(&frame, 20000)) {
                event();
                return NULL;
        }
        frame_fill(frame.data, 20000, 0);
        frame.len = 20000;
        net->ops->send(conn, &frame);
        sc_buf_fini(&frame);
        return &events;
}

static void frame(void *ctx, void *user, const uint8_t *bytes, size_t len)
{
        (void)ctx;
        (void)user;
        (void)bytes;
        ck_assert_uint_eq(len, 20000);
        event();
}

static void writable(void *ctx, void *user)
{
        (void)ctx;
        (void)user;
}

static void down(void *ctx, void *user, int status, const char *why)
{
        (void)ctx;
        (void)user;
        ck_assert_int_lt(status, 0);
        ck_assert_uint_gt(strlen(why), 0);
        event();
}

static void dial_failed(void *ctx, uint64_t ticket, int status, const char *why)
{
        (void)ticket;
        down(ctx, NULL, status, why);
}

static const struct sc_net_upcalls upcalls = { up, frame, writable, down, dial_failed, NULL };

static int secure(void)
{
        char                cert[CERT_PATH_MAX], key[CERT_PATH_MAX], ca[CERT_PATH_MAX];
        struct sc_why       why;
        const struct sc_tls tls = { .cert_file = cert_path("address.pem", cert),
                                    .key_file  = cert_path("address.key", key),
                                    .ca_file   = cert_path("ca.pem", ca) };
        return sc_net_nng_secure(net, &tls, &why);
}

static int begin(int kind)
{
        struct sc_listener *listener;
        char                bound[SC_URL_MAX + 1];
        struct sc_why       why;
        const char         *url    = kind == KIND_TCP   ? "tcp://127.0.0.1:0"
                                     : kind == KIND_TLS ? "tls+tcp://127.0.0.1:0"
                                                        : "inproc://no-memory";
        int                 status = kind == KIND_MEM ? sc_net_mem_create(&fail.mem, loop, &upcalls, NULL, &net)
                                                      : sc_net_nng_create(&fail.mem, loop, &upcalls, NULL, &net);
        if (status == 0 && kind == KIND_TLS)
                status = secure();
        if (status == 0)
                status = net->ops->listen(net, url, &listener, bound, &why);
        if (status == 0)
                status = net->ops->dial(net, bound, 1, &why);
        return status;
}

static void wait_for_an_end(void)
{
        struct timespec until;
        int             late = 0;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 60;
        pthread_mutex_lock(&lock);
        while (events == 0 && late == 0)
                late = pthread_cond_timedwait(&changed, &lock, &until);
        ck_assert_int_gt(events, 0);
        pthread_mutex_unlock(&lock);
}

START_TEST(whichever_allocation_fails_nothing_is_left)
{
        for (size_t n = 1;; n++) {
                fail_mem_init(&fail, n);
                events = 0;
                net    = NULL;
                if (sc_loop_create(&(struct sc_loop_options){ .mem = &fail.mem }, &loop) == 0) {
                        sc_loop_hold(loop);
                        int status = begin(_i);
                        sc_loop_release(loop);
                        ck_assert(status == 0 || status == SC_E_NOMEM);
                        if (status == 0)
                                wait_for_an_end();
                        sc_loop_hold(loop);
                        if (net)
                                net->ops->destroy(net);
                        sc_loop_release(loop);
                        sc_loop_destroy(loop);
                }
                ck_assert_uint_eq(fail_mem_leaks(&fail), 0);
                if (!fail_mem_hit(&fail))
                        break;
        }
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("no memory");
        tcase_add_loop_test(tests, whichever_allocation_fails_nothing_is_left, KIND_TCP, KIND_TCP + 1);
        tcase_add_loop_test(tests, whichever_allocation_fails_nothing_is_left, KIND_MEM, KINDS);
        certs_make();
        const int result = run_tests("memory", tests);
        certs_remove();
        return result;
}
