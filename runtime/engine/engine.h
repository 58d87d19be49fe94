/* engine.h -- the engines: for one topology, behind its tables, or for any. */
#ifndef ENGINE_H
#define ENGINE_H
#include "engine/state.h"

/*
 * T is the topology that runs. Generated tables define TOPOLOGY, their name, before they include
 * engine.c, so that all of it is a constant there; engine_any.c serves whatever the simulation
 * names.
 */
#ifdef TOPOLOGY
extern const struct kb_topology TOPOLOGY __attribute__((visibility("default")));
#define T (&TOPOLOGY)

/* The fused engine, when nobody asks for every event. See kb_topology.run. */
static kb_status engine_fused(struct kb_sim *s, uint64_t budget);
#else
#define T (s->topo)
#endif

/*
 * Runs what was issued, and what waits to be, until nothing is left or for `budget` events. The
 * engine is the topology's own, or, when the options ask for more than it tells, that for any
 * topology.
 */
kb_status engine_run(struct kb_sim *s, uint64_t budget);

#endif
