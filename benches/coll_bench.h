/* coll_bench.h -- shared by the benches of collectives: arguments, ranks, tensors, references. */
#ifndef COLL_BENCH_H
#define COLL_BENCH_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kb_coll.h"
#include "bench_tile.h"

#define ALL_DTYPES "f16 bf16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64"
#define COUNT_ARG(initial, help)                                                                   \
    {                                                                                              \
        "count", KB_ARG_INT, initial, 1, 268435456, NULL, help                                     \
    }
#define OP_ARG                                                                                     \
    {                                                                                              \
        "op", KB_ARG_CHOICE, "sum", 0, 0, "sum max min", "how elements are reduced"                \
    }
#define OVER_ARG                                                                                   \
    {                                                                                              \
        "over", KB_ARG_CHOICE, "pes", 0, 0, "pes cubes sips", "what the ranks are"                 \
    }
#define INPUTS_ARG                                                                                 \
    {                                                                                              \
        "inputs", KB_ARG_CHOICE, "own", 0, 0, "own same",                                          \
            "same: all ranks (but SIPs) have one vector, which is kept once"                       \
    }

/* Algorithms of kb_coll.h, by their names there. */
#define COLL_ARG(algorithms)                                                                       \
    {                                                                                              \
        "algorithm", KB_ARG_CHOICE, "auto", 0, 0, algorithms, "how it is done: kb_coll.h"          \
    }

#define REDUCE_ALGORITHMS                                                                          \
    "auto ring one_way line direct axes halving hierarchical axes_halving tree double_tree"
#define ROOT_ALGORITHMS "auto ring one_way line tree"

static inline kb_coll_algorithm coll_of(const kb_bench_run *run)
{
    return kb_coll_parse(kb_bench_word(run, "algorithm"));
}

/* -- ranks ---------------------------------------------------------------------------------- */

/*
 * A rank is a PE, or a cube or SIP. The PEs of a cube or SIP have a part of its vector each, and
 * communicate with the PEs of the same number in the other ranks. The last axis of a tensor
 * [..., ranks * count], cut BY_COLUMNS, has the vectors of all ranks one after the other.
 */
#define BY_COLUMNS ((kb_placement){KB_COLUMN_WISE, KB_COLUMN_WISE})

enum over { OVER_PES, OVER_CUBES, OVER_SIPS };

static inline enum over over_of(const kb_bench_run *run)
{
    return (enum over)kb_bench_choice(run, "over");
}

/* The PEs with which this one shares a collective. They are whole rows of the axes of the machine,
 * of which cubes without PEs are none. */
static inline kb_group group_over(const tl_ctx *tl, enum over over)
{
    static const kb_axis firsts[] = {KB_PES, KB_X, KB_SIPS};
    kb_info info = info_of_pes(tl_topology(tl));
    kb_group g = {.stride = 1, .n = 1};
    const uint32_t all[KB_AXES] = {info.pes_per_cube, info.mesh_w, info.mesh_h, info.sips};

    for (kb_axis axis = KB_PES; axis < firsts[over]; axis++)
        g.stride *= all[axis];
    for (kb_axis axis = firsts[over]; axis < KB_AXES; axis++) {
        g.axes[axis] = all[axis];
        g.n *= all[axis];
    }
    g.first = tl_pe(tl) % g.stride;
    return g;
}

/* The PEs that share the vector of a rank. */
struct sharing {
    int64_t ranks, cubes, pes;
};

static inline struct sharing sharing_over(const kb_topology *topo, enum over over)
{
    kb_info info = info_of_pes(topo);
    int64_t pes = info.pes_per_cube, cubes = info.cubes_per_sip, sips = info.sips;

    if (over == OVER_PES)
        return (struct sharing){pes * cubes * sips, 1, 1};
    return over == OVER_CUBES ? (struct sharing){cubes * sips, 1, pes}
                              : (struct sharing){sips, cubes, pes};
}

static inline struct sharing sharing_of(const kb_bench_run *run)
{
    return sharing_over(kb_bench_topology(run), over_of(run));
}

/* The elements [*lo, *hi) of a vector that the i-th of those PEs has. */
static inline void shared_part(struct sharing s, int64_t count, int64_t i, int64_t *lo, int64_t *hi)
{
    int64_t begin = share(count, i / s.pes, s.cubes);
    int64_t n = share(count, i / s.pes + 1, s.cubes) - begin;

    *lo = begin + share(n, i % s.pes, s.pes);
    *hi = begin + share(n, i % s.pes + 1, s.pes);
}

static inline int64_t elements_of(const kb_shard *shard)
{
    int64_t n = 1;

    for (int64_t i = 0; i < shard->shape.rank; i++)
        n *= shard->shape.dim[i];
    return n;
}

/* -- notes ---------------------------------------------------------------------------------- */

static inline void note_one_rank(kb_bench_run *run, const char *bench)
{
    static const char *const overs[] = {"pes", "cubes", "sips"};
    char text[128];

    snprintf(text, sizeof text, "%s: over=%s is one rank here, which sends nothing: y is x", bench,
             overs[over_of(run)]);
    if (sharing_of(run).ranks == 1)
        kb_bench_note(run, text);
}

/* -- inputs --------------------------------------------------------------------------------- */

enum inputs { OWN, SAME };

/* Not with over=sips: a placement cannot both replicate over SIPs and cut over their cubes. */
static inline bool inputs_are_same(const kb_bench_run *run)
{
    return kb_bench_choice(run, "inputs") == SAME && over_of(run) != OVER_SIPS;
}

/* Declares tensor x: `rows` vectors of every rank; `scale` as of kb_tensor_fill_random(). */
static inline void input_rows(kb_bench_run *run, int64_t rows, double scale)
{
    kb_dtype dtype = kb_bench_dtype(run, "dtype");
    int64_t count = kb_bench_int(run, "count");
    kb_placement copies = {KB_REPLICATE, over_of(run) == OVER_PES ? KB_REPLICATE : KB_COLUMN_WISE};

    if (inputs_are_same(run))
        kb_bench_input(run, "x", dtype, KB_SHAPE(rows, count), copies, scale);
    else
        kb_bench_input(run, "x", dtype, KB_SHAPE(rows, sharing_of(run).ranks * count), BY_COLUMNS,
                       scale);
}

/* The begin of the row of a rank in x. */
static inline double *input_of(const kb_bench_run *run, double *x, int64_t row, int64_t rank)
{
    int64_t count = kb_bench_int(run, "count");

    return inputs_are_same(run) ? x + row * count
                                : x + (row * sharing_of(run).ranks + rank) * count;
}

/* -- references ----------------------------------------------------------------------------- */

enum op_choice { OP_SUM, OP_MAX, OP_MIN };

static inline tl_op op_of(const kb_bench_run *run)
{
    static const tl_op ops[] = {TL_ADD, TL_MAXIMUM, TL_MINIMUM};

    return ops[kb_bench_choice(run, "op")];
}

/* Numbers whose sums are exact in any order; a largest or least one is exact of any. */
static inline double scale_of(const kb_bench_run *run)
{
    return op_of(run) == TL_ADD ? 0 : 1;
}

/* Rounds to nearest even, where the result is neither denormal nor infinite by its bits. */
static inline double round_to(kb_dtype dtype, double x)
{
    int dropped = 52 - (dtype == KB_F16 ? 10 : 7);
    double size = fabs(x), least = dtype == KB_F16 ? 0x1p-14 : 0x1p-126;
    uint64_t bits, bytes[1];

    if (dtype == KB_F64)
        return x;
    if (dtype == KB_F32)
        return (double)(float)x;
    if (!(size >= least && size < (dtype == KB_F16 ? 65504 : 0x1.fep127))) {
        kb_element_set(dtype, bytes, 0, x);
        return kb_element(dtype, bytes, 0);
    }
    memcpy(&bits, &x, sizeof bits);
    bits += ((UINT64_C(1) << (dropped - 1)) - 1) + (bits >> dropped & 1);
    bits &= ~((UINT64_C(1) << dropped) - 1);
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* x op y, rounded as by PE_MATH; sums of integers wrap. */
static inline double reduced(tl_op op, kb_dtype dtype, double x, double y)
{
    double range = (double)(UINT64_C(1) << (8 * kb_dtype_bytes(dtype) - 1)) * 2, sum = x + y;
    bool is_signed = dtype >= KB_I8 && dtype <= KB_I64;

    if (op != TL_ADD)
        return (op == TL_MAXIMUM) == (x > y) ? x : y;
    if (dtype >= KB_I8)
        return sum >= range / (is_signed ? 2 : 1)   ? sum - range
               : sum < (is_signed ? -range / 2 : 0) ? sum + range
                                                    : sum;
    return round_to(dtype, sum);
}

/* The reduction of a row of x of all ranks, in the order of their numbers. */
static inline void reduce_row(const kb_bench_run *run, double *x, int64_t row, double *sums)
{
    int64_t n = sharing_of(run).ranks, count = kb_bench_int(run, "count");
    kb_dtype dtype = kb_bench_dtype(run, "dtype");

    memcpy(sums, input_of(run, x, row, 0), (size_t)count * sizeof *sums);
    for (int64_t rank = 1; rank < n; rank++) {
        const double *more = input_of(run, x, row, rank);

        for (int64_t e = 0; e < count; e++)
            sums[e] = reduced(op_of(run), dtype, sums[e], more[e]);
    }
}

#endif
