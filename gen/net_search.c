/*
 * net_search.c -- how far the cubes of a net are from one of them: the least weight, then the
 * fewest links.
 *
 * A search outward from each target, in order of (weight, links), tells how far all cubes are. It
 * takes the nearest step first. A machine has few weights of steps, and cubes from which such steps
 * lead are reached in the order of their distance, so there is a line of cubes for each weight, and
 * the nearest step of all leads from the first of some line. So a cube is as far as the first step
 * to it says, and once all are reached, no step that is longer than the way to the last of them is
 * looked at. That is most of them where links are of very different length: in a dragonfly those
 * between groups of which no route takes a second one.
 */
#include "net_search.h"
#include "detours.h"
#include "nodes.h"
#include "machine/walk.h"
#include <stdlib.h>
#include <string.h>

struct search net_search_new(struct routes *r, uint32_t n, const uint8_t *exits)
{
    bool up_down = r->topo.routes_by == ROUTES_UP_DOWN;
    struct search s = {.r = r, .n = n, .states = up_down ? 2 * n : n, .exits = exits};
    size_t steps = (size_t)s.states * r->topo.ports;

    s.weights = arena_alloc(r->arena, (size_t)n * r->topo.ports * sizeof *s.weights);
    s.passes = arena_alloc(r->arena, s.states * sizeof *s.passes);
    s.in = arena_alloc(r->arena, (up_down ? 2 : 1) * steps * sizeof *s.in);
    s.runs = arena_alloc(r->arena, (up_down ? 2 : 1) * steps * sizeof *s.runs);
    s.first_run = arena_alloc(r->arena, (s.states + 1) * sizeof *s.first_run);
    s.far = arena_alloc(r->arena, s.states * sizeof *s.far);
    s.exit = arena_alloc(r->arena, s.states);
    s.columns = arena_alloc(r->arena, (size_t)s.states * COLUMNS);
    memset(s.columns, '0', (size_t)s.states * COLUMNS);
    return s;
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
uint32_t net_search_to(const struct search *s, uint32_t cube, uint32_t port)
{
    uint32_t to = net_port(&s->r->topo, s->first + cube, port)->cube;

    return to == NO_WHERE || to - s->first >= s->n ? NO_WHERE : to - s->first;
}

void net_search_weights(struct search *s)
{
    const struct routes *r = s->r;

    s->n_there = 0;
    for (uint32_t cube = 0; cube < s->n; cube++) {
        const struct spec *kind = r->found->kinds[r->found->kind[s->first + cube]];

        for (uint32_t state = cube; state < s->states; state += s->n) {
            s->passes[state] = kind->cube_transit == TRANSIT_ALL;
            s->n_there += r->found->there[s->first + cube];
        }
        for (uint32_t port = 0; port < r->topo.ports; port++)
            s->weights[(size_t)cube * r->topo.ports + port] =
                net_search_to(s, cube, port) != NO_WHERE &&
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

/* May a step between two cubes lead from a state to another, of routes that have come `was_down`
 * before it and `down` behind it? */
static bool is_legal(const struct search *s, uint32_t from, uint32_t to, bool was_down, bool down)
{
    bool leads_down;

    if (!s->rank)
        return true;
    leads_down = s->rank[to] > s->rank[from];
    return s->rank[from] != UINT32_MAX && s->rank[to] != UINT32_MAX && leads_down == down &&
           (down || !was_down);
}

/* The steps to state `to`, which are numbered from `n` on. Returns how many there are then. */
static uint32_t list_steps_to(struct search *s, uint32_t to, uint32_t n)
{
    const struct kb_topology *t = &s->r->topo;
    uint32_t cube = to % s->n;

    for (uint32_t port = 0; port < t->ports; port++) {
        const struct port_row *row = net_port(t, s->first + cube, port);
        uint32_t from = net_search_to(s, cube, port);
        int64_t weight = from == NO_WHERE ? -1 : s->weights[(size_t)from * t->ports + row->port];

        for (uint32_t state = from; weight >= 0 && state < s->states; state += s->n) {
            if (!is_legal(s, from, cube, state >= s->n, to >= s->n))
                continue;
            s->in[n] = (struct step_in){
                .cube = state, .weight = line_of(s, weight) & 0xffffff, .port = row->port};
            n++;
        }
    }
    return n;
}

static int by_weight(const void *a, const void *b)
{
    const struct step_in *x = a, *y = b;

    return (x->weight > y->weight) - (x->weight < y->weight);
}

/* The runs of the steps [from, end), numbered from `n` on. Returns how many there are then. */
static uint32_t list_runs(struct search *s, uint32_t from, uint32_t end, uint32_t n)
{
    qsort(&s->in[from], end - from, sizeof *s->in, by_weight);
    for (uint32_t i = from; i < end; i = s->runs[n++].end) {
        struct run *run = &s->runs[n];

        *run = (struct run){s->in[i].weight, i, i + 1};
        while (run->end < end && s->in[run->end].weight == run->weight)
            run->end++;
        s->lines[run->weight].room++;
    }
    return n;
}

/* The steps to each state, and room in the lines: a state is reached once in a search. */
void net_search_list(struct search *s)
{
    uint32_t n = 0, n_runs = 0;

    s->n_lines = 0;
    for (uint32_t to = 0; to < s->states; to++) {
        uint32_t end = list_steps_to(s, to, n);

        s->first_run[to] = n_runs;
        n_runs = list_runs(s, n, end, n_runs);
        n = end;
    }
    s->first_run[s->states] = n_runs;
    for (uint32_t i = 0; i < s->n_lines; i++)
        s->lines[i].found = arena_alloc(s->r->arena, s->lines[i].room * sizeof *s->lines[i].found);
}

/* -- to one target ---------------------------------------------------------------------------- */

bool net_is_nearer(struct far a, struct far b)
{
    return a.weight != b.weight ? a.weight < b.weight : a.links < b.links;
}

/* A state is as far as that; if routes pass it, or end there, steps lead to it. */
static void reach(struct search *s, uint32_t state, struct far far, bool ends)
{
    s->far[state] = s->last = far;
    s->n_reached++;
    for (uint32_t i = s->first_run[state];
         (ends || s->passes[state]) && i < s->first_run[state + 1]; i++) {
        struct line *line = &s->lines[s->runs[i].weight];

        line->found[line->end++] = (struct found){far, i};
    }
}

static struct far over(const struct line *line)
{
    struct far far = line->found[line->first].far;

    return (struct far){far.weight + line->weight, far.links + 1};
}

/* The line with the nearest step of all. NULL: no step is left. */
static struct line *nearest_line(struct search *s)
{
    struct line *best = NULL;

    for (struct line *line = s->lines; line < s->lines + s->n_lines; line++)
        if (line->first < line->end && (!best || net_is_nearer(over(line), over(best))))
            best = line;
    return best;
}

/* The steps of the first run of a line, which come from `far`. */
static void take_steps(struct search *s, struct line *line, struct far far)
{
    const struct run *run = &s->runs[line->found[line->first++].run];

    for (uint32_t i = run->first; i < run->end; i++) {
        const struct step_in *step = &s->in[i];

        if (s->far[step->cube].weight == INT64_MAX) {
            s->exit[step->cube] = (uint8_t)step->port;
            reach(s, step->cube, far, false);
        } else if (step->port < s->exit[step->cube] && !net_is_nearer(s->far[step->cube], far)) {
            s->exit[step->cube] = (uint8_t)step->port;
        }
    }
}

void net_search_measure(struct search *s, uint32_t to)
{
    struct line *line;

    for (uint32_t i = 0; i < s->states; i++)
        s->far[i] = (struct far){INT64_MAX, 0};
    memset(s->exit, NO_EXIT, s->states);
    for (uint32_t i = 0; i < s->n_lines; i++)
        s->lines[i].first = s->lines[i].end = 0;
    s->n_reached = 0;
    for (uint32_t state = to; state < s->states; state += s->n)
        reach(s, state, (struct far){0, 0}, true);
    while ((line = nearest_line(s)) != NULL) {
        struct far far = over(line);

        if (s->n_reached == s->n_there && net_is_nearer(s->last, far))
            break;
        take_steps(s, line, far);
    }
}
