/*
 * flow.h -- traffic by route: each transaction counts in three places, whatever its distance.
 *
 * A transaction passes twenty nodes and edges or more. Counting it at each would cost more than all
 * its steps, and a counter for each pair of cubes would take 8 GB for 128 x 128 of them. But a
 * route goes along a row of cubes and then along a column (machine/walk.h), so its two ends and its
 * corner tell the rest. The corner is the cube in the row of the first cube and the column of the
 * last; it is one of these two if the route has no turn.
 *
 *     local  [src_pack()][unit]          from a PE to a memory of its own cube, without its slice
 *     out    [src_pack()][enum row_way]  from a PE to other cubes
 *     turn   [cube][row_way][col_way]    at the corner
 *     in     [cube][unit][col_way]       to a memory from other cubes
 *     host   [cube][unit]                from the host to a memory
 *
 * A row of cubes is then a road for each of its two ways, with an entry and an exit at each cube:
 * `out` joins the road, `turn` leaves it. A column is one, too: `turn` joins, `in` leaves. The
 * traffic behind a cube is the traffic before it, plus what joins there, less what leaves. So
 * explain/spread.c follows each row and each column once in either way, and has the traffic of all
 * links, in time and memory that grow with the cubes and not with their square.
 *
 * A route without a row part counts as one that goes east, and leaves the row where it has joined
 * it; one without a column part goes south, and does the same.
 *
 * Between two SIPs a route goes west to the shoreline, over the switch, and in from column 0 of the
 * target's row. It joins its first row westward and never leaves it, and leaves its last row, of
 * which it has not joined the road, eastward at the last cube. So traffic that goes on behind
 * column 0 leaves the SIP, and traffic that was there before column 0 comes from another.
 *
 * Invariant: at either end of a row or column nothing is left, except at column 0 of a tray with
 * several SIPs. Sums are unsigned, so they may wrap on their way to a result that does not.
 *
 * Example: on the 4 x 2 cubes of cube8 c0.pe1 reads c5.slice3 and c3.slice0, and c1.pe0 reads
 * c6.slice1. The counts are
 *
 *     out[c0.pe1][east] 2   turn[1][east][south] 1   in[c5.slice3][south] 1
 *                           turn[3][east][south] 1   in[c3.slice0][south] 1
 *     out[c1.pe0][east] 1   turn[2][east][south] 1   in[c6.slice1][south] 1
 *
 * Eastward along the first row, 2 join at cube 0, so 2 go from there to cube 1; there 1 joins and 1
 * leaves, so 2 go on to cube 2; there 1 leaves, so 1 goes on to cube 3, and leaves. Southward, 1
 * joins at cube 1, and goes to cube 5; 1 at cube 2, and goes to cube 6; 1 at cube 3, and leaves at
 * once.
 *
 * All this holds for the routes of a regular machine (machine/cost.h). Elsewhere `out` and `in` are
 * by plane, and between them a transaction counts at its pair of cubes:
 *
 *     pairs  [block][cube][cube]     block: machine/machine_between.h
 *
 * That grows with the square of the cubes, so it is done for as many as FLOW_PAIRS_MOST. Beyond,
 * where NoCs are meshes, in which the ends of a route share no middle, and for hosts, each node and
 * edge of a route is counted when its transaction ends: flows_walk().
 *
 * Tried and slower: counting by the side of the first cube and of the last, at a corner only if
 * there is a turn (half a mispredicted branch more for each transaction of cube8).
 */
#ifndef FLOW_H
#define FLOW_H
#include "engine/txn.h"
#include "machine/walk.h"

/* Transactions and their bytes. */
struct flow_sum {
    uint64_t count, bytes;
};

/* By direction: 0 reads, 1 writes. */
struct flow {
    struct flow_sum by[2];
};

enum row_way { EAST, WEST, N_ROW_WAYS };
enum col_way { SOUTH, NORTH, N_COL_WAYS };

/* 2 MB. */
enum { FLOW_PAIRS_MOST = 1 << 16 };

/* Owned tables, as above; not regular: no `turn` is used, and what is walked is counted at once. */
struct flows {
    struct flow *local, *out, *turn, *in, *host;
    struct flow *pairs; /* NULL: none is counted */
    /* [node], [link station]: machine/walk.h. Regular: NULL, as long as nothing is walked. */
    struct flow_sum *nodes, *edges;
    bool used; /* something has been counted */
};

/* Makes `f`, which is zeroed. False without memory: flows_free() frees the rest. */
bool flows_init(struct flows *f, const struct kb_topology *t);
void flows_free(struct flows *f, const struct kb_topology *t);

/* Makes the tables of what is walked, if there are none. False without memory. */
bool flows_walked(struct flows *f, const struct kb_topology *t);

/* Counts the nodes and edges of the route of `x`. */
void flows_walk(const struct flows *f, const struct kb_topology *t, const struct txn *x);

/* All that `more` has counted. */
void flows_add(struct flows *f, struct flows *more, const struct kb_topology *t);

/* Nothing has been counted. */
void flows_clear(struct flows *f, const struct kb_topology *t);

static inline struct flow *flow_local(const struct flows *f, const struct kb_topology *t,
                                      uint32_t src, uint32_t unit)
{
    return &f->local[(size_t)src * t->n_units + unit];
}

/* Rows of `out` for a source, of `in` for a memory: ways, or planes. */
static inline uint32_t flow_ways(const struct kb_topology *t)
{
    return t->regular ? N_ROW_WAYS : t->planes;
}

static inline struct flow *flow_out(const struct flows *f, const struct kb_topology *t,
                                    uint32_t src, uint32_t way)
{
    return &f->out[(size_t)src * flow_ways(t) + way];
}

static inline struct flow *flow_turn(const struct flows *f, uint32_t cube, enum row_way from,
                                     enum col_way to)
{
    return &f->turn[((size_t)cube * N_ROW_WAYS + from) * N_COL_WAYS + to];
}

/* The row of memory `dst` in tables without gaps. */
static inline size_t flow_memory(const struct kb_topology *t, uint32_t dst)
{
    return (size_t)dst_cube(t, dst) * t->n_units + dst_unit(t, dst);
}

static inline struct flow *flow_in(const struct flows *f, const struct kb_topology *t, uint32_t dst,
                                   uint32_t way)
{
    return &f->in[flow_memory(t, dst) * flow_ways(t) + way];
}

static inline struct flow *flow_pair(const struct flows *f, const struct kb_topology *t,
                                     uint32_t block, uint32_t from, uint32_t to)
{
    return &f->pairs[((size_t)block * sim_cubes(t) + from) * sim_cubes(t) + to];
}

/* Not regular: are nodes and edges of the route of `x` counted one by one? */
static inline bool flow_is_walked(const struct flows *f, const struct kb_topology *t,
                                  const struct txn *x)
{
    if (txn_of_host(x))
        return true;
    if (src_cube(t, x->src) == dst_cube(t, x->dst)) /* by crossbars all planes have one way */
        return t->planes > 1 && (!unit_is_slice(t, dst_unit(t, x->dst)) ||
                                 kind_at(t, src_cube(t, x->src))->l2_cache.sets);
    return !f->pairs;
}

static inline struct flow *flow_host(const struct flows *f, const struct kb_topology *t,
                                     uint32_t dst)
{
    return &f->host[flow_memory(t, dst)];
}

static inline void flow_sum_add(struct flow_sum *sum, const struct flow_sum *more)
{
    sum->count += more->count;
    sum->bytes += more->bytes;
}

static inline void flow_count(struct flow *flow, const struct txn *x)
{
    flow->by[txn_writes(x)].count++;
    flow->by[txn_writes(x)].bytes += x->nbytes;
}

/* Where a transaction of a PE with a memory of another cube counts. */
struct flow_places {
    struct flow *out, *turn, *in;
};

static inline struct flow_places flow_places(const struct flows *f, const struct kb_topology *t,
                                             const struct txn *txn)
{
    uint32_t from = src_cube(t, txn->src), to = dst_cube(t, txn->dst), corner = to;
    enum row_way out = WEST, turn = EAST;
    enum col_way in = SOUTH;

    if (cost_same_sip(t, from, to)) {
        uint32_t column = cube_column(t, from), to_column = cube_column(t, to);

        out = turn = to_column < column ? WEST : EAST;
        in = cube_row(t, to) < cube_row(t, from) ? NORTH : SOUTH;
        corner = from - column + to_column;
    }
    return (struct flow_places){flow_out(f, t, txn->src, out), flow_turn(f, corner, turn, in),
                                flow_in(f, t, txn->dst, in)};
}

/* Counts such a transaction. */
static inline void flow_count_remote(const struct flows *f, const struct kb_topology *t,
                                     const struct txn *txn)
{
    struct flow_places places;

    if (!t->regular) {
        const struct trip trip = txn_trip(t, txn);
        uint32_t block = between_block(t, trip.plane, trip.back);

        flow_count(flow_out(f, t, txn->src, trip.plane), txn);
        flow_count(flow_in(f, t, txn->dst, trip.plane), txn);
        if (f->pairs)
            flow_count(flow_pair(f, t, block, src_cube(t, txn->src), dst_cube(t, txn->dst)), txn);
        return;
    }
    places = flow_places(f, t, txn);
    flow_count(places.out, txn);
    flow_count(places.turn, txn);
    flow_count(places.in, txn);
}

#endif
