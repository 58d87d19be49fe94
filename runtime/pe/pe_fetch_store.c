/* pe_fetch_store.c -- pe_fetch_store: FETCH from the TCM to an engine, STORE of its result.
 *
 * What it holds   the read port (FETCH) or the write port (STORE) of the PE's own TCM, nothing
 *                 else: FETCH of one command overlaps with the engine that works for another
 * For how long    llround(bytes * 1e6 / read_gbs) or write_gbs, in fs; no overhead
 * Lets in first   first come, first served, together with DMAs of other PEs to this TCM
 * Wait counted    port_wait of --breakdown, at the port
 * Golden number   docs/kernels.md "Worked: four commands": 2048 bytes at 512 GB/s take 4 ns
 */
#include "pe/boxes.h"

static int64_t port_fs(const struct kb_sim *s, const struct memory_row *tcm, uint64_t nbytes)
{
    return drain_fs(nbytes, tcm->gbs + s->mask.tcm_gbs);
}

int64_t pe_fetch_fs(const struct tl_ctx *pe, uint64_t nbytes)
{
    return port_fs(pe->sim, &pe_kind(pe)->tcm_read, nbytes);
}

int64_t pe_store_fs(const struct tl_ctx *pe, uint64_t nbytes)
{
    return port_fs(pe->sim, &pe_kind(pe)->tcm_write, nbytes);
}

void pe_fetch(struct kb_sim *s, uint64_t t, const struct stage *stage, uint64_t nbytes)
{
    stage_begin(s, t, stage, PORT_TCM_READ, pe_fetch_fs(stage->command->pe, nbytes), nbytes);
}

void pe_store(struct kb_sim *s, uint64_t t, const struct stage *stage, uint64_t nbytes)
{
    stage_begin(s, t, stage, PORT_TCM_WRITE, pe_store_fs(stage->command->pe, nbytes), nbytes);
}
