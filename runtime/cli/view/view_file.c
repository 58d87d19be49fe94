/*
 * view_file.c -- reads launches and rates from files of results, for plots.
 *
 * A file is read by diff/results.c, so CSV, JSON and JSON lines are all accepted. If it names a
 * topology, that has to be the one of this program: peaks and bandwidths are drawn from our tables.
 *
 * Columns are found by name, so their order and further ones do not matter. Of `run` these are
 * kernel, kernel_ns, the bytes of both directions, gemm_macs and math_elements: a multiply-add
 * counts as two operations, an element of math as one. A cell without a number is 0, for example
 * of a launch that computes nothing.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/diff/number.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "cli/view/scene.h"
#include "base/text.h"

enum { SHOWN_BYTES = 64, COLUMNS_MAX = 8 };

/* A file of results, read into rows of `row_bytes`. */
struct table {
    const struct cli *cli;
    struct results r;
    const char *const *names; /* of the columns that are read */
    int column[COLUMNS_MAX];
    size_t n_columns, n, room, row_bytes;
    char *rows; /* owned */
};

bool view_check_hash(struct results *r, const struct cli *cli)
{
    char name[SHOWN_BYTES], hash[SHOWN_BYTES];
    const struct results_origin *o = &r->origin;
    const char *topology = o->topology ? o->topology : "";

    if (!o->hash || strcmp(o->hash, cli->info.hash) == 0)
        return true;
    r->code =
        say(cli->program, EXIT_INPUT, "%s is of another topology: %s %s, this is %s %s", r->name,
            text_show(topology, strlen(topology), name, sizeof name),
            text_show(o->hash, strlen(o->hash), hash, sizeof hash), cli->info.name, cli->info.hash);
    return false;
}

bool view_find_column(struct results *r, const char *name, const char *of, int *out)
{
    for (size_t c = 0; c < r->n_columns; c++)
        if (strcmp(r->columns[c], name) == 0) {
            *out = (int)c;
            return true;
        }
    r->code = say(r->program, EXIT_INPUT, "%s has no column '%s': it is no result of %s", r->name,
                  name, of);
    return false;
}

bool view_read_number(struct results *r, int column, double *out)
{
    const char *text = r->cells[column];
    struct number number;
    char shown[SHOWN_BYTES];

    *out = NAN;
    if (!text)
        return true;
    if (number_read(text, &number)) {
        *out = number.exact ? (double)number.millionths / 1e6 : number.value;
        if (*out >= 0 && isfinite(*out))
            return true;
    }
    return results_bad_row(r, "%s '%s' is not a number from 0 on", r->columns[column],
                           text_show(text, strlen(text), shown, sizeof shown));
}

/* Opens the file and finds its columns. False after a message. */
static bool open_table(struct table *t, const char *path, const char *of)
{
    results_open(&t->r, t->cli->program, path);
    if (t->r.code || !view_check_hash(&t->r, t->cli))
        return false;
    for (size_t c = 0; t->r.n_columns > 0 && c < t->n_columns; c++)
        if (!view_find_column(&t->r, t->names[c], of, &t->column[c]))
            return false;
    return true;
}

/* Room for one more row, which is zero. */
static void *next_row(struct table *t)
{
    t->rows = memory_room(t->rows, t->n, &t->room, t->row_bytes);
    return memset(t->rows + t->n++ * t->row_bytes, 0, t->row_bytes);
}

/* The numbers of the columns from `first` on. A cell without one is 0. */
static bool read_numbers(struct table *t, size_t first, double *numbers)
{
    for (size_t c = first; c < t->n_columns; c++) {
        if (!view_read_number(&t->r, t->column[c], &numbers[c - first]))
            return false;
        if (isnan(numbers[c - first]))
            numbers[c - first] = 0;
    }
    return true;
}

/* -- roofline ------------------------------------------------------------------------------- */

static const char *const launch_columns[] = {"kernel",          "kernel_ns", "dma_read_bytes",
                                             "dma_write_bytes", "gemm_macs", "math_elements"};

/* A row of `run` as a point of the roofline. */
static bool add_launch(struct table *t)
{
    double v[5];
    const char *kernel = t->r.cells[t->column[0]];
    struct view_launch *l = next_row(t);

    if (!read_numbers(t, 1, v))
        return false;
    *l = (struct view_launch){.kernel = memory_text(kernel ? kernel : ""),
                              .operations = 2 * v[3] + v[4],
                              .bytes = v[1] + v[2],
                              .ns = v[0]};
    return true;
}

enum exit_code view_roofline_file(const struct cli *cli, const char *path, struct sink *s)
{
    struct table t = {.cli = cli,
                      .names = launch_columns,
                      .n_columns = sizeof launch_columns / sizeof *launch_columns,
                      .row_bytes = sizeof(struct view_launch)};

    if (open_table(&t, path, "run"))
        while (results_next(&t.r) && add_launch(&t))
            ;
    struct view_launch *launch = (struct view_launch *)(void *)t.rows;
    if (!t.r.code && !view_roofline_shows(launch, t.n))
        t.r.code = say(cli->program, EXIT_INPUT,
                       "%s: nothing to plot: no launch has operations, which are gemm_macs and "
                       "math_elements, and a time",
                       t.r.name);
    if (!t.r.code)
        view_roofline(cli, launch, t.n, "roofline", s);
    for (size_t i = 0; i < t.n; i++)
        free((char *)launch[i].kernel);
    free(t.rows);
    results_close(&t.r);
    return t.r.code;
}

/* -- latency -------------------------------------------------------------------------------- */

static const char *const rate_columns[] = {"pattern", "nbytes", "offered_gbs", "accepted_gbs",
                                           "mean_ns", "p50_ns", "p99_ns",      "steady"};

/* A row of `load`. The title gets the pattern and the bytes of the last row. */
static bool add_rate(struct table *t, char what[SHOWN_BYTES])
{
    double v[6];
    const char *pattern = t->r.cells[t->column[0]], *nbytes = t->r.cells[t->column[1]];
    char shown[SHOWN_BYTES / 2], bytes[SHOWN_BYTES / 4];
    struct view_rate *rate = next_row(t);

    if (!read_numbers(t, 2, v))
        return false;
    *rate = (struct view_rate){v[0], v[1], v[2], v[3], v[4], v[5] != 0};
    pattern = pattern ? pattern : "";
    nbytes = nbytes ? nbytes : "";
    snprintf(what, SHOWN_BYTES, "%s, %s bytes",
             text_show(pattern, strlen(pattern), shown, sizeof shown),
             text_show(nbytes, strlen(nbytes), bytes, sizeof bytes));
    return true;
}

enum exit_code view_latency_file(const struct cli *cli, const char *path, struct sink *s)
{
    char what[SHOWN_BYTES] = "", first[SHOWN_BYTES] = "";
    struct table t = {.cli = cli,
                      .names = rate_columns,
                      .n_columns = sizeof rate_columns / sizeof *rate_columns,
                      .row_bytes = sizeof(struct view_rate)};

    if (open_table(&t, path, "load"))
        while (results_next(&t.r) && add_rate(&t, what)) {
            if (*first && strcmp(first, what) != 0) {
                results_bad_row(&t.r, "%s, after rows of %s: one curve at a time", what, first);
                break;
            }
            strcpy(first, what);
        }
    if (!t.r.code)
        view_latency(cli, (struct view_rate *)(void *)t.rows, t.n, first, "latency", s);
    free(t.rows);
    results_close(&t.r);
    return t.r.code;
}
