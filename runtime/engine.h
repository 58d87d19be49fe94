/* engine.h -- the engines, for the tables that include them. */
#ifndef ENGINE_H
#define ENGINE_H
#include "sim.h"

/*
 * T is the topology that runs. Generated tables define TOPOLOGY, their name, so that all of it is
 * a constant; without it the engines serve whatever the simulation names.
 */
#ifdef TOPOLOGY
extern const struct kb_topology TOPOLOGY;
#define T (&TOPOLOGY)
#else
#define T (s->topo)
#endif

/* Both: see engine_ops. */
static kb_status engine_fused(struct kb_sim *s, uint64_t budget);
static kb_status engine_hop(struct kb_sim *s, uint64_t budget);

#endif
