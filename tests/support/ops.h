/* ops.h -- operations made by hand, for tests of Phase 2. */
#ifndef OPS_H
#define OPS_H
#include "data/op.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { N_DTYPES = KB_F8E5M2 + 1 }; /* of arithmetic: not i4 */

static inline uint64_t ops_random(uint64_t *seed)
{
    uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline bool ops_is_float(kb_dtype d)
{
    return (d >= KB_F16 && d <= KB_F64) || d >= KB_F8E4M3;
}

static inline struct dims ops_dims(uint32_t rank, uint32_t a, uint32_t b, uint32_t c)
{
    return (struct dims){rank, {a, b, c}};
}

/* A ready tensor; its bytes are not set. */
static inline struct op_tensor ops_tensor(kb_dtype dtype, struct dims shape)
{
    uint64_t n = dims_elements(&shape) * kb_dtype_bytes(dtype);
    struct op_tensor t = {.view.v = version_new_bytes(n), .shape = shape, .dtype = (uint8_t)dtype};

    assert_non_null(t.view.v);
    memset(t.view.v->bytes, 0, n);
    return t;
}

/* Floats in (-1, 1), integers of all their bits. */
static inline void ops_fill(struct op_tensor *t, uint64_t seed)
{
    kb_dtype d = (kb_dtype)t->dtype;
    uint64_t n = dims_elements(&t->shape);

    for (uint64_t i = 0; i < n; i++) {
        uint64_t r = ops_random(&seed);

        if (ops_is_float(d))
            kb_element_set(d, t->view.v->bytes, i, (double)(r >> 40) / 8388608.0 - 1);
        else if (d == KB_BOOL)
            t->view.v->bytes[i] = r & 1;
        else
            memcpy(t->view.v->bytes + i * kb_dtype_bytes(d), &r, kb_dtype_bytes(d));
    }
}

static inline struct op_tensor ops_random_tensor(kb_dtype dtype, struct dims shape, uint64_t seed)
{
    struct op_tensor t = ops_tensor(dtype, shape);

    ops_fill(&t, seed);
    return t;
}

static inline struct op_tensor ops_scalar(kb_dtype dtype, double value)
{
    return (struct op_tensor){.is_scalar = true, .scalar = value, .dtype = (uint8_t)dtype};
}

/* The result of operation `id`: pending. */
static inline struct op_tensor ops_result(kb_dtype dtype, struct dims shape, uint32_t id)
{
    struct op_tensor t = {.shape = shape, .dtype = (uint8_t)dtype, .maker = id};

    t.view.v = version_new_result(dims_elements(&shape) * kb_dtype_bytes(dtype), id);
    assert_non_null(t.view.v);
    return t;
}

static inline double ops_get(const struct op_tensor *t, uint64_t i)
{
    return kb_element((kb_dtype)t->dtype, t->view.v->bytes + t->view.offset, i);
}

static inline void ops_drop(struct op *op)
{
    for (uint32_t i = 0; i < op->n_in; i++)
        version_drop(op->in[i].view.v);
    for (uint32_t e = 0; e < op->n_epilogues; e++)
        for (uint32_t i = 0; i < op->epilogue[e].n_operands; i++)
            version_drop(op->epilogue[e].operand[i].view.v);
    version_drop(op->out.view.v);
}

/* An integer of any type, with its sign. */
static inline uint64_t ops_integer(const struct op_tensor *t, uint64_t i)
{
    const unsigned char *at =
        t->view.v->bytes + t->view.offset + i * kb_dtype_bytes((kb_dtype)t->dtype);
    size_t n = kb_dtype_bytes((kb_dtype)t->dtype);
    uint64_t v = 0;

    memcpy(&v, at, n);
    if (t->dtype >= KB_I8 && t->dtype <= KB_I64 && n < 8 && v >> (8 * n - 1))
        v |= UINT64_MAX << (8 * n);
    return v;
}

#endif
