/* dtype.h -- sizes of elements, inline: a call would cost more than the answer. */
#ifndef DTYPE_H
#define DTYPE_H
#include "kernbench.h"

enum { N_DTYPES = KB_F8E5M2 + 1 };

/* Bytes of an element: one hexadecimal digit for each kb_dtype; KB_DEFAULT has 0. */
static inline uint64_t dtype_bytes(unsigned dtype)
{
    return dtype < N_DTYPES ? UINT64_C(0x1118421842184220) >> 4 * dtype & 15 : 0;
}

/* By how much a result may differ from a reference, absolutely and relatively; integers 0:
 * docs/kernels.md "Phase 2 in numbers". */
double dtype_tolerance(kb_dtype dtype);

#endif
