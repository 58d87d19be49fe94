/* engine.h -- the engine of runs with kernels, for any topology. */
#ifndef KERNELS_ENGINE_H
#define KERNELS_ENGINE_H
#include "engine/state.h"

/* Runs events and kernels, as kb_topology.run does events alone. */
kb_status engine_kernels(struct kb_sim *s, uint64_t budget);

#endif
