/* What a command's environment says of the devices it holds. */
#include "command_env.h"

#include <check.h>
#include <string.h>

#include "fail_mem.h"
#include "run_tests.h"

static struct fail_mem       fail;
static struct sc_command_env env;

static struct sc_held held(const char *name, uint64_t indices)
{
        return (struct sc_held){ .name = { name, strlen(name) }, .thousandths = 1000, .indices = indices };
}

static void make(const struct sc_held *list, uint32_t count)
{
        fail_mem_init(&fail, 0);
        ck_assert(sc_command_env_init(&env, &fail.mem, list, count));
}

static void drop(void)
{
        sc_command_env_fini(&env);
        ck_assert_uint_eq(fail_mem_leaks(&fail), 0);
}

static void entry(uint32_t i, const char *text)
{
        ck_assert_uint_lt(i, env.count);
        ck_assert_msg(env.view[i].len == strlen(text) && memcmp(env.view[i].ptr, text, env.view[i].len) == 0, "%.*s",
                      (int)env.view[i].len, (const char *)env.view[i].ptr);
}

START_TEST(devices_are_named_by_their_indices)
{
        const struct sc_held list[] = { held("fpga-v2.x", 1), held("gpu", 11), held("linux", 0), held("n_1", 4) };
        make(list, 4);
        ck_assert_uint_eq(env.count, 4);
        entry(0, "SCALER_FPGA_V2_X=0");
        entry(1, "SCALER_GPU=0,1,3");
        entry(2, "CUDA_VISIBLE_DEVICES=0,1,3");
        entry(3, "SCALER_N_1=2");
        drop();
}
END_TEST

START_TEST(who_holds_no_devices_is_told_nothing_and_allocates_nothing)
{
        const struct sc_held list[] = { held("mem", 0), held("linux", 0) };
        make(list, 2);
        ck_assert_uint_eq(env.count, 0);
        ck_assert_uint_eq(fail.asked, 0);
        drop();
        make(NULL, 0);
        ck_assert_uint_eq(env.count, 0);
        drop();
}
END_TEST

START_TEST(the_longest_names_with_all_indices_fit)
{
        static char    names[SC_AMOUNTS_MAX][32];
        struct sc_held list[SC_AMOUNTS_MAX];
        for (uint32_t i = 0; i < SC_AMOUNTS_MAX; i++) {
                memset(names[i], 'x', 31);
                names[i][0] = (char)('A' + i % 26);
                list[i]     = held(names[i], UINT64_MAX);
        }
        list[0] = held("gpu", UINT64_MAX);
        make(list, SC_AMOUNTS_MAX);
        ck_assert_uint_eq(env.count, SC_AMOUNTS_MAX + 1);
        for (uint32_t i = 0; i < env.count; i++)
                ck_assert_mem_eq((const char *)env.view[i].ptr + env.view[i].len - 9, ",61,62,63", 9);
        drop();
}
END_TEST

START_TEST(no_memory_is_told)
{
        const struct sc_held list[] = { held("gpu", 1) };
        fail_mem_init(&fail, 1);
        ck_assert(!sc_command_env_init(&env, &fail.mem, list, 1));
        drop();
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("command env");
        tcase_add_test(tests, devices_are_named_by_their_indices);
        tcase_add_test(tests, who_holds_no_devices_is_told_nothing_and_allocates_nothing);
        tcase_add_test(tests, the_longest_names_with_all_indices_fit);
        tcase_add_test(tests, no_memory_is_told);
        return run_tests("command env", tests);
}
