/*
 * test_reference.c -- what references of benches compute faster is what plain loops compute.
 *
 * No number is from a document: a quotient is compared with a division, and a rounded sum with
 * kb_element_set(), bit for bit.
 */
#include "benches/attention.h"
#include "benches/coll_bench.h"
#include "support/rig.h"

enum { ROUNDS = 20000 };

/* 52 random bits, and an exponent in [-range, range). */
static double number(uint64_t *dice, int range)
{
    uint64_t bits = draw(dice);
    double x = 1 + (double)(bits >> 12) * 0x1p-52;

    return ldexp(bits & 1 ? -x : x, (int)(bits >> 1 & 1023) % (2 * range) - range);
}

static void check_add(void (*term)(double *, double, const double *, double), double root,
                      uint64_t *dice, int range)
{
    double k[REFERENCE_BLOCK], got[REFERENCE_BLOCK] = {0}, q = number(dice, range);

    for (int j = 0; j < REFERENCE_BLOCK; j++)
        k[j] = j == 3 ? 0 : number(dice, range);
    term(got, q, k, root);
    for (int j = 0; j < REFERENCE_BLOCK; j++) {
        double want = q * k[j] / root;

        assert_true(got[j] == want);
    }
}

/* Divisors are square roots, as D is whole; sums begin at 0, so a term is what was added. */
static void quotients_by_an_inverse_are_rounded_as_divisions(void **state)
{
    void (*adds[])(double *, double, const double *, double) = {
        reference_divide,
        reference_loops().add,
#ifdef __x86_64__
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? reference_add_32 : NULL,
#endif
    };
    uint64_t dice = 1;

    (void)state;
    for (int i = 0; i < ROUNDS; i++)
        for (size_t a = 0; a < sizeof adds / sizeof *adds; a++)
            if (adds[a])
                check_add(adds[a], sqrt(1 + i % 300), &dice, i % 2 ? 3 : 190);
}

static void sums_are_rounded_as_elements_are(void **state)
{
    static const kb_dtype dtypes[] = {KB_F16, KB_BF16, KB_F32, KB_F64};
    uint64_t dice = 2, bytes[1];

    (void)state;
    for (int i = 0; i < ROUNDS; i++)
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
            double x = number(&dice, i % 2 ? 20 : 140), half;

            kb_element_set(dtypes[d], bytes, 0, x);
            half = kb_element(dtypes[d], bytes, 0) * (1 + 0x1p-11); /* between two numbers of f16 */
            assert_true(round_to(dtypes[d], x) == kb_element(dtypes[d], bytes, 0));
            kb_element_set(dtypes[d], bytes, 0, half);
            assert_true(round_to(dtypes[d], half) == kb_element(dtypes[d], bytes, 0));
        }
}

/* A number that is not usual takes the division: its product may be denormal. */
static void products_near_the_ends_are_divided(void **state)
{
    (void)state;
    assert_true(reference_is_usual(0) && reference_is_usual(-0x1p-399));
    assert_false(reference_is_usual(0x1p-400) || reference_is_usual(0x1p400));
    assert_false(reference_is_usual(INFINITY) || reference_is_usual(NAN));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotients_by_an_inverse_are_rounded_as_divisions),
        cmocka_unit_test(sums_are_rounded_as_elements_are),
        cmocka_unit_test(products_near_the_ends_are_divided),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
