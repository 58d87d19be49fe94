/*
 * net_routes.c -- routes between the cubes of a net: the least weight, then the fewest links.
 *
 * The weight of a step over a port is the overhead of the port, the wire, the overhead of the port
 * at the other end, and that of the NoC of the cube there, at no load. Ways across a NoC do not
 * count, so the next step depends on the cube and the target alone. A route has the smallest sum of
 * weights, of these the fewest links, and at each cube the lowest port that begins such a way. A
 * cube with `transit: none` is the first or the last of a route, never between.
 *
 * So a search outward from each target (net_search.c), or a few sums where the net is a whole mesh
 * or torus (net_grid.c), tells how far all cubes are, and a cube's exit is its first port over
 * which what remains is as far as it should be.
 *
 * Where packets could wait for each other in a circle, routes go up and then down (up_down.c has
 * why that helps): a search outward from the lowest switch, or else the lowest cube, over all links
 * ranks the cubes, and a step to a lower rank leads up. Of the ways without a step up behind one
 * down the least weight counts, as ever. What a cube may do depends on whether the route has come
 * down before. So such a search has two states of each cube, cube for those that have not and n +
 * cube for those that have, and r->detours and r->rails have both, one table behind the other.
 *
 * Example: links of 5 ns c0-c1, c1-c2, and one of 20 ns c0-c2, ports of 1 ns. From c0 to c2 by c1
 * is 2 * (1 + 5 + 1) = 14 ns with two links, and 22 ns with one: by c1.
 */
#include "net_routes.h"
#include "net_grid.h"
#include "check.h"
#include "detours.h"
#include "net_ways.h"
#include "nodes.h"
#include "sips.h"
#include "up_down.h"
#include "machine/mesh.h"
#include "machine/walk.h"
#include <string.h>

/* -- up*, then down* -------------------------------------------------------------------------- */

/* A step, for up_down.c. */
static uint32_t tree_step(void *search, uint32_t cube, uint32_t port)
{
    const struct search *s = search;

    return s->weights[(size_t)cube * s->r->topo.ports + port] < 0 ? UP_DOWN_NOWHERE
                                                                  : net_search_to(s, cube, port);
}

/* The lowest switch, or else the lowest cube. */
static uint32_t root_of(const struct search *s)
{
    const struct cubes *found = s->r->found;

    for (uint32_t cube = 0; cube < s->n; cube++)
        if (found->there[s->first + cube] && is_switch(found->kinds[found->kind[s->first + cube]]))
            return cube;
    return up_down_lowest(s->n, &found->there[s->first]);
}

static void rank_among(struct search *s)
{
    const struct kb_topology *t = &s->r->topo;
    struct up_down tree;

    net_search_weights(s);
    tree = up_down_make(s->r->arena, s->n, t->ports, root_of(s), tree_step, s);
    memcpy(&s->r->ranks[s->first], tree.rank, s->n * sizeof *tree.rank);
}

void rank_cubes(struct routes *r)
{
    const struct kb_topology *t = &r->topo;
    const struct net *net = r->found->net;
    const uint32_t *alike;
    struct search s;

    if (t->routes_by != ROUTES_UP_DOWN)
        return;
    alike = find_alike_sips(r);
    r->ranks = arena_alloc(r->arena, sim_cubes(t) * sizeof *r->ranks);
    s = net_search_new(r, net->rails ? sim_cubes(t) : t->cubes, NULL);
    for (; s.first < (net->rails ? 1 : sim_cubes(t)); s.first += s.n) {
        uint32_t same = alike[s.first / t->cubes] * t->cubes;

        if (same == s.first)
            rank_among(&s);
        else
            memcpy(&r->ranks[s.first], &r->ranks[same], s.n * sizeof *r->ranks);
    }
    for (uint32_t cube = 0; cube < sim_cubes(t); cube++)
        for (uint32_t port = 0; port < t->ports; port++) {
            struct port_row *row = &r->port_rows[(size_t)cube * t->ports + port];

            if (row->cube != NO_WHERE && r->ranks[row->cube] > r->ranks[cube])
                row->flags |= PORT_DOWN;
        }
}

/* -- ways of pairs ---------------------------------------------------------------------------- */

/* Does a way of the least weight from `from` to the target begin with `port`? */
static bool leads_on(const void *of, uint32_t from, uint32_t port, uint32_t to)
{
    const struct search *s = of;
    const struct kb_topology *t = &s->r->topo;
    int64_t weight = s->weights[(size_t)from * t->ports + port];
    uint32_t next = weight < 0 ? to : net_search_to(s, from, port);
    struct far far = net_search_far(s, from), rest = net_search_far(s, next);

    return weight >= 0 && (next == to || s->passes[next]) && rest.weight != INT64_MAX &&
           rest.weight + weight == far.weight && rest.links + 1 == far.links;
}

static uint32_t choose(const struct search *s, uint32_t from, uint32_t to)
{
    return s->exits ? s->exits[(size_t)from * s->n + to] : net_search_exit(s, from);
}

/* -- shores ----------------------------------------------------------------------------------- */

/* The place of the IO cube from which `to` is nearest; NO_SHORE: there is no way from any. */
static uint16_t nearest_shore(const struct search *s)
{
    const struct kb_topology *t = &s->r->topo;
    uint16_t best = NO_SHORE;
    int64_t least = INT64_MAX;

    for (uint32_t i = 0; i < t->n_shore; i++) {
        uint32_t cube = t->io_cubes[i];
        int64_t weight = net_search_far(s, cube).weight;

        if (weight < least && s->r->found->there[s->first + cube]) {
            least = weight;
            best = (uint16_t)i;
        }
    }
    return best;
}

/* `to` may be the nearest IO cube of those from which it is measured. */
static void note_shore(struct search *s, uint32_t to, int64_t *nearest)
{
    const struct kb_topology *t = &s->r->topo;
    uint32_t place = mesh_shore_place(t, 0, to);

    for (uint32_t cube = 0; place < t->n_shore && cube < t->cubes; cube++) {
        int64_t weight = net_search_far(s, cube).weight;

        if (weight < nearest[cube]) {
            nearest[cube] = weight;
            s->r->shores[(size_t)(s->first + cube) * 2 + 1] = (uint16_t)place;
        }
    }
}

/* -- all -------------------------------------------------------------------------------------- */

/* Does anything begin or end there? Not in a switch. */
static bool is_end(const struct search *s, uint32_t cube)
{
    return !is_switch(s->r->found->kinds[s->r->found->kind[s->first + cube]]);
}

/* All ways of the pair, if there is more than the one by its exits. */
static void find_ways_of(struct search *s, struct net_ways *ways, uint32_t from, uint32_t to)
{
    if (s->paths && from != to && net_search_reaches(s, from) && is_end(s, from) && is_end(s, to))
        s->paths[(size_t)from * s->n + to] = net_ways_add(ways, from, to);
}

/*
 * The exits of all states to `to`, which is measured. A row of the table has the targets of one
 * cube, and each search finds a column, whose bytes lie far from each other there. So columns are
 * gathered as rows of their own, and go into the table some at a time.
 */
static void note_exits(struct search *s, uint32_t to)
{
    uint8_t *column = &s->columns[(size_t)(to % COLUMNS) * s->states];
    const bool *there = &s->r->found->there[s->first];

    for (uint32_t from = 0; from < s->n; from++) {
        bool none = from == to || !there[from];

        column[from] = (uint8_t)('0' + (none ? 0 : choose(s, from, to)));
        if (s->rank)
            column[s->n + from] = (uint8_t)('0' + (none ? 0 : net_search_exit(s, s->n + from)));
    }
}

/* Do all find a way to the last target? */
static bool all_reach(const struct search *s)
{
    return s->n_reached == s->n_there && !s->exits;
}

/* Has it no way to `to`, whose exits were noted last? */
static bool has_no_way(const struct search *s, uint32_t from, uint32_t to)
{
    uint8_t exit = s->columns[(size_t)(to % COLUMNS) * s->states + from];

    return (uint8_t)(exit - '0') == NO_EXIT && is_end(s, from) && is_end(s, to);
}

/* The exits of the cubes [from, from + n) to the targets [to, to + targets), into their rows. */
static void put_square(struct search *s, uint32_t from, uint32_t n, uint32_t to, uint32_t targets)
{
    uint8_t square[COLUMNS][COLUMNS];
    uint32_t cube = from % s->n;
    uint8_t *rows = &s->row[(from < s->n ? 0 : s->row_down) + (size_t)cube * s->n + to];

    for (uint32_t i = 0; i < targets; i++)
        for (uint32_t k = 0; k < n; k++)
            square[k][i] = s->columns[(size_t)i * s->states + from + k];
    for (uint32_t k = 0; k < n; k++)
        memcpy(&rows[(size_t)k * s->n], square[k], targets);
}

/* Behind target `to`: are the columns full, or is it the last one? Then they go to their rows. */
static void put_columns(struct search *s, uint32_t to)
{
    uint32_t first = to - to % COLUMNS, targets = to + 1 - first;

    if (targets < COLUMNS && to + 1 < s->n)
        return;
    for (uint32_t half = 0; half < s->states; half += s->n)
        for (uint32_t from = 0; from < s->n; from += COLUMNS)
            put_square(s, half + from, from + COLUMNS < s->n ? COLUMNS : s->n - from, first,
                       targets);
    memset(s->columns, '0', (size_t)s->states * COLUMNS);
}

/* The ways in one SIP; returns the pairs without one. */
static uint64_t search_sip(struct search *s)
{
    const struct kb_topology *t = &s->r->topo;
    struct net_ways ways = net_ways_make(s->r, leads_on, s);
    int64_t *nearest = arena_alloc(s->r->arena, t->cubes * sizeof *nearest);
    uint64_t no_way = 0;
    struct net_grid *grid;

    ways.first = s->first;
    net_search_weights(s);
    net_search_list(s);
    grid = net_grid_find(s);
    for (uint32_t i = 0; i < t->cubes; i++)
        nearest[i] = INT64_MAX;
    for (uint32_t to = 0; to < t->cubes; put_columns(s, to++)) {
        if (!s->r->found->there[s->first + to])
            continue;
        arena_pause(s->r->arena);
        if (!grid || !net_grid_measure(s, grid, to))
            net_search_measure(s, to);
        s->r->shores[(size_t)(s->first + to) * 2] = nearest_shore(s);
        note_shore(s, to, nearest);
        note_exits(s, to);
        for (uint32_t from = 0; s->paths && from < t->cubes; from++)
            find_ways_of(s, &ways, from, to);
        for (uint32_t from = 0; !all_reach(s) && from < t->cubes; from++)
            no_way += has_no_way(s, from, to);
    }
    return no_way;
}

uint64_t find_net_exits(struct routes *r, const struct route_table *table)
{
    struct kb_topology *t = &r->topo;
    const uint32_t *alike = find_alike_sips(r);
    struct search s = net_search_new(r, t->cubes, table->exits);
    size_t of_sip = (size_t)t->cubes * t->cubes;
    uint64_t *no_way = arena_alloc(r->arena, t->sips * sizeof *no_way), sum = 0;

    r->n_shores = sip_cubes(t) * 2;
    r->shores = arena_alloc(r->arena, r->n_shores * sizeof *r->shores);
    memset(r->shores, 0xff, r->n_shores * sizeof *r->shores);
    r->detour_of =
        arena_alloc(r->arena, (size_t)mesh_tables(t) * sip_cubes(t) * sizeof *r->detour_of);
    r->detours = arena_alloc(r->arena, mesh_tables(t) * of_sip * t->sips);
    if (t->paths > 1)
        r->path_of = arena_alloc(r->arena, of_sip * t->sips * sizeof *r->path_of);
    for (uint32_t sip = 0; sip < t->sips; sip++) {
        uint32_t same = alike[sip]; /* alike in what leads down, too */

        s.first = sip * t->cubes;
        s.rank = r->ranks ? &r->ranks[s.first] : NULL;
        if (same == sip) {
            s.row = &r->detours[(size_t)r->n_detours * t->cubes];
            s.row_down = of_sip;
            s.paths = t->paths > 1 ? &r->path_of[(size_t)r->n_detours * t->cubes] : NULL;
            no_way[sip] = search_sip(&s);
            for (uint32_t i = 0; i < mesh_tables(t) * t->cubes; i++)
                r->detour_of[i / t->cubes * sip_cubes(t) + s.first + i % t->cubes] = ++r->n_detours;
            continue;
        }
        no_way[sip] = no_way[same];
        for (uint32_t i = 0; i < mesh_tables(t); i++)
            memcpy(&r->detour_of[(size_t)i * sip_cubes(t) + s.first],
                   &r->detour_of[(size_t)i * sip_cubes(t) + same * t->cubes],
                   t->cubes * sizeof *r->detour_of);
        memcpy(&r->shores[(size_t)s.first * 2], &r->shores[(size_t)same * t->cubes * 2],
               (size_t)t->cubes * 2 * sizeof *r->shores);
    }
    net_search_drop(&s);
    for (uint32_t sip = 0; sip < t->sips; sip++)
        sum += no_way[sip];
    r->plane_rows[0].has_detours = true;
    t->shores = r->shores;
    t->detour_of = r->detour_of;
    t->detours = r->detours;
    return sum;
}

/* -- over rails ------------------------------------------------------------------------------- */

uint64_t find_rails(struct routes *r)
{
    struct kb_topology *t = &r->topo;
    struct search s = net_search_new(r, sim_cubes(t), NULL);
    struct net_ways ways = net_ways_make(r, leads_on, &s);
    size_t pairs = (size_t)s.n * s.n;
    uint64_t no_way = 0;

    s.rank = r->ranks;
    s.row_down = pairs;
    r->rails = s.row = arena_alloc(r->arena, mesh_tables(t) * pairs);
    memset(r->rails, '0', mesh_tables(t) * pairs);
    if (t->paths > 1)
        r->rail_paths = s.paths = arena_alloc(r->arena, pairs * sizeof *r->rail_paths);
    net_search_weights(&s);
    net_search_list(&s);
    for (uint32_t to = 0; to < s.n; put_columns(&s, to++)) {
        if (!r->found->there[to] || !is_end(&s, to))
            continue;
        arena_pause(r->arena);
        net_search_measure(&s, to);
        note_exits(&s, to);
        for (uint32_t from = 0; from < sip_cubes(t); from++) {
            if (cost_same_sip(t, from, to) || !r->found->there[from])
                continue;
            find_ways_of(&s, &ways, from, to);
            no_way += has_no_way(&s, from, to);
        }
    }
    net_search_drop(&s);
    t->rails = r->rails;
    return no_way;
}

/* -- routes and others ------------------------------------------------------------------------ */

static bool begins_or_ends(const struct routes *r, uint32_t cube)
{
    return r->found->there[cube] && !is_switch(r->found->kinds[r->found->kind[cube]]);
}

const char *net_lost_pair(const struct routes *r, const struct routes *other)
{
    const struct kb_topology *t = &r->topo;

    for (uint32_t from = 0; t->port_rows && from < sip_cubes(t); from++)
        for (uint32_t to = 0; begins_or_ends(r, from) && to < sip_cubes(t); to++)
            if (begins_or_ends(r, to) && (t->rails || cost_same_sip(t, from, to)) &&
                mesh_has_way(t, 0, from, to) && !mesh_has_way(&other->topo, 0, from, to))
                return arena_printf(r->arena,
                                    ", and by routes up*, then down* no way leads from %s to %s",
                                    net_cube_text(r->found->net, r->arena, from),
                                    net_cube_text(r->found->net, r->arena, to));
    return NULL;
}
