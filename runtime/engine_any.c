/* engine_any.c -- the engines for any topology: hop, and fused when its events are counted. */
#include "engine.h"
#include "engine.c"

kb_status engine_any(struct kb_sim *s, uint64_t budget)
{
    if (s->options.engine == KB_HOP)
        return run(s, HOW_HOP | HOW_COUNTED, budget);
    return sim_counts(s) ? run(s, HOW_COUNTED, budget) : run(s, 0, budget);
}
