/*
 * series.c -- which links a key stands for, how busy they are, and where two keys meet on a way.
 *
 * Nothing here knows what a key means. The machine with that key better is compared with the one as
 * it is: links with another bandwidth are the key's. So a key that some cubes have for themselves,
 * or a plane's, is found like any other.
 *
 * Two keys are in series where a link of the one leads to a link of the other: what passes the
 * first may have to pass the second, and a faster first link only makes the second the one that
 * binds. Of such places the busiest is named, by the less busy of its two links.
 *
 * Example: sip.d2d.bw_gbs has ucie-E of c1 -> ucie-W of c2, cube.noc.bw_gbs has noc -> ucie-E of
 * c1. Together they are the way "c1 > c2".
 */
#include "base/larger.h"
#include "cli/why/series.h"
#include "cli/out/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct series_link {
    uint32_t from, to; /* nodes */
    double gbs, util_pct;
    bool used;
};

static void add_link(void *arg, const kb_edge *edge)
{
    struct series *s = arg;

    s->links = memory_room(s->links, s->n, &s->room, sizeof *s->links);
    s->links[s->n++] = (struct series_link){.from = edge->from, .to = edge->to, .gbs = edge->gbs};
}

static int by_ends(const void *a, const void *b)
{
    const struct series_link *x = *(struct series_link *const *)a,
                             *y = *(struct series_link *const *)b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

void series_begin(struct series *s, const kb_topology *topo)
{
    *s = (struct series){.topo = topo};
    kb_edges(topo, add_link, s);
    s->by_ends = memory_new(s->n + 1, sizeof *s->by_ends);
    for (size_t i = 0; i < s->n; i++)
        s->by_ends[i] = &s->links[i];
    qsort(s->by_ends, s->n, sizeof *s->by_ends, by_ends);
}

void series_free(struct series *s)
{
    free(s->links);
    free(s->by_ends);
}

static struct series_link *find_link(const struct series *s, uint32_t from, uint32_t to)
{
    struct series_link ends = {.from = from, .to = to}, *key = &ends;
    struct series_link **found = bsearch(&key, s->by_ends, s->n, sizeof *s->by_ends, by_ends);

    return found ? *found : NULL;
}

/* Between a PE and a memory only the edge of requests is listed: data that come back are its own.
 */
static void see_use(void *arg, const kb_utilization *use)
{
    struct series *s = arg;
    struct series_link *link;
    uint32_t from, to;

    if (use->kind != KB_AT_LINK || !use->count ||
        kb_node_find(s->topo, use->from, strlen(use->from), &from) != KB_OK ||
        kb_node_find(s->topo, use->to, strlen(use->to), &to) != KB_OK)
        return;
    link = find_link(s, from, to);
    link = link ? link : find_link(s, to, from);
    if (!link)
        return;
    link->used = true;
    if (use->util_pct > link->util_pct)
        link->util_pct = use->util_pct;
}

kb_status series_look(struct series *s, const kb_sim *sim)
{
    return kb_sim_utilization(sim, see_use, s);
}

struct comparing {
    const struct series *s;
    struct series_key *key;
    size_t i;
};

static void compare_link(void *arg, const kb_edge *edge)
{
    struct comparing *c = arg;
    const struct series_link *link = &c->s->links[c->i];

    if (c->i < c->s->n && (edge->gbs > link->gbs || edge->gbs < link->gbs)) {
        c->key->has[c->i] = 1;
        if (link->used && link->util_pct > c->key->busiest_pct)
            c->key->busiest_pct = link->util_pct;
    }
    c->i++;
}

void series_key(const struct series *s, const kb_topology *better, struct series_key *out)
{
    struct comparing c = {.s = s, .key = out};

    *out = (struct series_key){.has = memory_new(s->n + 1, 1)};
    kb_edges(better, compare_link, &c);
}

/* -- where two meet ------------------------------------------------------------------------- */

/* A node without its SIP where there is one only: "c0.noc"; `cube`: the cube alone. */
static void name_node(const struct series *s, uint32_t number, bool cube,
                      char name[SERIES_NODE_BYTES])
{
    kb_node node;
    kb_info info;
    char sip[16] = "";
    const char *rest;

    kb_topology_info(s->topo, &info);
    kb_node_get(s->topo, number, &node);
    if (info.sips > 1)
        snprintf(sip, sizeof sip, "s%u.", node.sip);
    rest = strchr(node.name, '.');
    if (node.cube == KB_NO_CUBE) {
        snprintf(name, SERIES_NODE_BYTES, "%s%s", sip, rest ? rest + 1 : node.name);
        return;
    }
    rest = rest ? strchr(rest + 1, '.') : NULL;
    snprintf(name, SERIES_NODE_BYTES, "%sc%u%s", sip, node.cube, cube || !rest ? "" : rest);
}

static bool same_cube(const struct series *s, uint32_t a, uint32_t b)
{
    kb_node x, y;

    kb_node_get(s->topo, a, &x);
    kb_node_get(s->topo, b, &y);
    return x.sip == y.sip && x.cube == y.cube;
}

/* The used link of `key` that leaves node `from`, the busiest of them; NULL: none. */
static const struct series_link *leaves(const struct series *s, const struct series_key *key,
                                        uint32_t from)
{
    struct series_link ends = {.from = from};
    const struct series_link *best = NULL;
    size_t low = 0, high = s->n;

    while (low < high) { /* the first that leaves it */
        size_t middle = low + (high - low) / 2;

        if (s->by_ends[middle]->from < ends.from)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < s->n && s->by_ends[low]->from == from; low++) {
        const struct series_link *link = s->by_ends[low];

        if (link->used && key->has[link - s->links] && (!best || link->util_pct > best->util_pct))
            best = link;
    }
    return best;
}

bool series_meet(const struct series *s, const struct series_key *a, const struct series_key *b,
                 char name[SERIES_NAME_BYTES])
{
    const struct series_link *first = NULL, *second = NULL;
    char from[SERIES_NODE_BYTES], to[SERIES_NODE_BYTES];
    double busiest_pct = -1;
    bool cubes;

    for (size_t i = 0; a->has && b->has && i < s->n; i++)
        for (int way = 0; way < 2; way++) {
            const struct series_link *link = &s->links[i], *next;

            if (!link->used || !(way ? b : a)->has[i])
                continue;
            next = leaves(s, way ? a : b, link->to);
            if (next && next != link && smaller(link->util_pct, next->util_pct) > busiest_pct) {
                busiest_pct = smaller(link->util_pct, next->util_pct);
                first = link;
                second = next;
            }
        }
    if (!first)
        return false;
    cubes = !same_cube(s, first->from, second->to);
    name_node(s, first->from, cubes, from);
    name_node(s, second->to, cubes, to);
    snprintf(name, SERIES_NAME_BYTES, "%s > %s", from, to);
    return true;
}
