/*
 * pairs.c -- between which cubes routes are walked, to see all that packets may wait for.
 *
 * A machine has up to 10^12 pairs of cubes, and their routes have almost everything in common.
 *
 * Cubes: of a machine without gaps, all of whose cubes are alike, cubes of three first, three
 * middle and three last rows and columns are enough: they see every turn, and every edge along
 * those rows.
 *
 * SIPs: of those that are alike the cubes of three are enough. The fabric passes IO chiplets, never
 * cubes, and leads from each SIP to each other one. Packets that wait for each other in a circle,
 * by way of cubes of several SIPs, do in each what they could do in any that is alike. So a SIP of
 * the circle may be taken for one of the three that its neighbours in the circle are not, as three
 * colours are enough for a ring. Of the other SIPs of a grid one cube is walked, for the fabric.
 *
 * A route between two SIPs is a way ashore, one over the fabric and one from the shore. The first
 * depends on its cube and on the side by which the SIP is left, the last on its cube and on the
 * side by which it comes in, and the fabric on the two SIPs. So from every cube one route is walked
 * for each side by which its SIP is left, to every cube one for each side, and between any two SIPs
 * one: n + m of them, not n * m. With hop classes the last part also depends on how many links the
 * first has, and the first on whether the last has any: then to every cube a route is walked for
 * each number of links that a first part has, and from every cube one for each number that a last
 * part has.
 *
 * Over rails routes pass cubes of any SIP, so all pairs are walked.
 */
#include "pairs.h"
#include "sips.h"
#include "base/larger.h"
#include "machine/vcs.h"

enum { ALIKE_SHOWN = 3 };

/* Is `i` of `n` one of three first, three middle or three last? */
static bool is_shown(uint32_t i, uint32_t n)
{
    return n <= 9 || i < 3 || i + 3 >= n || (i + 1 >= n / 2 && i <= n / 2 + 1);
}

uint32_t pairs_links(const struct kb_topology *t, uint32_t from, uint32_t to)
{
    uint32_t n = 0, first = 1, last = 1;

    if (from == to || from == NO_WHERE || to == NO_WHERE || !mesh_has_way(t, 0, from, to))
        return 0;
    for (uint32_t at = from; at != to;) {
        uint32_t exit = mesh_step(t, 0, false, at, from, to);

        last = vcs_counts(net_port(t, at, exit));
        first = at == from ? last : first;
        n += last;
        at = walk_neighbour(t, at, exit);
    }
    return n + 1 - smaller(first, last);
}

static bool has_way_ashore(const struct kb_topology *t, uint32_t plane, uint32_t cube,
                           bool to_shore)
{
    return t->regular || mesh_shore(t, plane, 0, cube, to_shore) != NO_WHERE;
}

bool pairs_has_cube(const struct pairs *p, uint32_t cube)
{
    const struct kb_topology *t = p->t;
    uint32_t sip = cube / t->cubes;

    if (!p->sips[sip])
        return p->leaver[sip] == cube || p->arriver[sip] == cube;
    if (!mesh_has_cube(t, cube))
        return false;
    if (t->has_gaps || t->n_kinds > 1 || t->port_rows)
        return true;
    return is_shown(cube_column(t, cube), t->w) && is_shown(cube_row(t, cube), t->h);
}

/* -- SIPs ----------------------------------------------------------------------------------- */

static void show_sips(struct pairs *p, const struct routes *r, bool all)
{
    const struct kb_topology *t = p->t;
    const uint32_t *first = find_alike_sips(r);
    uint32_t *shown = arena_alloc(r->arena, t->sips * sizeof *shown);

    for (uint32_t sip = 0; sip < t->sips; sip++)
        p->sips[sip] = shown[first[sip]]++ < ALIKE_SHOWN || all;
}

/* Are routes walked between it and the others? Behind a switch those of three tell all. */
static bool is_on_fabric(const struct pairs *p, uint32_t sip)
{
    return p->sips[sip] || p->t->fabric_shape == FABRIC_GRID;
}

/* The side by which routes to SIP `to` leave SIP `from`; a switch is one side. */
static uint32_t side_left(const struct kb_topology *t, uint32_t from, uint32_t to)
{
    return t->fabric_shape == FABRIC_SWITCH ? 0 : grid_exit(t, grid_is_odd(t, from), from, to);
}

/* The step by which they come to `to`: in the same row along X, else along Y. */
static uint32_t side_entered(const struct kb_topology *t, uint32_t from, uint32_t to)
{
    bool odd = grid_is_odd(t, from);

    if (t->fabric_shape == FABRIC_SWITCH)
        return 0;
    if (from / t->grid_w != to / t->grid_w)
        from += to % t->grid_w - from % t->grid_w;
    return grid_exit(t, odd, from, to);
}

static void note_first(uint32_t *first, uint32_t sip)
{
    if (*first == NO_WHERE)
        *first = sip;
}

static void find_first(struct pairs *p)
{
    const struct kb_topology *t = p->t;

    for (uint32_t from = 0; from < t->sips; from++)
        for (uint32_t to = 0; to < t->sips; to++) {
            if (from == to || !is_on_fabric(p, from) || !is_on_fabric(p, to))
                continue;
            note_first(&p->first_to[from * N_SIDES + side_left(t, from, to)], to);
            note_first(&p->first_from[to * N_SIDES + side_entered(t, from, to)], from);
        }
}

/* The first cubes of a SIP from which, and to which, routes lead over the fabric. */
static void find_travellers(struct pairs *p, uint32_t sip, uint32_t plane, bool back)
{
    const struct kb_topology *t = p->t;

    for (uint32_t cube = sip * t->cubes; cube < (sip + 1) * t->cubes; cube++) {
        if (!mesh_has_cube(t, cube) || !is_on_fabric(p, sip))
            continue;
        if (kind_at(t, cube)->pes && has_way_ashore(t, plane, cube, !back))
            note_first(&p->leaver[sip], cube);
        if (has_way_ashore(t, plane, cube, back))
            note_first(&p->arriver[sip], cube);
    }
}

/* The first cube of a SIP for each number of links to the shore, or from it. */
static void find_counts(struct pairs *p, struct arena *arena, uint32_t sip, bool back, bool ashore)
{
    const struct kb_topology *t = p->t;
    bool *seen = arena_alloc(arena, t->cubes), outward = ashore != back;

    for (uint32_t cube = sip * t->cubes; cube < (sip + 1) * t->cubes; cube++) {
        uint32_t shore, links;

        if (!mesh_has_cube(t, cube) || (ashore && !kind_at(t, cube)->pes) ||
            !has_way_ashore(t, 0, cube, outward))
            continue;
        shore = mesh_shore(t, 0, 0, cube, outward);
        links = outward ? pairs_links(t, cube, shore) : pairs_links(t, shore, cube);
        (ashore ? p->counts : p->ends)[cube] = !seen[links];
        seen[links] = true;
    }
}

/* -- pairs ---------------------------------------------------------------------------------- */

static uint32_t *nowhere(struct arena *a, size_t n)
{
    uint32_t *p = arena_alloc(a, n * sizeof *p);

    for (size_t i = 0; i < n; i++)
        p[i] = NO_WHERE;
    return p;
}

struct pairs pairs_make(struct routes *r, uint32_t plane, bool back, bool by_links)
{
    const struct kb_topology *t = &r->topo;
    struct pairs p = {.t = t,
                      .sips = arena_alloc(r->arena, t->sips),
                      .leaver = nowhere(r->arena, t->sips),
                      .arriver = nowhere(r->arena, t->sips),
                      .first_to = nowhere(r->arena, (size_t)t->sips * N_SIDES),
                      .first_from = nowhere(r->arena, (size_t)t->sips * N_SIDES)};

    if (by_links && t->sips > 1 && !t->rails) {
        p.counts = arena_alloc(r->arena, sim_cubes(t));
        p.ends = arena_alloc(r->arena, sim_cubes(t));
    }
    show_sips(&p, r, t->rails || (p.counts && t->fabric_shape == FABRIC_GRID));
    if (t->rails)
        return p;
    find_first(&p);
    for (uint32_t sip = 0; sip < t->sips; sip++) {
        find_travellers(&p, sip, plane, back);
        for (uint32_t ashore = 0; p.counts && ashore < 2; ashore++)
            find_counts(&p, r->arena, sip, back, ashore);
    }
    return p;
}

static bool is_first_to(const struct pairs *p, uint32_t from, uint32_t to)
{
    return p->first_to[from * N_SIDES + side_left(p->t, from, to)] == to;
}

static bool is_first_from(const struct pairs *p, uint32_t from, uint32_t to)
{
    return p->first_from[to * N_SIDES + side_entered(p->t, from, to)] == from;
}

void pairs_from(const struct pairs *p, uint32_t sip, uint32_t to, uint32_t *first, uint32_t *end)
{
    uint32_t goal = to / p->t->cubes;
    bool arrives = p->arriver[goal] == to;

    *first = sip * p->t->cubes;
    *end = *first + p->t->cubes;
    if (sip == goal || p->counts || p->t->rails || (arrives && is_first_to(p, sip, goal)))
        return;
    *end = *first;
    if (p->leaver[sip] == NO_WHERE || (!arrives && !is_first_from(p, sip, goal)))
        return;
    *first = p->leaver[sip];
    *end = *first + 1;
}

bool pairs_has(const struct pairs *p, uint32_t from, uint32_t to)
{
    return !p->counts || p->counts[from] || p->ends[to] || cost_same_sip(p->t, from, to);
}
