/*
 * The floor under a task on nng's streams: frames of 64 bytes go client, scheduler, worker, scheduler,
 * client, through three processes that only pass them on, in nng's own callbacks.
 *
 *     floor_relay tcp|ipc [N [WINDOW]]      N frames, WINDOW of them under way at once
 */
#include <pthread.h>
#include <sys/wait.h>

#include "floor_nng.h"

enum { LIMIT_S = 120, PERIOD = 4096 };

struct frame {
        uint64_t number, sent_ns;
        uint8_t  rest[48];
};

struct side { /* one connection; what is to be sent collects in one buffer while the other is under way */
        nng_stream     *stream;
        nng_aio        *recv, *send;
        struct side    *onward; /* NULL: frames end here, at the client */
        pthread_mutex_t lock;
        bool            sending;
        char           *idle, *moving;
        size_t          idle_len, moving_len, moving_at, have;
        char            in[PERIOD * sizeof(struct frame)];
};

static struct floor_place place;
static long               frames, window, sent, back; /* client */
static uint64_t          *took_ns;
static int                to_worker[2], to_client[2];
static pthread_mutex_t    end_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t     end      = PTHREAD_COND_INITIALIZER;
static bool               over;

/* Lock held. */
static void push(struct side *side)
{
        if (side->sending)
                return;
        if (side->moving_at == side->moving_len) {
                char *sent_out   = side->moving;
                side->moving     = side->idle;
                side->moving_len = side->idle_len;
                side->moving_at  = 0;
                side->idle       = sent_out;
                side->idle_len   = 0;
        }
        if (side->moving_len == 0)
                return;
        nng_iov iov   = { .iov_buf = side->moving + side->moving_at, .iov_len = side->moving_len - side->moving_at };
        side->sending = true;
        nng_aio_set_iov(side->send, 1, &iov);
        nng_stream_send(side->stream, side->send);
}

static void on_sent(void *arg)
{
        struct side *side = arg;
        if (nng_aio_result(side->send) != 0)
                return;
        pthread_mutex_lock(&side->lock);
        side->moving_at += nng_aio_count(side->send);
        side->sending = false;
        push(side);
        pthread_mutex_unlock(&side->lock);
}

/* Lock held. */
static void add(struct side *side, const void *bytes, size_t len)
{
        if (side->idle_len + len > ((size_t)window + 1) * sizeof(struct frame)) {
                fprintf(stderr, "floor_relay: more than the window came\n");
                _exit(1);
        }
        memcpy(side->idle + side->idle_len, bytes, len);
        side->idle_len += len;
}

/* Lock held. */
static void add_new(struct side *side, uint64_t now)
{
        const struct frame frame = { .number = (uint64_t)sent++, .sent_ns = now };
        add(side, &frame, sizeof frame);
}

/* Lock held. */
static void finish(struct side *side, const struct frame *frame, uint64_t now)
{
        if (frame->number != (uint64_t)back) {
                fprintf(stderr, "floor_relay: a frame is out of order\n");
                _exit(1);
        }
        took_ns[back++] = now - frame->sent_ns;
        if (sent < frames)
                add_new(side, now);
        if (back < frames)
                return;
        pthread_mutex_lock(&end_lock);
        over = true;
        pthread_cond_signal(&end);
        pthread_mutex_unlock(&end_lock);
}

static void pull(struct side *side)
{
        nng_iov iov = { .iov_buf = side->in + side->have, .iov_len = sizeof side->in - side->have };
        nng_aio_set_iov(side->recv, 1, &iov);
        nng_stream_recv(side->stream, side->recv);
}

static void on_received(void *arg)
{
        struct side *side = arg, *to = side->onward ? side->onward : side;
        if (nng_aio_result(side->recv) != 0)
                return;
        side->have += nng_aio_count(side->recv);
        const size_t   whole = side->have - side->have % sizeof(struct frame);
        const uint64_t now   = side->onward ? 0 : bench_now_ns();
        pthread_mutex_lock(&to->lock);
        if (side->onward)
                add(to, side->in, whole);
        for (size_t at = 0; !side->onward && at < whole; at += sizeof(struct frame)) {
                struct frame frame;
                memcpy(&frame, side->in + at, sizeof frame);
                finish(side, &frame, now);
        }
        push(to);
        pthread_mutex_unlock(&to->lock);
        memmove(side->in, side->in + whole, side->have - whole);
        side->have -= whole;
        pull(side);
}

static struct side *make_side(nng_stream *stream)
{
        struct side *side = calloc(1, sizeof *side);
        if (!side)
                bench_die("side");
        side->stream = stream;
        side->idle   = malloc(((size_t)window + 1) * sizeof(struct frame));
        side->moving = malloc(((size_t)window + 1) * sizeof(struct frame));
        if (!side->idle || !side->moving || pthread_mutex_init(&side->lock, NULL) != 0)
                bench_die("side");
        floor_check("aio", nng_aio_alloc(&side->recv, on_received, side));
        floor_check("aio", nng_aio_alloc(&side->send, on_sent, side));
        return side;
}

static void serve_scheduler(void)
{
        int                  port;
        nng_stream_listener *listener = floor_listen(&place, &port);
        struct side         *worker   = make_side(floor_accept(&place, listener, port, to_worker[1]));
        struct side         *client   = make_side(floor_accept(&place, listener, port, to_client[1]));
        worker->onward                = client;
        client->onward                = worker;
        pull(worker);
        pull(client);
}

static void serve_worker(void)
{
        struct side *side = make_side(floor_dial(&place, to_worker[0]));
        side->onward      = side;
        pull(side);
}

static double run_client(void)
{
        struct side   *side  = make_side(floor_dial(&place, to_client[0]));
        const uint64_t begin = bench_now_ns();
        pthread_mutex_lock(&side->lock);
        while (sent < window && sent < frames)
                add_new(side, begin);
        push(side);
        pthread_mutex_unlock(&side->lock);
        pull(side);
        pthread_mutex_lock(&end_lock);
        while (!over)
                pthread_cond_wait(&end, &end_lock);
        pthread_mutex_unlock(&end_lock);
        return (double)(bench_now_ns() - begin) / 1e9;
}

int main(int argc, char **argv)
{
        frames = bench_number(argc, argv, 2, 20000, 1);
        window = bench_number(argc, argv, 3, 1, 1);
        if (argc < 2 || !floor_place_init(&place, argv[1])) {
                fprintf(stderr, "usage: floor_relay tcp|ipc [N [WINDOW]]\n");
                return 2;
        }
        took_ns = calloc((size_t)frames, sizeof *took_ns);
        if (!took_ns || pipe(to_worker) != 0 || pipe(to_client) != 0)
                bench_die("start");
        alarm(LIMIT_S);
        const pid_t children[] = { floor_fork(serve_scheduler), floor_fork(serve_worker) };
        const double seconds   = run_client();
        for (int i = 0; i < 2; i++) {
                kill(children[i], SIGKILL);
                waitpid(children[i], NULL, 0);
        }
        floor_place_fini(&place);
        bench_sort(took_ns, (size_t)frames);
        printf("floor_relay over=%s n=%ld window=%ld p50_us=%.1f p99_us=%.1f rate=%.0f\n", argv[1], frames, window,
               bench_percentile(took_ns, (size_t)frames, 50), bench_percentile(took_ns, (size_t)frames, 99),
               (double)frames / seconds);
        fflush(stdout);
        _exit(0);
}
