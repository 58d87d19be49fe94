/* gather.c -- y = table[index]: indices loaded from memory decide which rows are loaded.
 *
 * The lookup of an embedding. The rows of table, index and y are spread over the slices of all PEs.
 * Each PE loads up to 16 of its own indices, reads their values with tl_data(), loads the rows that
 * they name from whichever slice has them, all at once, and stores them to its own rows of y. The
 * addresses are data, so no other PE could know the traffic before: random reads of one row each,
 * from all slices, and local stores.
 *
 * On cube8 with the initial values each PE loads 16 rows of 128 bytes, in one block: 186.50 ns. The
 * loads of a PE are issued together but share its one read channel, so they follow one another.
 *
 * Arguments: M rows of the table, L indices (drawn from --seed), D columns, dtype.
 */
#include <string.h>
#include "bench_tile.h"

enum { AT_ONCE = 16 }; /* rows under way */

/* Gathers rows i.. of y, as many as `index` has. */
static void gather_rows(tl_ctx *tl, const kb_args *args, tl_tensor *index, uint64_t to)
{
    const kb_tensor *table = args->tensors[0];
    const int32_t *rows = tl_data(tl, index);
    int64_t n = tl_shape(index).dim[0], d = kb_tensor_shape(table).dim[1];
    tl_tensor *row[AT_ONCE];

    for (int64_t i = 0; i < n; i++)
        row[i] =
            tl_load_async(tl, row_address(tl, table, rows[i]), kb_tensor_dtype(table), KB_SHAPE(d));
    for (int64_t i = 0; i < n; i++) {
        tl_wait(tl, row[i]);
        tl_store(tl, to + (uint64_t)(i * d * element_bytes(table)), row[i]);
    }
}

static void gather(tl_ctx *tl, const kb_args *args)
{
    kb_shard index = kb_tensor_shard(args->tensors[1], tl_pe(tl));
    kb_shard y = kb_tensor_shard(args->tensors[2], tl_pe(tl));
    int64_t n = index.shape.dim[0], row_bytes = y.shape.dim[1] * element_bytes(args->tensors[2]);
    int64_t block = least(AT_ONCE, rows_that_fit(tl_topology(tl), row_bytes, 1));

    for (int64_t i = 0; i < n; i += block) {
        uint64_t mark = tl_mark(tl);
        tl_tensor *few =
            tl_load(tl, index.address + (uint64_t)(i * 4), KB_I32, KB_SHAPE(least(block, n - i)));

        gather_rows(tl, args, few, y.address + (uint64_t)(i * row_bytes));
        tl_release(tl, mark);
    }
}

static void fill_index(kb_bench_run *run, double *index, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        index[i] = (double)kb_bench_random(run, (uint64_t)kb_bench_int(run, "M"));
}

static void setup(kb_bench_run *run)
{
    kb_dtype dtype = kb_bench_dtype(run, "dtype");
    int64_t m = kb_bench_int(run, "M"), l = kb_bench_int(run, "L"), d = kb_bench_int(run, "D");

    kb_bench_input(run, "table", dtype, KB_SHAPE(m, d), BY_ROWS, 1);
    kb_bench_input_by(run, "index", KB_I32, KB_SHAPE(l), BY_ROWS, fill_index);
    kb_bench_output(run, "y", dtype, KB_SHAPE(l, d), BY_ROWS);
    kb_bench_launch(run, "gather", gather, NULL, 0);
}

static void reference(const kb_bench_run *run, double *const *t)
{
    int64_t l = kb_bench_int(run, "L"), d = kb_bench_int(run, "D");

    for (int64_t i = 0; i < l; i++)
        memcpy(t[2] + i * d, t[0] + (int64_t)t[1][i] * d, (size_t)d * sizeof **t);
}

static const kb_bench_arg args_of_gather[] = {
    SIZE_ARG("M", "1024", "rows of the table"),
    SIZE_ARG("L", "1024", "rows of y, length of index"),
    SIZE_ARG("D", "64", "columns of table and y"),
    DTYPE_ARG("f16", "f16 bf16 f32 f64 i8 i32"),
};

const kb_bench bench_gather = {
    .name = "gather",
    .summary = "y = table[index]: each PE loads rows from wherever its indices say",
    .args = args_of_gather,
    .n_args = sizeof args_of_gather / sizeof *args_of_gather,
    .setup = setup,
    .reference = reference,
};
