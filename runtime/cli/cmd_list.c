/* cmd_list.c -- `list`: the benches that `run` takes, and their arguments.
 *
 * A row for each bench, followed by one for each of its arguments: name, type, default, range.
 * softmax has three, of which the first is "M, int, 256, 1..65536, rows": `run softmax M=64` sets
 * it. The words of a choice are separated by '|'. How to add one: docs/kernels.md "A bench of your
 * own".
 */
#include "cli/benches.h"
#include "cli/command.h"
#include "base/text.h"
#include <stdio.h>
#include <string.h>

enum { RANGE_BYTES = 128 };

/* One row: a bench, or one of its arguments. NULL is empty. */
struct list_row {
    const char *bench, *argument, *type, *initial, *range, *summary;
    char range_text[RANGE_BYTES];
};

static const struct column columns[] = {
    COLUMN("bench", CELL_TEXT, struct list_row, bench),
    COLUMN("argument", CELL_TEXT, struct list_row, argument),
    COLUMN("type", CELL_TEXT, struct list_row, type),
    COLUMN("default", CELL_TEXT, struct list_row, initial),
    COLUMN("range", CELL_TEXT, struct list_row, range),
    COLUMN("summary", CELL_TEXT, struct list_row, summary),
};

enum { N_COLUMNS = sizeof columns / sizeof *columns };

static const char *const type_names[] = {[KB_ARG_INT] = "int",
                                         [KB_ARG_REAL] = "real",
                                         [KB_ARG_DTYPE] = "dtype",
                                         [KB_ARG_CHOICE] = "choice"};

/* "1..65536", or "relu|sigmoid|tanh". */
static void put_range(const kb_bench_arg *arg, char range[RANGE_BYTES])
{
    if (arg->choices) {
        snprintf(range, RANGE_BYTES, "%s", arg->choices);
        for (char *p = range; (p = strchr(p, ' ')) != NULL;)
            *p = '|';
    } else {
        text_format(range, RANGE_BYTES, "%g..%.*g", arg->min, 10, arg->max);
    }
}

static void set_argument(const kb_bench *bench, const kb_bench_arg *arg, struct list_row *row)
{
    put_range(arg, row->range_text);
    row->bench = bench->name;
    row->argument = arg->name;
    row->type = type_names[arg->type];
    row->initial = arg->initial;
    row->range = row->range_text;
    row->summary = arg->help;
}

/* A bench's row, then those of its arguments. */
static bool list_row(void *arg, uint64_t i, struct cell *cells)
{
    struct list_row *row = arg;
    size_t b = 0;

    for (; b < n_benches && i > benches[b]->n_args; b++)
        i -= 1 + benches[b]->n_args;
    if (b == n_benches)
        return false;
    *row = (struct list_row){.bench = benches[b]->name, .summary = benches[b]->summary};
    if (i > 0)
        set_argument(benches[b], &benches[b]->args[i - 1], row);
    record_cells(columns, N_COLUMNS, row, cells);
    return true;
}

enum exit_code cmd_list(const struct cli *cli)
{
    struct list_row row;
    struct rows rows = {ROWS_COLUMNS(columns), .row = list_row, .arg = &row};

    for (size_t b = 0; b < n_benches; b++)
        rows.n_rows += 1 + benches[b]->n_args;
    return cmd_print(cli, &rows);
}
