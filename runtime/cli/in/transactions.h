/* transactions.h -- the input of `replay`: a CSV of transactions, read into a simulation. */
#ifndef TRANSACTIONS_H
#define TRANSACTIONS_H
#include "cli/exit.h"
#include "kernbench.h"

enum { N_OPS = KB_D2H + 1 };

extern const char *const op_names[N_OPS]; /* as the column `op` has them, by kb_transaction_op */

/* Does a text of `n` bytes begin as a global address, "0x8000"? Reads it; false: it is none. */
bool is_address_text(const char *text, size_t n);
bool read_address(const char *text, size_t n, uint64_t *out);

/*
 * Adds the rows of `path` ("-": stdin) to `sim`. What is wrong with them goes to stderr, each
 * row once, as FILE:LINE:COL; and progress, unless `quiet`.
 *
 * returns  EXIT_OK, EXIT_INPUT, EXIT_SYSTEM; EXIT_INTERRUPTED if stop_asked() while reading
 */
enum exit_code transactions_read(const kb_topology *topo, const char *program, const char *path,
                                 bool quiet, kb_sim *sim);

/* Are there transactions in memory (query.h), which "-" reads in place of stdin, any number of
 * times? */
bool transactions_in_memory(void);

#endif
