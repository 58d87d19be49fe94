/* collective.h -- collectives: PEs that reduce, gather and send vectors in their own slices. */
#ifndef COLLECTIVE_H
#define COLLECTIVE_H
#include "tile.h"

/*
 * Every rank of a collective calls it with the same sizes and ranks, and its own `me`. Vectors lie
 * in the PE's own slice and may be longer than a TCM. A result may lie where the input does.
 *
 *     struct ranks row = ranks_listed(tl, pes, n);
 *     struct vector x = {shard.address, 1000, KB_F16};
 *
 *     all_reduce_ring(tl, row, x, x, TL_ADD);
 *
 * `op` is TL_ADD, TL_MAXIMUM or TL_MINIMUM. Nobody waits for ever: what is to come is received
 * asynchronously before anything is sent.
 */

/* PEs by rank: a list, or evenly spaced. */
struct ranks {
    const uint32_t *pes; /* NULL: first, first + stride, ... */
    uint32_t first, stride;
    int64_t n, me; /* how many; the rank of the PE itself */
};

static inline struct ranks ranks_listed(const tl_ctx *tl, const uint32_t *pes, int64_t n)
{
    struct ranks r = {.pes = pes, .n = n};

    while (r.me < n - 1 && pes[r.me] != tl_pe(tl))
        r.me++;
    return r;
}

/* The PE of a rank, which counts modulo n. */
static inline uint32_t pe_of(const struct ranks *r, int64_t rank)
{
    int64_t i = (rank % r->n + r->n) % r->n;

    return r->pes ? r->pes[i] : r->first + (uint32_t)i * r->stride;
}

/* -- vectors -------------------------------------------------------------------------------- */

/* Elements in the PE's own slice. */
struct vector {
    uint64_t address;
    int64_t n;
    kb_dtype dtype;
};

/* Where part i of n begins: i * size / n without overflow. */
static inline int64_t share(int64_t size, int64_t i, int64_t n)
{
    return size / n * i + size % n * i / n;
}

/* Parts [i, j) of n, which differ by an element at most. */
static inline struct vector parts_of(struct vector v, int64_t i, int64_t j, int64_t n)
{
    int64_t begin = share(v.n, i, n);

    v.address += (uint64_t)begin * kb_dtype_bytes(v.dtype);
    v.n = share(v.n, j, n) - begin;
    return v;
}

/* Part i of n; i counts modulo n. */
static inline struct vector part_of(struct vector v, int64_t i, int64_t n)
{
    i = (i % n + n) % n;
    return parts_of(v, i, i + 1, n);
}

/* In how many pieces a vector is moved, so that its tensors and the queues fit a TCM. */
static inline int64_t pieces_of(tl_ctx *tl, int64_t n, kb_dtype dtype)
{
    int64_t room = (int64_t)kb_memory_bytes(tl_topology(tl), &(kb_endpoint){.kind = KB_TCM}) / 16;

    return n > 0 ? parts(n * (int64_t)kb_dtype_bytes(dtype), room) : 1;
}

/* NULL of what is empty, as everywhere below. */
static inline tl_tensor *load_async(tl_ctx *tl, struct vector v)
{
    return v.n > 0 ? tl_load_async(tl, v.address, v.dtype, KB_SHAPE(v.n)) : NULL;
}

static inline tl_tensor *await(tl_ctx *tl, tl_tensor *x)
{
    if (x)
        tl_wait(tl, x);
    return x;
}

static inline tl_tensor *load(tl_ctx *tl, struct vector v)
{
    return v.n > 0 ? tl_load(tl, v.address, v.dtype, KB_SHAPE(v.n)) : NULL;
}

/* Stores `x`, unless it is there, and gives it back. */
static inline void keep(tl_ctx *tl, tl_tensor *x, struct vector to, bool there)
{
    if (x && !there)
        tl_store(tl, to.address, x);
    if (x)
        tl_free(tl, x);
}

static inline void copy_vector(tl_ctx *tl, struct vector x, struct vector y)
{
    int64_t pieces = x.address == y.address ? 0 : pieces_of(tl, x.n, x.dtype);

    for (int64_t i = 0; i < pieces; i++) {
        tl_tensor *piece = load(tl, part_of(x, i, pieces));

        keep(tl, piece, part_of(y, i, pieces), false);
    }
}

/* -- messages ------------------------------------------------------------------------------- */

static inline tl_tensor *receive_async(tl_ctx *tl, uint32_t from, struct vector like)
{
    return like.n > 0 ? tl_recv_async(tl, from, 0, KB_SHAPE(like.n), like.dtype) : NULL;
}

static inline tl_tensor *receive(tl_ctx *tl, uint32_t from, struct vector like)
{
    return like.n > 0 ? tl_recv(tl, from, 0, KB_SHAPE(like.n), like.dtype) : NULL;
}

static inline void send(tl_ctx *tl, uint32_t to, tl_tensor *x)
{
    if (x)
        tl_send(tl, to, 0, x);
}

/* x op y, both of which are given back. */
static inline tl_tensor *reduce(tl_ctx *tl, tl_op op, tl_tensor *x, tl_tensor *y)
{
    tl_tensor *z = x ? tl_math_at(tl, TL_HERE, op, x, y, NULL) : NULL;

    if (x) {
        tl_free(tl, x);
        tl_free(tl, y);
    }
    return z;
}

/* -- ring ----------------------------------------------------------------------------------- */

/*
 * y, part `me` of n, is reduced from that part of everyone's x. In n - 1 steps the sum of a part
 * wanders around the ring: it begins at the rank behind the one that keeps it.
 */
static inline void reduce_scatter_ring(tl_ctx *tl, struct ranks r, struct vector x, struct vector y,
                                       tl_op op)
{
    int64_t pieces = pieces_of(tl, parts(x.n, r.n), x.dtype);

    for (int64_t i = 0; i < pieces; i++) {
        tl_tensor *sum = load(tl, part_of(part_of(x, r.me - 1, r.n), i, pieces));

        for (int64_t step = 2; step <= r.n; step++) {
            struct vector next = part_of(part_of(x, r.me - step, r.n), i, pieces);
            tl_tensor *got = receive_async(tl, pe_of(&r, r.me - 1), next);
            tl_tensor *own = load_async(tl, next);

            send(tl, pe_of(&r, r.me + 1), sum);
            if (sum)
                tl_free(tl, sum);
            await(tl, own);
            sum = reduce(tl, op, await(tl, got), own);
        }
        keep(tl, sum, part_of(y, i, pieces), r.n == 1 && x.address == y.address);
    }
}

/* Part i of y is the x of rank i. In n - 1 steps every part wanders around the ring. */
static inline void all_gather_ring(tl_ctx *tl, struct ranks r, struct vector x, struct vector y)
{
    int64_t pieces = pieces_of(tl, parts(y.n, r.n), x.dtype);
    bool there = x.address == part_of(y, r.me, r.n).address;

    for (int64_t i = 0; i < pieces; i++) {
        struct vector at = part_of(part_of(y, r.me, r.n), i, pieces);
        tl_tensor *held = load(tl, part_of(x, i, pieces));

        for (int64_t step = 1; step < r.n; step++) {
            struct vector next = part_of(part_of(y, r.me - step, r.n), i, pieces);
            tl_tensor *got = receive_async(tl, pe_of(&r, r.me - 1), next);

            send(tl, pe_of(&r, r.me + 1), held);
            keep(tl, held, at, there && step == 1);
            held = await(tl, got);
            at = next;
        }
        keep(tl, held, at, there && r.n == 1);
    }
}

/* y is the sum of everyone's x. */
static inline void all_reduce_ring(tl_ctx *tl, struct ranks r, struct vector x, struct vector y,
                                   tl_op op)
{
    struct vector mine = part_of(y, r.me, r.n);

    reduce_scatter_ring(tl, r, x, mine, op);
    all_gather_ring(tl, r, mine, y);
}

#endif
