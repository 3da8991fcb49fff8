/*
 * The frame writer of a link.  Records go into the newest frame of its queue; sequence, acknowledgement
 * and grants are written when the frame leaves, so they are the latest.  One send is in flight per link;
 * everything queued meanwhile leaves in the next one.
 */
#include <string.h>

#include "station_impl.h"

/* The one that waits longest. */
void sc_spare_drop(struct sc_station *st)
{
        struct sc_chunk *chunk = SC_CONTAINER(st->spare.prev, struct sc_chunk, queue);
        sc_list_remove(&chunk->queue);
        st->spare_count--;
        sc_buf_fini(&chunk->buf);
        sc_mem_release(st->options.mem, chunk, sizeof *chunk);
}

/* While memory is short few are kept, and small: to say welcome, one thing that others wait for, and goodbye. */
static void spare_few(struct sc_station *st)
{
        while (st->spare_count > SC_CHUNK_SPARE_FEW)
                sc_spare_drop(st);
        for (struct sc_list *at = st->spare.next; at != &st->spare; at = at->next)
                sc_buf_shrink(&SC_CONTAINER(at, struct sc_chunk, queue)->buf, SC_CHUNK_LEAST);
}

static void chunk_free(struct sc_station *st, struct sc_chunk *chunk)
{
        sc_list_remove(&chunk->queue);
        sc_buf_reset(&chunk->buf);
        sc_buf_shrink(&chunk->buf, SC_CHUNK_BYTES);
        sc_list_add_head(&st->spare, &chunk->queue);
        if (++st->spare_count > SC_CHUNK_SPARE)
                sc_spare_drop(st);
        if (sc_mem_beyond(st->options.mem, SC_MEM_ASKED, 0))
                spare_few(st);
}

static struct sc_chunk *chunk_alloc(struct sc_station *st)
{
        struct sc_list *spare = sc_list_take(&st->spare);
        if (spare != NULL) {
                st->spare_count--;
                return SC_CONTAINER(spare, struct sc_chunk, queue);
        }
        struct sc_chunk *chunk = sc_mem_zalloc(st->options.mem, sizeof *chunk);
        if (chunk == NULL)
                return NULL;
        sc_list_init(&chunk->queue);
        sc_buf_init(&chunk->buf, st->options.mem, SC_FRAME_MAX);
        return chunk;
}

/* An empty frame of that type at the end of the queue, or NULL. */
static struct sc_chunk *begin_frame(struct sc_station *st, struct sc_peer *peer, uint8_t type)
{
        static const uint8_t room[SC_FRAME_HEAD];
        struct sc_chunk *chunk = chunk_alloc(st);
        if (chunk == NULL)
                return NULL;
        chunk->type  = type;
        chunk->count = chunk->acked = chunk->answers = 0;
        if (!sc_buf_add(&chunk->buf, room, sizeof room)) {
                chunk_free(st, chunk);
                return NULL;
        }
        sc_list_add_tail(&peer->queue, &chunk->queue);
        return chunk;
}

/* The frame that takes a record of at most `bytes` more, or NULL when there is no memory for one. */
static struct sc_chunk *open_frame(struct sc_station *st, struct sc_peer *peer, uint8_t type, size_t bytes)
{
        if (type == SC_FRAME_DATA && !sc_list_empty(&peer->queue)) {
                struct sc_chunk *chunk = SC_CONTAINER(peer->queue.prev, struct sc_chunk, queue);
                if (chunk->type == SC_FRAME_DATA && chunk->count < SC_CHUNK_RECORDS &&
                    chunk->buf.len + bytes <= SC_CHUNK_BYTES)
                        return chunk;
        }
        return begin_frame(st, peer, type);
}

/* What a peer can ask for without end; the rest is bounded by the rows and windows of the core. */
static bool is_answer(int kind)
{
        return kind == SC_MSG_CONFIRM || kind == SC_MSG_CONFIRM_MANY || kind == SC_MSG_DRAINED ||
               (kind >= SC_MSG_STATUS_ROW && kind <= SC_MSG_QUERY_END);
}

static uint8_t frame_type(const struct sc_peer *peer, int kind)
{
        if (kind == SC_MSG_HELLO || kind == SC_MSG_WELCOME)
                return SC_FRAME_HELLO;
        return kind == SC_MSG_BYE && !peer->hello_queued ? SC_FRAME_HELLO : SC_FRAME_DATA;
}

void sc_peer_enqueue(struct sc_station *st, struct sc_peer *peer, const struct sc_msg *msg)
{
        const uint8_t type = frame_type(peer, msg->kind);
        SC_ASSERT(peer->hello_queued == (type == SC_FRAME_DATA));
        struct sc_chunk *chunk = open_frame(st, peer, type, sc_codec_bound(msg));
        const size_t before = chunk != NULL ? chunk->buf.len : 0;
        const int status = chunk != NULL ? sc_codec_pack(&chunk->buf, msg) : SC_E_NOMEM;
        if (status < 0) {
                sc_peer_lose(st, peer, status, "no memory for what it should be told");
                return;
        }
        chunk->count++;
        chunk->acked += sc_msg_is_acked(msg->kind);
        if (is_answer(msg->kind)) {
                const size_t bytes = chunk->buf.len - before;
                chunk->answers += (uint32_t)bytes;
                peer->answers += bytes;
        }
        peer->hello_queued = true;
        st->stats.records_out++;
        sc_peer_touch(st, peer);
        if (peer->answers > SC_ANSWERS_MAX)
                sc_peer_lose(st, peer, SC_E_FULL, "it asks and does not read the answers");
}

void sc_peer_bye(struct sc_station *st, struct sc_peer *peer, int status, const char *why)
{
        size_t len = strlen(why);
        if (len > SC_TEXT_MAX)
                len = SC_TEXT_MAX;
        struct sc_msg msg = {.kind = SC_MSG_BYE, .bye = {.status = status, .why = {why, len}}};
        sc_peer_enqueue(st, peer, &msg);
}

void sc_peer_forget_queue(struct sc_station *st, struct sc_peer *peer)
{
        bool hello = false;
        while (!sc_list_empty(&peer->queue)) {
                struct sc_chunk *chunk = SC_CONTAINER(peer->queue.next, struct sc_chunk, queue);
                hello = hello || chunk->type == SC_FRAME_HELLO;
                chunk_free(st, chunk);
        }
        peer->answers      = 0;
        peer->hello_queued = peer->hello_queued && !hello;
}

static void send_frame(struct sc_station *st, struct sc_peer *peer, struct sc_chunk *chunk)
{
        const struct sc_frame_head head = {
                .length      = (uint32_t)chunk->buf.len,
                .type        = chunk->type,
                .count       = (uint16_t)chunk->count,
                .ack         = peer->link.heard,
                .seq         = sc_link_seal(&peer->link, chunk->acked),
                .grant_tasks = peer->link.out_tasks,
                .grant_kib   = peer->link.out_kib,
        };
        sc_frame_put(&head, chunk->buf.data);
        peer->answers -= chunk->answers;
        peer->busy  = true;
        peer->speak = false;
        st->stats.frames_out++;
        st->stats.bytes_out += chunk->buf.len;
        sc_list_remove(&chunk->queue);
        peer->net->ops->send(peer->conn, &chunk->buf);
        chunk->buf.max = SC_FRAME_MAX;
        chunk_free(st, chunk);
}

/* A question for a sign of life goes before what is queued: it is one frame of its own. */
static void queue_ping(struct sc_station *st, struct sc_peer *peer)
{
        struct sc_chunk *chunk = begin_frame(st, peer, SC_FRAME_PING);
        if (chunk == NULL)
                return; /* silence will be noticed all the same */
        sc_list_remove(&chunk->queue);
        sc_list_add_head(&peer->queue, &chunk->queue);
}

void sc_peer_flush(struct sc_station *st, struct sc_peer *peer)
{
        if (peer->busy)
                return;
        if (peer->ping && peer->state == SC_PEER_UP && peer->hello_queued)
                queue_ping(st, peer);
        peer->ping = false;
        if (sc_link_ack_urgent(&peer->link))
                peer->speak = true;
        if (sc_list_empty(&peer->queue) && peer->speak && peer->hello_queued &&
            begin_frame(st, peer, SC_FRAME_DATA) == NULL) {
                sc_peer_lose(st, peer, SC_E_NOMEM, "no memory for an acknowledgement");
                return;
        }
        if (!sc_list_empty(&peer->queue))
                send_frame(st, peer, SC_CONTAINER(peer->queue.next, struct sc_chunk, queue));
}
