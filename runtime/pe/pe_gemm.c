/* pe_gemm.c */
#include "pe/boxes.h"

int64_t pe_gemm_fs(const struct kb_sim *s, uint64_t m, uint64_t k, uint64_t n)
{
    const struct pe_row *pe = &s->topo->pe;
    uint64_t cycles = parts_of(m, pe->mac[0]) * parts_of(k, pe->mac[1]) * parts_of(n, pe->mac[2]);

    return (pe->gemm_overhead_fs & s->mask.overhead) +
           (drain_fs(cycles, pe->gemm_clock_ghz) & s->mask.compute);
}
