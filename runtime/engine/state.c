/* state.c -- one simulation's memory: its stations, transactions and sums of traffic.
 *
 * All that changes while a topology runs is in struct kb_sim; tables are const and shared. So many
 * simulations may run in one process, one per thread. sim_init() makes an idle machine, of the size
 * that the topology says: 2 channels per PE, 2 engines per cube, a memory per slice and SRAM, with
 * fifo links a station for each direction of each edge. cube8 has 128 channels and 16 engines.
 *
 * Costs that are left out (costs_off) are masks: an AND for integer terms, an addend of infinity
 * for bandwidths, so the hot steps have no branch for them. A cost that is the lack of servers
 * becomes as many servers as there may be transactions.
 */
#include "engine/split.h"
#include <stdlib.h>
#include <string.h>
#include "base/rows.h"
#include "engine/inorder.h"
#include "engine/router.h"
#include "engine/stations.h"
#include "machine/alone.h"
#include "machine/walk.h"
#include "network/server.h"

#define FNV_OFFSET UINT64_C(0xcbf29ce484222325)

static struct txn_list *pipes_new(size_t n)
{
    struct txn_list *rows = malloc(n * sizeof *rows);

    for (size_t i = 0; rows && i < n; i++)
        rows[i] = (struct txn_list){TXN_NONE, TXN_NONE};
    return rows;
}

/* May a transaction go in parts? In a live run a tile may come at any time. */
static bool goes_in_parts(const struct kb_sim *s)
{
    return s->topo->splits || (s->options.live && split_takes_tiles(s->topo));
}

/* What is beside them. False without memory; sim_clear() frees the part that was made. */
static bool make_lists(struct kb_sim *s)
{
    const struct kb_topology *t = s->topo;
    size_t cubes = sim_cubes(t);
    /* what a transaction takes alone */
    bool is_by_tables =
        !t->banked && !t->impls && !t->splits && !(t->links == MODE_ROUTER && memories_choose(t));

    if (!is_by_tables)
        s->idle = idle_new();
    s->pipes = pipes_new(t->links == MODE_FIFO ? t->sips : cubes);
    return s->pipes && servers_begin(s) && (s->idle || is_by_tables) &&
           (!goes_in_parts(s) || split_begin(s));
}

uint64_t sim_bytes(const struct kb_topology *t)
{
    uint64_t cubes = sim_cubes(t), pes = cubes << t->pe_bits, memories = cubes << t->unit_bits;
    uint64_t bytes = (2 * pes + 2 * cubes) * sizeof(struct station);
    bytes += 2 * cubes * sizeof(struct link_station);
    bytes += memories * sizeof(struct memory_station);
    if (t->links != MODE_ROUTER)
        bytes += memories * sizeof(struct link_station);
    if (t->links == MODE_FIFO)
        bytes += walk_n_links(t) * sizeof(struct link_station);
    return t->links == MODE_ROUTER ? bytes + router_bytes(t) : bytes;
}

/* -- the whole ------------------------------------------------------------------------------ */

bool sim_init(struct kb_sim *s, const struct kb_topology *topo, const struct kb_options *options)
{
    s->topo = topo;
    if (options)
        s->options = *options;
    s->mask = cost_without(s->options.costs_off);
    s->sorted = true;
    s->free_child = TXN_NONE;
    s->more_rows = sim_room;
    s->fingerprint = FNV_OFFSET;
    s->stop_fs = sim_last_fs(s) + 1;
    s->pause_fs = UINT64_MAX;
    s->pause_done = UINT32_MAX;
    calendar_clear(&s->calendar);
    return ev_queue_init(&s->queue) && stations_init(s) && make_lists(s) && instances_init(s) &&
           flows_init(&s->flows, topo) &&
           (!topology_has_l2(topo) || flows_init(&s->of_children, topo)) &&
           (topo->links != MODE_ROUTER || router_new(s));
}

void sim_clear(struct kb_sim *s)
{
    router_free(s);
    flows_free(&s->flows, s->topo);
    if (topology_has_l2(s->topo))
        flows_free(&s->of_children, s->topo);
    instances_free(s);
    free(s->pipes);
    stations_free(s);
    servers_end(s);
    idle_free(s->idle);
    rows_release(s->txns, s->txns_cap, sizeof *s->txns);
    free(s->order);
    free(s->completed.ids);
    split_free(s);
    ev_queue_free(&s->queue);
    free(s->children.rows);
    calendar_free(&s->calendar);
    inorder_free(s);
}

/* As many rows that say what is a part of what, and where transactions lie. */
static bool room_for_splits(struct kb_sim *s, uint32_t n)
{
    uint32_t had = s->txns_cap;

    if (!s->splits)
        return true;
    if (!branches_room(s, n) || !rows_widen(&s->splits, had, n, sizeof *s->splits) ||
        (s->options.live && !rows_widen(&s->slots, had, n, sizeof *s->slots)) ||
        (s->places && !rows_widen(&s->places, had, n, sizeof *s->places)))
        return false;
    for (uint32_t slot = had; slot < n; slot++)
        split_none(s, slot);
    return true;
}

bool sim_room(struct kb_sim *s, uint32_t n)
{
    struct txn *moved = s->txns;

    if (n <= s->txns_cap)
        return true;
    if (!room_for_splits(s, n) || !instances_room(s, n) || (s->router && !router_room(s, n)) ||
        !servers_room(s, n))
        return false;
    moved = rows_resize(s->txns, s->txns_cap, n, sizeof *moved);
    if (!moved)
        return false;
    s->txns = moved;
    s->txns_cap = n;
    return true;
}
