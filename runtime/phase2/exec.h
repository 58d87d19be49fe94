/* exec.h -- Phase 2: computes the operations that a log has kept, in several threads. */
#ifndef EXEC_H
#define EXEC_H
#include "phase2/cone.h"

/*
 * Computes all operations of `log` that are not yet computed. Results are the same bytes for any
 * number of threads.
 *
 * topo       for the names of components in `why`; NULL: numbers instead
 * options    threads 1: only the calling thread; verify_ops: see reference.h
 * returns    KB_DIFFERENT: an operation is wrong; KB_INTERNAL: an operand that no operation makes;
 *            KB_STOPPED; KB_NO_MEMORY. Results so far stay, and another call computes the rest.
 */
kb_status exec_run(struct op_log *log, const struct kb_topology *topo,
                   const struct kb_compute_options *options, kb_error *why);

/*
 * While a run goes on: drops the operations of `log` whose results nothing can ask for any more,
 * and computes the others, so that their operands are given back; options NULL: only drops. Returns
 * as exec_run().
 */
kb_status exec_kept(struct op_log *log, const struct under_way *under_way,
                    const struct kb_topology *topo, const struct kb_compute_options *options,
                    kb_error *why);

/* Computes those operations that `v` depends on, so that version_bytes() has its bytes. Returns as
 * exec_run(). */
kb_status exec_value(struct op_log *log, const struct under_way *under_way,
                     const struct kb_topology *topo, struct version *v,
                     const struct kb_compute_options *options, kb_error *why);

#endif
