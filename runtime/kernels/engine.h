/* engine.h -- the engines of runs with kernels, for any topology. */
#ifndef KERNELS_ENGINE_H
#define KERNELS_ENGINE_H
#include "engine/state.h"
#include "kernels/unit.h"

/* Runs events and kernels, as kb_topology.run does events alone. */
kb_status engine_kernels(struct kb_sim *s, uint64_t budget);

/*
 * Runs events, on a kernel's stack, until the next event is that kernel's own, and takes it. False:
 * the next is another kernel's, or all events are counted: the kernel yields.
 */
KERNELS_OWN bool engine_until(struct kb_sim *s, uint32_t pe);

/* On a kernel's stack, too: if no event lies before `e`, a new one of that kernel, it is the next,
 * and has been taken. */
KERNELS_OWN bool engine_skip_to(struct kb_sim *s, ev e);

/* -- by_steps.c: runs that are observed, and machines with nodes that are components ----------- */

/* Both as those above. */
kb_status by_steps_run(struct kb_sim *s, uint64_t budget);
bool by_steps_until(struct kb_sim *s, uint32_t pe);

/* A command's transaction is issued at `t`; the row of `slot` has an event at `t`. */
void by_steps_issue(struct kb_sim *s, uint64_t t, uint32_t slot);
void by_steps_post(struct kb_sim *s, uint64_t t, enum ev_class class, uint32_t slot);

/* What it tells PEs: engine/no_kernels.h, kernels_...(); `wake` takes the first of k->wakes. */
struct heard {
    void (*data)(struct kb_sim *s, uint32_t slot);
    void (*end)(struct kb_sim *s, uint64_t t, uint32_t slot);
    void (*part)(struct kb_sim *s, uint64_t t, uint32_t slot, bool last);
    void (*word)(struct kb_sim *s, uint64_t t, uint32_t slot);
    void (*wake)(struct kb_sim *s, ev e);
};

#endif
