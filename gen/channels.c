/*
 * channels.c -- chooses which virtual channels packets may own, so that none wait in a circle.
 *
 * Which VCs packets may own is a plan (shares.h). Plans are tried from the plainest on: with
 * `broken`, detours together with other routes, then apart; in cubes with meshes a route in one
 * stage, in two, in three; in a net all VCs, datelines, hop classes, and with other routes, which
 * go up a tree and then down, all VCs again. The first plan without a
 * circle (channels_circle.c) is taken, and if there is none the circle of the plainest is named.
 */
#include "base/larger.h"
#include "channels.h"
#include "check.h"
#include "pairs.h"
#include "shares.h"
#include "machine/vcs.h"

enum { RING_PES = 6 };

/* VCs of a group of the class that has fewer. */
static uint32_t least_vcs(const struct kb_topology *t)
{
    return (t->request_vcs < t->answer_vcs ? t->request_vcs : t->answer_vcs) / t->prios;
}

/* The circle that a plan leaves; NULL: it is a good one. */
static const char *try_plan(struct routes *r, const struct share_plan *plan)
{
    const char *circle;

    make_shares(r, plan);
    r->topo.request_shares = r->request_shares;
    r->topo.answer_shares = r->answer_shares;
    circle = channels_circle(r, plan, false);
    return circle ? circle : channels_circle(r, plan, true);
}

static bool has_detours(const struct kb_topology *t)
{
    for (uint32_t plane = 0; plane < t->planes; plane++)
        if (t->plane_rows[plane].has_detours)
            return true;
    return false;
}

/* Rings need two parts, without a look at routes. */
bool channels_suffice(const struct routes *r)
{
    const struct kb_topology *t = &r->topo;
    uint32_t n = least_vcs(t);
    const char *ring = "rings of cubes ('sip.cube_mesh.wrap')";
    bool of_crossbars = false, of_cubes = wraps(t, false) || wraps(t, true);

    for (uint32_t k = 0; k < t->n_kinds; k++)
        of_crossbars = of_crossbars || r->kinds[k].pes >= RING_PES;
    if (n >= 2 || !(of_crossbars || of_cubes || wraps_sips(t)))
        return true;
    if (of_crossbars)
        ring = "crossbars and bridges, a ring in cubes of 6 PEs and more";
    else if (!of_cubes)
        ring = "rings of SIPs ('fabric.wrap')";
    return diag_error(r->spec->diag, spec_place(r->spec, KEY_contention_vcs),
                      "'contention.vcs' do not suffice for %s: each must be at least %u", ring,
                      2u * t->prios);
}

bool refuse_channels(const struct routes *r)
{
    const char *remedy = "mend what is broken, fill holes, leave out 'wrap', or take "
                         "'contention.links: fifo'";

    if (r->vcs_needed > least_vcs(&r->topo))
        remedy = arena_printf(r->arena, "each of 'contention.vcs' must be at least %u",
                              r->vcs_needed * r->topo.prios);
    return diag_error(r->spec->diag, spec_place(r->spec, KEY_contention_vcs),
                      "with 'contention.links: router' packets could wait for each other in a "
                      "circle, %s%s: %s",
                      r->circle, r->no_other ? r->no_other : "", remedy);
}

static bool has_shares(const struct routes *r)
{
    for (uint32_t i = 0; i < r->n_hops; i++)
        if (r->request_shares[i] || r->answer_shares[i])
            return true;
    return false;
}

static void keep_shares(struct routes *r, const struct share_plan *plan)
{
    r->topo.detours_by = (uint8_t)(r->up_down && !r->topo.port_rows ? DETOURS_UP_DOWN
                                   : plan->detours                  ? DETOURS_APART
                                                                    : DETOURS_WITH);
    r->topo.vcs_vary = has_shares(r);
    if (!r->topo.vcs_vary)
        r->topo.request_shares = r->topo.answer_shares = NULL;
}

/* -- nets ----------------------------------------------------------------------------------- */

static bool is_end(const struct routes *r, uint32_t cube)
{
    return mesh_has_cube(&r->topo, cube) && !is_switch(r->found->kinds[cube_kind(&r->topo, cube)]);
}

/* Links of the longest route to `to` from cubes with PEs: of its SIP, or over rails of all; and of
 * its data, where these go a way of their own. */
static uint32_t longest_to(const struct routes *r, uint32_t to)
{
    const struct kb_topology *t = &r->topo;
    uint32_t first = t->rails ? 0 : to - to % t->cubes, most = 0;
    uint32_t end = t->rails ? sip_cubes(t) : first + t->cubes;

    for (uint32_t from = first; from < end; from++) {
        if (!is_end(r, from) || !kind_at(t, from)->pes || !pairs_links(t, from, to))
            continue;
        most = larger(most, pairs_links(t, from, to));
        if (mesh_is_one_way(t, 0, from, to))
            most = larger(most, pairs_links(t, to, from));
    }
    return most;
}

/* Links of the longest way of a SIP from its cubes to its shore, or from there; `pes`: of cubes
 * with PEs alone. */
static uint32_t longest_ashore(const struct routes *r, uint32_t sip, bool ashore, bool pes)
{
    const struct kb_topology *t = &r->topo;
    uint32_t most = 0;

    for (uint32_t cube = sip * t->cubes; cube < (sip + 1) * t->cubes; cube++) {
        uint32_t shore;

        if (!is_end(r, cube) || (pes && !kind_at(t, cube)->pes))
            continue;
        shore = mesh_shore(t, 0, 0, cube, ashore);
        most = larger(most, pairs_links(t, ashore ? cube : shore, ashore ? shore : cube));
    }
    return most;
}

/* From a PE to a memory of another SIP; of a net with links of one way, of the data of a read, too.
 * Without rails the links in both SIPs count. */
static uint32_t longest_over_fabric(const struct routes *r)
{
    const struct kb_topology *t = &r->topo;
    uint32_t *ends[4], most = 0; /* [2 * ashore + pes][sip] */

    for (uint32_t i = 0; i < 4; i++) {
        ends[i] = arena_alloc(r->arena, t->sips * sizeof *ends[i]);
        for (uint32_t sip = 0; sip < t->sips; sip++)
            ends[i][sip] = longest_ashore(r, sip, i / 2, i % 2);
    }
    for (uint32_t from = 0; from < t->sips; from++)
        for (uint32_t to = 0; to < t->sips; to++) {
            if (from == to)
                continue;
            most = larger(most, ends[3][from] + ends[0][to]);
            if (t->plane_rows[0].one_way)
                most = larger(most, ends[2][to] + ends[1][from]);
        }
    return most;
}

/* Links of the longest route from a PE or a host. */
static uint32_t longest_route(const struct routes *r)
{
    const struct kb_topology *t = &r->topo;
    uint32_t most = t->rails ? 0 : longest_over_fabric(r);

    for (uint32_t to = 0; to < sip_cubes(t); to++)
        if (is_end(r, to))
            most = larger(most, longest_to(r, to));
    for (uint32_t sip = 0; sip < t->sips; sip++)
        for (uint32_t ashore = 0; ashore < 2; ashore++)
            most = larger(most, longest_ashore(r, sip, ashore, false));
    return most;
}

static bool has_rings(const struct kb_topology *t)
{
    for (size_t i = 0; i < (size_t)sim_cubes(t) * t->ports; i++)
        if (t->port_rows[i].flags & PORT_CLOSES)
            return true;
    return false;
}

static bool make_net_channels(struct routes *r)
{
    struct kb_topology *t = &r->topo;
    bool up_down = t->routes_by == ROUTES_UP_DOWN;
    struct share_plan plan = {.stages = 1, .routes = up_down ? ROUTES_UP_DOWN : ROUTES_ALL};

    t->hops_inside = has_meshes(r);
    for (; plan.routes <= (up_down ? ROUTES_UP_DOWN : ROUTES_HOPS); plan.routes++) {
        const char *circle;
        uint32_t parts;

        if (plan.routes == ROUTES_DATELINES && !has_rings(t))
            continue;
        if (plan.routes == ROUTES_HOPS && wraps_sips(t))
            continue; /* a ring of SIPs has halves, and no hop classes */
        t->routes_by = (uint8_t)plan.routes;
        t->hop_classes = plan.routes == ROUTES_HOPS ? longest_route(r) + t->hops_inside : 0;
        parts = shares_parts(r, &plan);
        circle = parts && parts <= least_vcs(t) ? try_plan(r, &plan) : "";
        r->circle = r->circle ? r->circle : circle;
        if (!circle) {
            keep_shares(r, &plan);
            return true;
        }
        if (plan.routes == ROUTES_HOPS)
            r->vcs_needed = parts;
    }
    return false;
}

static bool make_mesh_channels(struct routes *r)
{
    uint32_t stages = has_meshes(r) ? 4 : 1;
    bool apart = !r->up_down && has_detours(&r->topo);

    for (struct share_plan plan = {0}; plan.detours <= apart; plan.detours++)
        for (plan.stages = 1; plan.stages <= stages; plan.stages++) {
            uint32_t parts = shares_parts(r, &plan);
            const char *circle = parts <= VCS_PARTS_MOST ? try_plan(r, &plan) : "";

            r->circle = r->circle ? r->circle : circle;
            if (circle)
                continue;
            r->vcs_needed = r->vcs_needed ? r->vcs_needed : parts;
            if (parts <= least_vcs(&r->topo)) {
                keep_shares(r, &plan);
                return true;
            }
        }
    return false;
}

bool make_channels(struct routes *r)
{
    return r->topo.port_rows ? make_net_channels(r) : make_mesh_channels(r);
}
