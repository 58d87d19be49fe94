/*
 * diff_keys.c -- which row of one file belongs to which of the other: the columns that tell rows
 * apart.
 *
 * The roles of columns are in diff.c. Matching has three stages, each tried as long as it works:
 *
 *     in step     The files are read together, and keys of row i are compared with those of row i.
 *                 Two files of the same command never leave this stage, and no row is kept.
 *     by keys     From the first difference on all rows are kept, and those of B are found by a
 *                 hash of their keys, in a table with open addressing.
 *     in order    If any two rows of a file have the same hash: row i with row i again; a pair with
 *                 different keys is reported as "another row".
 *
 * The second stage compares the keys of a pair once more, so that a collision of hashes between
 * files cannot pair two rows that do not belong together.
 */
#include "cli/diff/diff.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "cli/out/stop.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_BETWEEN_LOOKS = 1024 }; /* at Ctrl-C */

/* -- columns -------------------------------------------------------------------------------- */

/* Columns of numbers that describe the input of a row; so do keys of a topology, with a point. */
static const char *const parameters[] = {"id",  "hop",      "nbytes", "bytes",
                                         "pes", "inflight", "txns",   "rate"};

/* Texts of these columns are results, or describe them: they do not tell rows apart. */
static const char *const result_texts[] = {"busiest_memory", "busiest_link", "verify",
                                           "value",          "notes",        "type",
                                           "default",        "range",        "summary"};

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

/* The next name of a list; false at its end. */
static bool next_name(const char **list, const char **name, size_t *len)
{
    if (!*list)
        return false;
    *name = *list;
    *len = strcspn(*list, ",");
    *list = (*list)[*len] ? *list + *len + 1 : NULL;
    return true;
}

/* Is the column in --columns? Without the option all are. */
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

bool columns_check(struct diff *d)
{
    const struct results *r = d->a.n_columns > 0 ? &d->a : &d->b;
    const char *list = d->cli->opts.columns, *word;
    size_t len;

    while (r->n_columns > 0 && next_name(&list, &word, &len)) {
        char *name = memory_part(word, len);

        if (find_column(&d->a, name) == SIZE_MAX && find_column(&d->b, name) == SIZE_MAX)
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
    moves_add(d, (struct move){.other = true, .column = c, .name = name}, NULL,
              in_a ? "present" : "missing", in_a ? "missing" : "present");
}

/* Columns are found by name, in any order. JSON without rows has none. */
bool columns_match(struct diff *d)
{
    const struct results *a = &d->a, *b = &d->b;

    d->of_b = memory_new(a->n_columns + 1, sizeof *d->of_b);
    d->role = memory_new(a->n_columns + 1, sizeof *d->role);
    d->selected = memory_new(a->n_columns + 1, sizeof *d->selected);
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

/* -- rows ----------------------------------------------------------------------------------- */

/* Keys are the same if they are written alike, or are the same number. */
static bool same_key(const char *a, const char *b)
{
    struct number x, y;

    if (!a || !b)
        return a == b;
    return strcmp(a, b) == 0 || (number_read(a, &x) && number_read(b, &y) && x.exact && y.exact &&
                                 x.millionths == y.millionths);
}

/* The first column with different keys; SIZE_MAX if it is the same row. */
static size_t other_key(const struct diff *d)
{
    for (size_t c = 0; c < d->a.n_columns; c++) {
        if (d->of_b[c] == SIZE_MAX || d->role[c] == RESULT_TEXT)
            continue;
        const char *a = d->a.cells[c], *b = diff_cell_of_b(d, c);

        if (a == b || (a && b && strcmp(a, b) == 0))
            continue;
        if (d->role[c] == PARAMETER ? !same_key(a, b) : diff_is_text(a) || diff_is_text(b))
            return c;
    }
    return SIZE_MAX;
}

/* Compares two rows, or reports another row by the first key that differs. */
static void compare_in_place(struct diff *d)
{
    size_t c = other_key(d);

    if (c == SIZE_MAX) {
        cells_compare(d);
        return;
    }
    moves_add(
        d,
        (struct move){
            .other = true, .has_row = true, .row = d->row, .column = c, .name = d->a.columns[c]},
        &d->a, d->a.cells[c], diff_cell_of_b(d, c));
    d->n_other++;
    d->n_rows++;
}

/* Reports the row in the cells of `r`, which the other file does not have. */
static void only_in(struct diff *d, const struct results *r, uint64_t row)
{
    bool in_a = r == &d->a;

    d->n_only_a += in_a;
    d->n_only_b += !in_a;
    moves_add(d, (struct move){.other = true, .has_row = true, .row = row, .column = SIZE_MAX}, r,
              in_a ? "present" : "missing", in_a ? "missing" : "present");
}

/* False after a failure or Ctrl-C, which is checked every 1024 rows. */
static bool goes_on(const struct diff *d, uint64_t row)
{
    return !d->code && !(row % ROWS_BETWEEN_LOOKS == 0 && stop_asked());
}

/* -- rows by their keys --------------------------------------------------------------------- */

struct kept {
    char *row;     /* of results_keep() */
    uint64_t hash; /* of its keys */
};

/* The rows of a file from the first one that is not the other file's. */
struct rest {
    struct results *r;
    uint64_t first;    /* row of the file */
    struct kept *kept; /* owned */
    size_t n, room;
    size_t *slot; /* owned: a hash table; 1 + the index of a row, 0: free */
    size_t mask;
};

static void add_bytes(uint64_t *hash, const void *bytes, size_t n)
{
    for (const unsigned char *p = bytes; n > 0; n--)
        *hash = (*hash ^ *p++) * 0x100000001b3;
}

/* FNV-1a of the keys of the row in r->cells; 64 and 64.0 have the same hash. */
static uint64_t hash_keys(const struct diff *d, const struct results *r)
{
    uint64_t hash = 0xcbf29ce484222325;

    for (size_t c = 0; c < d->a.n_columns; c++) {
        const char *cell = d->of_b[c] == SIZE_MAX ? NULL : r->cells[r == &d->a ? c : d->of_b[c]];
        struct number number;

        if (!cell || !diff_is_key(d, c, cell))
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
        rest->kept = memory_room(rest->kept, rest->n, &rest->room, sizeof *rest->kept);
        uint64_t hash = hash_keys(d, rest->r);
        rest->kept[rest->n++] = (struct kept){results_keep(rest->r), hash};
        if (!goes_on(d, rest->n))
            return false;
    } while (results_next(rest->r));
    return !rest->r->code;
}

/* The slot of the hash, or the free slot where it belongs. */
static size_t *find_slot(const struct rest *rest, uint64_t hash)
{
    size_t i = hash & rest->mask;

    while (rest->slot[i] > 0 && rest->kept[rest->slot[i] - 1].hash != hash)
        i = (i + 1) & rest->mask;
    return &rest->slot[i];
}

/*
 * Fills the slots. False: two rows have the same keys. Keys that
 * differ and have the same hash count as the same: then rows go in order, which is never wrong.
 */
static bool index_rest(struct rest *rest)
{
    size_t slots = 1;

    while (slots < 2 * rest->n)
        slots *= 2;
    rest->mask = slots - 1;
    rest->slot = memory_new(slots, sizeof *rest->slot);
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
    cells_compare(d);
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

/* Compares the last two rows, which have different keys, and all that follow. */
static void compare_rest(struct diff *d)
{
    struct rest a = {.r = &d->a, .first = d->n_rows}, b = {.r = &d->b, .first = d->n_rows};

    if (keep_rest(d, &a) && keep_rest(d, &b)) {
        bool unique = index_rest(&a) && index_rest(&b);

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

void keys_compare(struct diff *d)
{
    bool a, b;

    while ((a = results_next(&d->a), b = results_next(&d->b), a && b) && goes_on(d, d->n_rows)) {
        if (other_key(d) != SIZE_MAX) {
            compare_rest(d);
            return;
        }
        d->row = d->n_rows;
        cells_compare(d);
    }
    if (d->a.code || d->b.code || a == b)
        return;
    struct results *longer = a ? &d->a : &d->b;
    uint64_t row = d->n_rows;
    do
        only_in(d, longer, row++);
    while (goes_on(d, row) && results_next(longer));
}
