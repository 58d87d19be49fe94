/* dtype.h -- sizes of elements, where a call would cost more than the answer. */
#ifndef DTYPE_H
#define DTYPE_H
#include "kernbench.h"

enum { N_DTYPES = KB_BOOL + 1 };

/* Bytes of an element: a digit for each kb_dtype, the last for KB_DEFAULT, which has none. */
static inline uint64_t dtype_bytes(unsigned dtype)
{
    return dtype < N_DTYPES ? UINT64_C(0x18421842184220) >> 4 * dtype & 15 : 0;
}

/* By which results may differ from a reference, absolutely and relatively; integers: 0. design 8 */
double dtype_tolerance(kb_dtype dtype);

#endif
