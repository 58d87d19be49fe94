/* gemm.c -- c = a b: every PE computes a block of c from its rows of a and columns of b.
 *
 * Rows of c and a are shared out over the cubes, columns of c and b over the PEs of a cube. So a PE
 * has a block of c, and all of its rows of a in its own slice (each PE of the cube has a copy). The
 * rows of b are spread over the cubes: a PE loads a part of its columns from the PE of its own
 * number in each cube, its own cube first, so that not all of them load from one. The traffic is
 * therefore reads of b from all cubes; a and c stay local.
 *
 * A block of c is made in tiles of at most 128 x 128, with up to 128 of the inner dimension at
 * once: load both operands, wait, multiply, add to the sum in f32 (or i32 for i8). It does not load
 * ahead; qkv_gemm.c does.
 *
 * On cube8 with the initial values a PE has 32 x 32 of c and loads 32 x 32 of b from each of 8
 * cubes: all PEs read 2 MiB, half of it a, in 1264.12 ns. Arguments: M, N, K, dtype.
 */
#include <math.h>
#include "even.h"
#include "tile.h"

enum { TILE = 128 };

/*
 * A cube has a part of the rows of c and of a, and its PEs share the columns. The rows of b are
 * spread over the cubes, so that a PE loads most of them from other cubes.
 */
static const kb_placement of_a = {KB_ROW_WISE, KB_REPLICATE};
static const kb_placement of_b = {KB_ROW_WISE, KB_COLUMN_WISE};
static const kb_placement of_c = {KB_ROW_WISE, KB_COLUMN_WISE};

/* Begins to load m x n elements of a part, from row i, column j. */
static tl_tensor *load_block(tl_ctx *tl, const kb_shard *part, kb_dtype dtype, int64_t i, int64_t j,
                             int64_t m, int64_t n)
{
    int64_t size = (int64_t)kb_dtype_bytes(dtype), row = part->shape.dim[1] * size;
    int64_t strides[] = {row, size};

    return tl_load_strided_async(tl, part->address + (uint64_t)(i * row + j * size), dtype,
                                 KB_SHAPE(m, n), strides);
}

/* sum + a b; sum may be NULL. Frees all three. */
static tl_tensor *add_product(tl_ctx *tl, tl_tensor *sum, tl_tensor *a, tl_tensor *b)
{
    tl_wait(tl, a);
    tl_wait(tl, b);
    tl_tensor *product = tl_dot(tl, a, b, .dtype_out = sum_dtype(tl_dtype(a)));
    tl_free(tl, a);
    tl_free(tl, b);
    if (!sum)
        return product;
    tl_tensor *more = tl_add(tl, sum, product);
    tl_free(tl, sum);
    tl_free(tl, product);
    return more;
}

/* Computes m x n elements of this PE's block of c, from row i, column j. */
static void make_tile(tl_ctx *tl, const kb_args *args, int64_t i, int64_t j, int64_t m, int64_t n)
{
    kb_dtype dtype = kb_tensor_dtype(args->tensors[0]), dtype_c = kb_tensor_dtype(args->tensors[2]);
    uint32_t pe = tl_pe(tl), pes = (uint32_t)tl_num_programs(tl, 0), n_pes = all_pes(tl);
    kb_shard a = kb_tensor_shard(args->tensors[0], pe), c = kb_tensor_shard(args->tensors[2], pe);
    tl_tensor *sum = NULL;

    for (uint32_t q = 0; q < n_pes; q += pes) { /* own cube first: not all load from one */
        kb_shard b = kb_tensor_shard(args->tensors[1], (pe + q) % n_pes);

        for (int64_t k = 0; k < b.shape.dim[0]; k += TILE) {
            int64_t depth = least(TILE, b.shape.dim[0] - k);

            tl_tensor *left = load_block(tl, &a, dtype, i, b.first[0] + k, m, depth);
            tl_tensor *right = load_block(tl, &b, dtype, k, j, depth, n);

            sum = add_product(tl, sum, left, right);
        }
    }
    int64_t size = (int64_t)kb_dtype_bytes(dtype_c), row = c.shape.dim[1] * size;
    int64_t strides[] = {row, size};
    if (dtype_c != sum_dtype(dtype))
        sum = tl_cast(tl, sum, dtype_c);
    tl_store_strided(tl, c.address + (uint64_t)(i * row + j * size), sum, strides);
}

static void gemm(tl_ctx *tl, const kb_args *args)
{
    kb_shape block = kb_tensor_shard(args->tensors[2], tl_pe(tl)).shape;

    for (int64_t i = 0; i < block.dim[0]; i += TILE)
        for (int64_t j = 0; j < block.dim[1]; j += TILE) {
            uint64_t mark = tl_mark(tl);

            make_tile(tl, args, i, j, least(TILE, block.dim[0] - i), least(TILE, block.dim[1] - j));
            tl_release(tl, mark);
        }
}

static void setup(kb_bench_run *run)
{
    kb_dtype dtype = kb_bench_dtype(run, "dtype");
    int64_t m = kb_bench_int(run, "M"), n = kb_bench_int(run, "N"), k = kb_bench_int(run, "K");

    if (!is_even(run, "gemm"))
        return;
    kb_bench_input(run, "a", dtype, KB_SHAPE(m, k), of_a, 1);
    kb_bench_input(run, "b", dtype, KB_SHAPE(k, n), of_b, 1 / sqrt((double)k));
    kb_bench_output(run, "c", product_dtype(dtype), KB_SHAPE(m, n), of_c);
    kb_bench_launch(run, "gemm", gemm, NULL, 0);
}

static void reference(const kb_bench_run *run, double *const *t)
{
    kb_reference_product(t[0], t[1], t[2], kb_bench_int(run, "M"), kb_bench_int(run, "N"),
                         kb_bench_int(run, "K"));
}

static const kb_bench_arg args_of_gemm[] = {
    SIZE_ARG("M", "256", "rows of a and c"),
    SIZE_ARG("N", "256", "columns of b and c"),
    SIZE_ARG("K", "256", "columns of a, rows of b"),
    DTYPE_ARG("f16", "f16 bf16 f32 f64 i8"),
};

const kb_bench bench_gemm = {
    .name = "gemm",
    .summary = "c = a b in tiles, partial sums in f32; rows of b come from all cubes",
    .args = args_of_gemm,
    .n_args = sizeof args_of_gemm / sizeof *args_of_gemm,
    .setup = setup,
    .reference = reference,
};
