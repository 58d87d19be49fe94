/* qkv_gemm.c -- c = a b by rows: every PE has rows of a, and loads b while it computes.
 *
 * Rows of a and c are shared out over all PEs. The rows of b are spread over the cubes, and each PE
 * of a cube has a copy of that cube's rows. For a block of c, at most 64 x 64, a PE goes over all
 * of b in panels of at most 64 rows: its own cube's first, then those of the PE of its number in
 * the next cubes, so that not all PEs load from one. While a panel is multiplied the next one is
 * being loaded. The traffic is reads of all of b by every PE, from all cubes.
 *
 * On cube8 with the initial values each PE has 2 rows of c and needs 8 panels of 32 x 64 of b for
 * each half of its columns; all PEs together read 4.3 MB, 4.2 of them b: 4183.61 ns. gemm.c cuts c
 * in squares and so reads half as much for four times the products, in 1264.12 ns.
 *
 * Arguments: M rows of c, N columns, K the inner dimension, dtype.
 */
#include <math.h>
#include "even.h"
#include "tile.h"

enum { TILE = 64 };

/* Each PE has rows of a and c; each cube rows of b, which all of its PEs have. */
static const kb_placement of_b = {KB_ROW_WISE, KB_REPLICATE};

/* The present block of c, m x n from row i, column j of this PE's part. */
struct block {
    const kb_args *args;
    int64_t i, j, m, n;
};

/* The next rows of b: from row `k` of the part of PE `pe`. */
struct panel {
    uint32_t seen; /* PEs that are done, own cube first: not all PEs load from the same one */
    int64_t k;
    tl_tensor *a, *b; /* being loaded */
};

/* Begins to load the next panel. False: there is none. */
static bool next_panel(tl_ctx *tl, const struct block *c, struct panel *p)
{
    uint32_t pe = tl_pe(tl), pes = (uint32_t)tl_num_programs(tl, 0), n_pes = all_pes(tl);
    kb_dtype dtype = kb_tensor_dtype(c->args->tensors[0]);
    kb_shard a = kb_tensor_shard(c->args->tensors[0], pe), b;
    int64_t size = (int64_t)kb_dtype_bytes(dtype);

    for (;; p->seen += pes, p->k = 0) {
        if (p->seen >= n_pes)
            return false;
        b = kb_tensor_shard(c->args->tensors[1], (pe + p->seen) % n_pes);
        if (p->k < b.shape.dim[0])
            break;
    }
    int64_t depth = least(TILE, b.shape.dim[0] - p->k);
    int64_t row_a = a.shape.dim[1] * size, row_b = b.shape.dim[1] * size;
    uint64_t from_a = a.address + (uint64_t)(c->i * row_a + (b.first[0] + p->k) * size);
    uint64_t from_b = b.address + (uint64_t)(p->k * row_b + c->j * size);
    p->a =
        tl_load_strided_async(tl, from_a, dtype, KB_SHAPE(c->m, depth), ((int64_t[]){row_a, size}));
    p->b =
        tl_load_strided_async(tl, from_b, dtype, KB_SHAPE(depth, c->n), ((int64_t[]){row_b, size}));
    p->k += depth;
    return true;
}

/* The sum over all panels; the next one is loaded while this one is multiplied. */
static tl_tensor *sum_panels(tl_ctx *tl, const struct block *c)
{
    struct panel next = {.k = 0};
    tl_tensor *sum = NULL;

    for (bool more = next_panel(tl, c, &next); more;) {
        tl_tensor *a = next.a, *b = next.b, *before = sum;

        tl_wait(tl, a);
        tl_wait(tl, b);
        more = next_panel(tl, c, &next);
        tl_tensor *product = tl_dot(tl, a, b, .dtype_out = sum_dtype(tl_dtype(a)));
        tl_free(tl, a);
        tl_free(tl, b);
        sum = before ? tl_add(tl, before, product) : product;
        if (before) {
            tl_free(tl, before);
            tl_free(tl, product);
        }
    }
    return sum;
}

static void make_block(tl_ctx *tl, const struct block *c)
{
    const kb_tensor *out = c->args->tensors[2];
    kb_shard part = kb_tensor_shard(out, tl_pe(tl));
    int64_t size = element_bytes(out), row = part.shape.dim[1] * size;
    uint64_t mark = tl_mark(tl);
    tl_tensor *sum = sum_panels(tl, c);

    if (sum_dtype(kb_tensor_dtype(c->args->tensors[0])) != kb_tensor_dtype(out))
        sum = tl_cast(tl, sum, kb_tensor_dtype(out));
    tl_store_strided(tl, part.address + (uint64_t)(c->i * row + c->j * size), sum,
                     ((int64_t[]){row, size}));
    tl_release(tl, mark);
}

static void qkv_gemm(tl_ctx *tl, const kb_args *args)
{
    kb_shape all = kb_tensor_shard(args->tensors[2], tl_pe(tl)).shape;

    for (int64_t i = 0; i < all.dim[0]; i += TILE)
        for (int64_t j = 0; j < all.dim[1]; j += TILE)
            make_block(tl, &(struct block){args, i, j, least(TILE, all.dim[0] - i),
                                           least(TILE, all.dim[1] - j)});
}

static void setup(kb_bench_run *run)
{
    kb_dtype dtype = kb_bench_dtype(run, "dtype");
    int64_t m = kb_bench_int(run, "M"), n = kb_bench_int(run, "N"), k = kb_bench_int(run, "K");

    if (!is_even(run, "qkv_gemm"))
        return;
    kb_bench_input(run, "a", dtype, KB_SHAPE(m, k), BY_ROWS, 1);
    kb_bench_input(run, "b", dtype, KB_SHAPE(k, n), of_b, 1 / sqrt((double)k));
    kb_bench_output(run, "c", product_dtype(dtype), KB_SHAPE(m, n), BY_ROWS);
    kb_bench_launch(run, "qkv_gemm", qkv_gemm, NULL, 0);
}

static void reference(const kb_bench_run *run, double *const *t)
{
    kb_reference_product(t[0], t[1], t[2], kb_bench_int(run, "M"), kb_bench_int(run, "N"),
                         kb_bench_int(run, "K"));
}

static const kb_bench_arg args_of_qkv_gemm[] = {
    SIZE_ARG("M", "128", "rows of a and c"),
    SIZE_ARG("N", "128", "columns of b and c"),
    SIZE_ARG("K", "256", "columns of a, rows of b"),
    DTYPE_ARG("f16", "f16 bf16 f32 f64 i8"),
};

const kb_bench bench_qkv_gemm = {
    .name = "qkv_gemm",
    .summary = "c = a b, rows of c per PE; b is loaded ahead from all cubes",
    .args = args_of_qkv_gemm,
    .n_args = sizeof args_of_qkv_gemm / sizeof *args_of_qkv_gemm,
    .setup = setup,
    .reference = reference,
};
