/* Streams of nng for the floors: meeting by tcp or ipc in forked processes, before which nothing touches nng. */
#ifndef FLOOR_NNG_H
#define FLOOR_NNG_H

#include <nng/nng.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <signal.h>
#include <unistd.h>

#include "bench_tools.h"

struct floor_place { /* where processes meet */
        bool tcp;
        char dir[64];
        char path[80];
};

static inline void floor_check(const char *what, int error)
{
        if (error == 0)
                return;
        fprintf(stderr, "%s: %s\n", what, nng_strerror(error));
        _exit(1);
}

static inline bool floor_place_init(struct floor_place *place, const char *transport)
{
        place->tcp = strcmp(transport, "tcp") == 0;
        if (!place->tcp && strcmp(transport, "ipc") != 0)
                return false;
        snprintf(place->dir, sizeof place->dir, "/tmp/floor-XXXXXX");
        if (!mkdtemp(place->dir))
                bench_die("mkdtemp");
        snprintf(place->path, sizeof place->path, "%s/meet", place->dir);
        return true;
}

static inline void floor_place_fini(const struct floor_place *place)
{
        unlink(place->path);
        rmdir(place->dir);
}

static inline void floor_url(const struct floor_place *place, int port, char url[128])
{
        if (place->tcp)
                snprintf(url, 128, "tcp://127.0.0.1:%d", port);
        else
                snprintf(url, 128, "ipc://%s", place->path);
}

static inline nng_stream *floor_stream(const struct floor_place *place, nng_aio *aio)
{
        nng_aio_wait(aio);
        floor_check("connect", nng_aio_result(aio));
        nng_stream *stream = nng_aio_get_output(aio, 0);
        if (place->tcp)
                floor_check("nodelay", nng_stream_set_bool(stream, NNG_OPT_TCP_NODELAY, true));
        nng_aio_free(aio);
        return stream;
}

static inline nng_stream_listener *floor_listen(const struct floor_place *place, int *port)
{
        char                 url[128];
        nng_stream_listener *listener;
        floor_url(place, 0, url);
        floor_check(url, nng_stream_listener_alloc(&listener, url));
        floor_check(url, nng_stream_listener_listen(listener));
        *port = 0;
        if (place->tcp)
                floor_check(url, nng_stream_listener_get_int(listener, NNG_OPT_TCP_BOUND_PORT, port));
        return listener;
}

/* Tells the port to the next who may come, and waits for it. */
static inline nng_stream *floor_accept(const struct floor_place *place, nng_stream_listener *listener, int port,
                                       int tell)
{
        nng_aio *aio;
        floor_check("aio", nng_aio_alloc(&aio, NULL, NULL));
        nng_stream_listener_accept(listener, aio);
        if (write(tell, &port, sizeof port) != sizeof port)
                bench_die("tell the port");
        return floor_stream(place, aio);
}

static inline nng_stream *floor_dial(const struct floor_place *place, int told)
{
        char               url[128];
        int                port;
        nng_stream_dialer *dialer;
        nng_aio           *aio;
        if (read(told, &port, sizeof port) != sizeof port)
                _exit(1); /* the other one has said why */
        floor_url(place, port, url);
        floor_check(url, nng_stream_dialer_alloc(&dialer, url));
        floor_check("aio", nng_aio_alloc(&aio, NULL, NULL));
        nng_stream_dialer_dial(dialer, aio);
        return floor_stream(place, aio);
}

/* A child that serves until its parent ends. */
static inline pid_t floor_fork(void (*serve)(void))
{
        const pid_t parent = getpid(), pid = fork();
        if (pid < 0)
                bench_die("fork");
        if (pid > 0)
                return pid;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
                _exit(1);
        serve();
        for (;;)
                pause();
}

#endif
