/*
 * net_items.c -- the links that the items of sip.net and fabric.net give.
 *
 * An item of sip.net, or of fabric.net, gives links, in the order of their numbers:
 *
 *     mesh, torus   by the cube on whose + side the link is, in the order of `of`, then dimension
 *     all           pairs i < j, in the order of the set
 *     each          the first set outer
 *     dragonfly     pairs of groups i < j; group i from its cube (j - 1) / h, group j from i / h
 *     list          as written
 *
 * with `groups` group by group.
 */
#include "net_items.h"
#include "base/text.h"
#include "machine/tables.h"
#include <string.h>

bool making_wrong(const struct making *m, struct place at, const char *text)
{
    return diag_error(m->spec->diag, at, "'%s': %s", key_rows[m->key].path, text);
}

/* Cubes and switches that items may name. */
uint32_t making_room(const struct making *m)
{
    return m->room.sips * m->room.cubes + m->room.switches;
}

const char *making_cube_text(const struct making *m, uint32_t cube)
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
        making_wrong(m, name->at,
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

void making_drop(struct making *m)
{
    arena_drop(m->spec->arena, m->ends);
    arena_drop(m->spec->arena, m->kinds);
    arena_drop(m->spec->arena, m->one_way);
}

struct net_end *making_new_end(struct making *m)
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
        making_drop(m);
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
    *making_new_end(m) = a;
    m->kinds[link] = kind;
    m->one_way[link] = one_way;
    *making_new_end(m) = b;
}

/* The same, with ports in the order of links. */
static void add_plain(struct making *m, const struct link_spec *kind, uint32_t a, uint32_t b)
{
    uint32_t order = m->net->n_links;

    add_link(m, kind, (struct net_end){.cube = a, .order = order, .side = N_SIDES},
             (struct net_end){.cube = b, .order = order, .side = N_SIDES}, false);
}

/* -- sets of cubes ---------------------------------------------------------------------------- */

/* Is it a pattern of cubes that items of this key may name? */
static bool is_set(const struct making *m, const char *of, struct pattern *out)
{
    return pattern_of_text(of, strlen(of), m->spec->arena, out) && !out->of_pes &&
           (m->key == KEY_fabric_net || *of != 's');
}

/* The cubes of a pattern in its order; false after a message. */
bool making_find_set(const struct making *m, const struct text_spec *text, struct place at,
                     struct cube_set *out)
{
    const char *of = text->text ? text->text : "c*";
    struct arena *a = m->spec->arena;
    struct pattern p;
    bool *seen = arena_alloc(a, making_room(m) * sizeof *seen);

    if (!text->text && m->key == KEY_fabric_net)
        return making_wrong(m, at, "a mesh or torus needs 'of', the cubes that it joins");
    at = text->text ? text->at : at;
    if (!is_set(m, of, &p))
        return making_wrong(
            m, at,
            arena_printf(a,
                         m->key == KEY_fabric_net
                             ? "'%s' is no cubes and no switches, as s*.c2 or sw[0-3]"
                             : "'%s' is no cubes of a SIP, as c3, c[4-7] or c*",
                         diag_text(a, of, strlen(of))));
    out->cubes = arena_alloc(a, (size_t)making_room(m) * 2 * sizeof *out->cubes);
    out->n = pattern_cubes(&p, &m->room, out->cubes, 2 * making_room(m));
    if (out->n == UINT32_MAX && m->key == KEY_fabric_net)
        return making_wrong(
            m, at,
            arena_printf(a,
                         "'%s' has %s that are not there: 'sips' is %u, a SIP has %u "
                         "cubes, and 'fabric.switches' is %u",
                         of, p.of_switches ? "switches" : "cubes", m->room.sips, m->room.cubes,
                         m->room.switches));
    if (out->n == UINT32_MAX)
        return making_wrong(m, at,
                            arena_printf(a, "'%s' has cubes that are not there: 'sip.cubes' is %u",
                                         of, m->net->n_cubes));
    for (uint32_t i = 0; i < out->n; i++) {
        if (seen[out->cubes[i]])
            return making_wrong(
                m, at,
                arena_printf(a, "'%s' has %s twice", of, making_cube_text(m, out->cubes[i])));
        seen[out->cubes[i]] = true;
    }
    return true;
}

/* Part `group` of a set that is cut into groups. */
static struct cube_set part_of(const struct cube_set *set, uint32_t groups, uint32_t group)
{
    return (struct cube_set){set->n / groups, &set->cubes[set->n / groups * group]};
}

static bool is_cut(const struct making *m, const struct net_item *item, const struct cube_set *set,
                   uint32_t groups)
{
    return set->n % groups == 0 ||
           making_wrong(m, item->at,
                        arena_printf(m->spec->arena, "%u cubes cannot be cut into %u groups",
                                     set->n, groups));
}

/* -- shapes ----------------------------------------------------------------------------------- */

static uint32_t side_of_dim(size_t d, bool plus)
{
    static const uint32_t sides[2][2] = {{SIDE_W, SIDE_E}, {SIDE_N, SIDE_S}};

    return d < 2 ? sides[d][plus] : N_SIDES;
}

/* The link of cube `i` on its + side in dimension `d`, if there is one. */
static void add_step(struct making *m, const struct net_item *item, const struct cube_set *set,
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

/* Notes the grid, and the place there of each cube that is of none before. */
static void note_grid(struct making *m, const struct net_item *item, const struct cube_set *set)
{
    struct net_grids *grids = &m->net->grids;
    struct grid_row *row = &grids->rows[grids->n++];

    *row = (struct grid_row){.dims = (uint8_t)item->n_dims, .closes = item->shape == NET_TORUS};
    for (size_t d = 0; d < item->n_dims; d++)
        row->size[d] = (uint32_t)item->dims[d];
    for (uint32_t i = 0; i < set->n; i++) {
        struct place_row *place = &grids->of[set->cubes[i]];

        if (!place->grid)
            *place = (struct place_row){(uint16_t)grids->n, (uint16_t)i};
    }
}

/* With one kind for each dimension the closing link of a dimension is of its kind. */
static bool add_grid(struct making *m, const struct net_item *item)
{
    const struct link_spec *kinds[NET_DIMS_MAX][NET_DIMS_MAX + 1];
    uint64_t product = 1;
    struct cube_set set;

    if (!making_find_set(m, &item->of[0], item->at, &set))
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
        return making_wrong(m, item->at,
                            arena_printf(m->spec->arena,
                                         "the product of its dimensions is %llu, and it "
                                         "has %u cubes",
                                         (unsigned long long)product, set.n));
    for (uint32_t i = 0; i < set.n; i++)
        for (size_t d = 0; d < item->n_dims; d++)
            add_step(m, item, &set, kinds[d], i, d);
    if (m->key == KEY_sip_net)
        note_grid(m, item, &set);
    return true;
}

static bool add_all(struct making *m, const struct net_item *item)
{
    uint32_t groups = item->groups ? (uint32_t)item->groups : 1;
    const struct link_spec *kind = kind_of(m, &item->links[0]);
    struct cube_set set;

    if (!kind || !making_find_set(m, &item->of[0], item->at, &set) ||
        !is_cut(m, item, &set, groups))
        return false;
    for (uint32_t g = 0; g < groups; g++) {
        struct cube_set part = part_of(&set, groups, g);

        for (uint32_t i = 0; i < part.n; i++)
            for (uint32_t j = i + 1; j < part.n; j++)
                add_plain(m, kind, part.cubes[i], part.cubes[j]);
    }
    return true;
}

/* Is no cube in both? */
static bool are_apart(const struct making *m, const struct net_item *item, const struct cube_set *a,
                      const struct cube_set *b)
{
    bool *seen = arena_alloc(m->spec->arena, making_room(m) * sizeof *seen);

    for (uint32_t i = 0; i < a->n; i++)
        seen[a->cubes[i]] = true;
    for (uint32_t i = 0; i < b->n; i++)
        if (seen[b->cubes[i]])
            return making_wrong(m, item->of[1].at,
                                arena_printf(m->spec->arena, "%s is in both sets of 'each'",
                                             making_cube_text(m, b->cubes[i])));
    return true;
}

static bool add_each(struct making *m, const struct net_item *item)
{
    uint32_t groups = item->groups ? (uint32_t)item->groups : 1;
    const struct link_spec *kind = kind_of(m, &item->links[0]);
    struct cube_set a, b;

    if (!kind || !making_find_set(m, &item->of[0], item->at, &a) ||
        !making_find_set(m, &item->of[1], item->at, &b) || !are_apart(m, item, &a, &b) ||
        !is_cut(m, item, &a, groups) || !is_cut(m, item, &b, groups))
        return false;
    for (uint32_t g = 0; g < groups; g++) {
        struct cube_set of_a = part_of(&a, groups, g), of_b = part_of(&b, groups, g);

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
    struct cube_set set;

    if (!kind || !making_find_set(m, &item->of[0], item->at, &set) ||
        !is_cut(m, item, &set, groups))
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
    struct cube_set set[2];

    if (!sign || !sign[1])
        return making_wrong(m, text->at,
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
        if (!making_find_set(m, &of, text->at, &set[i]))
            return false;
    }
    for (uint32_t i = 0; i < set[0].n; i++)
        for (uint32_t j = 0; j < set[1].n; j++) {
            uint32_t a = set[0].cubes[i], b = set[1].cubes[j], order = m->net->n_links;

            if (a == b)
                return making_wrong(m, text->at,
                                    arena_printf(arena, "'%s' joins %s to itself", text->text,
                                                 making_cube_text(m, a)));
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

/* -- all ----------------------------------------------------------------------------------------
 */

bool making_add_items(struct making *m, enum key key, const struct net_specs *items)
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
