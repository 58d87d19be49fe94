/*
 * planes.c -- the networks between cubes: planes, rings, broken links, and routes around them.
 *
 * A route has the fewest steps. Of the cubes one step nearer to the target, the next one is the
 * first of: toward the target in the plane's first dimension, in its second, to E, W, S, N. Where
 * nothing is missing or broken this is the order of dimensions, which the runtime computes from two
 * cubes alone (machine/mesh.h, mesh_default()). Otherwise it is computed here, for each target by a
 * search outward from it, and compared with that: a cube from which some exit differs gets a row of
 * `detours`. The same search tells which cube of a shoreline is the nearest.
 *
 * What is where:
 *
 *     cube_edges  [cube over all][plane][3]   which links leave a cube, and which ports are whole
 *     detour_of   [plane][cube over all]      the number of its row below, from 1; 0: none
 *     detours     [row][cube of its SIP]      '0' + the exit; NO_EXIT: no way
 *     shores      [cube over all][plane][chiplet][2]   the place of the shore cube: from it, to it
 *
 * Example: cube8 with broken: [c1-c2]. From c1 to c3 east is broken, so by c5, c6, c7: a row for c1
 * with S for c2, c3, c6 and c7 (c6: S, E is as short as E, S, which is broken). c0 goes east to c3
 * as ever, since c1 is one step nearer than c0 and c4 is no nearer. A row for c2 looks the same the
 * other way. All other cubes have none, so 16 bytes say all.
 */
#include "planes.h"
#include "check.h"
#include "cubes.h"
#include "detours.h"
#include "net_routes.h"
#include "net_ways.h"
#include "pattern.h"
#include "machine/mesh.h"
#include <string.h>

/* -- which networks ------------------------------------------------------------------------- */

static void set_plane_rows(struct routes *r)
{
    const struct plane_specs *planes = &r->spec->sip_planes;

    r->topo.planes = (uint8_t)(planes->n ? planes->n : 1);
    r->plane_rows = arena_alloc(r->arena, r->topo.planes * sizeof *r->plane_rows);
    r->plane_rows[0].dirs = (1u << N_SIDES) - 1;
    for (size_t i = 0; i < planes->n; i++) {
        struct plane_row *row = &r->plane_rows[i];

        strcpy(row->name, planes->rows[i].name);
        row->dirs = planes->rows[i].dirs;
        row->y_first = planes->rows[i].y_first;
    }
    r->topo.plane_rows = r->plane_rows;
}

static void set_chiplets(struct routes *r)
{
    static const struct side_specs west = {1, {SIDE_W}};
    const struct net *net = r->found->net;
    const struct side_specs *given = &r->spec->sip_io_chiplets, *sides = given->n ? given : &west;
    bool vertical = false, horizontal = false;

    r->topo.chiplets = (uint8_t)sides->n;
    r->io_sides = arena_alloc(r->arena, sides->n);
    for (size_t i = 0; i < sides->n; i++) {
        r->io_sides[i] = sides->rows[i];
        vertical = vertical || sides->rows[i] % 2 == 0;
        horizontal = horizontal || sides->rows[i] % 2 == 1;
    }
    if (net) { /* the last port of a cube, of those that have one */
        r->io_sides[0] = (uint8_t)(r->topo.ports - 1);
        r->topo.n_shore = net->n_io;
        r->topo.io_sides = r->io_sides;
        return;
    }
    r->topo.n_shore = horizontal ? r->topo.h : 0;
    if (vertical && r->topo.w > r->topo.n_shore)
        r->topo.n_shore = r->topo.w;
    r->topo.io_sides = r->io_sides;
}

static uint8_t wrap_of(int wrap, int tie)
{
    return (uint8_t)(wrap != WRAP_NONE && tie == TIE_SPREAD ? wrap | WRAP_SPREAD : wrap);
}

void set_planes(struct routes *r)
{
    const struct spec *s = r->spec;
    struct kb_topology *t = &r->topo;

    t->wrap = wrap_of(s->sip_cube_mesh_wrap, s->sip_cube_mesh_tie);
    t->wrap_mm = s->sip_cube_mesh_wrap_mm > 0 ? s->sip_cube_mesh_wrap_mm : s->sip_d2d_distance_mm;
    t->plane_choice = (uint8_t)s->sip_plane;
    t->fabric_shape = (uint8_t)s->fabric_shape;
    t->grid_w = (uint32_t)s->fabric_grid_w;
    t->grid_h = (uint32_t)s->fabric_grid_h;
    t->grid_wrap = wrap_of(s->fabric_wrap, s->fabric_tie);
    set_plane_rows(r);
    set_chiplets(r);
    t->has_gaps = s->broken.n > 0 || !r->found->whole || s->route_file || r->found->net;
    t->regular = !t->has_gaps && t->n_kinds == 1 && !t->wrap && !s->sip_planes.n &&
                 r->found->kinds[0]->cube_noc_model == NOC_BUS && t->chiplets == 1 &&
                 t->io_sides[0] == SIDE_W && t->fabric_shape == FABRIC_SWITCH;
}

/* -- which edges are there ------------------------------------------------------------------ */

static uint8_t *edges_of(struct routes *r, uint32_t plane, uint32_t cube)
{
    return &r->cube_edges[((size_t)cube * r->topo.planes + plane) * N_EDGE_LETTERS];
}

/* All edges of the cubes that are there. */
static void fill_edges(struct routes *r)
{
    struct kb_topology *t = &r->topo;
    size_t bytes = (size_t)sim_cubes(t) * t->planes * N_EDGE_LETTERS;

    r->cube_edges = arena_alloc(r->arena, bytes + 1);
    t->has_gaps = false;
    for (uint32_t cube = 0; cube < sim_cubes(t); cube++)
        for (uint32_t plane = 0; plane < t->planes; plane++) {
            uint8_t *edges = edges_of(r, plane, cube);

            memset(edges, EDGE_NONE, N_EDGE_LETTERS);
            for (uint32_t side = 0; side < N_SIDES; side++) {
                edges[EDGES_OUT] =
                    (uint8_t)(edges[EDGES_OUT] + (mesh_has_link(t, plane, cube, side) << side));
                edges[EDGES_NOC_TO_UCIE] = (uint8_t)(edges[EDGES_NOC_TO_UCIE] + (1 << side));
                edges[EDGES_UCIE_TO_NOC] = (uint8_t)(edges[EDGES_UCIE_TO_NOC] + (1 << side));
            }
        }
    for (uint32_t cube = 0; cube < sim_cubes(t); cube++)
        if (!r->found->there[cube])
            memset(edges_of(r, 0, cube), EDGE_NO_CUBE, (size_t)t->planes * N_EDGE_LETTERS);
    t->has_gaps = true;
    t->cube_edges = r->cube_edges;
}

/* -- broken --------------------------------------------------------------------------------- */

/* One end of a broken link: cubes, or their noc, or one of their ucie. */
struct end {
    struct pattern cubes;
    enum { END_CUBE, END_NOC, END_UCIE } of;
    uint32_t side; /* of END_UCIE */
};

/* One item of `broken`. */
struct cut {
    struct end a, b;
    bool both_ways;
    uint32_t plane;      /* UINT32_MAX: all */
    uint64_t found, cut; /* edges that match, and of these those that were whole */
};

/* The '-' or '>' between the two ends: outside of brackets, and not that of "ucie-E". */
static const char *find_sign(const char *text)
{
    int depth = 0;

    for (const char *p = text; *p; p++) {
        depth += (*p == '[') - (*p == ']');
        if (depth == 0 &&
            (*p == '>' || (*p == '-' && (p < text + 4 || memcmp(p - 4, "ucie", 4) != 0))))
            return p;
    }
    return NULL;
}

static bool ends_in(const char *text, size_t len, const char *end)
{
    size_t n = strlen(end);

    return len > n && memcmp(text + len - n, end, n) == 0;
}

/* "c0.port3", of which the bytes that name the cube are left. */
static size_t take_port(const char *text, size_t len, struct end *out)
{
    static const char word[] = ".port";
    size_t digits = 0, n = sizeof word - 1;
    uint32_t port = 0;

    while (digits < 3 && digits < len && (unsigned)(text[len - 1 - digits] - '0') < 10)
        digits++;
    if (digits == 0 || len <= digits + n || memcmp(text + len - digits - n, word, n) != 0)
        return len;
    for (size_t i = len - digits; i < len; i++)
        port = port * 10 + (uint32_t)(text[i] - '0');
    out->of = END_UCIE;
    out->side = port;
    return len - digits - n;
}

static bool read_end(struct routes *r, const char *text, size_t len, struct end *out)
{
    static const char *const ucie[N_SIDES] = {".ucie-N", ".ucie-E", ".ucie-S", ".ucie-W"};

    *out = (struct end){.of = END_CUBE};
    if (ends_in(text, len, ".noc")) {
        out->of = END_NOC;
        len -= strlen(".noc");
    }
    for (uint32_t side = 0; side < N_SIDES && !r->found->net; side++)
        if (ends_in(text, len, ucie[side])) {
            out->of = END_UCIE;
            out->side = side;
            len -= strlen(ucie[side]);
            break;
        }
    if (r->found->net)
        len = take_port(text, len, out);
    return pattern_of_text(text, len, r->arena, &out->cubes) && !out->cubes.of_pes;
}

/* "PLANE:" before the ends. False: no such plane. */
static bool read_plane(const struct routes *r, const char **text, uint32_t *plane)
{
    const char *colon = strchr(*text, ':');

    *plane = UINT32_MAX;
    if (!colon)
        return true;
    for (uint32_t i = 0; i < r->spec->sip_planes.n; i++) {
        const char *name = r->plane_rows[i].name;

        if (strlen(name) == (size_t)(colon - *text) && memcmp(name, *text, strlen(name)) == 0) {
            *plane = i;
            *text = colon + 1;
            return true;
        }
    }
    return false;
}

/* What else `broken` may name. */
static const char *other_links(const struct routes *r)
{
    if (!r->found->net)
        return "PLANE:c1>c2 for one plane, or c0.noc-c0.ucie-E";
    return r->found->net->rails ? "s0.c2-sw1 or s0.c2-s1.c2 between SIPs, or c0.noc-c0.port1"
                                : "or c0.noc-c0.port1";
}

static bool read_cut(struct routes *r, const struct text_spec *item, struct cut *out)
{
    const char *text = item->text, *sign;

    *out = (struct cut){.plane = UINT32_MAX};
    if (!read_plane(r, &text, &out->plane))
        return diag_error(r->spec->diag, item->at,
                          "'broken': '%s' begins with a plane that sip.planes does not have",
                          item->text);
    sign = find_sign(text);
    if (!sign || !read_end(r, text, (size_t)(sign - text), &out->a) ||
        !read_end(r, sign + 1, strlen(sign + 1), &out->b))
        return diag_error(r->spec->diag, item->at,
                          "'broken': '%s' is no link, write c1-c2, c1>c2 for one direction, %s",
                          item->text, other_links(r));
    out->both_ways = *sign == '-';
    if ((out->a.of == END_CUBE) != (out->b.of == END_CUBE) ||
        (out->a.of != END_CUBE && out->a.of == out->b.of))
        return diag_error(r->spec->diag, item->at,
                          "'broken': '%s' must join two cubes, or a cube's noc and one of its %s",
                          item->text, r->found->net ? "ports" : "ucie");
    if (out->a.of != END_CUBE && out->plane != UINT32_MAX)
        return diag_error(r->spec->diag, item->at,
                          "'broken': '%s': between a noc and its ucie all planes are broken, leave "
                          "out the plane",
                          item->text);
    return true;
}

static bool end_has(const struct routes *r, const struct end *end, uint32_t cube)
{
    const struct pattern_room room = {r->topo.sips, r->topo.cubes, r->topo.switches};

    return pattern_has_cube(&end->cubes, &room, cube);
}

/* Breaks one of EDGES_OUT and the others at `side` of a cube. Was it whole? */
static bool cut_edge(struct routes *r, uint32_t plane, uint32_t cube, uint32_t of, uint32_t side)
{
    static const uint8_t flags[] = {[EDGES_OUT] = PORT_OUT,
                                    [EDGES_NOC_TO_UCIE] = PORT_FROM_NOC,
                                    [EDGES_UCIE_TO_NOC] = PORT_TO_NOC};
    uint8_t *letter = &edges_of(r, plane, cube)[of], *flag;
    bool whole = (*letter - EDGE_NONE) >> side & 1;

    if (!r->found->net) {
        *letter = (uint8_t)(*letter - (whole << side));
        return whole;
    }
    flag = &r->port_rows[(size_t)cube * r->topo.ports + side].flags;
    whole = *flag & flags[of];
    *flag &= (uint8_t)~flags[of];
    return whole;
}

static void note_cut(struct cut *cut, bool whole)
{
    cut->found++;
    cut->cut += whole;
}

/* Has a cube a link at that side, which may be broken? */
static bool leads_somewhere(const struct routes *r, uint32_t cube, uint32_t side)
{
    const struct kb_topology *t = &r->topo;
    const struct net *net = r->found->net;

    if (net)
        return side < net_cube(net, cube)->n && net_cube(net, cube)->ports[side].leads;
    return !mesh_at_border(t, cube, side) || t->wrap >> side_is_vertical(side) & 1;
}

/* Breaks the links from cube `a` to its neighbours that match. `whole` is before any cut. */
static void cut_links(struct routes *r, struct cut *cut, uint32_t a)
{
    const struct kb_topology *t = &r->topo;

    for (uint32_t side = 0; side < t->ports; side++) {
        bool match = false;
        uint32_t b;

        if (!leads_somewhere(r, a, side))
            continue;
        b = walk_neighbour(t, a, side);
        match = (end_has(r, &cut->a, a) && end_has(r, &cut->b, b)) ||
                (cut->both_ways && end_has(r, &cut->b, a) && end_has(r, &cut->a, b));
        for (uint32_t plane = 0; match && a != b && plane < t->planes; plane++)
            if ((cut->plane == UINT32_MAX || cut->plane == plane) &&
                (r->found->net || t->plane_rows[plane].dirs >> side & 1))
                note_cut(cut, cut_edge(r, plane, a, EDGES_OUT, side));
    }
}

/* Breaks edges between the noc and a ucie of `cube`. */
static void cut_ports(struct routes *r, struct cut *cut, uint32_t cube)
{
    bool outward = cut->a.of == END_NOC;
    uint32_t side = outward ? cut->b.side : cut->a.side;

    if (!end_has(r, &cut->a, cube) || !end_has(r, &cut->b, cube))
        return;
    if (r->found->net && side >= net_cube(r->found->net, cube)->n)
        return;
    for (uint32_t plane = 0; plane < r->topo.planes; plane++) {
        if (outward || cut->both_ways)
            note_cut(cut, cut_edge(r, plane, cube, EDGES_NOC_TO_UCIE, side));
        if (!outward || cut->both_ways)
            note_cut(cut, cut_edge(r, plane, cube, EDGES_UCIE_TO_NOC, side));
    }
}

static bool break_item(struct routes *r, const struct text_spec *item)
{
    struct cut cut;

    if (!read_cut(r, item, &cut))
        return false;
    for (uint32_t cube = 0; cube < sim_cubes(&r->topo); cube++) {
        if (!mesh_has_cube(&r->topo, cube))
            continue;
        if (cut.a.of == END_CUBE)
            cut_links(r, &cut, cube);
        else
            cut_ports(r, &cut, cube);
    }
    if (!cut.found)
        return diag_error(r->spec->diag, item->at,
                          cut.a.of != END_CUBE ? "'broken': '%s' matches no cube"
                          : r->found->net      ? "'broken': '%s' matches no link"
                                          : "'broken': '%s' matches no link between neighbours",
                          item->text);
    if (!cut.cut)
        return diag_error(r->spec->diag, item->at,
                          "'broken': '%s' is broken already, by an item "
                          "before it",
                          item->text);
    return true;
}

/* A link leads to a cube that is missing: it is not there. */
static void cut_missing(struct routes *r)
{
    const struct kb_topology *t = &r->topo;

    for (uint32_t cube = 0; cube < sim_cubes(t); cube++)
        for (uint32_t plane = 0; mesh_has_cube(t, cube) && plane < t->planes; plane++)
            for (uint32_t side = 0; side < t->ports; side++)
                if (mesh_has_link(t, plane, cube, side) &&
                    !mesh_has_cube(t, walk_neighbour(t, cube, side)))
                    cut_edge(r, plane, cube, EDGES_OUT, side);
}

/* -- one way, no way ------------------------------------------------------------------------ */

/* "A link between cubes that are there lacks its opposite." Without gaps one SIP shows it. `rails`:
 * of the whole machine, else inside SIPs. */
static bool is_one_way(const struct kb_topology *t, uint32_t plane, bool rails)
{
    uint32_t n = t->has_gaps ? sim_cubes(t) : t->cubes;

    for (uint32_t cube = 0; cube < n; cube++)
        for (uint32_t side = 0; side < t->ports; side++)
            if (mesh_has_link(t, plane, cube, side) && !mesh_has_back_link(t, plane, cube, side) &&
                (rails || cost_same_sip(t, cube, walk_neighbour(t, cube, side))))
                return true;
    return false;
}

/* Ordered pairs of places of one dimension between which a whole plane leads. */
static uint64_t pairs_led(const struct kb_topology *t, uint32_t plane, bool y)
{
    uint64_t n = y ? t->h : t->w;
    bool up = t->plane_rows[plane].dirs >> (y ? SIDE_S : SIDE_E) & 1;
    bool down = t->plane_rows[plane].dirs >> (y ? SIDE_N : SIDE_W) & 1;

    if ((up && down) || ((up || down) && t->wrap >> y & 1))
        return n * n;
    return up || down ? n * (n + 1) / 2 : n;
}

static void warn(const struct routes *r, uint32_t plane, uint64_t n, const char *of)
{
    const char *name = r->plane_rows[plane].name;

    diag_warning(r->spec->diag,
                 spec_place(r->spec, r->spec->broken.n ? KEY_broken
                                     : r->topo.rails   ? KEY_fabric_net
                                     : r->found->net   ? KEY_sip_net
                                                       : KEY_sip_planes),
                 "%llu ordered pair%s of cubes of %s no way%s%s", (unsigned long long)n,
                 n == 1 ? "" : "s", arena_printf(r->spec->arena, n == 1 ? "%s has" : "%s have", of),
                 *name ? " on plane " : "", name);
}

/* Switches are no ends of ways. */
static bool is_switch_at(const struct routes *r, uint32_t cube)
{
    return is_switch(r->found->kinds[r->found->kind[cube]]);
}

/* Whether every cube has a way to the shore of the first IO chiplet, and from it: for launches, and
 * to other SIPs. */
static bool has_shore(const struct routes *r, uint32_t plane)
{
    const struct kb_topology *t = &r->topo;

    for (uint32_t cube = 0; t->has_gaps && cube < sim_cubes(t); cube++)
        for (uint32_t ashore = 0; mesh_has_cube(t, cube) && ashore < 2 && !is_switch_at(r, cube);
             ashore++)
            if (mesh_shore(t, plane, 0, cube, ashore) == NO_WHERE)
                return false;
    return true;
}

bool find_ways(struct routes *r)
{
    struct kb_topology *t = &r->topo;
    uint64_t no_way[PLANES_MAX] = {0}, no_rail = 0;
    struct route_table table;
    bool ok = true;

    if (t->has_gaps) {
        if (r->found->net)
            fill_ports(r);
        else
            fill_edges(r);
        for (size_t i = 0; i < r->spec->broken.n; i++)
            ok = break_item(r, &r->spec->broken.rows[i]) && ok;
        if (!ok)
            return false;
        cut_missing(r);
        if (!route_table_read(r, detours_has_step, &table))
            return false;
        if (t->paths > 1 && !net_ways_fit(r))
            return false;
        if (r->found->net)
            rank_cubes(r);
        if (r->found->net && r->found->net->rails)
            no_rail = find_rails(r);
        if (r->found->net)
            no_way[0] = find_net_exits(r, &table);
        else
            find_detours(r, &table, no_way);
        if (t->paths > 1 && !net_ways_fit(r))
            return false;
    }
    for (uint32_t plane = 0; plane < t->planes; plane++) {
        uint64_t pairs = (uint64_t)t->cubes * t->cubes * t->sips;

        if (!t->has_gaps)
            no_way[plane] =
                pairs - pairs_led(t, plane, false) * pairs_led(t, plane, true) * t->sips;
        if (no_way[plane] && !r->up_down)
            warn(r, plane, no_way[plane], "one SIP");
        if (no_rail)
            warn(r, plane, no_rail, "two SIPs");
        r->plane_rows[plane].in_parts = no_way[plane] || no_rail || !has_shore(r, plane);
        r->plane_rows[plane].one_way = is_one_way(t, plane, false);
    }
    t->rails_one_way = t->rails && is_one_way(t, 0, true);
    return true;
}
