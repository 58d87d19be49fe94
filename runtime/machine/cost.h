/*
 * cost.h -- the cost of a route from the summed tables, and endpoints packed into numbers.
 *
 * All of it is inline: in an engine that is compiled for one topology the tables and sizes are
 * constants, so divisions become shifts and multiplications, and a route is a few loads.
 *
 * A source is packed as cube << pe_bits | pe, a memory as cube << unit_bits | unit, with cubes
 * counted over all SIPs. The numbers are also those of their stations, so no station is searched.
 *
 * A request costs wires and overheads on its way, and then holds its memory: for the memory's own
 * overhead and for the drain, which is the bytes at the smallest bandwidth of the route or of the
 * memory. A host's request also waits for a response. Costs can be left out (struct cost_mask), by
 * an AND for times and by adding INFINITY for bandwidths, so that no branch is needed.
 *
 * Example: c0.pe1 -> c5.slice3 of cube8, 4096 bytes:
 *
 *     source 0 << 3 | 1 = 1, memory 5 << 5 | 3 = 163
 *     cost_mesh row: mesh_middle 10 + cube_pos[5] 8 - cube_pos[0] 0 = 18, which is dx 1, dy 1
 *     wires 410000 fs, overheads 6000000 fs, 128 GB/s (gen/costs.c adds them up)
 *     drain 4096 * 1e6 / 128 = 32000000 fs, as the slice itself could take 256 GB/s
 *     38.41 ns in all
 */
#ifndef COST_H
#define COST_H
#include <math.h>
#include "machine/bank_map.h"
#include "machine/machine_between.h"
#include "machine/machine_segments.h"

/* Stands for any longer drain; a run that needs it ends out of the range of time. */
#define DRAIN_MAX_FS (INT64_C(1) << 62)

/* llround(nbytes * 1e6 / gbs), exactly, but inline. */
static inline int64_t drain_fs(uint64_t nbytes, double gbs)
{
    double fs = (double)nbytes * 1e6 / gbs;
    int64_t whole;

    if (!(fs < (double)DRAIN_MAX_FS))
        return DRAIN_MAX_FS;
    whole = (int64_t)fs;
    return whole + (fs - (double)whole >= 0.5);
}

/* What was divided last: mostly the next is the same. All zeros: nothing. */
struct drained {
    uint64_t nbytes;
    double gbs;
    int64_t fs;
};

/* drain_fs(); `last` may be NULL. */
static inline int64_t drain_again_fs(struct drained *last, uint64_t nbytes, double gbs)
{
    if (!last)
        return drain_fs(nbytes, gbs);
    if (last->nbytes != nbytes || last->gbs < gbs || last->gbs > gbs)
        *last = (struct drained){nbytes, gbs, drain_fs(nbytes, gbs)};
    return last->fs;
}

/* For how long the bytes from `from` on are on a resource of `gbs`: parts add up to the whole. */
static inline int64_t part_fs(uint64_t from, uint64_t nbytes, double gbs)
{
    return drain_fs(from + nbytes, gbs) - drain_fs(from, gbs);
}

static inline struct cost_row cost_add(struct cost_row a, const struct cost_row *b)
{
    return (struct cost_row){a.wire_fs + b->wire_fs, a.overhead_fs + b->overhead_fs,
                             a.link_gbs < b->link_gbs ? a.link_gbs : b->link_gbs};
}

/* A PE's number: cube over all SIPs and PE. A host counts as PE 0 of its SIP's first cube. */
static inline uint32_t src_pack(const struct kb_topology *t, uint32_t cube, uint32_t pe)
{
    return cube << t->pe_bits | pe;
}

static inline uint32_t src_cube(const struct kb_topology *t, uint32_t src)
{
    return src >> t->pe_bits;
}

static inline uint32_t src_pe(const struct kb_topology *t, uint32_t src)
{
    return src & ((1u << t->pe_bits) - 1);
}

/* A memory's number: cube over all SIPs and unit. */
static inline uint32_t dst_pack(const struct kb_topology *t, uint32_t cube, uint32_t unit)
{
    return cube << t->unit_bits | unit;
}

static inline uint32_t dst_cube(const struct kb_topology *t, uint32_t dst)
{
    return dst >> t->unit_bits;
}

static inline uint32_t dst_unit(const struct kb_topology *t, uint32_t dst)
{
    return dst & ((1u << t->unit_bits) - 1);
}

/* The units of a cube, in this order: slices, SRAM, the TCM of each PE, the L2. */
static inline bool unit_is_slice(const struct kb_topology *t, uint32_t unit)
{
    return unit < t->slices;
}

static inline bool unit_is_tcm(const struct kb_topology *t, uint32_t unit)
{
    return unit - t->slices - 1 < t->pes;
}

static inline uint32_t unit_of_sram(const struct kb_topology *t)
{
    return t->slices;
}

static inline uint32_t unit_of_tcm(const struct kb_topology *t, uint32_t pe)
{
    return t->slices + 1 + pe;
}

/* Has some cube an L2? It is a unit, and a source of what it makes. */
static inline bool topology_has_l2(const struct kb_topology *t)
{
    return t->sources > t->pes;
}

static inline bool unit_is_l2(const struct kb_topology *t, uint32_t unit)
{
    return unit > t->slices + t->pes;
}

static inline uint32_t unit_of_l2(const struct kb_topology *t)
{
    return t->slices + 1 + t->pes;
}

/* The PE of a TCM. */
static inline uint32_t unit_pe(const struct kb_topology *t, uint32_t unit)
{
    return unit - t->slices - 1;
}

/* Which kind a cube is of: which of the tables that are joined is its own. */
static inline uint32_t cube_kind(const struct kb_topology *t, uint32_t cube)
{
    return t->n_kinds == 1 ? 0 : t->cube_rows[cube].kind;
}

static inline const struct kind_row *kind_at(const struct kb_topology *t, uint32_t cube)
{
    return &t->kinds[cube_kind(t, cube)];
}

/* Has it a NoC and ports alone? */
static inline bool cube_is_switch(const struct kb_topology *t, uint32_t cube)
{
    return kind_at(t, cube)->pes == 0 && kind_at(t, cube)->slices == 0;
}

/* Servers of station `i` of the channels, of the engines: an odd one writes. */
static inline uint32_t channels_of(const struct kb_topology *t, uint32_t i)
{
    const struct kind_row *kind = kind_at(t, src_cube(t, i / 2));

    return i % 2 ? kind->write_channels : kind->read_channels;
}

static inline uint32_t engines_of(const struct kb_topology *t, uint32_t i)
{
    const struct kind_row *kind = kind_at(t, i / 2);

    return i % 2 ? kind->write_engines : kind->read_engines;
}

/* Segment `segment` of a cube's kind. */
static inline const struct segment_row *segment_at(const struct kb_topology *t, uint32_t cube,
                                                   uint32_t segment)
{
    return &t->segments[cube_kind(t, cube) * t->n_segments + segment];
}

/* The slice that PE `pe` of `cube` uses as its own. */
static inline uint32_t home_slice(const struct kb_topology *t, uint32_t cube, uint32_t pe)
{
    return t->own_slices ? pe : t->home_slices[cube_kind(t, cube) * t->pes + pe];
}

static inline bool cube_is_there(const struct kb_topology *t, uint32_t cube)
{
    return t->alike || t->cube_rows[cube].there;
}

/* Its number in its SIP; a division takes as long as all else of a cost. */
static inline uint32_t cube_in_sip(const struct kb_topology *t, uint32_t cube)
{
    return t->sips == 1 ? cube : cube % t->cubes;
}

static inline uint32_t cube_column(const struct kb_topology *t, uint32_t cube)
{
    return cube_in_sip(t, cube) % t->w;
}

static inline uint32_t cube_row(const struct kb_topology *t, uint32_t cube)
{
    return cube_in_sip(t, cube) / t->w;
}

/* Do the ties of a route that begins in `cube` go W and N? machine/mesh.h */
static inline bool cube_is_odd(const struct kb_topology *t, uint32_t cube)
{
    return t->wrap & WRAP_SPREAD && (cube_column(t, cube) + cube_row(t, cube)) % 2;
}

static inline bool cost_same_sip(const struct kb_topology *t, uint32_t a, uint32_t b)
{
    return t->sips == 1 || a / t->cubes == b / t->cubes;
}

/* Where a PE's transaction to memory `dst` ends: at that, or at the L2 of its cube. */
static inline uint32_t dst_or_l2(const struct kb_topology *t, uint32_t src, uint32_t dst)
{
    uint32_t cube = src_cube(t, src);

    if (!topology_has_l2(t) || !unit_is_slice(t, dst_unit(t, dst)) ||
        !kind_at(t, cube)->l2_cache.sets)
        return dst;
    return dst_pack(t, cube, unit_of_l2(t));
}

/* From a PE to a memory of another cube. */
static inline __attribute__((always_inline)) struct cost_row
cost_remote(const struct kb_topology *t, uint32_t src, uint32_t dst)
{
    uint32_t a = src_cube(t, src), b = dst_cube(t, dst);
    const struct cost_row *out = &t->cost_out[src_pe(t, src) * N_EXITS];
    const struct cost_row *in = &t->cost_in[dst_unit(t, dst)];

    if (cost_same_sip(t, a, b)) {
        int32_t d =
            (int32_t)t->cube_pos[cube_in_sip(t, b)] - (int32_t)t->cube_pos[cube_in_sip(t, a)];
        const struct mesh_row *mesh = &t->cost_mesh[(int32_t)t->mesh_middle + d];

        return cost_add(cost_add(mesh->cost, &out[mesh->exit]), &in[mesh->side * t->n_units]);
    }
    uint32_t column = cube_column(t, a);
    struct cost_row way = cost_add(t->cost_leave[column], &t->cost_enter[cube_column(t, b)]);

    way = cost_add(way, &out[column ? SIDE_W : EXIT_IO]);
    return cost_add(way, &in[SIDE_W * t->n_units]);
}

/* The cost of a host's way, to the engine of the target's M_CPU and behind it, and its UCIe nodes.
 */
struct walked_cost {
    struct cost_row way, behind;
    int64_t ucie_fs; /* their overheads */
    uint32_t side;   /* plane * N_SIDES + the side by which it comes into the target's cube */
};

/* Of any machine: summed segment by segment along the walk. Of a PE's all is in `way`. walked.c
 */
struct walked_cost cost_walked(const struct kb_topology *t, const struct trip *trip);

/* What segment `segment` of a cube costs, not regular. */
static inline const struct cost_row *cost_segment_at(const struct kb_topology *t, uint32_t cube,
                                                     uint32_t segment)
{
    return &t->cost_segment[cube_kind(t, cube) * t->n_segments + segment];
}

/* The same as cost_of_pe(), not regular: in a SIP from the tables of machine_between.h. */
static inline struct cost_row cost_of_any_pe(const struct kb_topology *t, const struct trip *trip)
{
    uint32_t a = src_cube(t, trip->src), b = dst_cube(t, trip->dst), pe = src_pe(t, trip->src);
    uint32_t unit = dst_unit(t, trip->dst);
    const struct mesh_row *way;
    struct cost_row cost;

    if (a == b)
        return *cost_segment_at(t, a, seg_of_local(t, trip->plane, pe, unit));
    if (t->between_by == BY_WALK || trip->way || !cost_same_sip(t, a, b))
        return cost_walked(t, trip).way;
    way = &between_cubes(t, trip->plane, trip->back, cube_is_odd(t, trip->back ? b : a), a, b)->way;
    cost = cost_add(way->cost, cost_segment_at(t, a, seg_of_out(t, trip->plane, pe, way->exit)));
    return cost_add(cost, cost_segment_at(t, b, seg_of_in(t, trip->plane, way->side, unit)));
}

/* From a PE to a memory; the memory's own overhead and the edge into it are not in it. */
static inline struct cost_row cost_of_pe(const struct kb_topology *t, const struct trip *trip)
{
    if (!t->regular)
        return cost_of_any_pe(t, trip);
    if (src_cube(t, trip->src) == dst_cube(t, trip->dst))
        return t->cost_local[src_pe(t, trip->src) * t->n_units + dst_unit(t, trip->dst)];
    return cost_remote(t, trip->src, trip->dst);
}

/* From a host to the engine of the target's M_CPU. */
static inline struct cost_row cost_host_to_engine(const struct kb_topology *t,
                                                  const struct trip *trip)
{
    if (!t->regular)
        return cost_walked(t, trip).way;
    return cost_add(t->cost_host[cube_column(t, dst_cube(t, trip->dst))], t->cost_host_cpu);
}

/* From there to the memory. */
static inline struct cost_row cost_engine_to_memory(const struct kb_topology *t,
                                                    const struct trip *trip)
{
    return t->regular ? t->cost_host_in[dst_unit(t, trip->dst)] : cost_walked(t, trip).behind;
}

/* From a host to the memory. */
static inline struct cost_row cost_of_host(const struct kb_topology *t, const struct trip *trip)
{
    if (!t->regular) {
        struct walked_cost c = cost_walked(t, trip);

        return cost_add(c.way, &c.behind);
    }
    return cost_add(cost_host_to_engine(t, trip), &t->cost_host_in[dst_unit(t, trip->dst)]);
}

/* The row of memory `dst`, for a transaction that reads or writes it. */
static inline const struct memory_row *cost_memory(const struct kb_topology *t, uint32_t dst,
                                                   bool writes)
{
    const struct kind_row *kind = kind_at(t, dst_cube(t, dst));
    uint32_t unit = dst_unit(t, dst);

    if (unit_is_slice(t, unit))
        return &kind->hbm;
    if (unit == unit_of_sram(t))
        return &kind->sram;
    if (unit_is_l2(t, unit))
        return &kind->l2;
    return writes ? &kind->tcm_write : &kind->tcm_read;
}

/* Does any choose what it serves? */
static inline bool memories_choose(const struct kb_topology *t)
{
    for (uint32_t kind = 0; kind < t->n_kinds; kind++)
        if (t->kinds[kind].hbm.model != MEMORY_SERVER ||
            t->kinds[kind].sram.model != MEMORY_SERVER || t->kinds[kind].l2_cache.sets)
            return true;
    return false;
}

/* The costs that are left out (kb_cost_class): masks for times, an addend for bandwidths. */
struct cost_mask {
    int64_t wire, overhead, compute; /* all ones; 0 when left out */
    double link_gbs, memory_gbs;     /* 0.0; INFINITY when left out */
    double tcm_gbs;                  /* the same */
    bool caches_off, caches_hit;     /* caches pass all on; each line is there */
};

/* The mask without the costs `off` (KB_COST_...): each computation of a cost takes it from here. */
static inline struct cost_mask cost_without(unsigned off)
{
    return (struct cost_mask){
        .wire = off & KB_COST_WIRE ? 0 : -1,
        .overhead = off & KB_COST_OVERHEAD ? 0 : -1,
        .compute = off & KB_COST_COMPUTE ? 0 : -1,
        .link_gbs = off & KB_COST_LINK_GBS ? INFINITY : 0,
        .memory_gbs = off & KB_COST_MEMORY_GBS ? INFINITY : 0,
        .tcm_gbs = off & KB_COST_TCM_GBS ? INFINITY : 0,
        .caches_off = off & KB_COST_CACHES,
        .caches_hit = off & KB_COST_CACHE_MISSES,
    };
}

/* A sum of wires and overheads that a request spends on its way. */
static inline int64_t cost_way_fs(const struct cost_mask *m, int64_t wire_fs, int64_t overhead_fs)
{
    return (wire_fs & m->wire) + (overhead_fs & m->overhead);
}

/*
 * Of a memory and of the edge into it. What is left of them without a cost is what is left where
 * the keys of that cost are unlimited: without links a slice still has its own bandwidth, and so
 * has the edge into it; without memories the edge into an SRAM still has that of the NoC.
 */
static inline double cost_last_gbs(const struct cost_mask *m, const struct memory_row *memory)
{
    double edge = memory->edge_gbs + m->link_gbs, bare = memory->bare_gbs + m->memory_gbs;

    return edge < bare ? edge : bare;
}

/* The smallest bandwidth of a route over links of `link_gbs` to `memory`. */
static inline double cost_bottleneck_gbs(const struct cost_mask *m, double link_gbs,
                                         const struct memory_row *memory)
{
    double link = link_gbs + m->link_gbs, last = cost_last_gbs(m, memory);

    return link < last ? link : last;
}

/* What a memory adds to the drain: its overhead, which holds it, and its latency, which does not.
 */
static inline int64_t cost_in_memory_fs(const struct cost_mask *m, const struct memory_row *memory)
{
    return (memory->overhead_fs + memory->latency_fs) & m->overhead;
}

/* From the begin of service to its end, for `nbytes` that came over links of `link_gbs`. */
static inline int64_t cost_hold_fs(const struct cost_mask *m, const struct memory_row *memory,
                                   double link_gbs, uint64_t nbytes)
{
    return cost_in_memory_fs(m, memory) +
           drain_fs(nbytes, cost_bottleneck_gbs(m, link_gbs, memory));
}

/* Of a memory alone, or of a port of a TCM. */
static inline double cost_own_gbs(const struct cost_mask *m, const struct memory_row *memory)
{
    return (m->link_gbs > 0 ? memory->bare_gbs : memory->own_gbs) +
           (memory->ports ? m->tcm_gbs : m->memory_gbs);
}

/* For how long a service of `hold_fs` keeps others from the memory. */
static inline int64_t cost_taken_fs(const struct cost_mask *m, const struct memory_row *memory,
                                    int64_t hold_fs, uint64_t nbytes)
{
    if (memory->hold == HOLD_ROUTE)
        return hold_fs - (memory->latency_fs & m->overhead);
    return (memory->overhead_fs & m->overhead) + drain_fs(nbytes, cost_own_gbs(m, memory));
}

/*
 * What a transaction between a PE and a memory costs, kept for the next: mostly that one is between
 * the same two, has as many bytes, and needs neither sums nor the division of its drain.
 */
struct known_cost {
    uint64_t nbytes; /* 0: of none */
    int64_t way_fs, hold_fs;
    uint32_t dst;
    uint8_t course; /* its plane, or its way: one of them is 0 */
};

static inline struct known_cost cost_known(const struct kb_topology *t, const struct cost_mask *m,
                                           const struct trip *trip, bool writes, uint64_t nbytes)
{
    struct cost_row way = cost_of_pe(t, trip);

    return (struct known_cost){
        .nbytes = nbytes,
        .way_fs = cost_way_fs(m, way.wire_fs, way.overhead_fs),
        .hold_fs = cost_hold_fs(m, cost_memory(t, trip->dst, writes), way.link_gbs, nbytes),
        .dst = trip->dst,
        .course = trip->plane | trip->way};
}

/* UCIe nodes from the host to the target: one into column 0, two for each cube passed. */
static inline int64_t cost_response_fs(const struct kb_topology *t, const struct cost_mask *m,
                                       const struct trip *trip, int64_t wire_fs)
{
    int64_t ucies = 1 + 2 * (int64_t)cube_column(t, dst_cube(t, trip->dst));
    int64_t overhead_fs =
        t->regular ? ucies * t->kinds[0].ucie_overhead_fs : cost_walked(t, trip).ucie_fs;

    return cost_way_fs(m, wire_fs, overhead_fs);
}

/* What is built in as slice `dst`: where there is a cache, what is behind it. */
static inline const struct memory_row *cost_behind_cache(const struct kb_topology *t, uint32_t dst)
{
    const struct kind_row *kind = kind_at(t, dst_cube(t, dst));

    return kind->cache.sets ? &kind->cached : &kind->hbm;
}

/* Its bursts, if it comes to a slice with banks. */
static inline struct bank_range cost_range(const struct kb_topology *t, uint32_t dst,
                                           uint64_t offset, uint64_t nbytes)
{
    const struct kind_row *kind = kind_at(t, dst_cube(t, dst));

    if (!t->banked || kind->hbm.model != MEMORY_BANKS || !unit_is_slice(t, dst_unit(t, dst)))
        return (struct bank_range){0, 0};
    return bank_range(&kind->banks, offset, nbytes);
}
/*
 * The way of a trip's request. With routers that of a read goes where writes go: on a one-way plane
 * that is another way than its data's, which are those of the trip; of several it is the first.
 */
static inline struct trip cost_request(const struct kb_topology *t, const struct trip *trip)
{
    struct trip request = *trip;

    request.back = trip->back && t->links != MODE_ROUTER;
    if (request.back != trip->back)
        request.way = 0;
    return request;
}

/* Wires and overheads that its request passes, and the links that its data do. */
static inline struct cost_row cost_of_trip(const struct kb_topology *t, const struct trip *trip)
{
    struct trip request = cost_request(t, trip);
    struct cost_row way = trip->of_host ? cost_of_host(t, &request) : cost_of_pe(t, &request);

    if (request.back != trip->back)
        way.link_gbs = (trip->of_host ? cost_of_host(t, trip) : cost_of_pe(t, trip)).link_gbs;
    return way;
}

/* With routers: data of a read come back, and no channel is passed in no time. machine_channels.c
 */
void cost_add_router(const struct kb_topology *t, const struct cost_mask *m,
                     const struct trip *trip, bool writes, struct kb_cost *cost);

/* kb_formula_fs() */
static inline int64_t cost_formula_fs(const struct kb_cost *c)
{
    return c->wire_fs + c->overhead_fs + c->drain_fs + c->response_fs + c->return_fs;
}

/* cost_by_tables() without what a network of routers adds, cost_add_router(). */
static inline struct kb_cost cost_beside_routers(const struct kb_topology *t,
                                                 const struct cost_mask *m, kb_transaction_op op,
                                                 const struct trip *trip, uint64_t nbytes,
                                                 struct drained *last)
{
    bool host = op >= KB_H2D, writes = op == KB_WRITE || op == KB_H2D;
    const struct memory_row *memory = cost_memory(t, trip->dst, writes);
    struct cost_row way = cost_of_trip(t, trip);
    struct kb_cost c;

    c.wire_fs = way.wire_fs & m->wire;
    c.memory_overhead_fs = cost_in_memory_fs(m, memory);
    c.overhead_fs = (way.overhead_fs & m->overhead) + c.memory_overhead_fs;
    c.bottleneck_gbs = cost_bottleneck_gbs(m, way.link_gbs, memory);
    c.drain_fs = drain_again_fs(last, nbytes, c.bottleneck_gbs);
    c.response_fs = host ? cost_response_fs(t, m, trip, way.wire_fs) : 0;
    c.return_fs = 0;
    return c;
}

/* All of a transaction's costs by the tables, as kernbench.h names them. */
static inline struct kb_cost cost_by_tables(const struct kb_topology *t, const struct cost_mask *m,
                                            kb_transaction_op op, const struct trip *trip,
                                            uint64_t nbytes)
{
    struct kb_cost c = cost_beside_routers(t, m, op, trip, nbytes, NULL);

    if (t->links == MODE_ROUTER)
        cost_add_router(t, m, trip, op == KB_WRITE || op == KB_H2D, &c);
    return c;
}

#endif
