/* math_operands.c -- operands of the arithmetic of PE_MATH: chunks and lines of elements. */
#include <math.h>
#include "data/cast.h"
#include "data/dtype.h"
#include "phase2/math_parts.h"

size_t math_at_most(uint64_t n, size_t most)
{
    return n < most ? (size_t)n : most;
}

/* Copies elements that are `stride` apart to contiguous ones. */
static void gather(void *to, const void *from, int64_t stride, size_t bytes, size_t n)
{
#define GATHER(T)                                                                                  \
    for (size_t i = 0; i < n; i++)                                                                 \
        ((T *)to)[i] = ((const T *)from)[(int64_t)i * stride];
    BY_SIZE(bytes, GATHER)
}

/* Elements [i, i + n) of a lane, as they are stored. */
static const void *stored(const struct math_lane *lane, uint64_t i, size_t n, union chunk *buffer)
{
    const unsigned char *at;

    if (!lane->at) {
        double all[CHUNK];

        for (size_t j = 0; j < n; j++)
            all[j] = lane->scalar;
        cast_elements(lane->dtype, buffer->bytes, KB_F64, all, n);
        return buffer->bytes;
    }
    if (lane->stride == 1)
        return lane->at + dtype_size(lane->dtype, i);
    at = lane->at + (int64_t)i * lane->stride * (int64_t)kb_dtype_bytes(lane->dtype);
    gather(buffer->bytes, at, lane->stride, kb_dtype_bytes(lane->dtype), n);
    return buffer->bytes;
}

/*
 * The same in another type: elements [i, i + n) as the computation takes them. If they are
 * contiguous and of that type, they are used where they lie; else they are gathered into one
 * buffer and converted into another, 4 KiB of stack together.
 */
const void *math_loaded(const struct math_lane *lane, uint64_t i, size_t n, kb_dtype dtype,
                        union chunk *buffer)
{
    union chunk as_stored;
    const void *from;

    if (lane->dtype == dtype)
        return stored(lane, i, n, buffer);
    from = stored(lane, i, n, &as_stored);
    cast_elements(dtype, buffer->bytes, lane->dtype, from, n);
    return buffer->bytes;
}

/*
 * A reduction works on lines: the elements that differ only along its axis. Of [2, 3, 4] along
 * axis 1 there are outer * inner = 2 * 4 lines of n = 3 elements, inner = 4 apart. Line 5 begins
 * at 5 / 4 * 3 * 4 + 5 % 4 = 13, and has elements 13, 17 and 21. All axes together are one line.
 */
struct math_lines math_lines(const struct op *op)
{
    const struct dims *shape = &op->in[0].shape;
    struct math_lines l = {1, 1, 1};

    if (op->all_axes || !op->has_axis || shape->rank == 0) {
        l.n = dims_elements(shape);
        return l;
    }
    l.n = shape->dim[op->axis];
    for (uint32_t i = 0; i < shape->rank; i++) {
        if ((int32_t)i < op->axis)
            l.outer *= shape->dim[i];
        else if ((int32_t)i > op->axis)
            l.inner *= shape->dim[i];
    }
    return l;
}
