/* gemm.c -- c = a b on a grid of all PEs, as product.h runs it: blocks of c, operands by multicast.
 *
 * A cube has a part of the rows of a and c, and each of its PEs a part of their columns. Of b a
 * cube has a part of the columns and its PEs rows of that, so that the tiles of a step set out from
 * all cubes (b_by=columns); in a memory that all PEs share rows lie together (b_by=rows).
 *
 * On cube8 with the initial values the grid is 8 x 8, a row of it a cube: a PE makes 32 x 32 of c
 * in one step, as all of K is less than the 64 KiB that a step may have: 786.07 ns.
 *
 * Arguments: M, N, K, dtype; GRID rows of the grid, BM, BN, BK: 0 is chosen here. What does not fit
 * into a TCM or an accumulator is refused with what does.
 */
#include "product.h"

enum { B_AUTO, B_BY_COLUMNS, B_BY_ROWS };

static const kb_placement of_ac = {KB_ROW_WISE, KB_COLUMN_WISE};

static kb_placement placement_of_b(const kb_bench_run *run)
{
    if (kb_bench_choice(run, "b_by") == B_BY_ROWS)
        return BY_ROWS;
    return (kb_placement){KB_COLUMN_WISE, KB_ROW_WISE};
}

static void gemm(tl_ctx *tl, const kb_args *args)
{
    struct product p = {.cut = cut_of(args->user, kb_bench_int(args->user, "GRID")),
                        .a = {.tensor = args->tensors[0], .lies = of_ac},
                        .b = {.tensor = args->tensors[1], .lies = placement_of_b(args->user)},
                        .c = {.tensor = args->tensors[2], .lies = of_ac}};

    count_steps(&p.cut, all_pes(tl));
    product(tl, &p);
}

static void refuse_rows(kb_bench_run *run, const struct cut *x, uint32_t pes)
{
    char text[96];

    snprintf(text, sizeof text, "gemm: GRID=%lld has more rows than there are PEs: %u",
             (long long)x->rows, pes);
    kb_bench_refuse(run, text);
}

static void setup(kb_bench_run *run)
{
    const kb_topology *topo = kb_bench_topology(run);
    struct cut x = cut_of(run, kb_bench_int(run, "GRID"));

    if (!is_even(run, "gemm"))
        return;
    if (x.rows > kb_pe_count(topo)) {
        refuse_rows(run, &x, kb_pe_count(topo));
        return;
    }
    if (!settle(run, "gemm", &x))
        return;
    set(run, "GRID", x.rows);
    if (kb_bench_choice(run, "b_by") == B_AUTO)
        kb_bench_set(run, "b_by", reach_of(topo).shared ? "rows" : "columns");
    kb_bench_input(run, "a", x.dtype, KB_SHAPE(x.m, x.k), of_ac, 1);
    kb_bench_input(run, "b", x.dtype, KB_SHAPE(x.k, x.n), placement_of_b(run),
                   1 / sqrt((double)x.k));
    kb_bench_output(run, "c", x.dtype_c, KB_SHAPE(x.m, x.n), of_ac);
    kb_bench_launch(run, "gemm", gemm, NULL, 0);
}

static const kb_bench_arg args_of_gemm[] = {
    SIZE_ARG("M", "256", "rows of a and c"),
    SIZE_ARG("N", "256", "columns of b and c"),
    SIZE_ARG("K", "256", "columns of a, rows of b"),
    DTYPE_ARG("f16", "f16 bf16 f32 f64 i8"),
    CHOSEN_ARG("GRID", "rows of the grid of PEs"),
    CHOSEN_ARG("BM", "rows of c in an accumulator"),
    CHOSEN_ARG("BN", "columns of it"),
    CHOSEN_ARG("BK", "of K in a step"),
    {"b_by", KB_ARG_CHOICE, "auto", 0, 0, "auto columns rows", "what of b a cube has"},
    SEND_ARG,
};

const kb_bench bench_gemm = {
    .name = "gemm",
    .summary = "c = a b on a grid of PEs: a by multicast along its rows, b along its columns",
    .args = args_of_gemm,
    .n_args = sizeof args_of_gemm / sizeof *args_of_gemm,
    .setup = setup,
    .reference = reference_of_product,
};
