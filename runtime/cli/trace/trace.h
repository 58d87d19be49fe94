/* trace.h -- `--trace`: the events of a simulation, as a timeline in a file. */
#ifndef TRACE_H
#define TRACE_H
#include "cli/command.h"

struct trace;

/*
 * Begins the file that --trace names; *out is NULL if it names none. It is opened first, so that
 * a folder without write permission is reported before a long run, not after it. Give it back with
 * trace_close().
 *
 * returns  EXIT_OK, EXIT_USAGE or EXIT_SYSTEM after a message
 */
enum exit_code trace_open(struct trace **out, const struct cli *cli);

/* Records the events of `sim`, which has not begun, in `trace` (NULL: nothing is recorded). */
kb_status trace_observe(struct trace *trace, kb_sim *sim, kb_error *why);

/* For tests: the observer of trace_observe(). */
kb_observer trace_callbacks(struct trace *trace);

/*
 * Ends open slices and the file (NULL: there is none) after the run. The file is kept if `code`,
 * that of the command, leaves a result.
 *
 * returns  `code`, or EXIT_SYSTEM after a message
 */
enum exit_code trace_close(struct trace *trace, enum exit_code code);

#endif
