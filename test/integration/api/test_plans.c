/*
 * What a spec may ask for beyond a place in the queue: each field's one clear error and its limits; what a run is
 * told that it holds; options of clients, workers and schedulers that are out of range.
 */
#include <stdio.h>
#include <string.h>

#include "cluster.h"

static struct cluster c;
static char           address[256];

static void up(void)
{
        cluster_up(&c, 2);
}

static void down(void)
{
        cluster_down(&c);
}

/* ---- specs ---------------------------------------------------------------------------------------------- */

static scaler_spec plain(void)
{
        scaler_spec spec;
        scaler_init(&spec, sizeof spec);
        spec.function = "echo";
        return spec;
}

static void is_refused(const scaler_spec *spec, const char *words)
{
        scaler_future *f = NULL;
        scaler_error   err;
        ck_assert_int_eq(scaler_client_submit(c.client, spec, &f, &err), SCALER_E_INVALID);
        ck_assert_ptr_null(f);
        ck_assert_msg(strstr(err.text, words) != NULL, "\"%s\" does not say \"%s\"", err.text, words);
}

static void is_taken(const scaler_spec *spec)
{
        expect_bytes(submit_spec(c.client, spec), "", 0);
}

START_TEST(a_priority_beyond_a_thousand_is_refused)
{
        scaler_spec spec = plain();
        spec.priority    = 1001;
        is_refused(&spec, "spec 0: priority is not within -1,000 and 1,000");
        spec.priority = -1001;
        is_refused(&spec, "priority");
        spec.priority = INT32_MIN;
        is_refused(&spec, "priority");
        spec.priority = 1000;
        is_taken(&spec);
        spec.priority = -1000;
        is_taken(&spec);
}
END_TEST

START_TEST(needs_that_are_wrong_are_refused_with_the_part_that_is)
{
        scaler_spec spec = plain();
        spec.needs       = "cpu=1,gpu=two,linux";
        is_refused(&spec, "spec 0: needs \"gpu=two\": the amount is not a number");
        spec.needs = "gpu=1,,linux";
        is_refused(&spec, "needs \"\": a name has 1 to 31");
        spec.needs = "gpu,gpu=1";
        is_refused(&spec, "needs \"gpu,gpu=1\": a name comes twice");
        spec.needs = "gpu=0";
        is_refused(&spec, "needs \"gpu=0\": the amount is zero");
        spec.needs = "mem=9T";
        is_refused(&spec, "needs \"mem=9T\": the amount is too large");
        char many[700] = "a=1";
        for (int i = 0; i < 32; i++)
                snprintf(many + strlen(many), sizeof many - strlen(many), ",n%02d", i);
        spec.needs = many;
        is_refused(&spec, "there are more than 32 names");
        char wide[700] = "";
        for (int i = 0; i < 17; i++)
                snprintf(wide + strlen(wide), sizeof wide - strlen(wide), "%sn%02d_______________________________",
                         i ? "," : "", i);
        spec.needs = wide;
        is_refused(&spec, "a name has 1 to 31");
        for (int i = 0; i < 17; i++) /* 31 bytes a name */
                snprintf(wide + 32 * i, sizeof wide - 32 * (size_t)i, "n%02d____________________________,", i);
        wide[32 * 17 - 1] = '\0';
        spec.needs        = wide;
        is_refused(&spec, "the list is too long: 511 bytes it may have in all");
        spec.needs = "";
        is_taken(&spec);
        spec.needs = " cpu = 1 ";
        is_taken(&spec);
}
END_TEST

START_TEST(times_that_are_negative_or_beyond_their_limit_are_refused)
{
        scaler_spec spec = plain();
        const struct {
                const char *name;
                int64_t    *field;
                int64_t     most;
        } times[] = { { "not_before_ms", &spec.not_before_ms, INT64_MAX },
                      { "queue_timeout_ms", &spec.queue_timeout_ms, INT64_MAX },
                      { "deadline_ms", &spec.deadline_ms, INT64_MAX },
                      { "backoff_ms", &spec.backoff_ms, UINT32_MAX },
                      { "backoff_max_ms", &spec.backoff_max_ms, UINT32_MAX } };
        for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
                char words[80];
                snprintf(words, sizeof words, "spec 0: %s is negative", times[i].name);
                *times[i].field = -1;
                is_refused(&spec, words);
                snprintf(words, sizeof words, "spec 0: %s is above", times[i].name);
                *times[i].field = times[i].most;
                if (times[i].most < INT64_MAX)
                        *times[i].field += 1;
                if (times[i].most < INT64_MAX)
                        is_refused(&spec, words);
                *times[i].field = i == 0 ? 0 : times[i].most;
        }
        is_taken(&spec);
}
END_TEST

START_TEST(a_list_of_failures_is_refused_with_the_part_that_is_wrong)
{
        scaler_spec spec = plain();
        spec.retry_on    = "1,70-,timeout";
        is_refused(&spec, "spec 0: retry_on \"70-\": a part is a number, a range");
        spec.retry_on = "1, 2";
        is_refused(&spec, "retry_on \" 2\"");
        spec.retry_on = "2147483648";
        is_refused(&spec, "retry_on \"2147483648\"");
        char list[130];
        for (size_t i = 0; i < sizeof list - 1; i++)
                list[i] = i % 2 ? ',' : '7';
        list[129] = '\0';
        spec.retry_on = list;
        is_refused(&spec, "retry_on is longer than 127 bytes");
        list[127]     = '\0';
        spec.retry_on = list;
        is_taken(&spec);
        spec.retry_on = "-2147483648-2147483647,timeout,signal,limit,not_started";
        is_taken(&spec);
}
END_TEST

START_TEST(a_tag_has_at_most_127_bytes)
{
        scaler_spec spec = plain();
        char        tag[129];
        memset(tag, 't', sizeof tag - 1);
        tag[128] = '\0';
        spec.tag = tag;
        is_refused(&spec, "spec 0: tag is longer than 127 bytes");
        tag[127] = '\0';
        is_taken(&spec);
}
END_TEST

START_TEST(of_many_specs_the_wrong_one_is_named)
{
        scaler_spec    specs[3] = { plain(), plain(), plain() };
        scaler_future *futures[3];
        scaler_error   err;
        specs[2].needs = "gpu=";
        ck_assert_int_eq(scaler_client_submit_many(c.client, specs, 3, futures, &err), SCALER_E_INVALID);
        ck_assert_ptr_nonnull(strstr(err.text, "spec 2: needs \"gpu=\""));
}
END_TEST

/* ---- what a run holds ------------------------------------------------------------------------------------ */

static scaler_worker *worker;

static int holds(scaler_task *task, void *ctx)
{
        char     text[200];
        int64_t  gpu = -1, mem = -1, linux_ = -1, cpu = -1;
        uint64_t indices = 99, none = 99;
        (void)ctx;
        const int found = scaler_task_resource(task, "gpu", &gpu, &indices) == 0 ? 1 : 0;
        scaler_task_resource(task, "mem", &mem, &none);
        scaler_task_resource(task, "linux", &linux_, NULL);
        const int plain_cpu = scaler_task_resource(task, "cpu", &cpu, NULL);
        const int n         = snprintf(text, sizeof text, "%d %lld %llu %lld %llu %lld %s %lld", found, (long long)gpu,
                                       (unsigned long long)indices, (long long)mem, (unsigned long long)none,
                                       (long long)linux_, scaler_status_name(plain_cpu), (long long)cpu);
        ck_assert_int_eq(scaler_task_resource(task, NULL, &gpu, NULL), SCALER_E_INVALID);
        return scaler_task_return_copy(task, text, (size_t)n);
}

static void worker_up(const char *offers)
{
        scaler_worker_options o;
        scaler_error          err;
        const scaler_function function = { .size = sizeof function, .name = "holds", .fn = holds };
        snprintf(address, sizeof address, "%s", scaler_scheduler_address(scaler_local_scheduler(c.local), 0));
        scaler_init(&o, sizeof o);
        o.runtime   = c.rt;
        o.scheduler = address;
        o.slots     = 2;
        o.offers    = offers;
        ck_assert_msg(scaler_worker_create(&o, &worker, &err) == 0, "%s", err.text);
        ck_assert_int_eq(scaler_worker_register(worker, &function), 0);
        ck_assert_int_eq(scaler_worker_start(worker, &err), 0);
        ck_assert_int_eq(scaler_worker_wait_ready(worker, WAIT_MS), 0);
}

START_TEST(a_function_is_told_what_it_holds)
{
        up();
        worker_up("gpu=2,mem=4G,linux");
        scaler_spec spec = plain();
        spec.function    = "holds";
        expect_text(submit_spec(c.client, &spec), "0 -1 99 -1 99 -1 SCALER_OK 1000");
        spec.needs = "gpu=2,mem=2G,linux";
        expect_text(submit_spec(c.client, &spec), "1 2000 3 2147483648000 0 0 SCALER_E_NOT_FOUND -1");
        spec.needs = "cpu=2,gpu=0.5";
        expect_text(submit_spec(c.client, &spec), "1 500 1 -1 99 -1 SCALER_OK 2000");
        scaler_worker_destroy(worker);
        down();
}
END_TEST

/* ---- options of roles ------------------------------------------------------------------------------------- */

static void client_refused(int64_t weight, int64_t running_max, bool admin, const char *words)
{
        scaler_client_options o;
        scaler_client        *client = NULL;
        scaler_error          err;
        scaler_init(&o, sizeof o);
        o.scheduler   = "tcp://127.0.0.1:1";
        o.weight      = weight;
        o.running_max = running_max;
        o.admin       = admin;
        const int status = scaler_client_create(&o, &client, &err);
        scaler_client_destroy(client);
        if (!words) {
                ck_assert_int_eq(status, 0);
                return;
        }
        ck_assert_int_eq(status, SCALER_E_INVALID);
        ck_assert_msg(strstr(err.text, words) != NULL, "%s", err.text);
}

START_TEST(a_clients_share_has_its_limits)
{
        client_refused(1000000, UINT32_MAX, false, NULL);
        client_refused(1000001, 0, false, "weight 1000001");
        client_refused(-1, 0, false, "weight -1");
        client_refused(0, (int64_t)UINT32_MAX + 1, false, "running_max 4294967296");
        client_refused(0, -1, false, "running_max -1");
        client_refused(1, 0, true, "an admin has neither");
}
END_TEST

static int try_scheduler(scaler_scheduler_options *o, scaler_error *err)
{
        const char *const listen[] = { "inproc://plans" };
        scaler_scheduler *s        = NULL;
        o->size                    = sizeof *o;
        o->listen                  = listen;
        o->listen_count            = 1;
        const int status           = scaler_scheduler_create(o, &s, err);
        scaler_scheduler_destroy(s);
        return status;
}

static void tenants_refused(const scaler_tenant *tenants, size_t count, const char *words)
{
        scaler_error             err;
        scaler_scheduler_options o = { .tenants = tenants, .tenant_count = count };
        const int                status = try_scheduler(&o, &err);
        ck_assert_int_eq(status, words ? SCALER_E_INVALID : 0);
        ck_assert_msg(!words || strstr(err.text, words), "%s", err.text);
}

START_TEST(tenants_have_their_limits)
{
        static scaler_tenant many[1025];
        static char          names[1025][8];
        char                 longest[129];
        memset(longest, 'n', sizeof longest - 1);
        longest[128]       = '\0';
        scaler_tenant t[2] = { { .size = sizeof t[0], .name = "a" }, { .size = sizeof t[0], .name = "*" } };
        tenants_refused(t, 2, NULL);
        t[1].weight = 1000001;
        tenants_refused(t, 2, "tenant 1: weight 1000001");
        t[1].weight     = 1000000;
        t[1].queued_max = -1;
        tenants_refused(t, 2, "tenant 1: queued_max -1");
        t[1].queued_max  = 0;
        t[1].running_max = (int64_t)UINT32_MAX + 1;
        tenants_refused(t, 2, "tenant 1: running_max 4294967296");
        t[1].running_max = UINT32_MAX;
        t[1].name        = longest;
        tenants_refused(t, 2, "tenant 1: the name is longer than 127 bytes");
        t[1].name = "a";
        tenants_refused(t, 2, "tenant 1: another one has its name");
        t[1].name = NULL;
        tenants_refused(t, 2, NULL);
        t[1].size = 8;
        tenants_refused(t, 2, "tenant 1: its size");
        tenants_refused(NULL, 1, "tenant_count without tenants");
        for (int i = 0; i < 1025; i++) {
                snprintf(names[i], sizeof names[i], "t%d", i);
                many[i] = (scaler_tenant){ .size = sizeof many[i], .name = names[i] };
        }
        tenants_refused(many, 1024, NULL);
        tenants_refused(many, 1025, "1025 tenants; at most 1024");
}
END_TEST

START_TEST(a_tenants_stride_is_the_first_ones_size)
{
        struct {
                scaler_tenant now;
                char          tomorrow[16];
        } t[2] = { { .now = { .size = sizeof t[0], .name = "a" } }, { .now = { .size = sizeof t[0], .name = "b" } } };
        tenants_refused(&t[0].now, 2, NULL);
        t[1].now.weight = -1;
        tenants_refused(&t[0].now, 2, "tenant 1: weight -1");
}
END_TEST

START_TEST(a_schedulers_policies_are_known_ones)
{
        scaler_error             err;
        scaler_scheduler_options o     = { .allocate = "best" };
        static const char *const good[] = { "spread", "even_load", "capability" };
        ck_assert_int_eq(try_scheduler(&o, &err), SCALER_E_INVALID);
        ck_assert_ptr_nonnull(strstr(err.text, "allocate \"best\""));
        for (size_t i = 0; i < 3; i++) {
                o.allocate = good[i];
                ck_assert_int_eq(try_scheduler(&o, &err), 0);
        }
        o.aging_ms = -2;
        ck_assert_int_eq(try_scheduler(&o, &err), SCALER_E_INVALID);
        ck_assert_ptr_nonnull(strstr(err.text, "aging_ms -2"));
        o.aging_ms = SCALER_NONE;
        ck_assert_int_eq(try_scheduler(&o, &err), 0);
}
END_TEST

START_TEST(what_a_scheduler_remembers_of_keys_has_limits)
{
        static const int64_t     good[] = { SCALER_NONE, 0, 1, UINT32_MAX / 4 };
        scaler_error             err;
        scaler_scheduler_options o = { .keys_kept = -2 };
        ck_assert_int_eq(try_scheduler(&o, &err), SCALER_E_INVALID);
        ck_assert_ptr_nonnull(strstr(err.text, "keys_kept -2"));
        o.keys_kept = UINT32_MAX / 4 + 1;
        ck_assert_int_eq(try_scheduler(&o, &err), SCALER_E_INVALID);
        for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
                o.keys_kept = good[i];
                ck_assert_int_eq(try_scheduler(&o, &err), 0);
        }
        o.keys_age_ms = -1;
        ck_assert_int_eq(try_scheduler(&o, &err), SCALER_E_INVALID);
        ck_assert_ptr_nonnull(strstr(err.text, "keys_age_ms -1"));
        o.keys_age_ms = INT64_MAX;
        ck_assert_int_eq(try_scheduler(&o, &err), SCALER_E_INVALID);
        o.keys_age_ms = SCALER_UNLIMITED;
        ck_assert_int_eq(try_scheduler(&o, &err), 0);
}
END_TEST

int main(void)
{
        TCase *specs = tcase_create("specs"), *roles = tcase_create("roles");
        tcase_add_checked_fixture(specs, up, down);
        tcase_add_test(specs, a_priority_beyond_a_thousand_is_refused);
        tcase_add_test(specs, needs_that_are_wrong_are_refused_with_the_part_that_is);
        tcase_add_test(specs, times_that_are_negative_or_beyond_their_limit_are_refused);
        tcase_add_test(specs, a_list_of_failures_is_refused_with_the_part_that_is_wrong);
        tcase_add_test(specs, a_tag_has_at_most_127_bytes);
        tcase_add_test(specs, of_many_specs_the_wrong_one_is_named);
        tcase_add_test(roles, a_function_is_told_what_it_holds);
        tcase_add_test(roles, a_clients_share_has_its_limits);
        tcase_add_test(roles, tenants_have_their_limits);
        tcase_add_test(roles, a_tenants_stride_is_the_first_ones_size);
        tcase_add_test(roles, a_schedulers_policies_are_known_ones);
        tcase_add_test(roles, what_a_scheduler_remembers_of_keys_has_limits);
        int failed = run_suite("plans", specs);
        return run_suite("plans of roles", roles) || failed;
}
