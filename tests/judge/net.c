/* net.c -- nets of cubes: which ports they have, and the ways of least weight; docs/machine.md. */
#include "kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A link of a net, before ports have numbers. */
struct link {
    uint32_t cube[2];
    uint32_t item, place[2]; /* its port's place among those of the item */
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
    size_t *first;            /* [cube], and one more */
    uint32_t *io, n_io;       /* cubes */
    struct far **far;         /* [sip][cube], once asked for: how far each cube is from it */
    size_t n_far;
};

/* -- items of sip.net ----------------------------------------------------------------------- */

static const char *item_text(const struct judge_topo *t, uint32_t item, const char *of)
{
    return judge_item(t, "sip.net", item, of);
}

static uint32_t item_count(const struct judge_topo *t, uint32_t item, const char *of,
                           uint32_t otherwise)
{
    const char *text = item_text(t, item, of);

    return text ? (uint32_t)strtoul(text, NULL, 10) : otherwise;
}

/* The cubes of "c3", "c*", "c[0-3,8]", in that order; give `*out` back with free(). */
static uint32_t cubes_of(const struct judge_topo *t, const char *text, uint32_t **out)
{
    uint32_t n = 0, *cubes = judge_alloc((size_t)t->cubes + 1, sizeof *cubes);
    char *at;

    if (text[0] != 'c')
        judge_die("no cubes: %s", text);
    if (text[1] == '*')
        for (uint32_t i = 0; i < t->cubes; i++)
            cubes[n++] = i;
    for (at = (char *)text + 1 + (text[1] == '['); text[1] != '*';) {
        uint32_t low = (uint32_t)strtoul(at, &at, 10), high = low;

        if (*at == '-')
            high = (uint32_t)strtoul(at + 1, &at, 10);
        for (; low <= high && n < t->cubes; low++)
            cubes[n++] = low;
        if (*at++ != ',')
            break;
    }
    *out = cubes;
    return n;
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
    uint32_t k[16], n_dims = 0, *cubes, n;
    const char *of = item_text(t, item, ".of"), *wrap = item_text(t, item, ".wrap");
    bool torus = strcmp(shape, "torus") == 0;
    char key[32];

    for (;; n_dims++) {
        snprintf(key, sizeof key, ".%s.%u", shape, n_dims);
        if (!item_text(t, item, key))
            break;
        k[n_dims] = item_count(t, item, key, 0);
    }
    n = cubes_of(t, of ? of : "c*", &cubes);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t x[16], rest = i;

        for (uint32_t d = 0; d < n_dims; d++) {
            x[d] = rest % k[d];
            rest /= k[d];
        }
        for (uint32_t d = 0, step = 1; d < n_dims; step *= k[d++]) {
            const char *own = item_text(t, item, ".link");
            struct link link = {.item = item, .place = {2 * d, 2 * d + 1}};
            bool closing = x[d] + 1 == k[d];

            if (closing && (!torus || k[d] == 1))
                continue;
            snprintf(key, sizeof key, ".link.%u", d);
            if (item_text(t, item, key))
                own = item_text(t, item, key);
            snprintf(link.kind, sizeof link.kind, "%s", closing && wrap ? wrap : own ? own : "d2d");
            link.cube[0] = cubes[i];
            link.cube[1] = cubes[closing ? i - (k[d] - 1) * step : i + step];
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
static void add_next(const struct judge_topo *t, struct judge_net *net, uint32_t item, uint32_t a,
                     uint32_t b, const char sides[2], bool one_way)
{
    const char *kind = item_text(t, item, ".link");
    struct link link = {.cube = {a, b}, .item = item, .one_way = one_way};

    link.place[0] = link.place[1] = (uint32_t)net->n;
    link.side[0] = sides[0];
    link.side[1] = sides[1];
    snprintf(link.kind, sizeof link.kind, "%s", kind ? kind : "d2d");
    add(net, &link);
}

static void add_sets(const struct judge_topo *t, struct judge_net *net, uint32_t item,
                     const char *shape)
{
    uint32_t groups = item_count(t, item, ".groups", 1), n, m, *a, *b;
    const char none[2] = {0, 0};

    if (strcmp(shape, "each") != 0) {
        bool all = strcmp(shape, "all") == 0;

        n = cubes_of(t, item_text(t, item, all ? ".all" : ".dragonfly"), &a);
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
    n = cubes_of(t, item_text(t, item, ".each.0"), &a);
    m = cubes_of(t, item_text(t, item, ".each.1"), &b);
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
    uint32_t *cubes[2], n[2];
    const char *sign = text;

    for (int depth = 0; depth || (*sign != '-' && *sign != '>'); sign++)
        depth += (*sign == '[') - (*sign == ']');
    snprintf(ends[0], sizeof ends[0], "%.*s", (int)(sign - text), text);
    snprintf(ends[1], sizeof ends[1], "%s", sign + 1);
    for (int i = 0; i < 2; i++) {
        char *dot = strchr(ends[i], '.');

        if (dot)
            sides[i] = dot[1];
        if (dot)
            *dot = 0;
        n[i] = cubes_of(t, ends[i], &cubes[i]);
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

static int by_place(const void *a, const void *b)
{
    const struct judge_port *x = a, *y = b;

    if (x->cube != y->cube)
        return x->cube < y->cube ? -1 : 1;
    if (x->item != y->item)
        return x->item < y->item ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static struct judge_port port_of(const struct judge_topo *t, const struct link *link, size_t i,
                                 int end)
{
    bool d2d = strcmp(link->kind, "d2d") == 0;
    const char *overhead = judge_below(t, "links", link->kind, "overhead_ns");
    struct judge_port p = {.cube = link->cube[end],
                           .item = link->item,
                           .place = link->place[end],
                           .side = link->side[end],
                           .link = i,
                           .second = end == 1,
                           .other = link->cube[!end],
                           .ring = link->ring,
                           .closing = link->closing,
                           .leads = end == 0 || !link->one_way,
                           .overhead_ns = -1,
                           .lanes = 1};

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
    size_t at = 0;

    net->ports = judge_alloc(2 * net->n + 1, sizeof *net->ports);
    net->first = judge_alloc((size_t)t->cubes + 1, sizeof *net->first);
    for (size_t i = 0; i < net->n; i++)
        for (int end = 0; end < 2; end++)
            net->ports[2 * i + (size_t)end] = port_of(t, &net->links[i], i, end);
    qsort(net->ports, 2 * net->n, sizeof *net->ports, by_place);
    for (uint32_t c = 0; c <= t->cubes; c++) {
        net->first[c] = at;
        while (at < 2 * net->n && net->ports[at].cube == c)
            at++;
    }
    for (size_t i = 0; i < 2 * net->n; i++)
        for (size_t k = 0; k < 2 * net->n; k++)
            if (net->ports[k].link == net->ports[i].link &&
                net->ports[k].second != net->ports[i].second)
                net->ports[i].other_port = (uint32_t)(k - net->first[net->ports[k].cube]);
}

void judge_find_net(struct judge_topo *t)
{
    struct judge_net *net;
    const char *text;

    if (!is_item(t, 0))
        return;
    net = t->net = judge_alloc(1, sizeof *net);
    net->n_far = (size_t)t->sips * t->cubes;
    net->far = judge_alloc(net->n_far, sizeof *net->far);
    for (uint32_t item = 0; is_item(t, item); item++)
        add_item(t, net, item);
    find_ports(t, net);
    net->io = judge_alloc((size_t)t->cubes + 1, sizeof *net->io);
    for (uint32_t i = 0; (text = judge_item(t, "sip.io_cubes", i, "")); i++) {
        uint32_t *cubes, n = cubes_of(t, text, &cubes);

        for (uint32_t k = 0; k < n; k++)
            net->io[net->n_io++] = cubes[k];
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
    for (size_t i = 0; i < net->n_far; i++)
        free(net->far[i]);
    free(net->far);
    free(net);
}

const struct judge_port *judge_port(const struct judge_topo *t, uint32_t cube, uint32_t port)
{
    size_t at = t->net->first[cube] + port;

    return at < t->net->first[cube + 1] ? &t->net->ports[at] : NULL;
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
    const struct judge_port *p = judge_port(t, cube, port);

    return p && p->leads && judge_has_cube(t, sip, cube) && judge_has_cube(t, sip, p->other) &&
           !judge_link_is_cut(t, sip, cube, p->other);
}

/* A step exists if none of its three edges is broken. */
static bool has_step(const struct judge_topo *t, uint32_t sip, uint32_t cube, uint32_t port)
{
    const struct judge_port *p = judge_port(t, cube, port);

    return judge_port_leads(t, sip, cube, port) &&
           !judge_net_port_is_cut(t, sip, cube, port, true) &&
           !judge_net_port_is_cut(t, sip, p->other, p->other_port, false);
}

/* "A net is one-way if a link between cubes that are there lacks a direction." */
bool judge_net_is_one_way(const struct judge_topo *t)
{
    for (uint32_t s = 0; s < t->sips; s++)
        for (uint32_t c = 0; c < t->cubes; c++)
            for (uint32_t p = 0; judge_port(t, c, p); p++)
                if (judge_port_leads(t, s, c, p) &&
                    !judge_port_leads(t, s, judge_port(t, c, p)->other,
                                      judge_port(t, c, p)->other_port))
                    return true;
    return false;
}

static int64_t overhead_of(const struct judge_topo *t, uint32_t sip, uint32_t cube, uint32_t port)
{
    double ns = judge_port(t, cube, port)->overhead_ns;

    return judge_ns(ns < 0 ? judge_cube_number(t, sip, cube, "cube.ucie.overhead_ns") : ns);
}

/* Both ports, the wire between them, the NoC of the next cube. */
static int64_t weight_of(const struct judge_topo *t, uint32_t sip, uint32_t cube, uint32_t port)
{
    const struct judge_port *p = judge_port(t, cube, port);

    return overhead_of(t, sip, cube, port) + judge_wire_fs(t, p->distance_mm) +
           judge_ns(p->latency_ns) + overhead_of(t, sip, p->other, p->other_port) +
           judge_ns(judge_cube_number(t, sip, p->other, "cube.noc.overhead_ns"));
}

static bool passes(const struct judge_topo *t, uint32_t sip, uint32_t cube)
{
    return strcmp(judge_cube_text(t, sip, cube, "cube.transit"), "none") != 0;
}

static bool is_less(const struct far *a, const struct far *b)
{
    return a->weight < b->weight || (a->weight == b->weight && a->links < b->links);
}

/* How far `cube` is over one of its ports; the next cube is as far as is known. */
static struct far over(const struct judge_topo *t, uint32_t sip, uint32_t cube, uint32_t port,
                       uint32_t to, const struct far *far)
{
    const struct judge_port *p = judge_port(t, cube, port);
    struct far sum = {INT64_MAX, 0};

    if (!has_step(t, sip, cube, port) || far[p->other].weight == INT64_MAX ||
        (p->other != to && !passes(t, sip, p->other)))
        return sum;
    sum.weight = far[p->other].weight + weight_of(t, sip, cube, port);
    sum.links = far[p->other].links + 1;
    return sum;
}

/* Distances of all cubes to `to`, better and better until none changes. */
static struct far *find_distances(const struct judge_topo *t, uint32_t sip, uint32_t to)
{
    struct far *far = judge_alloc(t->cubes, sizeof *far);
    bool changed = true;

    for (uint32_t c = 0; c < t->cubes; c++)
        far[c].weight = INT64_MAX;
    far[to].weight = 0;
    while (changed) {
        changed = false;
        for (uint32_t c = 0; c < t->cubes; c++)
            for (uint32_t p = 0; c != to && judge_port(t, c, p); p++) {
                struct far better = over(t, sip, c, p, to, far);

                if (is_less(&better, &far[c])) {
                    far[c] = better;
                    changed = true;
                }
            }
    }
    return far;
}

static const struct far *distances(const struct judge_topo *t, uint32_t sip, uint32_t to)
{
    struct far **far = &t->net->far[(size_t)sip * t->cubes + to];

    if (!*far)
        *far = find_distances(t, sip, to);
    return *far;
}

/* The search for one of the ways of a pair. */
struct search {
    const struct judge_topo *t;
    const struct far *far;
    const struct judge_port **way;
    uint32_t sip, to, n;
    uint32_t before; /* ways that come before the one that is wanted */
};

/* From `from`, to which `n` links lead, port by port. True: that was the way. */
static bool go_on(struct search *s, uint32_t from, uint32_t n)
{
    s->n = n;
    if (from == s->to)
        return s->before-- == 0;
    for (uint32_t port = 0; judge_port(s->t, from, port); port++) {
        struct far sum = over(s->t, s->sip, from, port, s->to, s->far);

        if (sum.weight != s->far[from].weight || sum.links != s->far[from].links)
            continue;
        s->way[n] = judge_port(s->t, from, port);
        if (go_on(s, s->way[n]->other, n + 1))
            return true;
    }
    return false;
}

uint32_t judge_net_way(const struct judge_topo *t, uint32_t sip, uint32_t from, uint32_t to,
                       uint32_t way, const struct judge_port ***out, int64_t *weight)
{
    const struct far *far = distances(t, sip, to);
    struct search s = {t, far, NULL, sip, to, 0, way};
    bool found;

    *out = s.way = judge_alloc((size_t)t->cubes + 1, sizeof **out);
    *weight = far[from].weight;
    found = *weight != INT64_MAX && go_on(&s, from, 0);
    return found ? s.n : UINT32_MAX;
}

/* Of way `way` the lanes of its narrowest link. 0: there is no such way. */
static uint32_t lanes_of(const struct judge_topo *t, uint32_t sip, uint32_t from, uint32_t to,
                         uint32_t way)
{
    const struct judge_port **ports;
    int64_t weight;
    uint32_t n = judge_net_way(t, sip, from, to, way, &ports, &weight), least = UINT32_MAX;

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
    return t->net ? judge_count(t, "sip.paths") : 1;
}

uint32_t judge_course_of(const struct judge_topo *t, enum judge_op op, const struct judge_end *src,
                         const struct judge_end *memory, uint64_t id, uint64_t part)
{
    bool back = op == JUDGE_READ && t->plane[0].one_way;
    uint32_t from = back ? memory->cube : src->cube, to = back ? src->cube : memory->cube;
    uint32_t lanes[64], n = 0, most = judge_net_ways(t);
    uint64_t all = 0, lane;

    if (!t->net)
        return judge_plane_of(t, op, id + (part < UINT64_C(1) << 20 ? part : mix(part)));
    if (most == 1 || src->kind != JUDGE_PE || src->sip != memory->sip || from == to)
        return 0;
    while (n < most && (lanes[n] = lanes_of(t, src->sip, from, to, n)) > 0)
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

    judge_net_way(t, sip, from, to, 0, &way, &weight);
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
