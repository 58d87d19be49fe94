/*
 * engine_watched.c -- the engines for any topology of runs that are watched: when each event is
 * counted, or an observer hears of stations.
 *
 * They may be slower than the fast one, and test `how` at each step, so their steps are calls where
 * the compiler likes: it takes seconds, not a minute.
 */
#define ENGINE_WATCHED
#include "engine/engine_watched.h"
#include "engine/steps.h"

kb_status engine_any(struct kb_sim *s, uint64_t budget)
{
    return run(s, HOW_COUNTED, budget);
}

kb_status engine_told(struct kb_sim *s, uint64_t budget)
{
    return run(s, HOW_COUNTED | HOW_TOLD, budget);
}
