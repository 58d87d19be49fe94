/* shares.c -- which VCs packets own on an edge, so that none wait in a circle; docs/network.md. */
#include "network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * How many stages of meshes inside cubes are kept apart, and whether detours are, kbgen decides
 * when it looks for circles: t->stages and t->detours_apart have what it found. What these mean is
 * here.
 */

static bool names(const struct judge_topo *t, size_t node, const char *part)
{
    return strstr(t->nodes[node].name, part) != NULL;
}

static bool wraps(const struct judge_topo *t, const char *key, char dimension)
{
    const char *wrap = judge_text(t, key);

    return strcmp(wrap, "none") != 0 && strchr(wrap, dimension);
}

static struct judge_share half_if(bool upper)
{
    return (struct judge_share){upper, 2};
}

static bool is_vertical(char side)
{
    return side == 'N' || side == 'S';
}

/* Does the dimension of the cubes wrap? */
static bool is_ring(const struct judge_topo *t, bool y)
{
    return y ? t->wrap_y && t->h > 1 : t->wrap_x && t->w > 1;
}

static bool find_cube(const struct judge_topo *t, size_t node, unsigned *sip, unsigned *cube)
{
    return sscanf(t->nodes[node].name, "sip%u.cube%u.", sip, cube) == 2;
}

/* -- detours -------------------------------------------------------------------------------- */

/* The side of the step between cubes that edge `i` is; 0: it is none. */
static char step_at(const struct judge_topo *t, const struct judge_way_nodes *w, size_t i)
{
    const char *from = strstr(t->nodes[w->nodes[i]].name, ".ucie-");

    return from && strstr(t->nodes[w->nodes[i + 1]].name, ".ucie-") ? from[6] : 0;
}

static uint32_t plane_of(const struct judge_topo *t, size_t node)
{
    for (uint32_t plane = 0; plane < t->planes; plane++) {
        const char *end = strrchr(t->nodes[node].name, '.');

        if (end && strcmp(end + 1, t->plane[plane].name) == 0)
            return plane;
    }
    return 0;
}

/*
 * Does the part of the way in one SIP go another way than whole planes have? Of answers that go the
 * way of a request backwards the request's counts.
 */
static bool is_detour(const struct judge_topo *t, const struct judge_way_nodes *w, uint32_t sip,
                      bool backwards)
{
    unsigned cubes[JUDGE_WAY_MOST], at_sip, cube;
    char sides[JUDGE_WAY_MOST];
    size_t n = 0, first = 0;
    uint32_t plane = 0;

    for (size_t i = 0; i + 1 < w->n; i++) {
        char side = step_at(t, w, i);

        if (!side || !find_cube(t, w->nodes[i], &at_sip, &cube) || at_sip != sip)
            continue;
        plane = plane_of(t, w->nodes[i]);
        backwards = backwards && !t->plane[plane].one_way;
        if (n + 1 >= JUDGE_WAY_MOST || !find_cube(t, w->nodes[i + 1], &at_sip, &cubes[n + 1]))
            judge_die("a way of many cubes");
        cubes[n] = cube;
        sides[n++] = side;
    }
    for (; first < n; first++) {
        uint32_t from = cubes[backwards ? first + 1 : first], to = cubes[backwards ? 0 : n];
        char side = backwards ? judge_opposite(sides[first]) : sides[first];

        if (judge_default_step(t, plane, backwards ? cubes[n] : cubes[0], from, to) != side)
            return true;
    }
    return false;
}

/* -- steps between cubes -------------------------------------------------------------------- */

/* Parts of a step, or of an edge between routers of a cube that is passed, in a dimension. */
static struct judge_share step_share(const struct judge_topo *t, const struct judge_passed *p,
                                     const struct judge_way_nodes *w, uint32_t sip, bool y,
                                     bool crossed)
{
    uint32_t lines = is_ring(t, false) || is_ring(t, true), ring = is_ring(t, y);
    struct judge_share share = {0, 1 + ring + t->detours_apart};

    if (t->stages > 1)
        share = (struct judge_share){t->stages == 4 ? 1u + y : 1u,
                                     t->stages + lines + t->detours_apart};
    if (t->detours_apart && is_detour(t, w, sip, p->backwards))
        share.part = share.parts - 1;
    else if (ring && crossed)
        share.part++;
    return share;
}

static void come_to_sip(struct judge_passed *p, uint32_t sip)
{
    if (sip != p->sip)
        p->dateline[0] = p->dateline[1] = false;
    p->sip = sip;
}

/* A step over the mesh of cubes out of side `side`, or the edges of the NoCs before and behind it.
 */
static struct judge_share share_of_step(const struct judge_topo *t, struct judge_passed *p,
                                        const struct judge_way_nodes *w, size_t from, char side,
                                        bool steps)
{
    bool y = is_vertical(side), was, wrapped;
    uint32_t other;
    unsigned sip, cube;

    if (!find_cube(t, from, &sip, &cube))
        judge_die("a link that begins outside of cubes");
    come_to_sip(p, sip);
    was = p->dateline[y];
    if (steps) {
        if (!judge_beside(t, cube, side, &other, &wrapped))
            judge_die("a link that leads nowhere");
        p->dateline[y] |= wrapped;
    }
    return step_share(t, p, w, sip, y, was);
}

/*
 * Between a NoC and a side of its cube. Where a ring and a shore have the side in common, what goes
 * ashore there has the part behind the dateline, and what comes from there the one before it.
 */
static struct judge_share share_of_side(const struct judge_topo *t, struct judge_passed *p,
                                        const struct judge_way_nodes *w, size_t i, char side,
                                        bool out)
{
    size_t beyond = out ? i + 2 : i - 1;
    unsigned sip, cube;

    if ((out && beyond >= w->n) || (!out && i == 0))
        judge_die("a way that ends at the side of a cube");
    if (!names(t, w->nodes[beyond], ".io_noc"))
        return share_of_step(t, p, w, w->nodes[i], side, false);
    if (!find_cube(t, w->nodes[i], &sip, &cube))
        judge_die("a shore outside of cubes");
    if (out && is_ring(t, is_vertical(side)) && !p->backwards) {
        struct judge_passed plain = {.sip = sip};
        struct judge_topo same = *t;
        struct judge_share share;

        same.detours_apart = false; /* a request does not go round anything on its way ashore */
        share = step_share(&same, &plain, w, sip, is_vertical(side), true);
        share.parts += t->detours_apart;
        return share;
    }
    if (out != p->backwards && !is_ring(t, is_vertical(side)))
        return (struct judge_share){0, 1};
    return step_share(t, p, w, sip, is_vertical(side), out);
}

/* A step between SIPs; a link that leads past the end of a row or column is its dateline. */
static struct judge_share share_of_sips(const struct judge_topo *t, struct judge_passed *p,
                                        size_t from, size_t to, uint32_t second)
{
    uint32_t w = judge_count(t, "fabric.grid.w");
    unsigned a, b;
    bool y, was, far;

    if (sscanf(t->nodes[from].name, "sip%u.", &a) != 1 ||
        sscanf(t->nodes[to].name, "sip%u.", &b) != 1)
        judge_die("a link between SIPs that have no number");
    y = a % w == b % w;
    far = y ? (a / w > b / w ? a / w - b / w : b / w - a / w) > 1
            : (a % w > b % w ? a % w - b % w : b % w - a % w) > 1;
    was = p->grid[y];
    p->grid[y] |= far || second;
    return wraps(t, "fabric.wrap", y ? 'y' : 'x') ? half_if(was) : (struct judge_share){0, 1};
}

/* -- meshes inside cubes -------------------------------------------------------------------- */

static bool is_in(const struct judge_topo *t, size_t node, unsigned sip, unsigned cube)
{
    unsigned a, b;

    return find_cube(t, node, &a, &b) && a == sip && b == cube;
}

/* From a router to the next: in the cube where the way begins, where it ends, or between. */
static struct judge_share share_of_mesh(const struct judge_topo *t, struct judge_passed *p,
                                        const struct judge_way_nodes *w, size_t i)
{
    uint32_t lines = is_ring(t, false) || is_ring(t, true);
    uint32_t parts = t->stages + lines + t->detours_apart;
    const struct judge_node *a = &t->nodes[w->nodes[i]], *b = &t->nodes[w->nodes[i + 1]];
    bool y = a->x_mm == b->x_mm;
    unsigned sip, cube;
    size_t k = i;

    if (!find_cube(t, w->nodes[i], &sip, &cube))
        judge_die("a mesh outside of cubes");
    come_to_sip(p, sip);
    if (t->sips * t->cubes == 1 || is_in(t, w->nodes[0], sip, cube))
        return (struct judge_share){0, t->cubes > 1 ? parts : 1};
    if (t->cubes == 1)
        return (struct judge_share){0, 1};
    if (is_in(t, w->nodes[w->n - 1], sip, cube))
        return (struct judge_share){t->stages - 1 + lines, parts};
    while (k + 1 < w->n && !names(t, w->nodes[k], ".ucie-"))
        k++;
    if (t->stages == 4 && k + 1 < w->n && step_at(t, w, k))
        y = is_vertical(step_at(t, w, k));
    return step_share(t, p, w, sip, y, p->dateline[y]);
}

/* ------------------------------------------------------------------------------------------- */

/* Between crossbar nodes, by a chain or a bridge? */
static bool is_ring_of_cube(const struct judge_topo *t, size_t from, size_t to)
{
    return (names(t, from, ".xbar.") || names(t, from, ".bridge.")) &&
           (names(t, to, ".xbar.") || names(t, to, ".bridge."));
}

static bool is_mesh_router(const struct judge_topo *t, size_t node)
{
    unsigned at[4];

    return sscanf(t->nodes[node].name, "sip%u.cube%u.r%uc%u", &at[0], &at[1], &at[2], &at[3]) == 4;
}

/* -- nets ----------------------------------------------------------------------------------- */

const struct judge_port *judge_port_at(const struct judge_topo *t, size_t node)
{
    unsigned sip = t->sips, cube, port;
    const char *name = t->nodes[node].name;

    if (!t->net || (sscanf(name, "sip%u.cube%u.port%u", &sip, &cube, &port) != 3 &&
                    sscanf(name, "fabric.switch%u.port%u", &cube, &port) != 2))
        return NULL;
    return judge_port(t, sip, cube, port);
}

/* Datelines: is the link of `port` behind the closing link of its ring? */
static bool is_behind(const struct judge_passed *p, const struct judge_port *port)
{
    return port->ring && port->ring == p->ring && (p->behind || p->closing);
}

void judge_pass_link(struct judge_passed *p, const struct judge_port *out)
{
    p->links++;
    p->counted += out->counted;
    p->last_counted = out->counted;
}

/*
 * Hop classes: the k-th link has part k with the edges of the NoCs before and behind it; what lies
 * before the first one part 0, behind the last one its part.
 */
static struct judge_share share_of_net(const struct judge_topo *t, struct judge_passed *p,
                                       const struct judge_way_nodes *w, size_t i)
{
    const struct judge_port *out = judge_port_at(t, w->nodes[i]);
    const struct judge_port *into = judge_port_at(t, w->nodes[i + 1]);
    struct judge_share share = {0, t->hops};

    if (t->hops) {
        share.part = p->counted;
        if (p->links && p->links == p->all_links && t->cols == 0)
            share.part -= p->last_counted; /* a mesh behind the last link has one of its own */
        if (out && !into)
            share.part = p->counted - p->last_counted;
        if (out && into)
            judge_pass_link(p, out);
        return share;
    }
    if (names(t, w->nodes[i + 1], ".io_noc"))
        p->ring = 0; /* each SIP has rings of its own */
    if (!t->datelines || (!out && !into))
        return (struct judge_share){0, 1};
    if (into && !out)
        return half_if(is_behind(p, into));
    if (into) {
        p->behind = is_behind(p, out);
        p->ring = out->ring;
        p->closing = out->closing;
    }
    return half_if(p->behind);
}

struct judge_share judge_share_of(const struct judge_topo *t, struct judge_passed *p,
                                  const struct judge_way_nodes *w, size_t i)
{
    size_t from = w->nodes[i], to = w->nodes[i + 1];
    const char *ucie = strstr(t->nodes[from].name, ".ucie-");
    const char *into = strstr(t->nodes[to].name, ".ucie-");
    bool was = p->bridge;

    if (t->net && !is_ring_of_cube(t, from, to))
        return share_of_net(t, p, w, i);
    if (ucie && into)
        return share_of_step(t, p, w, from, ucie[6], true);
    if (ucie && !names(t, to, ".io_noc"))
        return share_of_side(t, p, w, i, ucie[6], false);
    if (into && !names(t, from, ".io_noc"))
        return share_of_side(t, p, w, i, into[6], true);
    if (judge_is_fabric_step(t, w, i))
        return share_of_sips(t, p, from, to, t->edges[w->edges[i] / 2].second);
    if (is_mesh_router(t, from) && is_mesh_router(t, to))
        return share_of_mesh(t, p, w, i);
    if (!is_ring_of_cube(t, from, to))
        return (struct judge_share){0, 1};
    p->bridge |= names(t, from, ".bridge.");
    return half_if(was);
}
