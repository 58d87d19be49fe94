/* row_waits.h -- what the rows of a file wait for: its columns after and think_ns. */
#ifndef ROW_WAITS_H
#define ROW_WAITS_H
#include "cli/in/in_fields.h"
#include "kernbench.h"

/*
 * A row that waits for itself or for a later one, so that only the end of the file tells whether
 * that is there, and whether it waits in turn: every cycle's first row is such a one.
 */
struct row_place {
    uint64_t row, line;
    uint64_t last_id; /* the largest it waits for */
    uint32_t after_column, last_id_column;
};

/* For row_waits_free(). */
struct row_waits {
    struct fields *fields;
    kb_sim *sim;
    uint64_t n_warm; /* rows that only fill caches: they are the first, and not in `sim` */

    /* Of the current row. */
    uint64_t *ids; /* owned */
    size_t n_ids, ids_room;
    int64_t think_fs;
    struct row_place place;

    /* Of the whole file. */
    struct row_place *places; /* in order; owned */
    size_t n_places, places_room;
};

/* The fields of the current row; false: they are wrong, which has been said. */
bool row_waits_read(struct row_waits *w, const struct field *after, const struct field *think);

/* Rows that only fill caches have ended at 0, before all others begin: what waits for them does not
 * any more, but thinks. */
void row_waits_leave_warm(struct row_waits *w, int64_t *issue_fs);

/* For the row that was added last. KB_OK, though what is wrong has been said, or KB_NO_MEMORY. */
kb_status row_waits_add(struct row_waits *w);

/* At the end of the file. KB_OK, though what is wrong has been said, or KB_NO_MEMORY. */
kb_status row_waits_check(struct row_waits *w);

void row_waits_free(struct row_waits *w);

#endif
