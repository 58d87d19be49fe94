/*
 * net.c -- the net of a machine: which ports its cubes have, and what links join them.
 *
 * An item of sip.net, or of fabric.net, gives links, in the order of their numbers:
 *
 *     mesh, torus   by the cube on whose + side the link is, in the order of `of`, then dimension
 *     all           pairs i < j, in the order of the set
 *     each          the first set outer
 *     dragonfly     pairs of groups i < j; group i from its cube (j - 1) / h, group j from i / h
 *     list          as written
 *
 * with `groups` group by group. The ports of a cube are numbered by item; in a mesh or torus by
 * dimension, + before -, in the others in the order of the links. So the ends of all links are put
 * into one list, which is sorted by cube, item and that order.
 *
 * Example: torus: [2] joins c0 and c1 twice: c0.port0 (+) to c1.port1 (-), c1.port0 to c0.port1.
 *
 * The items of fabric.net are *rails*, links between cubes of all SIPs and the switches between
 * them. Where there are some, the links of sip.net are made once more for each SIP, all cubes are
 * counted over the whole machine, and the items of fabric.net follow, so their ports come last.
 */
#include "net.h"
#include "check.h"
#include "pattern.h"
#include "base/text.h"
#include "machine/tables.h"
#include <stdlib.h>
#include <string.h>

enum { NET_CUBES_MAX = 16384, NET_TABLE_MAX = 8192 };

/* An end of a link: where it stands among the ports of its cube. */
struct net_end {
    uint32_t cube, item, order, link, side;
    uint32_t ring; /* of a torus: dimension + 1 */
    bool second, closes;
};

struct making {
    const struct spec *spec;
    struct net *net;
    struct net_end *ends;
    size_t n_ends, ends_cap;
    const struct link_spec **kinds; /* [link] */
    bool *one_way;                  /* [link] */
    uint32_t item;
    enum key key;             /* whose items are made: sip.net or fabric.net */
    struct pattern_room room; /* the cubes that they may name */
};

static bool wrong(const struct making *m, struct place at, const char *text)
{
    return diag_error(m->spec->diag, at, "'%s': %s", key_rows[m->key].path, text);
}

/* Cubes and switches that items may name. */
static uint32_t room_of(const struct making *m)
{
    return m->room.sips * m->room.cubes + m->room.switches;
}

const char *net_cube_text(const struct net *net, struct arena *arena, uint32_t cube)
{
    if (net_is_switch(net, cube))
        return arena_printf(arena, "sw%u", cube - net->n_sips * net->n_cubes);
    if (cube < net->n_cubes)
        return arena_printf(arena, "c%u", cube);
    return arena_printf(arena, "s%u.c%u", cube / net->n_cubes, cube % net->n_cubes);
}

static const char *cube_text(const struct making *m, uint32_t cube)
{
    return net_cube_text(m->net, m->spec->arena, cube);
}

/* -- kinds of links --------------------------------------------------------------------------- */

/* The kind with that name; NULL after a message. */
static const struct link_spec *kind_of(const struct making *m, const struct text_spec *name)
{
    const struct link_specs *links = &m->spec->links;
    const char *names[NET_LINKS_MAX + 1], *near;
    struct link_spec *d2d;

    for (size_t i = 0; name->text && i < links->n; i++)
        if (strcmp(links->rows[i].name, name->text) == 0)
            return &links->rows[i];
    if (name->text && strcmp(name->text, "d2d") != 0) {
        for (size_t i = 0; i < links->n; i++)
            names[i] = links->rows[i].name;
        names[links->n] = "d2d";
        near = text_nearest(name->text, strlen(name->text), names, links->n + 1);
        wrong(m, name->at,
              arena_printf(m->spec->arena,
                           near ? "there are no links '%s', did you mean '%s'?"
                                : "there are no links '%s'",
                           diag_text(m->spec->arena, name->text, strlen(name->text)), near));
        return NULL;
    }
    d2d = arena_alloc(m->spec->arena, sizeof *d2d);
    *d2d = (struct link_spec){.name = "d2d",
                              .bw_gbs = m->spec->sip_d2d_bw_gbs,
                              .distance_mm = m->spec->sip_d2d_distance_mm,
                              .overhead_ns = -1,
                              .lanes = 1};
    return d2d;
}

/* -- links -------------------------------------------------------------------------------------
 */

static struct net_end *new_end(struct making *m)
{
    if (m->n_ends == m->ends_cap) {
        size_t room = 2 * m->ends_cap + 64;
        struct net_end *ends = arena_alloc(m->spec->arena, room * sizeof *ends);
        const struct link_spec **kinds = arena_alloc(m->spec->arena, room * sizeof *kinds);
        bool *one_way = arena_alloc(m->spec->arena, room * sizeof *one_way);

        if (m->n_ends) {
            memcpy(ends, m->ends, m->n_ends * sizeof *ends);
            memcpy(kinds, m->kinds, m->n_ends / 2 * sizeof *kinds);
            memcpy(one_way, m->one_way, m->n_ends / 2 * sizeof *one_way);
        }
        m->ends = ends;
        m->kinds = kinds;
        m->one_way = one_way;
        m->ends_cap = room;
    }
    return &m->ends[m->n_ends++];
}

/* A link from `a`, whose place among the ports of its cube is `order_a`, to `b`. */
static void add_link(struct making *m, const struct link_spec *kind, struct net_end a,
                     struct net_end b, bool one_way)
{
    uint32_t link = m->net->n_links++;

    a.link = b.link = link;
    a.item = b.item = m->item;
    b.second = true;
    *new_end(m) = a;
    m->kinds[link] = kind;
    m->one_way[link] = one_way;
    *new_end(m) = b;
}

/* The same, with ports in the order of links. */
static void add_plain(struct making *m, const struct link_spec *kind, uint32_t a, uint32_t b)
{
    uint32_t order = m->net->n_links;

    add_link(m, kind, (struct net_end){.cube = a, .order = order, .side = N_SIDES},
             (struct net_end){.cube = b, .order = order, .side = N_SIDES}, false);
}

/* -- sets of cubes ---------------------------------------------------------------------------- */

struct set {
    uint32_t n, *cubes;
};

/* Is it a pattern of cubes that items of this key may name? */
static bool is_set(const struct making *m, const char *of, struct pattern *out)
{
    return pattern_of_text(of, strlen(of), m->spec->arena, out) && !out->of_pes &&
           (m->key == KEY_fabric_net || *of != 's');
}

/* The cubes of a pattern in its order; false after a message. */
static bool find_set(const struct making *m, const struct text_spec *text, struct place at,
                     struct set *out)
{
    const char *of = text->text ? text->text : "c*";
    struct arena *a = m->spec->arena;
    struct pattern p;
    bool *seen = arena_alloc(a, room_of(m) * sizeof *seen);

    if (!text->text && m->key == KEY_fabric_net)
        return wrong(m, at, "a mesh or torus needs 'of', the cubes that it joins");
    at = text->text ? text->at : at;
    if (!is_set(m, of, &p))
        return wrong(m, at,
                     arena_printf(a,
                                  m->key == KEY_fabric_net
                                      ? "'%s' is no cubes and no switches, as s*.c2 or sw[0-3]"
                                      : "'%s' is no cubes of a SIP, as c3, c[4-7] or c*",
                                  diag_text(a, of, strlen(of))));
    out->cubes = arena_alloc(a, (size_t)room_of(m) * 2 * sizeof *out->cubes);
    out->n = pattern_cubes(&p, &m->room, out->cubes, 2 * room_of(m));
    if (out->n == UINT32_MAX && m->key == KEY_fabric_net)
        return wrong(m, at,
                     arena_printf(a,
                                  "'%s' has %s that are not there: 'sips' is %u, a SIP has %u "
                                  "cubes, and 'fabric.switches' is %u",
                                  of, p.of_switches ? "switches" : "cubes", m->room.sips,
                                  m->room.cubes, m->room.switches));
    if (out->n == UINT32_MAX)
        return wrong(m, at,
                     arena_printf(a, "'%s' has cubes that are not there: 'sip.cubes' is %u", of,
                                  m->net->n_cubes));
    for (uint32_t i = 0; i < out->n; i++) {
        if (seen[out->cubes[i]])
            return wrong(m, at, arena_printf(a, "'%s' has %s twice", of, cube_text(m, out->cubes[i])));
        seen[out->cubes[i]] = true;
    }
    return true;
}

/* Part `group` of a set that is cut into groups. */
static struct set part_of(const struct set *set, uint32_t groups, uint32_t group)
{
    return (struct set){set->n / groups, &set->cubes[set->n / groups * group]};
}

static bool is_cut(const struct making *m, const struct net_item *item, const struct set *set,
                   uint32_t groups)
{
    return set->n % groups == 0 ||
           wrong(m, item->at,
                 arena_printf(m->spec->arena, "%u cubes cannot be cut into %u groups", set->n,
                              groups));
}

/* -- shapes ----------------------------------------------------------------------------------- */

static uint32_t side_of_dim(size_t d, bool plus)
{
    static const uint32_t sides[2][2] = {{SIDE_W, SIDE_E}, {SIDE_N, SIDE_S}};

    return d < 2 ? sides[d][plus] : N_SIDES;
}

/* The link of cube `i` on its + side in dimension `d`, if there is one. */
static void add_step(struct making *m, const struct net_item *item, const struct set *set,
                     const struct link_spec *const *kinds, uint32_t i, size_t d)
{
    uint32_t stride = 1, k = (uint32_t)item->dims[d], x, to;
    bool closes;

    for (size_t e = 0; e < d; e++)
        stride *= (uint32_t)item->dims[e];
    x = i / stride % k;
    closes = x + 1 == k;
    if (closes && (item->shape == NET_MESH || k < 2))
        return;
    to = closes ? i - (k - 1) * stride : i + stride;
    add_link(m, kinds[closes ? NET_DIMS_MAX : d],
             (struct net_end){.cube = set->cubes[i],
                              .order = (uint32_t)(2 * d),
                              .side = side_of_dim(d, true),
                              .ring = item->shape == NET_TORUS ? (uint32_t)d + 1 : 0,
                              .closes = closes},
             (struct net_end){.cube = set->cubes[to],
                              .order = (uint32_t)(2 * d + 1),
                              .side = side_of_dim(d, false),
                              .ring = item->shape == NET_TORUS ? (uint32_t)d + 1 : 0,
                              .closes = closes},
             false);
}

/* With one kind for each dimension the closing link of a dimension is of its kind. */
static bool add_grid(struct making *m, const struct net_item *item)
{
    const struct link_spec *kinds[NET_DIMS_MAX][NET_DIMS_MAX + 1];
    uint64_t product = 1;
    struct set set;

    if (!find_set(m, &item->of[0], item->at, &set))
        return false;
    for (size_t d = 0; d < item->n_dims; d++) {
        product *= (uint64_t)item->dims[d];
        const struct link_spec *own = kind_of(m, &item->links[item->n_links > 1 ? d : 0]);
        const struct link_spec *wrap = item->wrap.text ? kind_of(m, &item->wrap) : own;

        if (!own || !wrap)
            return false;
        kinds[d][d] = own;
        kinds[d][NET_DIMS_MAX] = wrap;
        if (product > NET_CUBES_MAX)
            break;
    }
    if (product != set.n)
        return wrong(m, item->at,
                     arena_printf(m->spec->arena,
                                  "the product of its dimensions is %llu, and it "
                                  "has %u cubes",
                                  (unsigned long long)product, set.n));
    for (uint32_t i = 0; i < set.n; i++)
        for (size_t d = 0; d < item->n_dims; d++)
            add_step(m, item, &set, kinds[d], i, d);
    return true;
}

static bool add_all(struct making *m, const struct net_item *item)
{
    uint32_t groups = item->groups ? (uint32_t)item->groups : 1;
    const struct link_spec *kind = kind_of(m, &item->links[0]);
    struct set set;

    if (!kind || !find_set(m, &item->of[0], item->at, &set) || !is_cut(m, item, &set, groups))
        return false;
    for (uint32_t g = 0; g < groups; g++) {
        struct set part = part_of(&set, groups, g);

        for (uint32_t i = 0; i < part.n; i++)
            for (uint32_t j = i + 1; j < part.n; j++)
                add_plain(m, kind, part.cubes[i], part.cubes[j]);
    }
    return true;
}

/* Is no cube in both? */
static bool are_apart(const struct making *m, const struct net_item *item, const struct set *a,
                      const struct set *b)
{
    bool *seen = arena_alloc(m->spec->arena, room_of(m) * sizeof *seen);

    for (uint32_t i = 0; i < a->n; i++)
        seen[a->cubes[i]] = true;
    for (uint32_t i = 0; i < b->n; i++)
        if (seen[b->cubes[i]])
            return wrong(
                m, item->of[1].at,
                arena_printf(m->spec->arena, "%s is in both sets of 'each'", cube_text(m, b->cubes[i])));
    return true;
}

static bool add_each(struct making *m, const struct net_item *item)
{
    uint32_t groups = item->groups ? (uint32_t)item->groups : 1;
    const struct link_spec *kind = kind_of(m, &item->links[0]);
    struct set a, b;

    if (!kind || !find_set(m, &item->of[0], item->at, &a) ||
        !find_set(m, &item->of[1], item->at, &b) || !are_apart(m, item, &a, &b) ||
        !is_cut(m, item, &a, groups) || !is_cut(m, item, &b, groups))
        return false;
    for (uint32_t g = 0; g < groups; g++) {
        struct set of_a = part_of(&a, groups, g), of_b = part_of(&b, groups, g);

        for (uint32_t i = 0; i < of_a.n; i++)
            for (uint32_t j = 0; j < of_b.n; j++)
                add_plain(m, kind, of_a.cubes[i], of_b.cubes[j]);
    }
    return true;
}

/* The links between groups only. */
static bool add_dragonfly(struct making *m, const struct net_item *item)
{
    uint32_t groups = (uint32_t)item->groups, each;
    const struct link_spec *kind = kind_of(m, &item->links[0]);
    struct set set;

    if (!kind || !find_set(m, &item->of[0], item->at, &set) || !is_cut(m, item, &set, groups))
        return false;
    each = (groups - 1 + set.n / groups - 1) / (set.n / groups);
    for (uint32_t i = 0; i < groups; i++)
        for (uint32_t j = i + 1; j < groups; j++)
            add_plain(m, kind, part_of(&set, groups, i).cubes[(j - 1) / each],
                      part_of(&set, groups, j).cubes[i / each]);
    return true;
}

/* "c0.E", of which *len bytes name cubes. */
static uint32_t take_side(const char *text, size_t *len)
{
    const char *letters = "NESW", *at;

    if (*len < 2 || text[*len - 2] != '.' || !(at = strchr(letters, text[*len - 1])))
        return N_SIDES;
    *len -= 2;
    return (uint32_t)(at - letters);
}

/* The '-' or '>' between two ends, outside of brackets; NULL: there is none. */
static const char *sign_of(const char *text)
{
    int depth = 0;

    for (; *text; text++) {
        depth += (*text == '[') - (*text == ']');
        if (depth == 0 && (*text == '-' || *text == '>'))
            return text;
    }
    return NULL;
}

/* "c0-c4", "c1>c2", "c0.W-c5.E", "c[0-3]-c9": each of the first with each of the second. */
static bool add_listed(struct making *m, const struct link_spec *kind, const struct text_spec *text)
{
    struct arena *arena = m->spec->arena;
    const char *sign = sign_of(text->text);
    size_t len[2];
    uint32_t side[2];
    struct set set[2];

    if (!sign || !sign[1])
        return wrong(m, text->at,
                     arena_printf(arena,
                                  "'%s' is no link, write c0-c1, c0>c1 for one direction, "
                                  "or c0.E-c1.W",
                                  diag_text(arena, text->text, strlen(text->text))));
    len[0] = (size_t)(sign - text->text);
    len[1] = strlen(sign + 1);
    for (int i = 0; i < 2; i++) {
        const char *from = i ? sign + 1 : text->text;
        struct text_spec of = {NULL, text->at};

        side[i] = take_side(from, &len[i]);
        of.text = arena_copy(arena, from, len[i]);
        if (!find_set(m, &of, text->at, &set[i]))
            return false;
    }
    for (uint32_t i = 0; i < set[0].n; i++)
        for (uint32_t j = 0; j < set[1].n; j++) {
            uint32_t a = set[0].cubes[i], b = set[1].cubes[j], order = m->net->n_links;

            if (a == b)
                return wrong(m, text->at,
                             arena_printf(arena, "'%s' joins %s to itself", text->text, cube_text(m, a)));
            add_link(m, kind, (struct net_end){.cube = a, .order = order, .side = side[0]},
                     (struct net_end){.cube = b, .order = order, .side = side[1]}, *sign == '>');
        }
    return true;
}

static bool add_list(struct making *m, const struct net_item *item)
{
    const struct link_spec *kind = kind_of(m, &item->links[0]);
    bool ok = kind;

    for (size_t i = 0; kind && i < item->list.n; i++)
        ok = add_listed(m, kind, &item->list.rows[i]) && ok;
    return ok;
}

/* -- ports ------------------------------------------------------------------------------------ */

static int by_port(const void *a, const void *b)
{
    const struct net_end *x = a, *y = b;

    if (x->cube != y->cube)
        return x->cube < y->cube ? -1 : 1;
    if (x->item != y->item)
        return x->item < y->item ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static bool too_many(const struct making *m, uint32_t cube, uint32_t n)
{
    return n <= PORTS_MAX || wrong(m, spec_place(m->spec, m->key),
                                   arena_printf(m->spec->arena, "%s has %u ports, more than %d",
                                                cube_text(m, cube), n, PORTS_MAX));
}

/* Numbers the ports of each cube. */
static bool set_ports(struct making *m)
{
    struct net *net = m->net;
    struct net_port *rows = arena_alloc(m->spec->arena, (m->n_ends + 1) * sizeof *rows);
    uint32_t(*of_link)[2] = arena_alloc(m->spec->arena, (net->n_links + 1) * sizeof *of_link);

    qsort(m->ends, m->n_ends, sizeof *m->ends, by_port);
    for (size_t i = 0; i < m->n_ends; i++) {
        struct net_cube *cube = &net->cubes[m->ends[i].cube];

        if (!cube->n)
            cube->ports = &rows[i];
        of_link[m->ends[i].link][m->ends[i].second] = (uint32_t)i;
        rows[i] = (struct net_port){
            .link = m->kinds[m->ends[i].link],
            .side = m->ends[i].side,
            .leads = !m->ends[i].second || !m->one_way[m->ends[i].link],
            .enters = m->ends[i].second || !m->one_way[m->ends[i].link],
            .owns = !m->ends[i].second,
            .closes = m->ends[i].closes,
            .ring = m->ends[i].ring ? m->ends[i].item * NET_DIMS_MAX + m->ends[i].ring : 0};
        cube->n++;
    }
    for (uint32_t i = 0; i < net->n_links; i++)
        for (int end = 0; end < 2; end++) {
            uint32_t own = of_link[i][end], other = of_link[i][!end];

            rows[own].cube = m->ends[other].cube;
            rows[own].port = (uint32_t)(&rows[other] - net->cubes[rows[own].cube].ports);
        }
    for (uint32_t i = 0; i < room_of(m); i++) {
        if (!too_many(m, i, net->cubes[i].n))
            return false;
        if (net->cubes[i].n > net->most_ports)
            net->most_ports = net->cubes[i].n;
    }
    return true;
}

/* -- the whole -------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* The cubes that the IO chiplet is joined to; c0 alone if none is named. */
static bool find_io_cubes(struct making *m)
{
    const struct text_specs *given = &m->spec->sip_io_cubes;
    struct net *net = m->net;

    net->io_cubes = arena_alloc(m->spec->arena, (net->n_cubes + 1) * sizeof *net->io_cubes);
    net->n_io = !given->n;
    for (size_t i = 0; i < given->n; i++) {
        struct set set;

        if (!find_set(m, &given->rows[i], given->rows[i].at, &set))
            return false;
        for (uint32_t k = 0; k < set.n; k++) {
            for (uint32_t j = 0; j < net->n_io; j++)
                if (net->io_cubes[j] == set.cubes[k])
                    return diag_error(m->spec->diag, given->rows[i].at,
                                      "'sip.io_cubes' has c%u twice", set.cubes[k]);
            net->io_cubes[net->n_io++] = set.cubes[k];
        }
    }
    qsort(net->io_cubes, net->n_io, sizeof *net->io_cubes, ascending);
    return true;
}

/* A mesh or torus of two dimensions over all cubes has a width and a height; else it is a row. */
static void find_size(struct net *net, const struct net_item *first)
{
    bool is_grid = first && first->n_dims == 2 && (!first->of[0].text || !strcmp(first->of[0].text, "c*"));

    net->w = is_grid ? (uint32_t)first->dims[0] : net->n_cubes;
    net->h = is_grid ? (uint32_t)first->dims[1] : 1;
}

uint32_t net_cubes(const struct spec *spec)
{
    return (uint32_t)(spec->sip_cubes ? spec->sip_cubes
                                      : spec->sip_cube_mesh_w * spec->sip_cube_mesh_h);
}

uint32_t net_switches(const struct spec *spec)
{
    return spec->fabric_net.n ? (uint32_t)spec->fabric_switches : 0;
}

/* Tables of exits have a byte for each pair of cubes. A mesh or torus of all may have more cubes.
 */
static bool table_fits(const struct making *m)
{
    const struct net_item *first = &m->spec->sip_net.rows[0];
    bool whole = m->spec->sip_net.n == 1 && first->n_dims && m->net->n_cubes <= NET_CUBES_MAX;

    if (m->net->rails && room_of(m) > NET_TABLE_MAX)
        return diag_error(m->spec->diag, spec_place(m->spec, KEY_fabric_net),
                          "'fabric.net' joins %u cubes and switches, more than %d", room_of(m),
                          NET_TABLE_MAX);
    return whole || m->net->n_cubes <= NET_TABLE_MAX ||
           diag_error(m->spec->diag, spec_place(m->spec, KEY_sip_cubes),
                      "'sip.cubes' is %u: more than %d cubes must be one mesh or torus",
                      m->net->n_cubes, NET_TABLE_MAX);
}

static bool add_items(struct making *m, enum key key, const struct net_specs *items)
{
    static bool (*const add[NET_SHAPES])(struct making * m, const struct net_item *item) = {
        [NET_MESH] = add_grid, [NET_TORUS] = add_grid,          [NET_ALL] = add_all,
        [NET_EACH] = add_each, [NET_DRAGONFLY] = add_dragonfly, [NET_LIST] = add_list};
    bool ok = true;

    m->key = key;
    for (size_t i = 0; i < items->n; i++, m->item++)
        ok = add[items->rows[i].shape](m, &items->rows[i]) && ok;
    return ok;
}

/* The links of one SIP for all others, too. */
static void repeat_in_sips(struct making *m)
{
    uint32_t n = m->net->n_links;

    for (uint32_t sip = 1; sip < m->net->n_sips; sip++)
        for (uint32_t link = 0; link < n; link++) {
            struct net_end ends[2] = {m->ends[2 * link], m->ends[2 * link + 1]};

            for (int i = 0; i < 2; i++) {
                struct net_end *end = new_end(m);

                *end = ends[i];
                end->cube += sip * m->net->n_cubes;
                end->link = m->net->n_links;
            }
            m->kinds[m->net->n_links] = m->kinds[link];
            m->one_way[m->net->n_links++] = m->one_way[link];
        }
}

bool net_make(const struct spec *spec, struct net *out)
{
    struct making m = {.spec = spec, .net = out, .room = {1, net_cubes(spec), 0}};
    bool ok;

    *out = (struct net){.n_cubes = m.room.cubes,
                        .n_sips = (uint32_t)spec->sips,
                        .n_switches = net_switches(spec),
                        .rails = spec->fabric_net.n};
    ok = add_items(&m, KEY_sip_net, &spec->sip_net) && find_io_cubes(&m);
    if (ok && out->rails) {
        repeat_in_sips(&m);
        m.room = (struct pattern_room){out->n_sips, out->n_cubes, out->n_switches};
        ok = table_fits(&m) && add_items(&m, KEY_fabric_net, &spec->fabric_net);
    }
    out->cubes = arena_alloc(spec->arena, room_of(&m) * sizeof *out->cubes);
    if (!ok || !table_fits(&m) || !set_ports(&m))
        return false;
    find_size(out, spec->sip_net.n ? &spec->sip_net.rows[0] : NULL);
    return true;
}
