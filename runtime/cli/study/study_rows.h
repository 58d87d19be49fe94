/* study_rows.h -- the table of a study: what each variant gains, what binds it, what it costs. */
#ifndef STUDY_ROWS_H
#define STUDY_ROWS_H
#include "cli/study/study_results.h"

enum { STUDY_NOTE_BYTES = 1024 };

/* All zero is none. */
struct study_rows {
    const struct study *s;
    const struct study_results *results;
    uint64_t *order; /* owned: rows to results */
    bool *on_front;  /* owned: of each result */
    size_t n, n_failed;
    struct column columns[ROW_CELLS_MAX];
    size_t n_columns, n_front; /* before those of keys */
    char note[STUDY_NOTE_BYTES];
    struct study_variant shown; /* in the row that is printed */
};

/* Rows of all results that are there, the best of each command first. Give back with
 * study_rows_free(). */
struct rows study_rows(struct study_rows *r, const struct study *s,
                       const struct study_results *results);
void study_rows_free(struct study_rows *r);

#endif
