/* acc.h -- accumulators of pe_gemm: their room, their values, the order of their commands. */
#ifndef ACC_H
#define ACC_H
#include "kernels/kernels.h"

struct tl_acc {
    struct tl_acc *next;  /* of the PE's; or in the list of free ones */
    struct tl_ctx *pe;    /* NULL: given back */
    struct command *last; /* of those that have not passed their turn on; NULL: none */
    struct view view; /* owned: what the commands called so far leave in it; NULL: not set yet */
    uint64_t nbytes;
    uint32_t number; /* in its kernel */
    uint32_t maker;  /* op_id of the last command called on it; OP_NONE */
    struct dims shape;
    uint8_t dtype, dtype_in; /* of it; of the operands of the last product */
    bool stored;             /* tl_acc_store() was called */
};

/* An accumulator that is not set; NULL: no memory. It takes `nbytes` of the room. */
KERNELS_OWN struct tl_acc *acc_new(struct tl_ctx *pe, uint64_t nbytes);
KERNELS_OWN bool acc_has_room(const struct tl_ctx *pe, uint64_t nbytes);
/* Its room is back. */
KERNELS_OWN void acc_gone(struct tl_acc *acc);
KERNELS_OWN void accs_free_all(struct tl_ctx *pe);

/* The operand and the place of a command: its accumulator. */
KERNELS_OWN void acc_operand(const struct tl_acc *acc, struct op_tensor *operand);

/* How many ids its stages take. */
KERNELS_OWN uint64_t acc_stages(const struct command *c);
/* The command has its ids: it joins the line of its accumulator, and takes its value over. */
KERNELS_OWN void acc_join(struct command *c);
/* It starts: its first stage begins. */
KERNELS_OWN void acc_start(struct kb_sim *s, uint64_t t, struct command *c);
/* What it has waited for beside its turn is there: its engine, or the STORE, begins in turn. */
KERNELS_OWN void acc_ready(struct kb_sim *s, uint64_t t, struct command *c);
/* True: it was the command's last stage. */
KERNELS_OWN bool acc_stage_done(struct kb_sim *s, uint64_t t, const struct work *work);

#endif
