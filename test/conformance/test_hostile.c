/*
 * Peers that do not behave, over plain sockets: garbage, lengths that lie, storms of connections,
 * half-open ones, and a process that runs out of descriptors.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "msg.h"
#include "node.h"
#include "raw.h"
#include "run_tests.h"
#include "sc_rng.h"
#include "sc_status.h"

enum { RAW_KINDS = KIND_MEM }; /* tcp, ipc, abstract */

static struct node server, client;

static void start(int kind)
{
        node_start(&server, (enum kind)kind);
        node_start(&client, (enum kind)kind);
        server.echoes = true;
        node_listen(&server);
}

/* Whatever happened: the listener serves, and a well-behaved peer gets its frames back. */
static void finish_in_good_health(void)
{
        struct peer *near = node_dialled(&client, node_dial(&client, server.bound), 10);
        ck_assert_ptr_nonnull(near);
        peer_pump(near, 100, 1000, 10);
        ck_assert(node_wait_u64(&client, &near->frames_in, 100, 10));
        ck_assert_uint_eq(near->wrong, 0);
        node_stop(&client);
        node_stop(&server);
}

static struct peer *raw_peer(int *fd)
{
        const uint32_t ups = node_read_u32(&server, &server.ups);
        *fd                = raw_connect(server.bound);
        ck_assert(node_wait_u32(&server, &server.ups, ups + 1, 10));
        return node_newest(&server);
}

START_TEST(garbage_closes_its_link)
{
        start(_i);
        struct sc_rng rng = { 7 };
        for (int round = 0; round < 20; round++) {
                uint8_t      bytes[4096];
                int          fd;
                struct peer *peer = raw_peer(&fd);
                for (size_t i = 0; i < sizeof bytes; i++)
                        bytes[i] = (uint8_t)sc_rng_next(&rng);
                bytes[3] |= 0x40; /* as a length: a gigabyte */
                raw_write(fd, bytes, sizeof bytes);
                ck_assert(peer_wait_down(peer, 10));
                ck_assert_int_eq(peer->status, SC_E_PROTOCOL);
                ck_assert_uint_eq(peer->frames_in, 0);
                ck_assert(raw_ended(fd, 10));
                close(fd);
        }
        finish_in_good_health();
}
END_TEST

START_TEST(garbage_after_a_hello_closes_its_link)
{
        int     fd;
        uint8_t bytes[200 + 64];
        start(_i);
        struct peer *peer = raw_peer(&fd);
        frame_fill(bytes, 200, 0);
        memset(bytes + 200, 0xff, 64);
        raw_write(fd, bytes, sizeof bytes);
        ck_assert(peer_wait_down(peer, 10));
        ck_assert_int_eq(peer->status, SC_E_PROTOCOL);
        ck_assert_uint_eq(peer->frames_in, 1);
        ck_assert(raw_ended(fd, 10));
        close(fd);
        finish_in_good_health();
}
END_TEST

START_TEST(an_announced_length_is_not_allocated)
{
        int fds[16];
        start(_i);
        const size_t   before = atomic_load(&server.mem.used);
        const uint32_t length = SC_FRAME_MAX;
        uint8_t        bytes[1000];
        frame_fill(bytes, sizeof bytes, 0);
        memcpy(bytes, &length, sizeof length);
        for (int i = 0; i < 16; i++) {
                raw_peer(&fds[i]);
                ck_assert(raw_write(fds[i], bytes, sizeof bytes));
        }
        ck_assert_uint_lt(atomic_load(&server.mem.used) - before, 16 * 16 * 1024);
        for (int i = 0; i < 16; i++)
                close(fds[i]);
        ck_assert(node_wait_u32(&server, &server.downs, 16, 10));
        finish_in_good_health();
}
END_TEST

START_TEST(frames_that_come_in_single_bytes_arrive_whole)
{
        int     fd;
        uint8_t bytes[300];
        start(_i);
        struct peer *peer = raw_peer(&fd);
        frame_fill(bytes, 100, 0);
        frame_fill(bytes + 100, 200, 1);
        for (size_t i = 0; i < sizeof bytes; i++)
                ck_assert(raw_write(fd, bytes + i, 1));
        ck_assert(node_wait_u64(&server, &peer->frames_in, 2, 10));
        ck_assert_uint_eq(peer->wrong, 0);
        close(fd);
        ck_assert(peer_wait_down(peer, 10));
        finish_in_good_health();
}
END_TEST

START_TEST(a_half_open_connection_is_down)
{
        int fd;
        start(_i);
        struct peer *peer = raw_peer(&fd);
        ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
        ck_assert(peer_wait_down(peer, 10));
        ck_assert_int_eq(peer->status, SC_E_UNREACHABLE);
        ck_assert(raw_ended(fd, 10));
        close(fd);
        finish_in_good_health();
}
END_TEST

START_TEST(a_reset_under_a_pending_send_is_down)
{
        int fd;
        start(_i);
        struct peer *peer = raw_peer(&fd);
        peer_pump(peer, 1000, 50000, 4);
        raw_reset(fd);
        ck_assert(peer_wait_down(peer, 10));
        finish_in_good_health();
}
END_TEST

START_TEST(storms_of_connections_leave_nothing)
{
        start(_i);
        int warm;
        raw_peer(&warm);
        close(warm);
        ck_assert(node_wait_u32(&server, &server.downs, 1, 10));
        const size_t before = open_descriptors();
        for (uint32_t i = 0; i < 600; i++) {
                int fd = raw_connect(server.bound);
                if (i % 3 == 0)
                        raw_write(fd, "GET / HTTP/1.0\r\n\r\n", 18);
                if (i % 3 == 1)
                        raw_reset(fd);
                else
                        close(fd);
        }
        const uint32_t ups = 500; /* one that is reset in the queue need not be accepted */
        ck_assert(node_wait_u32(&server, &server.ups, ups, 30));
        ck_assert(wait_descriptors(before + 1, 10));
        node_quiesce(&server, 10);
        finish_in_good_health();
}
END_TEST

static double cpu_seconds(void)
{
        struct rusage u;
        getrusage(RUSAGE_SELF, &u);
        return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
               (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

START_TEST(running_out_of_descriptors_is_survived_without_spinning)
{
        struct rlimit limit;
        int           fds[64], count = 0;
        start(_i);
        ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
        const struct rlimit kept = limit;
        limit.rlim_cur           = open_descriptors() + 20;
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
        const int first = raw_socket(server.bound), second = raw_socket(server.bound);
        for (int fd; count < 64 && (fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) >= 0; count++)
                fds[count] = fd; /* none left */
        const uint32_t ups    = node_read_u32(&server, &server.ups);
        const double   before = cpu_seconds();
        raw_join(first, server.bound); /* the listener's queue takes them */
        raw_join(second, server.bound);
        ck_assert(!node_wait_u32(&server, &server.ups, ups + 1, 1));
        ck_assert(cpu_seconds() - before < 0.25);
        for (int i = 0; i < count; i++)
                close(fds[i]);
        ck_assert(node_wait_u32(&server, &server.ups, ups + 2, 10));
        close(first);
        close(second);
        setrlimit(RLIMIT_NOFILE, &kept);
        finish_in_good_health();
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("hostile peers");
        tcase_add_loop_test(tests, garbage_closes_its_link, 0, RAW_KINDS);
        tcase_add_loop_test(tests, garbage_after_a_hello_closes_its_link, 0, RAW_KINDS);
        tcase_add_loop_test(tests, an_announced_length_is_not_allocated, 0, RAW_KINDS);
        tcase_add_loop_test(tests, frames_that_come_in_single_bytes_arrive_whole, 0, RAW_KINDS);
        tcase_add_loop_test(tests, a_half_open_connection_is_down, 0, RAW_KINDS);
        tcase_add_loop_test(tests, a_reset_under_a_pending_send_is_down, 0, RAW_KINDS);
        tcase_add_loop_test(tests, storms_of_connections_leave_nothing, 0, RAW_KINDS);
        tcase_add_loop_test(tests, running_out_of_descriptors_is_survived_without_spinning, 0, RAW_KINDS);
        return run_tests("hostile", tests);
}
