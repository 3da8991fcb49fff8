/*
 * The undertaker of a net: closing, stopping and freeing what nng gave us, on a thread of our own,
 * because stopping an aio waits for its callback and a callback may be in the middle of a turn.
 * The thread starts with the first listen or dial, sleeps when there is nothing to bury, and ends
 * with the net.
 */
#include <signal.h>
#include <stddef.h>

#include "net_nng_impl.h"
#include "sc_assert.h"
#include "sc_status.h"

static void bury(struct sc_nng_remains *remains)
{
        if (remains->listener)
                nng_stream_listener_close(remains->listener);
        if (remains->dialer)
                nng_stream_dialer_close(remains->dialer);
        else if (!remains->listener && remains->stream)
                nng_stream_close(remains->stream);
        for (int i = 0; i < 2; i++)
                nng_aio_stop(remains->aio[i]);
        /* Only now is it sure that an accept or a dial brings no stream any more. */
        if (remains->stream) {
                nng_stream_close(remains->stream);
                nng_stream_free(remains->stream);
        }
        nng_stream_dialer_free(remains->dialer);
        nng_stream_listener_free(remains->listener);
        for (int i = 0; i < 2; i++)
                nng_aio_free(remains->aio[i]);
}

static void *reaper_thread(void *arg)
{
        struct sc_nng_reaper *reaper = arg;
        pthread_mutex_lock(&reaper->lock);
        for (;;) {
                struct sc_list *link = sc_list_take(&reaper->queue);
                if (!link && reaper->stop)
                        break;
                if (!link) {
                        pthread_cond_wait(&reaper->wake, &reaper->lock);
                        continue;
                }
                pthread_mutex_unlock(&reaper->lock);
                struct sc_nng_remains *remains = SC_CONTAINER(link, struct sc_nng_remains, link);
                bury(remains);
                sc_loop_post(reaper->loop, &remains->buried);
                pthread_mutex_lock(&reaper->lock);
        }
        pthread_mutex_unlock(&reaper->lock);
        return NULL;
}

int sc_nng_reaper_start(struct sc_nng_reaper *reaper)
{
        if (reaper->started)
                return SC_OK;
        sigset_t all, kept;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &kept);
        int status = pthread_create(&reaper->thread, NULL, reaper_thread, reaper);
        pthread_sigmask(SIG_SETMASK, &kept, NULL);
        if (status != 0)
                return SC_E_IO;
        pthread_setname_np(reaper->thread, "scaler:reaper");
        reaper->started = true;
        return SC_OK;
}

void sc_nng_reaper_finish(struct sc_nng_reaper *reaper)
{
        if (!reaper->started)
                return;
        pthread_mutex_lock(&reaper->lock);
        reaper->stop = true;
        pthread_cond_signal(&reaper->wake);
        pthread_mutex_unlock(&reaper->lock);
        pthread_join(reaper->thread, NULL);
        reaper->started = false;
}

void sc_nng_bury(struct sc_nng_reaper *reaper, struct sc_nng_remains *remains)
{
        SC_ASSERT(reaper->started);
        if (remains->given)
                return;
        remains->given = true;
        pthread_mutex_lock(&reaper->lock);
        sc_list_add_tail(&reaper->queue, &remains->link);
        pthread_cond_signal(&reaper->wake);
        pthread_mutex_unlock(&reaper->lock);
}
