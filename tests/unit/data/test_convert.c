/*
 * test_convert.c -- f16 and bf16 against ldexp and a walk along the numbers; elements as doubles.
 *
 * KB_ALL_FLOATS=1 narrows every f32 there is, which takes a minute.
 */
#include "support/rig.h"
#include <math.h>
#include "data/cast.h"
#include "data/convert.h"

/* A format of 16 bits, and how it is converted. */
struct format {
    int fraction, bias;
    uint32_t inf;
    uint16_t (*of_f32)(float value);
    uint16_t (*of_f64)(double value);
    float (*to_f32)(uint16_t half);
};

static float to_f32_of_f16(uint16_t half)
{
    return f32_of_f16(half);
}

static float to_f32_of_bf16(uint16_t half)
{
    return f32_of_bf16(half);
}

static uint16_t to_bf16_of_f32(float value)
{
    return bf16_of_f32(value);
}

static const struct format formats[] = {
    {10, 15, 0x7c00, f16_of_f32, f16_of_f64, to_f32_of_f16},
    {7, 127, 0x7f80, to_bf16_of_f32, bf16_of_f64, to_f32_of_bf16},
};

/* The value of a finite pattern, or of the one after the last. */
static double slow_value(const struct format *f, uint32_t half)
{
    int exp = (int)(half >> f->fraction), units = (int)half - (exp << f->fraction);

    if (exp)
        units += 1 << f->fraction;
    return ldexp(units, (exp ? exp : 1) - f->bias - f->fraction);
}

static void assert_bits(uint32_t got, uint32_t want, double value)
{
    if (got != want)
        fail_msg("%a is %04x, not %04x", value, got, want);
}

static void assert_narrows(const struct format *f, double value, uint32_t want)
{
    assert_bits(f->of_f64(value), want, value);
    assert_bits(f->of_f64(-value), want | 0x8000, -value);
    if ((double)(float)value != value)
        return;
    assert_bits(f->of_f32((float)value), want, value);
    assert_bits(f->of_f32(-(float)value), want | 0x8000, -value);
}

static void every_half_widens_to_its_value_and_back(void **state)
{
    (void)state;
    for (size_t k = 0; k < LENGTH(formats); k++) {
        const struct format *f = &formats[k];

        for (uint32_t half = 0; half < f->inf; half++) {
            double value = slow_value(f, half);

            assert_true(f32_bits(f->to_f32((uint16_t)half)) == f32_bits((float)value));
            assert_true(f32_bits(f->to_f32((uint16_t)(half | 0x8000))) == f32_bits((float)-value));
            assert_narrows(f, value, half);
        }
        assert_true(f->to_f32((uint16_t)f->inf) == INFINITY);
        assert_true(f->to_f32((uint16_t)(f->inf | 0x8000)) == -INFINITY);
        assert_narrows(f, INFINITY, f->inf);
    }
}

/* Halfway between two, and just beside it; the first that is too large would be the next power. */
static void ties_go_to_the_even_one(void **state)
{
    (void)state;
    for (size_t k = 0; k < LENGTH(formats); k++) {
        const struct format *f = &formats[k];

        for (uint32_t half = 0; half < f->inf; half++) {
            double low = slow_value(f, half), high = slow_value(f, half + 1);
            double tie = (low + high) / 2;

            assert_narrows(f, tie, half + (half & 1));
            assert_narrows(f, nextafter(tie, low), half);
            assert_narrows(f, nextafter(tie, high), half + 1);
            assert_narrows(f, (double)nextafterf((float)tie, 0), half);
            assert_narrows(f, (double)nextafterf((float)tie, INFINITY), half + 1);
        }
        assert_narrows(f, 1e300, f->inf);
        assert_narrows(f, 5e-324, 0);
        assert_narrows(f, (double)0x1p-149f, 0);
    }
}

/* By f32 this would be rounded twice: first onto the tie, then away from the nearer one. */
static void a_double_is_rounded_once(void **state)
{
    (void)state;
    assert_int_equal(f16_of_f64(1 + 0x1p-11 + 0x1p-40), 0x3c01);
    assert_int_equal(f16_of_f32((float)(1 + 0x1p-11 + 0x1p-40)), 0x3c00);
    assert_int_equal(bf16_of_f64(1 + 0x1p-8 + 0x1p-40), 0x3f81);
    assert_int_equal(bf16_of_f32((float)(1 + 0x1p-8 + 0x1p-40)), 0x3f80);
}

/* Quiet, with the upper bits of the payload: what vcvtps2ph and vcvtph2ps do. */
static void nans_stay_nans(void **state)
{
    static const uint32_t nans[] = {0x7f800001, 0x7f801fff, 0x7f802000, 0x7fa00000,
                                    0x7fc00000, 0x7fffffff, 0xff800001, 0xffd55555};

    (void)state;
    for (size_t i = 0; i < LENGTH(nans); i++) {
        uint32_t sign = nans[i] >> 16 & 0x8000, fraction = nans[i] & 0x7fffff;
        float value = f32_of_bits(nans[i]);

        assert_bits(f16_of_f32(value), sign | 0x7e00 | fraction >> 13, (double)value);
        assert_bits(bf16_of_f32(value), sign | 0x7fc0 | fraction >> 16, (double)value);
        assert_bits(f16_of_f64((double)value), sign | 0x7e00 | fraction >> 13, (double)value);
        assert_bits(bf16_of_f64((double)value), sign | 0x7fc0 | fraction >> 16, (double)value);
    }
    for (uint32_t half = 0x7c01; half < 0x8000; half++)
        assert_true(f32_bits(f32_of_f16((uint16_t)half)) == (0x7fc00000 | half << 13));
    for (uint32_t half = 0x7f81; half < 0x8000; half++)
        assert_true(f32_bits(f32_of_bf16((uint16_t)half)) == half << 16);
}

/* -- arrays --------------------------------------------------------------------------------- */

enum { BLOCK = 1 << 16 };

struct arrays {
    float wide[BLOCK + 8];
    uint16_t f16[BLOCK + 8], bf16[BLOCK + 8];
};

static struct arrays got;

static void assert_widens(const struct converter *c)
{
    static uint16_t halves[BLOCK];

    for (uint32_t i = 0; i < BLOCK; i++)
        halves[i] = (uint16_t)i;
    c->f16_to_f32(got.wide, halves, BLOCK);
    for (uint32_t i = 0; i < BLOCK; i++)
        assert_true(f32_bits(got.wide[i]) == f32_bits(f32_of_f16(halves[i])));
    c->bf16_to_f32(got.wide, halves, BLOCK);
    for (uint32_t i = 0; i < BLOCK; i++)
        assert_true(f32_bits(got.wide[i]) == i << 16);
}

/* Any bits at any alignment in any number; nothing is written behind the last. */
static void assert_narrows_alike(const struct converter *c, uint64_t *dice)
{
    static float values[BLOCK];
    size_t n = draw(dice) % 100, to = draw(dice) % 8, from = draw(dice) % 8;

    for (size_t i = 0; i < 200; i++)
        values[i] = f32_of_bits((uint32_t)draw(dice));
    got.f16[to + n] = got.bf16[to + n] = 0x1234;
    c->f32_to_f16(got.f16 + to, values + from, n);
    c->f32_to_bf16(got.bf16 + to, values + from, n);
    for (size_t i = 0; i < n; i++) {
        assert_bits(got.f16[to + i], f16_of_f32(values[from + i]), (double)values[from + i]);
        assert_bits(got.bf16[to + i], bf16_of_f32(values[from + i]), (double)values[from + i]);
    }
    assert_int_equal(got.f16[to + n], 0x1234);
    assert_int_equal(got.bf16[to + n], 0x1234);
}

static void arrays_convert_as_their_elements_do(void **state)
{
    const struct converter *ways[] = {&converter_plain, converter_vector()};
    uint64_t dice = 1;

    (void)state;
    for (size_t k = 0; k < LENGTH(ways) && ways[k]; k++) {
        assert_widens(ways[k]);
        for (int i = 0; i < 5000; i++)
            assert_narrows_alike(ways[k], &dice);
    }
}

static void the_best_way_is_taken_by_all(void **state)
{
    static const uint16_t halves[] = {0x3c00, 0xc000, 0x0001, 0x7c00, 0, 0, 0, 0, 0x3c01};
    uint16_t back[LENGTH(halves)];
    float wide[LENGTH(halves)];

    (void)state;
    f16_to_f32(wide, halves, LENGTH(halves));
    assert_true(wide[0] == 1 && wide[1] == -2 && wide[2] == 0x1p-24f && wide[3] == INFINITY);
    f32_to_f16(back, wide, LENGTH(halves));
    assert_memory_equal(back, halves, sizeof halves);
    bf16_to_f32(wide, halves, LENGTH(halves));
    assert_true(wide[0] == 0x1p-7f && wide[1] == -2 && wide[2] == 0x1p-133f);
    f32_to_bf16(back, wide, LENGTH(halves));
    assert_memory_equal(back, halves, sizeof halves);
}

/* -- every f32 ------------------------------------------------------------------------------ */

/* How far the walk along the positive numbers has come in one format. */
struct walk {
    const struct format *f;
    uint32_t half;
    float tie; /* between it and the next */
};

static void walk_to(struct walk *w, uint32_t half)
{
    w->half = half;
    w->tie = (float)((slow_value(w->f, half) + slow_value(w->f, half + 1)) / 2);
}

/* `bits` rise from call to call. */
static inline uint32_t walk_expect(struct walk *w, uint32_t bits)
{
    float value = f32_of_bits(bits);

    if (bits > 0x7f800000)
        return w->f->inf | 1u << (w->f->fraction - 1) | (bits & 0x7fffff) >> (23 - w->f->fraction);
    while (w->half < w->f->inf && (value > w->tie || (value == w->tie && (w->half & 1))))
        walk_to(w, w->half + 1);
    return w->half;
}

static void check_block(const struct converter *c, const float *values, const uint16_t *want_f16,
                        const uint16_t *want_bf16)
{
    c->f32_to_f16(got.f16, values, BLOCK);
    c->f32_to_bf16(got.bf16, values, BLOCK);
    assert_memory_equal(got.f16, want_f16, BLOCK * sizeof *want_f16);
    assert_memory_equal(got.bf16, want_bf16, BLOCK * sizeof *want_bf16);
}

static void check_blocks(const float *values, const uint16_t *want_f16, const uint16_t *want_bf16)
{
    check_block(&converter_plain, values, want_f16, want_bf16);
    if (converter_vector())
        check_block(converter_vector(), values, want_f16, want_bf16);
}

static void every_float_narrows_to_the_nearest(void **state)
{
    static float values[BLOCK];
    static uint16_t want[2][BLOCK];
    struct walk walks[] = {{.f = &formats[0]}, {.f = &formats[1]}};
    uint32_t blocks = getenv("KB_ALL_FLOATS") ? 1u << 15 : 0;

    (void)state;
    for (int k = 0; k < 2; k++)
        walk_to(&walks[k], 0);
    for (uint32_t block = 0; block < blocks; block++) {
        for (uint32_t i = 0; i < BLOCK; i++) {
            uint32_t bits = block * BLOCK + i;

            values[i] = f32_of_bits(bits);
            want[0][i] = (uint16_t)walk_expect(&walks[0], bits);
            want[1][i] = (uint16_t)walk_expect(&walks[1], bits);
        }
        check_blocks(values, want[0], want[1]);
        for (uint32_t i = 0; i < BLOCK; i++) {
            values[i] = f32_of_bits(f32_bits(values[i]) | 0x80000000u);
            want[0][i] |= 0x8000;
            want[1][i] |= 0x8000;
        }
        check_blocks(values, want[0], want[1]);
    }
}

/* -- elements ------------------------------------------------------------------------------- */

static void types_have_names_and_sizes(void **state)
{
    static const struct {
        const char *name;
        kb_dtype dtype;
        size_t nbytes;
    } rows[] = {
        {"f16", KB_F16, 2},   {"bf16", KB_BF16, 2},     {"f32", KB_F32, 4},
        {"f64", KB_F64, 8},   {"i8", KB_I8, 1},         {"i16", KB_I16, 2},
        {"i32", KB_I32, 4},   {"i64", KB_I64, 8},       {"u8", KB_U8, 1},
        {"u16", KB_U16, 2},   {"u32", KB_U32, 4},       {"u64", KB_U64, 8},
        {"bool", KB_BOOL, 1}, {"f8e4m3", KB_F8E4M3, 1}, {"f8e5m2", KB_F8E5M2, 1},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        assert_string_equal(kb_dtype_name(rows[i].dtype), rows[i].name);
        assert_int_equal(kb_dtype_parse(rows[i].name), rows[i].dtype);
        assert_int_equal(kb_dtype_bytes(rows[i].dtype), rows[i].nbytes);
    }
    assert_int_equal(kb_dtype_parse("f8"), KB_DEFAULT);
    assert_int_equal(kb_dtype_parse(""), KB_DEFAULT);
    assert_int_equal(kb_dtype_bytes(KB_DEFAULT), 0);
    assert_int_equal(kb_dtype_bytes((kb_dtype)99), 0);
}

/* The element before and the one after stay as they were. */
static double stored(kb_dtype dtype, double value)
{
    unsigned char bytes[24];
    size_t n = kb_dtype_bytes(dtype);

    memset(bytes, 0xa5, sizeof bytes);
    kb_element_set(dtype, bytes, 1, value);
    for (size_t i = 0; i < n; i++)
        assert_true(bytes[i] == 0xa5 && bytes[2 * n + i] == 0xa5);
    return kb_element(dtype, bytes, 1);
}

static void elements_round_to_even_and_integers_saturate(void **state)
{
    static const struct {
        kb_dtype dtype;
        double value, want;
    } rows[] = {
        {KB_F64, 0.1, 0.1},
        {KB_F32, 0.1, 0x1.99999ap-4},
        {KB_F32, 1e300, INFINITY},
        {KB_F16, 65519, 65504},
        {KB_F16, 65520, INFINITY},
        {KB_BF16, 1.005859375, 1.0078125},
        {KB_I8, 2.5, 2},
        {KB_I8, 3.5, 4},
        {KB_I8, -2.5, -2},
        {KB_I8, 127.4, 127},
        {KB_I8, 127.6, 127},
        {KB_I8, -128.4, -128},
        {KB_I8, -1e9, -128},
        {KB_I16, 1e9, 32767},
        {KB_I16, -32768.5, -32768},
        {KB_I32, 2147483647, 2147483647},
        {KB_I32, 2147483648, 2147483647},
        {KB_I32, -3e9, -2147483648.0},
        {KB_I64, 0x1p63, 0x1p63},
        {KB_I64, -0x1p63, -0x1p63},
        {KB_I64, INFINITY, 0x1p63},
        {KB_I64, -INFINITY, -0x1p63},
        {KB_I64, -5, -5},
        {KB_I32, NAN, 0},
        {KB_U8, 255.4, 255},
        {KB_U8, 300, 255},
        {KB_U8, -1, 0},
        {KB_U8, -INFINITY, 0},
        {KB_U16, 65535.5, 65535},
        {KB_U32, 4294967295.0, 4294967295.0},
        {KB_U32, 0x1p32, 4294967295.0},
        {KB_U64, 0x1p64, 0x1p64},
        {KB_U64, 0x1p63, 0x1p63},
        {KB_U64, NAN, 0},
        {KB_BOOL, 0.25, 1},
        {KB_BOOL, -0.0, 0},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++)
        if (stored(rows[i].dtype, rows[i].value) != rows[i].want)
            fail_msg("%g as %s is %.17g", rows[i].value, kb_dtype_name(rows[i].dtype),
                     stored(rows[i].dtype, rows[i].value));
    assert_true(isnan(stored(KB_F16, NAN)) && isnan(stored(KB_BF16, NAN)));
    assert_true(isnan(stored(KB_F32, NAN)) && isnan(stored(KB_F64, NAN)));
}

/* The largest i64 and u64 are no doubles: look at the bits. */
static void the_largest_integers_are_all_ones(void **state)
{
    uint64_t bits = 0;

    (void)state;
    kb_element_set(KB_I64, &bits, 0, 1e300);
    assert_true(bits == INT64_MAX);
    kb_element_set(KB_U64, &bits, 0, 1e300);
    assert_true(bits == UINT64_MAX);
}

/* Known numbers: 0.1, 17, 19 and 2^-10 are rounded, and what is too large saturates. */
static void floats_of_8_bits_round_and_saturate(void **state)
{
    static const struct {
        double value;
        uint8_t e4m3, e5m2;
    } rows[] = {{0.1, 0x1d, 0x2e},     {17, 0x58, 0x4c},        {19, 0x5a, 0x4d},
                {0x1p-10, 0, 0x14},    {1e6, 0x7e, 0x7b},       {INFINITY, 0x7e, 0x7b},
                {NAN, 0x7f, 0x7e},     {-INFINITY, 0xfe, 0xfb}, {-0.0, 0x80, 0x80},
                {448, 0x7e, 0x5f},     {464, 0x7e, 0x5f},       {0x1p-9, 0x01, 0x18},
                {3 * 0x1p-11, 1, 0x16}};

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        uint8_t e4m3, e5m2;
        float narrow = (float)rows[i].value;

        kb_element_set(KB_F8E4M3, &e4m3, 0, rows[i].value);
        kb_element_set(KB_F8E5M2, &e5m2, 0, rows[i].value);
        if (e4m3 != rows[i].e4m3 || e5m2 != rows[i].e5m2)
            fail_msg("%g is %02x and %02x", rows[i].value, e4m3, e5m2);
        cast_elements(KB_F8E4M3, &e4m3, KB_F32, &narrow, 1);
        assert_int_equal(e4m3, rows[i].e4m3);
    }
}

/* What a float of 8 bits stands for, from its definition. */
static double meant(unsigned bits, int fraction, int bias)
{
    int exponent = (int)(bits & 0x7f) >> fraction;
    double part = (bits & ((1u << fraction) - 1)) / (double)(1 << fraction);
    double magnitude = exponent ? ldexp(1 + part, exponent - bias) : ldexp(part, 1 - bias);

    return bits & 0x80 ? -magnitude : magnitude;
}

/* All of them, and the nearest of what lies between two: the even one of a tie. */
static void each_float_of_8_bits_is_the_nearest(void **state)
{
    (void)state;
    for (int e5m2 = 0; e5m2 < 2; e5m2++) {
        kb_dtype type = e5m2 ? KB_F8E5M2 : KB_F8E4M3;
        uint8_t largest = e5m2 ? 0x7b : 0x7e, made;

        for (unsigned i = 0; i <= largest; i++) {
            uint8_t bits = (uint8_t)i, negative = bits | 0x80;
            double x = meant(i, e5m2 ? 2 : 3, e5m2 ? 15 : 7);
            double next = meant(i + 1, e5m2 ? 2 : 3, e5m2 ? 15 : 7), middle = (x + next) / 2;

            assert_true(kb_element(type, &bits, 0) == x && kb_element(type, &negative, 0) == -x);
            kb_element_set(type, &made, 0, nextafter(middle, 0));
            assert_int_equal(made, bits);
            kb_element_set(type, &made, 0, middle);
            assert_int_equal(made, i == largest ? i : i + (i & 1));
            kb_element_set(type, &made, 0, nextafter(middle, INFINITY));
            assert_int_equal(made, i == largest ? i : i + 1);
        }
        made = 0x7c;
        assert_true(e5m2 ? isinf(kb_element(type, &made, 0)) : kb_element(type, &made, 0) == 384);
        made = 0xff;
        assert_true(isnan(kb_element(type, &made, 0)));
    }
}

/* KB_DEFAULT is no type: it has no name and no elements. */
static void no_type_has_no_elements(void **state)
{
    unsigned char bytes[8] = {7};

    (void)state;
    assert_string_equal(kb_dtype_name(KB_DEFAULT), "?");
    assert_true(isnan(kb_element(KB_DEFAULT, bytes, 0)));
    kb_element_set(KB_DEFAULT, bytes, 0, 1);
    assert_int_equal(bytes[0], 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half_widens_to_its_value_and_back),
        cmocka_unit_test(ties_go_to_the_even_one),
        cmocka_unit_test(a_double_is_rounded_once),
        cmocka_unit_test(nans_stay_nans),
        cmocka_unit_test(arrays_convert_as_their_elements_do),
        cmocka_unit_test(the_best_way_is_taken_by_all),
        cmocka_unit_test(every_float_narrows_to_the_nearest),
        cmocka_unit_test(types_have_names_and_sizes),
        cmocka_unit_test(elements_round_to_even_and_integers_saturate),
        cmocka_unit_test(the_largest_integers_are_all_ones),
        cmocka_unit_test(floats_of_8_bits_round_and_saturate),
        cmocka_unit_test(each_float_of_8_bits_is_the_nearest),
        cmocka_unit_test(no_type_has_no_elements),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
