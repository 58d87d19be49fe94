/* reference.h -- the reference implementation: operations, element by element, by simple loops. */
#ifndef REFERENCE_H
#define REFERENCE_H
#include "data/op.h"

/* The first element that is wrong, and both values as text. */
struct reference_difference {
    uint64_t index;
    char got[32], want[32];
};

/*
 * Is `out`, the bytes of the result of a GEMM or MATH operation, right for its operands? Integers,
 * comparisons and operations that only move elements are exact; floats are computed in f64.
 *
 * |got - want| <= t * scale + t * |want|, where t belongs to the coarsest type on the way: f64
 * 1e-10, f32 1e-5, f16 1e-3, bf16 1e-2. This is numpy.allclose's rule with rtol = atol = t, except
 * for `scale`, which is 1, or for a sum the sum of its terms' magnitudes if that is larger: the
 * error of a sum of large terms that cancel depends on the terms, not on their sum. See
 * docs/kernels.md "Phase 2 in numbers".
 */
bool reference_same(const struct op *op, const unsigned char *out, struct reference_difference *d);

#endif
