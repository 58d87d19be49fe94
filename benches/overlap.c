/* overlap.c -- the shortest product whose engines overlap, to start a kernel with tl_async() from.
 *
 * c = a b in f16: 4096^3 on cube8 takes 96.6 % of its peak. gemm.c gets more, of any operands, by
 * multicasts and accumulators; here each PE needs all of its operands in its own slice, so a and b
 * lie there many times.
 *
 * A cube has a part of the rows of a and c, each of its PEs a part of the columns of b and c, all
 * in its own slice. A dot takes BM rows of a and BN columns of b over all of K; b stays in the TCM.
 * Under tl_async() the kernel only says what follows from what: the FETCH of the next dot and the
 * loads of the next rows are under way meanwhile, and a load that finds no room waits for what is
 * given back.
 */
#include <math.h>
#include "bench_tile.h"

static uint64_t address(const kb_shard *part, int64_t i, int64_t j)
{
    return part->address + 2 * (uint64_t)(i * part->shape.dim[1] + j);
}

static void product(tl_ctx *tl, const kb_args *args)
{
    kb_shard a = kb_tensor_shard(args->tensors[0], tl_pe(tl));
    kb_shard b = kb_tensor_shard(args->tensors[1], tl_pe(tl));
    kb_shard c = kb_tensor_shard(args->tensors[2], tl_pe(tl));
    int64_t m = kb_bench_int(args->user, "BM"), n = kb_bench_int(args->user, "BN");
    int64_t k = a.shape.dim[1], width = c.shape.dim[1], strides[] = {2 * width, 2};
    tl_tensor **columns = tl_alloc_host(tl, (size_t)parts(width, n) * sizeof(tl_tensor *));

    tl_async(tl, true);
    for (int64_t i = 0; i < c.shape.dim[0]; i += m) {
        kb_shape of_rows = KB_SHAPE(least(m, c.shape.dim[0] - i), k);
        tl_tensor *rows = tl_load(tl, address(&a, i, 0), KB_F16, of_rows), *block;

        for (int64_t j = 0; j < width; j += n) {
            kb_shape of_columns = KB_SHAPE(k, least(n, width - j));

            if (i == 0)
                columns[j / n] =
                    tl_load_strided(tl, address(&b, 0, j), KB_F16, of_columns, strides);
            block = tl_dot(tl, rows, columns[j / n]);
            tl_store_strided(tl, address(&c, i, j), block, strides);
            tl_free(tl, block);
        }
        tl_free(tl, rows);
    }
}

static void setup(kb_bench_run *run)
{
    int64_t m = kb_bench_int(run, "M"), n = kb_bench_int(run, "N"), k = kb_bench_int(run, "K");

    kb_bench_input(run, "a", KB_F16, KB_SHAPE(m, k), (kb_placement){KB_ROW_WISE, KB_REPLICATE}, 1);
    kb_bench_input(run, "b", KB_F16, KB_SHAPE(k, n), (kb_placement){KB_REPLICATE, KB_COLUMN_WISE},
                   1 / sqrt((double)k));
    kb_bench_output(run, "c", KB_F16, KB_SHAPE(m, n), (kb_placement){KB_ROW_WISE, KB_COLUMN_WISE});
    kb_bench_launch(run, "product", product, NULL, 0);
}

static void reference(const kb_bench_run *run, double *const *t)
{
    kb_reference_product(t[0], t[1], t[2], kb_bench_int(run, "M"), kb_bench_int(run, "N"),
                         kb_bench_int(run, "K"));
}

static const kb_bench_arg arguments[] = {
    SIZE_ARG("M", "1024", "rows of a and c"),
    SIZE_ARG("N", "1024", "columns of b and c"),
    SIZE_ARG("K", "1024", "columns of a, rows of b"),
    SIZE_ARG("BM", "128", "rows at once, of a PE's"),
    SIZE_ARG("BN", "64", "columns at once, of a PE's"),
};

const kb_bench bench_overlap = {.name = "overlap",
                                .summary = "c = a b, with DMA, FETCH and GEMM side by side",
                                .args = arguments,
                                .n_args = sizeof arguments / sizeof *arguments,
                                .setup = setup,
                                .reference = reference};
