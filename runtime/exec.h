/* exec.h -- Phase 2: computes what a log has kept, by threads of our own. */
#ifndef EXEC_H
#define EXEC_H
#include "op.h"

/*
 * Computes all operations that `log` has kept and that are not yet computed. Results are the same
 * bytes for any number of threads.
 *
 * topo       for the names of components in `why`; NULL: numbers
 * threads    0: as many as processors; 1: none is made
 * verify_ops each is computed again by plain loops and compared (plain.h)
 * returns    KB_DIFFERENT: one is wrong; KB_INTERNAL: an operand that nothing computes;
 *            KB_NO_MEMORY; what was computed until then stays, the rest may be tried again
 */
kb_status exec_run(struct op_log *log, const struct kb_topology *topo, unsigned threads,
                   bool verify_ops, kb_error *why);

#endif
