/* chakra_run.h -- replays Chakra traces. */
#ifndef CHAKRA_RUN_H
#define CHAKRA_RUN_H
#include "cli/llm/llm_rows.h"

/* Is it the name of a trace, and not of a model? */
bool chakra_is_trace(const char *name);

/* Runs the trace that rows->model names, and prints its rows. */
enum exit_code chakra_run(const struct cli *cli, const struct chip *c, struct llm_rows *rows);

#endif
