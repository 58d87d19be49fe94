/* copy.c -- y = x: every PE copies a piece of every slice through SRAM and TCM to y.
 *
 * A test of all routes: the part of x in each slice is cut into as many pieces as there are PEs,
 * and each PE carries one of them. (A part of fewer elements than PEs gives its pieces to other PEs
 * than the part before.) A piece takes this way, of which each arrow is a load into the TCM of the
 * carrying PE and a store out of it:
 *
 *     slice of x -> SRAM of the slice's cube -> TCM of the slice's PE -> slice of y
 *
 * The TCM is left out if the slice is the carrying PE's own, to which it has no route. Each PE
 * begins with its own slice and goes on to the next PE's, so that not all of them load from one
 * slice. SRAM and TCM have a place for each piece, so PEs need not wait for each other: the traffic
 * is loads and stores only, of every PE with every cube.
 *
 * On cube8 with the initial values 65536 f32 make 64 * 64 pieces of 64 bytes: so small that 87 % of
 * the 3731.49 ns are overheads, issues of commands and wires (--breakdown). Arguments: L elements,
 * dtype.
 */
#include <string.h>
#include "bench_tile.h"

/* A piece of the part that lies in the slice of one PE. */
struct piece {
    const kb_args *args;
    uint32_t owner; /* the PE of that slice */
    int64_t first;  /* its first element in that part */
    kb_shape shape;
};

/* Stores `x` at `address`, and loads it from there. */
static tl_tensor *by_way_of(tl_ctx *tl, tl_tensor *x, uint64_t address)
{
    tl_store(tl, address, x);
    return tl_load(tl, address, tl_dtype(x), tl_shape(x));
}

/* Slice, SRAM, the owner's TCM, slice; each PE has a place of its own in each of them. */
static void carry(tl_ctx *tl, const struct piece *p, uint64_t landing)
{
    const kb_tensor *x = p->args->tensors[0];
    kb_shard from = kb_tensor_shard(x, p->owner);
    kb_shard to = kb_tensor_shard(p->args->tensors[1], p->owner);
    kb_endpoint sram = memory_of_pe(tl_topology(tl), KB_SRAM, p->owner),
                tcm = memory_of_pe(tl_topology(tl), KB_TCM, p->owner);
    uint64_t offset = (uint64_t)(p->first * element_bytes(x));
    uint64_t place = (uint64_t)((from.first[0] + p->first) * element_bytes(x));
    uint64_t mark = tl_mark(tl);
    tl_tensor *piece = tl_load(tl, from.address + offset, kb_tensor_dtype(x), p->shape);

    piece = by_way_of(tl, piece, kb_address(tl_topology(tl), &sram, place));
    if (p->owner != tl_pe(tl))
        piece = by_way_of(tl, piece, kb_address(tl_topology(tl), &tcm, landing + offset));
    tl_store(tl, to.address + offset, piece);
    tl_release(tl, mark);
}

/* The first of `pieces` pieces, from piece `i` on, that is not empty in a part of `n` elements. */
static int64_t next_piece(int64_t n, int64_t i, int64_t pieces)
{
    int64_t before = n * i / pieces; /* elements of the pieces before it */

    return n ? parts((before + 1) * pieces, n) - 1 : pieces;
}

static void copy(tl_ctx *tl, const kb_args *args)
{
    kb_tensor *x = args->tensors[0];
    uint32_t n_pes = all_pes(tl), pe = tl_pe(tl);
    int64_t few = kb_tensor_shape(x).dim[0] / n_pes; /* a part has so many elements, or one more */
    int64_t most = parts(kb_tensor_shape(x).dim[0], n_pes) + 1;
    tl_tensor *room =
        tl_alloc(tl, kb_tensor_dtype(x), KB_SHAPE(most)); /* at the same place on all */
    kb_endpoint tcm;
    uint64_t landing;

    kb_address_find(tl_topology(tl), tl_address(room), &tcm, &landing);
    for (uint32_t i = 0; i < n_pes; i++) {
        /* small parts give their pieces to different PEs, and most pieces may be empty */
        int64_t next = (2 * (int64_t)pe + i) % n_pes;
        int64_t share = least(next_piece(few, next, n_pes), next_piece(few + 1, next, n_pes));

        i += (uint32_t)(share - next);
        if (i >= n_pes)
            break;
        uint32_t owner = (pe + i) % n_pes;
        int64_t n = kb_tensor_shard(x, owner).shape.dim[0];
        int64_t first = n * share / n_pes, end = n * (share + 1) / n_pes;

        if (end > first)
            carry(tl, &(struct piece){args, owner, first, KB_SHAPE(end - first)}, landing);
    }
}

static void setup(kb_bench_run *run)
{
    kb_dtype dtype = kb_bench_dtype(run, "dtype");
    int64_t l = kb_bench_int(run, "L");

    if (!is_even(run, "copy"))
        return;
    kb_bench_input(run, "x", dtype, KB_SHAPE(l), BY_ROWS, 1);
    kb_bench_output(run, "y", dtype, KB_SHAPE(l), BY_ROWS);
    kb_bench_launch(run, "copy", copy, NULL, 0);
}

static void reference(const kb_bench_run *run, double *const *t)
{
    memcpy(t[1], t[0], (size_t)kb_bench_int(run, "L") * sizeof **t);
}

static const kb_bench_arg args_of_copy[] = {
    SIZE_ARG("L", "65536", "elements"),
    DTYPE_ARG("f32", "f16 bf16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64"),
};

const kb_bench bench_copy = {
    .name = "copy",
    .summary = "y = x: every PE carries a piece of every slice through SRAM and TCM and back",
    .args = args_of_copy,
    .n_args = sizeof args_of_copy / sizeof *args_of_copy,
    .setup = setup,
    .reference = reference,
};
