/*
 * Nodes.  Upcalls take the node's lock for a moment; the test's own thread takes the loop's token
 * before it uses the net, as a role does.  Child processes use nodes too, outside of any Check test: so
 * what must hold is asserted with SC_ASSERT.
 */
#include "node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "certs.h"
#include "net_mem.h"
#include "net_nng.h"
#include "sc_assert.h"
#include "sc_status.h"

const char *kind_name(enum kind kind)
{
        static const char *const names[KINDS] = { "tcp", "ipc", "abstract", "inproc (memory)", "inproc (nng)",
                                             "tls+tcp" };
        return names[kind];
}

uint32_t kind_share(enum kind kind, uint32_t amount)
{
        return kind == KIND_TLS ? (amount + 9) / 10 : amount;
}

/* ---- frames ---------------------------------------------------------------------------------------- */

void frame_fill(uint8_t *frame, size_t size, uint64_t number)
{
        memset(frame, (int)(number * 31 & 0xff), size);
        memset(frame, 0, FRAME_MIN);
        for (size_t i = 0; i < 4; i++)
                frame[i] = (uint8_t)(size >> 8 * i);
        frame[4] = 2;
        memcpy(frame + 24, &number, sizeof number);
}

static bool frame_good(const uint8_t *frame, size_t size, uint64_t number)
{
        uint64_t got;
        uint32_t length;
        memcpy(&got, frame + 24, sizeof got);
        memcpy(&length, frame, sizeof length);
        const uint8_t fill = (uint8_t)(number * 31 & 0xff);
        return size >= FRAME_MIN && length == size && got == number &&
               (size == FRAME_MIN ||
                (frame[FRAME_MIN] == fill && frame[size - 1] == fill && frame[size / 2 + 16] == fill));
}

/* ---- upcalls ---------------------------------------------------------------------------------------- */

/* Locked, in a turn. */
static void peer_push(struct peer *peer)
{
        if (!peer->conn || peer->sending || (peer->pump_left == 0 && peer->echo.len == 0))
                return;
        struct sc_buf buf;
        sc_buf_init(&buf, &peer->node->mem, SIZE_MAX);
        if (peer->echo.len > 0)
                sc_buf_swap(&buf, &peer->echo);
        for (size_t i = 0; peer->pump_left > 0 && i < peer->pump_batch; i++, peer->pump_left--) {
                SC_ASSERT(sc_buf_reserve(&buf, peer->pump_size));
                frame_fill(buf.data + buf.len, peer->pump_size, peer->frames_out++);
                buf.len += peer->pump_size;
        }
        peer->sending = true;
        peer->node->net->ops->send(peer->conn, &buf);
        SC_ASSERT(buf.len == 0);
        sc_buf_fini(&buf);
}

static void lock(struct node *node)
{
        pthread_mutex_lock(&node->lock);
}

static void unlock(struct node *node)
{
        pthread_cond_broadcast(&node->changed);
        pthread_mutex_unlock(&node->lock);
}

static void *up(void *ctx, struct sc_conn *conn, struct sc_listener *listener, uint64_t ticket)
{
        struct node *node = ctx;
        lock(node);
        node->ups++;
        struct peer *peer = node->refuses ? NULL : calloc(1, sizeof *peer);
        if (peer) {
                *peer = (struct peer){ .node = node, .conn = conn, .listener = listener, .ticket = ticket,
                                       .next = node->peers };
                sc_buf_init(&peer->echo, &node->mem, SIZE_MAX);
                node->peers      = peer;
                peer->pump_left  = node->pump;
                peer->pump_size  = node->pump_size;
                peer->pump_batch = 16;
                node->live++;
                peer_push(peer);
        }
        unlock(node);
        return peer;
}

static void frame(void *ctx, void *user, const uint8_t *bytes, size_t len)
{
        struct node *node = ctx;
        struct peer *peer = user;
        lock(node);
        SC_ASSERT(peer->conn);
        if (!frame_good(bytes, len, peer->frames_in))
                peer->wrong++;
        peer->frames_in++;
        peer->bytes_in += len;
        if (node->echoes) {
                SC_ASSERT(sc_buf_add(&peer->echo, bytes, len));
                peer_push(peer);
        }
        unlock(node);
}

static void writable(void *ctx, void *user)
{
        struct node *node = ctx;
        struct peer *peer = user;
        lock(node);
        SC_ASSERT(peer->conn);
        SC_ASSERT(peer->sending);
        peer->sending = false;
        peer->writables++;
        peer_push(peer);
        unlock(node);
}

static void down(void *ctx, void *user, int status, const char *why)
{
        struct node *node = ctx;
        struct peer *peer = user;
        lock(node);
        SC_ASSERT(peer->conn);
        SC_ASSERT(status != 0);
        peer->conn   = NULL;
        peer->status = status;
        peer->downs++;
        snprintf(peer->why, sizeof peer->why, "%s", why);
        node->live--;
        node->downs++;
        unlock(node);
}

static void dial_failed(void *ctx, uint64_t ticket, int status, const char *why)
{
        struct node *node = ctx;
        (void)ticket;
        lock(node);
        node->dials_failed++;
        node->dial_status = status;
        snprintf(node->dial_why, sizeof node->dial_why, "%s", why);
        unlock(node);
}

static const struct sc_net_upcalls upcalls = {
        .up = up, .frame = frame, .writable = writable, .down = down, .dial_failed = dial_failed,
};

/* ---- nodes ------------------------------------------------------------------------------------------- */

static void begin(struct node *node, enum kind kind, struct sc_loop *loop)
{
        pthread_condattr_t monotonic;
        *node = (struct node){ .kind = kind, .loop = loop };
        pthread_condattr_init(&monotonic);
        pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
        pthread_cond_init(&node->changed, &monotonic);
        pthread_mutex_init(&node->lock, NULL);
        sc_mem_init_libc(&node->mem);
        if (!loop)
                SC_ASSERT(sc_loop_create(&(struct sc_loop_options){ .mem = &node->mem }, &node->loop) == 0);
        sc_loop_hold(node->loop);
        int status = kind == KIND_MEM ? sc_net_mem_create(&node->mem, node->loop, &upcalls, node, &node->net)
                                      : sc_net_nng_create(&node->mem, node->loop, &upcalls, node, &node->net);
        SC_ASSERT(status == 0);
        if (kind == KIND_TLS)
                certs_secure(node->net);
        sc_loop_release(node->loop);
}

void node_start(struct node *node, enum kind kind)
{
        begin(node, kind, NULL);
}

void node_start_beside(struct node *node, const struct node *other)
{
        begin(node, other->kind, other->loop);
}

void node_stop_net(struct node *node)
{
        sc_loop_hold(node->loop);
        if (node->net)
                node->net->ops->destroy(node->net);
        node->net = NULL;
        sc_loop_release(node->loop);
}

static void remove_dir(const struct node *node)
{
        char path[80];
        if (node->dir[0] == '\0')
                return;
        snprintf(path, sizeof path, "%s/s", node->dir);
        unlink(path);
        rmdir(node->dir);
}

void node_stop(struct node *node)
{
        struct peer *peer;
        node_stop_net(node);
        while ((peer = node->peers) != NULL) {
                node->peers = peer->next;
                sc_buf_fini(&peer->echo);
                free(peer);
        }
        if (sc_loop_in_turn(node->loop))
                abort();
        remove_dir(node);
        sc_loop_destroy(node->loop);
        SC_ASSERT(atomic_load(&node->mem.used) == 0);
        pthread_cond_destroy(&node->changed);
        pthread_mutex_destroy(&node->lock);
}

static void expect_good(int status, const struct sc_why *why)
{
        if (status != 0)
                fprintf(stderr, "%s\n", why->text);
        SC_ASSERT(status == 0);
}

static void fresh_url(struct node *node, char url[SC_URL_MAX + 1])
{
        uint64_t number;
        sc_random_bytes(&number, sizeof number);
        switch (node->kind) {
        case KIND_TCP:
                snprintf(url, SC_URL_MAX + 1, "tcp://127.0.0.1:0");
                break;
        case KIND_TLS:
                snprintf(url, SC_URL_MAX + 1, "tls+tcp://127.0.0.1:0");
                break;
        case KIND_IPC:
                snprintf(node->dir, sizeof node->dir, "%s", "/tmp/scaler-conformance-XXXXXX");
                SC_ASSERT(mkdtemp(node->dir));
                snprintf(url, SC_URL_MAX + 1, "ipc://%s/s", node->dir);
                break;
        case KIND_ABSTRACT:
                snprintf(url, SC_URL_MAX + 1, "abstract://");
                break;
        case KIND_MEM:
        case KIND_INPROC_NNG:
        case KINDS:
                snprintf(url, SC_URL_MAX + 1, "inproc://%016llx", (unsigned long long)number);
        }
}

void node_listen(struct node *node)
{
        char          url[SC_URL_MAX + 1];
        struct sc_why why = { "" };
        fresh_url(node, url);
        sc_loop_hold(node->loop);
        int status = node->net->ops->listen(node->net, url, &node->listener, node->bound, &why);
        sc_loop_release(node->loop);
        expect_good(status, &why);
}

uint64_t node_dial(struct node *node, const char *url)
{
        uint64_t      ticket;
        struct sc_why why = { "" };
        sc_random_bytes(&ticket, sizeof ticket);
        sc_loop_hold(node->loop);
        int status = node->net->ops->dial(node->net, url, ticket, &why);
        sc_loop_release(node->loop);
        expect_good(status, &why);
        return ticket;
}

/* ---- waiting ------------------------------------------------------------------------------------------ */

static struct timespec in_seconds(int seconds)
{
        struct timespec at;
        clock_gettime(CLOCK_MONOTONIC, &at);
        at.tv_sec += seconds;
        return at;
}

bool node_wait_u32(struct node *node, const uint32_t *counter, uint32_t value, int seconds)
{
        const struct timespec at   = in_seconds(seconds);
        bool                  late = false;
        pthread_mutex_lock(&node->lock);
        while (*counter < value && !late)
                late = pthread_cond_timedwait(&node->changed, &node->lock, &at) != 0;
        const bool good = *counter >= value;
        pthread_mutex_unlock(&node->lock);
        return good;
}

bool node_wait_u64(struct node *node, const uint64_t *counter, uint64_t value, int seconds)
{
        const struct timespec at   = in_seconds(seconds);
        bool                  late = false;
        pthread_mutex_lock(&node->lock);
        while (*counter < value && !late)
                late = pthread_cond_timedwait(&node->changed, &node->lock, &at) != 0;
        const bool good = *counter >= value;
        pthread_mutex_unlock(&node->lock);
        return good;
}

void node_quiesce(struct node *node, int seconds)
{
        const struct timespec at   = in_seconds(seconds);
        bool                  late = false;
        pthread_mutex_lock(&node->lock);
        while (node->live > 0 && !late)
                late = pthread_cond_timedwait(&node->changed, &node->lock, &at) != 0;
        SC_ASSERT(node->live == 0);
        SC_ASSERT(node->downs == node->ups);
        pthread_mutex_unlock(&node->lock);
}

bool peer_wait_down(struct peer *peer, int seconds)
{
        const struct timespec at   = in_seconds(seconds);
        bool                  late = false;
        pthread_mutex_lock(&peer->node->lock);
        while (peer->conn && !late)
                late = pthread_cond_timedwait(&peer->node->changed, &peer->node->lock, &at) != 0;
        const bool good = !peer->conn;
        pthread_mutex_unlock(&peer->node->lock);
        return good;
}

struct peer *node_newest(struct node *node)
{
        pthread_mutex_lock(&node->lock);
        struct peer *peer = node->peers;
        pthread_mutex_unlock(&node->lock);
        return peer;
}

struct peer *node_dialled(struct node *node, uint64_t ticket, int seconds)
{
        const struct timespec at    = in_seconds(seconds);
        bool                  late  = false;
        struct peer          *found = NULL;
        pthread_mutex_lock(&node->lock);
        while (!found && !late) {
                for (found = node->peers; found && (found->listener || found->ticket != ticket);)
                        found = found->next;
                if (!found)
                        late = pthread_cond_timedwait(&node->changed, &node->lock, &at) != 0;
        }
        pthread_mutex_unlock(&node->lock);
        return found;
}

uint64_t node_read(struct node *node, const uint64_t *counter)
{
        pthread_mutex_lock(&node->lock);
        const uint64_t value = *counter;
        pthread_mutex_unlock(&node->lock);
        return value;
}

uint32_t node_read_u32(struct node *node, const uint32_t *counter)
{
        pthread_mutex_lock(&node->lock);
        const uint32_t value = *counter;
        pthread_mutex_unlock(&node->lock);
        return value;
}

/* ---- doing -------------------------------------------------------------------------------------------- */

void peer_pump(struct peer *peer, uint64_t frames, size_t size, size_t batch)
{
        sc_loop_hold(peer->node->loop);
        lock(peer->node);
        peer->pump_left  = frames;
        peer->pump_size  = size;
        peer->pump_batch = batch;
        peer_push(peer);
        unlock(peer->node);
        sc_loop_release(peer->node->loop);
}

void peer_send_raw(struct peer *peer, const void *bytes, size_t len)
{
        struct sc_buf buf;
        sc_buf_init(&buf, &peer->node->mem, SIZE_MAX);
        sc_loop_hold(peer->node->loop);
        lock(peer->node);
        SC_ASSERT(sc_buf_add(&buf, bytes, len));
        SC_ASSERT(peer->conn);
        SC_ASSERT(!peer->sending);
        peer->sending = true;
        peer->node->net->ops->send(peer->conn, &buf);
        unlock(peer->node);
        sc_loop_release(peer->node->loop);
        sc_buf_fini(&buf);
}

static void close_how(struct peer *peer, bool at_once, sc_ns linger)
{
        sc_loop_hold(peer->node->loop);
        lock(peer->node);
        if (peer->conn && at_once)
                peer->node->net->ops->close(peer->conn);
        else if (peer->conn)
                peer->node->net->ops->close_after(peer->conn, linger);
        if (peer->conn)
                peer->node->live--;
        peer->conn = NULL;
        unlock(peer->node);
        sc_loop_release(peer->node->loop);
}

void peer_close(struct peer *peer)
{
        close_how(peer, true, 0);
}

void peer_close_after(struct peer *peer, sc_ns linger)
{
        close_how(peer, false, linger);
}

void peer_pause(struct peer *peer, bool paused)
{
        sc_loop_hold(peer->node->loop);
        if (peer->conn)
                peer->node->net->ops->pause(peer->conn, paused);
        sc_loop_release(peer->node->loop);
}
