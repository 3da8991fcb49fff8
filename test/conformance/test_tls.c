/*
 * Who is believed under TLS, and in which words the others end: each refusal, at both ends, never a wait.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "certs.h"
#include "msg.h"
#include "node.h"
#include "raw.h"
#include "run_tests.h"
#include "sc_rng.h"
#include "sc_status.h"

static struct node server, client;

struct setting { /* names of files of test/certificates.py; NULL: none */
        const char *cert, *ca, *name;
        bool        mutual, unverified;
};

static const char *path_of(const char *name, const char *ending, char path[CERT_PATH_MAX])
{
        char file[64];
        if (!name)
                return NULL;
        snprintf(file, sizeof file, "%s%s", name, ending);
        return cert_path(file, path);
}

static int secure(struct node *node, const struct setting *s, struct sc_why *why)
{
        char                cert[CERT_PATH_MAX], key[CERT_PATH_MAX], ca[CERT_PATH_MAX];
        const struct sc_tls tls = { .cert_file   = path_of(s->cert, ".pem", cert),
                                    .key_file    = path_of(s->cert, ".key", key),
                                    .ca_file     = path_of(s->ca, ".pem", ca),
                                    .server_name = s->name,
                                    .mutual      = s->mutual,
                                    .unverified  = s->unverified };
        sc_loop_hold(node->loop);
        const int status = sc_net_nng_secure(node->net, &tls, why);
        sc_loop_release(node->loop);
        return status;
}

static void start(struct setting listening, struct setting dialling)
{
        struct sc_why why;
        node_start(&server, KIND_TLS);
        node_start(&client, KIND_TLS);
        server.echoes = true;
        ck_assert_int_eq(secure(&server, &listening, &why), 0);
        ck_assert_int_eq(secure(&client, &dialling, &why), 0);
        node_listen(&server);
}

static void finish(void)
{
        node_stop(&client);
        node_stop(&server);
}

static struct peer *dial(const char *url)
{
        struct peer *near = node_dialled(&client, node_dial(&client, url), 10);
        ck_assert_ptr_nonnull(near);
        peer_pump(near, 1, FRAME_MIN, 1);
        return near;
}

static void expect_let_in(struct setting listening, struct setting dialling)
{
        start(listening, dialling);
        struct peer *near = dial(server.bound);
        ck_assert(node_wait_u64(&client, &near->frames_in, 1, 10));
        ck_assert_uint_eq(near->wrong, 0);
        finish();
}

/* The dialling end says it so; what the listening end hears is one word of its own. */
static void expect_refused(struct setting listening, struct setting dialling, int status, const char *words)
{
        start(listening, dialling);
        struct peer *near = dial(server.bound);
        ck_assert(peer_wait_down(near, 10));
        ck_assert_msg(near->status == status, "%s: %s", sc_status_name(near->status), near->why);
        ck_assert_msg(strstr(near->why, words) != NULL, "\"%s\" does not say \"%s\"", near->why, words);
        ck_assert(node_wait_u32(&server, &server.downs, 1, 10));
        ck_assert_uint_eq(node_newest(&server)->frames_in, 0);
        ck_assert_uint_gt(strlen(node_newest(&server)->why), 20);
        finish();
}

static const struct setting address = { .cert = "address" }, trusting = { .ca = "ca" };

START_TEST(a_certificate_of_the_trusted_authority_is_believed)
{
        expect_let_in(address, trusting);
        expect_let_in((struct setting){ .cert = "server" }, (struct setting){ .ca = "ca", .name = "localhost" });
        expect_let_in((struct setting){ .cert = "server" }, (struct setting){ .ca = "ca", .name = "node.example" });
}
END_TEST

static const char not_accepted[] = "certificate is not accepted";

START_TEST(a_certificate_of_another_authority_is_refused)
{
        expect_refused(address, (struct setting){ .ca = "other-ca" }, SC_E_DENIED, not_accepted);
        expect_refused((struct setting){ .cert = "stranger" }, (struct setting){ .ca = "ca", .name = "localhost" },
                       SC_E_DENIED, not_accepted);
}
END_TEST

START_TEST(a_certificate_for_another_name_is_refused)
{
        expect_refused((struct setting){ .cert = "server" }, trusting, SC_E_DENIED, not_accepted);
        expect_refused(address, (struct setting){ .ca = "ca", .name = "localhost" }, SC_E_DENIED, not_accepted);
}
END_TEST

START_TEST(a_certificate_out_of_its_dates_is_refused)
{
        expect_refused((struct setting){ .cert = "expired" }, (struct setting){ .ca = "ca", .name = "localhost" },
                       SC_E_DENIED, not_accepted);
}
END_TEST

START_TEST(a_revoked_certificate_is_refused)
{
        expect_refused((struct setting){ .cert = "server" }, (struct setting){ .ca = "revoked", .name = "localhost" },
                       SC_E_DENIED, not_accepted);
}
END_TEST

START_TEST(who_wants_to_believe_everybody_does)
{
        expect_let_in((struct setting){ .cert = "stranger" }, (struct setting){ .unverified = true });
        expect_let_in((struct setting){ .cert = "expired" }, (struct setting){ .unverified = true });
}
END_TEST

START_TEST(mutual_tls_lets_in_whom_the_authority_has_signed)
{
        const struct setting mutual = { .cert = "address", .ca = "ca", .mutual = true };
        expect_let_in(mutual, (struct setting){ .cert = "client", .ca = "ca" });
}
END_TEST

/* What the dialling end hears depends on whether the alert gets out before the end does; either is an end. */
static void expect_shut_out(struct setting dialling)
{
        start((struct setting){ .cert = "address", .ca = "ca", .mutual = true }, dialling);
        struct peer *near = dial(server.bound);
        ck_assert(peer_wait_down(near, 10));
        ck_assert_msg(strstr(near->why, "does not accept our side's certificate") != NULL, "%s", near->why);
        ck_assert(node_wait_u32(&server, &server.downs, 1, 10));
        ck_assert_int_eq(node_newest(&server)->status, SC_E_DENIED);
        ck_assert_msg(strstr(node_newest(&server)->why, not_accepted) != NULL, "%s", node_newest(&server)->why);
        ck_assert_uint_eq(node_newest(&server)->frames_in, 0);
        finish();
}

START_TEST(mutual_tls_shuts_out_all_others)
{
        expect_shut_out(trusting);
        expect_shut_out((struct setting){ .cert = "stranger", .ca = "ca" });
        expect_shut_out((struct setting){ .cert = "expired", .ca = "ca" });
}
END_TEST

START_TEST(a_plain_peer_on_a_tls_port_is_down_at_both_ends)
{
        start(address, trusting);
        struct peer *near = dial(server.bound + strlen("tls+"));
        ck_assert(peer_wait_down(near, 10));
        ck_assert_msg(strstr(near->why, "tls+tcp://") != NULL, "%s", near->why);
        ck_assert(node_wait_u32(&server, &server.downs, 1, 10));
        ck_assert_int_eq(node_newest(&server)->status, SC_E_PROTOCOL);
        ck_assert_msg(strstr(node_newest(&server)->why, "no TLS came about") != NULL, "%s", node_newest(&server)->why);
        finish();
}
END_TEST

START_TEST(a_tls_peer_on_a_plain_port_is_down_at_both_ends)
{
        char          url[SC_URL_MAX + 5];
        struct sc_why why;
        node_start(&server, KIND_TCP);
        node_start(&client, KIND_TLS);
        ck_assert_int_eq(secure(&client, &trusting, &why), 0);
        node_listen(&server);
        snprintf(url, sizeof url, "tls+%s", server.bound);
        struct peer *near = dial(url);
        ck_assert(peer_wait_down(near, 10));
        ck_assert_msg(strstr(near->why, "speaks no TLS") != NULL, "%s", near->why);
        ck_assert(node_wait_u32(&server, &server.downs, 1, 10));
        ck_assert_int_eq(node_newest(&server)->status, SC_E_PROTOCOL);
        ck_assert_msg(strstr(node_newest(&server)->why, "speaks TLS") != NULL, "%s", node_newest(&server)->why);
        finish();
}
END_TEST

static void expect_unusable(struct setting s, int status, const char *words)
{
        struct sc_why why = { "" };
        const int     got = secure(&server, &s, &why);
        ck_assert_msg(got == status, "%s: %s", sc_status_name(got), why.text);
        ck_assert_msg(strstr(why.text, words) != NULL, "\"%s\" does not say \"%s\"", why.text, words);
}

START_TEST(files_that_are_no_use_are_refused_in_words)
{
        char name[SC_TLS_NAME_MAX + 2];
        memset(name, 'n', sizeof name);
        name[sizeof name - 1] = '\0';
        node_start(&server, KIND_TLS);
        expect_unusable((struct setting){ .cert = "none" }, SC_E_IO, "no such file");
        expect_unusable((struct setting){ .ca = "none" }, SC_E_IO, "no such file");
        expect_unusable((struct setting){ .cert = "address", .mutual = true }, SC_E_INVALID, "needs the certificates");
        expect_unusable((struct setting){ .ca = "ca", .name = "" }, SC_E_INVALID, "name");
        expect_unusable((struct setting){ .ca = "ca", .name = name }, SC_E_INVALID, "name");
        char                key[CERT_PATH_MAX], cert[CERT_PATH_MAX];
        struct sc_why       why = { "" };
        struct sc_tls       tls = { .cert_file = cert_path("server.key", key) };
        sc_loop_hold(server.loop);
        ck_assert_int_eq(sc_net_nng_secure(server.net, &tls, &why), SC_E_INVALID);
        ck_assert_ptr_nonnull(strstr(why.text, "no certificate"));
        tls = (struct sc_tls){ .cert_file = cert_path("server.pem", cert), .key_file = cert };
        ck_assert_int_eq(sc_net_nng_secure(server.net, &tls, &why), SC_E_INVALID);
        ck_assert_ptr_nonnull(strstr(why.text, "no private key"));
        tls = (struct sc_tls){ .ca_file = key };
        ck_assert_int_eq(sc_net_nng_secure(server.net, &tls, &why), SC_E_INVALID);
        tls = (struct sc_tls){ .key_file = key };
        ck_assert_int_eq(sc_net_nng_secure(server.net, &tls, &why), SC_E_INVALID);
        tls = (struct sc_tls){ .cert_file = cert_path("both.pem", cert) };
        ck_assert_int_eq(sc_net_nng_secure(server.net, &tls, &why), 0);
        sc_loop_release(server.loop);
        node_stop(&server);
}
END_TEST

START_TEST(tls_addresses_need_what_they_go_by)
{
        struct sc_listener *listener;
        char                bound[SC_URL_MAX + 1];
        struct sc_why       why = { "" };
        node_start(&server, KIND_TCP);
        sc_loop_hold(server.loop);
        ck_assert_int_eq(server.net->ops->listen(server.net, "tls+tcp://127.0.0.1:0", &listener, bound, &why),
                         SC_E_INVALID);
        ck_assert_ptr_nonnull(strstr(why.text, "certificate"));
        ck_assert_int_eq(server.net->ops->dial(server.net, "tls+tcp://127.0.0.1:9", 1, &why), SC_E_INVALID);
        ck_assert_ptr_nonnull(strstr(why.text, "CA"));
        sc_loop_release(server.loop);
        node_stop(&server);
}
END_TEST

START_TEST(garbage_and_silence_on_a_tls_port_leave_nothing)
{
        struct sc_rng rng = { 11 };
        start(address, trusting);
        struct peer *near = dial(server.bound);
        ck_assert(node_wait_u64(&client, &near->frames_in, 1, 10));
        const size_t before = open_descriptors();
        for (uint32_t i = 0; i < 200; i++) {
                uint8_t bytes[512];
                int     fd = raw_connect(server.bound + strlen("tls+"));
                for (size_t b = 0; b < sizeof bytes; b++)
                        bytes[b] = (uint8_t)sc_rng_next(&rng);
                if (i % 4 == 1) /* a record of the handshake that promises more */
                        memcpy(bytes, "\x16\x03\x01\x40\x00\x01\x00\x3f\xfc\x03\x03", 11);
                if (i % 4 != 0)
                        raw_write(fd, bytes, sizeof bytes);
                if (i % 4 == 3)
                        raw_reset(fd);
                else
                        close(fd);
        }
        ck_assert(node_wait_u32(&server, &server.downs, 150, 30));
        ck_assert(wait_descriptors(before, 10));
        peer_pump(near, 10, 1000, 1);
        ck_assert(node_wait_u64(&client, &near->frames_in, 11, 10));
        finish();
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("TLS");
        tcase_add_test(tests, a_certificate_of_the_trusted_authority_is_believed);
        tcase_add_test(tests, a_certificate_of_another_authority_is_refused);
        tcase_add_test(tests, a_certificate_for_another_name_is_refused);
        tcase_add_test(tests, a_certificate_out_of_its_dates_is_refused);
        tcase_add_test(tests, a_revoked_certificate_is_refused);
        tcase_add_test(tests, who_wants_to_believe_everybody_does);
        tcase_add_test(tests, mutual_tls_lets_in_whom_the_authority_has_signed);
        tcase_add_test(tests, mutual_tls_shuts_out_all_others);
        tcase_add_test(tests, a_plain_peer_on_a_tls_port_is_down_at_both_ends);
        tcase_add_test(tests, a_tls_peer_on_a_plain_port_is_down_at_both_ends);
        tcase_add_test(tests, files_that_are_no_use_are_refused_in_words);
        tcase_add_test(tests, tls_addresses_need_what_they_go_by);
        tcase_add_test(tests, garbage_and_silence_on_a_tls_port_leave_nothing);
        certs_make();
        const int result = run_tests("TLS", tests);
        certs_remove();
        return result;
}
