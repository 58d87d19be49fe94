/* exec.h -- Phase 2: computes what a log has kept, by threads of our own. */
#ifndef EXEC_H
#define EXEC_H
#include "record/oplog.h"

/*
 * Computes all operations that `log` has kept and that are not yet computed. Results are the same
 * bytes for any number of threads.
 *
 * topo       for the names of components in `why`; NULL: numbers
 * options    one thread: none is made; verify_ops: see plain.h
 * returns    KB_DIFFERENT: one is wrong; KB_INTERNAL: an operand that nothing computes; KB_STOPPED;
 *            KB_NO_MEMORY; what was computed until then stays, the rest may be tried again
 */
kb_status exec_run(struct op_log *log, const struct kb_topology *topo,
                   const struct kb_compute_options *options, kb_error *why);

#endif
