/* engine_watched.h -- the engine for any topology of runs that are watched. */
#ifndef ENGINE_WATCHED_H
#define ENGINE_WATCHED_H
#include "engine/engine.h"

/* As engine_run(), of runs whose events are counted, or that are observed node by node. */
kb_status engine_any(struct kb_sim *s, uint64_t budget);

#endif
