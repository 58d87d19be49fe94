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

/* The benches that are listed, and the row that is printed. */
struct list {
    const kb_bench *one; /* that is named */
    const kb_bench *const *benches;
    size_t n_benches;
    struct list_row row;
};

/* A bench's row, then those of its arguments. */
static bool list_row(void *arg, uint64_t i, struct cell *cells)
{
    struct list *list = arg;
    const kb_bench *const *bench = list->benches, *const *end = bench + list->n_benches;

    for (; bench < end && i > (*bench)->n_args; bench++)
        i -= 1 + (*bench)->n_args;
    if (bench == end)
        return false;
    list->row = (struct list_row){.bench = (*bench)->name, .summary = (*bench)->summary};
    if (i > 0)
        set_argument(*bench, &(*bench)->args[i - 1], &list->row);
    record_cells(columns, N_COLUMNS, &list->row, cells);
    return true;
}

/* The benches of the program or of FILE.so; or the one that is named. */
static enum exit_code find(const struct cli *cli, const char *name, struct list *list)
{
    size_t n = name ? strlen(name) : 0;
    enum exit_code code;

    if (!name || (n > 3 && strcmp(name + n - 3, ".so") == 0))
        return bench_table(cli, name, &list->benches, &list->n_benches);
    list->one = bench_find(cli, name, &code);
    list->benches = &list->one;
    list->n_benches = 1;
    return code;
}

enum exit_code cmd_list(const struct cli *cli)
{
    struct list list;
    struct rows rows = {ROWS_COLUMNS(columns), .row = list_row, .arg = &list};
    const char *name = cli->opts.n_operands > 0 ? cli->opts.operand[0] : NULL;
    enum exit_code code = find(cli, name, &list);

    if (code)
        return code;
    for (size_t b = 0; b < list.n_benches; b++)
        rows.n_rows += 1 + list.benches[b]->n_args;
    return cmd_print(cli, &rows);
}
