/* ranks.h -- the ranks of a collective: PEs, cubes or SIPs, and in which order rings visit them. */
#ifndef RANKS_H
#define RANKS_H
#include "even.h"
#include "base/lap.h"

/*
 * In which order a ring visits ranks: those of `pes` PEs in a row by number, cubes and SIPs as
 * their laps have them. Without laps, `pes` is 0 and all are visited by number.
 */
struct order {
    struct lap cubes, sips;
    uint32_t pes;
};

/* PEs by rank: a list, or evenly spaced. */
struct ranks {
    const uint32_t *pes; /* NULL: first, first + stride, ... */
    uint32_t first, stride;
    int64_t n, me; /* the number of ranks; the PE's own rank */
    struct order order;
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

/* The rank at a place of the ring; places count modulo n. */
static inline int64_t rank_at(const struct ranks *r, int64_t place)
{
    const struct order *o = &r->order;
    int64_t i = (place % r->n + r->n) % r->n;

    if (!o->pes)
        return i;
    uint32_t cubes = o->cubes.w * o->cubes.h, cube = (uint32_t)i / o->pes;

    return ((int64_t)lap_at(&o->sips, cube / cubes) * cubes + lap_at(&o->cubes, cube % cubes)) *
               o->pes +
           i % o->pes;
}

static inline int64_t place_of_rank(const struct ranks *r, int64_t rank)
{
    int64_t place = rank;

    while (rank_at(r, place) != rank)
        place++;
    return place % r->n;
}

/* The PE at a place of the ring. */
static inline uint32_t pe_at(const struct ranks *r, int64_t place)
{
    return pe_of(r, rank_at(r, place));
}

/* -- grids ---------------------------------------------------------------------------------- */

/* A rank of a collective is a PE, a cube or a SIP. */
enum over { OVER_PES, OVER_CUBES, OVER_SIPS };

/*
 * The ranks by the axes of the machine: the PEs of this cube; then the PEs of the same number in
 * the cubes of this row, in those of this column, and in the same cube of the other SIPs.
 */
struct grid {
    struct ranks cube, row, column, sip;
};

/* By number where no ends are joined. */
static inline struct lap cubes_of(const kb_topology *topo)
{
    kb_info info = info_of_pes(topo);

    return info.wrap_x || info.wrap_y ? lap_of_cubes(topo, &info)
                                      : (struct lap){.w = info.mesh_w, .h = info.mesh_h};
}

static inline struct lap sips_of(const kb_topology *topo)
{
    kb_info info;

    kb_topology_info(topo, &info);
    return info.grid_wrap_x || info.grid_wrap_y ? lap_of_sips(&info)
                                                : (struct lap){.w = info.sips, .h = 1};
}

/* In which order a ring of all ranks visits them: by the laps, if some ends are joined. */
static inline struct order order_over(const kb_topology *topo, enum over over)
{
    kb_info info = info_of_pes(topo);

    if (!info.wrap_x && !info.wrap_y && !info.grid_wrap_x && !info.grid_wrap_y)
        return (struct order){.pes = 0};
    return (struct order){.cubes =
                              over == OVER_SIPS ? (struct lap){.w = 1, .h = 1} : cubes_of(topo),
                          .sips = sips_of(topo),
                          .pes = over == OVER_PES ? info.pes_per_cube : 1};
}

/* The order of a ring along a row or column of n cubes; `back`: against their numbers. */
static inline struct order order_along(uint32_t n, bool back)
{
    struct lap line = {.w = n, .h = 1, .west = back}, one = {.w = 1, .h = 1};

    return back ? (struct order){line, one, 1} : (struct order){.pes = 0};
}

static inline struct ranks ranks_along(const tl_ctx *tl, uint32_t stride, uint32_t n, bool is_axis)
{
    uint32_t me = tl_pe(tl) / stride % n;

    if (!is_axis)
        return (struct ranks){.first = tl_pe(tl), .stride = 1, .n = 1};
    return (struct ranks){.first = tl_pe(tl) - me * stride, .stride = stride, .n = n, .me = me};
}

/* In which order rings along rows, columns and SIPs visit them. */
static inline void order_grid(const kb_topology *topo, struct grid *g)
{
    struct lap cubes = cubes_of(topo);

    g->row.order = order_along((uint32_t)g->row.n, cubes.west);
    g->column.order = order_along((uint32_t)g->column.n, cubes.north);
    g->sip.order = order_over(topo, OVER_SIPS);
}

static inline struct grid grid_of(const tl_ctx *tl, enum over over)
{
    kb_info info = info_of_pes(tl_topology(tl));
    uint32_t pes = info.pes_per_cube, cubes = pes * info.cubes_per_sip;
    struct grid g = {.cube = ranks_along(tl, 1, pes, over == OVER_PES),
                     .row = ranks_along(tl, pes, info.mesh_w, over != OVER_SIPS),
                     .column = ranks_along(tl, pes * info.mesh_w, info.mesh_h, over != OVER_SIPS),
                     .sip = ranks_along(tl, cubes, info.sips, true)};

    order_grid(tl_topology(tl), &g);
    return g;
}

/* All ranks in one list. */
static inline struct ranks ranks_over(const tl_ctx *tl, enum over over)
{
    kb_info info = info_of_pes(tl_topology(tl));
    uint32_t stride = over == OVER_PES ? 1 : info.pes_per_cube;

    if (over == OVER_SIPS)
        stride *= info.cubes_per_sip;
    struct ranks r =
        ranks_along(tl, stride, info.sips * info.cubes_per_sip * info.pes_per_cube / stride, true);

    r.order = order_over(tl_topology(tl), over);
    return r;
}

#endif
