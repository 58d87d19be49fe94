/*
 * launch_rows.c -- the rows of `run`: a launch each, with times, counts, and rates that follow.
 *
 * A multiply-add is two operations, as peak numbers of machines count; an element of MATH is one.
 * Rates are over kernel_ns, from the launch's arrival to its last end. The peak is that of the PEs
 * of the launch: of their GEMM engines, or of MATH if nothing is multiplied.
 *
 * Example, `run gemm` on cube8: 16777216 macs and 524288 elements in 837.765 ns are 40.68
 * TFLOP/s; 64 PEs could do 64 * 4096 macs a ns, of which that is 7.6 %. 2228224 bytes of DMA are
 * 2659.72 GB/s, and 15.29 operations a byte.
 */
#include "cli/rows/launch_rows.h"
#include <string.h>

/* One row: a launch, and what is known about the results of the bench. */
struct launch_row {
    const char *bench, *verify, *algorithm;
    kb_launch_result launch;
    int64_t kernel_fs, total_fs;
    bool compared;
    double max_abs_err;
    uint64_t bytes;
    double operations, tflops, peak_pct, gbs, ops_per_byte;
};

static const struct column columns[] = {
    COLUMN("bench", CELL_TEXT, struct launch_row, bench),
    COLUMN("kernel", CELL_TEXT, struct launch_row, launch.kernel),
    COLUMN("pes", CELL_COUNT, struct launch_row, launch.pes),
    COLUMN("start_ns", CELL_NS, struct launch_row, launch.start_fs),
    COLUMN("kernel_ns", CELL_NS, struct launch_row, kernel_fs),
    COLUMN("total_ns", CELL_NS, struct launch_row, total_fs),
    COLUMN("ops", CELL_COUNT, struct launch_row, launch.ops),
    COLUMN("dma_read_bytes", CELL_COUNT, struct launch_row, launch.dma_read_bytes),
    COLUMN("dma_write_bytes", CELL_COUNT, struct launch_row, launch.dma_write_bytes),
    COLUMN("gemm_macs", CELL_COUNT, struct launch_row, launch.gemm_macs),
    COLUMN("math_elements", CELL_COUNT, struct launch_row, launch.math_elements),
    COLUMN("verify", CELL_TEXT, struct launch_row, verify),
    COLUMN_IF("max_abs_err", CELL_ERROR, struct launch_row, max_abs_err, compared),
    COLUMN_IF("tflops", CELL_FRACTION, struct launch_row, tflops, tflops),
    COLUMN_IF("peak_pct", CELL_PERCENT, struct launch_row, peak_pct, peak_pct),
    COLUMN_IF("gbs", CELL_FRACTION, struct launch_row, gbs, gbs),
    COLUMN_IF("ops_per_byte", CELL_FRACTION, struct launch_row, ops_per_byte, ops_per_byte),
    COLUMN_IF("algorithm", CELL_TEXT, struct launch_row, algorithm, algorithm),
};

enum { N_COLUMNS = sizeof columns / sizeof *columns };

/* The algorithm that was taken; NULL: the bench has no choice of one. */
static const char *algorithm_of(const struct launch_rows *l)
{
    for (size_t i = 0; i < l->bench->n_args; i++)
        if (strcmp(l->bench->args[i].name, "algorithm") == 0)
            return kb_bench_value(l->run, i);
    return NULL;
}

/* Rates that do not exist stay 0, and their cells empty. */
static void find_rates(struct launch_row *row)
{
    const kb_launch_result *launch = &row->launch;
    double ns = (double)row->kernel_fs / KB_FS_PER_NS;
    double bytes = (double)(launch->dma_read_bytes + launch->dma_write_bytes);
    double macs = (double)launch->gemm_macs, elements = (double)launch->math_elements;
    double operations = 2 * macs + elements;

    if (bytes > 0)
        row->ops_per_byte = operations / bytes;
    if (row->kernel_fs <= 0)
        return;
    row->tflops = operations / ns / 1000;
    row->gbs = bytes / ns;
    row->peak_pct = macs > 0 ? 100 * launch->gemm_rated_macs / (ns * launch->gemm_macs_per_ns)
                             : 100 * elements / (ns * launch->math_elements_per_ns);
}

int64_t launches_fs(const kb_sim *sim)
{
    int64_t start_fs = INT64_MAX, end_fs = 0;

    for (size_t i = 0; i < kb_launch_count(sim); i++) {
        kb_launch_result r;

        if (kb_launch_get(sim, i, &r) != KB_OK)
            continue;
        start_fs = r.start_fs < start_fs ? r.start_fs : start_fs;
        end_fs = r.last_end_fs > end_fs ? r.last_end_fs : end_fs;
    }
    return end_fs > start_fs ? end_fs - start_fs : 0;
}

/* Launches that are not complete have no row. */
static bool launch_row(void *arg, uint64_t i, struct cell *cells)
{
    const struct launch_rows *l = arg;
    struct launch_row row = {.bench = l->bench->name,
                             .verify = l->verify,
                             .algorithm = algorithm_of(l),
                             .compared = l->compared,
                             .max_abs_err = l->max_abs_err};

    if (kb_launch_get(kb_bench_sim(l->run), i, &row.launch) != KB_OK)
        return false;
    row.kernel_fs = row.launch.last_end_fs - row.launch.start_fs;
    row.total_fs = row.launch.response_fs - row.launch.launch_fs;
    find_rates(&row);
    record_cells(columns, N_COLUMNS, &row, cells);
    return true;
}

struct rows launch_rows(const struct launch_rows *l)
{
    return (struct rows){ROWS_COLUMNS(columns), .n_rows = kb_launch_count(kb_bench_sim(l->run)),
                         .row = launch_row, .arg = (void *)l};
}
