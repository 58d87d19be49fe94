/*
 * costs.c -- what parts of routes cost, summed beforehand; the memories and the PE as numbers.
 *
 * With ideal links the engine does not need to know where a request passes, only what the way
 * costs: its wires, its overheads and its smallest bandwidth (struct cost_row). Any route inside a
 * SIP has three parts, each a look-up:
 *
 *     cost_out[pe][exit]    out of the source's cube
 *     cost_mesh[dy][dx]     the cubes between, by their distance; first exit and last side with it
 *     cost_in[side][unit]   from the side of the target's cube to the memory
 *
 * cost_local[pe][unit] is a route inside one cube. A route to another SIP is cost_out, cost_leave
 * by the source's column, cost_enter by the target's column, cost_in. A route from the host is
 * cost_host by the target's column, cost_host_cpu, and after m_cpu's engine cost_host_in. A launch
 * takes cost_launch instead of the last. The tables are small, since they grow with one cube and
 * with the mesh, not with the number of pairs.
 *
 * All this holds for a plain mesh (t->regular). Elsewhere a route is the sum of cost_segment over
 * its walk: machine/walked.c.
 *
 * Invariants: times add up exactly, as they are integers. The memory's overhead and the edge into
 * it are in none of these sums, because they belong to its service. m_cpu's overhead is paid before
 * its engine, so it is in cost_host_cpu and is taken out of cost_host_in and cost_launch. No sum
 * passes PART_MAX_FS; a topology with such wires is refused.
 *
 * Example: c0.pe1 -> c5.slice3 of cube8 goes E, passes one cube from W to S, comes in from N:
 *
 *                                      wire fs   overhead fs   GB/s
 *     cost_out[pe1][E]                  168750       1000000    128
 *     cost_mesh[dy 1][dx 1], E .. N     150000       2000000    128
 *     cost_in[N][slice3]                 91250       3000000    128
 *     sum                               410000       6000000    128
 *
 * So the request reaches slice3 6.41 ns after its issue. 4096 bytes at 128 GB/s then drain for 32
 * ns (the slice itself could take 256 GB/s), which makes 38.41 ns.
 */
#include "costs.h"
#include "bank_row.h"
#include "cache_row.h"
#include "check.h"
#include <math.h>
#include <stdlib.h>
#include "nodes.h"
#include "parts.h"
#include "segments.h"

/*
 * The longest time that a part of a route may take. At most five parts, a response and a drain of
 * 2^62 fs still fit in 63 bits, so the engines add without a check.
 */
#define PART_MAX_FS (INT64_C(1) << 58)

/* -- sums ----------------------------------------------------------------------------------- */

static struct cost_row cost_sum(struct routes *r, struct cost_row a, struct cost_row b)
{
    struct cost_row sum = {a.wire_fs + b.wire_fs, a.overhead_fs + b.overhead_fs,
                           fmin(a.link_gbs, b.link_gbs)};

    if (sum.wire_fs > PART_MAX_FS || sum.overhead_fs > PART_MAX_FS) {
        r->too_long = true;
        sum.wire_fs = sum.overhead_fs = 0;
    }
    return sum;
}

static const struct cost_row cost_nothing = {.link_gbs = INFINITY};

/* The cost of hops [first, first + n), without the edge into a memory and the memory itself. */
static struct cost_row cost_of_hops(struct routes *r, uint32_t first, uint32_t n)
{
    struct cost_row sum = cost_nothing;

    for (uint32_t i = first; i < first + n; i++) {
        const struct hop_row *hop = &r->hops[i];
        bool memory_edge =
            i + 1 < r->n_hops && r->hops[i + 1].owner == LINK_NONE && i + 1 < first + n;
        bool memory = hop->owner == LINK_NONE;

        sum =
            cost_sum(r, sum,
                     (struct cost_row){hop->cross_fs + hop->wire_fs, memory ? 0 : hop->overhead_fs,
                                       memory || memory_edge ? INFINITY : hop->gbs});
    }
    return sum;
}

static struct cost_row cost_of(struct routes *r, uint32_t segment)
{
    return cost_of_hops(r, r->segments[segment].first_hop, r->segments[segment].n_hops);
}

static struct cost_row *cost_rows(struct routes *r, uint32_t first_segment, uint32_t n)
{
    struct cost_row *rows = arena_alloc(r->arena, n * sizeof *rows);

    for (uint32_t i = 0; i < n; i++)
        rows[i] = cost_of(r, first_segment + i);
    return rows;
}

/* The cost of `n` cubes, each passed from `side` to `exit`. */
static struct cost_row cost_passes(struct routes *r, int64_t n, enum side side, enum side exit)
{
    struct cost_row pass = cost_of(r, r->topo.seg_pass + side * N_EXITS + exit);

    if (n <= 0)
        return cost_nothing;
    if (pass.wire_fs > PART_MAX_FS / n || pass.overhead_fs > PART_MAX_FS / n) {
        r->too_long = true;
        return cost_nothing;
    }
    return (struct cost_row){n * pass.wire_fs, n * pass.overhead_fs, pass.link_gbs};
}

/* The cubes between the first and the last, `dx` columns and then `dy` rows apart. */
static struct mesh_row mesh_way(struct routes *r, int64_t dx, int64_t dy)
{
    enum side x = dx > 0 ? SIDE_E : SIDE_W, y = dy > 0 ? SIDE_S : SIDE_N;
    struct mesh_row row = {.exit = (uint8_t)(dx ? x : y), .side = (uint8_t)opposite(dy ? y : x)};

    row.cost = cost_sum(r, cost_passes(r, llabs(dx) - 1, opposite(x), x),
                        cost_passes(r, llabs(dy) - 1, opposite(y), y));
    if (dx && dy)
        row.cost = cost_sum(r, row.cost, cost_passes(r, 1, opposite(x), y));
    return row;
}

static void add_mesh_costs(struct routes *r)
{
    int64_t w = r->topo.w, h = r->topo.h;

    r->cost_mesh =
        arena_alloc(r->arena, (size_t)((2 * w - 1) * (2 * h - 1)) * sizeof *r->cost_mesh);
    for (int64_t dy = 1 - h; dy < h; dy++)
        for (int64_t dx = 1 - w; dx < w; dx++)
            r->cost_mesh[r->n_mesh++] = mesh_way(r, dx, dy);
    r->topo.mesh_middle = r->n_mesh / 2;
    r->cube_pos = arena_alloc(r->arena, r->topo.w * r->topo.h * sizeof *r->cube_pos);
    for (uint32_t cube = 0; cube < r->topo.w * r->topo.h; cube++)
        r->cube_pos[cube] = cube / r->topo.w * (2 * r->topo.w - 1) + cube % r->topo.w;
}

/* By column: from a cube's W exit to the target's SIP; on from column 0; from the host. */
static void add_column_costs(struct routes *r)
{
    struct cost_row cross = cost_of(r, r->topo.seg_cross), host = cost_of(r, r->topo.seg_host);
    struct cost_row leave = cost_sum(r, cost_passes(r, 1, SIDE_E, EXIT_IO), cross);
    size_t bytes = r->topo.w * sizeof(struct cost_row);

    r->cost_leave = arena_alloc(r->arena, bytes);
    r->cost_enter = arena_alloc(r->arena, bytes);
    r->cost_host = arena_alloc(r->arena, bytes);
    for (uint32_t x = 0; x < r->topo.w; x++) {
        struct cost_row east = cost_passes(r, x, SIDE_W, SIDE_E);

        r->cost_leave[x] =
            x == 0 ? cross : cost_sum(r, leave, cost_passes(r, x - 1, SIDE_E, SIDE_W));
        r->cost_enter[x] = east;
        r->cost_host[x] = cost_sum(r, host, east);
    }
}

/* From m_cpu's engine over the NoC to `pe`'s pe_cpu. */
static struct cost_row launch_cost(struct routes *r, uint32_t plane, uint32_t pe)
{
    uint32_t n = try_noc(r, plane, node_m_cpu(r), node_pe(r, pe, NODE_PE_CPU));
    struct cost_row cost = cost_of_hops(r, r->n_hops, n);

    cost.overhead_fs -= r->hops[r->n_hops].overhead_fs;
    return cost;
}

/*
 * From the side of a cube to the engine of its M_CPU, and from there to each slice and to each
 * pe_cpu. A regular machine has hosts in the west.
 */
static void add_host_costs(struct routes *r)
{
    uint32_t pes = r->topo.pes, slices = r->topo.slices, ports = r->topo.ports;
    uint32_t sides = r->topo.regular ? 1 : r->topo.planes * ports;

    r->n_host_sides = sides;
    r->cost_host_cpu = arena_alloc(r->arena, sides * sizeof *r->cost_host_cpu);
    r->cost_host_in = arena_alloc(r->arena, sides * slices * sizeof *r->cost_host_in);
    r->cost_launch = arena_alloc(r->arena, sides * pes * sizeof *r->cost_launch);
    for (uint32_t side = 0; side < sides; side++) {
        const struct segment_row *seg = &r->segments[r->topo.seg_host_in + side * slices];
        uint32_t from = r->topo.regular ? SIDE_W : side % ports, before;
        struct cost_row *to = &r->cost_host_cpu[side];
        int64_t overhead_fs;

        if (is_switch(r->spec) || !has_side(r, from))
            continue;
        before = try_noc(r, side / ports, node_ucie(r, side / ports, from), node_m_cpu(r));
        overhead_fs = r->hops[r->n_hops + before].overhead_fs;
        *to = cost_of_hops(r, r->n_hops, before);
        to->overhead_fs += overhead_fs;
        for (uint32_t slice = 0; slice < r->slices; slice++) {
            struct cost_row *in = &r->cost_host_in[side * slices + slice];

            *in = cost_of_hops(r, seg[slice].first_hop + before, seg[slice].n_hops - before);
            in->overhead_fs -= overhead_fs;
        }
        for (uint32_t pe = 0; pe < r->pes; pe++)
            r->cost_launch[side * pes + pe] = launch_cost(r, side / ports, pe);
    }
}

/* No route passes more segments than there are cubes and SIPs, each at most as long as the longest.
 */
static void check_longest(struct routes *r)
{
    int64_t most = (int64_t)r->topo.cubes * 2 + r->topo.sips + 4, longest = r->topo.wrap_wire_fs;

    for (uint32_t i = 0; i < r->n_segments; i++) {
        const struct cost_row *row = &r->cost_segment[i];
        int64_t fs = row->wire_fs > row->overhead_fs ? row->wire_fs : row->overhead_fs;

        longest = fs > longest ? fs : longest;
    }
    r->too_long = r->too_long || 2 * (longest / 2 + 1) > PART_MAX_FS / most;
}

static void add_costs(struct routes *r)
{
    if (!r->topo.regular) {
        r->cost_segment = cost_rows(r, 0, r->n_segments);
        add_host_costs(r);
        check_longest(r);
        return;
    }
    r->cost_local = cost_rows(r, r->topo.seg_local, r->topo.sources * r->topo.n_units);
    r->cost_out = cost_rows(r, r->topo.seg_out, r->topo.sources * N_EXITS);
    r->cost_in = cost_rows(r, r->topo.seg_in, N_SIDES * r->topo.n_units);
    add_mesh_costs(r);
    add_column_costs(r);
    add_host_costs(r);
}

/* The wire of the edge into memory `unit` of a cube, by whichever side; 0: it has no such memory.
 */
static int64_t last_wire_fs(const struct routes *r, uint32_t unit)
{
    uint32_t side = 0;

    while (side + 1 < r->topo.ports && !has_side(r, side))
        side++;
    return r->segments[r->topo.seg_in + side * r->topo.n_units + unit].tail_wire_fs;
}

/* Of a slice; interleaved slices are whole granules. */
static uint64_t slice_bytes(const struct spec *s)
{
    uint64_t slices = (uint64_t)slices_of(s);
    uint64_t nbytes = slices ? ((uint64_t)s->cube_hbm_size_gb << 30) / slices : 0;
    uint64_t granule = (uint64_t)s->addressing_granule;

    return granule ? nbytes / granule * granule : nbytes;
}

static bool is_queueing(const struct spec *s, enum key impl)
{
    const struct part *part = part_of_key(s, impl);

    return part && (part->component->kind == COMPONENT_QUEUEING ||
                    part->component->kind == COMPONENT_FRONT);
}

/* Does it take time at some NoC to join data of several memories? */
static bool data_may_join(const struct cubes *cubes)
{
    for (uint32_t k = 0; k < cubes->n_kinds; k++)
        if (cubes->kinds[k]->cube_noc_reduce_ns > 0)
            return true;
    return false;
}

static void add_memories(struct routes *r)
{
    const struct spec *s = r->spec;
    uint64_t mib = UINT64_C(1) << 20;
    struct kind_row *kind = r->kinds;

    kind->hbm = (struct memory_row){
        .overhead_fs = fs_of_ns(s->cube_hbm_overhead_ns),
        .gbs = hbm_gbs(s),
        .nbytes = slice_bytes(s),
        .wire_fs = last_wire_fs(r, 0),
        .latency_fs = fs_of_ns(s->cube_hbm_latency_ns),
        .own_gbs = hbm_gbs(s),
        .edge_gbs = INFINITY,
        .bare_gbs = hbm_gbs(s),
        .hold = s->cube_hbm_impl.name ? HOLD_BY_COMPONENT : (uint8_t)s->cube_hbm_hold,
        .atomic = (uint8_t)s->cube_hbm_atomic,
        .model = (uint8_t)s->cube_hbm_model,
        .access_bytes = (uint32_t)s->cube_hbm_access_bytes,
    };
    if (kind->hbm.model == MEMORY_BANKS) {
        kind->banks = bank_row_of(s);
        r->topo.banked = s->cube_hbm_impl.front ? BANKED_BEHIND : BANKED_ALL;
    }
    if (s->cube_hbm_impl.front)
        kind->hbm.behind = kind->hbm.model;
    if (is_queueing(s, KEY_cube_hbm_impl))
        kind->hbm.model = MEMORY_QUEUEING;
    cache_add(s, &r->topo, kind);
    l2_add(s, wire_fs(r, s->cube_noc_attach_mm), kind);
    r->topo.splits |= has_l2(s);
    kind->sram = (struct memory_row){
        .overhead_fs = fs_of_ns(s->cube_sram_overhead_ns),
        .gbs = sram_link_gbs(s),
        .nbytes = s->cube_sram_size_kb ? (uint64_t)s->cube_sram_size_kb << 10
                                       : (uint64_t)s->cube_sram_size_mb * mib,
        .wire_fs = last_wire_fs(r, r->topo.slices),
        .latency_fs = fs_of_ns(s->cube_sram_latency_ns),
        .own_gbs = s->cube_sram_bw_gbs > 0 ? s->cube_sram_bw_gbs : s->cube_noc_bw_gbs,
        .edge_gbs = s->cube_noc_bw_gbs,
        .bare_gbs = s->cube_sram_bw_gbs > 0 ? s->cube_sram_bw_gbs : INFINITY,
        .hold = s->cube_sram_impl.name ? HOLD_BY_COMPONENT : (uint8_t)s->cube_sram_hold,
        .atomic = (uint8_t)s->cube_hbm_atomic,
    };
    if (is_queueing(s, KEY_cube_sram_impl))
        kind->sram.model = MEMORY_QUEUEING;
    kind->hbm.late = kind->sram.late = data_may_join(r->found);
    r->topo.early = memory_frees_early(&kind->hbm) == memory_frees_early(&kind->sram)
                        ? (memory_frees_early(&kind->hbm) ? EARLY_ALL : EARLY_NONE)
                        : EARLY_SOME;
    kind->tcm_read = (struct memory_row){
        .gbs = s->cube_pe_pe_tcm_read_gbs,
        .own_gbs = s->cube_pe_pe_tcm_read_gbs,
        .edge_gbs = INFINITY,
        .bare_gbs = s->cube_pe_pe_tcm_read_gbs,
        .nbytes = (uint64_t)s->cube_pe_pe_tcm_size_mb * mib,
        .wire_fs = r->pes ? last_wire_fs(r, r->topo.slices + 1) : 0,
        .hold = (uint8_t)s->cube_pe_pe_tcm_hold,
        .ports = (uint8_t)s->cube_pe_pe_tcm_read_ports,
    };
    kind->tcm_write = kind->tcm_read;
    kind->tcm_write.gbs = s->cube_pe_pe_tcm_write_gbs;
    kind->tcm_write.own_gbs = kind->tcm_write.bare_gbs = s->cube_pe_pe_tcm_write_gbs;
    kind->tcm_write.ports = (uint8_t)s->cube_pe_pe_tcm_write_ports;
}

static void add_pe(struct routes *r)
{
    const struct spec *s = r->spec;

    r->kinds->pe = (struct pe_row){
        .cpu_overhead_fs = fs_of_ns(s->cube_pe_pe_cpu_overhead_ns),
        .scheduler_overhead_fs = fs_of_ns(s->cube_pe_pe_scheduler_overhead_ns),
        .gemm_overhead_fs = fs_of_ns(s->cube_pe_pe_gemm_overhead_ns),
        .math_overhead_fs = fs_of_ns(s->cube_pe_pe_math_overhead_ns),
        .gemm_clock_ghz = s->cube_pe_pe_gemm_clock_ghz,
        .math_clock_ghz = s->cube_pe_pe_math_clock_ghz,
        .line_bytes = (uint32_t)s->cube_pe_pe_tcm_line_bytes,
        .acc_bytes = (uint64_t)s->cube_pe_pe_gemm_acc_kb * 1024,
        .rate_f64 = s->cube_pe_pe_gemm_rate_f64,
        .rate_f32 = s->cube_pe_pe_gemm_rate_f32,
        .rate_f16 = s->cube_pe_pe_gemm_rate_f16,
        .rate_bf16 = s->cube_pe_pe_gemm_rate_bf16,
        .rate_f8 = s->cube_pe_pe_gemm_rate_f8,
        .rate_i64 = s->cube_pe_pe_gemm_rate_i64,
        .rate_i32 = s->cube_pe_pe_gemm_rate_i32,
        .rate_i16 = s->cube_pe_pe_gemm_rate_i16,
        .rate_i8 = s->cube_pe_pe_gemm_rate_i8,
        .rate_i4 = s->cube_pe_pe_gemm_rate_i4,
        .tile_buffers = (uint32_t)s->cube_pe_pe_scheduler_tile_buffers,
        .lanes = (uint32_t)s->cube_pe_pe_math_lanes,
        .special_cycles = (uint32_t)s->cube_pe_pe_math_special_cycles,
        .topk_width = (uint32_t)s->cube_pe_pe_math_topk_width,
        .scan_cycles = (uint32_t)s->cube_pe_pe_math_scan_cycles,
        .index_cycles = (uint32_t)s->cube_pe_pe_math_index_cycles,
        .random_cycles = (uint32_t)s->cube_pe_pe_math_random_cycles,
        .ipcq_slots = (uint32_t)s->cube_pe_pe_ipcq_slots,
        .ipcq_slot_bytes = (uint32_t)s->cube_pe_pe_ipcq_slot_bytes,
        .ipcq_space = (uint8_t)s->cube_pe_pe_ipcq_space,
        .convert = (uint8_t)s->cube_pe_pe_fetch_store_convert,
    };
    for (int i = 0; i < 3; i++) {
        r->kinds->pe.tile[i] = (uint32_t)s->cube_pe_pe_scheduler_tile[i];
        r->kinds->pe.mac[i] = (uint32_t)s->cube_pe_pe_gemm_mac[i];
    }
}

static bool wires_fit(const struct routes *r)
{
    for (uint32_t i = 0; i < r->n_hops; i++)
        if (r->hops[i].wire_fs > PART_MAX_FS || r->hops[i].cross_fs > PART_MAX_FS)
            return false;
    return true;
}

static void add_home_slices(struct routes *r)
{
    r->home_slices = arena_alloc(r->arena, r->topo.pes * sizeof *r->home_slices);
    r->topo.own_slices = true;
    for (uint32_t pe = 0; pe < r->pes; pe++) {
        r->home_slices[pe] = (uint8_t)home_of_pe(r, pe);
        r->topo.own_slices &= r->home_slices[pe] == pe;
    }
}

static void add_kind(struct routes *r)
{
    const struct spec *s = r->spec;

    r->kinds = arena_alloc(r->arena, sizeof *r->kinds);
    *r->kinds = (struct kind_row){
        .pes = r->pes,
        .slices = r->slices,
        .crossbars = r->crossbars,
        .issue_fs = fs_of_ns(s->cube_pe_pe_dma_issue_ns),
        .packet_bytes = (uint64_t)s->cube_pe_pe_dma_packet_bytes,
        .tiles = (uint8_t)s->cube_pe_pe_dma_tiles,
        .run_fs = fs_of_ns(s->cube_pe_pe_dma_run_ns),
        .read_channels = (uint32_t)s->cube_pe_pe_dma_read_channels,
        .write_channels = (uint32_t)s->cube_pe_pe_dma_write_channels,
        .read_engines = (uint32_t)s->cube_m_cpu_dma_read,
        .write_engines = (uint32_t)s->cube_m_cpu_dma_write,
        .reduce_fs = fs_of_ns(s->cube_noc_reduce_ns),
        .ucie_overhead_fs = fs_of_ns(s->cube_ucie_overhead_ns),
        .queue_bytes = (uint32_t)s->cube_hbm_queue_bytes,
        .pe_gbs = s->cube_xbar_pe_gbs,
    };
}

bool make_costs(struct routes *r)
{
    add_kind(r);
    r->topo.splits |=
        r->spec->addressing_granule || r->kinds->packet_bytes || r->spec->cube_hbm_access_bytes;
    add_home_slices(r);
    add_memories(r);
    add_pe(r);
    r->too_long = !wires_fit(r);
    if (!r->too_long)
        add_costs(r);
    return !r->too_long;
}
