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

    s.weights = arena_alloc(r->arena, (size_t)n * r->topo.ports * sizeof *s.weights);
    s.passes = arena_alloc(r->arena, s.states * sizeof *s.passes);
    s.first_run = arena_alloc(r->arena, (s.states + 1) * sizeof *s.first_run);
    s.levels = arena_alloc(r->arena, (s.states + 1) * sizeof *s.levels);
    s.found = arena_alloc(r->arena, s.states * sizeof *s.found);
    s.reached = arena_alloc(r->arena, (s.states + 1) * sizeof *s.reached);
    s.columns = arena_alloc(r->arena, (size_t)s.states * COLUMNS);
    memset(s.columns, '0', (size_t)s.states * COLUMNS);
    return s;
}

static void drop_list(struct search *s)
{
    for (uint32_t i = 0; i < s->n_lines; i++)
        arena_drop(s->r->arena, s->lines[i].found);
    s->n_lines = 0;
    arena_drop(s->r->arena, s->in);
    arena_drop(s->r->arena, s->runs);
}

void net_search_drop(struct search *s)
{
    drop_list(s);
    arena_drop(s->r->arena, s->weights);
    arena_drop(s->r->arena, s->columns);
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

/* A step, and the line of its weight. */
struct weighed {
    uint32_t line;
    struct step_in step;
};

/* The steps to state `to`. Returns how many. */
static uint32_t find_steps_to(struct search *s, uint32_t to, struct weighed *out)
{
    const struct kb_topology *t = &s->r->topo;
    uint32_t cube = to % s->n, n = 0;

    for (uint32_t port = 0; port < t->ports; port++) {
        const struct port_row *row = net_port(t, s->first + cube, port);
        uint32_t from = net_search_to(s, cube, port);
        int64_t weight = from == NO_WHERE ? -1 : s->weights[(size_t)from * t->ports + row->port];

        for (uint32_t state = from; weight >= 0 && state < s->states; state += s->n)
            if (is_legal(s, from, cube, state >= s->n, to >= s->n))
                out[n++] = (struct weighed){line_of(s, weight),
                                            {.state = state & 0xffffff, .port = row->port}};
    }
    return n;
}

static int by_line(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;

    return (x->line > y->line) - (x->line < y->line);
}

/* Room for the steps to all states: one that leads down has two, of routes that have come down
 * before and of those that have not. */
static void make_list(struct search *s)
{
    size_t pairs = (size_t)s->n * s->r->topo.ports, steps = 0;

    drop_list(s);
    for (size_t i = 0; i < pairs; i++)
        steps += s->weights[i] >= 0 ? s->states / s->n : 0;
    s->in = arena_alloc(s->r->arena, steps * sizeof *s->in);
    s->runs = arena_alloc(s->r->arena, (steps + 1) * sizeof *s->runs);
}

/* The steps to each state, and room in the lines: a state is reached once in a search. */
void net_search_list(struct search *s)
{
    struct weighed *found = arena_alloc(s->r->arena, 2 * s->r->topo.ports * sizeof *found);
    uint32_t n = 0, n_runs = 0;

    make_list(s);
    for (uint32_t to = 0; to < s->states; to++) {
        uint32_t steps = find_steps_to(s, to, found);

        qsort(found, steps, sizeof *found, by_line);
        s->first_run[to] = n_runs;
        for (uint32_t i = 0; i < steps; i++) {
            if (i == 0 || found[i].line != found[i - 1].line) {
                s->runs[n_runs++] = (struct run){found[i].line, n};
                s->lines[found[i].line].room++;
            }
            s->in[n++] = found[i].step;
        }
    }
    s->first_run[s->states] = n_runs;
    s->runs[n_runs].first = n;
    for (uint32_t i = 0; i < s->n_lines; i++)
        s->lines[i].found = arena_alloc(s->r->arena, s->lines[i].room * sizeof *s->lines[i].found);
}

/* -- to one target ---------------------------------------------------------------------------- */

bool net_is_nearer(struct far a, struct far b)
{
    return a.weight != b.weight ? a.weight < b.weight : a.links < b.links;
}

static void reach(struct search *s, uint32_t state)
{
    s->found[state] = NO_EXIT;
    s->reached[s->n_reached++] = (uint16_t)state;
}

/* Puts the steps to states that are reached, from reached[from] on, into their lines: if routes
 * pass such a state, or end there. */
static void put_steps(struct search *s, uint32_t from, bool ends)
{
    for (uint32_t i = from; i < s->n_reached; i++) {
        uint32_t state = s->reached[i];

        for (uint32_t run = s->first_run[state];
             (ends || s->passes[state]) && run < s->first_run[state + 1]; run++) {
            struct line *line = &s->lines[s->runs[run].line];

            line->found[line->end++] = (struct found){s->found[state] >> 8, run};
        }
    }
}

/* How far the next step of a line leads. */
static struct far over(const struct search *s, const struct line *line)
{
    struct far far = s->levels[line->found[line->first].level];

    return (struct far){far.weight + line->weight, far.links + 1};
}

/* The line with the nearest step of all. NULL: no step is left. */
static struct line *nearest_line(struct search *s)
{
    struct line *best = NULL;

    for (struct line *line = s->lines; line < s->lines + s->n_lines; line++)
        if (line->first < line->end && (!best || net_is_nearer(over(s, line), over(s, best))))
            best = line;
    return best;
}

/*
 * The steps of a run, which lead to `level`. What is found first of a state has the lowest level,
 * and of that the lowest port counts, so it is the least of all. And a state that is new is put
 * behind those reached, one that is not, too, but does not stay there: a jump by it would often be
 * guessed wrong.
 */
static void take_run(struct search *s, uint32_t run, uint32_t level)
{
    const struct step_in *step = &s->in[s->runs[run].first], *end = &s->in[s->runs[run + 1].first];
    uint16_t *next = s->reached + s->n_reached;

    for (; step < end; step++) {
        uint32_t *found = &s->found[step->state], was = *found, is = level << 8 | step->port;

        *next = (uint16_t)step->state;
        next += was == NOT_REACHED;
        *found = is < was ? is : was;
    }
    s->n_reached = (uint32_t)(next - s->reached);
}

/* The steps of a line from all states of its nearest level, which lead `far`. */
static void take_steps(struct search *s, struct line *line, struct far far)
{
    uint32_t from = line->found[line->first].level, before = s->n_reached;
    uint32_t level = s->n_levels - !net_is_nearer(s->levels[s->n_levels - 1], far);

    s->levels[level] = far;
    while (line->first < line->end && line->found[line->first].level == from)
        take_run(s, line->found[line->first++].run, level);
    if (s->n_reached > before)
        s->n_levels = level + 1;
    put_steps(s, before, false);
}

void net_search_measure(struct search *s, uint32_t to)
{
    struct line *line;

    memset(s->found, 0xff, s->states * sizeof *s->found);
    for (uint32_t i = 0; i < s->n_lines; i++)
        s->lines[i].first = s->lines[i].end = 0;
    s->n_reached = 0;
    s->n_levels = 1;
    s->levels[0] = (struct far){0, 0};
    for (uint32_t state = to; state < s->states; state += s->n)
        reach(s, state);
    put_steps(s, 0, true);
    while ((line = nearest_line(s)) != NULL) {
        struct far far = over(s, line);

        if (s->n_reached == s->n_there && net_is_nearer(s->levels[s->n_levels - 1], far))
            break;
        take_steps(s, line, far);
    }
}
