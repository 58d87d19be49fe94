/* cmd_list.c -- `list`: the benches that `run` takes, and their arguments. */
#include "cli/benches.h"
#include "cli/command.h"
#include <stdio.h>
#include <string.h>

enum { RANGE_BYTES = 128 };

static const struct column columns[] = {
    COLUMN_BY_HAND("bench", CELL_TEXT), COLUMN_BY_HAND("argument", CELL_TEXT),
    COLUMN_BY_HAND("type", CELL_TEXT),  COLUMN_BY_HAND("default", CELL_TEXT),
    COLUMN_BY_HAND("range", CELL_TEXT), COLUMN_BY_HAND("summary", CELL_TEXT),
};

static const char *const type_names[] = {[KB_ARG_INT] = "int",
                                         [KB_ARG_REAL] = "real",
                                         [KB_ARG_DTYPE] = "dtype",
                                         [KB_ARG_CHOICE] = "choice"};

static void set_bench(const kb_bench *bench, struct cell *cells)
{
    cells[0] = cell_text(bench->name);
    for (int i = 1; i < 5; i++)
        cells[i] = cell_none();
    cells[5] = cell_text(bench->summary);
}

/* "1..65536", or "relu|sigmoid|tanh". */
static void put_range(const kb_bench_arg *arg, char range[RANGE_BYTES])
{
    if (arg->choices) {
        snprintf(range, RANGE_BYTES, "%s", arg->choices);
        for (char *p = range; (p = strchr(p, ' ')) != NULL;)
            *p = '|';
    } else {
        snprintf(range, RANGE_BYTES, "%g..%.*g", arg->min, 10, arg->max);
    }
}

static void set_argument(const kb_bench *bench, const kb_bench_arg *arg, char range[RANGE_BYTES],
                         struct cell *cells)
{
    put_range(arg, range);
    cells[0] = cell_text(bench->name);
    cells[1] = cell_text(arg->name);
    cells[2] = cell_text(type_names[arg->type]);
    cells[3] = cell_text(arg->initial);
    cells[4] = cell_text(range);
    cells[5] = cell_text(arg->help);
}

/* A bench's row, then those of its arguments. */
static bool list_row(void *arg, uint64_t i, struct cell *cells)
{
    for (size_t b = 0; b < n_benches; b++) {
        if (i == 0) {
            set_bench(benches[b], cells);
            return true;
        }
        if (i <= benches[b]->n_args) {
            set_argument(benches[b], &benches[b]->args[i - 1], arg, cells);
            return true;
        }
        i -= 1 + benches[b]->n_args;
    }
    return false;
}

enum exit_code cmd_list(const struct cli *cli)
{
    char range[RANGE_BYTES];
    struct rows rows = {.columns = columns,
                        .n_columns = sizeof columns / sizeof *columns,
                        .row = list_row,
                        .arg = range};

    for (size_t b = 0; b < n_benches; b++)
        rows.n_rows += 1 + benches[b]->n_args;
    return cmd_print(cli, &rows);
}
