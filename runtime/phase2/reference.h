/* reference.h -- operations computed again, element by element, by loops that anyone can check. */
#ifndef REFERENCE_H
#define REFERENCE_H
#include "data/op.h"

/* The first element that is wrong, and both values as text. */
struct reference_difference {
    uint64_t index;
    char got[32], want[32];
};

/*
 * Whether `out`, all bytes of the result of a GEMM or MATH operation, is what its operands give:
 * integers, comparisons and what only moves elements exactly, floats in f64.
 *
 * |got - want| <= t * scale + t * |want|, t by the coarsest type on the way: f64 1e-10, f32 1e-5,
 * f16 1e-3, bf16 1e-2. This is numpy.allclose's rule with rtol = atol = t, but for `scale`: of a
 * sum it is the sum of its terms' magnitudes, if that is above 1. A sum of large terms that cancel
 * is as exact as its terms allow, not as its value would suggest; operands of order 1 over sqrt(K)
 * keep to the rule as it is.                                                  design 5.2, 8
 */
bool reference_same(const struct op *op, const unsigned char *out, struct reference_difference *d);

#endif
