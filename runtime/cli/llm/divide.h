/* divide.h -- the ways to divide a machine: over what a layer, layers, experts and requests are
 * cut, and in which grid the PEs of a rank are. */
#ifndef DIVIDE_H
#define DIVIDE_H
#include "cli/llm/llm_asked.h"

struct division {
    int64_t tp, pp, ep, dp;
    int64_t batch;   /* requests of a copy */
    uint32_t grid_p; /* rows of the grid of a rank's PEs; 0: by the number of tokens */
};

/*
 * All that --search asks for. `parallel`: the units of the machine among tp, pp and dp, each with
 * all numbers of ep, that the model and the requests of --batch can be cut into; else the ranks are
 * as options say. `grid`: each with all grids that have a token of each request's `least` for each
 * of their rows. What options name is as they say. *out is owned by the caller; the largest tp
 * first, and the fewest rows.
 */
size_t divisions_of(const struct llm *l, int64_t least, struct division **out);

#endif
