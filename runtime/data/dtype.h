/* dtype.h -- sizes of elements, inline: a call would cost more than the answer.
 *
 * Elements of i4 lie two in a byte, so one alone has no address, and kb_dtype_bytes() is 0. What
 * moves is a *cell*: the bytes of an element, or a byte with two of i4. The last extent of an i4
 * tensor is even, so its rows are whole cells, and all that counts bytes, cuts, gathers or strides
 * goes by cells: [3, 8] of i4 moves as [3, 4] of bytes.
 */
#ifndef DTYPE_H
#define DTYPE_H
#include "kernbench.h"

enum { N_DTYPES = KB_I4 + 1 };

/* Bytes of an element: one hexadecimal digit for each kb_dtype; KB_DEFAULT and KB_I4 have 0. */
static inline uint64_t dtype_bytes(unsigned dtype)
{
    return dtype < KB_I4 ? UINT64_C(0x1118421842184220) >> 4 * dtype & 15 : 0;
}

/* The bytes of a cell; 0: no such type. */
static inline uint64_t dtype_cell(unsigned dtype)
{
    return dtype == KB_I4 ? 1 : dtype_bytes(dtype);
}

/* The elements of a cell. */
static inline uint32_t dtype_of_cell(unsigned dtype)
{
    return dtype == KB_I4 ? 2 : 1;
}

/* The bytes of `n` elements, which are whole cells; or how far element `n` is from the first. */
static inline uint64_t dtype_size(unsigned dtype, uint64_t n)
{
    return dtype == KB_I4 ? n / 2 : n * dtype_bytes(dtype);
}

/* By how much a result may differ from a reference, absolutely and relatively; integers 0:
 * docs/kernels.md "Phase 2 in numbers". */
double dtype_tolerance(kb_dtype dtype);

#endif
