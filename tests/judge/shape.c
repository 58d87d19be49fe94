/* shape.c -- which parts of a topology are there, and the steps between cubes and between SIPs. */
#include "judge.h"

#include <stdlib.h>
#include <string.h>

static const char sides[] = "NESW";

size_t judge_side(char letter)
{
    return (size_t)(strchr(sides, letter) - sides);
}

char judge_opposite(char side)
{
    return sides[(judge_side(side) + 2) % 4];
}

/* -- patterns: c3, c*, s1.c[4-7], c0.pe[1-2] ------------------------------------------------ */

/* "7", "[2-5]", "[0,3-4]" or "*" behind `letters` at *at. Moves past it. */
static bool takes_number(const char **at, const char *letters, size_t number)
{
    const char *p = *at + strlen(letters);
    char *end;
    size_t low, high;
    bool found = false;

    if (strncmp(*at, letters, strlen(letters)) != 0)
        return false;
    if (*p == '*') {
        *at = p + 1;
        return true;
    }
    if (*p != '[') {
        low = strtoul(p, &end, 10);
        *at = end;
        return end > p && low == number;
    }
    do {
        low = strtoul(p + 1, &end, 10);
        high = *end == '-' ? strtoul(end + 1, &end, 10) : low;
        found = found || (low <= number && number <= high);
        p = end;
    } while (*end == ',');
    *at = end + 1;
    return *end == ']' && found;
}

bool judge_matches(const struct judge_topo *t, const char *pattern, uint32_t sip, uint32_t cube,
                   size_t pe)
{
    const char *at = pattern;

    if (sip == t->sips || strncmp(at, "sw", 2) == 0)
        return sip == t->sips && pe == SIZE_MAX && takes_number(&at, "sw", cube) && *at == 0;
    if (*at == 's') {
        if (!takes_number(&at, "s", sip) || *at++ != '.')
            return false;
    } else if (sip != 0) {
        return false;
    }
    if (!takes_number(&at, "c", cube))
        return false;
    if (pe == SIZE_MAX)
        return *at == 0;
    return *at++ == '.' && takes_number(&at, "pe", pe) && *at == 0;
}

/* -- what is there -------------------------------------------------------------------------- */

static bool is_missing(const struct judge_topo *t, uint32_t sip, uint32_t cube, size_t pe)
{
    for (size_t i = 0; i < t->missing.n; i++) {
        if (judge_matches(t, t->missing.items[i], sip, cube, pe))
            return true;
    }
    return false;
}

static struct judge_cube *cube_at(const struct judge_topo *t, uint32_t sip, uint32_t cube)
{
    return &t->cube[(size_t)sip * t->cubes + cube];
}

static void find_cube(struct judge_topo *t, uint32_t sip, uint32_t cube)
{
    struct judge_cube *c = cube_at(t, sip, cube);
    uint32_t slices;
    bool as_pes;

    judge_find_values(t, sip, cube, c);
    slices = judge_cube_count(t, sip, cube, "cube.hbm.slices");
    as_pes = strcmp(judge_cube_text(t, sip, cube, "cube.hbm.slices"), "pes") == 0 ||
             (slices == 0 && judge_count(t, "kernbench") < 3);
    c->there = !is_missing(t, sip, cube, SIZE_MAX);
    if (sip == t->sips)
        judge_make_switch(t, c);
    c->pes = judge_cube_count(t, sip, cube, "cube.pes");
    c->slices = sip == t->sips ? 0 : as_pes ? c->pes : slices;
    c->crossbars = c->pes ? c->pes : c->slices;
    c->has_pe = judge_alloc(c->pes, sizeof *c->has_pe);
    for (uint32_t p = 0; p < c->pes; p++)
        c->has_pe[p] = c->there && !is_missing(t, sip, cube, p);
}

bool judge_has_cube(const struct judge_topo *t, uint32_t sip, uint32_t cube)
{
    return (sip == t->sips ? cube < t->switches : sip < t->sips && cube < t->cubes) &&
           cube_at(t, sip, cube)->there;
}

bool judge_has_pe(const struct judge_topo *t, uint32_t sip, uint32_t cube, uint32_t pe)
{
    return judge_has_cube(t, sip, cube) && pe < cube_at(t, sip, cube)->pes &&
           cube_at(t, sip, cube)->has_pe[pe];
}

uint32_t judge_slices(const struct judge_topo *t, uint32_t sip, uint32_t cube)
{
    return cube_at(t, sip, cube)->slices;
}

uint32_t judge_crossbars(const struct judge_topo *t, uint32_t sip, uint32_t cube)
{
    return cube_at(t, sip, cube)->crossbars;
}

uint32_t judge_crossbar_of(const struct judge_topo *t, uint32_t sip, uint32_t cube, uint32_t slice)
{
    return slice * judge_crossbars(t, sip, cube) / judge_slices(t, sip, cube);
}

bool judge_is_switch(const struct judge_topo *t, uint32_t sip, uint32_t cube)
{
    return cube_at(t, sip, cube)->pes == 0 && cube_at(t, sip, cube)->slices == 0;
}

/* PEs before this one of cubes without slices that have the same home. */
static uint32_t home_rank(const struct judge_topo *t, const struct judge_end *pe, uint32_t home)
{
    uint32_t rank = 0;

    for (uint32_t c = 0; c <= pe->cube; c++) {
        if (judge_slices(t, pe->sip, c) || !judge_has_cube(t, pe->sip, c) ||
            judge_home_cube(t, pe->sip, c) != home)
            continue;
        for (uint32_t p = 0; p < cube_at(t, pe->sip, c)->pes; p++)
            rank += judge_has_pe(t, pe->sip, c, p) && (c < pe->cube || p < pe->unit);
    }
    return rank;
}

/* "the first slice behind the crossbar node of the highest number <= p that has one" */
struct judge_end judge_home_slice(const struct judge_topo *t, const struct judge_end *pe)
{
    struct judge_end home = {.kind = JUDGE_SLICE, .sip = pe->sip, .cube = pe->cube};
    uint32_t node = 0;

    if (!judge_slices(t, pe->sip, pe->cube)) {
        home.cube = judge_home_cube(t, pe->sip, pe->cube);
        home.unit = home_rank(t, pe, home.cube) % judge_slices(t, pe->sip, home.cube);
        return home;
    }
    for (uint32_t slice = 0; slice < judge_slices(t, pe->sip, pe->cube); slice++) {
        uint32_t behind = judge_crossbar_of(t, pe->sip, pe->cube, slice);

        if (behind > node && behind <= pe->unit) {
            node = behind;
            home.unit = slice;
        }
    }
    return home;
}

/* -- planes --------------------------------------------------------------------------------- */

uint32_t judge_plane_of(const struct judge_topo *t, enum judge_op op, uint64_t id)
{
    bool write = op == JUDGE_WRITE || op == JUDGE_H2D;

    if (t->hashed_planes)
        return (uint32_t)(id % t->planes);
    return write ? 0 : t->planes - 1;
}

/* -- steps between cubes -------------------------------------------------------------------- */

static bool wraps(const struct judge_topo *t, const char *key, char dimension)
{
    const char *wrap = judge_text(t, key);

    return strcmp(wrap, "none") != 0 && strchr(wrap, dimension);
}

static bool is_east_or_west(char side)
{
    return side == 'E' || side == 'W';
}

/* The place of a grid next to (x, y), and whether a wrap link leads there. False: none. */
static bool beside(uint32_t *x, uint32_t *y, uint32_t w, uint32_t h, char side, bool wrap,
                   bool *wrapped)
{
    uint32_t *at = is_east_or_west(side) ? x : y, n = is_east_or_west(side) ? w : h;
    bool up = side == 'E' || side == 'S';

    *wrapped = up ? *at + 1 == n : *at == 0;
    if (*wrapped && (!wrap || n < 2))
        return false;
    *at = (*at + (up ? 1 : n - 1)) % n;
    return true;
}

bool judge_beside(const struct judge_topo *t, uint32_t cube, char side, uint32_t *other,
                  bool *wrapped)
{
    uint32_t w = t->w, h = t->h;
    uint32_t x = cube % w, y = cube / w;

    if (!beside(&x, &y, w, h, side, is_east_or_west(side) ? t->wrap_x : t->wrap_y, wrapped))
        return false;
    *other = y * w + x;
    return true;
}

bool judge_sip_beside(const struct judge_topo *t, uint32_t sip, char side, uint32_t *other,
                      bool *wrapped)
{
    uint32_t w = judge_count(t, "fabric.grid.w"), h = judge_count(t, "fabric.grid.h");
    uint32_t x = sip % w, y = sip / w;

    if (!beside(&x, &y, w, h, side, wraps(t, "fabric.wrap", is_east_or_west(side) ? 'x' : 'y'),
                wrapped))
        return false;
    *other = y * w + x;
    return true;
}

static bool allowed(const struct judge_topo *t, uint32_t plane, char side)
{
    return (t->plane[plane].dirs & 1u << judge_side(side)) != 0;
}

static uint32_t dirs_of(const struct judge_topo *t, uint32_t plane)
{
    uint32_t dirs = 0;

    for (uint32_t i = 0; i < 4; i++) {
        char of[16];
        const char *letter;

        snprintf(of, sizeof of, ".dirs.%u", i);
        letter = judge_item(t, "sip.planes", plane, of);
        if (letter)
            dirs |= 1u << judge_side(letter[0]);
    }
    return dirs ? dirs : 15;
}

static void find_planes(struct judge_topo *t)
{
    const char *name, *order;

    for (; (name = judge_item(t, "sip.planes", t->planes, ".name")); t->planes++) {
        strcpy(t->plane[t->planes].name, name);
        t->plane[t->planes].dirs = dirs_of(t, t->planes);
        order = judge_item(t, "sip.planes", t->planes, ".order");
        t->plane[t->planes].y_first = order && strcmp(order, "yx") == 0;
    }
    if (t->planes == 0) {
        t->plane[0].dirs = 15;
        t->planes = 1;
    }
}

static void find_chiplets(struct judge_topo *t)
{
    const char *side;

    t->chiplets[0] = 'W';
    for (uint32_t i = 0; (side = judge_item(t, "sip.io_chiplets", i, "")); i++) {
        if (i == JUDGE_CHIPLETS_MAX)
            judge_die("a side has two IO chiplets");
        t->chiplets[i] = side[0];
    }
}

/* -- broken links --------------------------------------------------------------------------- */

/* Cuts "A-B" or "A>B" in two, at a sign outside of brackets and of "ucie-E". */
static char cut(const char *text, char a[JUDGE_NAME_BYTES], const char **b)
{
    int depth = 0;

    for (const char *p = text; *p; p++) {
        depth += (*p == '[') - (*p == ']');
        if (depth == 0 && (*p == '>' || (*p == '-' && strncmp(p - 4, "ucie", 4) != 0))) {
            snprintf(a, JUDGE_NAME_BYTES, "%.*s", (int)(p - text), text);
            *b = p + 1;
            return *p;
        }
    }
    judge_die("no link: %s", text);
}

/* Does "c0.noc" or "c0.ucie-E" name this node of this cube? */
static bool names_node(const struct judge_topo *t, const char *text, const char *node, uint32_t sip,
                       uint32_t cube)
{
    size_t len = strlen(text), n = strlen(node);
    char pattern[JUDGE_NAME_BYTES];

    if (len <= n || text[len - n - 1] != '.' || strcmp(text + len - n, node) != 0)
        return false;
    snprintf(pattern, sizeof pattern, "%.*s", (int)(len - n - 1), text);
    return judge_matches(t, pattern, sip, cube, SIZE_MAX);
}

/* The item without the name of its plane; NULL if it is of another plane. */
static const char *on_plane(const struct judge_topo *t, const char *item, uint32_t plane)
{
    const char *colon = strchr(item, ':'), *name = t->plane[plane].name;

    if (!colon)
        return item;
    return strlen(name) == (size_t)(colon - item) && strncmp(item, name, strlen(name)) == 0
               ? colon + 1
               : NULL;
}

/* Is the link from a cube to one of SIP `sip_to` broken? */
static bool is_cut(const struct judge_topo *t, uint32_t plane, uint32_t sip, uint32_t from,
                   uint32_t sip_to, uint32_t to)
{
    for (size_t i = 0; i < t->broken.n; i++) {
        const char *item = on_plane(t, t->broken.items[i], plane), *b;
        char a[JUDGE_NAME_BYTES], sign;

        if (!item)
            continue;
        sign = cut(item, a, &b);
        if (judge_matches(t, a, sip, from, SIZE_MAX) && judge_matches(t, b, sip_to, to, SIZE_MAX))
            return true;
        if (sign == '-' && judge_matches(t, b, sip, from, SIZE_MAX) &&
            judge_matches(t, a, sip_to, to, SIZE_MAX))
            return true;
    }
    return false;
}

bool judge_link_is_cut(const struct judge_topo *t, uint32_t sip, uint32_t from, uint32_t sip_to,
                       uint32_t to)
{
    return is_cut(t, 0, sip, from, sip_to, to);
}

/* Is the edge between the noc of a cube and a node of it broken? */
static bool node_is_cut(const struct judge_topo *t, uint32_t sip, uint32_t cube, const char *ucie,
                        bool outward)
{
    for (size_t i = 0; i < t->broken.n; i++) {
        const char *b;
        char a[JUDGE_NAME_BYTES], sign = cut(t->broken.items[i], a, &b);
        const char *first = outward ? "noc" : ucie, *second = outward ? ucie : "noc";

        if (names_node(t, a, first, sip, cube) && names_node(t, b, second, sip, cube))
            return true;
        if (sign == '-' && names_node(t, b, first, sip, cube) &&
            names_node(t, a, second, sip, cube))
            return true;
    }
    return false;
}

bool judge_port_is_cut(const struct judge_topo *t, uint32_t sip, uint32_t cube, char side,
                       bool outward)
{
    char ucie[] = "ucie-N";

    ucie[5] = side;
    return node_is_cut(t, sip, cube, ucie, outward);
}

bool judge_net_port_is_cut(const struct judge_topo *t, uint32_t sip, uint32_t cube, uint32_t port,
                           bool outward)
{
    char name[JUDGE_NAME_BYTES];

    snprintf(name, sizeof name, "port%u", port);
    return node_is_cut(t, sip, cube, name, outward);
}

bool judge_has_link(const struct judge_topo *t, uint32_t plane, uint32_t sip, uint32_t cube,
                    char side, uint32_t *other, bool *wrapped)
{
    return judge_has_cube(t, sip, cube) && judge_beside(t, cube, side, other, wrapped) &&
           judge_has_cube(t, sip, *other) && allowed(t, plane, side) &&
           !is_cut(t, plane, sip, cube, sip, *other);
}

/* A step exists if none of its three edges is broken. */
static bool has_step(const struct judge_topo *t, uint32_t plane, uint32_t sip, uint32_t cube,
                     char side, uint32_t *other)
{
    bool wrapped;

    return judge_has_link(t, plane, sip, cube, side, other, &wrapped) &&
           !judge_port_is_cut(t, sip, cube, side, true) &&
           !judge_port_is_cut(t, sip, *other, judge_opposite(side), false);
}

/* "one of its links between cubes that are there lacks its opposite (by dirs or broken)" */
static bool is_one_way(const struct judge_topo *t, uint32_t plane)
{
    for (uint32_t s = 0; s < t->sips; s++) {
        for (uint32_t c = 0; c < t->cubes; c++) {
            for (const char *side = sides; *side; side++) {
                uint32_t other, back;
                bool wrapped;

                if (judge_has_link(t, plane, s, c, *side, &other, &wrapped) &&
                    !judge_has_link(t, plane, s, other, judge_opposite(*side), &back, &wrapped))
                    return true;
            }
        }
    }
    return false;
}

static void find_pes(struct judge_topo *t)
{
    for (uint32_t s = 0; s < t->sips; s++)
        for (uint32_t c = 0; c < t->cubes; c++)
            for (uint32_t p = 0; p < cube_at(t, s, c)->pes; p++)
                if (judge_has_pe(t, s, c, p)) {
                    t->pes = judge_grow(t->pes, t->n_pes + 1, sizeof *t->pes);
                    t->pes[t->n_pes++] = (struct judge_end){JUDGE_PE, s, c, p};
                }
}

/* What is asked for often: looked up once. */
static void find_values(struct judge_topo *t)
{
    t->sips = judge_count(t, "sips");
    t->w = judge_count(t, "sip.cubes");
    t->h = 1;
    if (t->w == 0) {
        t->w = judge_count(t, "sip.cube_mesh.w");
        t->h = judge_count(t, "sip.cube_mesh.h");
    }
    t->cubes = t->w * t->h;
    t->wrap_x = wraps(t, "sip.cube_mesh.wrap", 'x');
    t->wrap_y = wraps(t, "sip.cube_mesh.wrap", 'y');
    t->hashed_planes = strcmp(judge_text(t, "sip.plane"), "hash") == 0;
    t->ns_per_mm = judge_number(t, "ns_per_mm");
    t->missing = judge_texts(t, "missing");
    t->broken = judge_texts(t, "broken");
    find_chiplets(t);
    t->switches = judge_has_rails(t) ? judge_count(t, "fabric.switches") : 0;
    t->cube = judge_alloc((size_t)t->sips * t->cubes + t->switches, sizeof *t->cube);
    t->of_switches = judge_alloc(t->n_values, sizeof *t->of_switches);
    for (uint32_t k = 0; k < t->switches; k++)
        find_cube(t, t->sips, k);
    for (uint32_t s = 0; s < t->sips; s++)
        for (uint32_t c = 0; c < t->cubes; c++)
            find_cube(t, s, c);
    find_planes(t);
}

void judge_find_steps(struct judge_topo *t)
{
    size_t at = 0;

    find_values(t);
    t->far = judge_alloc((size_t)t->planes * t->sips * t->cubes, sizeof *t->far);
    t->steps = judge_alloc((size_t)t->planes * t->sips * t->cubes * 4, sizeof *t->steps);
    judge_find_net(t);
    for (uint32_t p = 0; p < t->planes && !t->net; p++)
        for (uint32_t s = 0; s < t->sips; s++)
            for (uint32_t c = 0; c < t->cubes; c++)
                for (size_t side = 0; side < 4; side++)
                    if (!has_step(t, p, s, c, sides[side], &t->steps[at++]))
                        t->steps[at - 1] = UINT32_MAX;
    for (uint32_t p = 0; p < t->planes; p++)
        t->plane[p].one_way = t->net ? judge_net_is_one_way(t, false) : is_one_way(t, p);
    t->rails_one_way = t->net && judge_net_is_one_way(t, true);
    find_pes(t);
}

uint32_t judge_step(const struct judge_topo *t, uint32_t plane, uint32_t sip, uint32_t cube,
                    char side)
{
    size_t place = ((size_t)plane * t->sips + sip) * t->cubes + cube;

    return t->steps[place * 4 + judge_side(side)];
}

/* -- ways over the mesh --------------------------------------------------------------------- */

/* Outward from `to`, against the direction of the steps. */
static uint32_t *find_distances(const struct judge_topo *t, uint32_t plane, uint32_t sip,
                                uint32_t to)
{
    uint32_t *far = judge_alloc(t->cubes, sizeof *far), *line = judge_alloc(t->cubes, sizeof *line);
    size_t n = 0;

    for (uint32_t c = 0; c < t->cubes; c++)
        far[c] = UINT32_MAX;
    far[to] = 0;
    line[n++] = to;
    for (size_t i = 0; i < n; i++) {
        for (const char *side = sides; *side; side++) {
            uint32_t before;
            bool wrapped;

            if (!judge_beside(t, line[i], judge_opposite(*side), &before, &wrapped) ||
                judge_step(t, plane, sip, before, *side) != line[i] || far[before] != UINT32_MAX)
                continue;
            far[before] = far[line[i]] + 1;
            line[n++] = before;
        }
    }
    free(line);
    return far;
}

/* Steps from every cube of the SIP to `to`. */
static const uint32_t *distances(const struct judge_topo *t, uint32_t plane, uint32_t sip,
                                 uint32_t to)
{
    uint32_t **far = &t->far[((size_t)plane * t->sips + sip) * t->cubes + to];

    if (!*far)
        *far = find_distances(t, plane, sip, to);
    return *far;
}

/*
 * Where a route begins decides all its ties, if they are spread: of an even column + row E and S,
 * of an odd one W and N.
 */
static bool ties_go_back(const struct judge_topo *t, const char *key, uint32_t column, uint32_t row)
{
    return strcmp(judge_text(t, key), "spread") == 0 && (column % 2 != row % 2);
}

/* The shorter way round a ring of `n`, which is `ups` steps in the direction `up`. */
static char round_ring(uint32_t ups, uint32_t n, char up, bool back)
{
    uint32_t downs = n - ups;

    if (ups == downs)
        return back ? judge_opposite(up) : up;
    return ups < downs ? up : judge_opposite(up);
}

/*
 * The side towards `to` in one dimension; 0 if it is in line already. On a ring the shorter way;
 * with one allowed direction that. `begin`: of the route.
 */
static char towards(const struct judge_topo *t, uint32_t plane, uint32_t begin, uint32_t cube,
                    uint32_t to, char dimension)
{
    uint32_t w = t->w;
    uint32_t n = dimension == 'x' ? w : t->h;
    uint32_t a = dimension == 'x' ? cube % w : cube / w, b = dimension == 'x' ? to % w : to / w;
    char up = dimension == 'x' ? 'E' : 'S', down = dimension == 'x' ? 'W' : 'N';
    uint32_t ups = (b + n - a) % n;

    if (a == b)
        return 0;
    if (allowed(t, plane, up) != allowed(t, plane, down))
        return allowed(t, plane, up) ? up : down;
    if (!(dimension == 'x' ? t->wrap_x : t->wrap_y))
        return a < b ? up : down;
    return round_ring(ups, n, up, ties_go_back(t, "sip.cube_mesh.tie", begin % w, begin / w));
}

char judge_default_step(const struct judge_topo *t, uint32_t plane, uint32_t begin, uint32_t from,
                        uint32_t to)
{
    bool y_first = t->plane[plane].y_first;
    char first = towards(t, plane, begin, from, to, y_first ? 'y' : 'x');

    return first ? first : towards(t, plane, begin, from, to, y_first ? 'x' : 'y');
}

/* The side by which a route that began in `begin` leaves `cube` for `to`; 0: there is no way. */
static char side_to(const struct judge_topo *t, uint32_t plane, uint32_t sip, uint32_t begin,
                    uint32_t cube, uint32_t to, const uint32_t *far)
{
    bool y_first = t->plane[plane].y_first;
    char tries[] = {towards(t, plane, begin, cube, to, y_first ? 'y' : 'x'),
                    towards(t, plane, begin, cube, to, y_first ? 'x' : 'y'),
                    'E',
                    'W',
                    'S',
                    'N'};

    for (size_t i = 0; i < sizeof tries; i++) {
        uint32_t next = tries[i] ? judge_step(t, plane, sip, cube, tries[i]) : UINT32_MAX;

        if (next != UINT32_MAX && far[next] != UINT32_MAX && far[next] + 1 == far[cube])
            return tries[i];
    }
    return 0;
}

uint32_t judge_way(const struct judge_topo *t, uint32_t plane, uint32_t sip, uint32_t from,
                   uint32_t to, char **out)
{
    const uint32_t *far = distances(t, plane, sip, to);
    uint32_t n = far[from], begin = from;
    char *way = judge_alloc(n == UINT32_MAX ? 1 : n + 1, 1);

    for (uint32_t i = 0; n != UINT32_MAX && i < n; i++) {
        way[i] = side_to(t, plane, sip, begin, from, to, far);
        if (!way[i])
            judge_die("no step is nearer");
        from = judge_step(t, plane, sip, from, way[i]);
    }
    if (out && n != UINT32_MAX)
        *out = way;
    else
        free(way);
    return n;
}

/* -- the shore of an IO chiplet ------------------------------------------------------------- */

char judge_chiplet_side(const struct judge_topo *t, uint32_t chiplet)
{
    return chiplet < JUDGE_CHIPLETS_MAX ? t->chiplets[chiplet] : 0;
}

bool judge_on_shore(const struct judge_topo *t, uint32_t chiplet, uint32_t sip, uint32_t cube)
{
    uint32_t w = t->w, h = t->h;

    if (!judge_has_cube(t, sip, cube))
        return false;
    if (t->net)
        return judge_is_io_cube(t, cube);
    switch (judge_chiplet_side(t, chiplet)) {
    case 'N':
        return cube / w == 0;
    case 'E':
        return cube % w == w - 1;
    case 'S':
        return cube / w == h - 1;
    default:
        return cube % w == 0;
    }
}

uint32_t judge_shore_cube(const struct judge_topo *t, uint32_t plane, uint32_t chiplet,
                          uint32_t sip, uint32_t cube, bool ashore)
{
    if (t->net)
        return judge_io_cube(t, sip, cube, ashore);

    uint32_t best = UINT32_MAX, steps = UINT32_MAX;
    const uint32_t *far = ashore ? distances(t, plane, sip, cube) : NULL;

    for (uint32_t c = 0; c < t->cubes; c++) {
        uint32_t n;

        if (!judge_on_shore(t, chiplet, sip, c) ||
            judge_port_is_cut(t, sip, c, judge_chiplet_side(t, chiplet), !ashore))
            continue;
        n = far ? far[c] : judge_way(t, plane, sip, cube, c, NULL);
        if (n < steps) {
            best = c;
            steps = n;
        }
    }
    return best;
}

/* -- between SIPs --------------------------------------------------------------------------- */

char judge_sip_towards(const struct judge_topo *t, uint32_t begin, uint32_t from, uint32_t to)
{
    uint32_t w = judge_count(t, "fabric.grid.w"), h = judge_count(t, "fabric.grid.h");
    uint32_t east = (to % w + w - from % w) % w, south = (to / w + h - from / w) % h;
    bool back = ties_go_back(t, "fabric.tie", begin % w, begin / w);

    if (east > 0) {
        if (!wraps(t, "fabric.wrap", 'x'))
            return from % w < to % w ? 'E' : 'W';
        return round_ring(east, w, 'E', back);
    }
    if (south == 0)
        return 0;
    if (!wraps(t, "fabric.wrap", 'y'))
        return from / w < to / w ? 'S' : 'N';
    return round_ring(south, h, 'S', back);
}
