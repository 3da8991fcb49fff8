/*
 * The floor under data: one object goes over an nng stream from memory of one process to its final place
 * in another, 1 MiB a send; both ends are touched before.
 *
 *     floor_copy tcp|ipc BYTES [REPEAT]      medians of REPEAT copies, and the processor time of both ends
 */
#include <semaphore.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "floor_nng.h"

enum { STEP = 1 << 20, LIMIT_S = 120 };

struct figures {
        uint64_t wall_ns, cpu_ns;
};

static struct floor_place place;
static size_t             size;
static long               repeat;
static uint8_t           *object;
static int                address[2], ready[2], results[2]; /* pipes from the receiver */

static uint64_t cpu_ns(void)
{
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        return ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000000u +
               ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000u;
}

/* No two stretches are alike: a lost or swapped piece shows. */
static uint8_t byte_at(size_t i)
{
        return (uint8_t)(((uint32_t)i * 2654435761u) >> 24);
}

struct transfer { /* goes on in nng's own callback until all is moved */
        nng_stream *stream;
        nng_aio    *aio;
        void      (*step)(nng_stream *stream, nng_aio *aio); /* send or receive */
        size_t      step_max, at;
        sem_t       done;
};

static void move_on(struct transfer *transfer)
{
        const size_t left = size - transfer->at;
        const size_t step = left < transfer->step_max ? left : transfer->step_max;
        nng_iov      iov  = { .iov_buf = object + transfer->at, .iov_len = step };
        nng_aio_set_iov(transfer->aio, 1, &iov);
        transfer->step(transfer->stream, transfer->aio);
}

static void on_moved(void *arg)
{
        struct transfer *transfer = arg;
        if (nng_aio_result(transfer->aio) != 0)
                return; /* the other process has ended, and says why */
        transfer->at += nng_aio_count(transfer->aio);
        if (transfer->at < size)
                move_on(transfer);
        else
                sem_post(&transfer->done);
}

static void transfer_init(struct transfer *transfer)
{
        sem_init(&transfer->done, 0, 0);
        floor_check("aio", nng_aio_alloc(&transfer->aio, on_moved, transfer));
}

static void move(struct transfer *transfer)
{
        transfer->at = 0;
        move_on(transfer);
        while (sem_wait(&transfer->done) != 0)
                ;
}

static void tell(int fd, const void *bytes, size_t len)
{
        if (write(fd, bytes, len) != (ssize_t)len)
                bench_die("write");
}

static void hear(int fd, void *bytes, size_t len)
{
        if (read(fd, bytes, len) != (ssize_t)len)
                _exit(1); /* the other one has said why */
}

static void check_object(void)
{
        for (size_t i = 0; i < size; i++)
                if (object[i] != byte_at(i))
                        bench_die("the object is not what was sent");
}

static void receive(void)
{
        int                  port;
        nng_stream_listener *listener = floor_listen(&place, &port);
        struct transfer      transfer = { .stream   = floor_accept(&place, listener, port, address[1]),
                                          .step     = nng_stream_recv,
                                          .step_max = size };
        transfer_init(&transfer);
        memset(object, 0xff, size);
        for (long i = 0; i < repeat; i++) {
                const uint64_t cpu = cpu_ns();
                tell(ready[1], "r", 1);
                move(&transfer);
                const struct figures mine = { .wall_ns = bench_now_ns(), .cpu_ns = cpu_ns() - cpu };
                tell(results[1], &mine, sizeof mine);
                if (i == 0)
                        check_object();
        }
}

static void send_all(uint64_t *walls, uint64_t *cpus)
{
        struct transfer transfer = { .stream   = floor_dial(&place, address[0]),
                                     .step     = nng_stream_send,
                                     .step_max = STEP };
        transfer_init(&transfer);
        for (size_t i = 0; i < size; i++)
                object[i] = byte_at(i);
        for (long i = 0; i < repeat; i++) {
                char           go;
                struct figures theirs;
                hear(ready[0], &go, 1);
                const uint64_t cpu = cpu_ns(), begin = bench_now_ns();
                move(&transfer);
                const uint64_t mine = cpu_ns() - cpu;
                hear(results[0], &theirs, sizeof theirs);
                walls[i] = theirs.wall_ns - begin; /* CLOCK_MONOTONIC is the same in both */
                cpus[i]  = mine + theirs.cpu_ns;
        }
}

int main(int argc, char **argv)
{
        size   = (size_t)bench_number(argc, argv, 2, 0, 1);
        repeat = bench_number(argc, argv, 3, 5, 1);
        if (!floor_place_init(&place, argv[1])) {
                fprintf(stderr, "usage: floor_copy tcp|ipc BYTES [REPEAT]\n");
                return 2;
        }
        uint64_t *walls = calloc((size_t)repeat, sizeof *walls), *cpus = calloc((size_t)repeat, sizeof *cpus);
        object = malloc(size);
        if (!walls || !cpus || !object || pipe(address) != 0 || pipe(ready) != 0 || pipe(results) != 0)
                bench_die("start");
        alarm(LIMIT_S);
        const pid_t receiver = floor_fork(receive);
        send_all(walls, cpus);
        kill(receiver, SIGKILL);
        waitpid(receiver, NULL, 0);
        floor_place_fini(&place);
        bench_sort(walls, (size_t)repeat);
        bench_sort(cpus, (size_t)repeat);
        printf("floor_copy over=%s bytes=%zu MiBps=%.0f cpu_s_per_GiB=%.3f\n", argv[1], size,
               (double)size / (1 << 20) / ((double)walls[repeat / 2] / 1e9),
               (double)cpus[repeat / 2] / 1e9 / ((double)size / (1 << 30)));
        fflush(stdout);
        _exit(0);
}
