/*
 * net.c -- nets of cubes: which ports they have, and the ways of least weight; docs/machine.md.
 *
 * A cube's place is its number over all SIPs; switches between SIPs have places behind them.
 */
#include "kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A link of a net, before ports have numbers. */
struct link {
    size_t place[2];         /* of its cubes */
    uint32_t item, order[2]; /* its port's order among those of the item */
    char side[2];            /* 0: none */
    char kind[JUDGE_NAME_BYTES];
    bool one_way, closing;
    uint32_t ring;
};

/* How far a cube is. */
struct far {
    int64_t weight; /* INT64_MAX: no way */
    uint32_t links;
};

struct judge_net {
    struct link *links;
    size_t n;
    struct judge_port *ports; /* in order of cube and number */
    size_t *first;            /* [place], and one more */
    uint32_t *io, n_io;       /* cubes */
    struct far **far;         /* [0, 1 with rails][place], once asked for: of all from there, and
                                 behind those of routes that have come down before */
    uint32_t *rank;           /* [place]: of its tree, once asked for; UINT32_MAX: not in it */
    size_t n_places;
    uint32_t n_items, sip; /* of sip.net; the SIP whose links are made */
};

size_t judge_place_of(const struct judge_topo *t, uint32_t sip, uint32_t cube)
{
    return (size_t)sip * t->cubes + cube;
}

static uint32_t sip_of(const struct judge_topo *t, size_t place)
{
    return place < (size_t)t->sips * t->cubes ? (uint32_t)(place / t->cubes) : t->sips;
}

static uint32_t cube_of(const struct judge_topo *t, size_t place)
{
    return (uint32_t)(place - (size_t)sip_of(t, place) * t->cubes);
}

/* -- items of sip.net, and behind them those of fabric.net ------------------------------------ */

static const char *item_text(const struct judge_topo *t, uint32_t item, const char *of)
{
    uint32_t n = t->net ? t->net->n_items : UINT32_MAX;

    return item < n ? judge_item(t, "sip.net", item, of)
                    : judge_item(t, "fabric.net", item - n, of);
}

static bool is_of_rails(const struct judge_topo *t, uint32_t item)
{
    return item >= t->net->n_items;
}

static uint32_t item_count(const struct judge_topo *t, uint32_t item, const char *of,
                           uint32_t otherwise)
{
    const char *text = item_text(t, item, of);

    return text ? (uint32_t)strtoul(text, NULL, 10) : otherwise;
}

/* The numbers below `n` of "3", "*", "[0,2-4]" at *at, in that order, behind `count` others. */
static uint32_t numbers_of(char **at, uint32_t n, uint32_t *out, uint32_t count)
{
    bool more = **at == '[';

    if (**at == '*') {
        for (uint32_t i = 0; i < n; i++)
            out[count++] = i;
        ++*at;
        return count;
    }
    do {
        uint32_t low = (uint32_t)strtoul(*at + (**at == '[' || **at == ','), at, 10), high = low;

        if (more && **at == '-')
            high = (uint32_t)strtoul(*at + 1, at, 10);
        for (; low <= high && low < n; low++)
            out[count++] = low;
    } while (more && **at == ',');
    *at += more;
    return count;
}

/* The places of "c3", "c*", "c[0-3,8]", in that order; of rails "s*.c2", "sw3", too. Give `*out`
 * back with free(). */
static uint32_t cubes_of(const struct judge_topo *t, uint32_t item, const char *text, size_t **out)
{
    size_t most = (size_t)t->sips * t->cubes + t->switches, first = 0;
    uint32_t *sips = judge_alloc(t->sips + 1, sizeof *sips);
    uint32_t *cubes = judge_alloc(most + 1, sizeof *cubes), n_sips = 1, n, found = 0;
    size_t *places = judge_alloc(most + 1, sizeof *places);
    char *at = (char *)text;

    sips[0] = is_of_rails(t, item) ? 0 : t->net->sip;
    if (strncmp(at, "sw", 2) == 0) {
        first = (size_t)t->sips * t->cubes;
        sips[0] = 0;
        at++;
    } else if (*at == 's') {
        at++;
        n_sips = numbers_of(&at, t->sips, sips, 0);
        at++;
    }
    at++;
    n = numbers_of(&at, first ? t->switches : t->cubes, cubes, 0);
    for (uint32_t s = 0; s < n_sips; s++)
        for (uint32_t i = 0; i < n; i++)
            places[found++] = first + judge_place_of(t, sips[s], cubes[i]);
    free(sips);
    free(cubes);
    *out = places;
    return found;
}

static void add(struct judge_net *net, const struct link *link)
{
    net->links = judge_grow(net->links, net->n + 1, sizeof *net->links);
    net->links[net->n++] = *link;
}

/* The links of a mesh or torus: of each cube in each dimension the one up. */
static void add_grid(const struct judge_topo *t, struct judge_net *net, uint32_t item,
                     const char *shape)
{
    uint32_t k[16], n_dims = 0, n;
    size_t *cubes;
    const char *of = item_text(t, item, ".of"), *wrap = item_text(t, item, ".wrap");
    bool torus = strcmp(shape, "torus") == 0;
    char key[32];

    for (;; n_dims++) {
        snprintf(key, sizeof key, ".%s.%u", shape, n_dims);
        if (!item_text(t, item, key))
            break;
        k[n_dims] = item_count(t, item, key, 0);
    }
    n = cubes_of(t, item, of ? of : "c*", &cubes);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t x[16], rest = i;

        for (uint32_t d = 0; d < n_dims; d++) {
            x[d] = rest % k[d];
            rest /= k[d];
        }
        for (uint32_t d = 0, step = 1; d < n_dims; step *= k[d++]) {
            const char *own = item_text(t, item, ".link");
            struct link link = {.item = item, .order = {2 * d, 2 * d + 1}};
            bool closing = x[d] + 1 == k[d];

            if (closing && (!torus || k[d] == 1))
                continue;
            snprintf(key, sizeof key, ".link.%u", d);
            if (item_text(t, item, key))
                own = item_text(t, item, key);
            snprintf(link.kind, sizeof link.kind, "%s", closing && wrap ? wrap : own ? own : "d2d");
            link.place[0] = cubes[i];
            link.place[1] = cubes[closing ? i - (k[d] - 1) * step : i + step];
            link.closing = closing;
            link.ring = torus ? item * 16 + d + 1 : 0;
            link.side[0] = d == 0 ? 'E' : d == 1 ? 'S' : 0;
            link.side[1] = d == 0 ? 'W' : d == 1 ? 'N' : 0;
            add(net, &link);
        }
    }
    free(cubes);
}

/* A link of an item whose ports are in the order of its links. */
static void add_next(const struct judge_topo *t, struct judge_net *net, uint32_t item, size_t a,
                     size_t b, const char sides[2], bool one_way)
{
    const char *kind = item_text(t, item, ".link");
    struct link link = {.place = {a, b}, .item = item, .one_way = one_way};

    link.order[0] = link.order[1] = (uint32_t)net->n;
    link.side[0] = sides[0];
    link.side[1] = sides[1];
    snprintf(link.kind, sizeof link.kind, "%s", kind ? kind : "d2d");
    add(net, &link);
}

static void add_sets(const struct judge_topo *t, struct judge_net *net, uint32_t item,
                     const char *shape)
{
    uint32_t groups = item_count(t, item, ".groups", 1), n, m;
    size_t *a, *b;
    const char none[2] = {0, 0};

    if (strcmp(shape, "each") != 0) {
        bool all = strcmp(shape, "all") == 0;

        n = cubes_of(t, item, item_text(t, item, all ? ".all" : ".dragonfly"), &a);
        for (uint32_t g = 0; all && g < groups; g++)
            for (uint32_t i = g * (n / groups); i < (g + 1) * (n / groups); i++)
                for (uint32_t j = i + 1; j < (g + 1) * (n / groups); j++)
                    add_next(t, net, item, a[i], a[j], none, false);
        for (uint32_t i = 0; !all && i < groups; i++)
            for (uint32_t j = i + 1; j < groups; j++) {
                uint32_t size = n / groups, h = (groups - 1) / size + ((groups - 1) % size > 0);

                add_next(t, net, item, a[i * size + (j - 1) / h], a[j * size + i / h], none, false);
            }
        free(a);
        return;
    }
    n = cubes_of(t, item, item_text(t, item, ".each.0"), &a);
    m = cubes_of(t, item, item_text(t, item, ".each.1"), &b);
    for (uint32_t g = 0; g < groups; g++)
        for (uint32_t i = 0; i < n / groups; i++)
            for (uint32_t j = 0; j < m / groups; j++)
                add_next(t, net, item, a[g * (n / groups) + i], b[g * (m / groups) + j], none,
                         false);
    free(a);
    free(b);
}

/* "c0-c1", "c0>c1", "c0.E-c1.W", with sets of cubes */
static void add_listed(const struct judge_topo *t, struct judge_net *net, uint32_t item,
                       const char *text)
{
    char ends[2][JUDGE_NAME_BYTES], sides[2] = {0, 0};
    size_t *cubes[2];
    uint32_t n[2];
    const char *sign = text;

    for (int depth = 0; depth || (*sign != '-' && *sign != '>'); sign++)
        depth += (*sign == '[') - (*sign == ']');
    snprintf(ends[0], sizeof ends[0], "%.*s", (int)(sign - text), text);
    snprintf(ends[1], sizeof ends[1], "%s", sign + 1);
    for (int i = 0; i < 2; i++) {
        char *dot = strrchr(ends[i], '.');

        if (dot && strchr("NESW", dot[1])) {
            sides[i] = dot[1];
            *dot = 0;
        }
        n[i] = cubes_of(t, item, ends[i], &cubes[i]);
    }
    for (uint32_t i = 0; i < n[0]; i++)
        for (uint32_t j = 0; j < n[1]; j++)
            add_next(t, net, item, cubes[0][i], cubes[1][j], sides, *sign == '>');
    free(cubes[0]);
    free(cubes[1]);
}

static void add_item(const struct judge_topo *t, struct judge_net *net, uint32_t item)
{
    const char *text;

    if (item_text(t, item, ".mesh.0"))
        add_grid(t, net, item, "mesh");
    if (item_text(t, item, ".torus.0"))
        add_grid(t, net, item, "torus");
    if (item_text(t, item, ".all"))
        add_sets(t, net, item, "all");
    if (item_text(t, item, ".each.0"))
        add_sets(t, net, item, "each");
    if (item_text(t, item, ".dragonfly"))
        add_sets(t, net, item, "dragonfly");
    for (uint32_t i = 0;; i++) {
        char key[32];

        snprintf(key, sizeof key, ".list.%u", i);
        if (!(text = item_text(t, item, key)))
            break;
        add_listed(t, net, item, text);
    }
}

static bool is_item(const struct judge_topo *t, uint32_t item)
{
    static const char *const of[] = {".mesh.0", ".torus.0",   ".all",
                                     ".each.0", ".dragonfly", ".list.0"};

    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++)
        if (item_text(t, item, of[i]))
            return true;
    return false;
}

/* -- ports ---------------------------------------------------------------------------------- */

static double link_number(const struct judge_topo *t, const char *kind, const char *of,
                          double otherwise)
{
    const char *text = judge_below(t, "links", kind, of);

    return text ? strtod(text, NULL) : otherwise;
}

/* Do hop classes count links of that kind? */
static bool is_counted(const struct judge_topo *t, const char *kind)
{
    struct judge_list kinds = judge_texts(t, "contention.hop_links");
    bool found = kinds.n == 0;

    for (size_t i = 0; i < kinds.n; i++)
        found |= strcmp(kinds.items[i], kind) == 0;
    free(kinds.items);
    return found;
}

static int by_place(const void *a, const void *b)
{
    const struct judge_port *x = a, *y = b;

    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    if (x->item != y->item)
        return x->item < y->item ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static struct judge_port port_of(const struct judge_topo *t, const struct link *link, size_t i,
                                 int end)
{
    bool d2d = strcmp(link->kind, "d2d") == 0;
    const char *overhead = judge_below(t, "links", link->kind, "overhead_ns");
    struct judge_port p = {.place = link->place[end],
                           .item = link->item,
                           .order = link->order[end],
                           .side = link->side[end],
                           .link = i,
                           .second = end == 1,
                           .other_sip = sip_of(t, link->place[!end]),
                           .other = cube_of(t, link->place[!end]),
                           .ring = link->ring,
                           .closing = link->closing,
                           .leads = end == 0 || !link->one_way,
                           .overhead_ns = -1,
                           .lanes = 1,
                           .counted = is_counted(t, link->kind)};

    if (d2d) {
        p.bw_gbs = judge_number(t, "sip.d2d.bw_gbs");
        p.distance_mm = judge_number(t, "sip.d2d.distance_mm");
        return p;
    }
    p.bw_gbs = link_number(t, link->kind, "bw_gbs", 0);
    p.distance_mm = link_number(t, link->kind, "distance_mm", 0);
    p.latency_ns = link_number(t, link->kind, "latency_ns", 0);
    p.lanes = (uint32_t)link_number(t, link->kind, "lanes", 1);
    if (overhead && strcmp(overhead, "ucie") != 0)
        p.overhead_ns = strtod(overhead, NULL);
    return p;
}

static void find_ports(const struct judge_topo *t, struct judge_net *net)
{
    size_t at = 0, (*of_link)[2] = judge_alloc(net->n + 1, sizeof *of_link);

    net->ports = judge_alloc(2 * net->n + 1, sizeof *net->ports);
    net->first = judge_alloc(net->n_places + 1, sizeof *net->first);
    for (size_t i = 0; i < net->n; i++)
        for (int end = 0; end < 2; end++)
            net->ports[2 * i + (size_t)end] = port_of(t, &net->links[i], i, end);
    qsort(net->ports, 2 * net->n, sizeof *net->ports, by_place);
    for (size_t place = 0; place <= net->n_places; place++) {
        net->first[place] = at;
        while (at < 2 * net->n && net->ports[at].place == place)
            at++;
    }
    for (size_t i = 0; i < 2 * net->n; i++)
        of_link[net->ports[i].link][net->ports[i].second] = i - net->first[net->ports[i].place];
    for (size_t i = 0; i < 2 * net->n; i++)
        net->ports[i].other_port = (uint32_t)of_link[net->ports[i].link][!net->ports[i].second];
    free(of_link);
}

bool judge_has_rails(const struct judge_topo *t)
{
    return strcmp(judge_text(t, "fabric.shape"), "net") == 0;
}

void judge_find_net(struct judge_topo *t)
{
    struct judge_net *net;
    const char *text;

    if (!is_item(t, 0) && !judge_has_rails(t))
        return;
    net = judge_alloc(1, sizeof *net);
    net->n_places = (size_t)t->sips * t->cubes + t->switches;
    net->far = judge_alloc(2 * net->n_places, sizeof *net->far);
    while (is_item(t, net->n_items))
        net->n_items++;
    t->net = net;
    for (; net->sip < t->sips; net->sip++)
        for (uint32_t item = 0; item < net->n_items; item++)
            add_item(t, net, item);
    for (uint32_t item = net->n_items; judge_has_rails(t) && is_item(t, item); item++)
        add_item(t, net, item);
    find_ports(t, net);
    net->sip = 0;
    net->io = judge_alloc((size_t)t->cubes + 1, sizeof *net->io);
    for (uint32_t i = 0; (text = judge_item(t, "sip.io_cubes", i, "")); i++) {
        size_t *cubes;
        uint32_t n = cubes_of(t, 0, text, &cubes);

        for (uint32_t k = 0; k < n; k++)
            net->io[net->n_io++] = (uint32_t)cubes[k];
        free(cubes);
    }
    if (net->n_io == 0)
        net->io[net->n_io++] = 0;
}

void judge_net_free(struct judge_net *net)
{
    if (!net)
        return;
    free(net->links);
    free(net->ports);
    free(net->first);
    free(net->io);
    for (size_t i = 0; i < 2 * net->n_places; i++)
        free(net->far[i]);
    free(net->far);
    free(net->rank);
    free(net);
}

void judge_forget_ways(struct judge_topo *t)
{
    for (size_t i = 0; i < 2 * t->net->n_places; i++) {
        free(t->net->far[i]);
        t->net->far[i] = NULL;
    }
}

/* Port `port` of the cube at a place. */
static const struct judge_port *port_at(const struct judge_topo *t, size_t place, uint32_t port)
{
    size_t at = t->net->first[place] + port;

    return at < t->net->first[place + 1] ? &t->net->ports[at] : NULL;
}

const struct judge_port *judge_port(const struct judge_topo *t, uint32_t sip, uint32_t cube,
                                    uint32_t port)
{
    return port_at(t, judge_place_of(t, sip, cube), port);
}

static size_t place_behind(const struct judge_topo *t, const struct judge_port *p)
{
    return judge_place_of(t, p->other_sip, p->other);
}

bool judge_is_io_cube(const struct judge_topo *t, uint32_t cube)
{
    for (uint32_t i = 0; i < t->net->n_io; i++)
        if (t->net->io[i] == cube)
            return true;
    return false;
}

/* -- steps ---------------------------------------------------------------------------------- */

bool judge_port_leads(const struct judge_topo *t, uint32_t sip, uint32_t cube, uint32_t port)
{
    const struct judge_port *p = judge_port(t, sip, cube, port);

    return p && p->leads && judge_has_cube(t, sip, cube) &&
           judge_has_cube(t, p->other_sip, p->other) &&
           !judge_link_is_cut(t, sip, cube, p->other_sip, p->other);
}

/* A step exists if none of its three edges is broken. */
static bool has_step(const struct judge_topo *t, size_t place, uint32_t port)
{
    const struct judge_port *p = port_at(t, place, port);

    return judge_port_leads(t, sip_of(t, place), cube_of(t, place), port) &&
           !judge_net_port_is_cut(t, sip_of(t, place), cube_of(t, place), port, true) &&
           !judge_net_port_is_cut(t, p->other_sip, p->other, p->other_port, false);
}

/* "A net is one-way if a link between cubes that are there lacks a direction": the links of a SIP,
 * or all. */
bool judge_net_is_one_way(const struct judge_topo *t, bool rails)
{
    for (size_t place = 0; place < t->net->n_places; place++)
        for (uint32_t i = 0; port_at(t, place, i); i++) {
            const struct judge_port *p = port_at(t, place, i);

            if ((rails || p->other_sip == sip_of(t, place)) &&
                judge_port_leads(t, sip_of(t, place), cube_of(t, place), i) &&
                !judge_port_leads(t, p->other_sip, p->other, p->other_port))
                return true;
        }
    return false;
}

static int64_t overhead_of(const struct judge_topo *t, size_t place, uint32_t port)
{
    double ns = port_at(t, place, port)->overhead_ns;

    return judge_ns(
        ns < 0 ? judge_cube_number(t, sip_of(t, place), cube_of(t, place), "cube.ucie.overhead_ns")
               : ns);
}

/* Both ports, the wire between them, the NoC of the next cube. */
static int64_t weight_of(const struct judge_topo *t, size_t place, uint32_t port)
{
    const struct judge_port *p = port_at(t, place, port);

    return overhead_of(t, place, port) + judge_wire_fs(t, p->distance_mm) +
           judge_ns(p->latency_ns) + overhead_of(t, place_behind(t, p), p->other_port) +
           judge_ns(judge_cube_number(t, p->other_sip, p->other, "cube.noc.overhead_ns"));
}

static bool passes(const struct judge_topo *t, size_t place)
{
    return strcmp(judge_cube_text(t, sip_of(t, place), cube_of(t, place), "cube.transit"),
                  "none") != 0;
}

static bool is_less(const struct far *a, const struct far *b)
{
    return a->weight < b->weight || (a->weight == b->weight && a->links < b->links);
}

/* -- up*, then down* ------------------------------------------------------------------------ */

static bool is_there(const struct judge_topo *t, size_t place)
{
    return judge_has_cube(t, sip_of(t, place), cube_of(t, place));
}

/* Of places [first, end) the lowest switch, or else the lowest cube; `end`: there is none. */
static size_t root_of(const struct judge_topo *t, size_t first, size_t end)
{
    size_t lowest = end;

    for (size_t place = first; place < end; place++) {
        if (is_there(t, place) && (sip_of(t, place) == t->sips ||
                                   judge_is_switch(t, sip_of(t, place), cube_of(t, place))))
            return place;
        if (is_there(t, place) && lowest == end)
            lowest = place;
    }
    return lowest;
}

/* A search by rank among places [first, end). */
static void rank_places(const struct judge_topo *t, size_t first, size_t end)
{
    size_t root = root_of(t, first, end), *found = judge_alloc(end - first + 1, sizeof *found);
    uint32_t *rank = t->net->rank, n = 0;

    if (root < end) {
        rank[root] = n;
        found[n++] = root;
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t port = 0; port_at(t, found[i], port); port++) {
            size_t next = place_behind(t, port_at(t, found[i], port));

            if (next < first || next >= end || rank[next] != UINT32_MAX ||
                !has_step(t, found[i], port))
                continue;
            rank[next] = n;
            found[n++] = next;
        }
    free(found);
}

static const uint32_t *ranks(const struct judge_topo *t)
{
    struct judge_net *net = t->net;

    if (net->rank)
        return net->rank;
    net->rank = judge_alloc(net->n_places, sizeof *net->rank);
    for (size_t place = 0; place < net->n_places; place++)
        net->rank[place] = UINT32_MAX;
    if (judge_has_rails(t))
        rank_places(t, 0, net->n_places);
    for (uint32_t sip = 0; !judge_has_rails(t) && sip < t->sips; sip++)
        rank_places(t, judge_place_of(t, sip, 0), judge_place_of(t, sip + 1, 0));
    return net->rank;
}

/* May a route that has come down before, or not, go from one place to the next? Then *down becomes
 * whether it has come down behind that step. */
static bool is_legal(const struct judge_topo *t, size_t from, size_t to, bool *down)
{
    const uint32_t *rank;
    bool up;

    if (!t->up_down)
        return true;
    rank = ranks(t);
    if (rank[from] == UINT32_MAX || rank[to] == UINT32_MAX)
        return false;
    up = rank[to] < rank[from];
    if (up && *down)
        return false;
    *down = !up;
    return true;
}

/* ------------------------------------------------------------------------------------------- */

/* The pairs that are looked at: of one SIP by its own links, of two by all. */
static bool is_by_rail(const struct judge_topo *t, size_t from, size_t to)
{
    return judge_has_rails(t) && sip_of(t, from) != sip_of(t, to);
}

/* How far a cube is over one of its ports, for a route that has come `down` before or not; the next
 * cube is as far as is known. */
static struct far over(const struct judge_topo *t, size_t place, bool down, uint32_t port,
                       size_t to, const struct far *far, bool rails)
{
    const struct judge_port *p = port_at(t, place, port);
    size_t next = place_behind(t, p);
    struct far sum = {INT64_MAX, 0};

    if ((!rails && p->other_sip != sip_of(t, to)) || !has_step(t, place, port) ||
        (next != to && !passes(t, next)) || !is_legal(t, place, next, &down))
        return sum;
    far += down * t->net->n_places;
    if (far[next].weight == INT64_MAX)
        return sum;
    sum.weight = far[next].weight + weight_of(t, place, port);
    sum.links = far[next].links + 1;
    return sum;
}

/* Distances of all cubes to `to`, better and better until none changes. */
static struct far *find_distances(const struct judge_topo *t, size_t to, bool rails)
{
    size_t n = t->net->n_places, states = t->up_down ? 2 * n : n;
    struct far *far = judge_alloc(states, sizeof *far);
    bool changed = true;

    for (size_t i = 0; i < states; i++)
        far[i].weight = i % n == to ? 0 : INT64_MAX;
    while (changed) {
        changed = false;
        for (size_t i = 0; i < states; i++)
            for (uint32_t p = 0; i % n != to && port_at(t, i % n, p); p++) {
                struct far better;

                if (!rails && sip_of(t, i % n) != sip_of(t, to))
                    break;
                better = over(t, i % n, i >= n, p, to, far, rails);
                if (is_less(&better, &far[i])) {
                    far[i] = better;
                    changed = true;
                }
            }
    }
    return far;
}

static const struct far *distances(const struct judge_topo *t, size_t to, bool rails)
{
    struct far **far = &t->net->far[(rails ? t->net->n_places : 0) + to];

    if (!*far)
        *far = find_distances(t, to, rails);
    return *far;
}

/* The search for one of the ways of a pair. */
struct search {
    const struct judge_topo *t;
    const struct far *far;
    const struct judge_port **way;
    size_t to;
    bool rails;
    uint32_t n;
    uint32_t before; /* ways that come before the one that is wanted */
};

/* From `from`, to which `n` links lead, port by port. True: that was the way. */
static bool go_on(struct search *s, size_t from, bool down, uint32_t n)
{
    const struct far *far = &s->far[from + down * s->t->net->n_places];

    s->n = n;
    if (from == s->to)
        return s->before-- == 0;
    for (uint32_t port = 0; port_at(s->t, from, port); port++) {
        struct far sum = over(s->t, from, down, port, s->to, s->far, s->rails);
        bool then = down;

        if (sum.weight != far->weight || sum.links != far->links)
            continue;
        s->way[n] = port_at(s->t, from, port);
        is_legal(s->t, from, place_behind(s->t, s->way[n]), &then);
        if (go_on(s, place_behind(s->t, s->way[n]), then, n + 1))
            return true;
    }
    return false;
}

uint32_t judge_net_way(const struct judge_topo *t, size_t from, size_t to, uint32_t way,
                       const struct judge_port ***out, int64_t *weight)
{
    bool rails = is_by_rail(t, from, to);
    const struct far *far = distances(t, to, rails);
    struct search s = {t, far, NULL, to, rails, 0, way};
    bool found;

    *out = s.way = judge_alloc(t->net->n_places + 1, sizeof **out);
    *weight = far[from].weight;
    found = *weight != INT64_MAX && go_on(&s, from, false, 0);
    return found ? s.n : UINT32_MAX;
}

/* Of way `way` the lanes of its narrowest link. 0: there is no such way. */
static uint32_t lanes_of(const struct judge_topo *t, size_t from, size_t to, uint32_t way)
{
    const struct judge_port **ports;
    int64_t weight;
    uint32_t n = judge_net_way(t, from, to, way, &ports, &weight), least = UINT32_MAX;

    for (uint32_t i = 0; n != UINT32_MAX && i < n; i++)
        least = ports[i]->lanes < least ? ports[i]->lanes : least;
    free(ports);
    return n == UINT32_MAX ? 0 : least;
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* "u = (SIP * cubes + cube) * 1024 + unit: slice, 256 = SRAM, 512 + PE for its TCM" */
static uint64_t number_of(const struct judge_topo *t, const struct judge_end *memory)
{
    uint64_t first = ((uint64_t)memory->sip * t->cubes + memory->cube) * 1024;

    return first + (memory->kind == JUDGE_SLICE  ? memory->unit
                    : memory->kind == JUDGE_SRAM ? 256
                                                 : 512 + memory->unit);
}

uint32_t judge_net_ways(const struct judge_topo *t)
{
    return t->net && !t->up_down ? judge_count(t, "sip.paths") : 1;
}

uint32_t judge_course_of(const struct judge_topo *t, enum judge_op op, const struct judge_end *src,
                         const struct judge_end *memory, uint64_t id, uint64_t part)
{
    bool far = src->sip != memory->sip;
    bool back = op == JUDGE_READ && (far ? t->rails_one_way : t->plane[0].one_way);
    size_t here = judge_place_of(t, src->sip, src->cube);
    size_t there = judge_place_of(t, memory->sip, memory->cube);
    size_t from = back ? there : here, to = back ? here : there;
    uint32_t lanes[64], n = 0, most = judge_net_ways(t);
    uint64_t all = 0, lane;

    if (!t->net)
        return judge_plane_of(t, op, id + (part < UINT64_C(1) << 20 ? part : mix(part)));
    if (most == 1 || src->kind != JUDGE_PE || from == to || (far && !judge_has_rails(t)))
        return 0;
    while (n < most && (lanes[n] = lanes_of(t, from, to, n)) > 0)
        all += lanes[n++];
    if (all == 0)
        return 0;
    lane = mix(mix(judge_global_pe(t, src) * (UINT64_C(1) << 32) + number_of(t, memory)) + id +
               (part < UINT64_C(1) << 20 ? part * (UINT64_C(1) << 48) : mix(part))) %
           all;
    for (n = 0; lane >= lanes[n]; n++)
        lane -= lanes[n];
    return n;
}

/* The weight of a way; INT64_MAX: there is none. */
static int64_t far_from(const struct judge_topo *t, uint32_t sip, uint32_t from, uint32_t to)
{
    const struct judge_port **way;
    int64_t weight;

    judge_net_way(t, judge_place_of(t, sip, from), judge_place_of(t, sip, to), 0, &way, &weight);
    free(way);
    return weight;
}

uint32_t judge_io_cube(const struct judge_topo *t, uint32_t sip, uint32_t cube, bool ashore)
{
    uint32_t best = UINT32_MAX;
    int64_t least = INT64_MAX;

    for (uint32_t c = 0; c < t->cubes; c++) {
        int64_t weight;

        if (!judge_is_io_cube(t, c) || !judge_has_cube(t, sip, c))
            continue;
        weight = ashore ? far_from(t, sip, c, cube) : far_from(t, sip, cube, c);
        if (weight < least) {
            best = c;
            least = weight;
        }
    }
    return best;
}

/* -- home slices ---------------------------------------------------------------------------- */

/* The weight of the way in a mesh, or in a net. */
static int64_t any_weight(const struct judge_topo *t, uint32_t sip, uint32_t from, uint32_t to)
{
    double d2d_mm = judge_number(t, "sip.d2d.distance_mm");
    double wrap_mm = judge_number(t, "sip.cube_mesh.wrap_mm");
    char *way = NULL;
    int64_t sum = 0;
    uint32_t n;

    if (t->net)
        return far_from(t, sip, from, to);
    n = judge_way(t, 0, sip, from, to, &way);
    if (n == UINT32_MAX)
        return INT64_MAX;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t next;
        bool wrapped;

        judge_beside(t, from, way[i], &next, &wrapped);
        sum += judge_ns(judge_cube_number(t, sip, from, "cube.ucie.overhead_ns")) +
               judge_wire_fs(t, wrapped && wrap_mm > 0 ? wrap_mm : d2d_mm) +
               judge_ns(judge_cube_number(t, sip, next, "cube.ucie.overhead_ns")) +
               judge_ns(judge_cube_number(t, sip, next, "cube.noc.overhead_ns"));
        from = next;
    }
    free(way);
    return sum;
}

uint32_t judge_home_cube(const struct judge_topo *t, uint32_t sip, uint32_t cube)
{
    uint32_t best = UINT32_MAX;
    int64_t least = INT64_MAX;

    if (judge_slices(t, sip, cube))
        return cube;
    for (uint32_t c = 0; c < t->cubes; c++) {
        int64_t weight;

        if (!judge_has_cube(t, sip, c) || !judge_slices(t, sip, c))
            continue;
        weight = any_weight(t, sip, cube, c);
        if (weight < least) {
            best = c;
            least = weight;
        }
    }
    return best;
}
