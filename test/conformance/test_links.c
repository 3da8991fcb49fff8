/*
 * What every net promises, whatever carries it: order, whole frames of any allowed size, back-pressure,
 * clean ends.  Each test runs once per kind of net.
 */
#include <stdlib.h>
#include <string.h>

#include "certs.h"
#include "msg.h"
#include "node.h"
#include "run_tests.h"
#include "sc_status.h"

static struct node server, client;

static void start(int kind)
{
        node_start(&server, (enum kind)kind);
        node_start(&client, (enum kind)kind);
        node_listen(&server);
}

static void finish(void)
{
        node_stop(&client);
        node_stop(&server);
}

/* Both ends of a new connection. */
static void join(struct peer **near, struct peer **far)
{
        const uint32_t ups = node_read_u32(&server, &server.ups);
        *near              = node_dialled(&client, node_dial(&client, server.bound), 10);
        ck_assert_ptr_nonnull(*near);
        ck_assert(node_wait_u32(&server, &server.ups, ups + 1, 10));
        *far = node_newest(&server);
}

START_TEST(a_frame_goes_there_and_back)
{
        struct peer *near, *far;
        start(_i);
        server.echoes = true;
        join(&near, &far);
        peer_pump(near, 1, FRAME_MIN, 1);
        ck_assert(node_wait_u64(&client, &near->frames_in, 1, 10));
        ck_assert_uint_eq(near->wrong + far->wrong, 0);
        finish();
}
END_TEST

START_TEST(frames_keep_their_order_with_both_directions_busy)
{
        struct peer *near, *far;
        start(_i);
        join(&near, &far);
        const uint32_t frames = kind_share((enum kind)_i, 30000);
        peer_pump(near, frames, 100, 7);
        peer_pump(far, frames, 777, 50);
        ck_assert(node_wait_u64(&server, &far->frames_in, frames, 30));
        ck_assert(node_wait_u64(&client, &near->frames_in, frames, 30));
        ck_assert_uint_eq(near->wrong + far->wrong, 0);
        finish();
}
END_TEST

START_TEST(the_greatest_frames_arrive_whole)
{
        struct peer *near, *far;
        start(_i);
        server.echoes = true;
        join(&near, &far);
        const uint32_t frames = kind_share((enum kind)_i, 12);
        peer_pump(near, frames, SC_FRAME_MAX, 1);
        ck_assert(node_wait_u64(&client, &near->frames_in, frames, 30));
        ck_assert_uint_eq(near->wrong + far->wrong, 0);
        ck_assert_uint_eq(near->bytes_in, (uint64_t)frames * SC_FRAME_MAX);
        finish();
}
END_TEST

START_TEST(a_frame_longer_than_allowed_closes_its_link_only)
{
        struct peer *near, *far, *good, *good_far;
        start(_i);
        server.echoes = true;
        join(&good, &good_far);
        join(&near, &far);
        uint8_t bytes[FRAME_MIN];
        frame_fill(bytes, sizeof bytes, 0);
        const uint32_t length = SC_FRAME_MAX + 1;
        memcpy(bytes, &length, sizeof length);
        peer_send_raw(near, bytes, sizeof bytes);
        ck_assert(peer_wait_down(far, 10));
        ck_assert_int_eq(far->status, SC_E_PROTOCOL);
        ck_assert(peer_wait_down(near, 10));
        ck_assert_uint_eq(far->frames_in, 0);
        peer_pump(good, 10, 100, 1);
        ck_assert(node_wait_u64(&client, &good->frames_in, 10, 10));
        finish();
}
END_TEST

START_TEST(a_frame_shorter_than_its_header_closes_its_link)
{
        struct peer *near, *far;
        start(_i);
        join(&near, &far);
        uint8_t bytes[2 * FRAME_MIN] = { 0 };
        frame_fill(bytes, FRAME_MIN, 0); /* a good one first */
        bytes[FRAME_MIN] = 23;
        peer_send_raw(near, bytes, sizeof bytes);
        ck_assert(peer_wait_down(far, 10));
        ck_assert_int_eq(far->status, SC_E_PROTOCOL);
        ck_assert_uint_eq(far->frames_in, 1);
        finish();
}
END_TEST

START_TEST(a_peer_that_does_not_read_holds_up_nobody_else)
{
        struct peer *near, *far, *good, *good_far;
        start(_i);
        server.echoes = true;
        join(&near, &far);
        join(&good, &good_far);
        peer_pause(far, true);
        const size_t before = atomic_load(&client.mem.used);
        peer_pump(near, 2000, 50000, 4); /* 100 MB */
        const uint32_t frames = kind_share((enum kind)_i, 20000);
        peer_pump(good, frames, 100, 10);
        ck_assert(node_wait_u64(&client, &good->frames_in, frames, 30));
        ck_assert_uint_lt(node_read(&client, &near->frames_out), 2000);
        ck_assert_uint_lt(atomic_load(&client.mem.used) - before, 2u << 20);
        ck_assert_uint_eq(node_read(&server, &far->frames_in), 0);
        peer_pause(far, false);
        ck_assert(node_wait_u64(&client, &near->frames_in, 2000, 60));
        ck_assert_uint_eq(near->wrong + far->wrong + good->wrong + good_far->wrong, 0);
        finish();
}
END_TEST

START_TEST(the_other_end_hears_of_a_close_at_once)
{
        struct peer *near, *far;
        start(_i);
        join(&near, &far);
        peer_close(near);
        ck_assert(peer_wait_down(far, 10));
        ck_assert_int_eq(far->status, SC_E_UNREACHABLE);
        ck_assert_int_eq(near->downs, 0);
        join(&near, &far);
        peer_close(far);
        ck_assert(peer_wait_down(near, 10));
        finish();
}
END_TEST

START_TEST(what_was_sent_before_close_after_arrives)
{
        struct peer *near, *far;
        start(_i);
        join(&near, &far);
        peer_pump(near, 1, SC_FRAME_MAX, 1);
        peer_close_after(near, 10 * SC_S);
        ck_assert(peer_wait_down(far, 10));
        ck_assert_uint_eq(far->frames_in, 1);
        ck_assert_uint_eq(far->wrong, 0);
        ck_assert_int_eq(near->downs, 0);
        finish();
}
END_TEST

START_TEST(what_was_sent_before_the_net_ended_arrives_when_it_had_left)
{
        struct peer *near, *far;
        start(_i);
        join(&near, &far);
        peer_pump(near, 1, 1000, 1);
        if (_i == KIND_TLS) /* the handshake comes first */
                ck_assert(node_wait_u64(&client, &near->writables, 1, 10));
        node_stop_net(&client);
        ck_assert(peer_wait_down(far, 10));
        ck_assert_uint_eq(far->frames_in, 1);
        finish();
}
END_TEST

START_TEST(lingering_ends_when_its_time_is_over)
{
        struct peer *near, *far;
        start(_i);
        join(&near, &far);
        peer_pause(far, true);
        peer_pump(near, 1, SC_FRAME_MAX, 1);
        peer_close_after(near, 50 * SC_MS);
        const sc_ns begun = sc_clock_now();
        peer_pause(far, true);
        while (_i != KIND_MEM && atomic_load(&client.mem.used) > SC_FRAME_MAX && sc_clock_now() - begun < 10 * SC_S)
                sc_loop_wake(client.loop); /* nothing to wait on: memory is what shows it */
        if (_i != KIND_MEM)
                ck_assert_uint_lt(atomic_load(&client.mem.used), SC_FRAME_MAX);
        peer_pause(far, false);
        ck_assert(peer_wait_down(far, 10));
        finish();
}
END_TEST

START_TEST(a_refused_connection_ends_at_both_ends)
{
        start(_i);
        server.refuses    = true;
        struct peer *near = node_dialled(&client, node_dial(&client, server.bound), 10);
        ck_assert_ptr_nonnull(near);
        ck_assert(peer_wait_down(near, 10));
        finish();
}
END_TEST

START_TEST(a_paused_peer_is_not_called_until_it_resumes)
{
        struct peer *near, *far;
        start(_i);
        join(&near, &far);
        peer_pause(far, true);
        peer_pump(near, 100, 1000, 100);
        join(&(struct peer *){ NULL }, &(struct peer *){ NULL }); /* a round trip later */
        ck_assert_uint_eq(node_read(&server, &far->frames_in), 0);
        peer_close_after(near, 10 * SC_S);
        peer_pause(far, false);
        ck_assert(peer_wait_down(far, 10));
        ck_assert_uint_eq(far->frames_in, 100);
        finish();
}
END_TEST

START_TEST(both_ends_may_live_on_one_loop)
{
        struct node other;
        node_start(&server, (enum kind)_i);
        node_start_beside(&other, &server);
        node_listen(&server);
        server.echoes     = true;
        struct peer *near = node_dialled(&other, node_dial(&other, server.bound), 10);
        ck_assert_ptr_nonnull(near);
        const uint32_t frames = kind_share((enum kind)_i, 20000);
        peer_pump(near, frames, 200, 5);
        ck_assert(node_wait_u64(&other, &near->frames_in, frames, 30));
        ck_assert_uint_eq(near->wrong, 0);
        node_stop_net(&other);
        sc_buf_fini(&near->echo);
        free(near);
        node_stop(&server);
}
END_TEST

START_TEST(buffers_of_an_idle_link_shrink)
{
        struct peer *near, *far;
        start(_i);
        server.echoes = true;
        join(&near, &far);
        peer_pump(near, 2, SC_FRAME_MAX, 1);
        ck_assert(node_wait_u64(&client, &near->frames_in, 2, 30));
        const sc_ns begun = sc_clock_now();
        while (_i != KIND_MEM && sc_clock_now() - begun < 10 * SC_S &&
               atomic_load(&client.mem.used) + atomic_load(&server.mem.used) > 64 * 1024)
                node_wait_u64(&client, &near->frames_in, UINT64_MAX, 1); /* a second, in which nothing happens */
        if (_i != KIND_MEM)
                ck_assert_uint_lt(atomic_load(&client.mem.used) + atomic_load(&server.mem.used), 64 * 1024);
        peer_pump(near, 10, 1000, 1);
        finish();
}
END_TEST

START_TEST(a_net_stops_cleanly_while_busy_many_times)
{
        struct peer *near, *far;
        for (uint32_t i = 0; i < kind_share((enum kind)_i, 200); i++) {
                start(_i);
                server.echoes = client.echoes = true;
                join(&near, &far);
                peer_pump(near, UINT64_MAX, 200, 20);
                peer_pump(far, UINT64_MAX, 3000, 3);
                ck_assert(node_wait_u64(&server, &far->frames_in, 100, 10));
                ck_assert(node_wait_u64(&client, &near->frames_in, 100, 10));
                node_stop_net(i % 2 ? &client : &server);
                finish();
        }
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("every kind of net");
        tcase_add_loop_test(tests, a_frame_goes_there_and_back, 0, KINDS);
        tcase_add_loop_test(tests, frames_keep_their_order_with_both_directions_busy, 0, KINDS);
        tcase_add_loop_test(tests, the_greatest_frames_arrive_whole, 0, KINDS);
        tcase_add_loop_test(tests, a_frame_longer_than_allowed_closes_its_link_only, 0, KINDS);
        tcase_add_loop_test(tests, a_frame_shorter_than_its_header_closes_its_link, 0, KINDS);
        tcase_add_loop_test(tests, a_peer_that_does_not_read_holds_up_nobody_else, 0, KINDS);
        tcase_add_loop_test(tests, the_other_end_hears_of_a_close_at_once, 0, KINDS);
        tcase_add_loop_test(tests, what_was_sent_before_close_after_arrives, 0, KINDS);
        tcase_add_loop_test(tests, what_was_sent_before_the_net_ended_arrives_when_it_had_left, 0, KINDS);
        tcase_add_loop_test(tests, lingering_ends_when_its_time_is_over, 0, KINDS);
        tcase_add_loop_test(tests, a_refused_connection_ends_at_both_ends, 0, KINDS);
        tcase_add_loop_test(tests, a_paused_peer_is_not_called_until_it_resumes, 0, KINDS);
        tcase_add_loop_test(tests, both_ends_may_live_on_one_loop, 0, KINDS);
        tcase_add_loop_test(tests, buffers_of_an_idle_link_shrink, 0, KINDS);
        tcase_add_loop_test(tests, a_net_stops_cleanly_while_busy_many_times, 0, KINDS);
        certs_make();
        const int result = run_tests("links", tests);
        certs_remove();
        return result;
}
