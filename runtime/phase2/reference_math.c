/* reference_math.c -- the reference implementation of math operations: element by element, and over
 * an axis. */
#include <math.h>
#include <stdio.h>
#include "data/cast.h"
#include "phase2/math_op.h"
#include "phase2/reference_parts.h"

/* -- elementwise ---------------------------------------------------------------------------- */

#define NO_TRAP __attribute__((no_sanitize("float-divide-by-zero")))

NO_TRAP static double float_value(enum tl_op math, double x, double y, double z)
{
    switch (math) {
    case TL_ADD:
        return x + y;
    case TL_SUB:
        return x - y;
    case TL_MUL:
        return x * y;
    case TL_DIV:
        return x / y;
    case TL_NEG:
        return -x;
    case TL_ABS:
        return fabs(x);
    case TL_MAXIMUM:
        return isnan(x) || isnan(y) ? NAN : fmax(x, y);
    case TL_MINIMUM:
        return isnan(x) || isnan(y) ? NAN : fmin(x, y);
    case TL_FMA:
        return fma(x, y, z);
    case TL_CLAMP:
        return isnan(x) || isnan(y) || isnan(z) ? NAN : fmin(fmax(x, y), z);
    case TL_EXP:
        return exp(x);
    case TL_LOG:
        return log(x);
    case TL_SQRT:
        return sqrt(x);
    case TL_RSQRT:
        return 1 / sqrt(x);
    case TL_TANH:
        return tanh(x);
    case TL_SIGMOID:
        return 1 / (1 + exp(-x));
    case TL_ERF:
        return erf(x);
    case TL_EXP2:
        return exp2(x);
    case TL_LOG2:
        return log2(x);
    case TL_SIN:
        return sin(x);
    case TL_COS:
        return cos(x);
    case TL_FLOOR:
        return floor(x);
    case TL_CEIL:
        return ceil(x);
    case TL_ROUND:
        return nearbyint(x);
    case TL_POW:
        return pow(x, y);
    CASES_OF_BITS:
    case TL_WHERE:
    CASES_COMPARE:
    CASES_REDUCE:
    CASES_SOURCE:
    CASES_WHOLE:
        break;
    }
    return NAN;
}

static bool less(bool is_signed, uint64_t x, uint64_t y)
{
    return is_signed ? (int64_t)x < (int64_t)y : x < y;
}

/*
 * By magnitudes and a sign, since the machine's own division traps for the smallest integer
 * divided by -1. By zero it is 0.
 */
static uint64_t quotient(bool is_signed, uint64_t x, uint64_t y)
{
    bool negative = is_signed && (x ^ y) >> 63;
    uint64_t q;

    if (y == 0)
        return 0;
    if (is_signed) {
        x = x >> 63 ? -x : x;
        y = y >> 63 ? -y : y;
    }
    q = x / y;
    return negative ? -q : q;
}

/* By counts of 64 and more, too; a narrower type wraps afterwards. */
static uint64_t shifted(bool left, bool is_signed, uint64_t x, uint64_t y)
{
    uint64_t sign = is_signed && x >> 63 ? UINT64_MAX : 0;

    if (is_signed && y >> 63)
        return 0;
    if (y > 63)
        return left ? 0 : sign;
    if (left)
        return x << y;
    return y == 0 ? x : x >> y | sign << (64 - y);
}

static uint64_t integer_value(enum tl_op math, bool is_signed, uint64_t x, uint64_t y, uint64_t z)
{
    switch (math) {
    case TL_ADD:
        return x + y;
    case TL_SUB:
        return x - y;
    case TL_MUL:
        return x * y;
    case TL_DIV:
        return quotient(is_signed, x, y);
    case TL_NEG:
        return -x;
    case TL_ABS:
        return less(is_signed, x, 0) ? -x : x;
    case TL_MAXIMUM:
        return less(is_signed, x, y) ? y : x;
    case TL_MINIMUM:
        return less(is_signed, y, x) ? y : x;
    case TL_CLAMP:
        x = less(is_signed, x, y) ? y : x;
        return less(is_signed, z, x) ? z : x;
    case TL_AND:
        return x & y;
    case TL_OR:
        return x | y;
    case TL_XOR:
        return x ^ y;
    case TL_NOT:
        return ~x;
    case TL_SHL:
    case TL_SHR:
        return shifted(math == TL_SHL, is_signed, x, y);
    case TL_MOD:
        return y == 0 ? 0 : x - quotient(is_signed, x, y) * y;
    CASES_OF_FLOATS:
    CASES_SPECIAL:
    case TL_WHERE:
    CASES_COMPARE:
    CASES_REDUCE:
    CASES_SOURCE:
    CASES_WHOLE:
        break;
    }
    return 0;
}

/* -1, 0, 1; 2: one of them is NaN. */
static int order(bool is_signed, struct number x, struct number y)
{
    if (x.is_float)
        return x.f < y.f ? -1 : x.f > y.f ? 1 : x.f == y.f ? 0 : 2;
    return less(is_signed, x.i, y.i) ? -1 : x.i != y.i;
}

static bool compares(enum tl_op math, int o)
{
    switch (math) {
    case TL_LT:
        return o == -1;
    case TL_LE:
        return o == -1 || o == 0;
    case TL_GT:
        return o == 1;
    case TL_GE:
        return o == 1 || o == 0;
    case TL_EQ:
        return o == 0;
    case TL_NE:
        return o != 0;
    case TL_ISNAN:
        return o == 2;
    CASES_ELEMENT:
    CASES_REDUCE:
    CASES_SOURCE:
    CASES_WHOLE:
        break;
    }
    return false;
}

/* One element, in `dtype`. */
struct number reference_value_of(enum tl_op math, kb_dtype dtype, const struct number x[3])
{
    bool is_signed = dtype_is_signed(dtype);

    if (math_rows[math].group == MATH_COMPARE)
        return reference_of_integer(compares(math, order(is_signed, x[0], x[math != TL_ISNAN])));
    if (math == TL_WHERE)
        return x[0].i != 0 ? x[1] : x[2];
    if (math == TL_NOT && dtype == KB_BOOL)
        return reference_of_integer(x[0].i == 0);
    if (x[0].is_float)
        return reference_of_float(float_value(math, x[0].f, x[1].f, x[2].f));
    return reference_as(
        dtype, reference_of_integer(integer_value(math, is_signed, x[0].i, x[1].i, x[2].i)), false);
}

/* The index of the operand's element that is broadcast to element `index` of the result. */
uint64_t reference_place_in(const struct dims *shape, const struct dims *to, uint64_t index)
{
    int64_t stride[KB_RANK_MAX];
    uint64_t place = 0;

    math_strides(shape, to, stride);
    for (uint32_t axis = to->rank; axis-- > 0; index /= to->dim[axis])
        place += index % to->dim[axis] * (uint64_t)stride[axis];
    return place;
}

static bool only_selects(enum tl_op math)
{
    return math == TL_NEG || math == TL_ABS || math == TL_MAXIMUM || math == TL_MINIMUM ||
           math == TL_CLAMP || math == TL_WHERE || math == TL_FLOOR || math == TL_CEIL ||
           math == TL_ROUND;
}

struct wanted reference_element_of(const struct op *op, uint64_t index)
{
    struct wanted w = {.exact = only_selects((enum tl_op)op->math)};
    struct number x[3] = {{.i = 0}};

    for (uint32_t i = 0; i < op->n_in; i++) {
        const struct op_tensor *t = &op->in[i];

        x[i] = reference_of_tensor(
            t, t->is_scalar ? 0 : reference_place_in(&t->shape, &op->out.shape, index));
    }
    w.value = reference_value_of((enum tl_op)op->math, op_operands_dtype(op), x);
    return w;
}

struct line {
    const struct op_tensor *t;
    uint64_t first, stride, n;
};

/* -- over an axis --------------------------------------------------------------------------- */

static struct number on_line(const struct line *l, uint64_t i)
{
    return reference_of_tensor(l->t, l->first + i * l->stride);
}

static struct wanted line_sum(const struct op *op, const struct line *l)
{
    struct wanted w = {.value.is_float = dtype_is_float((kb_dtype)op->out.dtype)};
    double n = op->math == TL_MEAN ? (double)l->n : 1;

    for (uint64_t i = 0; i < l->n; i++) {
        struct number x = on_line(l, i);

        w.value.f += x.f / n;
        w.scale += fabs(x.f) / n;
        w.value.i += x.i;
    }
    if (!w.value.is_float)
        w.value = reference_as((kb_dtype)op->out.dtype, w.value, false);
    return w;
}

static bool better(enum tl_op math, bool is_signed, struct number x, struct number best)
{
    int o = order(is_signed, x, best);

    if (best.is_float && isnan(best.f))
        return false;
    return o == 2 || o == (math == TL_MIN || math == TL_ARGMIN ? -1 : 1);
}

static struct wanted line_extreme(const struct op *op, const struct line *l)
{
    struct wanted w = {.value = on_line(l, 0), .exact = true};
    uint64_t place = 0;

    for (uint64_t i = 1; i < l->n; i++) {
        struct number x = on_line(l, i);

        if (better((enum tl_op)op->math, dtype_is_signed((kb_dtype)l->t->dtype), x, w.value)) {
            w.value = x;
            place = i;
        }
    }
    if (op->math == TL_ARGMAX || op->math == TL_ARGMIN)
        w.value = reference_of_integer(place);
    return w;
}

static struct line line_of(const struct op *op, uint64_t number)
{
    struct math_lines l = math_lines(op);

    return (struct line){&op->in[0], number / l.inner * l.n * l.inner + number % l.inner, l.inner,
                         l.n};
}

static struct wanted reduced(const struct op *op, const struct line *l)
{
    switch ((enum tl_op)op->math) {
    case TL_SUM:
    case TL_MEAN:
        return line_sum(op, l);
    case TL_MAX:
    case TL_MIN:
    case TL_ARGMAX:
    case TL_ARGMIN:
        return line_extreme(op, l);
    CASES_ELEMENT:
    CASES_COMPARE:
    CASES_SOURCE:
    CASES_WHOLE:
        break;
    }
    return (struct wanted){.value = reference_of_float(NAN)};
}

bool reference_reduce_same(const struct op *op, const unsigned char *out, double t,
                           struct reference_difference *d)
{
    for (uint64_t i = 0; i < dims_elements(&op->out.shape); i++) {
        struct line l = line_of(op, i);
        struct wanted w = reduced(op, &l);

        if (!reference_agrees(op, out, i, t, &w, d))
            return false;
    }
    return true;
}

NO_TRAP static bool softmax_line_same(const struct op *op, const unsigned char *out,
                                      const struct line *l, double t,
                                      struct reference_difference *d)
{
    double largest = -INFINITY, sum = 0;

    for (uint64_t i = 0; i < l->n; i++) {
        double x = on_line(l, i).f;

        largest = isnan(x) || x > largest ? x : largest;
    }
    for (uint64_t i = 0; i < l->n; i++)
        sum += exp(on_line(l, i).f - largest);
    for (uint64_t i = 0; i < l->n; i++) {
        struct wanted w = {.value = reference_of_float(exp(on_line(l, i).f - largest) / sum)};

        if (!reference_agrees(op, out, l->first + i * l->stride, t, &w, d))
            return false;
    }
    return true;
}

bool reference_softmax_same(const struct op *op, const unsigned char *out, double t,
                            struct reference_difference *d)
{
    struct math_lines lines = math_lines(op);

    for (uint64_t i = 0; i < lines.outer * lines.inner; i++) {
        struct line l = line_of(op, i);

        if (!softmax_line_same(op, out, &l, t, d))
            return false;
    }
    return true;
}

/* -- rows: ordered, added up; random numbers ----------------------------------------------------
 */

/* How many elements of its row go before element `i`: larger ones, NaN, equal ones with a lower
 * index; upwards smaller ones in their place, and NaN last. */
static uint64_t goes_behind(const struct line *l, bool is_signed, bool down, uint64_t i)
{
    struct number x = on_line(l, i);
    bool x_is_nan = x.is_float && isnan(x.f);
    uint64_t n = 0;

    for (uint64_t j = 0; j < l->n; j++) {
        struct number y = on_line(l, j);
        bool y_is_nan = y.is_float && isnan(y.f);
        int o = x_is_nan || y_is_nan ? y_is_nan - x_is_nan : order(is_signed, y, x);

        n += (down ? o > 0 : o < 0) || (o == 0 && j < i);
    }
    return n;
}

static bool wrong_index(uint64_t i, uint64_t got, struct reference_difference *d)
{
    d->index = i;
    snprintf(d->got, sizeof d->got, "index %u", (unsigned)got);
    snprintf(d->want, sizeof d->want, "another");
    return false;
}

/* Each index is that of the element with as many before it, and each value is that element. */
bool reference_topk_same(const struct op *op, const unsigned char *out,
                         struct reference_difference *d)
{
    const struct op_tensor *t = &op->in[0];
    uint64_t n = t->shape.dim[op->axis], k = op->out.shape.dim[op->axis];
    const unsigned char *indices = out + op_indices_at(&op->out);

    for (uint64_t i = 0; i < dims_elements(&op->out.shape); i++) {
        struct line l = {t, i / k * n, 1, n};
        uint64_t index = (uint64_t)kb_element(KB_I32, indices, i), place;
        struct wanted w = {.exact = true};

        place = index < n ? goes_behind(&l, dtype_is_signed((kb_dtype)t->dtype), true, index) : n;
        if (place != i % k)
            return wrong_index(i, index, d);
        w.value = on_line(&l, index);
        if (!reference_agrees(op, out, i, 0, &w, d))
            return false;
    }
    return true;
}

/* Each element is at its place, and so is its index, if that is wanted. */
bool reference_sort_same(const struct op *op, const unsigned char *out,
                         struct reference_difference *d)
{
    const struct op_tensor *t = &op->in[0];
    uint64_t n = t->shape.dim[op->axis];
    const unsigned char *indices = op_has_indices(op) ? out + op_indices_at(&op->out) : NULL;

    for (uint64_t i = 0; i < dims_elements(&t->shape); i++) {
        struct line l = {t, i / n * n, 1, n};
        uint64_t place =
            l.first + goes_behind(&l, dtype_is_signed((kb_dtype)t->dtype), op_goes_down(op), i % n);
        struct wanted w = {.value = on_line(&l, i % n), .exact = true};

        if (indices && (uint64_t)kb_element(KB_I32, indices, place) != i % n)
            return wrong_index(place, (uint64_t)kb_element(KB_I32, indices, place), d);
        if (!reference_agrees(op, out, place, 0, &w, d))
            return false;
    }
    return true;
}

/* The sum up to an element, in f32, of f64 in f64. */
static struct number one_more(kb_dtype dtype, struct number total, struct number x)
{
    total.f = dtype == KB_F64 ? total.f + x.f : (double)((float)total.f + (float)x.f);
    total.i += x.i;
    return total;
}

bool reference_scan_same(const struct op *op, const unsigned char *out, double t,
                         struct reference_difference *d)
{
    struct math_lines lines = math_lines(op);
    kb_dtype dtype = (kb_dtype)op->out.dtype;

    for (uint64_t number = 0; number < lines.outer * lines.inner; number++) {
        struct line l = line_of(op, number);
        struct number total = {.is_float = dtype_is_float(dtype)};

        for (uint64_t i = 0; i < l.n; i++) {
            struct wanted w = {0};

            total = one_more(dtype, total, on_line(&l, i));
            w.value = total.is_float ? total : reference_as(dtype, total, false);
            if (!reference_agrees(op, out, l.first + i * l.stride, t, &w, d))
                return false;
        }
    }
    return true;
}

/* The first word of Philox 4x32-10, as its paper has it: the high and low halves of products. */
static uint32_t first_word(uint64_t counter, uint64_t key)
{
    uint64_t left = counter, right = 0;

    for (uint64_t round = 0; round < 10; round++) {
        uint32_t k0 = (uint32_t)(key + round * 0x9E3779B9u);
        uint32_t k1 = (uint32_t)((key >> 32) + round * 0xBB67AE85u);
        uint64_t p = (left & UINT32_MAX) * 0xD2511F53u, q = (right & UINT32_MAX) * 0xCD9E8D57u;

        left = ((q >> 32) ^ (left >> 32) ^ k0) | q << 32;
        right = ((p >> 32) ^ (right >> 32) ^ k1) | p << 32;
    }
    return (uint32_t)left;
}

struct wanted reference_random(const struct op *op, uint64_t index)
{
    uint64_t key = (uint64_t)op->in[0].scalar + ((uint64_t)op->in[1].scalar << 32);
    uint32_t word = first_word((uint64_t)op->in[2].scalar + index, key);
    struct wanted w = {.value = reference_of_integer(word), .exact = true};

    if (op->out.dtype == KB_F32)
        w.value = reference_of_float((word >> 8) / 16777216.0);
    else if (op->out.dtype == KB_F16)
        w.value = reference_of_float((word >> 21) / 2048.0);
    else if (op->out.dtype == KB_BF16)
        w.value = reference_of_float((word >> 24) / 256.0);
    return w;
}
