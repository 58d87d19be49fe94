/* pool.h -- commands, tokens, tensors and TCM blocks of a run; all NULL: no memory. */
#ifndef POOL_H
#define POOL_H
#include "kernels/kernels.h"

KERNELS_OWN struct command *command_new(struct kernels *k, bool whole);
/* Gives back what the command owns, too. */
KERNELS_OWN void command_free(struct kernels *k, struct command *c);
/* The same for a load, which its PE keeps for the next one. */
KERNELS_OWN void command_keep(struct kernels *k, struct command *c);
KERNELS_OWN void commands_free_all(struct kernels *k);

KERNELS_OWN struct token *token_new(struct kernels *k);
KERNELS_OWN void token_free(struct kernels *k, struct token *token);

KERNELS_OWN struct tl_tensor *tensor_new(struct tl_ctx *pe, enum tensor_kind kind);
KERNELS_OWN void tensor_free(struct tl_ctx *pe, struct tl_tensor *tensor);
KERNELS_OWN void tensors_free_all(struct tl_ctx *pe);

KERNELS_OWN struct tcm_block *tcm_block_new(struct kernels *k);
/* Puts it behind `before`, where there is room. */
KERNELS_OWN void tcm_block_add(struct tl_ctx *pe, struct tcm_block *before, struct tcm_block *b);
/* No range is taken. */
KERNELS_OWN void tcm_blocks_begin(struct tl_ctx *pe, uint64_t tcm_bytes);
/* One reference less; the last gives the range back. */
KERNELS_OWN void block_drop(struct tl_ctx *pe, struct tcm_block *b);
KERNELS_OWN struct tl_acc *acc_row_new(struct kernels *k);
KERNELS_OWN void acc_row_free(struct kernels *k, struct tl_acc *acc);

/* Zeroed memory that is freed with the PE. */
KERNELS_OWN void *host_bytes_new(struct tl_ctx *pe, size_t nbytes);
KERNELS_OWN void host_bytes_free_all(struct tl_ctx *pe);

/* Frees all that the pools have made. */
KERNELS_OWN void pool_free(struct kernels *k);

#endif
