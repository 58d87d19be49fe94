/* collective_bound.h -- lower bounds for the times of collectives. */
#ifndef COLLECTIVE_BOUND_H
#define COLLECTIVE_BOUND_H
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "collective_bench.h"

/*
 * Each bound follows one chain of commands that depend on each other (the vector's last part, on
 * its way around), on an idle machine: the costs of calls and routes by kb_route_cost() and
 * kb_topology_limits(). Everything else that a PE does or waits for can only make it longer. So no
 * run is shorter than its bound.
 */
struct bound {
    const kb_topology *topo;
    kb_info info;
    kb_limits limits;
    kb_dtype dtype;
    int64_t issue_fs, math_fs; /* of a command: from call to issue; the overhead of PE_MATH */
    int64_t room;              /* the largest number of elements of a piece, see pieces_of() */
};

static inline int64_t node_overhead_fs(const kb_topology *topo, const char *name)
{
    char full[KB_NODE_BYTES];
    uint32_t node;
    kb_node found;
    kb_endpoint pe;

    kb_pe_get(topo, 0, &pe);
    size_t n =
        (size_t)snprintf(full, sizeof full, "sip%u.cube%u.pe%u.%s", pe.sip, pe.cube, pe.unit, name);

    if (kb_node_find(topo, full, n, &node) || kb_node_get(topo, node, &found))
        return 0;
    return found.overhead_fs;
}

static inline struct bound bound_new(const kb_topology *topo, kb_dtype dtype)
{
    struct bound b = {.topo = topo, .dtype = dtype};

    b.info = info_of_pes(topo);
    kb_topology_limits(topo, &b.limits);
    b.issue_fs = node_overhead_fs(topo, "pe_cpu") + node_overhead_fs(topo, "pe_scheduler");
    b.math_fs = node_overhead_fs(topo, "pe_math");
    b.room = (int64_t)memory_bytes_of_pes(topo, KB_TCM) / 16 / (int64_t)kb_dtype_bytes(dtype);
    return b;
}

/* -- commands ------------------------------------------------------------------------------- */

/* Of no elements: nothing. */
static inline kb_cost cost_of(const struct bound *b, kb_transaction_op op, uint32_t pe,
                              kb_endpoint_kind kind, uint32_t at, int64_t n)
{
    kb_endpoint src = memory_of_pe(b->topo, KB_PE, pe), dst = memory_of_pe(b->topo, kind, at);
    kb_cost cost = {0};

    if (n > 0)
        kb_route_cost(b->topo, op, &src, &dst, (uint64_t)n * kb_dtype_bytes(b->dtype), &cost, NULL);
    return cost;
}

/* Bytes of `n` elements through a port of the TCM. */
static inline int64_t port_fs(const struct bound *b, double n, double gbs)
{
    return (int64_t)floor(n * (double)kb_dtype_bytes(b->dtype) * 1e6 / gbs);
}

/* A load or a store of `n` elements in the PE's own slice. */
static inline int64_t own_fs(const struct bound *b, kb_transaction_op op, uint32_t pe, int64_t n)
{
    kb_cost cost = cost_of(b, op, pe, KB_SLICE, pe, n);

    return n > 0 ? b->issue_fs + kb_formula_fs(&cost) : 0;
}

/* One step of a reduction. */
static inline int64_t reduce_fs(const struct bound *b, int64_t n)
{
    double cycles = (double)parts(n, b->limits.math_lanes);

    if (n <= 0)
        return 0;
    return b->issue_fs + b->math_fs + port_fs(b, 2 * (double)n, b->limits.tcm_read_gbs) +
           (int64_t)floor(cycles * 1e6 / b->limits.math_clock_ghz) +
           port_fs(b, (double)n, b->limits.tcm_write_gbs);
}

/* The write of `n` elements to another PE's queue: with one channel, one slot after the other. */
static inline int64_t write_fs(const struct bound *b, uint32_t from, uint32_t to, int64_t n)
{
    int64_t slot = (int64_t)(b->limits.queue_slot_bytes / kb_dtype_bytes(b->dtype));
    kb_cost cost = cost_of(b, KB_WRITE, from, b->limits.queue_memory, to, n);
    int64_t way = cost.wire_fs + cost.overhead_fs, slots = slot > 0 ? parts(n, slot) : 1;

    return (b->limits.write_channels == 1 ? slots * way : way) + cost.drain_fs - slots;
}

/* From the call of a send to the end of the receive. */
static inline int64_t hop_fs(const struct bound *b, uint32_t from, uint32_t to, int64_t n)
{
    int64_t slot = (int64_t)(b->limits.queue_slot_bytes / kb_dtype_bytes(b->dtype));
    int64_t last = slot > 0 ? n - (parts(n, slot) - 1) * slot : n;
    kb_cost read = {0};

    if (n >= b->room) /* it is cut into pieces */
        last = 0;
    if (n <= 0)
        return 0;
    if (b->limits.queue_memory != KB_TCM)
        read = cost_of(b, KB_READ, to, b->limits.queue_memory, to, last > 0 ? last : 1);
    if (last == 0)
        read.drain_fs = 0;
    return b->issue_fs + write_fs(b, from, to, n) +
           (b->limits.queue_memory == KB_TCM ? port_fs(b, (double)last, b->limits.tcm_read_gbs)
                                             : kb_formula_fs(&read));
}

static inline int64_t longer(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The elements of part `i` of n, and in how many pieces they are moved. */
static inline int64_t part_n(int64_t count, int64_t i, int64_t n)
{
    return share(count, i + 1, n) - share(count, i, n);
}

static inline int64_t passes(const struct bound *b, int64_t n)
{
    return n > 0 ? parts(n, longer(b->room, 1)) : 1;
}

static inline int64_t copy_fs(const struct bound *b, uint32_t pe, int64_t n)
{
    return own_fs(b, KB_READ, pe, n) + own_fs(b, KB_WRITE, pe, n);
}

/* -- ring ----------------------------------------------------------------------------------- */

/*
 * The part of the rank at place `c` of `count` elements moves from place c + 1 around the ring to
 * c: a load, n - 1 messages and reductions, a store. Before each send the next receive and load are
 * issued, unless that part is empty. A part of several pieces takes as many passes, each of which
 * has at least n - 1 reductions at every rank.
 */
static inline int64_t reduce_scatter_fs(const struct bound *b, struct ranks r, int64_t c,
                                        int64_t count)
{
    int64_t k = passes(b, parts(count, r.n)), n = part_n(count, rank_at(&r, c), r.n) / k;
    int64_t step_fs = reduce_fs(b, count / r.n / k) + 3 * b->issue_fs;
    int64_t posts_fs = count / r.n / k > 0 ? 2 * b->issue_fs : 0;
    int64_t sum = own_fs(b, KB_READ, pe_at(&r, c + 1), n) + own_fs(b, KB_WRITE, pe_at(&r, c), n);

    if (n == 0)
        return 0;
    for (int64_t i = 1; i < r.n; i++)
        sum += posts_fs + hop_fs(b, pe_at(&r, c + i), pe_at(&r, c + i + 1), n) + reduce_fs(b, n);
    return sum + (k - 1) * (r.n - 1) * step_fs;
}

/* The part of the rank at place `c` moves around the ring to place c - 1. */
static inline int64_t all_gather_fs(const struct bound *b, struct ranks r, int64_t c, int64_t count)
{
    int64_t k = passes(b, parts(count, r.n)), n = part_n(count, rank_at(&r, c), r.n) / k;
    int64_t step_fs = own_fs(b, KB_WRITE, pe_at(&r, c), count / r.n / k) + 2 * b->issue_fs;
    int64_t posts_fs = count / r.n / k > 0 ? b->issue_fs : 0;
    int64_t sum = own_fs(b, KB_READ, pe_at(&r, c), n) + own_fs(b, KB_WRITE, pe_at(&r, c - 1), n);

    if (n == 0)
        return 0;
    for (int64_t i = 0; i < r.n - 1; i++)
        sum += posts_fs + hop_fs(b, pe_at(&r, c + i), pe_at(&r, c + i + 1), n);
    return sum + (k - 1) * (r.n - 1) * step_fs;
}

/*
 * The last place sends to the first, which may be far away, and has one write channel: for n - 1
 * parts of the reduction, and for n - 1 messages and stores of the gathering.
 */
static inline int64_t ring_busy_fs(const struct bound *b, struct ranks r, int64_t count,
                                   bool reduces, bool gathers)
{
    int64_t n = count / r.n;
    uint32_t last = pe_at(&r, -1);
    int64_t write = write_fs(b, last, pe_at(&r, 0), n);
    int64_t store = own_fs(b, KB_WRITE, last, n) - b->issue_fs;

    if (n == 0 || b->limits.write_channels > 1)
        return 0;
    return own_fs(b, KB_READ, last, n / passes(b, parts(count, r.n))) +
           (r.n - 1) * ((reduces ? write : 0) + (gathers ? write + store : 0));
}

/* The place of the last rank, whose part is the largest. */
static inline int64_t last_place(const struct ranks *r)
{
    return place_of_rank(r, r->n - 1);
}

/* Of the last part, which is the largest. A ring of one has nothing to do. */
static inline int64_t ring_all_reduce_fs(const struct bound *b, struct ranks r, int64_t count)
{
    int64_t c = last_place(&r);

    return r.n == 1 ? 0
                    : longer(reduce_scatter_fs(b, r, c, count) + all_gather_fs(b, r, c, count),
                             ring_busy_fs(b, r, count, true, true));
}

/* -- halving and doubling ------------------------------------------------------------------- */

/*
 * `n` elements from a rank that is ready at t_fs, issues its own receive and loads them; a
 * reduction or not; a store.
 */
static inline int64_t exchanged_fs(const struct bound *b, int64_t t_fs, uint32_t from, uint32_t to,
                                   int64_t n, bool reduces)
{
    int64_t piece = n / passes(b, n + 1); /* the other direction may have one element more */

    return t_fs + own_fs(b, KB_READ, from, piece) + hop_fs(b, from, to, n) +
           (reduces ? reduce_fs(b, piece) : 0) + own_fs(b, KB_WRITE, to, piece);
}

/* The elements that rank i, of p, gets from the rank whose number differs in bit `half`. */
static inline int64_t half_n(int64_t i, int64_t p, int64_t half, int64_t count, bool reduces)
{
    int64_t lo = (reduces ? i : i ^ half) & ~(half - 1);

    return share(count, lo + half, p) - share(count, lo, p);
}

/* One step of all ranks; t[i] is the earliest time at which rank i is ready. False: no memory. */
static inline bool halving_step(const struct bound *b, const struct ranks *r, int64_t *t, int64_t p,
                                int64_t half, int64_t count, bool reduces)
{
    int64_t *before = malloc((size_t)p * sizeof *before);

    for (int64_t i = 0; before && i < p; i++)
        before[i] = t[i];
    for (int64_t i = 0; before && i < p; i++) {
        int64_t other = i ^ half, n = half_n(i, p, half, count, reduces);
        bool posts = half_n(other, p, half, count, reduces) > 0;
        int64_t ready_fs = before[other] + (posts ? (reduces ? 2 : 1) * b->issue_fs : 0);

        if (n > 0)
            t[i] =
                longer(t[i], exchanged_fs(b, ready_fs, pe_of(r, other), pe_of(r, i), n, reduces));
    }
    free(before);
    return before;
}

static inline int64_t halving_fs(const struct bound *b, struct ranks r, int64_t count)
{
    int64_t p = power_of_two_in(r.n), most = 0, piece = count / passes(b, count);
    int64_t *t = calloc((size_t)p, sizeof *t);
    bool ok = t;

    for (int64_t i = 0; ok && i + p < r.n; i++)
        t[i] = own_fs(b, KB_READ, pe_of(&r, i + p), piece) +
               hop_fs(b, pe_of(&r, i + p), pe_of(&r, i), count) + reduce_fs(b, piece) +
               own_fs(b, KB_WRITE, pe_of(&r, i), piece);
    for (int64_t half = p / 2; ok && half > 0; half /= 2)
        ok = halving_step(b, &r, t, p, half, count, true);
    for (int64_t half = 1; ok && half < p; half *= 2)
        ok = halving_step(b, &r, t, p, half, count, false);
    for (int64_t i = 0; ok && i < p; i++) {
        if (i + p < r.n)
            t[i] += own_fs(b, KB_READ, pe_of(&r, i), piece) +
                    hop_fs(b, pe_of(&r, i), pe_of(&r, i + p), count) +
                    own_fs(b, KB_WRITE, pe_of(&r, i + p), piece);
        most = longer(most, t[i]);
    }
    free(t);
    return r.n == 1 ? copy_fs(b, pe_of(&r, 0), count) : most;
}

/* -- lines ---------------------------------------------------------------------------------- */

static inline int64_t line_pieces_of(const struct bound *b, int64_t n)
{
    return line_pieces((struct vector){.n = n, .dtype = b->dtype});
}

/*
 * The first piece moves from rank 0 to the root. For each further piece the root loads, receives
 * and reduces once or twice, and stores.
 */
static inline int64_t reduce_line_fs(const struct bound *b, struct ranks r, int64_t root,
                                     int64_t count)
{
    int64_t k = line_pieces_of(b, count), n = count / k;
    uint32_t at = pe_of(&r, root);
    int64_t from = (root > 0) + (root < r.n - 1);
    int64_t each_fs = own_fs(b, KB_READ, at, n) + own_fs(b, KB_WRITE, at, n) +
                      from * (b->issue_fs + reduce_fs(b, n));
    int64_t sum = own_fs(b, KB_READ, pe_of(&r, 0), n) + own_fs(b, KB_WRITE, at, n);

    if (r.n == 1 || n == 0)
        return 0;
    for (int64_t i = 0; i < root; i++)
        sum += hop_fs(b, pe_of(&r, i), pe_of(&r, i + 1), n) + reduce_fs(b, n);
    return sum + (from - 1) * (b->issue_fs + reduce_fs(b, n)) + (k - 1) * each_fs;
}

/* From the root to rank `end`, which stores each piece. */
static inline int64_t broadcast_line_fs(const struct bound *b, struct ranks r, int64_t root,
                                        int64_t end, int64_t count)
{
    int64_t k = line_pieces_of(b, count), n = count / k, step = end < root ? -1 : 1;
    int64_t sum = own_fs(b, KB_READ, pe_of(&r, root), n) + own_fs(b, KB_WRITE, pe_of(&r, end), n);
    int64_t each_fs = b->issue_fs + own_fs(b, KB_WRITE, pe_of(&r, end), n);

    if (r.n == 1 || n == 0 || root == end)
        return 0;
    for (int64_t i = root; i != end; i += step)
        sum += hop_fs(b, pe_of(&r, i), pe_of(&r, i + step), n);
    if (root + step != end && b->limits.write_channels == 1) /* ranks in between send and store */
        each_fs += write_fs(b, pe_of(&r, root + step), pe_of(&r, root + 2 * step), n);
    return sum + (k - 1) * each_fs;
}

/* -- benches -------------------------------------------------------------------------------- */

/* The PEs with the last part of every rank's vector, which is the largest; `me` is `at`. */
static inline struct ranks last_ranks(const struct bound *b, enum over over)
{
    uint32_t stride = over == OVER_PES ? 1 : b->info.pes_per_cube;

    if (over == OVER_SIPS)
        stride *= b->info.cubes_per_sip;
    return (struct ranks){.first = stride - 1,
                          .stride = stride,
                          .n = (int64_t)b->info.sips * b->info.cubes_per_sip *
                               b->info.pes_per_cube / stride,
                          .order = order_over(b->topo, over)};
}

/* The axes of the last PE of the cube at that place. */
static inline struct grid grid_at(const struct bound *b, enum over over, uint32_t column,
                                  uint32_t row, uint32_t sip)
{
    uint32_t pes = b->info.pes_per_cube, w = b->info.mesh_w, h = b->info.mesh_h;
    uint32_t in_row = pes * w, in_sip = in_row * h;
    uint32_t pe = pes - 1 + column * pes + row * in_row + sip * in_sip;
    struct ranks alone = {.first = pe, .stride = 1, .n = 1};
    struct grid g = {alone, alone, alone, {.first = pe - sip * in_sip, in_sip, b->info.sips}};

    if (over == OVER_PES)
        g.cube = (struct ranks){.first = pe - (pes - 1), .stride = 1, .n = pes};
    if (over != OVER_SIPS) {
        g.row = (struct ranks){.first = pe - column * pes, .stride = pes, .n = w};
        g.column = (struct ranks){.first = pe - row * in_row, .stride = in_row, .n = h};
    }
    order_grid(b->topo, &g);
    return g;
}

/* The elements, of `count`, of the last PE that shares a rank's vector. */
static inline int64_t last_part(const struct bound *b, enum over over, int64_t count)
{
    int64_t pes = over == OVER_PES ? 1 : b->info.pes_per_cube;
    int64_t cubes = over == OVER_SIPS ? b->info.cubes_per_sip : 1;

    return parts(parts(count, cubes), pes);
}

/* `count`, here and below: the elements of the PE with the largest part. */
static inline int64_t flat_ring_fs(const struct bound *b, enum over over, int64_t count)
{
    struct ranks r = last_ranks(b, over);

    return r.n == 1 ? copy_fs(b, pe_of(&r, 0), count) : ring_all_reduce_fs(b, r, count);
}

/* In the cube, before and after the other axes. */
static inline int64_t in_cube_fs(const struct bound *b, const struct grid *g, int64_t count)
{
    return g->cube.n == 1 ? copy_fs(b, pe_of(&g->cube, 0), count)
                          : ring_all_reduce_fs(b, g->cube, count);
}

/* The last part of the last part and so on, which ends in the last cube. */
static inline int64_t torus_fs(const struct bound *b, enum over over, int64_t count)
{
    struct grid g = grid_at(b, over, b->info.mesh_w - 1, b->info.mesh_h - 1, b->info.sips - 1);
    int64_t w = g.row.n, h = g.column.n;
    int64_t in_cube = part_n(count, g.cube.n - 1, g.cube.n), in_row = part_n(in_cube, w - 1, w);

    return in_cube_fs(b, &g, count) + ring_all_reduce_fs(b, g.row, in_cube) +
           ring_all_reduce_fs(b, g.column, in_row) +
           ring_all_reduce_fs(b, g.sip, part_n(in_row, h - 1, h));
}

/* To the middle of a line and back to its begin. */
static inline int64_t line_all_reduce_fs(const struct bound *b, struct ranks r, int64_t count)
{
    return reduce_line_fs(b, r, r.n / 2, count) + broadcast_line_fs(b, r, r.n / 2, 0, count);
}

/* Ends in the first cube, which is as far from the middle as any. */
static inline int64_t mesh_fs(const struct bound *b, enum over over, int64_t count)
{
    struct grid g = grid_at(b, over, 0, 0, 0);
    int64_t in_cube = part_n(count, g.cube.n - 1, g.cube.n);

    return in_cube_fs(b, &g, count) + line_all_reduce_fs(b, g.row, in_cube) +
           line_all_reduce_fs(b, g.column, in_cube) + line_all_reduce_fs(b, g.sip, in_cube);
}

static inline int64_t hierarchical_fs(const struct bound *b, enum over over, int64_t count)
{
    uint32_t middle = b->info.mesh_w / 2, centre = b->info.mesh_h / 2;
    struct grid g = grid_at(b, over, 0, 0, 0), in_middle = grid_at(b, over, middle, 0, 0);
    struct grid root = grid_at(b, over, middle, centre, 0);
    int64_t in_cube = part_n(count, g.cube.n - 1, g.cube.n);

    return in_cube_fs(b, &g, count) + line_all_reduce_fs(b, g.row, in_cube) +
           line_all_reduce_fs(b, in_middle.column, in_cube) +
           ring_all_reduce_fs(b, root.sip, in_cube);
}

/* t[i] is when rank i has y. Each load and send delays the later sends of the same rank. */
static inline int64_t tree_fs(const struct bound *b, struct ranks r, int64_t count)
{
    int64_t piece = count / passes(b, count), most = 0;
    int64_t *t = calloc((size_t)r.n, sizeof *t);

    if (!t)
        return 0;
    t[0] = copy_fs(b, pe_of(&r, 0), piece);
    for (int64_t i = 0; i < r.n; i++) {
        int64_t reach = i ? i & -i : 2 * power_of_two_in(r.n), at = t[i];

        most = longer(most, at);
        for (reach /= 2; reach > 0; reach /= 2) {
            if (i + reach >= r.n)
                continue;
            at += own_fs(b, KB_READ, pe_of(&r, i), piece);
            t[i + reach] = at + hop_fs(b, pe_of(&r, i), pe_of(&r, i + reach), count) +
                           own_fs(b, KB_WRITE, pe_of(&r, i + reach), piece);
            at += b->issue_fs;
        }
    }
    free(t);
    return most;
}

/* -- by name -------------------------------------------------------------------------------- */

/*
 * A bench and its algorithm. Where links are ideal, no run was seen that took more than `most`
 * times its bound: `make collectives` checks it on all machines and sizes. Where links queue, a
 * bound says little about the time, which may be 60 times as long.
 */
struct way {
    const char *bench, *algorithm;
    double most;
};

static const struct way ways[] = {
    {"all_reduce", "ring", 3},
    {"all_reduce", "halving", 1.5},
    {"all_reduce", "mesh", 1.5},
    {"all_reduce", "torus", 1.25},
    {"all_reduce", "hierarchical", 1.25},
    {"broadcast", "tree", 1.5},
    {"broadcast", "line", 2},
};

enum { N_WAYS = sizeof ways / sizeof *ways };

static inline int64_t all_reduce_fs(const struct bound *b, enum over over, const char *algorithm,
                                    int64_t n)
{
    switch (algorithm[0]) {
    case 'r':
        return flat_ring_fs(b, over, n);
    case 'm':
        return mesh_fs(b, over, n);
    case 't':
        return torus_fs(b, over, n);
    default:
        return algorithm[1] == 'a' ? halving_fs(b, last_ranks(b, over), n)
                                   : hierarchical_fs(b, over, n);
    }
}

/* The bound of a run with `count`: no run's kernels take less. */
static inline int64_t bound_of(const struct bound *b, const struct way *w, enum over over,
                               int64_t count)
{
    struct ranks r = last_ranks(b, over);
    int64_t n = last_part(b, over, count);

    if (strcmp(w->bench, "all_reduce") == 0)
        return all_reduce_fs(b, over, w->algorithm, n);
    if (r.n == 1)
        return copy_fs(b, pe_of(&r, 0), n);
    return w->algorithm[0] == 't' ? tree_fs(b, r, n) : broadcast_line_fs(b, r, 0, r.n - 1, n);
}

/* How long a run takes at most, as far as is known; INT64_MAX: not known. */
static inline int64_t most_fs(const struct bound *b, const struct way *w, int64_t bound_fs)
{
    bool ideal = strcmp(b->info.links, "ideal") == 0;

    return ideal && bound_fs > 0 ? (int64_t)((double)bound_fs * w->most) : INT64_MAX;
}

#endif
