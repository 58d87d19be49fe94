/*
 * stops.c -- which nodes of which cubes are routers: those where ways meet or part.
 *
 * A node is a router if over all routes, requests and answers, an edge into it goes on by two, or
 * an edge out of it is entered from two. So for each cube its pieces of routes (segments.c) are
 * passed hop by hop, in both directions, and each edge remembers by which edge it goes on, and from
 * which it is entered. A node that sees a second one is a router.
 *
 * Which pieces are used depends on the place of a cube: one on the border has fewer links. Few
 * cubes differ in that, so most share a row: stop_of[cube] is its number, stops[row] has a letter
 * for each node of a cube.
 *
 * A pe_dma is a source and a sink, and always '1'; an m_cpu is an end of its own, and memories end
 * routes. The crossbar node of a cube that has one of them and one slice is never a router: it is
 * part of the memory's channel.
 *
 * Example: c1 of three cubes in a row, one PE each: the edge ucie-W > noc goes on to xbar, sram,
 * m_cpu, pe_dma and ucie-E, so noc is a router; ucie-W > ucie > noc lead one from the other.
 */
#include "stops.h"
#include "check.h"
#include "machine/walk.h"
#include "nodes.h"
#include <string.h>

enum { NONE = UINT16_MAX };

/* Sides of a cube, by planes; or ports of a net. */
struct sides {
    uint64_t bits[4];
};

/* How a cube's routes enter and leave it. */
struct use {
    struct sides in, out;
    struct sides shores;  /* where it stands on a shore; */
    struct sides crosses; /* of these the one from which routes go to other SIPs */
    bool odd;             /* its routes go W and N where both ways round a ring are as long */
    struct pe_set pes;
    uint32_t kind;
    uint32_t turns; /* of a switch: its number, as routes may take only some of its ways */
};

struct stops {
    struct routes *r;
    uint32_t cube;
    struct use use;
    uint8_t *taken;          /* [plane][cube]: sides by which routes leave it; NULL: all */
    bool *turns;             /* of switches of a net: [turns][port in][exit]: routes take it */
    uint32_t *turns_of;      /* [cube]: a switch's row of these, from 1 */
    uint16_t *next, *before; /* [edge] */
    uint8_t *row;
};

/* -- edges ---------------------------------------------------------------------------------- */

/* Edges inside a cube, then those that leave it by plane, side and N_SIDES: ashore; the pair of
 * each is its way back. */
static uint16_t edge_inside(const struct hop_row *hop)
{
    return (uint16_t)(2 * hop->link + hop->back);
}

static uint16_t edge_outside(const struct stops *w, uint32_t plane, uint32_t side, bool ashore,
                             bool inward)
{
    uint32_t place = (plane * w->r->topo.ports + side) * 2 + ashore;

    return (uint16_t)(2 * (w->r->topo.n_cube_links + place) + inward);
}

/* Lanes of an edge: each goes on to one of the same number only where there are as many. */
static uint32_t lanes_of(const struct stops *w, uint16_t edge)
{
    const struct kb_topology *t = &w->r->topo;
    uint32_t link = edge / 2u, port;

    if (link < t->n_cube_links)
        return walk_cube_link(t, w->cube, link)->lanes[edge & 1];
    port = (link - t->n_cube_links) / 2;
    return t->port_rows && port + 1 < t->ports
               ? walk_cube_link(t, w->cube, walk_first_d2d(t) + port)->lanes[0]
               : 1;
}

static void lead(struct stops *w, uint32_t node, uint16_t in, uint16_t out)
{
    if (w->next[in] == NONE)
        w->next[in] = out;
    if (w->before[out] == NONE)
        w->before[out] = in;
    if (w->next[in] != out || w->before[out] != in || lanes_of(w, in) != lanes_of(w, out))
        w->row[node] = '1';
}

/* A request goes on by `out`, and its answer comes back. */
static void pass(struct stops *w, uint32_t node, uint16_t in, uint16_t out)
{
    lead(w, node, in, out);
    lead(w, node, out ^ 1, in ^ 1);
}

/* -- pieces of routes ----------------------------------------------------------------------- */

/* A segment that is entered by `in`, NONE: it begins here; it leaves by `out` if at all. */
static void add_segment(struct stops *w, uint32_t segment, uint16_t in, uint16_t out)
{
    const struct kb_topology *t = &w->r->topo;
    const struct segment_row *seg = segment_at(t, w->cube, segment);

    for (uint32_t i = 0; i < seg->n_hops; i++) {
        const struct hop_row *hop = &t->hops[seg->first_hop + i];
        bool last = i + 1u == seg->n_hops;
        uint16_t on = last ? out : edge_inside(hop);

        if (hop->owner == LINK_NONE)
            return;
        if (walk_cube_node(t, w->cube, hop->node)->kind == NODE_M_CPU)
            in = NONE; /* an end, and a begin */
        if (in != NONE)
            pass(w, hop->node, in, on);
        in = on;
    }
}

static bool has_unit(const struct stops *w, uint32_t unit)
{
    const struct kb_topology *t = &w->r->topo;

    if (unit_is_slice(t, unit))
        return unit < kind_at(t, w->cube)->slices;
    return !unit_is_tcm(t, unit) || pe_set_has(&w->use.pes, unit_pe(t, unit));
}

static bool holds(const struct stops *w, const struct sides *of, uint32_t plane, uint32_t side)
{
    uint32_t i = plane * w->r->topo.ports + side;

    return of->bits[i / 64] >> i % 64 & 1;
}

static void add_side(const struct stops *w, struct sides *to, uint32_t plane, uint32_t side,
                     bool is)
{
    uint32_t i = plane * w->r->topo.ports + side;

    to->bits[i / 64] |= (uint64_t)is << i % 64;
}

/* Do routes leave, or enter, by it? A read on a one-way plane goes the way of its data back. */
static bool is_used(const struct stops *w, uint32_t plane, uint32_t side, bool out)
{
    bool both = w->r->topo.plane_rows[plane].one_way;

    return ((out || both) && holds(w, &w->use.out, plane, side)) ||
           ((!out || both) && holds(w, &w->use.in, plane, side));
}

static void add_from_pes(struct stops *w, uint32_t plane)
{
    const struct kb_topology *t = &w->r->topo;

    for (uint32_t pe = 0; pe < t->pes; pe++) {
        if (!pe_set_has(&w->use.pes, pe))
            continue;
        for (uint32_t unit = 0; unit < t->n_units; unit++)
            if (has_unit(w, unit))
                add_segment(w, seg_of_local(t, plane, pe, unit), NONE, NONE);
        for (uint32_t side = 0; side < t->ports; side++) {
            if (is_used(w, plane, side, true))
                add_segment(w, seg_of_out(t, plane, pe, side), NONE,
                            edge_outside(w, plane, side, false, false));
            if (holds(w, &w->use.crosses, 0, side))
                add_segment(w, seg_of_out(t, plane, pe, exit_io(t)), NONE,
                            edge_outside(w, plane, side, true, false));
        }
    }
}

/* To all memories, from `side` of the cube or from the shore there. */
static void add_in(struct stops *w, uint32_t plane, uint32_t side, bool ashore, bool of_hosts)
{
    const struct kb_topology *t = &w->r->topo;
    uint16_t in = edge_outside(w, plane, side, ashore, true);

    for (uint32_t unit = 0; unit < t->n_units; unit++) {
        if (!has_unit(w, unit))
            continue;
        if (!of_hosts)
            add_segment(w, seg_of_in(t, plane, side, unit), in, NONE);
        else if (unit_is_slice(t, unit) && (!t->regular || side == SIDE_W))
            add_segment(w, seg_of_host_in(t, plane, side, unit), in, NONE);
    }
}

/* Do routes come in by `side` and leave by `exit`? In order of dimensions, if nothing is missing.
 */
static bool passes(const struct stops *w, uint32_t plane, uint32_t side, uint32_t exit)
{
    const struct kb_topology *t = &w->r->topo;
    bool y = side_is_vertical(side), one_way;
    uint32_t n = y ? t->h : t->w;

    if (side == exit)
        return false;
    if (w->use.turns)
        return w->turns[((w->use.turns - 1) * t->ports + side) * t->ports + exit];
    if (t->plane_rows[plane].has_detours || w->r->up_down)
        return true;
    if (side_is_vertical(exit) != y)
        return y == t->plane_rows[plane].y_first;
    one_way = !(t->plane_rows[plane].dirs >> side & 1) || !(t->plane_rows[plane].dirs >> exit & 1);
    return !(t->wrap >> y & 1) || n > 3 || (n == 3 && one_way);
}

/*
 * Do routes between the shore at `side` and the side `exit` pass the cube in a step to `step`?
 * Straight on; and in a ring also back over its dateline, which in a ring of two only steps do that
 * lead from their cube to the other one.
 */
static bool passes_from_shore(const struct stops *w, uint32_t plane, uint32_t side, uint32_t exit,
                              uint32_t step)
{
    const struct kb_topology *t = &w->r->topo;
    bool y = side_is_vertical(side);
    uint32_t other, from;

    if (t->port_rows)
        return passes(w, plane, side, exit);
    other = walk_neighbour(t, w->cube, side);
    from = step == exit ? w->cube : other;
    if (exit == walk_opposite(side) || t->plane_rows[plane].has_detours || w->r->up_down)
        return true;
    return exit == side && t->wrap >> y & 1 &&
           ((y ? t->h : t->w) > 2 || mesh_towards(t, plane, cube_is_odd(t, from), from,
                                                  from == other ? w->cube : other, y) == step);
}

static void add_between(struct stops *w, uint32_t plane)
{
    const struct kb_topology *t = &w->r->topo;

    for (uint32_t side = 0; side < t->ports; side++)
        for (uint32_t exit = 0; exit < t->ports; exit++) {
            bool in = holds(w, &w->use.in, plane, side);
            bool out = holds(w, &w->use.out, plane, exit);
            uint32_t step = walk_opposite(side);

            if (in && out && passes(w, plane, side, exit))
                add_segment(w, seg_of_pass(t, plane, side, exit),
                            edge_outside(w, plane, side, false, true),
                            edge_outside(w, plane, exit, false, false));
            if (holds(w, &w->use.shores, 0, side) && out &&
                passes_from_shore(w, plane, side, exit, exit))
                add_segment(w, seg_of_pass(t, plane, side, exit),
                            edge_outside(w, plane, side, true, true),
                            edge_outside(w, plane, exit, false, false));
            if (in && holds(w, &w->use.crosses, 0, exit) &&
                passes_from_shore(w, plane, side, exit, step))
                add_segment(w, seg_of_pass(t, plane, side, exit_io(t)),
                            edge_outside(w, plane, side, false, true),
                            edge_outside(w, plane, exit, true, false));
        }
}

static void add_to_memories(struct stops *w, uint32_t plane)
{
    for (uint32_t side = 0; side < w->r->topo.ports; side++) {
        if (is_used(w, plane, side, false)) {
            add_in(w, plane, side, false, false);
            add_in(w, plane, side, false, true);
        }
        if (holds(w, &w->use.crosses, 0, side))
            add_in(w, plane, side, true, false);
        if (holds(w, &w->use.shores, 0, side))
            add_in(w, plane, side, true, true);
    }
}

/* -- all cubes ------------------------------------------------------------------------------ */

/* Where ties are spread, routes may take only one of the two links of a ring of two. */
static bool may_leave_links(const struct kb_topology *t)
{
    return t->wrap & WRAP_SPREAD &&
           ((t->wrap & WRAP_X && t->w == 2) || (t->wrap & WRAP_Y && t->h == 2));
}

/* -- switches of a net ---------------------------------------------------------------------- */

/* The turn of a route through `cube`, which may be no switch. */
static void take_turn(struct stops *w, uint32_t cube, uint32_t in, uint32_t exit)
{
    const struct kb_topology *t = &w->r->topo;

    if (w->turns_of[cube])
        w->turns[((w->turns_of[cube] - 1) * t->ports + in) * t->ports + exit] = true;
}

/* The turns on the other ways from a cube to another one. */
static void take_other_ways(struct stops *w, uint32_t from, uint32_t to)
{
    const struct kb_topology *t = &w->r->topo;
    const struct path_row *ways = paths_between(t, from, to);

    for (uint32_t way = 1; ways && way < ways->n; way++) {
        uint32_t cube = from, in = t->ports - 1;

        for (uint32_t i = 0; i < ways[way].links; i++) {
            uint32_t exit = t->path_ports[ways[way].ports + i] - (uint32_t)'0';

            take_turn(w, cube, in, exit);
            in = walk_far_side(t, cube, exit);
            cube = walk_neighbour(t, cube, exit);
        }
    }
}

/* The turns on the way to `to`, from one that is entered by port `in`; and there to `exit`. */
static void take_way(struct stops *w, uint32_t from, uint32_t to, uint32_t in, uint32_t exit)
{
    const struct kb_topology *t = &w->r->topo;

    if (from == NO_WHERE || to == NO_WHERE || !mesh_has_way(t, 0, from, to))
        return;
    for (uint32_t at = from, on; at != to; at = walk_neighbour(t, at, on)) {
        on = mesh_step(t, 0, false, at, from, to);
        take_turn(w, at, in, on);
        in = walk_far_side(t, at, on);
    }
    take_turn(w, to, in, exit);
}

static void take_all_ways(struct stops *w, uint32_t from, uint32_t to)
{
    uint32_t io = w->r->topo.ports - 1;

    take_way(w, from, to, io, io);
    take_other_ways(w, from, to);
}

static bool is_switch_of(const struct stops *w, uint32_t cube)
{
    return is_switch(w->r->found->kinds[cube_kind(&w->r->topo, cube)]);
}

/* On routes to `to`: from cubes of its SIP, or over rails of all, and from and to its IO chiplet.
 */
static void find_turns_to(struct stops *w, uint32_t to)
{
    const struct kb_topology *t = &w->r->topo;
    uint32_t first = t->rails ? 0 : to - to % t->cubes, io = t->ports - 1;
    uint32_t end = t->rails ? sip_cubes(t) : first + t->cubes;

    for (uint32_t from = first; from < end; from++) {
        if (!mesh_has_cube(t, from) || !kind_at(t, from)->pes)
            continue;
        take_all_ways(w, from, to);
        if (mesh_is_one_way(t, 0, from, to))
            take_all_ways(w, to, from);
    }
    take_way(w, mesh_shore(t, 0, 0, to, false), to, io, io);
    if ((t->sips > 1 && !t->rails) || t->plane_rows[0].one_way)
        take_way(w, to, mesh_shore(t, 0, 0, to, true), io, io);
}

static void find_turns(struct stops *w)
{
    const struct kb_topology *t = &w->r->topo;
    uint32_t n = 0;

    w->turns_of = arena_alloc(w->r->arena, sim_cubes(t) * sizeof *w->turns_of);
    for (uint32_t cube = 0; cube < sim_cubes(t); cube++)
        if (mesh_has_cube(t, cube) && is_switch_of(w, cube))
            w->turns_of[cube] = ++n;
    w->turns = arena_alloc(w->r->arena, (size_t)n * t->ports * t->ports + 1);
    for (uint32_t to = 0; n && to < sip_cubes(t); to++)
        if (mesh_has_cube(t, to) && !is_switch_of(w, to))
            find_turns_to(w, to);
}

/* The steps to `to` of routes that begin in a cube of its SIP, odd ones or the others; a cube of
 * `passed` with this number is known. */
static void take_steps(struct stops *w, uint32_t plane, uint32_t to, bool odd, uint32_t *passed,
                       uint32_t number)
{
    const struct kb_topology *t = &w->r->topo;
    uint8_t *taken = &w->taken[(size_t)plane * sim_cubes(t)];
    uint32_t first = to - to % t->cubes;

    for (uint32_t from = first; from < first + t->cubes; from++) {
        if (cube_is_odd(t, from) != odd || !mesh_has_cube(t, from) ||
            !mesh_has_way(t, plane, from, to))
            continue;
        for (uint32_t cube = from, exit; cube != to && passed[cube] != number;
             cube = walk_neighbour(t, cube, exit)) {
            exit = mesh_exit(t, plane, odd, cube, to);
            taken[cube] |= (uint8_t)(1u << exit);
            passed[cube] = number;
        }
    }
}

static void find_taken(struct stops *w)
{
    const struct kb_topology *t = &w->r->topo;
    uint32_t cubes = sim_cubes(t), number = 0;
    uint32_t *passed = arena_alloc(w->r->arena, cubes * sizeof *passed);

    w->taken = arena_alloc(w->r->arena, (size_t)t->planes * cubes);
    for (uint32_t plane = 0; plane < t->planes; plane++)
        for (uint32_t to = 0; to < cubes; to++)
            for (uint32_t odd = 0; mesh_has_cube(t, to) && odd < 2; odd++)
                take_steps(w, plane, to, odd, passed, ++number);
}

/* Do routes leave `cube` by `side`, on a link that is there? */
static bool is_taken(const struct stops *w, uint32_t plane, uint32_t cube, uint32_t side)
{
    const struct kb_topology *t = &w->r->topo;

    return !w->taken || w->taken[(size_t)plane * sim_cubes(t) + cube] >> side & 1;
}

static struct use use_of(const struct stops *w, uint32_t cube)
{
    const struct kb_topology *t = &w->r->topo;
    struct use use;

    memset(&use, 0, sizeof use); /* compared as bytes */
    use.kind = cube_kind(t, cube);
    use.odd = cube_is_odd(t, cube);
    use.turns = w->turns_of ? w->turns_of[cube] : 0;
    use.pes = t->alike ? pe_set_of_first(t->pes) : t->cube_rows[cube].pes;
    for (uint32_t plane = 0; plane < t->planes; plane++)
        for (uint32_t side = 0; side < t->ports; side++) {
            bool out = mesh_has_link(t, plane, cube, side) && is_taken(w, plane, cube, side);
            bool in = mesh_has_back_link(t, plane, cube, side) &&
                      is_taken(w, plane, walk_neighbour(t, cube, side), walk_opposite(side));

            add_side(w, &use.out, plane, side, out);
            add_side(w, &use.in, plane, side, in);
        }
    for (uint32_t i = 0; i < t->chiplets; i++)
        if (mesh_is_ashore(t, i, cube)) {
            add_side(w, &use.shores, 0, t->io_sides[i], true);
            add_side(w, &use.crosses, 0, t->io_sides[i], i == 0 && t->sips > 1 && !t->rails);
        }
    return use;
}

/* Is the crossbar node only there, as it has one slice and edges of as many servers? */
static bool is_part_of_slice(const struct stops *w)
{
    const struct kind_row *kind = kind_at(&w->r->topo, w->cube);
    const struct spec *of = w->r->found->kinds[cube_kind(&w->r->topo, w->cube)];

    return kind->crossbars == 1 && kind->slices == 1 &&
           (kind->pes == 0 || of->cube_hbm_ports == of->cube_pe_pe_dma_ports);
}

static void fill_row(struct stops *w)
{
    const struct kb_topology *t = &w->r->topo;

    memset(w->row, '0', t->n_cube_nodes);
    for (uint32_t plane = 0; plane < t->planes; plane++) {
        add_from_pes(w, plane);
        add_between(w, plane);
        add_to_memories(w, plane);
    }
    for (uint32_t node = 0; node < t->n_cube_nodes; node++) {
        uint8_t of = walk_cube_node(t, w->cube, node)->kind;

        if (of == NODE_PE_DMA || of == NODE_M_CPU)
            w->row[node] = '1';
        if (of == NODE_XBAR && is_part_of_slice(w))
            w->row[node] = '0';
    }
}

/* The number of the row of a cube, which may be new. */
static uint32_t row_of(struct stops *w, struct use *uses, uint32_t *n)
{
    const struct kb_topology *t = &w->r->topo;
    size_t edges = 2u * (t->n_cube_links + (size_t)t->planes * t->ports * 2);

    arena_pause(w->r->arena);
    w->use = use_of(w, w->cube);
    for (uint32_t i = 0; i < *n; i++)
        if (memcmp(&uses[i], &w->use, sizeof w->use) == 0)
            return i;
    uses[*n] = w->use;
    memset(w->next, 0xff, edges * sizeof *w->next);
    memset(w->before, 0xff, edges * sizeof *w->before);
    w->row = &w->r->stops[(size_t)*n * t->n_cube_nodes];
    fill_row(w);
    return (*n)++;
}

void make_stops(struct routes *r)
{
    const struct kb_topology *t = &r->topo;
    uint32_t cubes = sim_cubes(t);
    size_t edges = 2u * (t->n_cube_links + (size_t)t->planes * t->ports * 2);
    struct stops w = {.r = r};
    struct use *uses;

    if (may_leave_links(t))
        find_taken(&w);
    if (t->port_rows)
        find_turns(&w);
    w.next = arena_alloc(r->arena, edges * sizeof *w.next);
    w.before = arena_alloc(r->arena, edges * sizeof *w.before);
    uses = arena_alloc(r->arena, cubes * sizeof *uses);
    r->stop_of = arena_alloc(r->arena, cubes * sizeof *r->stop_of);
    r->stops = arena_alloc(r->arena, (size_t)cubes * t->n_cube_nodes);
    for (w.cube = 0; w.cube < cubes; w.cube++)
        r->stop_of[w.cube] = mesh_has_cube(t, w.cube) ? (uint16_t)row_of(&w, uses, &r->n_stops) : 0;
    r->topo.stop_of = r->stop_of;
    r->topo.stops = r->stops;
}
