/* collective.h -- collectives: all ranks together reduce, gather or distribute vectors. */
#ifndef COLLECTIVE_H
#define COLLECTIVE_H
#include "ranks.h"
#include "tile.h"

/*
 * Every rank of a collective calls it with the same sizes and ranks, and with its own `me`. Vectors
 * lie in the PE's own slice and may be larger than a TCM. The result may overwrite the input.
 *
 *     struct ranks row = ranks_listed(tl, pes, n);
 *     struct vector x = {shard.address, 1000, KB_F16};
 *
 *     all_reduce_ring(tl, row, x, x, TL_ADD);
 *
 * `op` is TL_ADD, TL_MAXIMUM or TL_MINIMUM. There is no deadlock, because asynchronous receives are
 * issued before the sends. Functions that take a tensor accept NULL, which is an empty one.
 */

/* -- vectors -------------------------------------------------------------------------------- */

/* A vector in the PE's own slice. */
struct vector {
    uint64_t address;
    int64_t n;
    kb_dtype dtype;
};

/* The begin of part i of n: i * size / n without overflow. */
static inline int64_t share(int64_t size, int64_t i, int64_t n)
{
    return size / n * i + size % n * i / n;
}

/* Parts [i, j) of n; sizes of parts differ by at most one. */
static inline struct vector parts_of(struct vector v, int64_t i, int64_t j, int64_t n)
{
    int64_t begin = share(v.n, i, n);

    v.address += (uint64_t)begin * kb_dtype_bytes(v.dtype);
    v.n = share(v.n, j, n) - begin;
    return v;
}

/* Part i modulo n, of n. */
static inline struct vector part_of(struct vector v, int64_t i, int64_t n)
{
    i = (i % n + n) % n;
    return parts_of(v, i, i + 1, n);
}

/* The number of pieces in which a vector is moved, so that tensors and queues fit into a TCM. */
static inline int64_t pieces_of(tl_ctx *tl, int64_t n, kb_dtype dtype)
{
    int64_t room = (int64_t)memory_bytes_of_pes(tl_topology(tl), KB_TCM) / 16;

    return n > 0 ? parts(n * (int64_t)kb_dtype_bytes(dtype), room) : 1;
}

/* NULL for an empty vector. */
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

/* Stores `x`, unless it is there already, and frees it. */
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
    return like.n > 0 ? tl_recv_async(tl, from, 0, like.dtype, KB_SHAPE(like.n)) : NULL;
}

static inline tl_tensor *receive(tl_ctx *tl, uint32_t from, struct vector like)
{
    return like.n > 0 ? tl_recv(tl, from, 0, like.dtype, KB_SHAPE(like.n)) : NULL;
}

static inline void send(tl_ctx *tl, uint32_t to, tl_tensor *x)
{
    if (x)
        tl_send(tl, to, 0, x);
}

/* x op y; frees both. */
static inline tl_tensor *reduce(tl_ctx *tl, tl_op op, tl_tensor *x, tl_tensor *y)
{
    tl_tensor *z = x ? tl_math_at(TL_HERE, op, tl, x, y, NULL) : NULL;

    if (x) {
        tl_free(tl, x);
        tl_free(tl, y);
    }
    return z;
}

/* -- ring ----------------------------------------------------------------------------------- */

/* The part of `x` that belongs to the rank at a place of the ring. */
static inline struct vector part_at(struct vector x, const struct ranks *r, int64_t place)
{
    return part_of(x, rank_at(r, place), r->n);
}

/*
 * y becomes part `me` of the reduction of all x. In n - 1 steps the sum of each part moves around
 * the ring, from the rank behind the one that keeps it.
 */
static inline void reduce_scatter_ring(tl_ctx *tl, struct ranks r, struct vector x, struct vector y,
                                       tl_op op)
{
    int64_t pieces = pieces_of(tl, parts(x.n, r.n), x.dtype), place = place_of_rank(&r, r.me);

    if (r.n == 1) {
        copy_vector(tl, x, y);
        return;
    }
    for (int64_t i = 0; i < pieces; i++) {
        tl_tensor *sum = load(tl, part_of(part_at(x, &r, place - 1), i, pieces));

        for (int64_t step = 2; step <= r.n; step++) {
            struct vector next = part_of(part_at(x, &r, place - step), i, pieces);
            tl_tensor *got = receive_async(tl, pe_at(&r, place - 1), next);
            tl_tensor *own = load_async(tl, next);

            send(tl, pe_at(&r, place + 1), sum);
            if (sum)
                tl_free(tl, sum);
            await(tl, own);
            sum = reduce(tl, op, await(tl, got), own);
        }
        keep(tl, sum, part_of(y, i, pieces), false);
    }
}

/* Part i of y becomes the x of rank i. In n - 1 steps every part moves around the ring. */
static inline void all_gather_ring(tl_ctx *tl, struct ranks r, struct vector x, struct vector y)
{
    int64_t pieces = pieces_of(tl, parts(y.n, r.n), x.dtype), place = place_of_rank(&r, r.me);
    bool there = x.address == part_of(y, r.me, r.n).address;

    if (r.n == 1) {
        copy_vector(tl, x, y);
        return;
    }
    for (int64_t i = 0; i < pieces; i++) {
        struct vector at = part_of(part_of(y, r.me, r.n), i, pieces);
        tl_tensor *held = load(tl, part_of(x, i, pieces));

        for (int64_t step = 1; step < r.n; step++) {
            struct vector next = part_of(part_at(y, &r, place - step), i, pieces);
            tl_tensor *got = receive_async(tl, pe_at(&r, place - 1), next);

            send(tl, pe_at(&r, place + 1), held);
            keep(tl, held, at, there && step == 1);
            held = await(tl, got);
            at = next;
        }
        keep(tl, held, at, false);
    }
}

/* y becomes the reduction of all x. */
static inline void all_reduce_ring(tl_ctx *tl, struct ranks r, struct vector x, struct vector y,
                                   tl_op op)
{
    struct vector mine = part_of(y, r.me, r.n);

    reduce_scatter_ring(tl, r, x, mine, op);
    all_gather_ring(tl, r, mine, y);
}

/* -- halving and doubling ------------------------------------------------------------------- */

/* Send all of `x` to a PE, and receive a vector from a PE into `y`. */
static inline void send_vector(tl_ctx *tl, uint32_t to, struct vector x)
{
    int64_t pieces = pieces_of(tl, x.n, x.dtype);

    for (int64_t i = 0; i < pieces; i++) {
        tl_tensor *piece = load(tl, part_of(x, i, pieces));

        send(tl, to, piece);
        if (piece)
            tl_free(tl, piece);
    }
}

static inline void receive_vector(tl_ctx *tl, uint32_t from, struct vector y)
{
    int64_t pieces = pieces_of(tl, y.n, y.dtype);

    for (int64_t i = 0; i < pieces; i++) {
        struct vector at = part_of(y, i, pieces);
        tl_tensor *piece = receive(tl, from, at);

        keep(tl, piece, at, false);
    }
}

/* y = x op the vector that a PE sends. */
static inline void receive_reduced(tl_ctx *tl, uint32_t from, struct vector x, struct vector y,
                                   tl_op op)
{
    int64_t pieces = pieces_of(tl, x.n, x.dtype);

    for (int64_t i = 0; i < pieces; i++) {
        tl_tensor *own = load_async(tl, part_of(x, i, pieces));
        tl_tensor *got = receive(tl, from, part_of(x, i, pieces));

        keep(tl, reduce(tl, op, got, await(tl, own)), part_of(y, i, pieces), false);
    }
}

/*
 * Sends `give` to one PE and receives `in` from another, reduced with `own` unless that is NULL.
 */
static inline void exchange(tl_ctx *tl, uint32_t to, struct vector give, uint32_t from,
                            struct vector in, const struct vector *own, tl_op op)
{
    int64_t pieces = pieces_of(tl, give.n > in.n ? give.n : in.n, in.dtype);

    for (int64_t i = 0; i < pieces; i++) {
        struct vector at = part_of(in, i, pieces);
        tl_tensor *got = receive_async(tl, from, at);
        tl_tensor *out = load(tl, part_of(give, i, pieces));
        tl_tensor *mine = own ? load_async(tl, part_of(*own, i, pieces)) : NULL;

        send(tl, to, out);
        if (out)
            tl_free(tl, out);
        await(tl, mine);
        await(tl, got);
        keep(tl, mine ? reduce(tl, op, got, mine) : got, at, false);
    }
}

static inline int64_t power_of_two_in(int64_t n)
{
    int64_t p = 1;

    while (p <= n / 2)
        p *= 2;
    return p;
}

/*
 * Recursive halving and doubling, for a power of two of ranks: in each step a rank sends one half
 * of its part to a partner and reduces the other half; then the halves are gathered in the opposite
 * order. Ranks beyond the power of two send their vectors to others first, and get the result last.
 */
static inline void all_reduce_halving(tl_ctx *tl, struct ranks r, struct vector x, struct vector y,
                                      tl_op op)
{
    int64_t p = power_of_two_in(r.n), lo = 0;
    struct vector sums = x; /* the sums so far: x, then y */

    if (r.me >= p) {
        send_vector(tl, pe_of(&r, r.me - p), x);
        receive_vector(tl, pe_of(&r, r.me - p), y);
        return;
    }
    if (r.me + p < r.n) {
        receive_reduced(tl, pe_of(&r, r.me + p), x, y, op);
        sums = y;
    }
    for (int64_t half = p / 2; half > 0; half /= 2) {
        int64_t mine = lo + (r.me & half), other = lo + (~r.me & half);
        uint32_t partner = pe_of(&r, r.me ^ half);
        struct vector own = parts_of(sums, mine, mine + half, p);

        exchange(tl, partner, parts_of(sums, other, other + half, p), partner,
                 parts_of(y, mine, mine + half, p), &own, op);
        sums = y;
        lo = mine;
    }
    for (int64_t half = 1; half < p; half *= 2) {
        int64_t other = lo ^ half;
        uint32_t partner = pe_of(&r, r.me ^ half);

        exchange(tl, partner, parts_of(y, lo, lo + half, p), partner,
                 parts_of(y, other, other + half, p), NULL, op);
        lo &= ~half;
    }
    if (r.me + p < r.n)
        send_vector(tl, pe_of(&r, r.me + p), y);
    if (r.n == 1)
        copy_vector(tl, x, y);
}

/* -- one to all ----------------------------------------------------------------------------- */

/* Every y becomes the x of rank 0, along a binary tree: each step halves the distance of sends. */
static inline void broadcast_tree(tl_ctx *tl, struct ranks r, struct vector x, struct vector y)
{
    int64_t reach = r.me ? r.me & -r.me : 2 * power_of_two_in(r.n);

    if (r.me == 0)
        copy_vector(tl, x, y);
    else
        receive_vector(tl, pe_of(&r, r.me - reach), y);
    for (reach /= 2; reach > 0; reach /= 2)
        if (r.me + reach < r.n)
            send_vector(tl, pe_of(&r, r.me + reach), y);
}

/* -- lines ---------------------------------------------------------------------------------- */

/* Vectors move along a line in pieces of this size, as a pipeline. */
enum { LINE_BYTES = 16384 };

static inline int64_t line_pieces(struct vector x)
{
    return x.n > 0 ? parts(x.n * (int64_t)kb_dtype_bytes(x.dtype), LINE_BYTES) : 1;
}

/* y at `root` becomes the reduction of all x, from both ends of the line to the root. */
static inline void reduce_line(tl_ctx *tl, struct ranks r, int64_t root, struct vector x,
                               struct vector y, tl_op op)
{
    int64_t pieces = line_pieces(x);

    if (r.n == 1) {
        copy_vector(tl, x, y);
        return;
    }
    for (int64_t i = 0; i < pieces; i++) {
        struct vector at = part_of(x, i, pieces);
        tl_tensor *sum = load(tl, at);

        if (r.me > 0 && r.me <= root)
            sum = reduce(tl, op, sum, receive(tl, pe_of(&r, r.me - 1), at));
        if (r.me < r.n - 1 && r.me >= root)
            sum = reduce(tl, op, sum, receive(tl, pe_of(&r, r.me + 1), at));
        if (r.me != root)
            send(tl, pe_of(&r, r.me < root ? r.me + 1 : r.me - 1), sum);
        keep(tl, sum, part_of(y, i, pieces), r.me != root);
    }
}

/* Every y becomes the x of `root`, which moves to both ends of the line. */
static inline void broadcast_line(tl_ctx *tl, struct ranks r, int64_t root, struct vector x,
                                  struct vector y)
{
    int64_t pieces = line_pieces(y);
    bool there = r.me == root && x.address == y.address;

    for (int64_t i = 0; r.n > 1 && i < pieces; i++) {
        struct vector at = part_of(y, i, pieces);
        tl_tensor *piece = r.me == root
                               ? load(tl, part_of(x, i, pieces))
                               : receive(tl, pe_of(&r, r.me < root ? r.me + 1 : r.me - 1), at);

        if (r.me > 0 && r.me <= root)
            send(tl, pe_of(&r, r.me - 1), piece);
        if (r.me < r.n - 1 && r.me >= root)
            send(tl, pe_of(&r, r.me + 1), piece);
        keep(tl, piece, at, there);
    }
    if (r.n == 1)
        copy_vector(tl, x, y);
}

/* -- grids ---------------------------------------------------------------------------------- */

static inline void all_reduce_line(tl_ctx *tl, struct ranks r, struct vector x, tl_op op)
{
    reduce_line(tl, r, r.n / 2, x, x, op);
    broadcast_line(tl, r, r.n / 2, x, x);
}

/* Reduce-scatter in each cube; all-reduce of the parts along rows, columns and SIPs; all-gather. */
static inline void all_reduce_mesh(tl_ctx *tl, const struct grid *g, struct vector x,
                                   struct vector y, tl_op op)
{
    struct vector mine = part_of(y, g->cube.me, g->cube.n);

    reduce_scatter_ring(tl, g->cube, x, mine, op);
    all_reduce_line(tl, g->row, mine, op);
    all_reduce_line(tl, g->column, mine, op);
    all_reduce_line(tl, g->sip, mine, op);
    all_gather_ring(tl, g->cube, mine, y);
}

/* Rings in cubes, rows, columns and SIPs, each on its part of the part of the ring before. */
static inline void all_reduce_torus(tl_ctx *tl, const struct grid *g, struct vector x,
                                    struct vector y, tl_op op)
{
    struct vector in_cube = part_of(y, g->cube.me, g->cube.n);
    struct vector in_row = part_of(in_cube, g->row.me, g->row.n);
    struct vector in_column = part_of(in_row, g->column.me, g->column.n);

    reduce_scatter_ring(tl, g->cube, x, in_cube, op);
    reduce_scatter_ring(tl, g->row, in_cube, in_row, op);
    reduce_scatter_ring(tl, g->column, in_row, in_column, op);
    all_reduce_ring(tl, g->sip, in_column, in_column, op);
    all_gather_ring(tl, g->column, in_column, in_row);
    all_gather_ring(tl, g->row, in_row, in_cube);
    all_gather_ring(tl, g->cube, in_cube, y);
}

/* In each cube, to the cube at the centre of the mesh, between the centres of SIPs, and back. */
static inline void all_reduce_hierarchical(tl_ctx *tl, const struct grid *g, struct vector x,
                                           struct vector y, tl_op op)
{
    struct vector mine = part_of(y, g->cube.me, g->cube.n);
    int64_t middle = g->row.n / 2, centre = g->column.n / 2;

    reduce_scatter_ring(tl, g->cube, x, mine, op);
    reduce_line(tl, g->row, middle, mine, mine, op);
    if (g->row.me == middle) {
        reduce_line(tl, g->column, centre, mine, mine, op);
        if (g->column.me == centre)
            all_reduce_ring(tl, g->sip, mine, mine, op);
        broadcast_line(tl, g->column, centre, mine, mine);
    }
    broadcast_line(tl, g->row, middle, mine, mine);
    all_gather_ring(tl, g->cube, mine, y);
}

#endif
