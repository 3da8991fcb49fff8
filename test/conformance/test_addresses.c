/*
 * Addresses: what can be listened on and dialled, and in which words the rest is refused.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "certs.h"
#include "node.h"
#include "run_tests.h"
#include "sc_status.h"

static struct node   node;
static struct sc_why why;
static char          bound[SC_URL_MAX + 1];

static int listen_at(const char *url)
{
        struct sc_listener *listener;
        sc_loop_hold(node.loop);
        why.text[0] = '\0';
        int status  = node.net->ops->listen(node.net, url, &listener, bound, &why);
        sc_loop_release(node.loop);
        return status;
}

static int dial(const char *url)
{
        sc_loop_hold(node.loop);
        why.text[0] = '\0';
        int status  = node.net->ops->dial(node.net, url, 1, &why);
        sc_loop_release(node.loop);
        return status;
}

static void refused(int status, int expected, const char *word)
{
        ck_assert_int_eq(status, expected);
        ck_assert_msg(strstr(why.text, word) != NULL, "\"%s\" does not say \"%s\"", why.text, word);
}

START_TEST(malformed_addresses_are_refused_in_words)
{
        node_start(&node, KIND_TCP);
        static const char *const bad[] = {
                "", "tcp", "tcp:/x", "tcp://", "tcp://:80", "tcp://host", "tcp://host:", "tcp://host:http",
                "tcp://host:65536", "tcp://host:-1", "tcp://host:99999999999", "tcp://::1:80", "tcp://host:80/path",
                "ipc://", "ipc://relative", "http://host:80", "inproc://", "abstract://with space", "TCP://host:80",
        };
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
                ck_assert_msg(listen_at(bad[i]) == SC_E_ADDRESS, "%s", bad[i]);
                ck_assert_uint_gt(strlen(why.text), 10);
                ck_assert_msg(dial(bad[i]) == SC_E_ADDRESS, "%s", bad[i]);
                ck_assert_uint_gt(strlen(why.text), 10);
        }
        char path[SC_URL_MAX + 2];
        memset(path, 'x', sizeof path);
        memcpy(path, "ipc:///", 7);
        path[7 + 107] = '\0';
        refused(listen_at(path), SC_E_ADDRESS, "too long");
        memset(path + 7, 'x', sizeof path - 7);
        path[SC_URL_MAX + 1] = '\0';
        refused(dial(path), SC_E_ADDRESS, "longer");
        refused(dial("tcp://127.0.0.1:0"), SC_E_ADDRESS, "port 0");
        node_stop(&node);
}
END_TEST

START_TEST(schemes_of_later_are_not_supported)
{
        node_start(&node, KIND_TCP);
        refused(dial("ws://127.0.0.1:80"), SC_E_UNSUPPORTED, "not supported");
        refused(dial("wss://127.0.0.1:80"), SC_E_UNSUPPORTED, "not supported");
        node_stop(&node);
}
END_TEST

START_TEST(an_address_in_use_is_told_so)
{
        char first[SC_URL_MAX + 1];
        node_start(&node, (enum kind)_i);
        node_listen(&node);
        snprintf(first, sizeof first, "%s", node.bound);
        refused(listen_at(first), SC_E_ADDRESS, "in use");
        ck_assert_int_eq(dial(first), 0); /* and the one that lives there is not harmed */
        ck_assert(node_wait_u32(&node, &node.ups, 2, 10));
        node_stop(&node);
}
END_TEST

START_TEST(a_name_that_cannot_be_resolved_is_told_so)
{
        node_start(&node, KIND_TCP);
        refused(listen_at("tcp://no-such-host.invalid:4000"), SC_E_ADDRESS, "resolved");
        ck_assert_int_eq(dial("tcp://no-such-host.invalid:4000"), 0);
        ck_assert(node_wait_u32(&node, &node.dials_failed, 1, 60));
        node_stop(&node);
}
END_TEST

START_TEST(port_0_is_told_as_the_real_one)
{
        node_start(&node, KIND_TCP);
        ck_assert_int_eq(listen_at("tcp://127.0.0.1:0"), 0);
        ck_assert_msg(strncmp(bound, "tcp://127.0.0.1:", 16) == 0 && atoi(bound + 16) > 0, "%s", bound);
        ck_assert_int_eq(listen_at("abstract://"), 0);
        ck_assert_uint_gt(strlen(bound), strlen("abstract://"));
        if (listen_at("tcp://[::1]:0") == 0) { /* where there is IPv6 */
                ck_assert_msg(strncmp(bound, "tcp://[::1]:", 12) == 0 && atoi(bound + 12) > 0, "%s", bound);
                ck_assert_int_eq(dial(bound), 0);
                ck_assert(node_wait_u32(&node, &node.ups, 2, 10));
        }
        node_stop(&node);
}
END_TEST

START_TEST(nobody_there_is_a_dial_that_failed)
{
        static const char *const nobody[] = { "ipc:///tmp/scaler-nobody-is-here", "abstract://scaler-nobody",
                                              "inproc://nobody" };
        node_start(&node, KIND_TCP);
        ck_assert_int_eq(dial(nobody[0]), 0);
        ck_assert_int_eq(dial(nobody[1]), 0);
        ck_assert_int_eq(dial(nobody[2]), 0);
        ck_assert(node_wait_u32(&node, &node.dials_failed, 3, 10));
        ck_assert_int_eq(node.dial_status, SC_E_UNREACHABLE);
        node_stop(&node);
        node_start(&node, KIND_MEM);
        ck_assert_int_eq(dial(nobody[2]), 0);
        ck_assert(node_wait_u32(&node, &node.dials_failed, 1, 10));
        ck_assert_int_eq(node.dial_status, SC_E_UNREACHABLE);
        node_stop(&node);
}
END_TEST

static char dir[] = "/tmp/scaler-addresses-XXXXXX";

static void path_url(char url[SC_URL_MAX + 1], const char *name)
{
        snprintf(url, SC_URL_MAX + 1, "ipc://%s/%s", dir, name);
}

START_TEST(a_dead_socket_file_is_replaced_and_another_file_is_not)
{
        char url[SC_URL_MAX + 1];
        ck_assert_ptr_nonnull(mkdtemp(dir));
        node_start(&node, KIND_IPC);
        path_url(url, "dead");
        struct sockaddr_un un = { .sun_family = AF_UNIX };
        snprintf(un.sun_path, sizeof un.sun_path, "%.100s", url + 6);
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ck_assert_int_eq(bind(fd, (const struct sockaddr *)&un, sizeof un), 0);
        close(fd); /* the file stays, as after a crash */
        ck_assert_int_eq(access(un.sun_path, F_OK), 0);
        ck_assert_int_eq(listen_at(url), 0);
        path_url(url, "file");
        FILE *file = fopen(url + 6, "we");
        ck_assert_ptr_nonnull(file);
        fclose(file);
        refused(listen_at(url), SC_E_ADDRESS, "not a socket");
        ck_assert_int_eq(access(url + 6, F_OK), 0);
        unlink(url + 6);
        path_url(url, "no/such/directory");
        refused(listen_at(url), SC_E_ADDRESS, "directory");
        node_stop(&node);
        ck_assert_int_eq(access(un.sun_path, F_OK), -1); /* a listener that ends takes its file along */
        ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

START_TEST(a_cancelled_dial_is_not_heard_of_again)
{
        struct node client;
        node_start(&node, (enum kind)_i);
        node_start(&client, (enum kind)_i);
        node_listen(&node);
        uint32_t heard = 0; /* of dials that ended before they were cancelled */
        for (int i = 0; i < 200; i++) {
                const uint64_t ticket = 1000 + (uint64_t)i;
                sc_loop_hold(client.loop);
                ck_assert_uint_eq(client.ups + client.dials_failed, heard);
                ck_assert_int_eq(client.net->ops->dial(client.net, node.bound, ticket, &why), 0);
                if (i % 2) {
                        sc_loop_release(client.loop);
                        sc_loop_hold(client.loop);
                }
                client.net->ops->dial_cancel(client.net, ticket);
                heard = client.ups + client.dials_failed;
                sc_loop_release(client.loop);
        }
        struct peer *peer = NULL;
        for (int i = 0; i < 30 && !peer; i++) /* the listener's queue may still be full of what was cancelled */
                peer = node_dialled(&client, node_dial(&client, node.bound), 1);
        ck_assert_ptr_nonnull(peer);
        node_stop(&client);
        node_stop(&node);
}
END_TEST

START_TEST(nobody_is_let_in_after_unlisten)
{
        struct node client;
        node_start(&node, (enum kind)_i);
        node_start(&client, (enum kind)_i);
        node_listen(&node);
        struct peer *peer = node_dialled(&client, node_dial(&client, node.bound), 10);
        ck_assert_ptr_nonnull(peer);
        ck_assert(node_wait_u32(&node, &node.ups, 1, 10));
        sc_loop_hold(node.loop);
        node.net->ops->unlisten(node.net, node.listener);
        sc_loop_release(node.loop);
        const sc_ns until = sc_clock_now() + 10 * SC_S;
        while (node_read_u32(&client, &client.dials_failed) == 0 && sc_clock_now() < until) {
                node_dial(&client, node.bound);
                node_wait_u32(&client, &client.dials_failed, 1, 1);
        }
        ck_assert_uint_gt(node_read_u32(&client, &client.dials_failed), 0);
        peer_pump(peer, 10, 100, 1); /* who is in stays in */
        ck_assert(node_wait_u64(&client, &peer->writables, 10, 10));
        node_stop(&client);
        node_stop(&node);
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("addresses");
        tcase_add_test(tests, malformed_addresses_are_refused_in_words);
        tcase_add_test(tests, schemes_of_later_are_not_supported);
        tcase_add_loop_test(tests, an_address_in_use_is_told_so, 0, KINDS);
        tcase_add_test(tests, a_name_that_cannot_be_resolved_is_told_so);
        tcase_add_test(tests, port_0_is_told_as_the_real_one);
        tcase_add_test(tests, nobody_there_is_a_dial_that_failed);
        tcase_add_test(tests, a_dead_socket_file_is_replaced_and_another_file_is_not);
        tcase_add_loop_test(tests, a_cancelled_dial_is_not_heard_of_again, 0, KINDS);
        tcase_add_loop_test(tests, nobody_is_let_in_after_unlisten, 0, KINDS);
        certs_make();
        const int result = run_tests("addresses", tests);
        certs_remove();
        return result;
}
