/* lone_runs.c -- a transaction by itself: an idle simulation that is kept, and cleared behind each.
 */
#include "sim/lone_runs.h"
#include "engine/engine.h"
#include "engine/inorder.h"
#include "engine/router.h"
#include "engine/split.h"
#include "engine/stations.h"
#include "machine/alone.h"
#include "network/banks_state.h"
#include "sim/again.h"
#include <stdlib.h>

/* What the answer depends on: all of its row but when it came, and where its bytes lie. */
struct lone_key {
    uint64_t nbytes, offset;
    uint32_t src, dst, way;
};

enum { LONE_BITS = 12 };

struct lone_runs {
    struct kb_sim *sim; /* owned; idle; NULL: none was needed yet */
    struct lone_key keys[1 << LONE_BITS];
    struct lone known[1 << LONE_BITS];
};

bool lone_is_run(const struct kb_sim *s, const struct txn *txn)
{
    return s->router && s->topo->impls &&
           (s->topo->impls->nodes || memory_queues(s->topo, txn->dst));
}

bool lone_begin(struct kb_sim *s)
{
    if (!s->topo->splits && (!s->router || !s->topo->impls))
        return true;
    s->lone_of = lone_of;
    s->lone = calloc(1, sizeof *s->lone);
    return s->lone;
}

static void free_sim(struct lone_runs *runs)
{
    if (runs->sim)
        sim_clear(runs->sim);
    free(runs->sim);
    runs->sim = NULL;
}

void lone_free(struct lone_runs *runs)
{
    if (runs)
        free_sim(runs);
    free(runs);
}

/* Has it parts? It may be one itself, which runs as one that has none. */
static bool has_parts(const struct kb_sim *s, uint32_t slot)
{
    return is_split(s, slot) && s->splits[slot].whole == slot;
}

/* Where its bytes lie: of one with parts as struct bytes_at has it. */
static uint64_t place_of_bytes(const struct kb_sim *s, uint32_t slot)
{
    const struct memory_row *hbm = &kind_at(s->topo, dst_cube(s->topo, s->txns[slot].dst))->hbm;
    bool matters = s->topo->banked || s->topo->impls || hbm->access_bytes ||
                   hbm->model == MEMORY_CACHE || topology_has_l2(s->topo);

    if (has_parts(s, slot))
        return matters || s->splits[slot].by_address ? s->txns[slot].address : 0;
    return s->instances.served ? s->instances.served[slot].offset : 0;
}

/* The idle simulation has one row, as that in `slot`. False: no memory. */
static bool fill(const struct kb_sim *s, struct lone_runs *runs, uint32_t slot, uint64_t offset)
{
    const struct txn *txn = &s->txns[slot];
    const struct kb_options options = {.costs_off = s->options.costs_off};
    struct kb_sim *lone = runs->sim;
    struct bytes_at bytes;

    if (!lone) {
        lone = runs->sim = calloc(1, sizeof *lone);
        if (!lone || !sim_init(lone, s->topo, &options) || !sim_room(lone, 1))
            return false;
        stations_make_all(lone);
    }
    lone->txns[0] = (struct txn){.nbytes = txn->nbytes,
                                 .op = txn->op,
                                 .stage = TXN_WAITING,
                                 .course = txn->course,
                                 .chiplet = txn->chiplet,
                                 .prio = txn->prio,
                                 .src = txn->src,
                                 .dst = txn->dst,
                                 .id = txn->id, /* courses may be chosen by it */
                                 .next = TXN_NONE};
    lone->n_txns = 1;
    lone->n_parts = 0;
    lone->ways = txn_way(lone->txns);
    if (s->splits && !split_begin(lone))
        return false;
    if (lone->splits)
        split_none(lone, 0);
    split_place(lone, 0, offset);
    if (!has_parts(s, slot))
        return true;
    bytes = split_bytes(s, slot);
    bytes.at = offset;
    return split_later(lone, 0, &bytes) && split_all(lone, 0, 1, NULL) == KB_OK;
}

static struct lone run(const struct kb_sim *s, struct lone_runs *runs, uint32_t slot,
                       uint64_t offset)
{
    const struct txn *txn = &s->txns[slot];
    const struct trip trip = txn_trip(s->topo, txn);
    struct lone lone = {.fs = INT64_MAX};
    struct kb_sim *sim;
    kb_status status;

    status = fill(s, runs, slot, offset) ? engine_run(runs->sim, UINT64_MAX) : KB_NO_MEMORY;
    if (status != KB_OK) {
        s->idle->lost |= status == KB_NO_MEMORY;
        free_sim(runs);
        return lone;
    }
    sim = runs->sim;
    lone.fs = sim->end_fs;
    lone.memory_fs = sim->txns[0].service_fs - sim->txns[0].arrive_fs -
                     cost_by_tables(s->topo, &s->mask, txn->op, &trip, txn->nbytes).drain_fs;
    again_clear(sim, 0);
    again_rewind(sim);
    return lone;
}

static bool is_same(const struct lone_key *a, const struct lone_key *b)
{
    return a->nbytes == b->nbytes && a->offset == b->offset && a->src == b->src &&
           a->dst == b->dst && a->way == b->way;
}

/* Of a tile, or where its id says which ways or lanes its parts take, no answer is kept. */
static bool is_of_any_shape(const struct kb_sim *s, uint32_t slot)
{
    return s->topo->paths > 1 || (s->router && s->router->turns > 1) ||
           (s->places && s->places[slot].tile.n > 1);
}

struct lone lone_of(const struct kb_sim *s, uint32_t slot)
{
    struct lone_runs *runs = s->lone;
    const struct txn *x = &s->txns[slot];
    bool parts = has_parts(s, slot);
    const struct lone_key key = {
        .nbytes = x->nbytes,
        .offset = place_of_bytes(s, slot),
        .src = x->src,
        .dst = x->dst,
        .way = 1u + (x->op | (uint32_t)x->course << 2 | (uint32_t)x->chiplet << 8 |
                     (uint32_t)x->prio << 10 | (uint32_t)parts << 12 |
                     (uint32_t)(parts && s->splits[slot].by_address) << 13)};
    bool any = parts && is_of_any_shape(s, slot);
    uint64_t mixed = key.nbytes ^ key.offset << 8 ^ (uint64_t)key.src << 40 ^
                     (uint64_t)key.dst << 20 ^ (uint64_t)key.way << 52;
    uint32_t place = (uint32_t)(mixed * UINT64_C(0x9e3779b97f4a7c15) >> (64 - LONE_BITS));

    if (any || !is_same(&runs->keys[place], &key)) {
        runs->known[place] = run(s, runs, slot, key.offset);
        runs->keys[place] = key;
        if (any || s->idle->lost)
            runs->keys[place].way = 0;
    }
    return runs->known[place];
}
