/* Amounts as people write them and as they travel, each limit from both sides. */
#include "amounts.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "run_tests.h"
#include "sc_status.h"

static struct sc_amount amounts[SC_AMOUNTS_MAX];
static uint32_t         count;
static char             canonical[SC_AMOUNTS_TEXT + 1];

static struct sc_view view(const char *text)
{
        return (struct sc_view){ text, strlen(text) };
}

/* What people write, and how it travels; and that the canonical form is read back to the same. */
static void becomes(const char *text, const char *expected)
{
        const char *why = "";
        ck_assert_msg(sc_amounts_read(view(text), amounts, &count, &why) == 0, "\"%s\": %s", text, why);
        ck_assert_uint_eq(sc_amounts_write(amounts, count, canonical), strlen(expected));
        ck_assert_str_eq(canonical, expected);
        struct sc_amount back[SC_AMOUNTS_MAX];
        uint32_t         back_count;
        ck_assert_int_eq(sc_amounts_parse(view(canonical), back, &back_count), 0);
        ck_assert_uint_eq(back_count, count);
        for (uint32_t i = 0; i < count; i++) {
                ck_assert_uint_eq(back[i].thousandths, amounts[i].thousandths);
                ck_assert_uint_eq(back[i].name.len, amounts[i].name.len);
                ck_assert_mem_eq(back[i].name.ptr, amounts[i].name.ptr, back[i].name.len);
        }
}

static void is_refused(const char *text, const char *words)
{
        const char *why = "";
        count           = 77;
        ck_assert_msg(sc_amounts_read(view(text), amounts, &count, &why) == SC_E_INVALID, "\"%s\" was taken", text);
        ck_assert_str_eq(why, words);
        ck_assert_uint_eq(count, 77);
}

START_TEST(peoples_form_becomes_the_canonical_one)
{
        becomes("", "");
        becomes("cpu=8,gpu=2,linux,mem=64G", "cpu=8000,gpu=2000,linux,mem=68719476736000");
        becomes("mem=64G,linux,cpu=8,gpu=2", "cpu=8000,gpu=2000,linux,mem=68719476736000");
        becomes(" gpu = 1 , mem=2G,  linux ", "gpu=1000,linux,mem=2147483648000");
        becomes("gpu=0.5", "gpu=500");
        becomes("gpu=0.001", "gpu=1");
        becomes("gpu=1.25", "gpu=1250");
        becomes("gpu=0012", "gpu=12000");
        becomes("a=1K,b=1M,c=1G,d=1T", "a=1024000,b=1048576000,c=1073741824000,d=1099511627776000");
        becomes("a=0.5K", "a=512000");
        becomes("b,B,a,A", "A,B,a,b");
        becomes("ab,a,abc", "a,ab,abc");
        becomes("_x,.y,-z,n1", "-z,.y,_x,n1");
}
END_TEST

START_TEST(an_amount_is_at_most_two_to_the_53rd_thousandths)
{
        becomes("a=9007199254740.992", "a=9007199254740992");
        becomes("a=0.008P", "a=9007199254740992");
        becomes("a=8T", "a=8796093022208000");
        is_refused("a=9007199254740.993", "the amount is too large");
        is_refused("a=9007199254741", "the amount is too large");
        is_refused("a=0.009P", "the amount is too large");
        is_refused("a=9T", "the amount is too large");
        is_refused("a=99999999999999999999999999999999", "the amount is too large");
        is_refused("a=18446744073709551616", "the amount is too large");
}
END_TEST

START_TEST(an_amount_is_a_number)
{
        static const char words[] = "the amount is not a number like 8, 0.5 or 64G";
        is_refused("gpu=", words);
        is_refused("gpu=two", words);
        is_refused("gpu=-1", words);
        is_refused("gpu=1.", words);
        is_refused("gpu=.5", words);
        is_refused("gpu=1 2", words);
        is_refused("gpu=1k", words);
        is_refused("gpu=1GB", words);
        is_refused("gpu=1=2", words);
        is_refused("gpu=G", words);
        is_refused("gpu=0", "the amount is zero");
        is_refused("gpu=0.000", "the amount is zero");
        is_refused("gpu=0P", "the amount is zero");
        is_refused("gpu=1.2345", "the amount has more than three digits behind its point");
}
END_TEST

START_TEST(a_name_has_1_to_31_bytes_of_its_alphabet)
{
        static const char words[] = "a name has 1 to 31 letters, digits, _, . and -, and does not start with a digit";
        becomes("abcdefghijklmnopqrstuvwxyz01234", "abcdefghijklmnopqrstuvwxyz01234");
        is_refused("abcdefghijklmnopqrstuvwxyz012345", words);
        is_refused("1gpu", words);
        is_refused("g pu", words);
        is_refused("g\xc3\xa4", words);
        is_refused("a/b=1", words);
        is_refused("=1", words);
        is_refused(",", words);
        is_refused("a,", words);
        is_refused(",a", words);
        is_refused("a,,b", words);
        is_refused(" ", words);
}
END_TEST

START_TEST(a_name_comes_once)
{
        is_refused("gpu=1,gpu=1", "a name comes twice");
        is_refused("gpu,cpu,gpu=1", "a name comes twice");
        is_refused("b,c,a,b", "a name comes twice");
}
END_TEST

START_TEST(a_list_has_at_most_32_names)
{
        char   text[400];
        size_t len = 0;
        for (int i = 0; i < 32; i++)
                len += (size_t)snprintf(text + len, sizeof text - len, "%sn%02d=1", i ? "," : "", i);
        becomes(text, "n00=1000,n01=1000,n02=1000,n03=1000,n04=1000,n05=1000,n06=1000,n07=1000,n08=1000,n09=1000,"
                      "n10=1000,n11=1000,n12=1000,n13=1000,n14=1000,n15=1000,n16=1000,n17=1000,n18=1000,n19=1000,"
                      "n20=1000,n21=1000,n22=1000,n23=1000,n24=1000,n25=1000,n26=1000,n27=1000,n28=1000,n29=1000,"
                      "n30=1000,n31=1000");
        snprintf(text + len, sizeof text - len, ",n32");
        is_refused(text, "there are more than 32 names");
        len = strlen(canonical);
        memcpy(canonical + len, ",n32", 5);
        ck_assert_int_eq(sc_amounts_parse(view(canonical), amounts, &count), SC_E_PROTOCOL);
}
END_TEST

START_TEST(a_canonical_list_has_at_most_511_bytes)
{
        char             names[17][SC_AMOUNT_NAME_MAX];
        struct sc_amount list[17];
        for (int i = 0; i < 17; i++) {
                memset(names[i], 'x', sizeof names[i]);
                names[i][0] = (char)('a' + i);
                list[i]     = (struct sc_amount){ .name = { names[i], SC_AMOUNT_NAME_MAX } };
        }
        ck_assert_uint_eq(sc_amounts_write(list, 16, canonical), SC_AMOUNTS_TEXT);
        ck_assert_int_eq(sc_amounts_parse(view(canonical), amounts, &count), 0);
        ck_assert_uint_eq(count, 16);
        list[15].thousandths = 1;
        ck_assert_uint_eq(sc_amounts_write(list, 16, canonical), SIZE_MAX);
        list[15].thousandths = 0;
        list[16].name.len    = 1;
        ck_assert_uint_eq(sc_amounts_write(list, 17, canonical), SIZE_MAX);
        char longer[SC_AMOUNTS_TEXT + 3];
        sc_amounts_write(list, 16, canonical);
        snprintf(longer, sizeof longer, "%s,z", canonical);
        ck_assert_int_eq(sc_amounts_parse(view(longer), amounts, &count), SC_E_PROTOCOL);
}
END_TEST

START_TEST(a_peer_writes_the_canonical_form_to_the_byte)
{
        static const char *wrong[] = {
                "b,a",  "a,a",  "a=1,a=2", "a=01",    "a=0",   "a=",  "a=1.5", "a=1K",
                " a",   "a ",   "a, b",    ",",       "a,",    ",a",  "1a",    "a=9007199254740993",
                "a=+1", "a=-1", "a=1 ",    "a=1=1",   "=",     "=1",  "a/",    "a=18446744073709551617",
                "ab,a=1", "linux,b"
        };
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
                count = 77;
                ck_assert_msg(sc_amounts_parse(view(wrong[i]), amounts, &count) == SC_E_PROTOCOL, "\"%s\"", wrong[i]);
                ck_assert_uint_eq(count, 77);
        }
        ck_assert_int_eq(sc_amounts_parse(view("a=9007199254740992,b,c=1"), amounts, &count), 0);
        ck_assert_uint_eq(count, 3);
        ck_assert_uint_eq(amounts[0].thousandths, UINT64_C(1) << 53);
        ck_assert_uint_eq(amounts[1].thousandths, 0);
        ck_assert_int_eq(sc_amounts_parse((struct sc_view){ NULL, 0 }, amounts, &count), 0);
        ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(a_byte_that_ends_a_text_elsewhere_ends_nothing_here)
{
        const char          *why;
        const struct sc_view zero = { "a\0b", 3 };
        ck_assert_int_eq(sc_amounts_read(zero, amounts, &count, &why), SC_E_INVALID);
        ck_assert_int_eq(sc_amounts_parse(zero, amounts, &count), SC_E_PROTOCOL);
        ck_assert_int_eq(sc_amounts_read((struct sc_view){ "a=1\0", 4 }, amounts, &count, &why), SC_E_INVALID);
        ck_assert_int_eq(sc_amounts_read((struct sc_view){ "abc", 1 }, amounts, &count, &why), 0);
        ck_assert_uint_eq(amounts[0].name.len, 1);
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("amounts");
        tcase_add_test(tests, peoples_form_becomes_the_canonical_one);
        tcase_add_test(tests, an_amount_is_at_most_two_to_the_53rd_thousandths);
        tcase_add_test(tests, an_amount_is_a_number);
        tcase_add_test(tests, a_name_has_1_to_31_bytes_of_its_alphabet);
        tcase_add_test(tests, a_name_comes_once);
        tcase_add_test(tests, a_list_has_at_most_32_names);
        tcase_add_test(tests, a_canonical_list_has_at_most_511_bytes);
        tcase_add_test(tests, a_peer_writes_the_canonical_form_to_the_byte);
        tcase_add_test(tests, a_byte_that_ends_a_text_elsewhere_ends_nothing_here);
        return run_tests("amounts", tests);
}
