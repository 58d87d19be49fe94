/* bound.h -- a lower bound of the time of kernels: their commands are weighed, not carried out. */
#ifndef BOUND_H
#define BOUND_H
#include "kernels/kernels.h"

/* Is it weighed now what kernels do? */
static inline bool bound_weighs(const struct kernels *k)
{
    return __builtin_expect(k->bound != NULL, false);
}

/* From the kernel's stack, in place of kernel_call(): weighs a command. Its result is there. */
KERNELS_OWN void bound_command(struct command *c);
/* From the kernel's stack: it waits, in no time, if anything is weighed. */
KERNELS_OWN bool bound_waits(struct tl_ctx *pe);
/* From the kernel's stack: costs of software are weighed, if anything is. */
KERNELS_OWN bool bound_pays(struct tl_ctx *pe, int64_t fs);
/* From the kernel's stack: it asks for what is not known where nothing is carried out, so what
 * comes behind cannot be weighed. */
KERNELS_OWN void bound_ends(struct tl_ctx *pe);

#endif
