/*
 * Many peers, and peers that are other processes: killed under load, stopped, and two thousand at
 * once.  A child process is this very program, started anew with an address: nng does not survive a
 * fork.  A child echoes and pumps until it is killed, or this process has ended.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "certs.h"
#include "node.h"
#include "raw.h"
#include "run_tests.h"
#include "sc_status.h"

enum { KILLED = 200, CROWD = 2000, PROCESS_KINDS = KIND_MEM };

extern char **environ;

static struct node server;

/* ---- children ---------------------------------------------------------------------------------------- */

static _Noreturn void live_as_child(const char *url, const char *frames)
{
        struct node node;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(120);
        node_start(&node, strncmp(url, "tls", 3) == 0 ? KIND_TLS : KIND_TCP); /* the net is the same for all others */
        node.echoes    = true;
        node.pump      = strtoull(frames, NULL, 10);
        node.pump_size = 100;
        node_dial(&node, url);
        for (;;)
                pause();
}

static pid_t start_child(const char *url, const char *frames)
{
        char        path[256], *argv[] = { path, strdup(url), strdup(frames), NULL };
        pid_t       pid;
        ssize_t     len = readlink("/proc/self/exe", path, sizeof path - 1);
        ck_assert_int_gt(len, 0);
        path[len] = '\0';
        ck_assert_int_eq(posix_spawn(&pid, path, NULL, NULL, argv, environ), 0);
        free(argv[1]);
        free(argv[2]);
        return pid;
}

static void end_child(pid_t pid)
{
        int status;
        kill(pid, SIGKILL);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) { }
        ck_assert(WIFSIGNALED(status));
}

/* ---- tests ------------------------------------------------------------------------------------------- */

START_TEST(every_death_under_load_is_seen_and_no_descriptor_is_left)
{
        static pid_t pids[KILLED];
        node_start(&server, (enum kind)_i);
        server.echoes = true;
        node_listen(&server);
        pid_t first = start_child(server.bound, "1"); /* nng has opened what it needs */
        ck_assert(node_wait_u32(&server, &server.ups, 1, 30));
        const size_t before = open_descriptors();
        end_child(first);
        ck_assert(node_wait_u32(&server, &server.downs, 1, 10));
        for (uint32_t i = 0; i < KILLED; i++) {
                pids[i] = start_child(server.bound, "0");
                if (i % 20 == 19)
                        ck_assert(node_wait_u32(&server, &server.ups, i + 2, 60));
        }
        ck_assert_uint_eq(node_read_u32(&server, &server.live), KILLED);
        for (struct peer *peer = node_newest(&server); peer; peer = peer->next)
                peer_pump(peer, 2, 100, 1); /* and from then on each frame goes to and fro */
        for (struct peer *peer = node_newest(&server); peer->next; peer = peer->next) /* the last was `first` */
                ck_assert(node_wait_u64(&server, &peer->frames_in, 1, 60));
        for (int i = 0; i < KILLED; i++)
                kill(pids[i], SIGKILL); /* all of them before any is waited for: the others keep the load up */
        for (int i = 0; i < KILLED; i++)
                end_child(pids[i]);
        ck_assert(node_wait_u32(&server, &server.downs, KILLED + 1, 30));
        uint64_t frames = 0;
        for (const struct peer *peer = server.peers; peer; peer = peer->next) {
                ck_assert_int_eq(peer->downs, 1);
                frames += peer->frames_in;
        }
        ck_assert_uint_ge(frames, KILLED);
        ck_assert_uint_eq(server.live, 0);
        ck_assert(wait_descriptors(before, 10));
        node_stop(&server);
}
END_TEST

START_TEST(a_stopped_process_holds_its_link_and_goes_on)
{
        node_start(&server, (enum kind)_i);
        node_listen(&server);
        pid_t pid = start_child(server.bound, "1");
        ck_assert(node_wait_u32(&server, &server.ups, 1, 30));
        struct peer *peer = node_newest(&server);
        ck_assert(node_wait_u64(&server, &peer->frames_in, 1, 30));
        kill(pid, SIGSTOP);
        waitpid(pid, NULL, WUNTRACED);
        peer_pump(peer, 1000, 50000, 4);
        ck_assert(!node_wait_u32(&server, &server.downs, 1, 1));
        ck_assert_uint_lt(node_read(&server, &peer->frames_out), 1000);
        kill(pid, SIGCONT);
        ck_assert(node_wait_u64(&server, &peer->writables, 250, 30));
        kill(pid, SIGSTOP);
        end_child(pid);
        ck_assert(peer_wait_down(peer, 10));
        node_stop(&server);
}
END_TEST

static void raise_limit(void)
{
        struct rlimit limit;
        ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
        limit.rlim_cur = limit.rlim_max;
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

START_TEST(a_crowd_of_peers_is_served_at_once)
{
        struct node    client;
        const uint32_t crowd = kind_share((enum kind)_i, CROWD);
        raise_limit();
        node_start(&server, (enum kind)_i);
        node_start(&client, (enum kind)_i);
        server.echoes    = true;
        client.pump      = 1;
        client.pump_size = 64;
        node_listen(&server);
        for (uint32_t i = 0; i < crowd; i++) {
                node_dial(&client, server.bound);
                if (i % 64 == 63) /* the queue of a listener is 128 */
                        ck_assert(node_wait_u32(&server, &server.ups, i + 1, 30));
        }
        ck_assert(node_wait_u32(&server, &server.ups, crowd, 30));
        ck_assert(node_wait_u32(&client, &client.ups, crowd, 30));
        ck_assert_uint_eq(node_read_u32(&client, &client.dials_failed), 0);
        for (struct peer *peer = node_newest(&client); peer; peer = peer->next)
                ck_assert(node_wait_u64(&client, &peer->frames_in, 1, 30));
        ck_assert_uint_lt(atomic_load(&server.mem.used), crowd * 16u * 1024);
        node_stop_net(&client);
        ck_assert(node_wait_u32(&server, &server.downs, crowd, 30));
        node_stop(&client);
        node_stop(&server);
}
END_TEST

int main(int argc, char **argv)
{
        if (argc == 3)
                live_as_child(argv[1], argv[2]);
        TCase *tests = tcase_create("crowds");
        tcase_add_loop_test(tests, every_death_under_load_is_seen_and_no_descriptor_is_left, 0, PROCESS_KINDS);
        tcase_add_loop_test(tests, every_death_under_load_is_seen_and_no_descriptor_is_left, KIND_TLS, KIND_TLS + 1);
        tcase_add_loop_test(tests, a_stopped_process_holds_its_link_and_goes_on, 0, PROCESS_KINDS);
        tcase_add_loop_test(tests, a_crowd_of_peers_is_served_at_once, 0, KINDS);
        certs_make();
        const int result = run_tests("crowd", tests);
        certs_remove();
        return result;
}
