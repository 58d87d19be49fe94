/* bound.h -- a lower bound of the time of kernels: their commands are weighed, not carried out. */
#ifndef BOUND_H
#define BOUND_H
#include "base/larger.h"
#include "kernels/kernels.h"

/* What is kept busy, beside the ports and engines of enum port. */
enum { BUSY_READS = N_PORTS, BUSY_WRITES, N_BUSY };

/* Behind so many commands of a kernel nothing is weighed. */
enum { COMMANDS_MOST = 1 << 20 };

/* One kernel, as far as it has been weighed. */
struct bound {
    int64_t now_fs; /* of the kernel */
    int64_t end_fs; /* the soonest end of all commands called so far */
    int64_t busy_fs[N_BUSY];
    uint64_t commands;
    int64_t least_fs;
    bool fails; /* what it needs does not fit into the TCM */
};

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
