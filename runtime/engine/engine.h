/* engine.h -- the engines: hop (engine/hop.h), and that of arrivals for all else. */
#ifndef ENGINE_H
#define ENGINE_H
#include "engine/state.h"

/* The topology that runs. */
#define T (s->topo)

/* Runs what was issued, and what waits to be, until nothing is left or for `budget` events. */
kb_status engine_run(struct kb_sim *s, uint64_t budget);

#endif
