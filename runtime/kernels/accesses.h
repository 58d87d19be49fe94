/* accesses.h -- memory accesses and synchronisation of commands, for the race detector. */
#ifndef ACCESSES_H
#define ACCESSES_H
#include "kernels/kernels.h"
#include "record/race.h"

/* A command of the PE has just been issued; an atomic has taken effect. */
KERNELS_OWN void accesses_issued(struct tl_ctx *pe, struct command *c);
KERNELS_OWN void accesses_atomic(struct kb_sim *s, struct command *c);
/* The kernel has waited for the command of that id, or RACE_ALL; it looks at bytes of a tensor in
 * the TCM. */
KERNELS_OWN void accesses_waited(struct tl_ctx *pe, uint64_t made_by);
/* All commands that were called before have fetched what they read of a tensor in the TCM. */
KERNELS_OWN void accesses_fetched(struct tl_ctx *pe, const struct tl_tensor *x);
KERNELS_OWN void accesses_data(struct tl_ctx *pe, const char *call, tl_here here, uint64_t address,
                               uint64_t nbytes);

#endif
