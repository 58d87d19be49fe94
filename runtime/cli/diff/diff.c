/*
 * diff.c -- `diff A B`: two files of results, row by row, and which numbers moved most.
 *
 * A column plays one of three roles. Parameters (nbytes, rate, anything with a point, as keys of a
 * topology have) are keys. So are texts, except in the columns that describe a result (verify,
 * busiest_link). All other numbers are results, and are compared.
 *
 * Rows belong together if their keys are the same: written alike, or the same number (64 and 64.0).
 * As long as the keys of row i of A and row i of B are the same, which is the usual case, the files
 * are read side by side and no row is kept. From the first row on that differs, all rows that are
 * left are kept, packed in place of their text, and matched by the hashes of their keys. If two
 * rows of a file have the same keys (or the same hash) there is no telling which one belongs to
 * which, and the rest is compared in order.
 *
 * Example:
 *
 *     A: case,nbytes,actual_ns        B: case,nbytes,actual_ns
 *        near,4096,18.085                near,4096,18.085
 *        far,4096,50.085                 side,4096,40
 *                                        far,4096,55.0935
 *
 * Row 0 is compared in place. In row 1 "far" is not "side", so the rest is matched by keys: row 1
 * of A with row 2 of B, where actual_ns moved by 5.0085, or 10 %; row 1 of B is in B only. The
 * output is
 *
 *     row  where      column     a        b        delta   change_pct
 *       1  side 4096             missing  present
 *       1  far 4096   actual_ns  50.085   55.0935  5.0085  10.0
 *
 * and the exit code 1.
 *
 * Numbers are read as integers of 10^-6, up to 26 digits (number.h), so that delta and bounds are
 * exact: times have six decimals. Only longer ones, nan and inf are compared as double.
 */
#include "cli/diff/diff.h"
#include "cli/gate.h"
#include "cli/out/say.h"
#include "cli/out/stop.h"
#include "base/text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A move as it is printed. */
struct line {
    bool has_row;
    uint64_t row;
    const char *where, *column; /* NULL: none */
    struct cell a, b, delta, change;
};

static const struct column columns[] = {
    COLUMN_IF("row", CELL_COUNT, struct line, row, has_row),
    COLUMN("where", CELL_TEXT, struct line, where),
    COLUMN("column", CELL_TEXT, struct line, column),
    COLUMN("a", CELL_COUNT, struct line, a),
    COLUMN("b", CELL_COUNT, struct line, b),
    COLUMN("delta", CELL_COUNT, struct line, delta),
    COLUMN("change_pct", CELL_FRACTION, struct line, change),
};

/* -- output --------------------------------------------------------------------------------- */

/* A text that is no number of JSON stays a text: inf, nan, words. */
static struct cell cell_read(const char *text)
{
    if (!text)
        return cell_none();
    size_t n = number_span(text);
    return n > 0 && text[n] == '\0' && n <= NUMBER_CHARS_MAX ? cell_number(text) : cell_text(text);
}

static bool move_row(void *arg, uint64_t i, struct cell *cells)
{
    const struct move *m = &((const struct diff *)arg)->moves[i];
    struct line line = {
        .has_row = m->has_row,
        .row = m->row,
        .where = m->where,
        .column = m->name,
        .a = cell_read(m->a),
        .b = cell_read(m->b),
        .delta = m->delta[0] ? cell_number(m->delta) : cell_none(),
        .change = m->other || m->text ? cell_none() : cell_fraction(m->pct),
    };

    record_cells(columns, sizeof columns / sizeof *columns, &line, cells);
    return true;
}

/* "; 3 rows only in A" if there are any. */
static char *put_part(char *to, uint64_t n, const char *thing, const char *where)
{
    return n == 0 ? to
                  : to + sprintf(to, "; %llu %s%s%s", (unsigned long long)n, thing,
                                 n == 1 ? "" : "s", where);
}

/* ", 3 above the bound of 5 %" */
static void put_above(char *to, const struct diff *d)
{
    char bound[DELTA_BYTES];

    *number_put_short(bound, d->cli->opts.bound) = '\0';
    if (d->n_above == 0)
        sprintf(to, ", none above the bound of %s %%", bound);
    else
        sprintf(to, ", %llu above the bound of %s %%", (unsigned long long)d->n_above, bound);
}

static void make_note(struct diff *d)
{
    char *p = d->note;

    p += sprintf(p, "%llu row%s, %llu number%s compared: ", (unsigned long long)d->n_rows,
                 d->n_rows == 1 ? "" : "s", (unsigned long long)d->n_cells,
                 d->n_cells == 1 ? "" : "s");
    if (d->n_cells == 0 && d->n_rows > 0)
        p += sprintf(p, "there are none to compare");
    else if (d->n_moved == 0)
        p += sprintf(p, "none moved");
    else if (isinf(d->largest))
        p += sprintf(p, "%llu moved, the largest from zero or nothing",
                     (unsigned long long)d->n_moved);
    else
        p += text_format(p, 128, "%llu moved, the largest by %.6g %%",
                         (unsigned long long)d->n_moved, d->largest);
    if (d->n_texts > 0)
        p += sprintf(p, "; %llu text%s", (unsigned long long)d->n_texts,
                     d->n_texts == 1 ? " differs" : "s differ");
    p = put_part(p, d->n_other, "other row", "");
    p = put_part(p, d->n_only_a, "row", " only in A");
    p = put_part(p, d->n_only_b, "row", " only in B");
    p = put_part(p, d->n_columns, "column", " in one of them only");
    if (d->cli->opts.bound > 0 && d->n_moved + d->n_texts > 0)
        put_above(p, d);
}

static void write_moves(struct diff *d, struct sink *s)
{
    const struct opts *o = &d->cli->opts;
    struct rows rows = {ROWS_COLUMNS(columns), .row = move_row, .arg = d, .note = d->note};

    moves_cut(d);
    make_note(d);
    rows.n_rows = d->n_moves;
    cmd_write(d->cli, &rows, s);
    sink_flush(s);
    if (o->format != FORMAT_TABLE && !o->quiet)
        say_lines("%s", d->note);
}

/* -- origins -------------------------------------------------------------------------------- */

/* "note: A has topology cube8, B cube16" if both say it and it differs. */
static void note_origin(const char *what, const char *a, const char *b)
{
    if (a && b && strcmp(a, b) != 0)
        say_line("note: A has %s %s, B %s", what, a, b);
}

/* The next word of a command line; `len` 0 at its end. Words in quotes may be cut, here and there
 * alike. */
static const char *next_word(const char *from, size_t *len)
{
    from += strspn(from, " ");
    *len = strcspn(from, " ");
    return from;
}

/* Are the command lines the same, apart from --format F? */
static bool same_command(const char *a, const char *b)
{
    static const char format[] = "--format";
    const char *line[2] = {a, b}, *word[2];
    size_t len[2];

    do {
        for (int i = 0; i < 2; i++) {
            word[i] = next_word(line[i], &len[i]);
            while (len[i] == sizeof format - 1 && memcmp(word[i], format, len[i]) == 0) {
                word[i] = next_word(word[i] + len[i], &len[i]);
                word[i] = next_word(word[i] + len[i], &len[i]);
            }
            line[i] = word[i] + len[i];
        }
        if (len[0] != len[1] || memcmp(word[0], word[1], len[0]) != 0)
            return false;
    } while (len[0] > 0);
    return true;
}

/* To compare results of different machines is no mistake, but worth a note. */
static void note_origins(const struct diff *d)
{
    const struct results_origin *a = &d->a.origin, *b = &d->b.origin;

    if (d->cli->opts.quiet)
        return;
    note_origin("schema", a->schema, b->schema);
    note_origin("topology", a->topology, b->topology);
    note_origin("topology hash", a->hash, b->hash);
    note_origin("version", a->version, b->version);
    note_origin("seed", a->seed, b->seed);
    if (a->command && b->command && !same_command(a->command, b->command))
        note_origin("command", a->command, b->command);
}

/* -- the command ---------------------------------------------------------------------------- */

static enum exit_code diff_into(struct diff *d, struct sink *s)
{
    const char *const *path = d->cli->opts.operand;
    enum exit_code code = results_open(&d->a, d->cli->program, path[0]);

    if (!code)
        code = results_open(&d->b, d->cli->program, path[1]);
    if (code == EXIT_INTERRUPTED)
        say_line("%s: no rows compared", stop_word());
    if (code)
        return code;
    if (columns_check(d) && columns_match(d))
        keys_compare(d);
    if (d->code || d->a.code || d->b.code)
        return d->code ? d->code : d->a.code ? d->a.code : d->b.code;
    stop_heard();
    note_origins(d);
    write_moves(d, s);
    if (stop_asked()) {
        say_line("%s: %llu rows compared", stop_word(), (unsigned long long)d->n_rows);
        return EXIT_INTERRUPTED;
    }
    if (d->cli->opts.bound > 0 && d->n_cells + d->n_cells_of_texts == 0)
        gate_count(d->cli->gates, GATE_UNDECIDED,
                   "--bound cannot be decided: there was nothing to compare");
    return d->n_above + d->n_other + d->n_only_a + d->n_only_b + d->n_columns > 0 ? EXIT_DIFFERENT
                                                                                  : EXIT_OK;
}

static void free_diff(struct diff *d)
{
    while (d->n_moves > 0)
        move_free(&d->moves[--d->n_moves]);
    free(d->moves);
    free(d->of_b);
    free(d->role);
    free(d->selected);
    results_close(&d->a);
    results_close(&d->b);
}

/* Differences that were found before a mistake in the input are kept. */
static enum sink_end end_of(enum exit_code code)
{
    return code == EXIT_INTERRUPTED ? SINK_PARTIAL : SINK_KEEP;
}

enum exit_code cmd_diff(const struct cli *cli)
{
    struct diff d = {.cli = cli};
    struct sink s;

    if (strcmp(cli->opts.operand[0], "-") == 0 && strcmp(cli->opts.operand[1], "-") == 0)
        return say(cli->program, EXIT_USAGE,
                   "diff: one of the two may be standard input, not both");
    enum exit_code code = sink_open(&s, cli->program, cli->opts.output);
    if (code)
        return code;
    stop_defer(true);
    code = diff_into(&d, &s);
    enum exit_code closed = sink_close(&s, cli->program, *d.note ? end_of(code) : SINK_DROP);
    stop_defer(false);
    free_diff(&d);
    return closed ? closed : code;
}
