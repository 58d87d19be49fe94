/*
 * mesh.h -- from cube to cube on a plane, and from SIP to SIP: rings, one-way planes, detours.
 *
 * A plane (struct plane_row) is a network of its own between the cubes of a SIP. Where it is whole,
 * the next step of a route follows from the two cubes alone: first the plane's first dimension,
 * then the other; on a ring the shorter way; with one allowed direction that. mesh_default() does
 * this, and no table is needed, however large the mesh is.
 *
 * Where both ways round a ring are as long, a route goes E or S; or, with ties spread, W or N if it
 * begins in an odd place (column + row). That holds for all of its ties, so what asks for a step
 * says whether the route is an `odd` one: cube_is_odd() of the cube where it begins.
 *
 * Where a cube is missing or a link broken, routes may go around. The generator computes the exact
 * next exit of every pair of cubes (gen/planes.c), and has a row of `detours` for each cube from
 * which some exit is another one than by default, with the exit to each cube of its SIP. Few cubes
 * have one: in 32 x 32 cubes with one broken link the two beside it.
 *
 * On a one-way plane a read goes where its data come from: the route of the data is found from the
 * memory's cube to the requester's, and walked backwards (mesh_back_exit()). A route in order of
 * dimensions is the same from each of its cubes on, so the step before a cube is that of the last
 * dimension in which it lies off the first cube. With detours that does not hold, and the route is
 * followed from its begin.
 *
 * A net (port_rows) is one plane without an order of dimensions: each of its cubes has a row of
 * `detours`, which gen/net_routes.c makes, and a step leads wherever the port does. So a side is a
 * port here, a number below t->ports.
 *
 * Where packets of a net could wait in a circle else, its routes go up a tree of cubes, then down
 * (gen/net_routes.c). Then the step out of a cube also depends on whether the route has come down
 * before: there are two tables, and a route is followed from its begin to know which one counts.
 *
 * With rails (fabric.net) ports lead to cubes of other SIPs, too, and to switches, which are cubes
 * behind those of all SIPs. A route between two SIPs goes by a table of its own, of all pairs of
 * cubes of the machine; one inside a SIP never leaves it. So what asks for a step of a route says
 * between which two cubes it leads: mesh_step().
 *
 * Example: w 4, h 2, wrap xy, plane noc1 with dirs [N, W] and order yx, a read c0 -> c5. The data
 * go from c5 (1, 1) to c0 (0, 0): N to c1, then W to c0. So the request leaves c0 to the east, and
 * c1 to the south. On noc0, dirs [E, S] and order xy, a write c0 -> c5 goes E, S: the same cubes.
 */
#ifndef MESH_H
#define MESH_H
#include "machine/cost.h"

/* No way leads there; no such cube. */
enum { NO_EXIT = EXIT_END };
#define NO_SHORE UINT16_MAX
#define NO_WHERE UINT32_MAX

static inline enum side walk_opposite(uint32_t side)
{
    return (enum side)((side + 2) % N_SIDES);
}

static inline bool side_is_vertical(uint32_t side)
{
    return side % 2 == 0; /* N, S */
}

/* Port `port` of `cube`, of a net. */
static inline const struct port_row *net_port(const struct kb_topology *t, uint32_t cube,
                                              uint32_t port)
{
    return &t->port_rows[(size_t)cube * t->ports + port];
}

/* The side by which what leaves `cube` by `exit` comes into the next one. */
static inline uint32_t walk_far_side(const struct kb_topology *t, uint32_t cube, uint32_t exit)
{
    return t->port_rows ? net_port(t, cube, exit)->port : (uint32_t)walk_opposite(exit);
}

/* Whether a step from `cube` to `side` leads over the border: there is a wrap link, or none. */
static inline bool mesh_at_border(const struct kb_topology *t, uint32_t cube, uint32_t side)
{
    switch (side) {
    case SIDE_N:
        return cube_row(t, cube) == 0;
    case SIDE_E:
        return cube_column(t, cube) + 1 == t->w;
    case SIDE_S:
        return cube_row(t, cube) + 1 == t->h;
    default:
        return cube_column(t, cube) == 0;
    }
}

/* The neighbour of `cube` on a side where there is one. */
static inline uint32_t walk_neighbour(const struct kb_topology *t, uint32_t cube, uint32_t side)
{
    bool wraps;

    if (t->port_rows)
        return net_port(t, cube, side)->cube;
    wraps = !t->regular && mesh_at_border(t, cube, side);
    switch (side) {
    case SIDE_N:
        return wraps ? cube + t->cubes - t->w : cube - t->w;
    case SIDE_E:
        return wraps ? cube + 1 - t->w : cube + 1;
    case SIDE_S:
        return wraps ? cube + t->w - t->cubes : cube + t->w;
    default:
        return wraps ? cube + t->w - 1 : cube - 1;
    }
}

/* What the wire of `cube` to its neighbour at `exit` is longer than others: a wrap link may be. */
static inline int64_t mesh_extra_fs(const struct kb_topology *t, uint32_t cube, uint32_t exit)
{
    if (t->regular || t->wrap == WRAP_NONE || exit >= t->ports || !mesh_at_border(t, cube, exit))
        return 0;
    return t->wrap_wire_fs - t->d2d_wire_fs;
}

/* -- what is there -------------------------------------------------------------------------- */

/* Of a cube's row of cube_edges: masks of sides, in letters from EDGE_NONE on. */
enum { EDGES_OUT, EDGES_NOC_TO_UCIE, EDGES_UCIE_TO_NOC, N_EDGE_LETTERS };
enum { EDGE_NONE = 'A', EDGE_NO_CUBE = '-' };

static inline uint8_t mesh_edges(const struct kb_topology *t, uint32_t plane, uint32_t cube,
                                 uint32_t of)
{
    return t->cube_edges[((size_t)cube * t->planes + plane) * N_EDGE_LETTERS + of];
}

static inline bool mesh_has_cube(const struct kb_topology *t, uint32_t cube)
{
    return !t->has_gaps || mesh_edges(t, 0, cube, EDGES_OUT) != EDGE_NO_CUBE;
}

/* Is there a link from `cube` to its neighbour on `side`? */
static inline bool mesh_has_link(const struct kb_topology *t, uint32_t plane, uint32_t cube,
                                 uint32_t side)
{
    if (t->port_rows)
        return net_port(t, cube, side)->flags & PORT_OUT;
    if (t->has_gaps)
        return mesh_has_cube(t, cube) &&
               (mesh_edges(t, plane, cube, EDGES_OUT) - EDGE_NONE) >> side & 1;
    if (mesh_at_border(t, cube, side) &&
        (!(t->wrap >> side_is_vertical(side) & 1) || (side_is_vertical(side) ? t->h : t->w) < 2))
        return false;
    return t->plane_rows[plane].dirs >> side & 1;
}

/* Is there a link from the neighbour of `cube` on `side` back to it? */
static inline bool mesh_has_back_link(const struct kb_topology *t, uint32_t plane, uint32_t cube,
                                      uint32_t side)
{
    bool ring = (side_is_vertical(side) ? t->h : t->w) > 1 && t->wrap >> side_is_vertical(side) & 1;
    bool leads = t->port_rows ? net_port(t, cube, side)->flags & PORT_IS &&
                                    net_port(t, cube, side)->cube != NO_WHERE
                              : ring || !mesh_at_border(t, cube, side);

    return mesh_has_cube(t, cube) && leads &&
           mesh_has_link(t, plane, walk_neighbour(t, cube, side), walk_far_side(t, cube, side));
}

/* Is there the edge noc -> ucie of `side`, or back? */
static inline bool mesh_has_port(const struct kb_topology *t, uint32_t plane, uint32_t cube,
                                 uint32_t side, bool outward)
{
    if (t->port_rows)
        return net_port(t, cube, side)->flags & (outward ? PORT_FROM_NOC : PORT_TO_NOC);
    return !t->has_gaps ||
           (mesh_edges(t, plane, cube, outward ? EDGES_NOC_TO_UCIE : EDGES_UCIE_TO_NOC) -
            EDGE_NONE) >>
                   side &
               1;
}

/* -- from cube to cube ---------------------------------------------------------------------- */

/* Tables of routes there are for each plane: one, or one for routes that are odd, too. */
static inline uint32_t mesh_ties(const struct kb_topology *t)
{
    return t->wrap & WRAP_SPREAD ? 2 : 1;
}

/* The same, or of a net one for routes that have come down, too. */
static inline uint32_t mesh_tables(const struct kb_topology *t)
{
    return t->routes_by == ROUTES_UP_DOWN ? 2 : mesh_ties(t);
}

/* The side towards `to` in one dimension; N_EXITS if it is in line. */
static inline uint32_t mesh_towards(const struct kb_topology *t, uint32_t plane, bool odd,
                                    uint32_t from, uint32_t to, bool y)
{
    uint32_t n = y ? t->h : t->w, up = y ? SIDE_S : SIDE_E, down = y ? SIDE_N : SIDE_W;
    uint32_t a = y ? cube_row(t, from) : cube_column(t, from);
    uint32_t b = y ? cube_row(t, to) : cube_column(t, to);
    uint32_t ups = b >= a ? b - a : b + n - a;
    bool has_up = t->plane_rows[plane].dirs >> up & 1;
    bool has_down = t->plane_rows[plane].dirs >> down & 1;

    if (a == b)
        return N_EXITS;
    if (has_up != has_down)
        return has_up ? up : down;
    if (!(t->wrap >> y & 1))
        return a < b ? up : down;
    return ups + odd <= n - ups ? up : down;
}

/* Whether a whole plane leads from `from` to `to` in one dimension. */
static inline bool mesh_leads(const struct kb_topology *t, uint32_t plane, uint32_t from,
                              uint32_t to, bool y)
{
    uint32_t side = mesh_towards(t, plane, false, from, to, y);
    uint32_t a = y ? cube_row(t, from) : cube_column(t, from);
    uint32_t b = y ? cube_row(t, to) : cube_column(t, to);

    if (side == N_EXITS)
        return true;
    if (!(t->plane_rows[plane].dirs >> side & 1))
        return false;
    return t->wrap >> y & 1 || (a < b) == (side == SIDE_E || side == SIDE_S);
}

/* The exit of a whole plane from `from` to `to`, which differ, if there is a way. */
static inline uint32_t mesh_default(const struct kb_topology *t, uint32_t plane, bool odd,
                                    uint32_t from, uint32_t to)
{
    bool y_first = t->plane_rows[plane].y_first;
    uint32_t side = mesh_towards(t, plane, odd, from, to, y_first);

    return side != N_EXITS ? side : mesh_towards(t, plane, odd, from, to, !y_first);
}

/* The same, or NO_EXIT. */
static inline uint32_t mesh_default_or_none(const struct kb_topology *t, uint32_t plane, bool odd,
                                            uint32_t from, uint32_t to)
{
    if (!mesh_leads(t, plane, from, to, false) || !mesh_leads(t, plane, from, to, true))
        return NO_EXIT;
    return mesh_default(t, plane, odd, from, to);
}

/* The row of detours of `cube`; NULL: it has none. */
static inline const uint8_t *mesh_detours(const struct kb_topology *t, uint32_t plane, bool odd,
                                          uint32_t cube)
{
    uint32_t row;

    if (!t->plane_rows[plane].has_detours)
        return NULL;
    row = t->detour_of[(size_t)(odd * t->planes + plane) * sip_cubes(t) + cube];
    return row ? &t->detours[(size_t)(row - 1) * t->cubes] : NULL;
}

/* The exit by which a route leaves `from` for `to`, both of one SIP, if there is a way. */
static inline uint32_t mesh_exit(const struct kb_topology *t, uint32_t plane, bool odd,
                                 uint32_t from, uint32_t to)
{
    const uint8_t *row = mesh_detours(t, plane, odd, from);

    return row ? (uint8_t)(row[to % t->cubes] - '0') : mesh_default(t, plane, odd, from, to);
}

/* Does a route between these two go over rails? */
static inline bool mesh_by_rail(const struct kb_topology *t, uint32_t from, uint32_t to)
{
    return t->rails && !cost_same_sip(t, from, to);
}

/* Does a read between these two go by the route of its data? */
static inline bool mesh_is_one_way(const struct kb_topology *t, uint32_t plane, uint32_t from,
                                   uint32_t to)
{
    return mesh_by_rail(t, from, to) ? t->rails_one_way : t->plane_rows[plane].one_way;
}

/* The exit by which a route over rails leaves `from` for `to`; `down`: it has come down before. */
static inline uint32_t mesh_rail(const struct kb_topology *t, bool down, uint32_t from, uint32_t to)
{
    return (uint8_t)(t->rails[((size_t)down * sim_cubes(t) + from) * sim_cubes(t) + to] - '0');
}

/* The exit by which a route from `first` to `last` leaves `at`, if it goes up and then down. */
static inline uint32_t mesh_up_down(const struct kb_topology *t, uint32_t at, uint32_t first,
                                    uint32_t last)
{
    bool rail = mesh_by_rail(t, first, last), down = false;
    uint32_t cube = first;

    for (;;) {
        uint32_t exit = rail ? mesh_rail(t, down, cube, last) : mesh_exit(t, 0, down, cube, last);

        if (cube == at)
            return exit;
        down = down || net_port(t, cube, exit)->flags & PORT_DOWN;
        cube = net_port(t, cube, exit)->cube;
    }
}

/* The exit by which a route from `first` to `last` leaves `at`. */
static inline uint32_t mesh_step(const struct kb_topology *t, uint32_t plane, bool odd, uint32_t at,
                                 uint32_t first, uint32_t last)
{
    if (t->routes_by == ROUTES_UP_DOWN)
        return mesh_up_down(t, at, first, last);
    return mesh_by_rail(t, first, last) ? mesh_rail(t, false, at, last)
                                        : mesh_exit(t, plane, odd, at, last);
}

static inline bool mesh_has_way(const struct kb_topology *t, uint32_t plane, uint32_t from,
                                uint32_t to)
{
    const uint8_t *row;

    if (from == to)
        return true;
    if (mesh_by_rail(t, from, to))
        return mesh_rail(t, false, from, to) != NO_EXIT;
    row = mesh_detours(t, plane, false, from);
    return (row ? (uint8_t)(row[to % t->cubes] - '0')
                : mesh_default_or_none(t, plane, false, from, to)) != NO_EXIT;
}

/* The exit of `at` towards the cube before it on the route from `first` to `last`. */
static inline uint32_t mesh_back_exit(const struct kb_topology *t, uint32_t plane, bool odd,
                                      uint32_t at, uint32_t first, uint32_t last)
{
    bool y_last = !t->plane_rows[plane].y_first;
    uint32_t side;

    if (!t->plane_rows[plane].has_detours) {
        side = mesh_towards(t, plane, odd, first, at, y_last);
        return walk_opposite(side != N_EXITS ? side
                                             : mesh_towards(t, plane, odd, first, at, !y_last));
    }
    for (uint32_t cube = first, next;; cube = next) {
        side = mesh_step(t, plane, odd, cube, first, last);
        next = walk_neighbour(t, cube, side);
        if (next == at)
            return walk_far_side(t, cube, side);
    }
}

/* -- the shore ------------------------------------------------------------------------------ */

/* The cube `place` along the side of a chiplet, in the SIP of `cube`. */
static inline uint32_t mesh_on_shore(const struct kb_topology *t, uint32_t chiplet, uint32_t cube,
                                     uint32_t place)
{
    uint32_t first = cube - cube % t->cubes;

    if (t->port_rows)
        return first + t->io_cubes[place];
    switch (t->io_sides[chiplet]) {
    case SIDE_N:
        return first + place;
    case SIDE_E:
        return first + place * t->w + t->w - 1;
    case SIDE_S:
        return first + t->cubes - t->w + place;
    default:
        return first + place * t->w;
    }
}

/* Where `cube` stands along that side: its row or its column; in a net its place in the list,
 * n_shore: it is not in it. */
static inline uint32_t mesh_shore_place(const struct kb_topology *t, uint32_t chiplet,
                                        uint32_t cube)
{
    uint32_t place = 0;

    if (!t->port_rows)
        return side_is_vertical(t->io_sides[chiplet]) ? cube_column(t, cube) : cube_row(t, cube);
    while (place < t->n_shore && t->io_cubes[place] != cube % t->cubes)
        place++;
    return place;
}

/* Is it one of the cubes that the chiplet is joined to? */
static inline bool mesh_is_ashore(const struct kb_topology *t, uint32_t chiplet, uint32_t cube)
{
    return t->port_rows ? mesh_shore_place(t, chiplet, cube) < t->n_shore
                        : mesh_at_border(t, cube, t->io_sides[chiplet]);
}

/* Cubes along the side of a chiplet. */
static inline uint32_t mesh_shore_length(const struct kb_topology *t, uint32_t chiplet)
{
    if (t->port_rows)
        return t->n_shore;
    return side_is_vertical(t->io_sides[chiplet]) ? t->w : t->h;
}

/*
 * The shore cube of a way between `cube` and a chiplet; `to_shore`: the way leads to the chiplet.
 * NO_WHERE: there is no way.
 */
static inline uint32_t mesh_shore(const struct kb_topology *t, uint32_t plane, uint32_t chiplet,
                                  uint32_t cube, bool to_shore)
{
    uint32_t place, shore;

    if (!t->has_gaps)
        place = mesh_shore_place(t, chiplet, cube);
    else
        place =
            t->shores[(((size_t)cube * t->planes + plane) * t->chiplets + chiplet) * 2 + to_shore];
    if (place == NO_SHORE)
        return NO_WHERE;
    shore = mesh_on_shore(t, chiplet, cube, place);
    return mesh_has_way(t, plane, to_shore ? cube : shore, to_shore ? shore : cube) ? shore
                                                                                    : NO_WHERE;
}

/* -- from SIP to SIP ------------------------------------------------------------------------ */

/* The same as cube_is_odd(), of a route over the grid that begins in SIP `sip`. */
static inline bool grid_is_odd(const struct kb_topology *t, uint32_t sip)
{
    return t->grid_wrap & WRAP_SPREAD && (sip % t->grid_w + sip / t->grid_w) % 2;
}

static inline uint32_t grid_step(const struct kb_topology *t, uint32_t sip, uint32_t side)
{
    uint32_t x = sip % t->grid_w, y = sip / t->grid_w;

    switch (side) {
    case SIDE_N:
        y = (y + t->grid_h - 1) % t->grid_h;
        break;
    case SIDE_E:
        x = (x + 1) % t->grid_w;
        break;
    case SIDE_S:
        y = (y + 1) % t->grid_h;
        break;
    default:
        x = (x + t->grid_w - 1) % t->grid_w;
        break;
    }
    return y * t->grid_w + x;
}

/* Is there an edge from SIP `sip` to the next one on `side`? */
static inline bool grid_has_edge(const struct kb_topology *t, uint32_t sip, uint32_t side)
{
    uint32_t n = side_is_vertical(side) ? t->grid_h : t->grid_w;
    uint32_t at = side_is_vertical(side) ? sip / t->grid_w : sip % t->grid_w;
    bool border = at == (side == SIDE_E || side == SIDE_S ? n - 1 : 0);

    return !border || (n > 1 && t->grid_wrap >> side_is_vertical(side) & 1);
}

/* The side by which a route leaves SIP `from` for another one, `to`: X first, then Y. */
static inline uint32_t grid_exit(const struct kb_topology *t, bool odd, uint32_t from, uint32_t to)
{
    bool y = from % t->grid_w == to % t->grid_w;
    uint32_t n = y ? t->grid_h : t->grid_w, up = y ? SIDE_S : SIDE_E;
    uint32_t a = y ? from / t->grid_w : from % t->grid_w, b = y ? to / t->grid_w : to % t->grid_w;
    uint32_t ups = b >= a ? b - a : b + n - a;

    if (!(t->grid_wrap >> y & 1))
        return a < b ? up : walk_opposite(up);
    return ups + odd <= n - ups ? up : walk_opposite(up);
}

#endif
