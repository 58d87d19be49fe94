/* engine.h -- the engines: one for each topology, compiled behind its tables, and one for any. */
#ifndef ENGINE_H
#define ENGINE_H
#include "engine/state.h"

/*
 * Runs in which every station serves in order of arrival: engine/inorder_steps.h. It is
 * kb_topology.run of machines where all do.
 */
kb_status inorder_run(struct kb_sim *s, uint64_t budget) EXPORTED(inorder_run);

/*
 * T is the topology that runs. The generated topo.c defines TOPOLOGY, the name of its tables,
 * before it includes engine/steps.h, so that all of T is a constant there. Elsewhere T is what the
 * simulation names.
 */
#ifdef TOPOLOGY
extern const struct kb_topology TOPOLOGY __attribute__((visibility("default")));
#define T (&TOPOLOGY)

#ifdef OWN_ENGINE
/* The fused engine, for runs that do not need every event: kb_topology.run of other machines. */
static kb_status engine_fused(struct kb_sim *s, uint64_t budget);
#endif
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
