/* trace.h -- `--trace`: what happens in a simulation, as a timeline in a file. */
#ifndef TRACE_H
#define TRACE_H
#include "cli/command.h"

struct trace;

/*
 * Begins the file that --trace names; *out is NULL if it names none. It is opened first: a folder
 * that cannot be written to is not found out after hours. Give it back with trace_close().
 *
 * returns  EXIT_OK, EXIT_USAGE or EXIT_SYSTEM after a message
 */
enum exit_code trace_open(struct trace **out, const struct cli *cli);

/* Has `trace` (may be NULL) told what happens in `sim`, which has not begun. */
kb_status trace_watch(struct trace *trace, kb_sim *sim, kb_error *why);

/* For tests: what would be told. */
kb_observer trace_callbacks(struct trace *trace);

/*
 * Ends what is in flight, and the file; NULL is none. It stays if `code`, what the command has come
 * to, leaves a result. Called once the simulation no longer runs.
 *
 * returns  `code`, or EXIT_SYSTEM after a message
 */
enum exit_code trace_close(struct trace *trace, enum exit_code code);

#endif
