/*
 * net_grid.c -- how far the cubes of a whole mesh or torus are from one of them.
 *
 * Where a net is one mesh or torus, nothing of it is missing, and a step weighs what its dimension,
 * its direction and the place of its cube in that dimension say, no search is needed: a way of the
 * least weight is one in each dimension, straight up or down, and these may be gone in any order.
 * Ports are numbered by dimension, so the lowest one that leads on is of the first dimension in
 * which cube and target differ. So a few sums for each line and target tell all, and a torus of
 * 8192 cubes has its 2^26 exits in a fraction of the time of its searches.
 *
 * A step is up if it leads to the next place of its dimension, or from the last one to the first.
 * Of two places the first step of a cube is up, and the second one, over the link that closes the
 * ring, is down: they lead to the same cube.
 *
 * Example: torus [4, 2], all links alike, to c0. c7 stands at (3, 1): one step up in the first
 * dimension, one up in the second; its exit is the port of the first.
 */
#include "net_grid.h"
#include "machine/mesh.h"
#include <string.h>

enum { UP, DOWN, WAYS };

/* Straight from a place of a dimension to that of the target. */
struct straight {
    struct far far; /* weight INT64_MAX: there is no way */
    uint8_t way;
};

struct net_grid {
    const struct grid_row *row;
    uint32_t *cube_at;                      /* [place] */
    uint8_t *ports;                         /* [cube][dimension][UP or DOWN] */
    int64_t (*weights[KB_GRID_DIMS])[WAYS]; /* [place]: of a step from there; -1: there is none */
    struct straight *to[KB_GRID_DIMS];      /* [place]: of the target that is measured */
};

/* The place in dimension `d` of what stands at `at` of all places. */
static uint32_t place_in(const struct net_grid *g, uint32_t at, uint32_t d)
{
    for (uint32_t i = 0; i < d; i++)
        at /= g->row->size[i];
    return at % g->row->size[d];
}

/* -- is it one? ------------------------------------------------------------------------------- */

static uint32_t place_of(const struct search *s, uint32_t cube)
{
    return s->r->found->net->grids.of[cube].at;
}

/* The dimension in which two cubes are neighbours, in no other one they differ; N: in none. */
static uint32_t dimension_of(const struct net_grid *g, uint32_t a, uint32_t b)
{
    uint32_t only = KB_GRID_DIMS;

    for (uint32_t d = 0; d < g->row->dims; d++) {
        if (place_in(g, a, d) == place_in(g, b, d))
            continue;
        if (only != KB_GRID_DIMS)
            return KB_GRID_DIMS;
        only = d;
    }
    return only;
}

/* Notes the step over a port, which must be behind step `*last` of that cube. */
static bool note_step(struct net_grid *g, const struct search *s, uint32_t cube, uint32_t port,
                      uint32_t *last)
{
    uint32_t next = net_search_to(s, cube, port), at = place_of(s, cube);
    uint32_t d = dimension_of(g, at, place_of(s, next)), place, step, n;
    int64_t weight = s->weights[(size_t)cube * s->r->topo.ports + port];

    if (d == KB_GRID_DIMS)
        return false;
    n = g->row->size[d];
    place = place_in(g, at, d);
    step = (place_in(g, place_of(s, next), d) + n - place) % n;
    if (step != 1 && step != n - 1)
        return false;
    step = 1 + WAYS * d + (step == 1 && (n > 2 || *last < 1 + WAYS * d) ? UP : DOWN);
    if (step <= *last)
        return false;
    *last = step--;
    g->ports[(size_t)cube * g->row->dims * WAYS + step] = (uint8_t)port;
    g->weights[d][place][step % WAYS] = weight;
    return true;
}

/* Its steps; and there are as many at each cube with these places. */
static bool note_steps(struct net_grid *g, const struct search *s, uint32_t cube)
{
    uint32_t last = 0;

    for (uint32_t port = 0; port < s->r->topo.ports; port++)
        if (s->weights[(size_t)cube * s->r->topo.ports + port] >= 0 &&
            !note_step(g, s, cube, port, &last))
            return false;
    return s->passes[cube] && s->r->found->there[s->first + cube];
}

/* Does each step of a cube weigh what was noted last for its places? */
static bool weighs_so(const struct net_grid *g, const struct search *s, uint32_t cube)
{
    uint32_t at = place_of(s, cube), steps = 0, ports = 0;

    for (uint32_t port = 0; port < s->r->topo.ports; port++)
        ports += s->weights[(size_t)cube * s->r->topo.ports + port] >= 0;
    for (uint32_t d = 0; d < g->row->dims; d++)
        for (uint32_t way = 0; way < WAYS; way++) {
            int64_t weight = g->weights[d][place_in(g, at, d)][way];
            uint8_t port = g->ports[((size_t)cube * g->row->dims + d) * WAYS + way];

            if (weight < 0)
                continue;
            steps++;
            if (s->weights[(size_t)cube * s->r->topo.ports + port] != weight)
                return false;
        }
    return steps == ports;
}

static bool has_all(const struct search *s)
{
    const struct net_grids *grids = &s->r->found->net->grids;
    uint64_t places = 1;

    if (!grids->n || s->rank)
        return false;
    for (uint32_t d = 0; d < grids->rows[0].dims; d++)
        places *= grids->rows[0].size[d];
    for (uint32_t cube = 0; cube < s->n; cube++)
        if (grids->of[cube].grid != 1)
            return false;
    return places == s->n;
}

static struct net_grid *new_grid(const struct search *s)
{
    struct arena *a = s->r->arena;
    struct net_grid *g = arena_alloc(a, sizeof *g);

    g->row = s->r->found->net->grids.rows;
    g->cube_at = arena_alloc(a, s->n * sizeof *g->cube_at);
    g->ports = arena_alloc(a, (size_t)s->n * g->row->dims * WAYS);
    for (uint32_t d = 0; d < g->row->dims; d++) {
        g->weights[d] = arena_alloc(a, g->row->size[d] * sizeof *g->weights[d]);
        memset(g->weights[d], 0xff, g->row->size[d] * sizeof *g->weights[d]);
        g->to[d] = arena_alloc(a, g->row->size[d] * sizeof *g->to[d]);
    }
    return g;
}

struct net_grid *net_grid_find(const struct search *s)
{
    struct net_grid *g = has_all(s) ? new_grid(s) : NULL;

    for (uint32_t cube = 0; g && cube < s->n; cube++) {
        g->cube_at[place_of(s, cube)] = cube;
        if (!note_steps(g, s, cube))
            return NULL;
    }
    for (uint32_t cube = 0; g && cube < s->n; cube++)
        if (!weighs_so(g, s, cube))
            return NULL;
    return g;
}

/* -- to one target ---------------------------------------------------------------------------- */

/* One step more, of that weight. */
static struct far farther(struct far far, int64_t weight)
{
    if (weight < 0 || far.weight == INT64_MAX)
        return (struct far){INT64_MAX, 0};
    return (struct far){far.weight + weight, far.links + 1};
}

/* Straight to place `to` of dimension `d` from its others. Is there a way from all? */
static bool go_straight(struct net_grid *g, uint32_t d, uint32_t to)
{
    uint32_t n = g->row->size[d];
    struct far up = {0, 0}, down = {0, 0};
    bool all = true;

    g->to[d][to] = (struct straight){up, N_EXITS};
    for (uint32_t i = 1; i < n; i++) {
        uint32_t at = (to + n - i) % n;

        up = farther(up, g->weights[d][at][UP]);
        g->to[d][at] = (struct straight){up, UP};
    }
    for (uint32_t i = 1; i < n; i++) {
        struct straight *at = &g->to[d][(to + i) % n];

        down = farther(down, g->weights[d][(to + i) % n][DOWN]);
        if (net_is_nearer(down, at->far))
            *at = (struct straight){down, DOWN};
        all = all && at->far.weight != INT64_MAX;
    }
    return all;
}

/* The cubes of a line of the first dimension, which begins at place `first`; the target stands at
 * place `to` of it. */
static void measure_line(struct search *s, const struct net_grid *g, uint32_t first, uint32_t to)
{
    uint32_t dims = g->row->dims, step = 0;
    struct far rest = {0, 0};

    for (uint32_t d = dims; d-- > 1;) {
        const struct straight *way = &g->to[d][place_in(g, first, d)];

        rest.weight += way->far.weight;
        rest.links += way->far.links;
        step = way->far.links ? d * WAYS + way->way : step;
    }
    for (uint32_t x = 0; x < g->row->size[0]; x++) {
        const struct straight *way = &g->to[0][x];
        uint32_t cube = g->cube_at[first + x];
        uint8_t port = g->ports[(size_t)cube * dims * WAYS + (x == to ? step : way->way)];

        s->levels[cube] = (struct far){rest.weight + way->far.weight, rest.links + way->far.links};
        s->found[cube] = cube << 8 | port;
    }
}

bool net_grid_measure(struct search *s, struct net_grid *g, uint32_t to)
{
    uint32_t at = place_of(s, to);

    for (uint32_t d = 0; d < g->row->dims; d++)
        if (!go_straight(g, d, place_in(g, at, d)))
            return false;
    for (uint32_t first = 0; first < s->n; first += g->row->size[0])
        measure_line(s, g, first, place_in(g, at, 0));
    s->found[to] = to << 8 | NO_EXIT;
    s->n_reached = s->n;
    return true;
}
