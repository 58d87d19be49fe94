/* gemm_composite.c -- c = a b as one pipeline of tiles per PE, its operands in HBM or in TCM.
 *
 * Rows of c are shared out over the cubes and columns over the PEs of a cube, and the rows of a and
 * columns of b that a PE needs all lie in its own slice. So there is no traffic between PEs; the
 * bench shows how well a composite overlaps reading, multiplying and writing.
 *
 * variant   ref_ref: the composite reads a and b from the slice, tile by tile
 *           load_ref: a is loaded into the TCM first, b is read tile by tile
 *           load_load: a and b are loaded first
 *
 * With loads, c is made in blocks of rows, so that two blocks of a fit into half of a TCM; here it
 * is one. On cube8 with the initial values the three take 193.77, 190.51 and 235.26 ns: with both
 * loaded first, no read overlaps with a product. Arguments: M, N, K, dtype, variant.
 */
#include <math.h>
#include "bench_tile.h"

enum variant { REF_REF, LOAD_REF, LOAD_LOAD };

/* A PE has all its operands in its own slice. */
static const kb_placement of_a = {KB_ROW_WISE, KB_REPLICATE};
static const kb_placement of_b = {KB_REPLICATE, KB_COLUMN_WISE};
static const kb_placement of_c = {KB_ROW_WISE, KB_COLUMN_WISE};

/* Computes `rows` rows of c, from row i. */
static void multiply_rows(tl_ctx *tl, const kb_args *args, int64_t i, int64_t rows, tl_tensor *b)
{
    uint32_t pe = tl_pe(tl);
    kb_shard a = kb_tensor_shard(args->tensors[0], pe), c = kb_tensor_shard(args->tensors[2], pe);
    int64_t k = a.shape.dim[1], n = c.shape.dim[1];
    uint64_t from = a.address + (uint64_t)(i * k * element_bytes(args->tensors[0]));
    uint64_t to = c.address + (uint64_t)(i * n * element_bytes(args->tensors[2]));
    kb_dtype dtype = kb_tensor_dtype(args->tensors[0]);
    bool load = kb_bench_choice(args->user, "variant") != REF_REF;
    tl_tensor *rows_of_a = load ? tl_load(tl, from, dtype, KB_SHAPE(rows, k))
                                : tl_ref(tl, from, dtype, KB_SHAPE(rows, k));

    tl_wait(tl, tl_composite(tl, .op = TL_GEMM, .a = rows_of_a, .b = b, .out = to));
    tl_free(tl, rows_of_a);
}

static void gemm_composite(tl_ctx *tl, const kb_args *args)
{
    uint32_t pe = tl_pe(tl);
    kb_shard a = kb_tensor_shard(args->tensors[0], pe), b = kb_tensor_shard(args->tensors[1], pe);
    kb_dtype dtype = kb_tensor_dtype(args->tensors[1]);
    enum variant variant = (enum variant)kb_bench_choice(args->user, "variant");
    int64_t m = a.shape.dim[0], rows = m;

    if (m == 0 || b.shape.dim[1] == 0)
        return;
    if (variant != REF_REF)
        rows = rows_that_fit(tl_topology(tl), a.shape.dim[1] * element_bytes(args->tensors[0]), 2);
    tl_tensor *columns = variant == LOAD_LOAD ? tl_load(tl, b.address, dtype, b.shape)
                                              : tl_ref(tl, b.address, dtype, b.shape);
    for (int64_t i = 0; i < m; i += rows)
        multiply_rows(tl, args, i, least(rows, m - i), columns);
}

static void setup(kb_bench_run *run)
{
    kb_dtype dtype = kb_bench_dtype(run, "dtype");
    int64_t m = kb_bench_int(run, "M"), n = kb_bench_int(run, "N"), k = kb_bench_int(run, "K");

    kb_bench_input(run, "a", dtype, KB_SHAPE(m, k), of_a, 1);
    kb_bench_input(run, "b", dtype, KB_SHAPE(k, n), of_b, 1 / sqrt((double)k));
    kb_bench_output(run, "c", product_dtype(dtype), KB_SHAPE(m, n), of_c);
    kb_bench_launch(run, "gemm_composite", gemm_composite, NULL, 0);
}

static void reference(const kb_bench_run *run, double *const *t)
{
    kb_reference_product(t[0], t[1], t[2], kb_bench_int(run, "M"), kb_bench_int(run, "N"),
                         kb_bench_int(run, "K"));
}

static const kb_bench_arg args_of_gemm_composite[] = {
    SIZE_ARG("M", "256", "rows of a and c"),
    SIZE_ARG("N", "256", "columns of b and c"),
    SIZE_ARG("K", "256", "columns of a, rows of b"),
    DTYPE_ARG("f16", "f16 bf16 f32 f64 i8"),
    {"variant", KB_ARG_CHOICE, "ref_ref", 0, 0, "ref_ref load_ref load_load",
     "a and b: read from HBM tile by tile, or loaded before"},
};

const kb_bench bench_gemm_composite = {
    .name = "gemm_composite",
    .summary = "c = a b as one composite per PE, all of it in its own slice",
    .args = args_of_gemm_composite,
    .n_args = sizeof args_of_gemm_composite / sizeof *args_of_gemm_composite,
    .setup = setup,
    .reference = reference,
};
