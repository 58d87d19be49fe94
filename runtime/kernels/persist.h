/* persist.h -- tensors that a PE keeps from one launch to the next, by name. */
#ifndef PERSIST_H
#define PERSIST_H
#include "kernels/kernels.h"

/* What a PE has under `name`; NULL: nothing. */
KERNELS_OWN struct persisted *persist_find(struct tl_ctx *pe, const char *name);
/* Nothing is kept under that name. */
KERNELS_OWN void persist_note_absent(struct tl_ctx *pe, const char *name);

/* `tensor` is kept under `name`, in place of what was. False: no memory. */
KERNELS_OWN bool persist_keep(struct tl_ctx *pe, const char *name, struct tl_tensor *tensor);

/* The tensor of this launch for what is kept, made if there is none yet; NULL: no memory. */
KERNELS_OWN struct tl_tensor *persist_tensor(struct tl_ctx *pe, struct persisted *p);

/* It is given back: its name is free. */
KERNELS_OWN void persist_forget(struct tl_ctx *pe, const struct tl_tensor *tensor);

/* The kernel has ended: what is kept stays in its place, and is no tensor until it is asked for. */
KERNELS_OWN void persist_end(struct tl_ctx *pe);

/* The memories of TCMs were cleared for a launch: what is kept is there again. False: no memory. */
KERNELS_OWN bool persist_show(struct tl_ctx *pe);

KERNELS_OWN void persist_free_all(struct tl_ctx *pe);

#endif
