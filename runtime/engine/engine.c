/* engine.c -- the engines of transactions for any topology: hop, and fused when all is counted.
 */
#include "engine/engine.h"
#include "engine/steps.h"

/* Who watches has time: one engine asks at every step how it is run, for all. */
kb_status engine_any(struct kb_sim *s, uint64_t budget)
{
    int how = s->options.engine == KB_HOP ? HOW_HOP | HOW_COUNTED : sim_counts(s) ? HOW_COUNTED : 0;

    return run(s, how, budget);
}
