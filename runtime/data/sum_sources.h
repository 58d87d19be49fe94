/* sum_sources.h -- the sum of several tensors of one shape, element by element. */
#ifndef SUM_SOURCES_H
#define SUM_SOURCES_H
#include "kernbench.h"

/*
 * out[e] = in[0][e] + in[1][e] + ..., in this order, of `n` sources of `elements` each that lie one
 * behind the other. Floats smaller than f32 are added in f32, and rounded once; integers wrap.
 */
void sum_sources(kb_dtype dtype, uint32_t n, uint64_t elements, const void *in, void *out);

#endif
