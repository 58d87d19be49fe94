/*
 * scene_cube_edges.c -- the edges in the picture of one cube: each by the function for its two
 * ends.
 *
 * An edge of the NoC begins at the dot of its node, if the NoC is one node, which is the die; in a
 * mesh it begins at the box of a router and goes to that dot first.
 */
#include <string.h>
#include "cli/view/scene_cube.h"

/* The number after the last "pe" or "slice" of a name. */
static uint32_t number_of(const char *name)
{
    const char *p = strstr(name, ".pe");
    uint32_t n = 0;

    p = p ? p + 3 : strstr(name, ".slice") ? strstr(name, ".slice") + 6 : "";
    for (; *p >= '0' && *p <= '9'; p++)
        n = 10 * n + (uint32_t)(*p - '0');
    return n;
}

static const struct scene_node *box_of(const struct cube *c, uint32_t node)
{
    return &c->sc->node[c->shown[node - c->first]];
}

static bool is(const kb_node *n, const char *kind)
{
    return strcmp(n->kind, kind) == 0;
}

static double middle_x(const struct scene_node *n)
{
    return n->x + n->w / 2;
}

static double middle_y(const struct scene_node *n)
{
    return n->y + n->h / 2;
}

/* The side of a box that faces `y`. */
static double side_y(const struct scene_node *n, double y)
{
    return y < middle_y(n) ? n->y : n->y + n->h;
}

/* From the dot of a port to its box among those of the other planes, by a lane of its own. */
static uint32_t port_way(const struct cube *c, uint32_t plane, uint32_t node, const kb_node *info,
                         struct svg_point way[SCENE_BENDS_MAX])
{
    const struct scene_node *box = box_of(c, node);
    struct svg_point at = c->at[node - c->first], to = {middle_x(box), middle_y(box)};
    double lane = 10 + PLANE_LANE_PX * plane;
    bool level = strstr(info->name, "ucie-E") || strstr(info->name, "ucie-W");
    struct svg_point bend = {at.x + (to.x > at.x ? lane : -lane),
                             at.y + (to.y > at.y ? lane : -lane)};

    way[0] = at;
    way[1] = level ? (struct svg_point){bend.x, at.y} : (struct svg_point){at.x, bend.y};
    way[2] = level ? (struct svg_point){bend.x, to.y} : (struct svg_point){to.x, bend.y};
    way[3] = level ? (struct svg_point){at.x < to.x ? box->x : box->x + box->w, to.y}
                   : (struct svg_point){to.x, side_y(box, at.y)};
    return 4;
}

/* The points of an edge from the NoC to a node, in that order; returns how many. */
static uint32_t noc_way(const struct cube *c, uint32_t plane, uint32_t node, const kb_node *info,
                        struct svg_point way[SCENE_BENDS_MAX])
{
    double aside = PLANE_LANE_PX * (2 * plane - (c->planes - 1.0));
    double outer = PLANE_LANE_PX * plane;

    const struct scene_node *box = box_of(c, node);
    struct svg_point at = c->at[node - c->first];
    uint32_t pe = number_of(info->name);
    double x = middle_x(box) + (is(info, "xbar") ? 0 : between(aside, -24, 24));
    double lane = fmin((is(info, "xbar") ? 8 : 18) + outer, RIM_GAP - 3);

    if (is(info, "ucie") && c->planes > 1)
        return port_way(c, plane, node, info, way);
    if (is(info, "m_cpu") || is(info, "sram") || is(info, "ucie") || is(info, "l2")) {
        bool level = at.y > box->y && at.y < box->y + box->h;

        *(level ? &at.y : &at.x) += c->planes > 1 ? between(aside, -10, 10) : 0;
        way[0] = at;
        way[1] = level ? (struct svg_point){at.x < x ? box->x : box->x + box->w, at.y}
                       : (struct svg_point){at.x, side_y(box, at.y)};
        return 2;
    }
    double level = outwards(c, pe, lane);
    way[0] = at;
    way[1] = (struct svg_point){at.x, level};
    if (!is(info, "xbar")) {
        way[2] = (struct svg_point){x, level};
        way[3] = (struct svg_point){x, side_y(box, level)};
        return 4;
    }
    struct stack col = stack_of(c, pe);
    double up = col.x + PE_W / 2.0 + 9 + fmin(outer, 12), inner = fmin(7 + outer, 13);
    double y = middle_y(box) + (is_top(c, pe) ? inner : -inner);
    way[2] = (struct svg_point){up, level};
    way[3] = (struct svg_point){up, y};
    way[4] = (struct svg_point){box->x + box->w, y};
    return 5;
}

/* Between two routers: straight. */
static uint32_t mesh_way(const struct cube *c, uint32_t from, uint32_t to,
                         struct svg_point way[SCENE_BENDS_MAX])
{
    const struct scene_node *a = box_of(c, from), *b = box_of(c, to);
    bool level = fabs(middle_x(a) - middle_x(b)) > fabs(middle_y(a) - middle_y(b));

    way[0] = level ? (struct svg_point){a->x < b->x ? a->x + a->w : a->x, middle_y(a)}
                   : (struct svg_point){middle_x(a), side_y(a, middle_y(b))};
    way[1] = level ? (struct svg_point){a->x < b->x ? b->x : b->x + b->w, middle_y(b)}
                   : (struct svg_point){middle_x(b), side_y(b, middle_y(a))};
    return 2;
}

/* From a router to the point of a node that meets it there, and on as from a bus. */
static uint32_t attach_way(const struct cube *c, uint32_t router, uint32_t node,
                           const kb_node *info, struct svg_point way[SCENE_BENDS_MAX])
{
    const struct scene_node *box = box_of(c, router);
    struct svg_point on[SCENE_BENDS_MAX];
    uint32_t n = noc_way(c, (router - c->first) % c->planes, node, info, on);

    way[0] = (struct svg_point){middle_x(box), middle_y(box)};
    memcpy(way + 1, on, n * sizeof *on);
    return 1 + n;
}

/* From an L2 straight to the point of a PE, and on as from a bus. */
static uint32_t l2_way(const struct cube *c, uint32_t l2, uint32_t dma, const kb_node *info,
                       struct svg_point way[SCENE_BENDS_MAX])
{
    const struct scene_node *box = box_of(c, l2);
    struct svg_point on[SCENE_BENDS_MAX];
    uint32_t n = noc_way(c, 0, dma, info, on);

    way[0] = (struct svg_point){middle_x(box), side_y(box, on[0].y)};
    memcpy(way + 1, on, n * sizeof *on);
    return 1 + n;
}

/* From pe_dma past its PE to the crossbar. */
static uint32_t dma_way(const struct cube *c, uint32_t dma, uint32_t xbar, uint32_t pe,
                        struct svg_point way[SCENE_BENDS_MAX])
{
    const struct scene_node *a = box_of(c, dma), *b = box_of(c, xbar);
    double x = stack_of(c, pe).x - PE_W / 2.0 - 9, y = middle_y(b) + (is_top(c, pe) ? 7 : -7);

    way[0] = (struct svg_point){a->x, middle_y(a)};
    way[1] = (struct svg_point){x, middle_y(a)};
    way[2] = (struct svg_point){x, y};
    way[3] = (struct svg_point){b->x, y};
    return 4;
}

/* The chain and the bridges leave a crossbar on its outer half. */
static double chain_y(const struct cube *c, const struct scene_node *xbar, uint32_t pe)
{
    return middle_y(xbar) + (is_top(c, pe) ? -7 : 7);
}

static uint32_t bridge_way(const struct cube *c, uint32_t xbar, uint32_t bridge, uint32_t pe,
                           struct svg_point way[SCENE_BENDS_MAX])
{
    const struct scene_node *a = box_of(c, xbar), *b = box_of(c, bridge);
    double y = chain_y(c, a, pe);
    bool east = middle_x(b) > middle_x(a);

    way[0] = (struct svg_point){east ? a->x + a->w : a->x, y};
    way[1] = (struct svg_point){middle_x(b), y};
    way[2] = (struct svg_point){middle_x(b), side_y(b, y)};
    return 3;
}

static uint32_t chain_way(const struct cube *c, uint32_t from, uint32_t to, uint32_t pe,
                          struct svg_point way[SCENE_BENDS_MAX])
{
    const struct scene_node *a = box_of(c, from), *b = box_of(c, to);
    double y = chain_y(c, a, pe);
    bool east = middle_x(b) > middle_x(a);

    way[0] = (struct svg_point){east ? a->x + a->w : a->x, y};
    way[1] = (struct svg_point){east ? b->x : b->x + b->w, y};
    return 2;
}

static uint32_t slice_way(const struct cube *c, uint32_t xbar, uint32_t slice,
                          struct svg_point way[SCENE_BENDS_MAX])
{
    const struct scene_node *a = box_of(c, xbar), *b = box_of(c, slice);

    way[0] = (struct svg_point){middle_x(a), side_y(a, middle_y(b))};
    way[1] = (struct svg_point){middle_x(b), side_y(b, middle_y(a))};
    return 2;
}

/* The points of an edge; 0: it is inside a PE, and not drawn. */
static uint32_t find_way(const struct cube *c, const kb_edge *edge, const kb_node *from,
                         const kb_node *to, struct svg_point way[SCENE_BENDS_MAX])
{
    uint32_t pe = number_of(from->name);

    if (is(from, "router") && is(to, "router"))
        return mesh_way(c, edge->from, edge->to, way);
    if (is(from, "router"))
        return attach_way(c, edge->from, edge->to, to, way);
    if (is(from, "noc"))
        return noc_way(c, edge->from - c->first, edge->to, to, way);
    if (is(from, "l2") && is(to, "pe_dma"))
        return l2_way(c, edge->from, edge->to, to, way);
    if (is(from, "pe_dma") && is(to, "xbar"))
        return dma_way(c, edge->from, edge->to, pe, way);
    if (!is(from, "xbar"))
        return 0;
    if (is(to, "hbm_ctrl"))
        return slice_way(c, edge->from, edge->to, way);
    if (is(to, "bridge"))
        return bridge_way(c, edge->from, edge->to, pe, way);
    return is(to, "xbar") ? chain_way(c, edge->from, edge->to, pe, way) : 0;
}

static bool is_inside(const struct cube *c, uint32_t node)
{
    return node >= c->first && node < c->first + c->nodes;
}

/* Edges are given once per direction. The way of the one is that of the other, backwards. */
static void add_edge(void *arg, const kb_edge *edge)
{
    struct cube *c = arg;
    struct svg_point way[SCENE_BENDS_MAX];
    kb_node from, to;

    if (!is_inside(c, edge->from) || !is_inside(c, edge->to) ||
        kb_node_get(c->sc->cli->topo, edge->from, &from) != KB_OK ||
        kb_node_get(c->sc->cli->topo, edge->to, &to) != KB_OK)
        return;
    uint32_t n = find_way(c, edge, &from, &to, way);
    bool turned = n == 0;
    if (turned)
        n = find_way(c, &(kb_edge){.from = edge->to, .to = edge->from}, &to, &from, way);
    if (n == 0)
        return;
    struct scene_edge *e =
        scene_add_edge(c->sc, edge, c->shown[edge->from - c->first], c->shown[edge->to - c->first]);
    for (uint32_t i = 0; i < n; i++)
        scene_bend(e, way[turned ? n - 1 - i : i].x, way[turned ? n - 1 - i : i].y);
}

void scene_cube_edges(struct cube *c)
{
    kb_edges(c->sc->cli->topo, add_edge, c);
}
