/* study_run.h -- all commands of a study on all its variants. */
#ifndef STUDY_RUN_H
#define STUDY_RUN_H
#include "cli/study/study_results.h"

/*
 * Runs all commands on the variants from `from` on, in their order, the base machine first, or the
 * part of --shard of these runs. What `cli->sqlite` or the journal has already is taken from there.
 *
 * returns  EXIT_OK, also where runs failed, after a message for each: results->failed;
 *          EXIT_INTERRUPTED; another code after a message: there are no results
 */
enum exit_code study_run(const struct study *s, uint64_t from, struct study_results *results);

#endif
