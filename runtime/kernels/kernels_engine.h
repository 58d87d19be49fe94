/* kernels_engine.h -- the loops of runs with kernels: pe/pe_engine.c. */
#ifndef KERNELS_ENGINE_H
#define KERNELS_ENGINE_H
#include "engine/state.h"
#include "kernels/unit.h"

/* Runs events and kernels, as engine_run() does events alone. */
kb_status engine_kernels(struct kb_sim *s, uint64_t budget);

/*
 * Runs events, on a kernel's stack, until the next event is that kernel's own, and takes it. False:
 * the next is another kernel's, or all events are counted: the kernel yields.
 */
KERNELS_OWN bool engine_until(struct kb_sim *s, uint32_t pe);

/* On a kernel's stack, too: if no event lies before `e`, a new one of that kernel, it is the next,
 * and has been taken. */
KERNELS_OWN bool engine_skip_to(struct kb_sim *s, ev e);

#endif
