/* flight.h -- results in flight: what commands under way make, and the commands that need it. */
#ifndef FLIGHT_H
#define FLIGHT_H
#include "kernels/kernels.h"

/* The command is called, and returns at its issue: its result is in flight. */
static inline void flight_begin(struct command *c)
{
    c->result->wait = WAIT_PENDING;
    c->result->making = c;
    c->result->beside = NULL;
}

/* Does the command start no earlier than the end of the one that makes `tensor`? */
static inline bool flight_orders(const struct command *c, const struct tl_tensor *tensor)
{
    return c->overlaps || tensor->kind == TENSOR_VALUE;
}

/* An update writes over it that has not begun: what it has is of before, and of no handle. */
KERNELS_OWN bool flight_has_past(const struct tl_tensor *x);

/* A view gets its bytes from those of `of`, if these are there. False: no memory. */
KERNELS_OWN bool view_take(struct kernels *k, struct tl_tensor *view, const struct tl_tensor *of);

/* `view` shows what `tensor` shows, or a part of it, which is in flight. */
KERNELS_OWN void flight_view(struct tl_tensor *tensor, struct tl_tensor *view);

/* The command is issued: it is a user of its operands until flight_fetched(). */
KERNELS_OWN void flight_read(struct command *c);
/*
 * A handle that keeps what `x` holds so far, in whatever state, for the command that is going to
 * write over it; `x` is as if nothing had been done with it. The caller gives it back. NULL: no
 * memory.
 */
KERNELS_OWN struct tl_tensor *flight_leave_past(struct tl_ctx *pe, struct tl_tensor *x);
/* The command, which is issued, writes over its result: it waits for those that read it. */
KERNELS_OWN void flight_overwrite(struct command *c);
/* The next such command that waits for no reader any more, and for nothing else; NULL: none. */
KERNELS_OWN struct command *flight_update(struct tl_ctx *pe);
/* Does a command that was issued read it, and has not fetched it yet? */
KERNELS_OWN bool flight_is_read(const struct tl_ctx *pe, const struct tcm_block *block);
KERNELS_OWN void flight_fetched(struct kb_sim *s, uint64_t t, struct command *c);

/* True: an operand is in flight, and the command has joined the waiters of the one that makes it;
 * or it writes over what others have not fetched yet. */
KERNELS_OWN bool flight_waits(struct command *c);

/* The command has ended: so have its result and the views of it. */
KERNELS_OWN void flight_end(struct kb_sim *s, uint64_t t, struct command *c);

/* Room has come back: a kernel that waits for it tries again. */
KERNELS_OWN void flight_room(struct tl_ctx *pe, uint64_t t);

/* A tensor is given back that commands still need: the last of them frees it. */
KERNELS_OWN void flight_give_back(struct kernels *k, struct tl_tensor *tensor);

#endif
