/* traffic_walk.c -- patterns stream, strided:N and random: the places in memory that PEs go to.
 *
 * Each PE has a share of the addresses: its home slice; if slices are interleaved, its part of
 * those of that slice's cube (of its SIP, with `over: sip`), which are cut equally among the PEs
 * with their home there, in whole granules. Where cubes differ, all have the least share of any.
 * Its k-th transaction, from 0, has the address
 *
 *     begin of the share + (k mod steps) * step      steps = (share - nbytes) / step + 1
 *
 * with step = nbytes for stream and N for strided:N. So it begins again where a transaction would
 * pass the end. With random the steps are of nbytes too, and which one is drawn from the seed, the
 * source and k: a place does not depend on what was drawn before. Where a PE reads and writes, the
 * k-th write is half of all steps on from the k-th read, as in a copy. What lies in several slices
 * is split (engine/split.h).
 *
 * Example: cube8 with granule 4096. The share of c0.pe1 begins at 6 GiB, block 1572864, which is in
 * slice 0, as those of all PEs. By transactions of 4096 bytes a stream comes to slices 0, 1, 2, ...
 * in turn; strided:32K always to slice 0, as 8 slices of 4096 bytes are 32 KiB.
 */
#include "engine/traffic.h"
#include <stdlib.h>
#include "machine/address.h"
#include "machine/endpoint.h"
#include "machine/pes.h"

/* The first cube of the space of addresses in which a PE walks: that of its home slice. */
static uint32_t space_of(const struct kb_topology *t, const struct traffic *tr, uint32_t pe)
{
    return interleaved_of(t, dst_cube(t, tr->home_of[pe])).cube;
}

/* Counts the PEs of each space, in their order: the rank of each is how many there are before it.
 */
static bool rank_pes(const struct kb_topology *t, struct traffic *tr, uint32_t *of_space)
{
    tr->rank_of = calloc(tr->n_pes, sizeof *tr->rank_of);
    if (!tr->rank_of)
        return false;
    for (uint32_t pe = 0; pe < tr->n_pes; pe++)
        if (tr->home_of[pe] != NO_SLICE)
            tr->rank_of[pe] = of_space[space_of(t, tr, pe)]++;
    return true;
}

/* The share of a PE whose space is cut among those of `of_space`; NULL: slices are not interleaved.
 */
static uint64_t share_of(const struct kb_topology *t, const struct traffic *tr, uint32_t pe,
                         const uint32_t *of_space)
{
    uint64_t share;
    uint32_t home;

    if (tr->home_of[pe] == NO_SLICE)
        return 0;
    home = dst_cube(t, tr->home_of[pe]);
    if (!of_space)
        return kind_at(t, home)->hbm.nbytes;
    share = interleaved_of(t, home).bytes / of_space[space_of(t, tr, pe)];
    return share >= t->granule ? share / t->granule * t->granule : share;
}

/* The share that each PE has: the least of all. False: no memory. */
static bool find_share(const struct kb_topology *t, struct traffic *tr)
{
    uint32_t *of_space = t->granule ? calloc(sim_cubes(t), sizeof *of_space) : NULL;
    bool ok = !t->granule || (of_space && rank_pes(t, tr, of_space));

    tr->share_bytes = UINT64_MAX;
    for (uint32_t pe = 0; ok && pe < tr->n_pes; pe++) {
        uint64_t share = share_of(t, tr, pe, of_space);

        tr->share_bytes = share < tr->share_bytes ? share : tr->share_bytes;
    }
    free(of_space);
    return ok;
}

kb_status walk_init(struct traffic *tr, const struct kb_topology *t, kb_error *why)
{
    uint64_t nbytes = tr->request.nbytes, stride = tr->request.stride;

    if (!find_share(t, tr))
        return KB_NO_MEMORY;
    if (nbytes > tr->share_bytes)
        return endpoint_error(why, "%llu bytes are more than the share of a PE, which is %llu",
                              (unsigned long long)nbytes, (unsigned long long)tr->share_bytes);
    if (tr->request.pattern == KB_STRIDED && (stride == 0 || stride > tr->share_bytes))
        return endpoint_error(why, "the stride is not within 1..%llu, the share of a PE",
                              (unsigned long long)tr->share_bytes);
    tr->step_bytes = tr->request.pattern == KB_STRIDED ? stride : nbytes;
    tr->steps = (tr->share_bytes - nbytes) / tr->step_bytes + 1;
    return KB_OK;
}

uint64_t walk_offset(const struct traffic *tr, uint32_t source, uint32_t k)
{
    struct rng rng;

    if (tr->request.pattern == KB_RANDOM) {
        rng = random_place(tr, source, k);
        return rng_next(&rng) % tr->steps * tr->step_bytes;
    }
    return (k + source % tr->kinds * (tr->steps / 2)) % tr->steps * tr->step_bytes;
}

uint64_t walk_address(const struct kb_topology *t, const struct traffic *tr, uint32_t source,
                      uint32_t k)
{
    uint32_t pe = source / tr->kinds, cube = space_of(t, tr, pe);
    uint64_t at = tr->rank_of[pe] * tr->share_bytes + walk_offset(tr, source, k);
    uint64_t bytes = address_cube_bytes(t, cube);

    if (t->address_over == OVER_SIP)
        cube = address_cube_of_rank(t, cube / t->cubes, (uint32_t)(at / bytes));
    return address_base(t, cube) + at % bytes;
}
