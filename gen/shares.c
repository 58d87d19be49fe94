/*
 * shares.c -- which virtual channels the hops of routes may own, so that no ring of packets waits.
 *
 * The edges of a route and their parts (machine/vcs.h has how a part becomes VCs):
 *
 * - crossbar: in cubes of 6 PEs and more chains and bridges form a ring: part 0 of 2 up to and on
 * the bridge, 1 behind it
 *
 * - a step from cube to cube, in a dimension that wraps: part 0 of 2, 1 behind the dateline. Its
 *   edges are noc > ucie, ucie > ucie, ucie > noc. SIPs of a grid alike
 *
 * - detours: a part of their own on all steps, if the plan says so
 *
 * - in a mesh inside a cube, if there are more: a packet has up to three stages, the cube of its
 *   source, the cubes between, the cube of its target. Without them packets that leave a cube and
 *   packets that arrive could wait for each other by way of four cubes
 *
 * - others: all VCs: edges of a source, of a memory, of an IO chiplet
 *
 * An answer passes the edges of its request backwards: its source is the memory's cube.
 */
#include "shares.h"
#include "nodes.h"
#include "segments.h"
#include "machine/vcs.h"

enum stage { STAGE_SOURCE, STAGE_BETWEEN, STAGE_TARGET };

/* The hops of a segment, whose shares are made. */
struct making {
    struct routes *r;
    const struct share_plan *plan;
    const struct kind_row *kind;
    const struct node_row *nodes; /* of that kind of cubes */
    const struct segment_row *seg;
    uint32_t side;              /* where it begins; N_SIDES: at no side of a cube */
    bool enters;                /* of a net: it begins at a port */
    enum stage request, answer; /* in a mesh */
};

/* Has a cube bridges between crossbar nodes, and does a class have VCs enough to keep packets of it
 * apart? */
static bool has_halves(const struct routes *r, const struct kind_row *kind, uint32_t class_vcs)
{
    return kind->crossbars >= 2 && kind->pes && class_vcs / r->topo.prios >= 2;
}

bool wraps_sips(const struct kb_topology *t)
{
    return t->fabric_shape == FABRIC_GRID && t->grid_wrap != WRAP_NONE && t->sips > 1;
}

bool has_meshes(const struct routes *r)
{
    for (uint32_t k = 0; k < r->found->n_kinds; k++)
        if (r->found->kinds[k]->cube_noc_model == NOC_MESH)
            return r->topo.cubes > 1 || r->topo.rails;
    return false;
}

bool wraps(const struct kb_topology *t, bool y)
{
    return t->wrap >> y & 1 && (y ? t->h : t->w) > 1;
}

static uint32_t datelines(const struct kb_topology *t)
{
    return wraps(t, false) || wraps(t, true);
}

uint32_t shares_parts(const struct routes *r, const struct share_plan *plan)
{
    const struct kb_topology *t = &r->topo;
    uint32_t parts = plan->stages + datelines(t) + plan->detours;

    if (plan->routes == ROUTES_HOPS)
        return t->hop_classes;
    if (plan->routes == ROUTES_DATELINES)
        return 2;
    return wraps_sips(t) && parts < 2 ? 2 : parts;
}

uint32_t shares_parts_of_all(const struct routes *r, const struct share_plan *plan)
{
    uint32_t parts = shares_parts(r, plan);

    for (uint32_t k = 0; k < r->topo.n_kinds && parts < 2; k++)
        if (has_halves(r, &r->kinds[k], r->topo.request_vcs) ||
            has_halves(r, &r->kinds[k], r->topo.answer_vcs))
            parts = 2;
    return parts;
}

/* On a step in a dimension, and between routers of a mesh that is passed in it. */
static uint8_t step_share(const struct making *m, bool y)
{
    const struct kb_topology *t = &m->r->topo;
    uint32_t ring = wraps(t, y), stages = m->plan->stages;
    uint32_t parts =
        stages > 1 ? stages + datelines(t) + m->plan->detours : 1 + ring + m->plan->detours;
    uint32_t share = vcs_share(stages == 4 ? 1u + y : stages > 1, parts);

    if (ring)
        share |= (uint32_t)(y ? VCS_BY_Y : VCS_BY_X);
    return (uint8_t)(m->plan->detours ? share | VCS_BY_DETOUR : share);
}

/* Between routers of a mesh, in one of the stages of a packet; in those between as a step. */
static uint8_t stage_share(const struct making *m, enum stage stage, bool y)
{
    uint32_t stages = m->plan->stages, lines = datelines(&m->r->topo);
    uint32_t parts = stages + lines + m->plan->detours;

    if (stage == STAGE_BETWEEN)
        return step_share(m, y); /* the edge's own, or with four stages that of the next step */
    return vcs_share(stage == STAGE_SOURCE ? 0 : stages - 1 + lines, parts);
}

/* Of a node of the cube; NODE_SWITCH: of another. */
static enum node_kind kind_of(const struct making *m, uint32_t hop)
{
    const struct hop_row *row = &m->r->hops[m->seg->first_hop + hop];

    return (enum node_kind)(row->chiplet == AT_CUBE ? m->nodes[row->node].kind : NODE_SWITCH);
}

static bool is_crossbar(enum node_kind kind)
{
    return kind == NODE_XBAR || kind == NODE_BRIDGE;
}

static bool is_noc(enum node_kind kind)
{
    return kind == NODE_NOC || kind == NODE_ROUTER;
}

/* Between hop `i` and the next one, crossbar nodes or bridges; a class of one VC has no halves. */
static void share_crossbar(const struct making *m, uint32_t i, uint8_t *request, uint8_t *answer)
{
    const struct kb_topology *t = &m->r->topo;
    uint32_t bridge = 0;

    while (bridge < m->seg->n_hops && kind_of(m, bridge) != NODE_BRIDGE)
        bridge++;
    if (has_halves(m->r, m->kind, t->request_vcs))
        *request = vcs_share(bridge < i, 2);
    if (has_halves(m->r, m->kind, t->answer_vcs))
        *answer = vcs_share(bridge < m->seg->n_hops && bridge > i + 1, 2);
}

/* Between hop `i` and the next one, routers of a mesh. */
static void share_mesh(const struct making *m, uint32_t i, uint8_t *request, uint8_t *answer)
{
    const struct hop_row *hop = &m->r->hops[m->seg->first_hop + i];
    bool along_y = m->nodes[hop[0].node].x_mm == m->nodes[hop[1].node].x_mm;
    bool four = m->plan->stages == 4 && m->request == STAGE_BETWEEN && m->seg->exit < N_SIDES;

    *request = stage_share(m, m->request, four ? side_is_vertical(m->seg->exit) : along_y);
    *answer = stage_share(m, m->answer, four ? side_is_vertical(m->side) : along_y);
}

/*
 * From the NoC to the ucie behind which an IO chiplet is. If cubes form a ring there, packets that
 * go on over the dateline pass that edge, too, and are before it: those that go ashore are apart.
 */
static void share_way_ashore(const struct making *m, uint8_t *request, uint8_t *answer)
{
    bool y = side_is_vertical(m->r->io_sides[0]);

    if (!wraps(&m->r->topo, y))
        return;
    *answer = step_share(m, y);
    *request = (uint8_t)((*answer & ~(uint32_t)(VCS_BY_X | VCS_BY_Y | VCS_BY_DETOUR)) + 1);
}

/* In a net: with hop classes all edges but those of the ring in a cube, with datelines those of
 * links. */
static void share_net_hop(const struct making *m, uint32_t i, uint8_t *request, uint8_t *answer)
{
    bool last = i + 1 == m->seg->n_hops;
    bool of_link =
        (i == 0 && m->enters) || (m->seg->exit < m->r->topo.ports && i + 2 >= m->seg->n_hops);

    if (!last && is_crossbar(kind_of(m, i)) && is_crossbar(kind_of(m, i + 1)))
        share_crossbar(m, i, request, answer);
    else if (m->plan->routes == ROUTES_HOPS || (of_link && m->plan->routes == ROUTES_DATELINES))
        *request = *answer = VCS_BY_LINKS;
}

static void share_hop(const struct making *m, uint32_t i, uint8_t *request, uint8_t *answer)
{
    bool last = i + 1 == m->seg->n_hops;
    enum node_kind from = kind_of(m, i), to = last ? from : kind_of(m, i + 1);
    uint32_t exit = m->seg->exit;

    if (m->r->topo.port_rows) {
        share_net_hop(m, i, request, answer);
        return;
    }
    if (i == 0 && m->side < N_SIDES)
        *request = *answer = step_share(m, side_is_vertical(m->side));
    else if (exit < N_SIDES && (last || to == NODE_UCIE))
        *request = *answer = step_share(m, side_is_vertical(exit));
    else if (exit == EXIT_IO && to == NODE_UCIE && !last)
        share_way_ashore(m, request, answer);
    else if (is_crossbar(from) && is_crossbar(to) && !last)
        share_crossbar(m, i, request, answer);
    else if (is_noc(from) && is_noc(to) && !last && has_meshes(m->r))
        share_mesh(m, i, request, answer);
}

/* The segments of one kind, of which the first hop of all is `first`. */
static void share_segment(struct making *m)
{
    struct routes *r = m->r;

    for (uint32_t i = 0; i < m->seg->n_hops; i++) {
        uint32_t hop = m->seg->first_hop + i;

        if (r->hops[hop].owner == LINK_NONE)
            continue;
        if (kind_of(m, i) == NODE_M_CPU)
            m->request = STAGE_SOURCE; /* where packets begin again */
        share_hop(m, i, &r->request_shares[hop], &r->answer_shares[hop]);
    }
}

/* What kind of segment is number `i`, of those of a kind. */
static void find_stages(struct making *m, uint32_t i)
{
    const struct kb_topology *t = &m->r->topo;

    m->side = N_SIDES;
    m->request = m->answer = STAGE_SOURCE;
    m->enters = false;
    if (t->port_rows) {
        m->enters = (i >= t->seg_pass && i < t->seg_in &&
                     (i - t->seg_pass) / n_exits(t) % t->ports < t->ports - 1) ||
                    (i >= t->seg_in && i < t->seg_host &&
                     (i - t->seg_in) / t->n_units % t->ports < t->ports - 1) ||
                    (i >= t->seg_host_in && i < t->seg_cross &&
                     (i - t->seg_host_in) / t->slices % t->ports < t->ports - 1);
        return;
    }
    if (i < t->seg_out)
        return;
    if (i < t->seg_pass) {
        m->answer = STAGE_TARGET;
    } else if (i < t->seg_in) {
        m->side = (i - t->seg_pass) / N_EXITS % N_SIDES;
        m->request = m->answer = STAGE_BETWEEN;
    } else if (i < t->seg_host) {
        m->side = (i - t->seg_in) / t->n_units % N_SIDES;
        m->request = STAGE_TARGET;
    } else if (i >= t->seg_host_in && i < t->seg_cross) {
        m->side = t->regular ? SIDE_W : (i - t->seg_host_in) / t->slices % N_SIDES;
        m->request = STAGE_TARGET;
    }
}

/* The edges from SIP to SIP of a grid, in a dimension that wraps: the last of their segments. */
static void share_grid(struct routes *r)
{
    const struct kb_topology *t = &r->topo;

    for (uint32_t i = t->seg_cross; t->fabric_shape == FABRIC_GRID && i < t->seg_arrive; i++) {
        const struct segment_row *seg = &r->segments[i];
        bool y = side_is_vertical((i - t->seg_cross) % N_SIDES);
        uint32_t hop = seg->first_hop + seg->n_hops - 1u;

        if (t->grid_wrap >> y & 1 && (y ? t->grid_h : t->grid_w) > 1)
            r->request_shares[hop] = r->answer_shares[hop] =
                (uint8_t)(vcs_share(0, 2) | (y ? VCS_BY_Y : VCS_BY_X));
    }
}

void make_shares(struct routes *r, const struct share_plan *plan)
{
    const struct kb_topology *t = &r->topo;
    bool by_links = plan->routes == ROUTES_HOPS; /* between SIPs, too */

    r->request_shares = arena_alloc(r->arena, r->n_hops);
    r->answer_shares = arena_alloc(r->arena, r->n_hops);
    for (uint32_t k = 0; k < t->n_kinds; k++)
        for (uint32_t i = 0; i < (by_links ? t->n_segments : t->seg_cross); i++) {
            struct making m = {.r = r,
                               .plan = plan,
                               .kind = &r->kinds[k],
                               .nodes = &r->cube_nodes[k * t->n_cube_nodes],
                               .seg = &r->segments[k * t->n_segments + i]};

            find_stages(&m, i);
            share_segment(&m);
        }
    if (!t->regular && !by_links)
        share_grid(r);
}
