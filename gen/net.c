/*
 * net.c -- the net of a machine: which ports its cubes have, and what links join them.
 *
 * The ports of a cube are numbered by item; in a mesh or torus by
 * dimension, + before -, in the others in the order of the links. So the ends of all links are put
 * into one list, which is sorted by cube, item and that order.
 *
 * Example: torus: [2] joins c0 and c1 twice: c0.port0 (+) to c1.port1 (-), c1.port0 to c0.port1.
 *
 * The items of fabric.net are *rails*, links between cubes of all SIPs and the switches between
 * them. Where there are some, the links of sip.net are made once more for each SIP, all cubes are
 * counted over the whole machine, and the items of fabric.net follow, so their ports come last.
 */
#include "net_items.h"
#include "check.h"
#include "machine/tables.h"
#include <stdlib.h>
#include <string.h>

enum { NET_TABLE_MAX = 8192 };

const char *net_cube_text(const struct net *net, struct arena *arena, uint32_t cube)
{
    if (net_is_switch(net, cube))
        return arena_printf(arena, "sw%u", cube - net->n_sips * net->n_cubes);
    if (cube < net->n_cubes)
        return arena_printf(arena, "c%u", cube);
    return arena_printf(arena, "s%u.c%u", cube / net->n_cubes, cube % net->n_cubes);
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
    return n <= PORTS_MAX ||
           making_wrong(m, spec_place(m->spec, m->key),
                        arena_printf(m->spec->arena, "%s has %u ports, more than %d",
                                     making_cube_text(m, cube), n, PORTS_MAX));
}

/* Do hop classes count links of that kind? */
static bool counts(const struct spec *spec, const struct link_spec *kind)
{
    const struct text_specs *counted = &spec->contention_hop_links;
    size_t i = 0;

    while (i < counted->n && strcmp(counted->rows[i].text, kind->name) != 0)
        i++;
    return i < counted->n || !counted->n;
}

/* Numbers the ports of each cube. */
static bool set_ports(struct making *m)
{
    struct net *net = m->net;
    struct net_port *rows = arena_alloc(m->spec->arena, (m->n_ends + 1) * sizeof *rows);
    uint32_t(*of_link)[2] = arena_alloc(m->spec->arena, (net->n_links + 1) * sizeof *of_link);

    if (m->n_ends)
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
            .uncounted = !counts(m->spec, m->kinds[m->ends[i].link]),
            .of_sips = m->ends[i].item >= m->spec->sip_net.n,
            .ring = m->ends[i].ring ? m->ends[i].item * NET_DIMS_MAX + m->ends[i].ring : 0};
        cube->n++;
    }
    for (uint32_t i = 0; i < net->n_links; i++)
        for (int end = 0; end < 2; end++) {
            uint32_t own = of_link[i][end], other = of_link[i][!end];

            rows[own].cube = m->ends[other].cube;
            rows[own].port = (uint32_t)(&rows[other] - net->cubes[rows[own].cube].ports);
        }
    arena_drop(m->spec->arena, of_link);
    for (uint32_t i = 0; i < making_room(m); i++) {
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

    m->key = KEY_sip_io_cubes;
    net->io_cubes = arena_alloc(m->spec->arena, (net->n_cubes + 1) * sizeof *net->io_cubes);
    net->n_io = !given->n;
    for (size_t i = 0; i < given->n; i++) {
        struct cube_set set;

        if (!making_find_set(m, &given->rows[i], given->rows[i].at, &set))
            return false;
        for (uint32_t k = 0; k < set.n; k++) {
            for (uint32_t j = 0; j < net->n_io; j++)
                if (net->io_cubes[j] == set.cubes[k])
                    return diag_error(m->spec->diag, given->rows[i].at,
                                      "'sip.io_cubes' has c%u twice", set.cubes[k]);
            net->io_cubes[net->n_io++] = set.cubes[k];
        }
    }
    m->key = KEY_sip_net;
    qsort(net->io_cubes, net->n_io, sizeof *net->io_cubes, ascending);
    return true;
}

/* A mesh or torus of two dimensions over all cubes has a width and a height; else it is a row. */
static void find_size(struct net *net, const struct net_item *first)
{
    bool is_grid =
        first && first->n_dims == 2 && (!first->of[0].text || !strcmp(first->of[0].text, "c*"));

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

    if (m->net->rails && making_room(m) > NET_TABLE_MAX)
        return diag_error(m->spec->diag, spec_place(m->spec, KEY_fabric_net),
                          "'fabric.net' joins %u cubes and switches, more than %d", making_room(m),
                          NET_TABLE_MAX);
    return whole || m->net->n_cubes <= NET_TABLE_MAX ||
           diag_error(m->spec->diag, spec_place(m->spec, KEY_sip_cubes),
                      "'sip.cubes' is %u: more than %d cubes must be one mesh or torus",
                      m->net->n_cubes, NET_TABLE_MAX);
}

/* The links of one SIP for all others, too. */
static void repeat_in_sips(struct making *m)
{
    uint32_t n = m->net->n_links;

    for (uint32_t sip = 1; sip < m->net->n_sips; sip++)
        for (uint32_t link = 0; link < n; link++) {
            struct net_end ends[2] = {m->ends[2 * link], m->ends[2 * link + 1]};

            for (int i = 0; i < 2; i++) {
                struct net_end *end = making_new_end(m);

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
    out->grids.rows = arena_alloc(spec->arena, (spec->sip_net.n + 1) * sizeof *out->grids.rows);
    out->grids.of = arena_alloc(spec->arena, (out->n_cubes + 1) * sizeof *out->grids.of);
    ok = making_add_items(&m, KEY_sip_net, &spec->sip_net) && find_io_cubes(&m);
    if (ok && out->rails) {
        repeat_in_sips(&m);
        m.room = (struct pattern_room){out->n_sips, out->n_cubes, out->n_switches};
        ok = table_fits(&m) && making_add_items(&m, KEY_fabric_net, &spec->fabric_net);
    }
    out->cubes = arena_alloc(spec->arena, making_room(&m) * sizeof *out->cubes);
    if (!ok || !table_fits(&m) || !set_ports(&m))
        return false;
    making_drop(&m);
    find_size(out, spec->sip_net.n ? &spec->sip_net.rows[0] : NULL);
    return true;
}
