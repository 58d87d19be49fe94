/* traffic_walk.c -- patterns stream, strided:N and random: the places in memory that PEs go to.
 *
 * Each PE has a share of the addresses: its own slice; if slices are interleaved, its part of those
 * of its cube (of its SIP, with `over: sip`), which are cut equally among the PEs, in whole
 * granules. Where cubes differ, all have the least share of any. Its k-th transaction, from 0, has
 * the address
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
#include "machine/address.h"
#include "machine/endpoint.h"
#include "machine/pes.h"

/* The first PE among which the addresses of the space of `cube` are cut, and how many there are. */
static uint32_t pes_of_space(const struct kb_topology *t, uint32_t cube, uint32_t *n)
{
    uint32_t first = cube, cubes = 1;

    if (t->address_over == OVER_SIP) {
        first = cube / t->cubes * t->cubes;
        cubes = t->cubes;
    }
    *n = cube_first_pe(t, first + cubes) - cube_first_pe(t, first);
    return cube_first_pe(t, first);
}

/* Of a PE of `cube`. */
static uint64_t share_of(const struct kb_topology *t, uint32_t cube)
{
    uint64_t share;
    uint32_t n;

    if (!t->granule)
        return kind_at(t, cube)->hbm.nbytes;
    pes_of_space(t, cube, &n);
    share = interleaved_of(t, cube).bytes / n;
    return share >= t->granule ? share / t->granule * t->granule : share;
}

/* The share that each PE has: the least of all cubes with PEs. */
static uint64_t least_share(const struct kb_topology *t)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t cube = 0; cube < sim_cubes(t); cube++)
        if (cube_pe_count(t, cube) && share_of(t, cube) < least)
            least = share_of(t, cube);
    return least;
}

kb_status walk_init(struct traffic *tr, const struct kb_topology *t, kb_error *why)
{
    uint64_t nbytes = tr->request.nbytes, stride = tr->request.stride;

    tr->share_bytes = least_share(t);
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
    uint32_t pe = source / tr->kinds, cube = pe_cube(t, pe), n, first = pes_of_space(t, cube, &n);
    uint64_t at = (pe - first) * tr->share_bytes + walk_offset(tr, source, k);
    uint64_t bytes = address_cube_bytes(t, cube);

    cube = interleaved_of(t, cube).cube;
    if (t->address_over == OVER_SIP)
        cube = address_cube_of_rank(t, cube / t->cubes, (uint32_t)(at / bytes));
    return address_base(t, cube) + at % bytes;
}
