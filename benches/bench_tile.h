/* bench_tile.h -- shared by the benches: arguments, types, addresses of rows, sizes of blocks. */
#ifndef BENCH_TILE_H
#define BENCH_TILE_H
#include "even.h"

/* Arguments of many benches. */
#define SIZE_ARG(name, initial, help)                                                              \
    {                                                                                              \
        name, KB_ARG_INT, initial, 1, 65536, NULL, help                                            \
    }
#define DTYPE_ARG(initial, choices)                                                                \
    {                                                                                              \
        "dtype", KB_ARG_DTYPE, initial, 0, 0, choices, "type of the elements"                      \
    }

/* Every PE has rows of its own. */
#define BY_ROWS ((kb_placement){KB_ROW_WISE, KB_ROW_WISE})

static inline int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The number of parts of `size`, the last of which may be smaller. */
static inline int64_t parts(int64_t n, int64_t size)
{
    return (n + size - 1) / size;
}

/* The begin of part i of n: i * size / n without overflow. */
static inline int64_t share(int64_t size, int64_t i, int64_t n)
{
    return size / n * i + size % n * i / n;
}

/* The part, of n of `size`, that has `i`. */
static inline int64_t part_with(int64_t size, int64_t i, int64_t n)
{
    int64_t part = i * n / size;

    while (share(size, part + 1, n) <= i)
        part++;
    while (share(size, part, n) > i)
        part--;
    return part;
}

/* The type in which sums of `dtype` are kept and products of matrices are stored. */
static inline kb_dtype sum_dtype(kb_dtype dtype)
{
    return dtype == KB_F64 ? KB_F64 : dtype == KB_I8 ? KB_I32 : KB_F32;
}

static inline kb_dtype product_dtype(kb_dtype dtype)
{
    return dtype == KB_I8 ? KB_I32 : dtype;
}

static inline int64_t element_bytes(const kb_tensor *t)
{
    return (int64_t)kb_dtype_bytes(kb_tensor_dtype(t));
}

/* The number of rows, at least 1, of which half a TCM holds `copies`. */
static inline int64_t rows_that_fit(const kb_topology *topo, int64_t row_bytes, int64_t copies)
{
    int64_t room = (int64_t)memory_bytes_of_pes(topo, KB_TCM) / 2;

    return room > row_bytes * copies ? room / (row_bytes * copies) : 1;
}

/* x in another type; frees x. */
static inline tl_tensor *rounded(tl_ctx *tl, tl_tensor *x, kb_dtype dtype)
{
    tl_tensor *y = x;

    if (tl_dtype(x) != dtype) {
        y = tl_cast(tl, x, dtype);
        tl_free(tl, x);
    }
    return y;
}

static inline uint32_t all_pes(tl_ctx *tl)
{
    return kb_pe_count(tl_topology(tl));
}

/* The part of `t`, placed BY_ROWS, that has row `i`. Where all PEs have as many rows, the first
 * look finds it. */
static inline kb_shard shard_of_row(tl_ctx *tl, const kb_tensor *t, int64_t i)
{
    int64_t low = 0, high = all_pes(tl) - 1;
    int64_t at = least(share(high + 1, i, kb_tensor_shape(t).dim[0]), high);
    kb_shard shard = kb_tensor_shard(t, (uint32_t)at);

    while (low < high && (i < shard.first[0] || i >= shard.first[0] + shard.shape.dim[0])) {
        if (i < shard.first[0])
            high = at - 1;
        else
            low = at + 1;
        at = (low + high) / 2;
        shard = kb_tensor_shard(t, (uint32_t)at);
    }
    return shard;
}

/* The address of row `i` of it. */
static inline uint64_t row_address(tl_ctx *tl, const kb_tensor *t, int64_t i)
{
    kb_shard shard = shard_of_row(tl, t, i);
    int64_t row_bytes = element_bytes(t);

    for (int64_t axis = 1; axis < shard.shape.rank; axis++)
        row_bytes *= shard.shape.dim[axis];
    return shard.address + (uint64_t)((i - shard.first[0]) * row_bytes);
}

#endif
