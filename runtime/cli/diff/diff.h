/*
 * diff.h -- two files of results, compared: what the parts of `diff` share.
 *
 *     diff.c     the command: opens the files, prints the moves and a note
 *     diff_keys.c     columns by name, rows by their keys
 *     cells.c    the cells of two rows that belong together
 *     moves.c    the largest moves
 */
#ifndef DIFF_H
#define DIFF_H
#include "cli/command.h"
#include "cli/diff/number.h"
#include "cli/diff/diff_results.h"

enum {
    NOTE_BYTES = 512,
    DELTA_BYTES = 48,
};

enum role {
    COMPARED,    /* numbers; texts are keys */
    RESULT_TEXT, /* the same, but texts are not */
    PARAMETER,   /* always a key */
};

/* One line of the output. */
struct move {
    bool other;   /* a row or column that is missing, or another row: printed before all others */
    bool text;    /* has no change in per cent: printed after all others, but see compare_texts() */
    bool has_row; /* it is not about a whole column */
    uint64_t row; /* from 0 */
    size_t column;           /* of A, then those of B alone; SIZE_MAX: a whole row */
    const char *name;        /* of the column, borrowed; NULL: a whole row */
    char *where, *a, *b;     /* owned; NULL: nothing */
    char delta[DELTA_BYTES]; /* "": none */
    double pct;              /* infinite: from zero, from or to an empty cell */
};

struct diff {
    const struct cli *cli;
    struct results a, b;
    size_t *of_b;              /* owned: per column of A its column in B, or SIZE_MAX */
    enum role *role;           /* owned: per column of A */
    bool *selected;            /* owned: per column of A: is it in --columns? */
    uint64_t row;              /* of A: the one that is being compared */
    uint64_t n_rows;           /* compared */
    uint64_t n_cells;          /* numbers that were compared */
    uint64_t n_cells_of_texts; /* texts that were, too */
    uint64_t n_moved, n_texts, n_above, n_other, n_only_a, n_only_b, n_columns;
    double largest;     /* change of a number, per cent */
    struct move *moves; /* owned: at least the --top largest so far */
    size_t n_moves, room;
    bool is_cut; /* the first --top of them are sorted: a smaller one need not be added */
    char note[NOTE_BYTES];
    enum exit_code code;
};

static inline bool diff_is_text(const char *cell)
{
    struct number number;

    return cell && !number_read(cell, &number);
}

/* Does this cell of column `c` of A tell rows apart? */
static inline bool diff_is_key(const struct diff *d, size_t c, const char *cell)
{
    return d->role[c] == PARAMETER || (d->role[c] == COMPARED && diff_is_text(cell));
}

/* The cell of B in column `c` of A, which B has, too. */
static inline const char *diff_cell_of_b(const struct diff *d, size_t c)
{
    return d->b.cells[d->of_b[c]];
}

/* -- moves.c -------------------------------------------------------------------------------- */

/* Keeps `m` with copies of the texts, if it is among the largest; `row` has the cells of its row.
 */
void moves_add(struct diff *d, struct move m, const struct results *row, const char *a,
               const char *b);

/* Sorts what there is, and drops all but the first --top. */
void moves_cut(struct diff *d);
void move_free(struct move *m);

/* -- cells.c -------------------------------------------------------------------------------- */

/* Compares the rows in the cells of A and B, which have the same keys. */
void cells_compare(struct diff *d);

/* -- diff_keys.c ---------------------------------------------------------------------------------
 */

/* Is each name of --columns that of a column of numbers that can be compared? */
bool columns_check(struct diff *d);

/* Finds the columns of A in B. */
bool columns_match(struct diff *d);

/* Compares all rows, each with the one that has the same keys. Failures are in d->code, d->a.code,
 * d->b.code; Ctrl-C ends it early. */
void keys_compare(struct diff *d);

#endif
