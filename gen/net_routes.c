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
 * visits the cubes of the least distance first: those found are kept in a heap.
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

/* The search in one SIP. Cubes count inside the SIP. */
struct search {
    struct routes *r;
    uint32_t first;       /* the SIP's first cube, over all */
    int64_t *weights;     /* [cube][port]: of a step; -1: there is none */
    bool *passes;         /* [cube]: routes may */
    struct far *far;      /* [cube] */
    uint32_t *heap, n;    /* cubes that are found, the nearest first */
    uint32_t *place;      /* [cube]: where it is in the heap, from 1; 0: it is not */
    uint8_t *row;         /* [from][to]: '0' + the exit */
    const uint8_t *exits; /* of a table; NULL */
};

/* -- ports ------------------------------------------------------------------------------------ */

static void fill_cube(struct routes *r, uint32_t cube)
{
    const struct kb_topology *t = &r->topo;
    const struct net_cube *of = &r->found->net->cubes[cube % t->cubes];
    struct port_row *rows = &r->port_rows[(size_t)cube * t->ports];

    for (uint32_t port = 0; port < t->ports; port++)
        rows[port] = (struct port_row){.cube = NO_WHERE};
    if (!r->found->there[cube]) {
        memset(&r->cube_edges[(size_t)cube * N_EDGE_LETTERS], EDGE_NO_CUBE, N_EDGE_LETTERS);
        return;
    }
    for (uint32_t port = 0; port < of->n; port++)
        rows[port] =
            (struct port_row){.cube = of->ports[port].cube,
                              .port = (uint8_t)of->ports[port].port,
                              .flags = (uint8_t)(PORT_IS | PORT_FROM_NOC | PORT_TO_NOC |
                                                 (of->ports[port].leads ? PORT_OUT : 0) |
                                                 (of->ports[port].owns ? PORT_OWNS : 0) |
                                                 (of->ports[port].closes ? PORT_CLOSES : 0)),
                              .ring = (uint16_t)of->ports[port].ring};
    for (uint32_t i = 0; i < r->found->net->n_io; i++)
        if (r->found->net->io_cubes[i] == cube % t->cubes)
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

static void find_weights(struct search *s)
{
    const struct routes *r = s->r;

    for (uint32_t cube = 0; cube < r->topo.cubes; cube++) {
        const struct spec *kind = r->found->kinds[r->found->kind[s->first + cube]];

        s->passes[cube] = kind->cube_transit == TRANSIT_ALL;
        for (uint32_t port = 0; port < r->topo.ports; port++)
            s->weights[(size_t)cube * r->topo.ports + port] =
                detours_has_step(&r->topo, 0, s->first + cube, port)
                    ? step_fs(r, s->first + cube, port)
                    : -1;
    }
}

/* -- the heap --------------------------------------------------------------------------------- */

static bool is_nearer(const struct search *s, uint32_t a, uint32_t b)
{
    if (s->far[a].weight != s->far[b].weight)
        return s->far[a].weight < s->far[b].weight;
    return s->far[a].links < s->far[b].links;
}

static void put(struct search *s, uint32_t at, uint32_t cube)
{
    s->heap[at] = cube;
    s->place[cube] = at + 1;
}

/* `cube` is in the heap, or comes into it, and is nearer than before. */
static void heap_raise(struct search *s, uint32_t cube)
{
    uint32_t at = s->place[cube] ? s->place[cube] - 1 : s->n++;

    for (; at > 0 && is_nearer(s, cube, s->heap[(at - 1) / 2]); at = (at - 1) / 2)
        put(s, at, s->heap[(at - 1) / 2]);
    put(s, at, cube);
}

static uint32_t heap_take(struct search *s)
{
    uint32_t nearest = s->heap[0], last = s->heap[--s->n], at = 0;

    s->place[nearest] = 0;
    for (uint32_t child = 1; child < s->n; child = 2 * at + 1) {
        if (child + 1 < s->n && is_nearer(s, s->heap[child + 1], s->heap[child]))
            child++;
        if (!is_nearer(s, s->heap[child], last))
            break;
        put(s, at, s->heap[child]);
        at = child;
    }
    if (s->n)
        put(s, at, last);
    return nearest;
}

/* -- to one target ---------------------------------------------------------------------------- */

/* The cubes from which a step leads to `cube`, which is as far as it is. */
static void reach_from(struct search *s, uint32_t cube)
{
    const struct kb_topology *t = &s->r->topo;

    for (uint32_t port = 0; port < t->ports; port++) {
        const struct port_row *row = net_port(t, s->first + cube, port);
        struct far far;
        int64_t weight;

        if (row->cube == NO_WHERE)
            continue;
        weight = s->weights[(size_t)row->cube * t->ports + row->port];
        if (weight < 0)
            continue;
        far = (struct far){s->far[cube].weight + weight, s->far[cube].links + 1};
        if (far.weight > s->far[row->cube].weight ||
            (far.weight == s->far[row->cube].weight && far.links >= s->far[row->cube].links))
            continue;
        s->far[row->cube] = far;
        heap_raise(s, row->cube);
    }
}

static void measure(struct search *s, uint32_t to)
{
    for (uint32_t i = 0; i < s->r->topo.cubes; i++)
        s->far[i] = (struct far){INT64_MAX, 0};
    s->far[to] = (struct far){0, 0};
    heap_raise(s, to);
    while (s->n) {
        uint32_t cube = heap_take(s);

        if (cube == to || s->passes[cube])
            reach_from(s, cube);
    }
}

/* Does a way of the least weight from `from` to the target begin with `port`? */
static bool leads_on(const void *of, uint32_t from, uint32_t port, uint32_t to)
{
    const struct search *s = of;
    const struct kb_topology *t = &s->r->topo;
    int64_t weight = s->weights[(size_t)from * t->ports + port];
    uint32_t next = weight < 0 ? to : net_port(t, s->first + from, port)->cube;

    return weight >= 0 && (next == to || s->passes[next]) && s->far[next].weight != INT64_MAX &&
           s->far[next].weight + weight == s->far[from].weight &&
           s->far[next].links + 1 == s->far[from].links;
}

static uint32_t choose(const struct search *s, uint32_t from, uint32_t to)
{
    const struct kb_topology *t = &s->r->topo;

    if (s->exits)
        return s->exits[(size_t)from * t->cubes + to];
    for (uint32_t port = 0; s->far[from].weight != INT64_MAX && port < t->ports; port++)
        if (leads_on(s, from, port, to))
            return port;
    return NO_EXIT;
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
    struct routes *r = s->r;

    if (r->topo.paths > 1 && from != to && s->far[from].weight != INT64_MAX && is_end(s, from) &&
        is_end(s, to))
        r->path_of[(size_t)(r->n_detours + from) * r->topo.cubes + to] =
            net_ways_add(ways, from, to);
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
    for (uint32_t i = 0; i < t->cubes; i++)
        nearest[i] = INT64_MAX;
    for (uint32_t to = 0; to < t->cubes; to++) {
        if (!s->r->found->there[s->first + to])
            continue;
        arena_pause(s->r->arena);
        measure(s, to);
        s->r->shores[(size_t)(s->first + to) * 2] = nearest_shore(s);
        note_shore(s, to, nearest);
        for (uint32_t from = 0; from < t->cubes; from++) {
            uint32_t exit =
                from == to || !s->r->found->there[s->first + from] ? 0 : choose(s, from, to);

            s->row[(size_t)from * t->cubes + to] = (uint8_t)('0' + exit);
            find_ways_of(s, &ways, from, to);
            no_way += exit == NO_EXIT && is_end(s, from) && is_end(s, to);
        }
    }
    return no_way;
}

static struct search new_search(struct routes *r, const uint8_t *exits)
{
    size_t cubes = r->topo.cubes;
    struct search s = {.r = r, .exits = exits};

    s.weights = arena_alloc(r->arena, cubes * r->topo.ports * sizeof *s.weights);
    s.passes = arena_alloc(r->arena, cubes * sizeof *s.passes);
    s.far = arena_alloc(r->arena, cubes * sizeof *s.far);
    s.heap = arena_alloc(r->arena, (cubes + 1) * sizeof *s.heap);
    s.place = arena_alloc(r->arena, cubes * sizeof *s.place);
    return s;
}

uint64_t find_net_exits(struct routes *r, const struct route_table *table)
{
    struct kb_topology *t = &r->topo;
    const uint32_t *alike = find_alike_sips(r);
    struct search s = new_search(r, table->exits);
    size_t of_sip = (size_t)t->cubes * t->cubes;
    uint64_t *no_way = arena_alloc(r->arena, t->sips * sizeof *no_way), sum = 0;

    r->n_shores = sim_cubes(t) * 2;
    r->shores = arena_alloc(r->arena, r->n_shores * sizeof *r->shores);
    memset(r->shores, 0xff, r->n_shores * sizeof *r->shores);
    r->detour_of = arena_alloc(r->arena, sim_cubes(t) * sizeof *r->detour_of);
    r->detours = arena_alloc(r->arena, of_sip * t->sips);
    if (t->paths > 1)
        r->path_of = arena_alloc(r->arena, of_sip * t->sips * sizeof *r->path_of);
    for (uint32_t sip = 0; sip < t->sips; sip++) {
        s.first = sip * t->cubes;
        if (alike[sip] == sip) {
            s.row = &r->detours[(size_t)r->n_detours * t->cubes];
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
