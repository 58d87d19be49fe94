/*
 * net_routes.c -- routes between the cubes of a net: the least weight, then the fewest links.
 *
 * The weight of a step over a port is the overhead of the port, the wire, the overhead of the port
 * at the other end, and that of the NoC of the cube there, at no load. Ways across a NoC do not
 * count, so the next step depends on the cube and the target alone. A route has the smallest sum of
 * weights, of these the fewest links, and at each cube the lowest port that begins such a way. A
 * cube with `transit: none` is the first or the last of a route, never between.
 *
 * So a search outward from each target, in order of (weight, links), tells how far all cubes are,
 * and a cube's exit is its first port over which what remains is as far as it should be. The search
 * visits the nearest cubes first. A machine has few weights of steps, and what is found over steps
 * of one weight is found in the order of its distance, so there is a line for each of them, and the
 * nearest of all is the first of some line.
 *
 * Example: links of 5 ns c0-c1, c1-c2, and one of 20 ns c0-c2, ports of 1 ns. From c0 to c2 by c1
 * is 2 * (1 + 5 + 1) = 14 ns with two links, and 22 ns with one: by c1.
 */
#include "net_routes.h"
#include "check.h"
#include "detours.h"
#include "net_ways.h"
#include "nodes.h"
#include "sips.h"
#include "machine/mesh.h"
#include "machine/walk.h"
#include <string.h>

/* How far a cube is from the target. */
struct far {
    int64_t weight; /* INT64_MAX: there is no way */
    uint32_t links;
};

/* A step to a cube: from where, over which port, and the number of its weight. */
struct step_in {
    uint32_t cube;
    uint32_t weight : 24, port : 8;
};

/* A cube that is found, and how far it was then. */
struct found {
    struct far far;
    uint32_t cube;
};

/* The cubes found over steps of one weight, the nearest first. */
struct line {
    int64_t weight;
    struct found *found;
    uint32_t first, end, room;
};

/* The search among the cubes of one SIP, or among all. Cubes count from the first of them. */
struct search {
    struct routes *r;
    uint32_t first, n;  /* the first of them, over all, and how many */
    int64_t *weights;   /* [cube][port]: of a step; -1: there is none */
    bool *passes;       /* [cube]: routes may */
    struct step_in *in; /* those to each cube */
    uint32_t *first_in; /* [cube], and one more: its first one */
    struct line *lines; /* one for each weight that there is */
    uint32_t n_lines, lines_cap;
    struct far *far;      /* [cube] */
    uint8_t *exit;        /* [cube]: the lowest port of a way of the least weight */
    uint8_t *row;         /* [from][to]: '0' + the exit */
    uint32_t *paths;      /* [from][to]: its first way; NULL: all have one */
    const uint8_t *exits; /* of a table; NULL */
};

/* -- ports ------------------------------------------------------------------------------------ */

static void fill_cube(struct routes *r, uint32_t cube)
{
    const struct kb_topology *t = &r->topo;
    const struct net *net = r->found->net;
    const struct net_cube *of = net_cube(net, cube);
    uint32_t first = net->rails ? 0 : cube - cube % t->cubes; /* of what its numbers count from */
    struct port_row *rows = &r->port_rows[(size_t)cube * t->ports];

    for (uint32_t port = 0; port < t->ports; port++)
        rows[port] = (struct port_row){.cube = NO_WHERE};
    if (!r->found->there[cube]) {
        memset(&r->cube_edges[(size_t)cube * N_EDGE_LETTERS], EDGE_NO_CUBE, N_EDGE_LETTERS);
        return;
    }
    for (uint32_t port = 0; port < of->n; port++)
        rows[port] =
            (struct port_row){.cube = first + of->ports[port].cube,
                              .port = (uint8_t)of->ports[port].port,
                              .flags = (uint8_t)(PORT_IS | PORT_FROM_NOC | PORT_TO_NOC |
                                                 (of->ports[port].leads ? PORT_OUT : 0) |
                                                 (of->ports[port].owns ? PORT_OWNS : 0) |
                                                 (of->ports[port].closes ? PORT_CLOSES : 0)),
                              .ring = (uint16_t)of->ports[port].ring};
    for (uint32_t i = 0; i < net->n_io; i++)
        if (!net_is_switch(net, cube) && net->io_cubes[i] == cube % t->cubes)
            rows[t->ports - 1].flags = PORT_IS | PORT_FROM_NOC | PORT_TO_NOC;
}

void fill_ports(struct routes *r)
{
    struct kb_topology *t = &r->topo;
    const struct net *net = r->found->net;
    size_t letters = (size_t)sim_cubes(t) * N_EDGE_LETTERS;

    r->cube_edges = arena_alloc(r->arena, letters + 1);
    memset(r->cube_edges, EDGE_NONE, letters);
    r->port_rows = arena_alloc(r->arena, (size_t)sim_cubes(t) * t->ports * sizeof *r->port_rows);
    r->io_cubes = arena_alloc(r->arena, net->n_io * sizeof *r->io_cubes);
    for (uint32_t i = 0; i < net->n_io; i++)
        r->io_cubes[i] = (uint16_t)net->io_cubes[i];
    for (uint32_t cube = 0; cube < sim_cubes(t); cube++)
        fill_cube(r, cube);
    t->cube_edges = r->cube_edges;
    t->port_rows = r->port_rows;
    t->io_cubes = r->io_cubes;
}

/* -- weights ---------------------------------------------------------------------------------- */

static int64_t port_fs(const struct routes *r, uint32_t cube, uint32_t port)
{
    return r->cube_nodes[r->found->kind[cube] * r->topo.n_cube_nodes + node_ucie(r, 0, port)]
        .overhead_fs;
}

static int64_t step_fs(const struct routes *r, uint32_t cube, uint32_t port)
{
    const struct kb_topology *t = &r->topo;
    uint32_t to = walk_neighbour(t, cube, port);
    const struct link_row *link =
        &r->cube_links[(r->found->kind[cube] + 1u) * t->n_cube_links - t->ports + port];

    return port_fs(r, cube, port) + link->wire_fs + port_fs(r, to, walk_far_side(t, cube, port)) +
           fs_of_ns(r->found->kinds[r->found->kind[to]]->cube_noc_overhead_ns);
}

/* The cube that a port leads to, if the search is among such. */
static uint32_t step_to(const struct search *s, uint32_t cube, uint32_t port)
{
    uint32_t to = net_port(&s->r->topo, s->first + cube, port)->cube;

    return to == NO_WHERE || to - s->first >= s->n ? NO_WHERE : to - s->first;
}

static void find_weights(struct search *s)
{
    const struct routes *r = s->r;

    for (uint32_t cube = 0; cube < s->n; cube++) {
        const struct spec *kind = r->found->kinds[r->found->kind[s->first + cube]];

        s->passes[cube] = kind->cube_transit == TRANSIT_ALL;
        for (uint32_t port = 0; port < r->topo.ports; port++)
            s->weights[(size_t)cube * r->topo.ports + port] =
                step_to(s, cube, port) != NO_WHERE &&
                        detours_has_step(&r->topo, 0, s->first + cube, port)
                    ? step_fs(r, s->first + cube, port)
                    : -1;
    }
}

/* The number of a weight, which may be new. */
static uint32_t line_of(struct search *s, int64_t weight)
{
    uint32_t i = 0;

    while (i < s->n_lines && s->lines[i].weight != weight)
        i++;
    if (i < s->n_lines)
        return i;
    if (s->n_lines == s->lines_cap) {
        struct line *more;

        s->lines_cap = 2 * s->lines_cap + 8;
        more = arena_alloc(s->r->arena, s->lines_cap * sizeof *more);
        if (s->n_lines)
            memcpy(more, s->lines, s->n_lines * sizeof *more);
        s->lines = more;
    }
    s->lines[s->n_lines++] = (struct line){.weight = weight};
    return i;
}

/* The steps to each cube, and room in the lines: a step finds a cube once in a search. */
static void list_steps(struct search *s)
{
    const struct kb_topology *t = &s->r->topo;
    uint32_t n = 0;

    s->n_lines = 0;
    for (uint32_t to = 0; to < s->n; to++) {
        s->first_in[to] = n;
        for (uint32_t port = 0; port < t->ports; port++) {
            const struct port_row *row = net_port(t, s->first + to, port);
            uint32_t from = step_to(s, to, port);
            int64_t weight =
                from == NO_WHERE ? -1 : s->weights[(size_t)from * t->ports + row->port];

            if (weight < 0)
                continue;
            s->in[n] = (struct step_in){
                .cube = from, .weight = line_of(s, weight) & 0xffffff, .port = row->port};
            s->lines[s->in[n++].weight].room++;
        }
    }
    s->first_in[s->n] = n;
    for (uint32_t i = 0; i < s->n_lines; i++)
        s->lines[i].found = arena_alloc(s->r->arena, s->lines[i].room * sizeof *s->lines[i].found);
}

/* -- to one target ---------------------------------------------------------------------------- */

static bool is_nearer(struct far a, struct far b)
{
    return a.weight != b.weight ? a.weight < b.weight : a.links < b.links;
}

/* The cubes from which a step leads to `cube`, which is as far as it is. */
static void reach_from(struct search *s, uint32_t cube)
{
    for (uint32_t i = s->first_in[cube]; i < s->first_in[cube + 1]; i++) {
        const struct step_in *step = &s->in[i];
        struct line *line = &s->lines[step->weight];
        struct far far = {s->far[cube].weight + line->weight, s->far[cube].links + 1};

        if (is_nearer(far, s->far[step->cube])) {
            s->far[step->cube] = far;
            s->exit[step->cube] = (uint8_t)step->port;
            line->found[line->end++] = (struct found){far, step->cube};
        } else if (step->port < s->exit[step->cube] && !is_nearer(s->far[step->cube], far)) {
            s->exit[step->cube] = (uint8_t)step->port;
        }
    }
}

/* The nearest of all that are found, of which each line has its own first. NULL: there is none. */
static const struct found *take_nearest(struct search *s)
{
    struct line *best = NULL;

    for (struct line *line = s->lines; line < s->lines + s->n_lines; line++)
        if (line->first < line->end &&
            (!best || is_nearer(line->found[line->first].far, best->found[best->first].far)))
            best = line;
    return best ? &best->found[best->first++] : NULL;
}

static void measure(struct search *s, uint32_t to)
{
    const struct found *found;

    for (uint32_t i = 0; i < s->n; i++)
        s->far[i] = (struct far){INT64_MAX, 0};
    memset(s->exit, NO_EXIT, s->n);
    for (uint32_t i = 0; i < s->n_lines; i++)
        s->lines[i].first = s->lines[i].end = 0;
    s->far[to] = (struct far){0, 0};
    reach_from(s, to);
    while ((found = take_nearest(s)) != NULL)
        if (s->passes[found->cube] && !is_nearer(s->far[found->cube], found->far))
            reach_from(s, found->cube);
}

/* Does a way of the least weight from `from` to the target begin with `port`? */
static bool leads_on(const void *of, uint32_t from, uint32_t port, uint32_t to)
{
    const struct search *s = of;
    const struct kb_topology *t = &s->r->topo;
    int64_t weight = s->weights[(size_t)from * t->ports + port];
    uint32_t next = weight < 0 ? to : step_to(s, from, port);

    return weight >= 0 && (next == to || s->passes[next]) && s->far[next].weight != INT64_MAX &&
           s->far[next].weight + weight == s->far[from].weight &&
           s->far[next].links + 1 == s->far[from].links;
}

static uint32_t choose(const struct search *s, uint32_t from, uint32_t to)
{
    return s->exits ? s->exits[(size_t)from * s->n + to] : s->exit[from];
}

/* -- shores ----------------------------------------------------------------------------------- */

/* The place of the IO cube from which `to` is nearest; NO_SHORE: there is no way from any. */
static uint16_t nearest_shore(const struct search *s)
{
    const struct kb_topology *t = &s->r->topo;
    uint16_t best = NO_SHORE;

    for (uint32_t i = 0; i < t->n_shore; i++) {
        uint32_t cube = t->io_cubes[i];

        if (s->far[cube].weight != INT64_MAX && s->r->found->there[s->first + cube] &&
            (best == NO_SHORE || s->far[cube].weight < s->far[t->io_cubes[best]].weight))
            best = (uint16_t)i;
    }
    return best;
}

/* `to` may be the nearest IO cube of those from which it is measured. */
static void note_shore(struct search *s, uint32_t to, int64_t *nearest)
{
    const struct kb_topology *t = &s->r->topo;
    uint32_t place = mesh_shore_place(t, 0, to);

    for (uint32_t cube = 0; place < t->n_shore && cube < t->cubes; cube++)
        if (s->far[cube].weight < nearest[cube]) {
            nearest[cube] = s->far[cube].weight;
            s->r->shores[(size_t)(s->first + cube) * 2 + 1] = (uint16_t)place;
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
    if (s->paths && from != to && s->far[from].weight != INT64_MAX && is_end(s, from) &&
        is_end(s, to))
        s->paths[(size_t)from * s->n + to] = net_ways_add(ways, from, to);
}

/* The exits of all to `to`, which is measured. */
static void note_exits(struct search *s, uint32_t to)
{
    for (uint32_t from = 0; from < s->n; from++) {
        bool none = from == to || !s->r->found->there[s->first + from];

        s->row[(size_t)from * s->n + to] = (uint8_t)('0' + (none ? 0 : choose(s, from, to)));
    }
}

static bool has_no_way(const struct search *s, uint32_t from, uint32_t to)
{
    return (uint8_t)(s->row[(size_t)from * s->n + to] - '0') == NO_EXIT && is_end(s, from) &&
           is_end(s, to);
}

/* The ways in one SIP; returns the pairs without one. */
static uint64_t search_sip(struct search *s)
{
    const struct kb_topology *t = &s->r->topo;
    struct net_ways ways = net_ways_make(s->r, leads_on, s);
    int64_t *nearest = arena_alloc(s->r->arena, t->cubes * sizeof *nearest);
    uint64_t no_way = 0;

    ways.first = s->first;
    find_weights(s);
    list_steps(s);
    for (uint32_t i = 0; i < t->cubes; i++)
        nearest[i] = INT64_MAX;
    for (uint32_t to = 0; to < t->cubes; to++) {
        if (!s->r->found->there[s->first + to])
            continue;
        arena_pause(s->r->arena);
        measure(s, to);
        s->r->shores[(size_t)(s->first + to) * 2] = nearest_shore(s);
        note_shore(s, to, nearest);
        note_exits(s, to);
        for (uint32_t from = 0; from < t->cubes; from++) {
            find_ways_of(s, &ways, from, to);
            no_way += has_no_way(s, from, to);
        }
    }
    return no_way;
}

static struct search new_search(struct routes *r, uint32_t n, const uint8_t *exits)
{
    struct search s = {.r = r, .n = n, .exits = exits};

    s.weights = arena_alloc(r->arena, (size_t)n * r->topo.ports * sizeof *s.weights);
    s.passes = arena_alloc(r->arena, n * sizeof *s.passes);
    s.in = arena_alloc(r->arena, (size_t)n * r->topo.ports * sizeof *s.in);
    s.first_in = arena_alloc(r->arena, (n + 1) * sizeof *s.first_in);
    s.far = arena_alloc(r->arena, n * sizeof *s.far);
    s.exit = arena_alloc(r->arena, n);
    return s;
}

uint64_t find_net_exits(struct routes *r, const struct route_table *table)
{
    struct kb_topology *t = &r->topo;
    const uint32_t *alike = find_alike_sips(r);
    struct search s = new_search(r, t->cubes, table->exits);
    size_t of_sip = (size_t)t->cubes * t->cubes;
    uint64_t *no_way = arena_alloc(r->arena, t->sips * sizeof *no_way), sum = 0;

    r->n_shores = sip_cubes(t) * 2;
    r->shores = arena_alloc(r->arena, r->n_shores * sizeof *r->shores);
    memset(r->shores, 0xff, r->n_shores * sizeof *r->shores);
    r->detour_of = arena_alloc(r->arena, sip_cubes(t) * sizeof *r->detour_of);
    r->detours = arena_alloc(r->arena, of_sip * t->sips);
    if (t->paths > 1)
        r->path_of = arena_alloc(r->arena, of_sip * t->sips * sizeof *r->path_of);
    for (uint32_t sip = 0; sip < t->sips; sip++) {
        s.first = sip * t->cubes;
        if (alike[sip] == sip) {
            s.row = &r->detours[(size_t)r->n_detours * t->cubes];
            s.paths = t->paths > 1 ? &r->path_of[(size_t)r->n_detours * t->cubes] : NULL;
            no_way[sip] = search_sip(&s);
            r->n_detours += t->cubes;
        }
        sum += no_way[sip] = no_way[alike[sip]];
        for (uint32_t cube = 0; cube < t->cubes; cube++)
            r->detour_of[s.first + cube] = alike[sip] == sip
                                               ? r->n_detours - t->cubes + cube + 1
                                               : r->detour_of[alike[sip] * t->cubes + cube];
        if (alike[sip] != sip)
            memcpy(&r->shores[(size_t)s.first * 2], &r->shores[(size_t)alike[sip] * t->cubes * 2],
                   (size_t)t->cubes * 2 * sizeof *r->shores);
    }
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
    struct search s = new_search(r, sim_cubes(t), NULL);
    struct net_ways ways = net_ways_make(r, leads_on, &s);
    size_t pairs = (size_t)s.n * s.n;
    uint64_t no_way = 0;

    r->rails = s.row = arena_alloc(r->arena, pairs);
    memset(r->rails, '0', pairs);
    if (t->paths > 1)
        r->rail_paths = s.paths = arena_alloc(r->arena, pairs * sizeof *r->rail_paths);
    find_weights(&s);
    list_steps(&s);
    for (uint32_t to = 0; to < sip_cubes(t); to++) {
        if (!r->found->there[to] || !is_end(&s, to))
            continue;
        arena_pause(r->arena);
        measure(&s, to);
        note_exits(&s, to);
        for (uint32_t from = 0; from < sip_cubes(t); from++) {
            if (cost_same_sip(t, from, to) || !r->found->there[from])
                continue;
            find_ways_of(&s, &ways, from, to);
            no_way += has_no_way(&s, from, to);
        }
    }
    t->rails = r->rails;
    return no_way;
}
