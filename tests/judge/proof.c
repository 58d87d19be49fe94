/* proof.c -- how packets of a net are kept from waiting in a circle; docs/network.md. */
#include "network.h"

#include <stdlib.h>
#include <string.h>

/*
 * A packet holds a virtual channel of an edge and waits for one of the next edge of its way. Each
 * VC of each edge is a vertex here, and each such wait an arc, of all ways by which anything goes.
 * Requests and answers have VCs of their own, so each class has its graph. The first of these rules
 * by which neither graph has a circle is taken: all VCs; datelines, if a link closes a ring; hop
 * classes; and if none is left, routes up a tree, then down.
 */

/* The arcs that leave a vertex. */
struct waits {
    size_t *list, n, room;
    char state; /* of the search: 0 not seen, 1 on the line, 2 leads to no circle */
};

struct graph {
    bool answers;
    uint32_t size; /* VCs of a group of the class */
    struct waits *of;
};

static void add_arc(struct waits *from, size_t to)
{
    for (size_t i = 0; i < from->n; i++)
        if (from->list[i] == to)
            return;
    if (from->n == from->room) {
        from->room = 2 * from->room + 4;
        from->list = judge_grow(from->list, from->room, sizeof *from->list);
    }
    from->list[from->n++] = to;
}

/* Links between cubes on a way. */
static uint32_t links_of(const struct judge_topo *t, const struct judge_way_nodes *w)
{
    uint32_t n = 0;

    for (size_t i = 0; i + 1 < w->n; i++)
        n += judge_port_at(t, w->nodes[i]) && judge_port_at(t, w->nodes[i + 1]);
    return n;
}

static void add_waits(const struct judge_topo *t, const struct judge_route *r, bool backwards,
                      void *arg)
{
    struct graph *g = arg;
    struct judge_way_nodes w;
    struct judge_passed passed = {.sip = UINT32_MAX, .backwards = backwards};
    uint32_t was_low = 0, was_end = 0, low, end;

    if (backwards != g->answers)
        return;
    w = judge_way_of(r, 0, r->n - 1, backwards);
    passed.all_links = links_of(t, &w);
    for (size_t i = 0; i + 1 < w.n; i++) {
        end = judge_vcs_of(t, judge_share_of(t, &passed, &w, i), g->size, &low);
        if (strstr(t->nodes[w.nodes[i]].name, ".m_cpu"))
            was_low = was_end; /* packets begin again there */
        for (uint32_t a = was_low; i > 0 && a < was_end; a++)
            for (uint32_t b = low; b < end; b++)
                add_arc(&g->of[w.edges[i - 1] * g->size + a], w.edges[i] * g->size + b);
        was_low = low;
        was_end = end;
    }
    judge_clear_way(&w);
}

static bool leads_to_circle(struct graph *g, size_t at)
{
    g->of[at].state = 1;
    for (size_t i = 0; i < g->of[at].n; i++) {
        size_t next = g->of[at].list[i];

        if (g->of[next].state == 1 || (!g->of[next].state && leads_to_circle(g, next)))
            return true;
    }
    g->of[at].state = 2;
    return false;
}

static uint32_t group_size(const struct judge_topo *t, bool answers)
{
    return judge_count(t, answers ? "contention.vcs.1" : "contention.vcs.0") /
           judge_count(t, "contention.prios");
}

static bool class_has_circle(const struct judge_topo *t, bool answers)
{
    struct graph g = {.answers = answers, .size = group_size(t, answers)};
    size_t n = 2 * t->n_edges * g.size;
    bool found = false;

    g.of = judge_alloc(n, sizeof *g.of);
    judge_each_way(t, add_waits, &g);
    for (size_t i = 0; i < n && !found; i++)
        found = !g.of[i].state && leads_to_circle(&g, i);
    for (size_t i = 0; i < n; i++)
        free(g.of[i].list);
    free(g.of);
    return found;
}

static bool has_circle(const struct judge_topo *t)
{
    return class_has_circle(t, false) || class_has_circle(t, true);
}

/* -- what the rules need --------------------------------------------------------------------- */

static bool closes_rings(const struct judge_topo *t)
{
    const struct judge_port *p;

    for (uint32_t s = 0; s <= t->sips; s++)
        for (uint32_t c = 0; c < (s < t->sips ? t->cubes : t->switches); c++)
            for (uint32_t i = 0; (p = judge_port(t, s, c, i)); i++)
                if (p->closing)
                    return true;
    return false;
}

/* Links that are counted, without the last one in either direction, and a part for that. */
static uint32_t parts_of(const struct judge_topo *t, const struct judge_way_nodes *w)
{
    struct judge_passed p = {0};
    bool first_counted = false;

    for (size_t i = 0; i + 1 < w->n; i++) {
        if (!judge_port_at(t, w->nodes[i]) || !judge_port_at(t, w->nodes[i + 1]))
            continue;
        judge_pass_link(&p, judge_port_at(t, w->nodes[i]));
        if (p.links == 1)
            first_counted = p.last_counted;
    }
    return p.links ? p.counted + 1 - (first_counted && p.last_counted) : 0;
}

static void find_longest(const struct judge_topo *t, const struct judge_route *r, bool backwards,
                         void *arg)
{
    struct judge_way_nodes w = judge_way_of(r, 0, r->n - 1, backwards);
    uint32_t *most = arg, n = parts_of(t, &w);

    *most = n > *most ? n : *most;
    judge_clear_way(&w);
}

/* A part for each link of the longest way; in cubes with meshes one more, behind the last link. */
static uint32_t hop_classes(const struct judge_topo *t)
{
    uint32_t most = 0;

    judge_each_way(t, find_longest, &most);
    return most + (t->cols > 0 && (t->cubes > 1 || judge_has_rails(t)));
}

static bool wraps_sips(const struct judge_topo *t)
{
    return t->sips > 1 && strcmp(judge_text(t, "fabric.shape"), "grid") == 0 &&
           strcmp(judge_text(t, "fabric.wrap"), "none") != 0;
}

/* False: no rule but routes up and down is left. */
static bool choose(struct judge_topo *t)
{
    uint32_t least = group_size(t, false);

    least = group_size(t, true) < least ? group_size(t, true) : least;
    if (!has_circle(t))
        return true;
    t->datelines = closes_rings(t) && least >= 2;
    if (t->datelines && !has_circle(t))
        return true;
    t->datelines = false;
    t->hops = wraps_sips(t) ? 0 : hop_classes(t);
    if (t->hops && t->hops <= least && !has_circle(t))
        return true;
    t->hops = 0;
    return false;
}

void judge_choose_channels(struct judge_topo *t)
{
    judge_find_routers(t);
    if (t->net && !choose(t))
        judge_go_up_down(t);
}

uint32_t judge_vcs_of(const struct judge_topo *t, struct judge_share share, uint32_t size,
                      uint32_t *low)
{
    *low = 0;
    if (share.parts < 2 || size < 2) /* of one VC both halves are that one */
        return size;
    if (share.parts == t->hops) { /* equal parts, and the last one has the rest */
        *low = share.part * (size / share.parts);
        return share.part + 1 == share.parts ? size : *low + size / share.parts;
    }
    *low = share.part * size / share.parts;
    return (share.part + 1) * size / share.parts;
}
