/* The station: greeting, frames, acknowledgement, grants, liveness, redial, and what it refuses. */
#include "test_station_kit.h"

static struct sc_mem   mem;
static struct kit_side sched, client;

static void setup(void)
{
        sc_mem_init_libc(&mem);
        ck_assert(kit_init(&sched, &mem, SC_ROLE_SCHEDULER, 1));
        ck_assert(kit_init(&client, &mem, SC_ROLE_CLIENT, 2));
}

static void teardown(void)
{
        kit_fini(&sched);
        kit_fini(&client);
        kit_forget_ends();
        ck_assert_uint_eq(mem.used, 0);
}

static struct kit_end *link_up(void)
{
        ck_assert_int_eq(sc_station_dial(client.station, &client.net, "test:", client.now), 0);
        struct kit_end *end = kit_connect(&client, &sched);
        kit_settle(&client, &sched);
        ck_assert_uint_eq(client.ups, 1);
        ck_assert_uint_eq(sched.ups, 1);
        return end;
}

static void pass(sc_ns time)
{
        client.now += time;
        sched.now += time;
}

static struct sc_msg result_of(uint64_t n)
{
        return (struct sc_msg){ .kind = SC_MSG_RESULT, .result = { .task = { 2, n }, .attempts = 1 } };
}

static struct sc_msg hello_of(uint8_t role)
{
        return (struct sc_msg){ .kind  = SC_MSG_HELLO,
                                .hello = {
                                        .version_min = 1, .version_max = 1, .role = role, .id = 9, .incarnation = 1 } };
}

static struct kit_end *visitor_up(void)
{
        uint8_t             bytes[512];
        const struct sc_msg hello   = hello_of(SC_ROLE_CLIENT);
        struct kit_end     *visitor = kit_visit(&sched);
        kit_give(visitor->other, bytes, kit_frame(bytes, sizeof bytes, SC_FRAME_HELLO, 1, 0, &hello, 1));
        kit_turn(&sched);
        ck_assert_uint_eq(sched.ups, 1);
        ck_assert(kit_carry(visitor->other));
        return visitor;
}

/* The one frame that waits at that end holds a BYE with these words and status. */
static void assert_bye(struct kit_end *end, int status, const char *words)
{
        kit_turn(end->side);
        const struct sc_frame_head head = kit_head(end, end->count - 1);
        struct sc_codec_arena      arena;
        struct sc_msg              msg;
        const char                *why    = "";
        size_t                     cursor = 0;
        sc_codec_arena_init(&arena, &mem);
        const uint8_t *bytes = end->sent[(end->first + end->count - 1) % KIT_SENDS];
        ck_assert_int_eq(
                sc_codec_unpack(bytes + SC_FRAME_HEAD, head.length - SC_FRAME_HEAD, &cursor, &arena, &msg, &why), 1);
        ck_assert_int_eq(msg.kind, SC_MSG_BYE);
        ck_assert_int_eq(msg.bye.status, status);
        char text[SC_TEXT_MAX + 1] = "";
        memcpy(text, msg.bye.why.ptr, msg.bye.why.len);
        ck_assert_msg(strstr(text, words) != NULL, "it says: %s", text);
        sc_codec_arena_fini(&arena);
        ck_assert(end->closed);
}

START_TEST(a_link_greets_and_is_welcomed)
{
        link_up();
        ck_assert_uint_eq(sched.tasks, 3);
        ck_assert_uint_eq(sched.kib, 4);
        ck_assert_uint_eq(client.tasks, 10);
        ck_assert_uint_eq(client.kib, 20);
        ck_assert_uint_eq(sc_station_links(client.station), 1);
}
END_TEST

START_TEST(who_does_not_say_hello_in_time_is_closed_with_words)
{
        struct kit_end *visitor = kit_visit(&sched);
        sched.now += 5 * SC_S - 1;
        kit_turn(&sched);
        ck_assert(!visitor->other->closed);
        sched.now += 1;
        assert_bye(visitor->other, SC_E_TIMEOUT, "no hello");
        ck_assert_uint_eq(sc_station_links(sched.station), 0);
        ck_assert_uint_eq(sched.ups + sched.downs, 0);
}
END_TEST

START_TEST(at_most_so_many_links_wait_for_a_hello)
{
        for (int i = 0; i < 8; i++)
                ck_assert(kit_visit(&sched)->other->up);
        ck_assert(!kit_visit(&sched)->other->up);
        struct sc_station_stats stats;
        sc_station_stats(sched.station, &stats);
        ck_assert_uint_eq(stats.refused, 1);
}
END_TEST

START_TEST(at_most_so_many_peers_are_linked)
{
        uint8_t             bytes[512];
        const struct sc_msg hello = hello_of(SC_ROLE_CLIENT);
        for (int i = 0; i < 40; i++) {
                struct kit_end *visitor = kit_visit(&sched);
                ck_assert(visitor->other->up);
                kit_give(visitor->other, bytes, kit_frame(bytes, sizeof bytes, SC_FRAME_HELLO, 1, 0, &hello, 1));
        }
        ck_assert_uint_eq(sched.ups, 40);
        ck_assert(!kit_visit(&sched)->other->up);
}
END_TEST

START_TEST(the_first_frame_must_say_hello)
{
        uint8_t             bytes[512];
        const struct sc_msg want    = { .kind = SC_MSG_WANT, .want = { .tasks = 1, .kib = 1 } };
        struct kit_end     *visitor = kit_visit(&sched);
        kit_give(visitor->other, bytes, kit_frame(bytes, sizeof bytes, SC_FRAME_DATA, 1, 0, &want, 1));
        assert_bye(visitor->other, SC_E_PROTOCOL, "hello");
        visitor = kit_visit(&sched);
        kit_give(visitor->other, bytes, kit_frame(bytes, sizeof bytes, SC_FRAME_HELLO, 1, 0, &want, 1));
        assert_bye(visitor->other, SC_E_PROTOCOL, "hello");
        ck_assert_uint_eq(sched.ups + sched.downs + sched.messages, 0);
}
END_TEST

START_TEST(a_version_that_does_not_fit_is_refused_and_the_dialler_told)
{
        client.version_max = 9;
        ck_assert_int_eq(sc_station_dial(client.station, &client.net, "test:", client.now), 0);
        kit_connect(&client, &sched);
        kit_settle(&client, &sched);
        ck_assert_uint_eq(client.refusals, 1);
        ck_assert_int_eq(client.status, SC_E_UNSUPPORTED);
        ck_assert_ptr_nonnull(strstr(client.why, "protocol"));
        ck_assert_uint_eq(client.ups + sched.ups, 0);
}
END_TEST

START_TEST(a_net_that_refuses_before_the_hello_ends_the_dialling_with_its_words)
{
        ck_assert_int_eq(sc_station_dial(client.station, &client.net, "test:", client.now), 0);
        struct kit_end *end = kit_connect(&client, &sched);
        kit_tell_down_so(end, SC_E_DENIED, "its certificate is bad");
        ck_assert_uint_eq(client.refusals, 1);
        ck_assert_int_eq(client.status, SC_E_DENIED);
        ck_assert_str_eq(client.why, "its certificate is bad");
        ck_assert_uint_eq(client.ups + client.downs, 0);
        kit_tell_down_so(end->other, SC_E_PROTOCOL, "no TLS came about");
        ck_assert_uint_eq(sched.notes, 1);
        ck_assert_uint_eq(sched.ups + sched.downs, 0);
}
END_TEST

START_TEST(a_link_that_breaks_before_the_hello_is_told_once_and_dialled_again)
{
        ck_assert_int_eq(sc_station_dial(client.station, &client.net, "test:", client.now), 0);
        kit_tell_down(kit_connect(&client, &sched));
        ck_assert_uint_eq(client.notes, 1);
        ck_assert_int_eq(client.note_level, SC_NOTE_WARN); /* it goes on */
        ck_assert_uint_eq(client.refusals + client.downs, 0);
        ck_assert_int_ne(sc_station_deadline(client.station), SC_NEVER);
}
END_TEST

START_TEST(who_says_what_its_role_may_not_say_is_closed)
{
        uint8_t             bytes[512];
        struct kit_end     *visitor = visitor_up();
        const struct sc_msg done    = { .kind = SC_MSG_DONE, .done = { .task = { 1, 1 }, .run = 1 } };
        kit_give(visitor->other, bytes, kit_frame(bytes, sizeof bytes, SC_FRAME_DATA, 2, 0, &done, 1));
        ck_assert_uint_eq(sched.downs, 1);
        ck_assert_uint_eq(sched.messages, 0);
        assert_bye(visitor->other, SC_E_PROTOCOL, "a client may not send DONE");
}
END_TEST

START_TEST(hello_is_said_once)
{
        uint8_t             bytes[512];
        struct kit_end     *visitor = visitor_up();
        const struct sc_msg hello   = hello_of(SC_ROLE_CLIENT);
        kit_give(visitor->other, bytes, kit_frame(bytes, sizeof bytes, SC_FRAME_HELLO, 2, 1, &hello, 1));
        assert_bye(visitor->other, SC_E_PROTOCOL, "hello");
}
END_TEST

START_TEST(a_frame_that_comes_twice_or_is_missing_closes_the_link)
{
        uint8_t        bytes[512];
        const uint32_t wrong[] = { 1, 3 };
        for (int i = 0; i < 2; i++) {
                struct kit_end *visitor = visitor_up();
                kit_give(visitor->other, bytes, kit_frame(bytes, sizeof bytes, SC_FRAME_DATA, wrong[i], 0, NULL, 0));
                assert_bye(visitor->other, SC_E_PROTOCOL, "missing or came twice");
                sched.ups = 0;
        }
}
END_TEST

START_TEST(an_acknowledgement_of_what_was_never_sent_closes_the_link)
{
        uint8_t         bytes[512];
        struct kit_end *visitor = visitor_up();
        kit_give(visitor->other, bytes, kit_frame(bytes, sizeof bytes, SC_FRAME_DATA, 2, 2, NULL, 0));
        assert_bye(visitor->other, SC_E_PROTOCOL, "never sent");
}
END_TEST

START_TEST(garbage_in_a_record_closes_the_link_and_no_other)
{
        uint8_t bytes[512];
        link_up();
        sched.ups                   = 0;
        struct kit_end     *visitor = visitor_up();
        const struct sc_msg want    = { .kind = SC_MSG_WANT, .want = { .tasks = 1, .kib = 1 } };
        const size_t        len     = kit_frame(bytes, sizeof bytes, SC_FRAME_DATA, 2, 0, &want, 1);
        bytes[SC_FRAME_HEAD]        = 0xc1;
        kit_give(visitor->other, bytes, len);
        ck_assert_int_eq(sched.status, SC_E_PROTOCOL);
        kit_settle(&client, &sched);
        ck_assert_uint_eq(sc_station_links(sched.station), 1);
        ck_assert_uint_eq(client.downs, 0);
}
END_TEST

START_TEST(records_queued_while_a_send_is_in_flight_leave_in_one_frame)
{
        struct kit_end *far = link_up()->other;
        struct sc_msg   msg = result_of(1);
        sc_station_send(sched.station, sched.link, &msg);
        kit_turn(&sched);
        for (uint64_t n = 2; n <= 100; n++) {
                msg = result_of(n);
                sc_station_send(sched.station, sched.link, &msg);
                kit_turn(&sched);
        }
        ck_assert_uint_eq(far->count, 1);
        kit_carry(far);
        kit_turn(&sched);
        ck_assert_uint_eq(far->count, 1);
        ck_assert_uint_eq(kit_head(far, 0).count, 99);
        kit_settle(&client, &sched);
        ck_assert_uint_eq(client.messages, 100);
}
END_TEST

START_TEST(a_frame_stays_below_256_KiB_unless_one_record_is_bigger)
{
        static char     body[1 << 20];
        struct kit_end *far       = link_up()->other;
        struct sc_msg   msg       = result_of(1);
        msg.result.outcome.result = (struct sc_view){ body, 100 * 1024 };
        for (int i = 0; i < 5; i++)
                sc_station_send(sched.station, sched.link, &msg);
        msg.result.outcome.result = (struct sc_view){ body, SC_RESULT_MAX };
        sc_station_send(sched.station, sched.link, &msg);
        const uint16_t counts[] = { 2, 2, 1, 1 };
        for (int i = 0; i < 4; i++) {
                kit_turn(&sched);
                ck_assert_uint_eq(kit_head(far, 0).count, counts[i]);
                ck_assert(counts[i] == 1 || kit_head(far, 0).length <= 256 * 1024);
                kit_carry(far);
        }
        ck_assert_uint_eq(client.messages, 6);
}
END_TEST

START_TEST(a_bare_acknowledgement_leaves_after_five_milliseconds)
{
        struct kit_end *near = link_up();
        struct sc_msg   msg  = result_of(1);
        sc_station_send(sched.station, sched.link, &msg);
        kit_turn(&sched);
        kit_carry(near->other);
        kit_turn(&client);
        ck_assert_uint_eq(near->count, 0);
        ck_assert_int_eq(sc_station_deadline(client.station), client.now + 5 * SC_MS);
        client.now += 5 * SC_MS;
        kit_turn(&client);
        ck_assert_uint_eq(near->count, 1);
        ck_assert_uint_eq(kit_head(near, 0).count, 0);
        kit_carry(near);
        ck_assert_uint_eq(sched.acked, 1);
        ck_assert_int_gt(sc_station_deadline(client.station), client.now);
}
END_TEST

START_TEST(an_acknowledgement_does_not_wait_when_much_is_owed)
{
        struct kit_end *near = link_up();
        struct sc_msg   msg  = result_of(1);
        sc_station_grant(client.station, client.link, 5, 5); /* a frame that acknowledges the welcome */
        kit_settle(&client, &sched);
        for (int i = 0; i < 63; i++) {
                sc_station_send(sched.station, sched.link, &msg);
                kit_turn(&sched);
                kit_carry(near->other);
                kit_turn(&client);
                ck_assert_uint_eq(near->count, 0);
        }
        sc_station_send(sched.station, sched.link, &msg);
        kit_turn(&sched);
        kit_carry(near->other);
        kit_turn(&client);
        ck_assert_uint_eq(near->count, 1);
        kit_carry(near);
        ck_assert_uint_eq(sched.acked, 64);
        for (int i = 0; i < 512; i++)
                sc_station_send(sched.station, sched.link, &msg);
        kit_turn(&sched);
        kit_carry(near->other);
        kit_turn(&client);
        ck_assert_uint_eq(near->count, 1);
}
END_TEST

START_TEST(what_a_frame_confirms_is_told_before_its_records)
{
        link_up();
        struct sc_msg msg = result_of(1);
        sc_station_send(sched.station, sched.link, &msg);
        kit_turn(&sched);
        kit_carry(kit_ends[0].other);
        sched.log[0]             = '\0';
        const struct sc_msg want = { .kind = SC_MSG_WANT, .want = { .tasks = 1, .kib = 1 } };
        sc_station_grant(client.station, client.link, 30, 40);
        sc_station_send(client.station, client.link, &want);
        kit_turn(&client);
        kit_carry(&kit_ends[0]);
        ck_assert_str_eq(sched.log, "agm");
}
END_TEST

START_TEST(a_grant_leaves_without_records_and_is_told_once)
{
        link_up();
        sc_station_grant(sched.station, sched.link, 77, 88);
        kit_settle(&client, &sched);
        sc_station_grant(sched.station, sched.link, 77, 88);
        kit_settle(&client, &sched);
        ck_assert_uint_eq(client.grants, 1);
        ck_assert_uint_eq(client.tasks, 77);
        ck_assert_uint_eq(client.kib, 88);
}
END_TEST

static uint64_t frames_over(sc_ns time)
{
        struct sc_station_stats before, after;
        sc_station_stats(client.station, &before);
        const sc_ns end = client.now + time;
        for (;;) {
                const sc_ns next = sc_ns_min(sc_station_deadline(client.station), sc_station_deadline(sched.station));
                if (next > end)
                        break;
                client.now = sched.now = sc_ns_max(client.now, next);
                kit_settle(&client, &sched);
        }
        client.now = sched.now = end;
        sc_station_stats(client.station, &after);
        return after.frames_out - before.frames_out + after.frames_in - before.frames_in;
}

START_TEST(an_idle_link_costs_one_exchange_in_four_tenths_of_the_limit)
{
        link_up();
        ck_assert_uint_le(frames_over(80 * SC_S), 2 * 20);
        ck_assert_uint_eq(client.downs + sched.downs, 0);
}
END_TEST

START_TEST(who_is_silent_for_the_limit_is_lost)
{
        struct kit_end *near = link_up();
        near->dropping = near->other->dropping = true;
        for (int i = 0; i < 99; i++) {
                pass(100 * SC_MS);
                kit_settle(&client, &sched);
                ck_assert_uint_eq(sched.downs, 0);
        }
        pass(100 * SC_MS);
        kit_settle(&client, &sched);
        ck_assert_uint_eq(sched.downs, 1);
        ck_assert_int_eq(sched.status, SC_E_TIMEOUT);
        ck_assert_uint_eq(client.downs, 1);
}
END_TEST

START_TEST(who_slept_does_not_judge)
{
        link_up();
        sched.now += 60 * SC_S;
        sc_station_begin(sched.station, sched.now, 57 * SC_S);
        sc_station_begin(sched.station, sched.now, 57 * SC_S);
        sc_station_tick(sched.station, sched.now);
        sc_station_flush(sched.station, sched.now);
        ck_assert_uint_eq(sched.downs, 0);
        sched.now += 10 * SC_S;
        kit_turn(&sched);
        ck_assert_uint_eq(sched.downs, 1);
}
END_TEST

START_TEST(who_slept_through_the_last_deadline_hears_what_came_meanwhile)
{
        struct kit_end *near = link_up();
        near->dropping = near->other->dropping = true;
        pass(5 * SC_S); /* the ping is out; the next deadline is death */
        kit_turn(&sched);
        sched.now += 60 * SC_S;
        sc_station_begin(sched.station, sched.now, 55 * SC_S);
        sc_station_tick(sched.station, sched.now);
        sc_station_flush(sched.station, sched.now);
        ck_assert_uint_eq(sched.downs, 0);
        sched.now += 2 * SC_S;
        kit_turn(&sched);
        ck_assert_uint_eq(sched.downs, 1);
}
END_TEST

START_TEST(a_dial_is_tried_again_ever_later_until_hung_up)
{
        ck_assert_int_eq(sc_station_dial(client.station, &client.net, "test:", client.now), 0);
        sc_ns longest = 0;
        for (int i = 0; i < 20; i++) {
                client.net.upcalls->dial_failed(client.net.ctx, client.ticket, SC_E_UNREACHABLE, "no");
                const uint64_t dials = client.dials;
                const sc_ns    pause = sc_station_deadline(client.station) - client.now;
                ck_assert_int_ge(pause, 5 * SC_MS);
                ck_assert_int_le(pause, SC_S);
                longest = sc_ns_max(longest, pause);
                client.now += pause;
                kit_turn(&client);
                ck_assert_uint_eq(client.dials, dials + 1);
        }
        ck_assert_int_ge(longest, SC_S / 2);
        sc_station_hang_up(client.station, client.now);
        kit_turn(&client);
        ck_assert_uint_eq(client.ticket, 0);
        ck_assert_int_eq(sc_station_deadline(client.station), SC_NEVER);
}
END_TEST

START_TEST(a_dial_without_an_answer_is_given_up_and_tried_again)
{
        ck_assert_int_eq(sc_station_dial(client.station, &client.net, "test:", client.now), 0);
        client.now += 5 * SC_S;
        kit_turn(&client);
        ck_assert_uint_eq(client.ticket, 0);
        client.now += 100 * SC_MS;
        kit_turn(&client);
        ck_assert_uint_eq(client.dials, 2);
}
END_TEST

START_TEST(a_link_that_lasted_is_dialled_again_at_once)
{
        struct kit_end *near = link_up();
        pass(2 * SC_S);
        kit_tell_down(near);
        ck_assert_uint_eq(client.downs, 1);
        ck_assert_int_le(sc_station_deadline(client.station), client.now + 10 * SC_MS);
}
END_TEST

START_TEST(what_is_sent_to_a_link_that_is_gone_is_ignored)
{
        struct kit_end  *near = link_up();
        const sc_link_id link = client.link;
        kit_tell_down(near);
        const struct sc_msg want = { .kind = SC_MSG_WANT, .want = { .tasks = 1, .kib = 1 } };
        sc_station_send(client.station, link, &want);
        sc_station_grant(client.station, link, 1, 1);
        sc_station_close(client.station, link, 0, "");
        kit_turn(&client);
        ck_assert_uint_eq(near->count, 0);
        ck_assert_uint_eq(client.downs, 1);
}
END_TEST

START_TEST(hanging_up_lets_what_is_queued_leave_first)
{
        struct kit_end     *near = link_up();
        const struct sc_msg bye  = { .kind = SC_MSG_BYE };
        sc_station_send(client.station, client.link, &bye);
        sc_station_hang_up(client.station, client.now);
        kit_settle(&client, &sched);
        ck_assert(near->closed);
        ck_assert_uint_eq(sched.messages, 1);
        ck_assert_uint_eq(sched.downs, 1);
        ck_assert_uint_eq(client.downs, 0);
        ck_assert_uint_eq(sc_station_links(client.station), 0);
        ck_assert_uint_eq(sc_station_links(sched.station), 0);
}
END_TEST

START_TEST(a_peer_that_does_not_read_its_goodbye_is_closed_all_the_same)
{
        struct kit_end     *far = link_up()->other;
        const struct sc_msg msg = result_of(1);
        sc_station_send(sched.station, sched.link, &msg);
        kit_turn(&sched);
        sc_station_close(sched.station, sched.link, SC_E_EXISTS, "newer");
        kit_turn(&sched);
        ck_assert(!far->closed);
        sched.now += 100 * SC_MS;
        kit_turn(&sched);
        ck_assert(far->closed);
        ck_assert_uint_eq(sched.downs, 0);
}
END_TEST

START_TEST(who_asks_and_does_not_read_the_answers_is_closed_at_the_limit)
{
        static char name[SC_NAME_MAX];
        memset(name, 'n', sizeof name);
        link_up();
        const struct sc_msg row  = { .kind       = SC_MSG_WORKER_ROW,
                                     .worker_row = { .ticket = 1, .worker = 1, .name = { name, sizeof name } } };
        uint32_t            rows = 0;
        while (sched.downs == 0 && rows < 1000000) {
                sc_station_send(sched.station, sched.link, &row);
                rows++;
                if (rows % 1000 == 0)
                        kit_turn(&sched);
        }
        ck_assert_int_eq(sched.status, SC_E_FULL);
        ck_assert_uint_gt(rows, 16 * 1024 * 1024 / 200);
}
END_TEST

START_TEST(who_has_no_memory_for_a_link_says_so_and_is_not_taken_for_dead)
{
        struct kit_end     *near    = link_up();
        static uint8_t      body[100000];
        const struct sc_msg submit  = { .kind   = SC_MSG_SUBMIT,
                                        .submit = { .task = { 2, 1 }, .spec = { .kind     = SC_TASK_FUNCTION,
                                                                                .function = { "f", 1 },
                                                                                .body = { body, sizeof body } } } };
        mem.budget = atomic_load(&mem.used) + 1000; /* both sides' */
        sc_station_send(client.station, client.link, &submit);
        kit_turn(&client);
        ck_assert_uint_eq(client.downs, 1);
        ck_assert_int_eq(client.status, SC_E_NOMEM);
        ck_assert_uint_eq(near->count, 1);
        ck_assert(kit_carry(near));
        kit_turn(&sched);
        ck_assert_uint_eq(sched.messages, 1);
        ck_assert_int_eq(sched.status, SC_E_NOMEM);
        ck_assert_uint_eq(near->other->count, 0); /* no goodbye for a goodbye */
        mem.budget = SIZE_MAX;
}
END_TEST

START_TEST(while_memory_is_short_few_and_small_spare_frames_are_kept)
{
        link_up();
        for (uint64_t n = 1; n <= 20; n++) { /* many frames of which each is big */
                static uint8_t bytes[200000];
                struct sc_msg  result        = result_of(n);
                result.result.outcome.result = (struct sc_view){ bytes, sizeof bytes };
                sc_station_send(sched.station, sched.link, &result);
        }
        kit_settle(&sched, &client);
        const size_t kept = atomic_load(&mem.used);
        mem.budget        = kept; /* beyond six eighths */
        struct sc_msg result = result_of(21);
        sc_station_send(sched.station, sched.link, &result);
        kit_settle(&sched, &client);
        ck_assert_uint_lt(atomic_load(&mem.used) + 15 * 200000, kept);
        mem.budget = SIZE_MAX;
}
END_TEST

START_TEST(a_failing_allocation_ends_one_link_at_most_and_leaks_nothing)
{
        for (size_t n = 1;; n++) {
                struct fail_mem fail;
                struct kit_side far, near;
                fail_mem_init(&fail, n);
                const bool made = kit_init(&far, &fail.mem, SC_ROLE_SCHEDULER, 1);
                ck_assert(kit_init(&near, &mem, SC_ROLE_CLIENT, 2));
                if (made) {
                        ck_assert_int_eq(sc_station_dial(near.station, &near.net, "test:", near.now), 0);
                        for (int i = 0; i < 3 && far.link == 0; i++) {
                                struct kit_end *end = kit_connect(&near, &far);
                                if (end->other->closed)
                                        kit_tell_down(end);
                                kit_settle(&near, &far);
                                if (end->other->closed)
                                        kit_tell_down(end);
                                near.now += SC_S;
                                kit_settle(&near, &far);
                        }
                        ck_assert_uint_ne(far.link, 0);
                        const struct sc_msg msg = result_of(1);
                        sc_station_send(far.station, far.link, &msg);
                        kit_settle(&near, &far);
                        kit_fini(&far);
                }
                kit_fini(&near);
                kit_forget_ends();
                ck_assert_uint_eq(fail_mem_leaks(&fail), 0);
                if (!fail_mem_hit(&fail))
                        break;
        }
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("station");
        tcase_add_checked_fixture(tests, setup, teardown);
        tcase_add_test(tests, a_link_greets_and_is_welcomed);
        tcase_add_test(tests, who_does_not_say_hello_in_time_is_closed_with_words);
        tcase_add_test(tests, at_most_so_many_links_wait_for_a_hello);
        tcase_add_test(tests, at_most_so_many_peers_are_linked);
        tcase_add_test(tests, the_first_frame_must_say_hello);
        tcase_add_test(tests, a_version_that_does_not_fit_is_refused_and_the_dialler_told);
        tcase_add_test(tests, a_net_that_refuses_before_the_hello_ends_the_dialling_with_its_words);
        tcase_add_test(tests, a_link_that_breaks_before_the_hello_is_told_once_and_dialled_again);
        tcase_add_test(tests, who_says_what_its_role_may_not_say_is_closed);
        tcase_add_test(tests, hello_is_said_once);
        tcase_add_test(tests, a_frame_that_comes_twice_or_is_missing_closes_the_link);
        tcase_add_test(tests, an_acknowledgement_of_what_was_never_sent_closes_the_link);
        tcase_add_test(tests, garbage_in_a_record_closes_the_link_and_no_other);
        tcase_add_test(tests, records_queued_while_a_send_is_in_flight_leave_in_one_frame);
        tcase_add_test(tests, a_frame_stays_below_256_KiB_unless_one_record_is_bigger);
        tcase_add_test(tests, a_bare_acknowledgement_leaves_after_five_milliseconds);
        tcase_add_test(tests, an_acknowledgement_does_not_wait_when_much_is_owed);
        tcase_add_test(tests, what_a_frame_confirms_is_told_before_its_records);
        tcase_add_test(tests, a_grant_leaves_without_records_and_is_told_once);
        tcase_add_test(tests, an_idle_link_costs_one_exchange_in_four_tenths_of_the_limit);
        tcase_add_test(tests, who_is_silent_for_the_limit_is_lost);
        tcase_add_test(tests, who_slept_does_not_judge);
        tcase_add_test(tests, who_slept_through_the_last_deadline_hears_what_came_meanwhile);
        tcase_add_test(tests, a_dial_is_tried_again_ever_later_until_hung_up);
        tcase_add_test(tests, a_dial_without_an_answer_is_given_up_and_tried_again);
        tcase_add_test(tests, a_link_that_lasted_is_dialled_again_at_once);
        tcase_add_test(tests, what_is_sent_to_a_link_that_is_gone_is_ignored);
        tcase_add_test(tests, hanging_up_lets_what_is_queued_leave_first);
        tcase_add_test(tests, a_peer_that_does_not_read_its_goodbye_is_closed_all_the_same);
        tcase_add_test(tests, who_asks_and_does_not_read_the_answers_is_closed_at_the_limit);
        tcase_add_test(tests, who_has_no_memory_for_a_link_says_so_and_is_not_taken_for_dead);
        tcase_add_test(tests, while_memory_is_short_few_and_small_spare_frames_are_kept);
        tcase_add_test(tests, a_failing_allocation_ends_one_link_at_most_and_leaks_nothing);
        return run_tests("station", tests);
}
