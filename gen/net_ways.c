/*
 * net_ways.c -- the ways of pairs of cubes of a net, where a pair may have several: `sip.paths`.
 *
 * All ways of a pair have the least weight and, of such, the fewest links. They are found in the
 * order of their ports: from the first cube over its lowest port that leads on, as far as it goes,
 * then over the next one. The first found is the route that all tables of exits have
 * (net_routes.c). Each cube at which a way is has one that leads on, so no step is taken back in
 * vain.
 *
 * A way counts as often as its narrowest link has lanes. runtime/machine/paths.h says which one a
 * transaction takes. Pairs with the same ways, port by port, have the same rows: in a machine of 72
 * SIPs by 18 switches a way depends on the cube where it begins and on that where it ends, but not
 * on the SIP where it begins.
 *
 * Example: links c0-c1, c1-c2, c0-c3, c3-c2. c0 to c2 has the ways [port 0 of c0, port 1 of c1] and
 * [port 1 of c0, port 1 of c3].
 */
#include "net_ways.h"
#include "check.h"
#include "machine/mesh.h"
#include <string.h>

enum { TABLES_MOST = 64 << 20 }; /* bytes of all ways */
enum { LISTS = 1 << 14 };        /* rows of net_ways.lists */

struct net_ways net_ways_make(struct routes *r, net_leads leads, const void *of)
{
    return (struct net_ways){.r = r,
                             .leads = leads,
                             .of = of,
                             .ports = arena_alloc(r->arena, sim_cubes(&r->topo) + 1u),
                             .lists = arena_alloc(r->arena, LISTS * sizeof(uint32_t))};
}

/* Of all that are found so far; the first ways of the pairs of one SIP are counted before. */
static uint64_t bytes_of_all(const struct routes *r)
{
    uint32_t rows = r->n_detours > r->topo.cubes ? r->n_detours : r->topo.cubes;
    uint64_t all = r->found->net->rails ? sim_cubes(&r->topo) : 0;

    return (uint64_t)r->n_path_rows * sizeof *r->path_rows + r->n_path_ports +
           ((uint64_t)rows * r->topo.cubes + all * all) * sizeof *r->path_of;
}

/* `rows`, or a copy of their `n * bytes` bytes with room for `more`. */
static void *grown(struct arena *arena, void *rows, uint32_t n, uint32_t more, uint32_t *cap,
                   size_t bytes)
{
    void *copy;

    if (n + more <= *cap)
        return rows;
    *cap = 2 * *cap + more;
    copy = arena_alloc(arena, *cap * bytes);
    if (n)
        memcpy(copy, rows, n * bytes);
    arena_drop(arena, rows);
    return copy;
}

/* Lanes of the narrowest link of the way that is looked at. */
static uint32_t lanes_of(const struct net_ways *w, uint32_t from, uint32_t links)
{
    const struct net *net = w->r->found->net;
    uint32_t least = UINT32_MAX, cube = w->first + from;

    for (uint32_t i = 0; i < links; i++) {
        const struct net_port *port = &net_cube(net, cube)->ports[w->ports[i]];
        uint32_t lanes = (uint32_t)port->link->lanes;

        least = lanes < least ? lanes : least;
        cube = net_port(&w->r->topo, cube, w->ports[i])->cube;
    }
    return least;
}

/* The way that is looked at is one. Beyond the bound no more are kept. */
static void keep(struct net_ways *w, uint32_t from, uint32_t links)
{
    struct routes *r = w->r;
    uint32_t before = w->n ? r->path_rows[r->n_path_rows - 1].until : 0;

    w->n++;
    if (bytes_of_all(r) > TABLES_MOST)
        return;
    r->path_rows =
        grown(r->arena, r->path_rows, r->n_path_rows, 1, &r->path_rows_cap, sizeof *r->path_rows);
    r->path_ports = grown(r->arena, r->path_ports, r->n_path_ports, links, &r->path_ports_cap, 1);
    r->path_rows[r->n_path_rows++] =
        (struct path_row){.ports = r->n_path_ports,
                          .links = (uint16_t)links,
                          .until = (uint16_t)(before + lanes_of(w, from, links))};
    for (uint32_t i = 0; i < links; i++)
        r->path_ports[r->n_path_ports++] = (uint8_t)('0' + w->ports[i]);
}

/* From `cube`, to which `links` links lead, on to the target. */
static void look(struct net_ways *w, uint32_t from, uint32_t cube, uint32_t links)
{
    const struct kb_topology *t = &w->r->topo;

    if (cube == w->to) {
        keep(w, from, links);
        return;
    }
    for (uint32_t port = 0; port < t->ports && w->n < t->paths; port++)
        if (w->leads(w->of, cube, port, w->to)) {
            w->ports[links] = (uint8_t)port;
            look(w, from, net_port(t, w->first + cube, port)->cube - w->first, links + 1);
        }
}

/* Bytes of the ports of `n` ways from row `first` on. */
static uint32_t port_bytes(const struct routes *r, uint32_t first, uint32_t n)
{
    const struct path_row *last = &r->path_rows[first + n - 1];

    return last->ports + last->links - r->path_rows[first].ports;
}

/* Have two pairs the same ways, `n` of the second? */
static bool same_ways(const struct routes *r, uint32_t a, uint32_t b, uint32_t n)
{
    const struct path_row *x = &r->path_rows[a], *y = &r->path_rows[b];

    if (x->n != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (x[i].links != y[i].links || x[i].until != y[i].until)
            return false;
    return !memcmp(&r->path_ports[x->ports], &r->path_ports[y->ports], port_bytes(r, b, n));
}

/*
 * The first row of a pair before with the ways from row `first` on, the last that were added; that
 * row itself if there is none, which is then kept. lists[hash] and after[row] are numbers from 1.
 */
static uint32_t same_as(struct net_ways *w, uint32_t first)
{
    struct routes *r = w->r;
    const uint8_t *ports = &r->path_ports[r->path_rows[first].ports];
    uint32_t hash = 2166136261, bytes = port_bytes(r, first, w->n), *at;

    for (uint32_t i = 0; i < bytes; i++)
        hash = (hash ^ ports[i]) * 16777619;
    w->after = grown(r->arena, w->after, w->n_after, r->n_path_rows - w->n_after, &w->after_cap,
                     sizeof *w->after);
    w->n_after = r->n_path_rows;
    at = &w->lists[hash % LISTS];
    while (*at && !same_ways(r, *at - 1, first, w->n))
        at = &w->after[*at - 1];
    if (!*at) {
        *at = first + 1;
        w->after[first] = 0;
    }
    return *at - 1;
}

uint32_t net_ways_add(struct net_ways *w, uint32_t from, uint32_t to)
{
    struct routes *r = w->r;
    uint32_t rows = r->n_path_rows, ports = r->n_path_ports, same;

    w->to = to;
    w->n = 0;
    look(w, from, from, 0);
    if (w->n < 2) {
        r->n_path_rows = rows;
        r->n_path_ports = ports;
        return 0;
    }
    for (uint32_t i = rows; i < r->n_path_rows; i++)
        r->path_rows[i].n = (uint16_t)w->n;
    if (bytes_of_all(r) > TABLES_MOST)
        return rows + 1;
    same = same_as(w, rows);
    if (same != rows) {
        r->n_path_rows = rows;
        r->n_path_ports = ports;
    }
    return same + 1;
}

bool net_ways_fit(const struct routes *r)
{
    return bytes_of_all(r) <= TABLES_MOST ||
           diag_error(
               r->spec->diag, spec_place(r->spec, KEY_sip_paths),
               "the ways of 'sip.paths' take more than %d MiB: fewer of them, or fewer cubes",
               TABLES_MOST >> 20);
}
