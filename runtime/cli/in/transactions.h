/* transactions.h -- the input of `replay`: a CSV of transactions, read into a simulation. */
#ifndef TRANSACTIONS_H
#define TRANSACTIONS_H
#include "cli/exit.h"
#include "kernbench.h"

/* What a row does: an operation, or with several targets a multicast. */
enum { N_OPS = KB_D2H + 1, ROW_MREAD = N_OPS, ROW_MWRITE, N_ROW_OPS };

extern const char *const op_names[N_ROW_OPS]; /* as the column `op` has them; the first N_OPS by
                                                 kb_transaction_op */

/* What a row with that request does. */
uint32_t row_op(const kb_transaction *q);

/* The targets of multicasts, as they were written. All zero: none. */
struct targets_texts {
    struct targets_text {
        uint64_t id;
        char *text; /* owned */
    } * rows;       /* owned; in order of their ids */
    size_t n, room;
};

/* Those of row `id`; NULL: it is no multicast. */
const char *targets_text(const struct targets_texts *texts, uint64_t id);
void targets_texts_free(struct targets_texts *texts);

/* Does a text of `n` bytes begin as a global address, "0x8000"? Reads it; false: it is none. */
bool is_address_text(const char *text, size_t n);
bool read_address(const char *text, size_t n, uint64_t *out);

/* The first rows of a file, which only fill caches: each is issued in `sim` when the one before it
 * has ended. */
struct warm_rows {
    uint64_t n;
    kb_sim *sim; /* borrowed */
};

/*
 * Adds the rows of `path` ("-": stdin) to `sim`. What is wrong with them goes to stderr, each
 * row once, as FILE:LINE:COL; and progress, unless `quiet`. `texts` (may be NULL) gets the targets
 * of multicasts. `warm` (may be NULL) gets the first rows; the others are numbered from 0.
 *
 * returns  EXIT_OK, EXIT_INPUT, EXIT_SYSTEM; EXIT_INTERRUPTED if stop_asked() while reading
 */
enum exit_code transactions_read(const kb_topology *topo, const char *program, const char *path,
                                 bool quiet, kb_sim *sim, const struct warm_rows *warm,
                                 struct targets_texts *texts);

/* Are there transactions in memory (query.h), which "-" reads in place of stdin, any number of
 * times? */
bool transactions_in_memory(void);

#endif
