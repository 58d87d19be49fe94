/* again.c -- stations, memories and links along the ways of rows, made idle. */
#include "sim/again.h"
#include "engine/inorder.h"
#include "engine/router.h"
#include "engine/split.h"
#include "engine/stations.h"
#include "machine/walk.h"
#include "network/server.h"

/* Links with a queue that it may have taken. */
static void clear_links(struct kb_sim *s, const struct txn *x)
{
    const struct kb_topology *t = s->topo;
    const struct trip trip = txn_trip(t, x);
    struct route_at at = walk_begin(t, &trip);

    for (;;) {
        const struct segment_row *seg = walk_segment(t, at);

        for (uint32_t i = 0; i < seg->n_legs; i++) {
            const struct leg_row *leg = &t->legs[seg->first_leg + i];
            struct walk_edge edge = {leg->owner, leg->back, leg->link};

            if (leg->owner != LINK_NONE)
                link_clear(&s->links[walk_link(t, edge, at.cube, &trip) ^ !txn_writes(x)]);
        }
        if (seg->exit == EXIT_END)
            return;
        at = walk_next(t, &trip, at);
    }
}

/* All of it: children of an L2 may have come anywhere. */
static void clear_all(struct kb_sim *s)
{
    const struct kb_topology *t = s->topo;

    for (size_t i = 0; s->links && i < walk_n_links(t); i++)
        link_clear(&s->links[i]);
    for (uint32_t dst = 0; dst < sim_cubes(t) << t->unit_bits; dst++) {
        if (dst_unit(t, dst) >= t->n_units)
            continue;
        s->memories[dst] = (struct memory_station){.head = TXN_NONE, .holder = TXN_NONE};
        if (!unit_is_tcm(t, dst_unit(t, dst)))
            server_clear(s, dst);
        if (s->early)
            link_clear(&s->early[dst]);
        instance_clear_memory(s, dst);
    }
    instances_clear_nodes(s);
    flows_clear(&s->of_children, t);
    s->free_child = TXN_NONE;
}

/* The memory that a row has come to, and what it took on its way there. */
static void clear_way(struct kb_sim *s, const struct txn *x)
{
    size_t engine = 2 * (size_t)dst_cube(s->topo, x->dst) + txn_writes(x);

    s->memories[x->dst] = (struct memory_station){.head = TXN_NONE, .holder = TXN_NONE};
    server_clear(s, x->dst);
    if (s->early)
        link_clear(&s->early[x->dst]);
    instance_clear_memory(s, x->dst);
    instances_clear_nodes(s);
    if (txn_of_host(x)) {
        stations_clear(&s->engines[engine]);
        link_clear(&s->turns[engine]);
    } else {
        stations_clear_channel(s, 2 * (size_t)x->src + txn_writes(x));
    }
    if (s->links)
        clear_links(s, x);
}

void again_clear(struct kb_sim *s, uint32_t row)
{
    uint32_t part = s->splits ? s->splits[row].next : TXN_NONE;

    if (part == TXN_NONE)
        clear_way(s, &s->txns[row]);
    for (; part != TXN_NONE; part = s->splits[part].next)
        clear_way(s, &s->txns[part]);
}

void again_rewind(struct kb_sim *s)
{
    if (s->router)
        router_clear(s);
    if (topology_has_l2(s->topo))
        clear_all(s);
    s->n_txns = s->n_parts = s->next_row = s->n_done = 0;
    s->started = false;
    s->end_fs = s->child_end_fs = 0;
    s->now_fs = 0;
    inorder_rewind(s);
}
