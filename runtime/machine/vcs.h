/*
 * vcs.h -- which virtual channels a packet may own on an edge of its route.
 *
 * The VCs of a class (requests, answers) are cut into `prios` equal groups, and of its group a
 * packet owns on each edge one of a share: all of them, or one of 2 to 4 equal parts. Parts break
 * rings: packets of an earlier part wait for those of a later one, never the other way. The
 * generator says which share each hop has (t->request_shares, and for answers, which pass the same
 * edge backwards, t->answer_shares; neither unless t->vcs_vary), and has proved that no packets can
 * wait for each other in a circle: gen/channels.c.
 *
 * A share is a byte: part in bits 0 and 1, parts - 1 in bits 5 and 6, and between them what the
 * part also depends on:
 *
 *     VCS_BY_X, VCS_BY_Y   + 1 behind the dateline of that dimension: the step from column w - 1
 *                          to 0, or from 0 to w - 1; of rows alike; so in a grid of SIPs
 *     VCS_BY_DETOUR        the last part if the route between these two cubes is a detour
 *     VCS_BY_LINKS         of a net, and nothing else: vcs_part_of_links() says the part. With
 *                          datelines (t->routes_by) the upper half behind the closing link of the
 *                          dimension of a torus in which its link lies; with hop classes the part
 *                          of the number of links that lie before it, without those that are not
 *                          counted (PORT_UNCOUNTED), of t->hop_classes equal ones, the last of
 *                          which has the rest
 *
 * 0 is all VCs of the group. Part p of n VCs is [p * n / parts, (p + 1) * n / parts).
 *
 * The edge over a dateline, ucie > ucie, belongs to the part before it. So a request has in a
 * segment the datelines of all segments before it in the same mesh, of cubes or of SIPs. An answer
 * passes the edges in the other order: on the edge that leads from a segment to the next one it has
 * those of the segments behind that one, seen from the request, and on the other edges of the
 * segment also its own.
 *
 * Example: a ring of 4 cubes, vcs: [2, 2], share VCS_BY_X with 2 parts: a write from cube 2 to cube
 * 0 goes E, E. Its steps 2 > 3 and 3 > 0 are on VC 0; one from cube 2 to cube 1 is on VC 1 from 0
 * on. With 3 VCs the parts are [0, 1) and [1, 3).
 */
#ifndef VCS_H
#define VCS_H
#include "machine/walk.h"

enum {
    VCS_PART = 3,
    VCS_BY_X = 4,
    VCS_BY_Y = 8,
    VCS_BY_DETOUR = 16,
    VCS_BY_LINKS = 128,
    VCS_PARTS_SHIFT = 5,
    VCS_PARTS_MOST = VCS_PART + 1
};

/* The bits of `crossed`: datelines behind a packet. */
enum { CROSSED_X = 1, CROSSED_Y = 2 };

static inline uint8_t vcs_share(uint32_t part, uint32_t parts)
{
    return (uint8_t)(part | (parts - 1) << VCS_PARTS_SHIFT);
}

/* VCs [first, end) of a class. */
struct vc_range {
    uint8_t first, end;
};

/* Part `part` of a net, of as many as its routes have. */
static inline struct vc_range vcs_range_of_links(const struct kb_topology *t, uint32_t each,
                                                 uint32_t group, uint32_t part)
{
    uint32_t parts = t->routes_by == ROUTES_HOPS ? t->hop_classes : 2, of_part = each / parts;
    uint32_t first = group * each + part * of_part;

    return (struct vc_range){(uint8_t)first,
                             (uint8_t)(part + 1 == parts ? (group + 1) * each : first + of_part)};
}

/* The range of `share`, for a packet of priority group `group`. `n`: VCs of the class; `crossed` of
 * VCS_BY_LINKS: the part. */
static inline struct vc_range vcs_range(const struct kb_topology *t, uint8_t share, uint32_t n,
                                        uint32_t prios, uint32_t group, uint32_t crossed,
                                        bool detour)
{
    uint32_t each = n / prios, parts = 1u + (share >> VCS_PARTS_SHIFT & VCS_PART);
    uint32_t part = share & VCS_PART;

    if (share & VCS_BY_LINKS)
        return vcs_range_of_links(t, each, group, crossed);
    if (share & VCS_BY_DETOUR && detour)
        part = parts - 1;
    else if ((share & VCS_BY_X && crossed & CROSSED_X) || (share & VCS_BY_Y && crossed & CROSSED_Y))
        part++;
    return (struct vc_range){(uint8_t)(group * each + part * each / parts),
                             (uint8_t)(group * each + (part + 1) * each / parts)};
}

/* A segment of a route, and the datelines before and behind it: CROSSED_X and CROSSED_Y. Of a net
 * the links before it, and whether its exit lies behind the closing link of its ring: on the way of
 * a request, and of an answer. */
struct route_place {
    struct route_at at;
    uint8_t before, after;
    uint16_t links;
};

/* The port by which the segment is left for the next cube of its net; NULL: it is not. */
static inline const struct port_row *vcs_exit_port(const struct kb_topology *t,
                                                   const struct route_place *p)
{
    uint32_t exit = walk_segment(t, p->at)->exit;

    return exit < t->ports ? net_port(t, p->at.cube, exit) : NULL;
}

/* Links that hop classes count there: 1, or 0 of a link of another kind. NULL: there is no link. */
static inline uint32_t vcs_counts(const struct port_row *port)
{
    return port && !(port->flags & PORT_UNCOUNTED);
}

/* Whether both lie in one ring, and the first has been behind its closing link, or is that. */
static inline bool vcs_is_behind(const struct port_row *a, bool behind, const struct port_row *b)
{
    return a && b && a->ring && a->ring == b->ring && (behind || a->flags & PORT_CLOSES);
}

/* Of a net, for the `n` segments of a route. */
static inline void vcs_find_links(const struct kb_topology *t, struct route_place *p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct port_row *last = i ? vcs_exit_port(t, &p[i - 1]) : NULL;

        p[i].links = (uint16_t)(i ? p[i - 1].links + vcs_counts(last) : 0);
        p[i].before = i && vcs_is_behind(last, p[i - 1].before, vcs_exit_port(t, &p[i]));
        p[i].after = 0;
    }
    for (uint32_t i = n - (n > 0); i-- > 0;)
        p[i].after =
            vcs_is_behind(vcs_exit_port(t, &p[i + 1]), p[i + 1].after, vcs_exit_port(t, &p[i]));
}

/* The part of the last link of a way of a net, that of a packet behind it. */
static inline uint32_t vcs_last_part(const struct kb_topology *t, const struct route_place *p,
                                     uint32_t n, bool answers)
{
    uint32_t all = p[n - 1].links, i = answers ? 0 : n - 1;

    while (i < n && !vcs_exit_port(t, &p[i]))
        i += answers ? 1u : UINT32_MAX;
    return i < n ? all - vcs_counts(vcs_exit_port(t, &p[i])) : 0;
}

/* The part on the edge of hop `hop` of segment `i`, of the `n` of a route of a net. The three edges
 * of a link, from NoC to NoC, have one part. */
static inline uint32_t vcs_part_of_links(const struct kb_topology *t, const struct route_place *p,
                                         uint32_t n, uint32_t i, uint32_t hop, bool answers)
{
    const struct segment_row *seg = walk_segment(t, p[i].at);
    bool enters = hop == 0 && i > 0 && vcs_exit_port(t, &p[i - 1]);
    bool leaves = seg->exit < t->ports && hop + 2u >= seg->n_hops;
    const struct route_place *of = enters ? &p[i - 1] : &p[i];
    uint32_t all = p[n - 1].links, passed = answers ? all - of->links : of->links, last;

    if (t->routes_by != ROUTES_HOPS)
        return answers ? of->after : of->before;
    if (enters || leaves)
        return answers ? passed - vcs_counts(vcs_exit_port(t, of)) : passed;
    last = vcs_last_part(t, p, n, answers);
    return passed > last && !t->hops_inside ? last : passed;
}

/* The dateline that the exit of segment `at` leads over, as a bit of `crossed`; 0: none. */
static inline uint32_t vcs_dateline(const struct kb_topology *t, struct route_at at)
{
    uint32_t exit = walk_segment(t, at)->exit, side, sip = at.cube / t->cubes;

    if (exit < t->ports)
        return t->wrap && mesh_at_border(t, at.cube, exit)
                   ? (side_is_vertical(exit) ? CROSSED_Y : CROSSED_X)
                   : 0u;
    if (exit != exit_io(t) || t->regular || t->fabric_shape != FABRIC_GRID ||
        at.segment < t->seg_cross || at.segment >= t->seg_arrive)
        return 0;
    side = (uint32_t)(at.segment - t->seg_cross) % N_SIDES;
    if (side_is_vertical(side))
        return sip / t->grid_w == (side == SIDE_S ? t->grid_h - 1 : 0) ? CROSSED_Y : 0u;
    return sip % t->grid_w == (side == SIDE_E ? t->grid_w - 1 : 0) ? CROSSED_X : 0u;
}

/*
 * Datelines behind a packet that was in segment `at` with `crossed`, and is in the next one. The
 * cubes of a SIP, the grid of SIPs, and the cubes of the target's SIP have datelines of their own.
 */
static inline uint32_t vcs_crossed_after(const struct kb_topology *t, struct route_at at,
                                         uint32_t crossed)
{
    bool of_sips = at.segment >= t->seg_cross && (t->regular || at.segment < t->seg_arrive);

    if (walk_segment(t, at)->exit != exit_io(t))
        return crossed | vcs_dateline(t, at);
    return of_sips ? crossed | vcs_dateline(t, at) : 0;
}

/* Is the route on `plane` from cube `first` to `last`, both of one SIP, another than by default? */
static inline bool vcs_is_detour(const struct kb_topology *t, uint32_t plane, uint32_t first,
                                 uint32_t last)
{
    bool odd = cube_is_odd(t, first);

    if (!t->plane_rows[plane].has_detours)
        return false;
    for (uint32_t cube = first, exit; cube != last; cube = walk_neighbour(t, cube, exit)) {
        exit = mesh_exit(t, plane, odd, cube, last);
        if (exit != mesh_default_or_none(t, plane, odd, cube, last))
            return true;
    }
    return false;
}

#endif
