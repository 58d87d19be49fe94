/* batches.h -- iterations of requests that are not alike: of a file, or one by one of a program. */
#ifndef BATCHES_H
#define BATCHES_H
#include "cli/llm/llm_asked.h"
#include "cli/out/session.h"

/* Simulates those of --iterations; each has its rows. */
enum exit_code batches_of_file(struct llm *l);

/* Simulates those that a program asks for, until it has no more. */
enum exit_code batches_of_program(struct llm *l, struct session *session);

#endif
