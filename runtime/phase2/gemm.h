/* gemm.h -- products of matrices: struct op of kind OP_GEMM, from operands to rounded result. */
#ifndef GEMM_H
#define GEMM_H
#include "data/op.h"

/*
 * A product is cut into parts by rows, at boundaries that follow from its shape alone; any thread
 * may compute any part. An element of the result does not depend on where the cuts are, nor on
 * which processor computes it as long as it can multiply and add with one rounding: each is one
 * chain of such steps over a block of K, and the blocks' sums are added in order.        design 8
 *
 * Operands are converted and packed once, for all products that use them; what is packed stays
 * with their versions until gemm_forget(). Threads that need it at once pack it together.
 */

/*
 * Memory of what was packed and is forgotten, to be packed into again: from the system it would
 * cost a page fault for every 4 KB. All threads share one; it outlives all that is packed.
 */
struct gemm_pool;

struct gemm_pool *gemm_pool_new(void); /* NULL: no memory */
void gemm_pool_free(struct gemm_pool *pool);

/* Bytes that the thread will need for its next product: fetched while this one is computed. */
struct gemm_ahead {
    const unsigned char *at, *end;
};

/* Room of one thread. All zero but for `pool` is none yet. */
struct gemm_room {
    struct gemm_ahead ahead[3];
    struct gemm_pool *pool; /* borrowed; NULL: none */
    unsigned char *bytes;   /* owned */
    size_t nbytes;
};

uint32_t gemm_parts(const struct op *op);

/*
 * Computes part `part`, epilogues included, into its place in `out`, all bytes of the result.
 * Operands are ready and gathered: their versions have bytes.
 *
 * returns  false: no memory
 */
bool gemm_part(const struct op *op, uint32_t part, unsigned char *out, struct gemm_room *room);

void gemm_room_free(struct gemm_room *room);

/* Frees what is packed of `v`, which no thread uses. */
void gemm_forget(struct version *v);

/* How a matrix lies: distances of its rows and columns, in elements. */
struct gemm_lie {
    int64_t row, column;
};

/* op(a) as [M,K], op(b) as [K,N], the result as [M,N]. */
void gemm_lies(const struct op *op, struct gemm_lie *a, struct gemm_lie *b, struct gemm_lie *out);

/* What sums are kept in: f32, f64, or u32 and u64 for integers, which are exact modulo 2^bits. */
kb_dtype gemm_lane(const struct op *op);

#endif
