/* roofs.h -- what a rank can do at most: the roofs above its operations. */
#ifndef ROOFS_H
#define ROOFS_H
#include "cli/llm/chip.h"

/* Operations and bytes a ns. */
struct roofs {
    double peak, math, memory;
    double fabric; /* to the ranks beside it in a ring of `ranks`; 0: there are none */
};
struct roofs roofs_of(const struct chip *c, uint32_t ranks);

#endif
