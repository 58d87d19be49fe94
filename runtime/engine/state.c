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
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/rows.h"
#include "engine/inorder.h"
#include "engine/router.h"
#include "machine/walk.h"
#include "network/banks_state.h"

#define FNV_OFFSET UINT64_C(0xcbf29ce484222325)

/* -- stations ------------------------------------------------------------------------------- */

/* Idle stations, station `i` with so many servers as `servers` says; if `cost` is left out, all. */
static struct station *stations_new(const struct kb_sim *s, size_t n, enum kb_cost_class cost,
                                    uint32_t (*servers)(const struct kb_topology *t, uint32_t i))
{
    struct station *rows = rows_new(n, sizeof *rows);

    for (size_t i = 0; rows && i < n; i++) {
        rows[i].queue.head = TXN_NONE;
        rows[i].holder = TXN_NONE;
        rows[i].idle = sim_servers(s, cost, servers(s->topo, (uint32_t)i));
    }
    return rows;
}

static struct memory_station *memories_new(size_t n)
{
    struct memory_station *rows = rows_new(n, sizeof *rows);

    for (size_t i = 0; rows && i < n; i++)
        rows[i].head = rows[i].holder = TXN_NONE;
    return rows;
}

/* An idle link, which may keep the room that it had. */
static struct link_station idle_link(const struct link_station *l)
{
    return (struct link_station){.holder = TXN_NONE, .enter_fs = l->enter_fs, .room = l->room};
}

void link_clear(struct link_station *l)
{
    uint32_t used = l->next < l->room ? l->next : l->room;

    if (used)
        memset(l->enter_fs, 0, used * sizeof *l->enter_fs);
    *l = idle_link(l);
}

static struct link_station *links_new(size_t n)
{
    struct link_station *rows = rows_new(n, sizeof *rows);

    for (size_t i = 0; rows && i < n; i++)
        rows[i] = idle_link(&rows[i]);
    return rows;
}

static struct txn_list *pipes_new(size_t n)
{
    struct txn_list *rows = malloc(n * sizeof *rows);

    for (size_t i = 0; rows && i < n; i++)
        rows[i] = (struct txn_list){TXN_NONE, TXN_NONE};
    return rows;
}

static struct cost_mask mask_of(unsigned off)
{
    return (struct cost_mask){
        .wire = off & KB_COST_WIRE ? 0 : -1,
        .overhead = off & KB_COST_OVERHEAD ? 0 : -1,
        .compute = off & KB_COST_COMPUTE ? 0 : -1,
        .link_gbs = off & KB_COST_LINK_GBS ? INFINITY : 0,
        .memory_gbs = off & KB_COST_MEMORY_GBS ? INFINITY : 0,
        .tcm_gbs = off & KB_COST_TCM_GBS ? INFINITY : 0,
    };
}

/* False without memory; sim_clear() frees the part that was made. */
static bool make_stations(struct kb_sim *s)
{
    const struct kb_topology *t = s->topo;
    size_t cubes = sim_cubes(t), pes = cubes << t->pe_bits, memories = cubes << t->unit_bits;
    bool fifo = t->links == MODE_FIFO;

    s->channels = stations_new(s, 2 * pes, KB_COST_CHANNELS, channels_of);
    s->engines = stations_new(s, 2 * cubes, KB_COST_ENGINES, engines_of);
    s->memories = memories_new(memories);
    if (t->links != MODE_ROUTER)
        s->early = links_new(memories);
    if (t->banked)
        s->banks = banks_new(t);
    s->pipes = pipes_new(fifo ? t->sips : cubes);
    if (fifo)
        s->links = links_new(walk_n_links(t));
    if (t->granule)
        s->more_parts = calloc(2 * pes, sizeof *s->more_parts);
    return s->channels && s->engines && s->memories && s->pipes && (!fifo || s->links) &&
           (t->links == MODE_ROUTER || s->early) && (!t->banked || s->banks) &&
           (!t->granule || s->more_parts);
}

bool link_room(struct link_station *l)
{
    enum { FIRST_ROOM = 8 };
    uint32_t room = l->room ? 2 * l->room : FIRST_ROOM;
    uint64_t *more = calloc(room, sizeof *more);

    if (!more)
        return false;
    for (uint32_t i = 1; i <= l->room; i++)
        more[(l->next - i) & (room - 1)] = l->enter_fs[(l->next - i) & (l->room - 1)];
    free(l->enter_fs);
    l->enter_fs = more;
    l->room = room;
    return true;
}

static void links_free(struct link_station *rows, size_t n)
{
    for (size_t i = 0; rows && i < n; i++)
        free(rows[i].enter_fs);
    free(rows);
}

/* -- the whole ------------------------------------------------------------------------------ */

bool sim_init(struct kb_sim *s, const struct kb_topology *topo, const struct kb_options *options)
{
    s->topo = topo;
    if (options)
        s->options = *options;
    s->mask = mask_of(s->options.costs_off);
    s->sorted = true;
    s->issues = (struct txn_list){TXN_NONE, TXN_NONE};
    s->fingerprint = FNV_OFFSET;
    s->stop_fs = sim_last_fs(s) + 1;
    return ev_queue_init(&s->queue) && make_stations(s) && instances_init(s) &&
           flows_init(&s->flows, topo) && (topo->links != MODE_ROUTER || router_new(s));
}

void sim_clear(struct kb_sim *s)
{
    router_free(s);
    flows_free(&s->flows);
    instances_free(s);
    free(s->pipes);
    links_free(s->links, walk_n_links(s->topo));
    links_free(s->early, sim_cubes(s->topo) << s->topo->unit_bits);
    banks_free(s->banks);
    free(s->memories);
    free(s->engines);
    free(s->channels);
    lined_rows_free(s->txns);
    free(s->splits);
    free(s->more_parts);
    ev_queue_free(&s->queue);
    inorder_free(s);
}

/* As many rows that say what is a part of what, for interleaved addresses. */
static bool room_for_splits(struct kb_sim *s, uint32_t n)
{
    struct split *moved;

    if (!s->topo->granule)
        return true;
    moved = realloc(s->splits, n * sizeof *moved);
    if (!moved)
        return false;
    s->splits = moved;
    for (uint32_t slot = s->txns_cap; slot < n; slot++)
        split_none(s, slot);
    return true;
}

bool sim_room(struct kb_sim *s, uint32_t n)
{
    struct txn *moved = s->txns;

    if (n <= s->txns_cap)
        return true;
    if (!room_for_splits(s, n) || !instances_room(s, n) || (s->router && !router_room(s, n)) ||
        (s->banks && !banks_room(s->banks, n)))
        return false;
    moved = lined_rows_grow(s->txns, s->txns_cap, n, sizeof *moved);
    if (!moved)
        return false;
    s->txns = moved;
    s->txns_cap = n;
    return true;
}
