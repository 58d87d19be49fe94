/* diff.c -- `diff`: two files of results, row by row, and what moved most. */
#include "cli/command.h"
#include "cli/diff/number.h"
#include "cli/diff/results.h"
#include "cli/out/say.h"
#include "cli/out/stop.h"
#include "base/text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Rows are gone through in order for as long as their keys are the same, and nothing is kept of
 * them. From the first that differ on, all rows are kept: those of either file by the hashes of
 * their keys, if no two are alike.
 */

enum {
    ROWS_BETWEEN_LOOKS = 1024, /* at Ctrl-C */
    WHERE_BYTES = 120,
    WORD_BYTES = 8, /* room that text_show() can cut a word to */
    NOTE_BYTES = 512,
    DELTA_BYTES = 48,
};

static const struct column columns[] = {
    COLUMN_BY_HAND("row", CELL_COUNT),
    COLUMN_BY_HAND("where", CELL_TEXT),
    COLUMN_BY_HAND("column", CELL_TEXT),
    COLUMN_BY_HAND("a", CELL_COUNT),
    COLUMN_BY_HAND("b", CELL_COUNT),
    COLUMN_BY_HAND("delta", CELL_COUNT),
    COLUMN_BY_HAND("change_pct", CELL_FRACTION),
};

/* Numbers that say what a row is of, not what came of it; keys of a topology have a point. */
static const char *const parameters[] = {"id",  "hop",      "nbytes", "bytes",
                                         "pes", "inflight", "txns",   "rate"};

/* Columns whose texts are what came of a row, or say more about it: they do not tell rows apart. */
static const char *const result_texts[] = {"busiest_memory", "busiest_link", "verify", "value",
                                           "type",           "default",      "range",  "summary"};

enum role {
    COMPARED,    /* numbers; texts are keys */
    RESULT_TEXT, /* the same, but texts are not */
    PARAMETER,   /* always a key */
};

/* One line of the output. */
struct move {
    bool other; /* another row, one that is missing, a column that is missing: before all others */
    bool text;  /* no change in per cent: behind all others, if it is not above every bound */
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
    enum role *role;  /* owned: the same */
    bool *selected;   /* owned: the same; by --columns */
    uint64_t row;     /* of A, that is compared */
    uint64_t n_rows;  /* compared */
    uint64_t n_cells; /* numbers of them */
    uint64_t n_moved, n_texts, n_above, n_other, n_only_a, n_only_b, n_columns;
    double largest;     /* change of a number, per cent */
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

static bool is_text(const char *cell)
{
    struct number number;

    return cell && !number_read(cell, &number);
}

/* Does this cell of column `c` of A tell rows apart? */
static bool is_key(const struct diff *d, size_t c, const char *cell)
{
    return d->role[c] == PARAMETER || (d->role[c] == COMPARED && is_text(cell));
}

/* What the row is of: the keys of A's, or of B's if there is none in A. NULL without memory. */
static char *row_name(const struct diff *d, const struct results *r)
{
    char text[WHERE_BYTES] = "";
    size_t n = 0;

    for (size_t c = 0; c < d->a.n_columns && n + 1 + WORD_BYTES <= sizeof text; c++) {
        size_t at = r == &d->a ? c : d->of_b[c];
        const char *cell = at == SIZE_MAX ? NULL : r->cells[at];

        if (!cell || !is_key(d, c, cell))
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
static void put_delta(char delta[DELTA_BYTES], const struct number *a, const struct number *b,
                      bool decimals)
{
    double rough = b->value - a->value;
    int n = 0;

    delta[0] = '\0';
    if (a->exact && b->exact)
        *number_put(delta, b->millionths - a->millionths, decimals) = '\0';
    else if (isfinite(rough))
        n = snprintf(delta, DELTA_BYTES, "%.6f", rough);
    if (n >= DELTA_BYTES)
        snprintf(delta, DELTA_BYTES, "%.17g", rough);
}

static void moved(struct diff *d, struct move *m, enum verdict verdict, const char *a,
                  const char *b)
{
    d->n_moved++;
    d->n_above += verdict == EXCEEDS;
    d->largest = fmax(d->largest, fabs(m->pct));
    add_move(d, *m, &d->a, a, b);
}

/* A number as others of its column are written, if that loses nothing: JSON may have cut zeros. */
static const char *written(char text[DELTA_BYTES], const char *cell, const struct number *n,
                           bool decimals)
{
    if (!n->exact || !decimals)
        return cell;
    *number_put(text, n->millionths, true) = '\0';
    return text;
}

/* A number, or nothing, in a column that is no key. */
static void compare_numbers(struct diff *d, size_t c, const char *a, const char *b)
{
    struct move m = {.has_row = true, .row = d->row, .column = c, .name = d->a.columns[c]};
    char a_text[DELTA_BYTES], b_text[DELTA_BYTES];
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
        bool decimals = strchr(a, '.') || strchr(b, '.');
        m.pct = percent(&x, &y);
        put_delta(m.delta, &x, &y, decimals);
        a = written(a_text, a, &x, decimals);
        b = written(b_text, b, &y, decimals);
    }
    moved(d, &m, verdict, a, b);
}

/* No text is a little different: it is above a bound of 0 only, but for a verification that fails.
 */
static void compare_texts(struct diff *d, size_t c, const char *a, const char *b)
{
    struct move m = {
        .text = true, .has_row = true, .row = d->row, .column = c, .name = d->a.columns[c]};
    bool fails = b && strcmp(m.name, "verify") == 0 && strcmp(b, "fail") == 0;

    if (a && b && strcmp(a, b) == 0)
        return;
    m.pct = fails ? INFINITY : 0;
    d->n_texts++;
    d->n_above += fails || d->cli->opts.bound == 0;
    add_move(d, m, &d->a, a, b);
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

/* The first column whose keys differ; SIZE_MAX if it is the same row. */
static size_t other_key(const struct diff *d)
{
    for (size_t c = 0; c < d->a.n_columns; c++) {
        if (d->of_b[c] == SIZE_MAX || d->role[c] == RESULT_TEXT)
            continue;
        const char *a = d->a.cells[c], *b = cell_of_b(d, c);

        if (a == b || (a && b && strcmp(a, b) == 0))
            continue;
        if (d->role[c] == PARAMETER ? !same_key(a, b) : is_text(a) || is_text(b))
            return c;
    }
    return SIZE_MAX;
}

static void compare_cells(struct diff *d)
{
    for (size_t c = 0; c < d->a.n_columns && !d->code; c++) {
        if (d->of_b[c] == SIZE_MAX || !d->selected[c] || d->role[c] == PARAMETER)
            continue;
        const char *a = d->a.cells[c], *b = cell_of_b(d, c);

        if (d->role[c] == RESULT_TEXT && (is_text(a) || is_text(b)))
            compare_texts(d, c, a, b);
        else if (!is_text(a))
            compare_numbers(d, c, a, b);
    }
    d->n_rows++;
}

/* The same, unless it is another row, which is told by the first key that differs. */
static void compare_in_place(struct diff *d)
{
    size_t c = other_key(d);

    if (c == SIZE_MAX) {
        compare_cells(d);
        return;
    }
    add_move(
        d,
        (struct move){
            .other = true, .has_row = true, .row = d->row, .column = c, .name = d->a.columns[c]},
        &d->a, d->a.cells[c], cell_of_b(d, c));
    d->n_other++;
    d->n_rows++;
}

/* A row, in the cells of `r`, that the other file does not have. */
static void only_in(struct diff *d, const struct results *r, uint64_t row)
{
    bool in_a = r == &d->a;

    d->n_only_a += in_a;
    d->n_only_b += !in_a;
    add_move(d, (struct move){.other = true, .has_row = true, .row = row, .column = SIZE_MAX}, r,
             in_a ? "present" : "missing", in_a ? "missing" : "present");
}

/* Ctrl-C is looked for now and then. */
static bool goes_on(const struct diff *d, uint64_t row)
{
    return !d->code && !(row % ROWS_BETWEEN_LOOKS == 0 && stop_asked());
}

/* -- rows by their keys --------------------------------------------------------------------- */

struct kept {
    char *row;     /* of results_keep() */
    uint64_t hash; /* of its keys */
};

/* What a file has from the first row on that is not the other file's. */
struct rest {
    struct results *r;
    uint64_t first;    /* row of the file */
    struct kept *kept; /* owned */
    size_t n, room;
    size_t *slot; /* owned: 1 + the index of a row, by its hash; 0: none */
    size_t mask;
};

static void add_bytes(uint64_t *hash, const void *bytes, size_t n)
{
    for (const unsigned char *p = bytes; n > 0; n--)
        *hash = (*hash ^ *p++) * 0x100000001b3;
}

/* FNV-1a, of the keys of the row in r->cells. Keys that are the same have the same hash. */
static uint64_t hash_keys(const struct diff *d, const struct results *r)
{
    uint64_t hash = 0xcbf29ce484222325;

    for (size_t c = 0; c < d->a.n_columns; c++) {
        const char *cell = d->of_b[c] == SIZE_MAX ? NULL : r->cells[r == &d->a ? c : d->of_b[c]];
        struct number number;

        if (!cell || !is_key(d, c, cell))
            continue;
        add_bytes(&hash, &c, sizeof c);
        if (number_read(cell, &number) && number.exact)
            add_bytes(&hash, &number.millionths, sizeof number.millionths);
        else
            add_bytes(&hash, cell, strlen(cell));
    }
    return hash ^ hash >> 32;
}

/* Keeps the row that was read, and all that follow. False: d->code, r->code or Ctrl-C. */
static bool keep_rest(struct diff *d, struct rest *rest)
{
    do {
        if (rest->n == rest->room) {
            size_t room = 2 * rest->room + ROWS_BETWEEN_LOOKS;
            struct kept *more = realloc(rest->kept, room * sizeof *more);

            if (!more) {
                d->code = say(d->cli->program, EXIT_SYSTEM, "out of memory");
                return false;
            }
            rest->kept = more;
            rest->room = room;
        }
        uint64_t hash = hash_keys(d, rest->r);
        rest->kept[rest->n++] = (struct kept){results_keep(rest->r), hash};
        if (!goes_on(d, rest->n))
            return false;
    } while (results_next(rest->r));
    return !rest->r->code;
}

/* The slot that has the hash, or where it would be. */
static size_t *find_slot(const struct rest *rest, uint64_t hash)
{
    size_t i = hash & rest->mask;

    while (rest->slot[i] > 0 && rest->kept[rest->slot[i] - 1].hash != hash)
        i = (i + 1) & rest->mask;
    return &rest->slot[i];
}

/*
 * Fills the slots. False: two rows have the same keys, or there is no memory, d->code. Keys that
 * differ and have the same hash count as the same: then rows go in order, which is never wrong.
 */
static bool index_rest(struct diff *d, struct rest *rest)
{
    size_t slots = 1;

    while (slots < 2 * rest->n)
        slots *= 2;
    rest->mask = slots - 1;
    rest->slot = calloc(slots, sizeof *rest->slot);
    if (!rest->slot) {
        d->code = say(d->cli->program, EXIT_SYSTEM, "out of memory");
        return false;
    }
    for (size_t i = 0; i < rest->n; i++) {
        size_t *slot = find_slot(rest, rest->kept[i].hash);

        if (*slot > 0)
            return false;
        *slot = i + 1;
    }
    return true;
}

/* Puts row `i` into the cells of its file. */
static void take(const struct rest *rest, size_t i)
{
    results_take(rest->r, rest->kept[i].row);
}

/* Takes the row of `b` that has the same keys as row `i` of `a`, and compares the two. A row of
 * `b` without a hash has been compared. */
static void compare_by_key(struct diff *d, const struct rest *a, struct rest *b, size_t i)
{
    size_t at = *find_slot(b, a->kept[i].hash);

    take(a, i);
    d->row = a->first + i;
    if (at > 0)
        take(b, at - 1);
    if (at == 0 || other_key(d) != SIZE_MAX) {
        only_in(d, &d->a, d->row);
        return;
    }
    compare_cells(d);
    b->kept[at - 1].row = NULL;
}

static void match_by_keys(struct diff *d, struct rest *a, struct rest *b)
{
    for (size_t i = 0; i < a->n && goes_on(d, i); i++)
        compare_by_key(d, a, b, i);
    for (size_t i = 0; i < b->n && goes_on(d, i); i++)
        if (b->kept[i].row) {
            take(b, i);
            only_in(d, &d->b, b->first + i);
        }
}

static void match_in_order(struct diff *d, const struct rest *a, const struct rest *b)
{
    for (size_t i = 0; (i < a->n || i < b->n) && goes_on(d, i); i++) {
        if (i < a->n)
            take(a, i);
        if (i < b->n)
            take(b, i);
        d->row = a->first + i;
        if (i >= a->n || i >= b->n)
            only_in(d, i < a->n ? &d->a : &d->b, d->row);
        else
            compare_in_place(d);
    }
}

/* From the rows on that were read last, one of each file, which are not the same. */
static void compare_rest(struct diff *d)
{
    struct rest a = {.r = &d->a, .first = d->n_rows}, b = {.r = &d->b, .first = d->n_rows};

    if (keep_rest(d, &a) && keep_rest(d, &b)) {
        bool unique = index_rest(d, &a) && index_rest(d, &b);

        if (unique)
            match_by_keys(d, &a, &b);
        else if (!d->code)
            match_in_order(d, &a, &b);
    }
    free(a.kept);
    free(a.slot);
    free(b.kept);
    free(b.slot);
}

static void compare_all(struct diff *d)
{
    bool a, b;

    while ((a = results_next(&d->a), b = results_next(&d->b), a && b) && goes_on(d, d->n_rows)) {
        if (other_key(d) != SIZE_MAX) {
            compare_rest(d);
            return;
        }
        d->row = d->n_rows;
        compare_cells(d);
    }
    if (d->a.code || d->b.code || a == b)
        return;
    struct results *longer = a ? &d->a : &d->b;
    uint64_t row = d->n_rows;
    do
        only_in(d, longer, row++);
    while (goes_on(d, row) && results_next(longer));
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

static enum role role_of(const char *name)
{
    for (size_t i = 0; i < sizeof result_texts / sizeof *result_texts; i++)
        if (strcmp(name, result_texts[i]) == 0)
            return RESULT_TEXT;
    return is_parameter(name) ? PARAMETER : COMPARED;
}

/* The name at `*list`, and goes behind it; false at the end. */
static bool next_name(const char **list, const char **name, size_t *len)
{
    if (!*list)
        return false;
    *name = *list;
    *len = strcspn(*list, ",");
    *list = (*list)[*len] ? *list + *len + 1 : NULL;
    return true;
}

/* By --columns; without it all are. */
static bool is_selected(const struct diff *d, const char *column)
{
    const char *list = d->cli->opts.columns, *name;
    size_t len;

    if (!list)
        return true;
    while (next_name(&list, &name, &len))
        if (strlen(column) == len && memcmp(column, name, len) == 0)
            return true;
    return false;
}

/* Is each name of --columns that of a column whose numbers can be compared? */
static bool check_selected(struct diff *d)
{
    const struct results *r = d->a.n_columns > 0 ? &d->a : &d->b;
    const char *list = d->cli->opts.columns, *word;
    size_t len;

    while (r->n_columns > 0 && next_name(&list, &word, &len)) {
        char *name = strndup(word, len);

        if (!name)
            d->code = say(d->cli->program, EXIT_SYSTEM, "out of memory");
        else if (find_column(&d->a, name) == SIZE_MAX && find_column(&d->b, name) == SIZE_MAX)
            d->code = say_unknown(d->cli->program, "column", "", name, r->columns, r->n_columns);
        else if (is_parameter(name))
            d->code = say(d->cli->program, EXIT_USAGE,
                          "--columns: '%s' tells rows apart, it is not compared", name);
        free(name);
        if (d->code)
            return false;
    }
    return true;
}

static void missing_column(struct diff *d, const char *name, size_t c, bool in_a)
{
    if (!is_selected(d, name))
        return;
    d->n_columns++;
    add_move(d, (struct move){.other = true, .column = c, .name = name}, NULL,
             in_a ? "present" : "missing", in_a ? "missing" : "present");
}

/* By name: their order does not count. JSON without rows knows none of them. */
static bool match_columns(struct diff *d)
{
    const struct results *a = &d->a, *b = &d->b;

    d->of_b = malloc((a->n_columns + 1) * sizeof *d->of_b);
    d->role = malloc((a->n_columns + 1) * sizeof *d->role);
    d->selected = malloc((a->n_columns + 1) * sizeof *d->selected);
    if (!d->of_b || !d->role || !d->selected) {
        d->code = say(d->cli->program, EXIT_SYSTEM, "out of memory");
        return false;
    }
    for (size_t c = 0; c < a->n_columns; c++) {
        d->of_b[c] = find_column(b, a->columns[c]);
        d->role[c] = role_of(a->columns[c]);
        d->selected[c] = is_selected(d, a->columns[c]);
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
    cells[6] = m->other || m->text ? cell_none() : cell_fraction(m->pct);
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
        p += sprintf(p, "%llu moved, the largest by %.6g %%", (unsigned long long)d->n_moved,
                     d->largest);
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
    if (check_selected(d) && match_columns(d))
        compare_all(d);
    if (d->code || d->a.code || d->b.code)
        return d->code ? d->code : d->a.code ? d->a.code : d->b.code;
    note_origins(d);
    write_moves(d, s);
    if (stop_asked()) {
        fprintf(stderr, "interrupted: %llu rows compared\n", (unsigned long long)d->n_rows);
        return EXIT_INTERRUPTED;
    }
    return d->n_above + d->n_other + d->n_only_a + d->n_only_b + d->n_columns > 0 ? EXIT_DIFFERENT
                                                                                  : EXIT_OK;
}

static void free_diff(struct diff *d)
{
    while (d->n_moves > 0)
        free_move(&d->moves[--d->n_moves]);
    free(d->moves);
    free(d->of_b);
    free(d->role);
    free(d->selected);
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
