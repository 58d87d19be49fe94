/*
 * detours.c -- routes between the cubes of a SIP around what is missing or broken.
 *
 * planes.c says which routes these are. They are found target by target. Most cubes need no search:
 * if every step of a cube's default route to the target is there, its distance is that of the whole
 * plane, nothing is shorter, and the default is the exit. How far a cube leads straight to each
 * side is known beforehand (`reach`), so two comparisons tell. Only the other cubes, the `bent`
 * ones, are searched, outward from those whose distance is known. SIPs that are alike share all of
 * it. With ties spread there is a second search, for routes that are odd (machine/mesh.h).
 *
 * Example: 100 x 100 cubes, three of them missing: of 10^8 pairs some 3 million are bent.
 *
 * Routes that a table gives, or that go up*, then down*, are found for every pair: all are bent.
 */
#include "detours.h"
#include "cubes.h"
#include "sips.h"
#include "up_down.h"
#include "machine/mesh.h"
#include <string.h>

enum { BY_DEFAULT = NO_EXIT - 1 }; /* no side of a mesh */

/* Steps to the target in one dimension, by column or by row: the side, and how many. */
struct towards {
    uint8_t *side;
    uint16_t *steps;
};

/* The search in one SIP, of one plane. Cubes count inside the SIP. */
struct search {
    struct routes *r;
    uint32_t plane, first;  /* the SIP's first cube, over all */
    bool odd;               /* the routes are: machine/mesh.h */
    uint32_t *next;         /* [cube][side]: where a step leads; NO_WHERE: there is none */
    uint16_t *reach;        /* [side][cube]: steps that lead straight on */
    struct towards x, y;    /* of the present target, by column and by row */
    uint8_t *column_whole;  /* [column]: from the target's row, along it */
    uint32_t *far;          /* [cube]: steps to the target; UINT32_MAX: not known, or no way */
    uint32_t *bent, n_bent; /* cubes that are searched */
    uint32_t *line;         /* of these those found, nearest first */
    uint32_t *seeds, *more; /* [steps], [cube]: lists of bent cubes beside one that is not */
    uint8_t **rows;         /* [cube]: exits to each cube, or BY_DEFAULT; NULL: all are */
    uint32_t *nearest;      /* [cube][chiplet]: steps to the nearest shore cube so far */
    struct route_table table;
    bool up_down; /* its routes are such, from here on: */
    struct up_down tree;
};

bool detours_has_step(const struct kb_topology *t, uint32_t plane, uint32_t cube, uint32_t side)
{
    return mesh_has_link(t, plane, cube, side) && mesh_has_port(t, plane, cube, side, true) &&
           mesh_has_port(t, plane, walk_neighbour(t, cube, side), walk_far_side(t, cube, side),
                         false);
}

static bool is_there(const struct search *s, uint32_t cube)
{
    return s->r->found->there[s->first + cube];
}

/* The cube from which a step to `side` leads to `cube`; NO_WHERE: none. */
static uint32_t step_before(const struct search *s, uint32_t cube, uint32_t side)
{
    const struct kb_topology *t = &s->r->topo;
    uint32_t back = walk_opposite(side), before;

    if (mesh_at_border(t, cube, back) && !(t->wrap >> side_is_vertical(side) & 1))
        return NO_WHERE;
    before = walk_neighbour(t, cube, back);
    return s->next[before * N_SIDES + side] == NO_WHERE ? NO_WHERE : before;
}

/* -- steps ---------------------------------------------------------------------------------- */

static void find_steps(struct search *s)
{
    const struct kb_topology *t = &s->r->topo;

    for (uint32_t cube = 0; cube < t->cubes; cube++)
        for (uint32_t side = 0; side < N_SIDES; side++)
            s->next[cube * N_SIDES + side] =
                detours_has_step(t, s->plane, s->first + cube, side)
                    ? walk_neighbour(t, s->first + cube, side) - s->first
                    : NO_WHERE;
}

/* Steps straight on to `side` from `cube`, after those of the next cube; in a ring no more than
 * lead to its last cube. */
static void reach_on(struct search *s, uint32_t cube, uint32_t side)
{
    const struct kb_topology *t = &s->r->topo;
    uint32_t most = (side_is_vertical(side) ? t->h : t->w) - 1;
    uint32_t next = s->next[cube * N_SIDES + side];
    uint32_t n = next == NO_WHERE ? 0 : s->reach[side * t->cubes + next] + 1u;

    s->reach[side * t->cubes + cube] = (uint16_t)(n < most ? n : most);
}

/* Against the direction of the side; twice, for rings. */
static void find_reach(struct search *s)
{
    uint32_t cubes = s->r->topo.cubes;

    memset(s->reach, 0, (size_t)cubes * N_SIDES * sizeof *s->reach);
    for (uint32_t i = 0; i < 2 * cubes; i++)
        for (uint32_t side = 0; side < N_SIDES; side++)
            reach_on(s, side == SIDE_E || side == SIDE_S ? cubes - 1 - i % cubes : i % cubes, side);
}

static bool is_whole(const struct search *s, uint32_t cube, uint32_t side, uint32_t steps)
{
    return steps == 0 || s->reach[side * s->r->topo.cubes + cube] >= steps;
}

/* -- distances to one target ------------------------------------------------------------------ */

/* From place `from` of `n` in a dimension to place `to`, both cubes of that line. */
static void aim_from(struct towards *of, const struct search *s, uint32_t i, uint32_t from,
                     uint32_t to, uint32_t n, bool y)
{
    const struct kb_topology *t = &s->r->topo;
    uint32_t side = mesh_towards(t, s->plane, s->odd, from, to, y);
    uint32_t a = y ? cube_row(t, from) : cube_column(t, from);
    uint32_t b = y ? cube_row(t, to) : cube_column(t, to);
    uint32_t up = b >= a ? b - a : b + n - a;

    of->side[i] = (uint8_t)side;
    of->steps[i] = (uint16_t)(side == N_EXITS ? 0 : side == SIDE_E || side == SIDE_S ? up : n - up);
}

static void aim(struct search *s, uint32_t to)
{
    const struct kb_topology *t = &s->r->topo;
    uint32_t row = to - to % t->w, column = to % t->w;

    for (uint32_t x = 0; x < t->w; x++) {
        aim_from(&s->x, s, x, row + x, to, t->w, false);
        s->column_whole[x] = is_whole(s, row + x, s->x.side[x], s->x.steps[x]);
    }
    for (uint32_t y = 0; y < t->h; y++)
        aim_from(&s->y, s, y, y * t->w + column, to, t->h, true);
}

/* The cubes of row `y`: far if their default route is whole, else bent. */
static void measure_row(struct search *s, uint32_t to, uint32_t y)
{
    const struct kb_topology *t = &s->r->topo;
    uint32_t row = y * t->w, corner = row + to % t->w;
    bool y_first = t->plane_rows[s->plane].y_first;
    bool row_whole = y_first || is_whole(s, corner, s->y.side[y], s->y.steps[y]);

    for (uint32_t x = 0; x < t->w; x++) {
        bool whole = y_first
                         ? s->column_whole[x] && is_whole(s, row + x, s->y.side[y], s->y.steps[y])
                         : row_whole && is_whole(s, row + x, s->x.side[x], s->x.steps[x]);

        s->far[row + x] = whole ? (uint32_t)s->x.steps[x] + s->y.steps[y] : UINT32_MAX;
        if (!whole)
            s->bent[s->n_bent++] = row + x;
    }
}

/* Bent cubes with a step to one that is not: how far they are at most. Returns the most of all. */
static uint32_t find_seeds(struct search *s)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < s->n_bent; i++) {
        uint32_t cube = s->bent[i], least = UINT32_MAX;

        for (uint32_t side = 0; side < N_SIDES; side++) {
            uint32_t next = s->next[cube * N_SIDES + side];

            if (next != NO_WHERE && s->far[next] < least)
                least = s->far[next] + 1;
        }
        if (least == UINT32_MAX)
            continue;
        s->more[cube] = s->seeds[least];
        s->seeds[least] = cube + 1;
        most = least > most ? least : most;
    }
    return most;
}

static void reach_cube(struct search *s, uint32_t cube, uint32_t steps, uint32_t *n)
{
    if (s->far[cube] != UINT32_MAX)
        return;
    s->far[cube] = steps;
    s->line[(*n)++] = cube;
}

/* From line[first, end), which are `steps` - 1 far, to the cubes before them. */
static void go_outward(struct search *s, uint32_t first, uint32_t end, uint32_t steps, uint32_t *n)
{
    for (uint32_t i = first; i < end; i++)
        for (uint32_t side = 0; side < N_SIDES; side++) {
            uint32_t before = step_before(s, s->line[i], side);

            if (before != NO_WHERE)
                reach_cube(s, before, steps, n);
        }
}

/* Finds how far bent cubes are, nearest first; the first `n` of the line are found. */
static void search_bent(struct search *s, uint32_t n)
{
    uint32_t most = n ? 0 : find_seeds(s), first = 0;

    for (uint32_t steps = 1, end = n; steps <= most || first < n; steps++, first = end, end = n) {
        go_outward(s, first, end, steps, &n);
        for (uint32_t seed = s->seeds[steps]; seed; seed = s->more[seed - 1])
            reach_cube(s, seed - 1, steps, &n);
        s->seeds[steps] = 0;
    }
}

static bool finds_all(const struct search *s)
{
    return s->table.exits || s->up_down;
}

/* Steps from every cube to `to`. */
static void measure(struct search *s, uint32_t to)
{
    const struct kb_topology *t = &s->r->topo;

    s->n_bent = 0;
    if (!finds_all(s)) {
        aim(s, to);
        for (uint32_t y = 0; y < t->h; y++)
            measure_row(s, to, y);
        search_bent(s, 0);
        return;
    }
    for (uint32_t i = 0; i < t->cubes; i++) {
        s->far[i] = UINT32_MAX;
        s->bent[s->n_bent++] = i;
    }
    s->far[to] = 0;
    s->line[0] = to;
    search_bent(s, 1);
}

/* -- exits ---------------------------------------------------------------------------------- */

/* The exit from `from` to `to`, from which all are measured. */
static uint32_t choose(const struct search *s, uint32_t from, uint32_t to)
{
    const struct kb_topology *t = &s->r->topo;
    bool y_first = t->plane_rows[s->plane].y_first;
    const uint32_t tries[] = {mesh_towards(t, s->plane, s->odd, from, to, y_first),
                              mesh_towards(t, s->plane, s->odd, from, to, !y_first),
                              SIDE_E,
                              SIDE_W,
                              SIDE_S,
                              SIDE_N};
    enum { TRIES = sizeof tries / sizeof *tries };

    if (s->table.exits)
        return s->table.exits[(size_t)from * t->cubes + to];
    if (s->up_down) {
        uint32_t exit = up_down_exit(&s->tree, from, tries, TRIES);

        if (exit == N_SIDES && s->far[from] != UINT32_MAX)
            s->r->no_up_down = true;
        return exit == N_SIDES ? NO_EXIT : exit;
    }
    for (size_t i = 0; i < TRIES; i++) {
        uint32_t next = tries[i] < N_SIDES ? s->next[from * N_SIDES + tries[i]] : NO_WHERE;

        if (next != NO_WHERE && s->far[next] != UINT32_MAX && s->far[next] + 1 == s->far[from])
            return tries[i];
    }
    return NO_EXIT;
}

static void note_exit(struct search *s, uint32_t from, uint32_t to, uint32_t exit)
{
    const struct kb_topology *t = &s->r->topo;

    if (exit == mesh_default_or_none(t, s->plane, s->odd, from, to))
        return;
    if (!s->rows[from]) {
        s->rows[from] = arena_alloc(s->r->arena, t->cubes);
        memset(s->rows[from], BY_DEFAULT, t->cubes);
    }
    s->rows[from][to] = (uint8_t)exit;
}

/* The exits of bent cubes; adds those without a way. */
static void choose_exits(struct search *s, uint32_t to, uint64_t *no_way)
{
    for (uint32_t i = 0; i < s->n_bent; i++) {
        uint32_t from = s->bent[i], exit;

        if (from == to || !is_there(s, from))
            continue;
        exit = choose(s, from, to);
        note_exit(s, from, to, exit);
        *no_way += exit == NO_EXIT;
    }
}

/* A step of the search's plane, for up_down.c. */
static uint32_t tree_step(void *search, uint32_t cube, uint32_t side)
{
    const struct search *s = search;

    return s->next[cube * N_SIDES + side];
}

/* -- shores --------------------------------------------------------------------------------- */

static uint16_t *shore_of(struct search *s, uint32_t cube, uint32_t chiplet, uint32_t to_shore)
{
    const struct kb_topology *t = &s->r->topo;

    return &s->r->shores[(((size_t)(s->first + cube) * t->planes + s->plane) * t->chiplets +
                          chiplet) *
                             2 +
                         to_shore];
}

/* The nearest cube of each shore from which a way leads to `to`. */
static void find_shore_from(struct search *s, uint32_t to)
{
    const struct kb_topology *t = &s->r->topo;

    for (uint32_t chiplet = 0; chiplet < t->chiplets; chiplet++) {
        uint32_t least = UINT32_MAX;

        for (uint32_t place = 0; place < mesh_shore_length(t, chiplet); place++) {
            uint32_t shore = mesh_on_shore(t, chiplet, s->first + to, place);
            uint32_t far = s->far[shore - s->first];

            if (far < least && mesh_has_cube(t, shore) &&
                mesh_has_port(t, s->plane, shore, t->io_sides[chiplet], false)) {
                least = far;
                *shore_of(s, to, chiplet, 0) = (uint16_t)place;
            }
        }
    }
}

/* `to` may be the nearest shore cube of those from which all are measured. */
static void find_shore_to(struct search *s, uint32_t to)
{
    const struct kb_topology *t = &s->r->topo;
    uint32_t cube = s->first + to;

    for (uint32_t chiplet = 0; chiplet < t->chiplets; chiplet++) {
        uint32_t place = mesh_shore_place(t, chiplet, cube);

        if (mesh_on_shore(t, chiplet, cube, place) != cube ||
            !mesh_has_port(t, s->plane, cube, t->io_sides[chiplet], true))
            continue;
        for (uint32_t i = 0; i < t->cubes; i++) {
            uint32_t *least = &s->nearest[(size_t)i * t->chiplets + chiplet];

            if (s->far[i] < *least) {
                *least = s->far[i];
                *shore_of(s, i, chiplet, 1) = (uint16_t)place;
            }
        }
    }
}

/* -- rows ----------------------------------------------------------------------------------- */

/* Room for one row more. */
static uint8_t *new_row(struct routes *r)
{
    size_t cubes = r->topo.cubes;

    if (r->n_detours == r->detours_cap) {
        uint8_t *more = arena_alloc(r->arena, (2 * (size_t)r->n_detours + 16) * cubes);

        if (r->n_detours)
            memcpy(more, r->detours, r->n_detours * cubes);
        r->detours = more;
        r->detours_cap = 2 * r->n_detours + 16;
    }
    return &r->detours[r->n_detours++ * cubes];
}

/* The row of `from`, which has some. */
static void add_row(struct search *s, uint32_t from)
{
    struct routes *r = s->r;
    const struct kb_topology *t = &r->topo;
    uint8_t *row = new_row(r);

    for (uint32_t to = 0; to < t->cubes; to++) {
        uint32_t exit = s->rows[from][to];

        if (to == from || !is_there(s, to))
            exit = 0;
        else if (exit == BY_DEFAULT)
            exit = mesh_default_or_none(t, s->plane, s->odd, from, to);
        row[to] = (uint8_t)('0' + exit);
    }
    r->detour_of[(size_t)(s->odd * t->planes + s->plane) * sim_cubes(t) + s->first + from] =
        r->n_detours;
    r->plane_rows[s->plane].has_detours = true;
}

/* Of one plane in one SIP; returns the pairs without a way. */
static uint64_t search_sip(struct search *s)
{
    const struct kb_topology *t = &s->r->topo;
    uint64_t no_way = 0;

    find_steps(s);
    s->up_down = s->r->up_down >> s->plane & 1;
    if (s->up_down)
        s->tree =
            up_down_make(s->r->arena, t->cubes, N_SIDES,
                         up_down_lowest(t->cubes, &s->r->found->there[s->first]), tree_step, s);
    else
        find_reach(s);
    memset(s->nearest, 0xff, (size_t)t->cubes * t->chiplets * sizeof *s->nearest);
    memset(s->rows, 0, t->cubes * sizeof *s->rows);
    for (uint32_t to = 0; to < t->cubes; to++) {
        if (!is_there(s, to))
            continue;
        arena_pause(s->r->arena);
        measure(s, to);
        if (s->up_down)
            up_down_aim(&s->tree, to);
        find_shore_from(s, to);
        find_shore_to(s, to);
        choose_exits(s, to, &no_way);
    }
    for (uint32_t i = 0; i < t->cubes; i++)
        if (s->rows[i])
            add_row(s, i);
    return no_way;
}

/* -- all SIPs ------------------------------------------------------------------------------- */

/* SIP `sip` has the ways of `first`, which is alike. */
static void copy_sip(struct routes *r, uint32_t sip, uint32_t first)
{
    const struct kb_topology *t = &r->topo;
    size_t shores = (size_t)t->cubes * t->planes * t->chiplets * 2;

    memcpy(&r->shores[sip * shores], &r->shores[first * shores], shores * sizeof *r->shores);
    for (uint32_t table = 0; table < t->planes * mesh_ties(t); table++) {
        uint32_t *of = &r->detour_of[(size_t)table * sim_cubes(t)];

        memcpy(&of[(size_t)sip * t->cubes], &of[(size_t)first * t->cubes], t->cubes * sizeof *of);
    }
}

static void make_room(struct routes *r)
{
    struct kb_topology *t = &r->topo;
    size_t all = sim_cubes(t);

    r->n_shores = (uint32_t)(all * t->planes * t->chiplets * 2);
    r->shores = arena_alloc(r->arena, r->n_shores * sizeof *r->shores);
    memset(r->shores, 0xff, r->n_shores * sizeof *r->shores);
    r->detour_of = arena_alloc(r->arena, all * t->planes * mesh_ties(t) * sizeof *r->detour_of);
}

static struct towards new_towards(struct arena *a, size_t n)
{
    struct towards of = {.side = arena_alloc(a, n)};

    of.steps = arena_alloc(a, n * sizeof *of.steps);
    return of;
}

static struct search new_search(struct routes *r, const struct route_table *table)
{
    struct search s = {.r = r, .table = *table};
    size_t cubes = r->topo.cubes;

    s.next = arena_alloc(r->arena, cubes * N_SIDES * sizeof *s.next);
    s.reach = arena_alloc(r->arena, cubes * N_SIDES * sizeof *s.reach);
    s.x = new_towards(r->arena, r->topo.w);
    s.y = new_towards(r->arena, r->topo.h);
    s.column_whole = arena_alloc(r->arena, r->topo.w);
    s.far = arena_alloc(r->arena, cubes * sizeof *s.far);
    s.bent = arena_alloc(r->arena, cubes * sizeof *s.bent);
    s.line = arena_alloc(r->arena, cubes * sizeof *s.line);
    s.seeds = arena_alloc(r->arena, (cubes + 2) * sizeof *s.seeds);
    s.more = arena_alloc(r->arena, cubes * sizeof *s.more);
    s.rows = arena_alloc(r->arena, cubes * sizeof *s.rows);
    s.nearest = arena_alloc(r->arena, cubes * r->topo.chiplets * sizeof *s.nearest);
    return s;
}

void find_detours(struct routes *r, const struct route_table *table, uint64_t no_way[PLANES_MAX])
{
    struct kb_topology *t = &r->topo;
    const uint32_t *alike = find_alike_sips(r);
    struct search s = new_search(r, table);
    uint64_t(*of_sip)[PLANES_MAX] = arena_alloc(r->arena, t->sips * sizeof *of_sip);

    make_room(r);
    for (s.plane = 0; s.plane < t->planes; s.plane++)
        for (uint32_t sip = 0; sip < t->sips; sip++) {
            uint64_t *n = &of_sip[sip][s.plane];

            s.first = sip * t->cubes;
            *n = of_sip[alike[sip]][s.plane];
            for (uint32_t tie = 0; alike[sip] == sip && tie < mesh_ties(t); tie++) {
                s.odd = tie > 0;
                *n = search_sip(&s);
            }
            no_way[s.plane] += *n;
        }
    for (uint32_t sip = 0; sip < t->sips; sip++)
        if (alike[sip] != sip)
            copy_sip(r, sip, alike[sip]);
    t->shores = r->shores;
    t->detour_of = r->detour_of;
    t->detours = r->detours;
}
