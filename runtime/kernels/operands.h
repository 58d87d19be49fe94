/* operands.h -- which bytes a command reads and writes: versions in the MemoryStore. */
#ifndef OPERANDS_H
#define OPERANDS_H
#include "kernels/kernels.h"

/* Operands become what their tensors hold now. False after a message. */
KERNELS_OWN bool operands_bind(struct command *c);
/* What lies at the address of a place now, as mem_read(). */
KERNELS_OWN enum mem_err place_read(struct tl_ctx *pe, const struct tl_tensor *x, uint32_t dst,
                                    struct view *out, struct op_ids *writers, uint64_t range[2]);
/* A range of an operand that was never written, as an error. */
KERNELS_OWN void operand_absent(struct command *c, uint32_t dst, const uint64_t range[2]);

/* A pending result of `nbytes` in c->op.out. False after a message. */
KERNELS_OWN bool result_new(struct command *c, uint64_t nbytes);
/* The same, which is then what the tensor of its result holds, in the TCM. */
KERNELS_OWN bool result_begin(struct command *c);
/* Bytes [address, ...) of memory `dst` are `result` from now on. False after a message. */
KERNELS_OWN bool result_publish(struct command *c, uint32_t dst, const struct op_tensor *result);
/* Of an update of a tensor that other PEs may have stored to: what is replaced, and no more. */
KERNELS_OWN bool result_replace(struct command *c);

#endif
