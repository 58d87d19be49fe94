/* accesses.h -- memory accesses and synchronisation of commands, for the race detector. */
#ifndef ACCESSES_H
#define ACCESSES_H
#include "kernels/kernels.h"

/* A command of the PE has just been issued; an atomic has taken effect. */
KERNELS_OWN void accesses_issued(struct tl_ctx *pe, struct command *c);
KERNELS_OWN void accesses_atomic(struct kb_sim *s, struct command *c);
/* The kernel has waited for a tensor; it looks at bytes of one in the TCM. */
KERNELS_OWN void accesses_waited(struct tl_ctx *pe, const struct tl_tensor *tensor);
KERNELS_OWN void accesses_data(struct tl_ctx *pe, const char *call, tl_here here, uint64_t address,
                               uint64_t nbytes);

#endif
