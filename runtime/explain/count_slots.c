/* count_slots.c -- counts and waits of a run whose transactions keep their slots: of a replay.
 *
 * Nothing is counted while it runs: all follows from the times of the transactions afterwards.
 * Kernels and traffic use slots again and count as they go.
 */
#include "explain/count_slots.h"
#include <string.h>
#include "engine/inorder.h"
#include "engine/split.h"
#include "engine/stations.h"
#include "engine/traffic.h"
#include "machine/endpoint.h"
#include "machine/walk.h"
#include "network/banks_state.h"

/* Clears the counts of an earlier call: the run has gone on since. */
static void forget_counts(struct kb_sim *s)
{
    const struct kb_topology *t = s->topo;
    size_t cubes = sim_cubes(t), pes = cubes << t->pe_bits, memories = cubes << t->unit_bits;

    for (size_t i = 0; i < 2 * pes; i++)
        s->channels[i].count = s->channels[i].bytes = 0, s->channels[i].wait_fs = 0;
    for (size_t i = 0; i < 2 * cubes; i++)
        s->engines[i].count = s->engines[i].bytes = 0, s->engines[i].wait_fs = 0;
    for (size_t i = 0; i < memories; i++)
        if (!sim_counts_waits(s, (uint32_t)i))
            s->memories[i].wait_fs = 0;
    if (s->more_parts)
        memset(s->more_parts, 0, 2 * pes * sizeof *s->more_parts);
    flows_clear(&s->flows, t);
}

/* Its channel, or its engine, is behind it. */
static bool has_taken_first(const struct txn *x)
{
    return x->stage != TXN_WAITING && x->stage != TXN_TO_ENGINE;
}

void count_slots(struct kb_sim *s)
{
    if (s->counted)
        forget_counts(s);
    s->counted = true;
    if (topology_has_l2(s->topo))
        flows_add(&s->flows, &s->of_children, s->topo);
    for (uint32_t i = 0; i < s->n_txns + s->n_parts; i++) {
        const struct txn *txn = &s->txns[i];
        size_t writes = txn_writes(txn);

        if (!has_taken_first(txn) || is_child(s, i))
            continue; /* children were counted as they set out */
        if (!txn_of_host(txn) && !is_part(s, i))
            s->channels[2 * (size_t)txn->src + writes].wait_fs += txn->wait_fs;
        if (is_split(s, i) && !is_part(s, i))
            continue; /* its parts have all else */
        if (txn_of_host(txn))
            s->engines[2 * (size_t)dst_cube(s->topo, txn->dst) + writes].wait_fs += txn->wait_fs;
        if (txn->stage != TXN_DONE)
            continue;
        if (!sim_counts_waits(s, txn->dst) && !txn_queues(s, txn)) /* those have counted it */
            s->memories[txn->dst].wait_fs += txn->service_fs - txn->arrive_fs;
        sim_count(s, txn);
        split_count_part(s, i);
    }
}
