/* cmd_diff.c -- `diff`: two files of results, row by row, and what moved most. */
#include "cmd.h"
#include "number.h"
#include "results.h"
#include "say.h"
#include "stop.h"
#include "text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS_BETWEEN_LOOKS = 1024, /* at Ctrl-C */
    WHERE_BYTES = 120,
    WORD_BYTES = 8, /* room that text_show() can cut a word to */
    NOTE_BYTES = 512,
    DELTA_BYTES = 48,
};

static const struct column columns[] = {
    {"row", CELL_COUNT}, {"where", CELL_TEXT},  {"column", CELL_TEXT},         {"a", CELL_COUNT},
    {"b", CELL_COUNT},   {"delta", CELL_COUNT}, {"change_pct", CELL_FRACTION},
};

/* Numbers that say what a row is of, not what came of it; keys of a topology have a point. */
static const char *const parameters[] = {"id",  "hop",      "nbytes", "bytes",
                                         "pes", "inflight", "txns",   "rate"};

/* One line of the output. */
struct move {
    bool other; /* another row, one that is missing, a column that is missing: before all others */
    bool has_row;            /* not of a column */
    uint64_t row;            /* from 0 */
    size_t column;           /* of A, then those of B alone; SIZE_MAX: the row */
    const char *name;        /* of the column, borrowed; NULL: the row */
    char *where, *a, *b;     /* owned; NULL: nothing */
    char delta[DELTA_BYTES]; /* "": none */
    double pct;              /* infinite: from zero, from or to nothing */
};

struct diff {
    const struct cli *cli;
    struct results a, b;
    size_t *of_b;     /* owned: for each column of A that of B, or SIZE_MAX */
    bool *is_key;     /* owned: the same; a parameter */
    uint64_t n_rows;  /* compared */
    uint64_t n_cells; /* numbers of them */
    uint64_t n_moved, n_other, n_only_a, n_only_b, n_columns;
    double largest; /* change of a number, per cent */
    bool exceeds;
    struct move *moves; /* owned: the first of them so far are the largest */
    size_t n_moves, room;
    bool is_cut; /* --top of them are there already, sorted */
    char note[NOTE_BYTES];
    enum exit_code code;
};

/* -- the largest moves ---------------------------------------------------------------------- */

static int compare_moves(const void *left, const void *right)
{
    const struct move *x = left, *y = right;

    if (x->other != y->other)
        return x->other ? -1 : 1;
    if (x->has_row != y->has_row)
        return x->has_row ? 1 : -1;
    if (!x->other && fabs(x->pct) > fabs(y->pct))
        return -1;
    if (!x->other && fabs(x->pct) < fabs(y->pct))
        return 1;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return x->column < y->column ? -1 : x->column > y->column;
}

static void free_move(struct move *m)
{
    free(m->where);
    free(m->a);
    free(m->b);
}

/* Sorts what there is, and drops what is not among the first --top. */
static void cut_moves(struct diff *d)
{
    if (d->n_moves > 0)
        qsort(d->moves, d->n_moves, sizeof *d->moves, compare_moves);
    d->is_cut = d->n_moves >= d->cli->opts.top;
    while (d->n_moves > d->cli->opts.top)
        free_move(&d->moves[--d->n_moves]);
}

/* Are there as many larger ones already? */
static bool too_small(const struct diff *d, const struct move *m)
{
    return d->is_cut && compare_moves(m, &d->moves[d->cli->opts.top - 1]) > 0;
}

/* Room for one more: as many again as --top, so that sorting is rare. */
static bool make_room(struct diff *d)
{
    if (d->n_moves < d->room)
        return true;
    if (d->n_moves >= 2 * d->cli->opts.top) {
        cut_moves(d);
        return true;
    }
    size_t room = 2 * d->room + 64;
    struct move *moves = realloc(d->moves, room * sizeof *moves);
    if (!moves)
        return false;
    d->moves = moves;
    d->room = room;
    return true;
}

/* Copies may be of nothing. */
static bool copy(char **to, const char *text)
{
    *to = text ? strdup(text) : NULL;
    return !text || *to;
}

/* What the row is of: the keys of A's, or of B's if there is none in A. NULL without memory. */
static char *row_name(const struct diff *d, const struct results *r)
{
    char text[WHERE_BYTES] = "";
    size_t n = 0;

    for (size_t c = 0; c < d->a.n_columns && n + 1 + WORD_BYTES <= sizeof text; c++) {
        size_t at = r == &d->a ? c : d->of_b[c];
        const char *cell = at == SIZE_MAX ? NULL : r->cells[at];
        struct number number;

        if (!cell || (!d->is_key[c] && number_read(cell, &number)))
            continue;
        if (n > 0)
            text[n++] = ' ';
        text_show(cell, strlen(cell), text + n, sizeof text - n);
        n += strlen(text + n);
    }
    return strdup(text);
}

/* Keeps `m` with copies of the texts, if it is large enough. */
static void add_move(struct diff *d, struct move m, const struct results *row, const char *a,
                     const char *b)
{
    if (too_small(d, &m))
        return;
    bool ok = make_room(d) && copy(&m.a, a) && copy(&m.b, b);
    if (ok && m.has_row)
        ok = (m.where = row_name(d, row)) != NULL;
    if (!ok) {
        free_move(&m);
        d->code = say(d->cli->program, EXIT_SYSTEM, "out of memory");
        return;
    }
    d->moves[d->n_moves++] = m;
}

/* -- cells ---------------------------------------------------------------------------------- */

enum verdict { EQUAL, WITHIN, MOVED, EXCEEDS };

static __int128 size_of(__int128 x)
{
    return x < 0 ? -x : x;
}

/* delta / a > limit, where the limit is in millionths of a per cent, at most 10^12 of them. */
static bool exact_above(__int128 delta, __int128 a, int64_t limit)
{
    return size_of(delta) * 100000000 > (__int128)limit * size_of(a);
}

static enum verdict judge_exact(const struct opts *o, __int128 a, __int128 b)
{
    __int128 delta = b - a;

    if (delta == 0)
        return EQUAL;
    if (size_of(delta) <= o->atol || !exact_above(delta, a, o->tolerance))
        return WITHIN;
    return exact_above(delta, a, o->bound) ? EXCEEDS : MOVED;
}

/* Numbers that are too long, or none: infinities equal themselves, NaN as well. */
static enum verdict judge_double(const struct opts *o, double a, double b)
{
    double delta = fabs(b - a), pct = delta / fabs(a) * 100;

    if (a == b || (isnan(a) && isnan(b)))
        return EQUAL;
    if (!isfinite(a) || !isfinite(b))
        return EXCEEDS;
    if (delta <= (double)o->atol / 1e6 || pct <= (double)o->tolerance / 1e6)
        return WITHIN;
    return pct > (double)o->bound / 1e6 ? EXCEEDS : MOVED;
}

static double percent(const struct number *a, const struct number *b)
{
    double pct = a->exact && b->exact
                     ? (double)(b->millionths - a->millionths) / fabs((double)a->millionths) * 100
                     : (b->value - a->value) / fabs(a->value) * 100;

    return isnan(pct) ? INFINITY : pct;
}

/* delta without a loss, or six decimals of it; nothing if it is no number. */
static void put_delta(char delta[DELTA_BYTES], const struct number *a, const struct number *b)
{
    double rough = b->value - a->value;
    int n = 0;

    delta[0] = '\0';
    if (a->exact && b->exact)
        *number_put(delta, b->millionths - a->millionths) = '\0';
    else if (isfinite(rough))
        n = snprintf(delta, DELTA_BYTES, "%.6f", rough);
    if (n >= DELTA_BYTES)
        snprintf(delta, DELTA_BYTES, "%.17g", rough);
}

static void moved(struct diff *d, struct move *m, enum verdict verdict, const char *a,
                  const char *b)
{
    d->n_moved++;
    d->exceeds = d->exceeds || verdict == EXCEEDS;
    d->largest = fmax(d->largest, fabs(m->pct));
    add_move(d, *m, &d->a, a, b);
}

/* A number, or nothing, in a column that is no key. */
static void compare_numbers(struct diff *d, size_t c, const char *a, const char *b)
{
    struct move m = {.has_row = true, .row = d->n_rows, .column = c, .name = d->a.columns[c]};
    struct number x, y;
    enum verdict verdict = EXCEEDS;

    if (!a && !b)
        return;
    d->n_cells++;
    m.pct = INFINITY;
    if (a && b && number_read(a, &x) && number_read(b, &y)) {
        verdict = x.exact && y.exact ? judge_exact(&d->cli->opts, x.millionths, y.millionths)
                                     : judge_double(&d->cli->opts, x.value, y.value);
        if (verdict <= WITHIN)
            return;
        m.pct = percent(&x, &y);
        put_delta(m.delta, &x, &y);
    }
    moved(d, &m, verdict, a, b);
}

static bool is_text(const char *cell)
{
    struct number number;

    return cell && !number_read(cell, &number);
}

/* Keys are the same if they are written alike, or are the same number. */
static bool same_key(const char *a, const char *b)
{
    struct number x, y;

    if (!a || !b)
        return a == b;
    return strcmp(a, b) == 0 || (number_read(a, &x) && number_read(b, &y) && x.exact && y.exact &&
                                 x.millionths == y.millionths);
}

/* -- rows ----------------------------------------------------------------------------------- */

static const char *cell_of_b(const struct diff *d, size_t c)
{
    return d->b.cells[d->of_b[c]];
}

/* Do the two rows' keys and texts differ? Names the first column that does. */
static bool is_other_row(struct diff *d)
{
    for (size_t c = 0; c < d->a.n_columns; c++) {
        if (d->of_b[c] == SIZE_MAX)
            continue;
        const char *a = d->a.cells[c], *b = cell_of_b(d, c);
        struct move m = {
            .other = true, .has_row = true, .row = d->n_rows, .column = c, .name = d->a.columns[c]};

        if (a == b || (a && b && strcmp(a, b) == 0))
            continue;
        if ((d->is_key[c] && !same_key(a, b)) || is_text(a) || is_text(b)) {
            add_move(d, m, &d->a, a, b);
            return true;
        }
    }
    return false;
}

static void compare_rows(struct diff *d)
{
    if (is_other_row(d)) {
        d->n_other++;
        return;
    }
    for (size_t c = 0; c < d->a.n_columns && !d->code; c++)
        if (d->of_b[c] != SIZE_MAX && !d->is_key[c] && !is_text(d->a.cells[c]))
            compare_numbers(d, c, d->a.cells[c], cell_of_b(d, c));
}

/* Rows that the other file has no more. */
static void only_in(struct diff *d, struct results *r, uint64_t *n)
{
    for (bool more = true; more && !d->code; more = results_next(r)) {
        struct move m = {
            .other = true, .has_row = true, .row = d->n_rows + (*n)++, .column = SIZE_MAX};

        add_move(d, m, r, r == &d->a ? "present" : "missing", r == &d->a ? "missing" : "present");
        if (*n % ROWS_BETWEEN_LOOKS == 0 && stop_asked())
            return;
    }
}

static void compare_all(struct diff *d)
{
    bool a, b;

    while ((a = results_next(&d->a), b = results_next(&d->b), a && b) && !d->code) {
        if (d->n_rows % ROWS_BETWEEN_LOOKS == 0 && stop_asked())
            return;
        compare_rows(d);
        d->n_rows++;
    }
    if (d->a.code || d->b.code)
        return;
    if (a)
        only_in(d, &d->a, &d->n_only_a);
    else if (b)
        only_in(d, &d->b, &d->n_only_b);
}

/* -- columns -------------------------------------------------------------------------------- */

static size_t find_column(const struct results *r, const char *name)
{
    for (size_t c = 0; c < r->n_columns; c++)
        if (strcmp(r->columns[c], name) == 0)
            return c;
    return SIZE_MAX;
}

static bool is_parameter(const char *name)
{
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
        if (strcmp(name, parameters[i]) == 0)
            return true;
    return strchr(name, '.') != NULL;
}

static void missing_column(struct diff *d, const char *name, size_t c, bool in_a)
{
    d->n_columns++;
    add_move(d, (struct move){.other = true, .column = c, .name = name}, NULL,
             in_a ? "present" : "missing", in_a ? "missing" : "present");
}

/* By name: their order does not count. JSON without rows knows none of them. */
static bool match_columns(struct diff *d)
{
    const struct results *a = &d->a, *b = &d->b;

    d->of_b = malloc((a->n_columns + 1) * sizeof *d->of_b);
    d->is_key = malloc((a->n_columns + 1) * sizeof *d->is_key);
    if (!d->of_b || !d->is_key) {
        d->code = say(d->cli->program, EXIT_SYSTEM, "out of memory");
        return false;
    }
    for (size_t c = 0; c < a->n_columns; c++) {
        d->of_b[c] = find_column(b, a->columns[c]);
        d->is_key[c] = is_parameter(a->columns[c]);
        if (d->of_b[c] == SIZE_MAX && b->n_columns > 0)
            missing_column(d, a->columns[c], c, true);
    }
    for (size_t c = 0; c < b->n_columns && a->n_columns > 0; c++)
        if (find_column(a, b->columns[c]) == SIZE_MAX)
            missing_column(d, b->columns[c], a->n_columns + c, false);
    return !d->code;
}

/* -- what is printed ------------------------------------------------------------------------ */

/* JSON has no inf; what is no number of JSON is a text. */
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

    cells[0] = m->has_row ? cell_count(m->row) : cell_none();
    cells[1] = m->where ? cell_text(m->where) : cell_none();
    cells[2] = m->name ? cell_text(m->name) : cell_none();
    cells[3] = cell_read(m->a);
    cells[4] = cell_read(m->b);
    cells[5] = m->delta[0] ? cell_number(m->delta) : cell_none();
    cells[6] = m->other ? cell_none() : cell_fraction(m->pct);
    return true;
}

/* "; 3 rows only in A" if there are any. */
static char *put_part(char *to, uint64_t n, const char *thing, const char *where)
{
    return n == 0 ? to
                  : to + sprintf(to, "; %llu %s%s%s", (unsigned long long)n, thing,
                                 n == 1 ? "" : "s", where);
}

static void make_note(struct diff *d)
{
    char *p = d->note;

    p += sprintf(p, "%llu row%s, %llu number%s compared: ", (unsigned long long)d->n_rows,
                 d->n_rows == 1 ? "" : "s", (unsigned long long)d->n_cells,
                 d->n_cells == 1 ? "" : "s");
    if (d->n_moved == 0)
        p += sprintf(p, "none moved");
    else if (isinf(d->largest))
        p += sprintf(p, "%llu moved, the largest from zero or nothing",
                     (unsigned long long)d->n_moved);
    else
        p += sprintf(p, "%llu moved, the largest by %.6g %%", (unsigned long long)d->n_moved,
                     d->largest);
    p = put_part(p, d->n_other, "other row", "");
    p = put_part(p, d->n_only_a, "row", " only in A");
    p = put_part(p, d->n_only_b, "row", " only in B");
    p = put_part(p, d->n_columns, "column", " in one of them only");
}

static void write_moves(struct diff *d, struct sink *s)
{
    const struct opts *o = &d->cli->opts;
    struct rows rows = {.columns = columns,
                        .n_columns = sizeof columns / sizeof *columns,
                        .row = move_row,
                        .arg = d,
                        .note = d->note};

    cut_moves(d);
    make_note(d);
    rows.n_rows = d->n_moves;
    cmd_write(d->cli, &rows, s);
    sink_flush(s);
    if (o->format != FORMAT_TABLE && !o->quiet)
        fprintf(stderr, "%s\n", d->note);
}

/* "note: A has topology cube8, B cube16" if both say it and it differs. */
static void note_origin(const char *what, const char *a, const char *b)
{
    if (a && b && strcmp(a, b) != 0)
        fprintf(stderr, "note: A has %s %s, B %s\n", what, a, b);
}

/* The next word of a command line; `len` 0 at its end. Words in quotes may be cut, here and there
 * alike. */
static const char *next_word(const char *from, size_t *len)
{
    from += strspn(from, " ");
    *len = strcspn(from, " ");
    return from;
}

/* Are the command lines the same, but for --format F? */
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

/* Results of other machines may be what is to be compared: no failure. */
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
        fprintf(stderr, "interrupted: no rows compared\n");
    if (code)
        return code;
    if (match_columns(d))
        compare_all(d);
    if (d->code || d->a.code || d->b.code)
        return d->code ? d->code : d->a.code ? d->a.code : d->b.code;
    note_origins(d);
    write_moves(d, s);
    if (stop_asked()) {
        fprintf(stderr, "interrupted: %llu rows compared\n", (unsigned long long)d->n_rows);
        return EXIT_INTERRUPTED;
    }
    return d->exceeds || d->n_other + d->n_only_a + d->n_only_b + d->n_columns > 0 ? EXIT_DIFFERENT
                                                                                   : EXIT_OK;
}

static void free_diff(struct diff *d)
{
    while (d->n_moves > 0)
        free_move(&d->moves[--d->n_moves]);
    free(d->moves);
    free(d->of_b);
    free(d->is_key);
    results_close(&d->a);
    results_close(&d->b);
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
    enum exit_code closed = sink_close(&s, cli->program, *d.note != '\0');
    stop_defer(false);
    free_diff(&d);
    return closed ? closed : code;
}
