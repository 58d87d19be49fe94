/* stations.c -- stations reserved, made cube by cube, and freed.
 *
 * Which cubes a run comes to is found by walking the ways of its rows. For many rows that would
 * cost more than it saves, so then all cubes are made; and so for whatever may come to a station
 * that is on no row's way: kernels, traffic, routers, components, observers.
 */
#include "engine/stations.h"
#include <stdlib.h>
#include <string.h>
#include "base/rows.h"
#include "machine/walk.h"

/* With a row for so many cubes, all are made. */
enum { CUBES_A_ROW = 8 };

/* -- idle stations -------------------------------------------------------------------------- */

/* `n` idle stations from `first` on, with as many servers as `servers` says; if `cost` is left out,
 * with all. */
static void make_servers(const struct kb_sim *s, struct station *rows, size_t first, size_t n,
                         enum kb_cost_class cost,
                         uint32_t (*servers)(const struct kb_topology *t, uint32_t i))
{
    for (size_t i = first; i < first + n; i++) {
        rows[i].queue.head = TXN_NONE;
        rows[i].holder = TXN_NONE;
        rows[i].idle = sim_servers(s, cost, servers(s->topo, (uint32_t)i));
    }
}

static void make_memories(struct memory_station *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        rows[i].head = rows[i].holder = TXN_NONE;
}

struct servers *servers_new(uint32_t n)
{
    struct servers *servers = calloc(1, sizeof *servers + n * sizeof servers->free_fs[0]);

    if (servers)
        servers->n = n;
    return servers;
}

/* An idle link, which may keep the room and the servers that it had. */
static struct link_station idle_link(const struct link_station *l)
{
    if (l->others) {
        l->others->last_fs = 0;
        memset(l->others->free_fs, 0, l->others->n * sizeof l->others->free_fs[0]);
    }
    return (struct link_station){.enter_fs = l->enter_fs, .room = l->room, .others = l->others};
}

static void make_links(struct link_station *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        rows[i] = idle_link(&rows[i]);
}

void link_clear(struct link_station *l)
{
    uint32_t used = l->next < l->room ? l->next : l->room;

    if (used)
        memset(l->enter_fs, 0, used * sizeof *l->enter_fs);
    *l = idle_link(l);
}

bool link_room(struct link_station *l)
{
    return ring_grow(&l->enter_fs, &l->room, l->next - l->room, l->room, sizeof *l->enter_fs);
}

/* Each direction of a link of a cube has as many servers as it has lanes. */
static void make_lanes(struct kb_sim *s, uint32_t cube)
{
    const struct kb_topology *t = s->topo;

    for (uint32_t i = 0; i < t->n_cube_links; i++) {
        const uint8_t *lanes = walk_cube_link(t, cube, i)->lanes;
        struct link_station *link = &s->links[stations_links_of_cube(t) * cube + 2 * (size_t)i];

        for (uint32_t way = 0; way < 2; way++)
            if (lanes[way] > 1 && !link[way].others &&
                !(link[way].others = servers_new(lanes[way] - 1u)))
                s->status = KB_NO_MEMORY;
    }
}

/* -- cubes ---------------------------------------------------------------------------------- */

static void make_cube(struct kb_sim *s, uint32_t cube)
{
    const struct kb_topology *t = s->topo;
    size_t pes = (size_t)1 << t->pe_bits, units = (size_t)1 << t->unit_bits;
    size_t links = stations_links_of_cube(t);

    s->made[cube] = true;
    if (s->paces)
        memset(s->paces + 2 * pes * cube, 0, 2 * pes * sizeof *s->paces);
    make_servers(s, s->channels, 2 * pes * cube, 2 * pes, KB_COST_CHANNELS, channels_of);
    make_servers(s, s->engines, 2 * (size_t)cube, 2, KB_COST_ENGINES, engines_of);
    make_links(s->turns + 2 * (size_t)cube, 2);
    make_memories(s->memories + units * cube, units);
    if (s->early)
        make_links(s->early + units * cube, units);
    if (s->links) {
        make_links(s->links + links * cube, links);
        make_lanes(s, cube);
    }
}

/* Does some PE take a time from one transaction to the next, or from a packet to the next? */
static bool is_paced(const struct kb_topology *t)
{
    for (uint32_t kind = 0; kind < t->n_kinds; kind++)
        if (t->kinds[kind].issue_fs || t->kinds[kind].packet_bytes)
            return true;
    return false;
}

/* Each array, how many rows it has, how many of them are of a cube, and how long these are. */
struct array {
    void **rows;
    size_t n, of_cube, row_bytes;
};

enum { N_ARRAYS = 7 };

static void list_arrays(struct kb_sim *s, struct array out[N_ARRAYS])
{
    const struct kb_topology *t = s->topo;
    size_t cubes = sim_cubes(t), pes = (size_t)2 << t->pe_bits, units = (size_t)1 << t->unit_bits;
    size_t early = t->links != MODE_ROUTER ? units : 0, paces = is_paced(t) ? pes : 0;
    size_t links = t->links == MODE_FIFO ? walk_n_links(t) : 0;

#define ARRAY(field, rows, rows_of_cube)                                                           \
    (struct array){(void **)&s->field, rows, rows_of_cube, sizeof *s->field}
    out[0] = ARRAY(channels, cubes * pes, pes);
    out[1] = ARRAY(engines, 2 * cubes, 2);
    out[2] = ARRAY(memories, cubes * units, units);
    out[3] = ARRAY(early, cubes * early, early);
    out[4] = ARRAY(links, links, links ? stations_links_of_cube(t) : 0);
    out[5] = ARRAY(turns, 2 * cubes, 2);
    out[6] = ARRAY(paces, cubes * paces, paces);
#undef ARRAY
}

void stations_make_all(struct kb_sim *s)
{
    uint32_t cubes = sim_cubes(s->topo);
    struct array arrays[N_ARRAYS];

    if (s->all_made)
        return;
    list_arrays(s, arrays);
    for (size_t i = 0; i < N_ARRAYS; i++)
        rows_use_all(*arrays[i].rows, arrays[i].n, arrays[i].row_bytes);
    for (uint32_t cube = 0; cube < cubes; cube++)
        if (!s->made[cube])
            make_cube(s, cube);
    s->all_made = true;
}

/* Those of each cube on the way of a row. */
static void make_for_row(struct kb_sim *s, const struct txn *txn)
{
    const struct kb_topology *t = s->topo;
    const struct trip trip = txn_trip(t, txn);
    struct route_at at = walk_begin(t, &trip);

    for (;; at = walk_next(t, &trip, at)) {
        if (!s->made[at.cube])
            make_cube(s, at.cube);
        if (walk_segment(t, at)->exit == EXIT_END)
            return;
    }
}

void stations_make_for_rows(struct kb_sim *s)
{
    uint32_t n = s->n_txns + s->n_parts;

    if (s->all_made)
        return;
    if (s->traffic || s->observer || s->router || s->topo->impls || s->options.live ||
        n >= sim_cubes(s->topo) / CUBES_A_ROW) {
        stations_make_all(s);
        return;
    }
    for (uint32_t row = 0; row < n; row++)
        if (s->txns[row].stage != TXN_SPLIT)
            make_for_row(s, &s->txns[row]);
}

/* -- all ------------------------------------------------------------------------------------ */

/* A host comes over IO chiplets, which are no cubes. */
static void make_io_links(struct kb_sim *s)
{
    size_t first = walk_io_links(s->topo);

    if (s->links)
        make_links(s->links + first, walk_n_links(s->topo) - first);
}

bool stations_init(struct kb_sim *s)
{
    struct array arrays[N_ARRAYS];

    list_arrays(s, arrays);
    s->made = calloc(sim_cubes(s->topo), sizeof *s->made);
    if (!s->made)
        return false;
    for (size_t i = 0; i < N_ARRAYS; i++)
        if (arrays[i].n) {
            *arrays[i].rows = rows_reserve(arrays[i].n, arrays[i].row_bytes);
            if (!*arrays[i].rows)
                return false;
        }
    make_io_links(s);
    return true;
}

void stations_free_rings(struct link_station *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(rows[i].enter_fs);
        free(rows[i].others);
    }
}

static void free_all_rings(struct kb_sim *s)
{
    const struct kb_topology *t = s->topo;
    size_t units = (size_t)1 << t->unit_bits, links = stations_links_of_cube(t);

    for (uint32_t cube = 0; s->made && cube < sim_cubes(t); cube++) {
        if (s->made[cube])
            stations_free_rings(s->turns + 2 * (size_t)cube, 2);
        if (s->made[cube] && s->early)
            stations_free_rings(s->early + units * cube, units);
        if (s->made[cube] && s->links)
            stations_free_rings(s->links + links * cube, links);
    }
    if (s->links)
        stations_free_rings(s->links + walk_io_links(t), walk_n_links(t) - walk_io_links(t));
}

/* Rows from `first` on, `n` of them, are as they were reserved. */
static void zero_rows(const struct array *array, size_t first, size_t n)
{
    memset((char *)*array->rows + first * array->row_bytes, 0, n * array->row_bytes);
}

/* Only cubes that were made have been used, and what is of no cube. */
static void zero_used(const struct kb_sim *s, const struct array *array)
{
    size_t cubes = sim_cubes(s->topo), of_cubes = cubes * array->of_cube;

    for (size_t cube = 0; cube < cubes; cube++)
        if (s->made[cube])
            zero_rows(array, cube * array->of_cube, array->of_cube);
    zero_rows(array, of_cubes, array->n - of_cubes);
}

void stations_free(struct kb_sim *s)
{
    struct array arrays[N_ARRAYS];

    free_all_rings(s);
    list_arrays(s, arrays);
    for (size_t i = 0; i < N_ARRAYS; i++) {
        if (*arrays[i].rows && !s->all_made)
            zero_used(s, &arrays[i]);
        rows_unreserve(*arrays[i].rows, arrays[i].n, arrays[i].row_bytes,
                       s->all_made ? ROWS_LARGE : ROWS_ZERO);
    }
    free(s->made);
}
