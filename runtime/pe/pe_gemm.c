/* pe_gemm.c -- pe_gemm: the engine for products of matrices.
 *
 * What it holds   the engine, PORT_GEMM, for one product or one tile at a time
 * For how long    overhead + ceil(M / mac[0]) * ceil(K / mac[1]) * ceil(N / mac[2]) cycles: a
 *                 partial block of the array takes a whole cycle
 * Lets in first   first come, first served: dots and tiles of composites alike
 * Wait counted    engine_wait of --breakdown
 * Golden number   docs/kernels.md "Worked: four commands": 32x64x32 with mac [16, 16, 16] at 1 GHz
 *                 takes 2 * 4 * 2 = 16 cycles, 16 ns
 *
 * Only time is spent here. The values are computed in Phase 2, if they are asked for.
 */
#include "pe/boxes.h"

struct engine_work pe_gemm_work(const struct tl_ctx *of, uint64_t m, uint64_t k, uint64_t n)
{
    const struct pe_row *pe = &pe_kind(of)->pe;
    const struct cost_mask *mask = &of->sim->mask;
    uint64_t cycles = parts_of(m, pe->mac[0]) * parts_of(k, pe->mac[1]) * parts_of(n, pe->mac[2]);

    return (struct engine_work){
        .overhead_fs = pe->gemm_overhead_fs & mask->overhead,
        .cycles_fs = drain_fs(cycles, pe->gemm_clock_ghz) & mask->compute,
        .cycles = cycles,
        .m = (uint32_t)m,
        .k = (uint32_t)k,
        .n = (uint32_t)n,
    };
}
