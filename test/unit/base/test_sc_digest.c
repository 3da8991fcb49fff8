/*
 * Digests: those of the definition's vectors, however the bytes come, and lengths that count.
 */
#include "run_tests.h"
#include "sc_digest.h"

static const struct sc_id vectors_key = { UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908) };

/* Of the bytes 0, 1, 2 ..., whose number is `len`, in two pieces. */
static struct sc_id digest_of(size_t len, size_t first)
{
        unsigned char    bytes[64];
        struct sc_digest d;
        for (size_t i = 0; i < sizeof bytes; i++)
                bytes[i] = (unsigned char)i;
        sc_digest_init(&d, vectors_key);
        sc_digest_add(&d, bytes, first);
        sc_digest_add(&d, bytes + first, len - first);
        return sc_digest_end(&d);
}

START_TEST(the_vectors_of_the_definition_come_out)
{
        static const struct {
                size_t       len;
                struct sc_id out;
        } vectors[] = {
                { 0, { UINT64_C(0xe6a825ba047f81a3), UINT64_C(0x930255c71472f66d) } },
                { 21, { UINT64_C(0x215a52be5a498e56), UINT64_C(0x121d073ecd14228a) } },
                { 42, { UINT64_C(0xbb31c2c96a3417e6), UINT64_C(0x5b0ccacc34ae5036) } },
                { 63, { UINT64_C(0x4a83502f77d15051), UINT64_C(0x7cbd3f979a063e50) } },
        };
        for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
                for (size_t first = 0; first <= vectors[i].len; first++) {
                        const struct sc_id out = digest_of(vectors[i].len, first);
                        ck_assert_uint_eq(out.hi, vectors[i].out.hi);
                        ck_assert_uint_eq(out.lo, vectors[i].out.lo);
                }
        }
}
END_TEST

START_TEST(what_is_said_with_its_length_is_no_part_of_what_follows)
{
        struct sc_digest a, b;
        sc_digest_init(&a, (struct sc_id){ 0, 0 });
        sc_digest_init(&b, (struct sc_id){ 0, 0 });
        sc_digest_text(&a, "ab", 2);
        sc_digest_text(&a, "c", 1);
        sc_digest_text(&b, "a", 1);
        sc_digest_text(&b, "bc", 2);
        ck_assert(!sc_id_equal(sc_digest_end(&a), sc_digest_end(&b)));
        sc_digest_init(&a, (struct sc_id){ 0, 0 });
        sc_digest_init(&b, (struct sc_id){ 0, 0 });
        sc_digest_text(&a, "", 0);
        ck_assert(!sc_id_equal(sc_digest_end(&a), sc_digest_end(&b)));
}
END_TEST

START_TEST(an_end_may_be_taken_and_more_follow)
{
        struct sc_digest d;
        sc_digest_init(&d, vectors_key);
        ck_assert(sc_id_equal(sc_digest_end(&d), digest_of(0, 0)));
        sc_digest_number(&d, UINT64_C(0x0706050403020100));
        ck_assert(sc_id_equal(sc_digest_end(&d), digest_of(8, 3)));
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("sc_digest");
        tcase_add_test(tests, the_vectors_of_the_definition_come_out);
        tcase_add_test(tests, what_is_said_with_its_length_is_no_part_of_what_follows);
        tcase_add_test(tests, an_end_may_be_taken_and_more_follow);
        return run_tests("sc_digest", tests);
}
