/* llm_fits.h -- does what `llm` is asked for fit into the memories of a rank? */
#ifndef LLM_FITS_H
#define LLM_FITS_H
#include "cli/llm/llm_asked.h"

/* The graph of an iteration, without places. */
void llm_make_graph(const struct llm *l, const struct shape *s, struct graph *g);

/* EXIT_USAGE after a message with what would fit; of a search of divisions it only notes it. */
enum exit_code llm_check_size(struct llm *l, const struct shape *s);

#endif
