/* engine_watched.h -- engines for any topology of runs that are watched. */
#ifndef ENGINE_WATCHED_H
#define ENGINE_WATCHED_H
#include "engine/engine.h"

/* Both as engine_run(): of runs whose events are counted or that are observed; of an observer that
 * hears of stations alone, where each arrival has an event, and nodes and wires have none. */
kb_status engine_any(struct kb_sim *s, uint64_t budget);
kb_status engine_told(struct kb_sim *s, uint64_t budget);

#endif
