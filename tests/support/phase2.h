/* phase2.h -- graphs of operations made by hand and logged, for tests of Phase 2. */
#ifndef PHASE2_H
#define PHASE2_H
#include "cube8.h"
#include "phase2/exec.h"
#include "ops.h"

/* A log, a memory to cut results in pieces with, and all results so far. */
enum { RESULTS_MAX = 512 };
struct phase2 {
    struct op_log *log;
    struct mem *mem;
    uint32_t n;
    struct op_tensor results[RESULTS_MAX]; /* views owned */
};

static inline void phase2_begin(struct phase2 *p)
{
    p->log = op_log_new(&cube8_topology, 0, true);
    p->mem = mem_new(1);
    p->n = 0;
    assert_true(p->log && p->mem);
}

static inline void phase2_end(struct phase2 *p)
{
    op_log_free(p->log);
    mem_free(p->mem);
    while (p->n)
        version_drop(p->results[--p->n].view.v);
}

/* Another reference to the same tensor. */
static inline struct op_tensor phase2_use(struct op_tensor t)
{
    version_keep(t.view.v);
    return t;
}

/* Logs `op`, which takes the operands, and makes its result. */
static inline struct op_tensor phase2_add(struct phase2 *p, struct op *op, kb_dtype dtype,
                                          struct dims shape)
{
    op->id = 10 + 3 * p->n;
    op->pe = p->n % 7;
    op->out = ops_result(dtype, shape, op->id);
    assert_true(op_log_add(p->log, op, 0, 0));
    p->results[p->n++] = phase2_use(op->out);
    ops_drop(op);
    return p->results[p->n - 1];
}

/* A value that is ready from the start. */
static inline struct op_tensor phase2_ready(struct phase2 *p, kb_dtype dtype, struct dims shape,
                                            uint64_t seed)
{
    return p->results[p->n++] = ops_random_tensor(dtype, shape, seed);
}

static inline struct op_tensor phase2_math(struct phase2 *p, enum tl_op math, struct op_tensor x,
                                           struct op_tensor y)
{
    struct op op = {.kind = OP_MATH, .math = (uint8_t)math, .n_in = math_rows[math].operands};

    op.in[0] = phase2_use(x);
    if (op.n_in > 1)
        op.in[1] = phase2_use(y);
    return phase2_add(p, &op, (kb_dtype)x.dtype, x.shape);
}

static inline struct op_tensor phase2_gemm(struct phase2 *p, struct op_tensor a, struct op_tensor b)
{
    struct op op = {.kind = OP_GEMM, .n_in = 2};

    op.dtype_acc = a.dtype == KB_F64 ? KB_F64 : KB_F32;
    op.in[0] = phase2_use(a);
    op.in[1] = phase2_use(b);
    op.m = a.shape.dim[0];
    op.k = a.shape.dim[1];
    op.n = b.shape.dim[1];
    return phase2_add(p, &op, (kb_dtype)a.dtype, ops_dims(2, op.m, op.n, 0));
}

/* The second half of x and the first of y: two pieces. */
static inline struct op_tensor phase2_halves(struct phase2 *p, struct op_tensor x,
                                             struct op_tensor y)
{
    uint64_t n = x.view.v->nbytes;
    struct op_tensor t = x;

    assert_int_equal(mem_write(p->mem, 0, 0, n, x.view, 0), MEM_OK);
    assert_int_equal(mem_write(p->mem, 0, n, n, y.view, 1), MEM_OK);
    assert_int_equal(mem_read(p->mem, 0, n / 2, n, &t.view, NULL, NULL), MEM_OK);
    return p->results[p->n++] = t;
}

#endif
