/* products.h -- operations made by hand, for measuring Phase 2 without a simulation. */
#ifndef PRODUCTS_H
#define PRODUCTS_H
#include "bench.h"
#include "data/op.h"
#include <stdlib.h>
#include <string.h>

static inline void *must_have(void *p)
{
    if (!p) {
        fprintf(stderr, "no memory\n");
        exit(5);
    }
    return p;
}

/* Numbers of order 1, as f32 or f16. */
static inline struct version *random_matrix(kb_dtype dtype, size_t n, uint64_t seed)
{
    struct version *v = must_have(version_new_bytes(n * kb_dtype_bytes(dtype)));

    for (size_t i = 0; i < n; i++)
        kb_element_set(dtype, v->bytes, i, (double)(bench_random(&seed) >> 40) / 8388608.0 - 1);
    return v;
}

static inline struct op_tensor matrix(struct version *v, uint64_t offset, kb_dtype dtype,
                                      uint32_t rows, uint32_t columns)
{
    return (struct op_tensor){.view = {v, offset},
                              .shape = {2, {rows, columns}},
                              .dtype = (uint8_t)dtype,
                              .maker = OP_NONE};
}

/* out[m,n] = a[m,k] b[k,n], row-major. */
static inline struct op product(struct op_tensor a, struct op_tensor b, struct op_tensor out)
{
    return (struct op){
        .kind = OP_GEMM,
        .n_in = 2,
        .in = {a, b},
        .out = out,
        .dtype_acc = KB_F32,
        .m = a.shape.dim[0],
        .k = a.shape.dim[1],
        .n = b.shape.dim[1],
    };
}

#endif
