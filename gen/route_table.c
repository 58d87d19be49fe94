/*
 * route_table.c -- routes between cubes that a table gives (`sip.routes: {impl: NAME}`).
 *
 * It is components/NAME.csv, found as the files of other components:
 *
 *     # kernbench component: route NAME
 *     src,dst,edges
 *     c0,c3,c0>c1 c1>c3
 *
 * A line has the edges from cube to cube, in order. The tables of routes have one exit for each
 * pair of a cube and a target, so a line is also that of all the cubes on its way: c1,c3 need not
 * be there, and if it is, it must go on in the same way. Every pair of cubes must have a route, in
 * every plane and SIP the same one. With routers the proof of channels.c holds for it, or it is
 * refused.
 */
#include "route_table.h"
#include "components.h"
#include "machine/mesh.h"
#include <stdlib.h>
#include <string.h>

enum { NO_LINE = 0 };

/* The reading of one table. */
struct reading {
    struct routes *r;
    const struct component *file;
    route_step has_step;
    size_t line;
    uint8_t *exits;  /* [from][to] */
    uint32_t *lines; /* the same: which line has said so */
};

static bool wrong(const struct reading *in, const char *text)
{
    struct place at = {
        .kind = PLACE_FILE, .name = in->file->path, .line = in->line, .col = in->line != 0};

    return diag_error(in->r->spec->diag, at, "%s", text);
}

/* A cube "c12" at *text, which goes on behind it. False: there is none of this SIP. */
static bool read_cube(const struct reading *in, const char **text, uint32_t *cube)
{
    char *end;
    unsigned long n;

    if (**text != 'c' || !strchr("0123456789", (*text)[1]) || !(*text)[1])
        return false;
    n = strtoul(*text + 1, &end, 10);
    *text = end;
    *cube = (uint32_t)n;
    return n < in->r->topo.cubes;
}

/* The side by which a step leads from cube to cube, in all planes and SIPs; NO_EXIT: none does. */
static uint32_t side_to(const struct reading *in, uint32_t from, uint32_t to)
{
    const struct kb_topology *t = &in->r->topo;

    for (uint32_t side = 0; side < t->ports; side++) {
        bool all = true;

        for (uint32_t first = 0; all && first < sim_cubes(t); first += t->cubes)
            for (uint32_t plane = 0; all && plane < t->planes; plane++)
                all = in->has_step(t, plane, first + from, side) &&
                      walk_neighbour(t, first + from, side) == first + to;
        if (all)
            return side;
    }
    return NO_EXIT;
}

/* On its way to `to` a route leaves `from` by `side`. */
static bool take_exit(struct reading *in, uint32_t from, uint32_t to, uint32_t side)
{
    size_t at = (size_t)from * in->r->topo.cubes + to;

    if (in->lines[at] != NO_LINE && in->exits[at] != side)
        return wrong(
            in, arena_printf(
                    in->r->arena,
                    "on the way to c%u it leaves c%u by another edge than line %u: a step depends "
                    "on the cube and the target alone",
                    to, from, in->lines[at]));
    in->exits[at] = (uint8_t)side;
    in->lines[at] = (uint32_t)in->line;
    return true;
}

/* "c0>c1 c1>c3", which leads from cube to cube. */
static bool read_edges(struct reading *in, const char *text, uint32_t src, uint32_t dst)
{
    uint32_t at = src, from, to, side;

    while (*text) {
        const char *word = text;

        if (!read_cube(in, &text, &from) || *text++ != '>' || !read_cube(in, &text, &to) ||
            (*text && *text != ' '))
            return wrong(in, arena_printf(in->r->arena,
                                          "'%.*s' is no edge between cubes of this SIP, like c0>c1",
                                          (int)strcspn(word, " "), word));
        if (from != at)
            return wrong(
                in,
                arena_printf(in->r->arena,
                             "the route does not connect: c%u>c%u begins at c%u, and it is at c%u",
                             from, to, from, at));
        side = side_to(in, from, to);
        if (side == NO_EXIT)
            return wrong(in, arena_printf(in->r->arena, "there is no edge c%u>c%u", from, to));
        if (!take_exit(in, from, dst, side))
            return false;
        at = to;
        text += strspn(text, " ");
    }
    return at == dst ||
           wrong(in, arena_printf(in->r->arena,
                                  "the route of c%u to c%u does not connect: it ends at c%u", src,
                                  dst, at));
}

static bool read_line(struct reading *in, const char *text)
{
    uint32_t src, dst;
    const char *at = text;

    if (!read_cube(in, &at, &src) || *at++ != ',' || !read_cube(in, &at, &dst) || *at++ != ',')
        return wrong(
            in, arena_printf(in->r->arena,
                             "'%s' is no line src,dst,edges of cubes of this SIP, like c0,c3,c0>c1 "
                             "c1>c3",
                             diag_text(in->r->arena, text, strlen(text))));
    if (src == dst)
        return wrong(in, "a route leads from a cube to another one");
    if (!*at)
        return wrong(in,
                     arena_printf(in->r->arena, "the route of c%u to c%u has no edges", src, dst));
    return read_edges(in, at, src, dst);
}

static bool is_header(struct reading *in, const char *text)
{
    return strcmp(text, "src,dst,edges") == 0 ||
           wrong(in, arena_printf(in->r->arena, "the first line must be src,dst,edges, not '%s'",
                                  diag_text(in->r->arena, text, strlen(text))));
}

/* All lines, also after a mistake, except for a wrong header. */
static bool read_lines(struct reading *in)
{
    const char *p = in->file->text, *end = p + in->file->len;
    bool has_header = false, ok = true;

    while (p < end) {
        size_t len = strcspn(p, "\n"), used = len;
        const char *line;

        while (used && strchr(" \t\r", p[used - 1]))
            used--;
        line = arena_copy(in->r->arena, p, used);
        in->line++;
        p += len + (p[len] == '\n');
        if (!*line || *line == '#')
            continue;
        if (has_header)
            ok = read_line(in, line) && ok;
        else if (!is_header(in, line))
            return false;
        has_header = true;
    }
    in->line = 0;
    return ok && (has_header || wrong(in, "the first line must be src,dst,edges"));
}

/* A route between all cubes that are there. */
static bool is_complete(const struct reading *in)
{
    const struct kb_topology *t = &in->r->topo;

    for (uint32_t first = 0; first < sim_cubes(t); first += t->cubes)
        for (uint32_t from = 0; from < t->cubes; from++)
            for (uint32_t to = 0; to < t->cubes; to++)
                if (from != to && mesh_has_cube(t, first + from) && mesh_has_cube(t, first + to) &&
                    in->lines[(size_t)from * t->cubes + to] == NO_LINE)
                    return wrong(
                        in, arena_printf(in->r->arena,
                                         "c%u to c%u has no route: a line c%u,c%u,EDGES gives one",
                                         from, to, from, to));
    return true;
}

bool route_table_read(struct routes *r, route_step has_step, struct route_table *out)
{
    size_t pairs = (size_t)r->topo.cubes * r->topo.cubes;
    struct reading in = {.r = r, .file = r->spec->route_file, .has_step = has_step};

    out->exits = NULL;
    if (!in.file)
        return true;
    in.exits = arena_alloc(r->arena, pairs);
    in.lines = arena_alloc(r->arena, pairs * sizeof *in.lines);
    memset(in.exits, NO_EXIT, pairs);
    out->exits = in.exits;
    return read_lines(&in) && is_complete(&in);
}
