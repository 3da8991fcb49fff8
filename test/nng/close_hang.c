/*
 * Closing a busy REQ socket of nng 1.5.2 hangs in about half of all trials (nng pull request 1636,
 * fixed in 1.6).  A REQ and a REP socket talk over ipc until the REQ side is closed in the middle;
 * ten trials, each given two seconds.
 */
#include <pthread.h>
#include <string.h>
#include <time.h>

#include <nng/nng.h>
#include <nng/protocol/reqrep0/rep.h>
#include <nng/protocol/reqrep0/req.h>

#include "verdict.h"

enum { CONTEXTS = 16, TRIALS = 10, LIMIT_S = 2 };

struct asker {
        nng_ctx  ctx;
        nng_aio *aio;
        bool     receiving;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t  cond = PTHREAD_COND_INITIALIZER;
static bool            closed;
static int             answers;

static void ask(struct asker *asker)
{
        nng_msg *msg;
        need("message", nng_msg_alloc(&msg, 64));
        asker->receiving = false;
        nng_aio_set_msg(asker->aio, msg);
        nng_ctx_send(asker->ctx, asker->aio);
}

static void on_event(void *arg)
{
        struct asker *asker = arg;
        if (nng_aio_result(asker->aio) != 0)
                return;
        if (!asker->receiving) {
                asker->receiving = true;
                nng_ctx_recv(asker->ctx, asker->aio);
                return;
        }
        nng_msg_free(nng_aio_get_msg(asker->aio));
        pthread_mutex_lock(&lock);
        answers++;
        pthread_cond_signal(&cond);
        pthread_mutex_unlock(&lock);
        ask(asker);
}

static void *serve(void *arg)
{
        nng_socket socket = *(nng_socket *)arg;
        nng_msg   *msg;
        while (nng_recvmsg(socket, &msg, 0) == 0)
                if (nng_sendmsg(socket, msg, 0) != 0)
                        nng_msg_free(msg);
        return NULL;
}

static void *close_it(void *arg)
{
        nng_close(*(nng_socket *)arg);
        pthread_mutex_lock(&lock);
        closed = true;
        pthread_cond_signal(&cond);
        pthread_mutex_unlock(&lock);
        return NULL;
}

static bool wait_for(const bool *flag, const int *count, int least)
{
        struct timespec until;
        int             late = 0;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += LIMIT_S;
        pthread_mutex_lock(&lock);
        while (!(flag ? *flag : *count >= least) && late == 0)
                late = pthread_cond_timedwait(&cond, &lock, &until);
        pthread_mutex_unlock(&lock);
        return late == 0;
}

int main(void)
{
        char       url[64];
        nng_socket rep;
        pthread_t  server, closer;
        static struct asker askers[CONTEXTS]; /* their callbacks may still come when a trial is over */
        snprintf(url, sizeof url, "ipc:///tmp/scaler-close-hang-%ld", (long)getpid());
        need("rep", nng_rep0_open(&rep));
        need("listen", nng_listen(rep, url, NULL, 0));
        pthread_create(&server, NULL, serve, &rep);
        for (int trial = 0; trial < TRIALS; trial++) {
                nng_socket req;
                closed  = false;
                answers = 0;
                need("req", nng_req0_open(&req));
                need("dial", nng_dial(req, url, NULL, 0));
                for (int i = 0; i < CONTEXTS; i++) {
                        need("context", nng_ctx_open(&askers[i].ctx, req));
                        need("aio", nng_aio_alloc(&askers[i].aio, on_event, &askers[i]));
                        ask(&askers[i]);
                }
                if (!wait_for(NULL, &answers, 200))
                        need("traffic", NNG_ETIMEDOUT);
                pthread_create(&closer, NULL, close_it, &req);
                const bool good = wait_for(&closed, NULL, 0);
                if (!good) {
                        unlink(url + 6);
                        verdict(true, "closing a REQ socket with traffic on it never returns");
                }
                pthread_join(closer, NULL);
                for (int i = 0; i < CONTEXTS; i++)
                        nng_aio_free(askers[i].aio);
        }
        unlink(url + 6);
        verdict(false, "ten REQ sockets with traffic on them were closed");
}
