/* gemm.h -- products of matrices: struct op of kind OP_GEMM, from operands to rounded result. */
#ifndef GEMM_H
#define GEMM_H
#include "data/op.h"

/*
 * A product is cut into parts of rows by its shape alone, and any thread may compute any part. The
 * bytes of the result depend neither on the cuts nor on the processor, as long as it multiplies and
 * adds with one rounding. gemm.c explains how.
 *
 * Operands are converted and packed once for all products that use them. The packed form stays with
 * their versions until gemm_forget(). Threads that need it at the same time pack it together.
 */

/*
 * Memory of packed operands that were forgotten, for the next ones: memory from the system would
 * cost a page fault for every 4 KB. All threads share one pool; it is freed after all packed
 * operands.
 */
struct gemm_pool;

struct gemm_pool *gemm_pool_new(void); /* NULL: no memory */
void gemm_pool_free(struct gemm_pool *pool);

/* Do packed operands take so much memory that they are to be forgotten, and packed again? */
bool gemm_pool_is_full(struct gemm_pool *pool);

/* Bytes of the thread's next product, which are prefetched while this one is computed. */
struct gemm_ahead {
    const unsigned char *at, *end;
};

/* Working memory of one thread. All zero except `pool`: none yet. */
struct gemm_memory {
    struct gemm_ahead ahead[3];
    struct gemm_pool *pool; /* borrowed; NULL: none */
    unsigned char *bytes;   /* owned */
    size_t nbytes;
};

/* Of all products of its batch together. */
uint32_t gemm_parts(const struct op *op);

/*
 * Computes part `part`, epilogues included, into its place in `out`, the bytes of the whole result.
 * The versions of the operands must have bytes.
 *
 * returns  false: no memory
 */
bool gemm_part(const struct op *op, uint32_t part, unsigned char *out, struct gemm_memory *memory);

void gemm_memory_free(struct gemm_memory *memory);

/* Frees the packed form of `v`, which no thread uses. */
void gemm_forget(struct version *v);

/* Distances of the rows and of the columns of a matrix, in elements. */
struct gemm_stride {
    int64_t row, column;
};

/* Of op(a) as [M,K], op(b) as [K,N], and the result as [M,N]. */
void gemm_strides(const struct op *op, struct gemm_stride *a, struct gemm_stride *b,
                  struct gemm_stride *out);

/* The type of sums: f32, f64, or for integers u32 and u64, which are exact modulo 2^bits. */
kb_dtype gemm_lane(const struct op *op);

#endif
