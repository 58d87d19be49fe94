/* boxes.h -- the calls of the boxes of a PE; pe/NAME.c is the box that the YAML calls NAME. */
#ifndef BOXES_H
#define BOXES_H
#include "kernels/slots.h"

/* -- pe_cpu: starts kernels, issues their commands, and wakes them ---------------------------- */

/* An event of class 4: a kernel starts or goes on, or its command is issued. */
KERNELS_OWN void kernel_event(struct kb_sim *s, uint64_t t, uint32_t pe);

/* From the kernel's stack: has a command issued, and waits until it is, or has ended. */
KERNELS_OWN void kernel_call(struct command *c);
/* From the kernel's stack: waits until the state of its PE lets it go on; until room may have come
 * back. */
KERNELS_OWN void kernel_wait(struct tl_ctx *pe);
KERNELS_OWN void kernel_wait_for_room(struct tl_ctx *pe);
/* From the kernel's stack: costs of software, of a launch or of a collective, pass. */
KERNELS_OWN void kernel_pay(struct tl_ctx *pe, int64_t launch_fs, int64_t collective_fs);

/* The service of `slot` has ended. */
KERNELS_OWN void pe_stage_done(struct kb_sim *s, uint64_t t, uint32_t slot);
/* A word reaches a PE, over no station: a credit, or the end of a barrier. */
KERNELS_OWN void pe_word_arrived(struct kb_sim *s, uint64_t t, uint32_t slot);

/* The kernel of a PE gets its stack; false: there is no memory. */
KERNELS_OWN bool pe_begin(struct tl_ctx *pe);
/* Frees all that a PE has taken for its kernel. */
KERNELS_OWN void pe_clear(struct tl_ctx *pe);

/* -- pe_dma: transactions with other memories ------------------------------------------------- */

/*
 * A slot for a transaction between the PE and `address`, whose area is `area` (machine/address.h),
 * and for each of its parts, if it has some. TXN_NONE: no memory, or an error of the kernel.
 */
KERNELS_OWN uint32_t pe_dma_slot(struct kb_sim *s, uint64_t t, const struct stage *stage,
                                 uint32_t area, uint64_t address, uint64_t nbytes);
/* The transaction of a tile or a piece joins its channel's queue by an event. */
KERNELS_OWN void pe_dma_begin(struct kb_sim *s, uint64_t t, const struct stage *stage,
                              uint32_t area, uint64_t address, uint64_t nbytes);

/* A command's transaction joins its channel: at once in the event of its issue (`called`), else by
 * an event. Of a store, with what it writes. */
KERNELS_OWN void pe_dma_issue(struct kb_sim *s, uint64_t t, struct command *c, bool called);
KERNELS_OWN void pe_dma_store(struct kb_sim *s, uint64_t t, struct command *c, bool called);
/* The last byte of a load has been served: its tensor gets its bytes. */
KERNELS_OWN void pe_dma_bind_load(struct kb_sim *s, struct command *c);
/* The element of an atomic has been served: its sum is formed. */
KERNELS_OWN void pe_dma_add(struct kb_sim *s, struct command *c);
/* The bytes of a tl_atomic() have been served: it is combined with what lies there. */
KERNELS_OWN void pe_dma_combine(struct kb_sim *s, struct command *c);

/* A transaction has been served at its memory, and its record is not written yet. */
static inline void pe_data_arrived(struct kb_sim *s, uint32_t slot)
{
    const struct work *work = &s->kernels->work[slot];

    if (work->stage == STAGE_DMA_READ && !work->token)
        pe_dma_bind_load(s, work->command);
    else if (work->stage == STAGE_DMA_WRITE && work->command->task == TASK_ATOMIC)
        pe_dma_add(s, work->command);
    else if (work->stage == STAGE_DMA_WRITE && work->command->task == TASK_COMBINE)
        pe_dma_combine(s, work->command);
}

/* -- pe_fetch_store: between TCM and engines -------------------------------------------------- */

KERNELS_OWN void pe_fetch(struct kb_sim *s, uint64_t t, const struct stage *stage, uint64_t nbytes);
KERNELS_OWN void pe_store(struct kb_sim *s, uint64_t t, const struct stage *stage, uint64_t nbytes);
/* How long so many bytes are at the port. */
KERNELS_OWN int64_t pe_fetch_fs(const struct tl_ctx *pe, uint64_t nbytes);
KERNELS_OWN int64_t pe_store_fs(const struct tl_ctx *pe, uint64_t nbytes);

/* -- pe_gemm, pe_math: how long an engine works ----------------------------------------------- */

KERNELS_OWN struct engine_work pe_gemm_work(const struct tl_ctx *of, const struct op *op,
                                            uint64_t m, uint64_t k, uint64_t n);
/* `macs` of the product of `op` are done. */
KERNELS_OWN void pe_gemm_count(const struct tl_ctx *of, const struct op *op, uint64_t macs);
KERNELS_OWN struct engine_work pe_math_work(const struct tl_ctx *of, enum tl_op op,
                                            uint64_t elements);
/* Of MATH_ORDER: row by row. */
KERNELS_OWN struct engine_work pe_math_rows_work(const struct tl_ctx *of, const struct op *op);
/* Of a fused operation: step by step. */
KERNELS_OWN struct engine_work pe_math_fused_work(const struct tl_ctx *of, const struct op *op);
/* Dot and math commands (kernels/compute.c): how long their stages take; the start. */
KERNELS_OWN void compute_measure(struct command *c);
KERNELS_OWN struct engine_work compute_work(const struct command *c);
KERNELS_OWN void compute_start(struct kb_sim *s, uint64_t t, struct command *c);
/* Its FETCH begins; false: it fetches nothing. Its engine begins. */
KERNELS_OWN bool compute_fetch(struct kb_sim *s, uint64_t t, struct command *c);
KERNELS_OWN void compute_engine(struct kb_sim *s, uint64_t t, struct command *c);
/* Its engine has ended. */
KERNELS_OWN void compute_count(const struct tl_ctx *pe, const struct op *op);
/* True: it was the command's last stage. */
KERNELS_OWN bool compute_stage_done(struct kb_sim *s, uint64_t t, const struct work *work);

/* A tl_value(): its FETCH begins; has ended (kernels/compute.c). */
KERNELS_OWN void value_start(struct kb_sim *s, uint64_t t, struct command *c);
KERNELS_OWN void value_fetched(struct command *c);

/* -- pe_scheduler: composites ----------------------------------------------------------------- */

/* Cuts a composite into tiles, before its operands are bound. */
KERNELS_OWN void composite_cut(struct command *c);
/* How many ids its stages take. */
KERNELS_OWN uint64_t composite_stages(const struct command *c);
/* It joins the composites of its PE as it is issued; its tokens may enter from its start on. */
KERNELS_OWN void composite_join(struct command *c);
KERNELS_OWN void composite_start(struct kb_sim *s, uint64_t t, struct command *c);
/* True: it was the command's last. */
KERNELS_OWN bool composite_stage_done(struct kb_sim *s, uint64_t t, const struct work *work);

/* A tl_acc_store(), which is like the end of a composite's token: how many ids its stages take. Its
 * start; false: there is no FETCH before its turn (kernels/acc.h). Its turn. The engine or the
 * STORE of a step has ended; true: it was the last stage. */
KERNELS_OWN uint64_t acc_store_stages(const struct command *c);
KERNELS_OWN bool acc_store_fetch(struct kb_sim *s, uint64_t t, struct command *c);
KERNELS_OWN void acc_store_turn(struct kb_sim *s, uint64_t t, struct command *c);
KERNELS_OWN bool acc_store_stage_done(struct kb_sim *s, uint64_t t, const struct work *work);

/* -- pe_tcm: the PE's own memory -------------------------------------------------------------- */

enum tcm_result { TCM_OK, TCM_FULL, TCM_NO_MEMORY };

/* The lowest range of `nbytes` that fits, 64-byte aligned; sets tensor->block and ->address. */
KERNELS_OWN enum tcm_result tcm_alloc(struct tl_ctx *pe, struct tl_tensor *tensor);
/* There was no room: is some to come back (pe->give_backs)? Else the run has ended, by a message.
 */
KERNELS_RARE bool tcm_may_have_room(struct tl_ctx *pe, enum tcm_result result, const char *call,
                                    tl_here here, uint64_t nbytes);

/*
 * The results of a PE are in its TCM, where only another PE would look for them in the MemoryStore.
 * When one does, and when the kernel ends, the store gets those that it does not have yet; what
 * tl_free() gave back before is gone. False: no memory.
 */
KERNELS_OWN bool tcm_show(struct tl_ctx *pe);
/* `pe` is going to read or write memory `dst`: the store must know all of it. False: no memory. */
KERNELS_OWN bool tcm_look_at(struct tl_ctx *pe, uint32_t dst);
/* Counts the bytes of a service that has passed a port. */
KERNELS_OWN void tcm_count_port(struct kb_sim *s, const struct work *work, const struct txn *txn);

#endif
