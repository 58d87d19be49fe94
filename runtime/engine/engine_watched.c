/*
 * engine_watched.c -- the engines for any topology of runs that are watched: hop, and fused when
 * each event is counted.
 *
 * They may be slower than the fast one, and test `how` at each step, so their steps are calls where
 * the compiler likes: it takes seconds, not a minute.
 */
#define ENGINE_WATCHED
#include "engine/engine_watched.h"
#include "engine/steps.h"

kb_status engine_any(struct kb_sim *s, uint64_t budget)
{
    int how = s->options.engine == KB_HOP ? HOW_HOP | HOW_COUNTED : sim_counts(s) ? HOW_COUNTED : 0;

    return run(s, how, budget);
}
