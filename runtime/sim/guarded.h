/* guarded.h -- components are code of others: what a run is when one of them crashes. */
#ifndef GUARDED_H
#define GUARDED_H
#include "engine/state.h"

/*
 * Calls call(arg), in which components of the simulation's machine run. False: one crashed, and the
 * simulation has failed with KB_KERNEL_CRASHED; `why` names it. Only where the thread has called
 * kb_catch_crashes(): else the process ends.
 */
bool sim_guarded(struct kb_sim *s, void (*call)(void *arg), void *arg, kb_error *why);

#endif
