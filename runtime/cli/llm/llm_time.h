/* llm_time.h -- what a language model takes on a machine, without rows. */
#ifndef LLM_TIME_H
#define LLM_TIME_H
#include "cli/command.h"

/*
 * Simulates the one batch that `cli` asks for, whose operand is the model. *fs: what a token takes,
 * or the prompts, if no tokens are asked for.
 *
 * returns  EXIT_OK, or a code after a message, as llm
 */
enum exit_code llm_time(const struct cli *cli, int64_t *fs);

/* Are tokens asked for? Else it is the time of prompts. */
bool llm_times_tokens(const struct opts *o);

#endif
