/* engine.h -- the engines of one topology; included by its tables, with TOPOLOGY its name. */
#ifndef ENGINE_H
#define ENGINE_H
#include "sim.h"

extern const struct kb_topology TOPOLOGY;

/* Both: see engine_ops. */
static kb_status engine_fused(struct kb_sim *s, uint64_t budget);
static kb_status engine_hop(struct kb_sim *s, uint64_t budget);

#endif
