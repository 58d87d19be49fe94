/* even.h -- for benches whose work is cut so that every cube with PEs must have as many as any
 * other. */
#ifndef EVEN_H
#define EVEN_H
#include "tl.h"
#include <stdio.h>

/*
 * The machine without the cubes that have no PEs: memories, switches, missing ones. If there are
 * such cubes, a SIP is one row of those that are left, by number, whatever shape it has.
 */
static inline kb_info even_info(const kb_topology *topo)
{
    kb_info info;

    kb_topology_info(topo, &info);
    uint32_t in_sip = info.sips * info.pes_per_cube,
             cubes = in_sip ? kb_pe_count(topo) / in_sip : 0;

    if (cubes < info.cubes_per_sip) {
        info.cubes_per_sip = info.mesh_w = cubes;
        info.mesh_h = 1;
        info.wrap_x = info.wrap_y = false;
    }
    return info;
}

/* The first PE that a cube with PEs lacks, in `name`; how many cubes of a SIP have PEs. */
static inline uint32_t cubes_with_pes(const kb_topology *topo, const kb_info *info, uint32_t sip,
                                      char name[KB_ENDPOINT_BYTES])
{
    uint32_t n = 0, pe = 0;
    kb_cube cube;

    for (uint32_t c = 0; c < info->cubes_per_sip; c++) {
        if (kb_cube_get(topo, sip, c, &cube) != KB_OK || cube.n_pes == 0)
            continue;
        n++;
        if (cube.n_pes == info->pes_per_cube || *name)
            continue;
        while (cube.pes[pe / 64] >> pe % 64 & 1)
            pe++;
        kb_endpoint_name(&(kb_endpoint){KB_PE, sip, c, pe}, name);
    }
    return n;
}

/* Whether every cube that has PEs has as many, and every SIP as many such cubes; if not, the bench
 * refuses the machine, and names the first part that is missing. */
static inline bool is_even(kb_bench_run *run, const char *bench)
{
    const kb_topology *topo = kb_bench_topology(run);
    char text[128] = "", name[KB_ENDPOINT_BYTES] = "";
    uint32_t first = 0;
    kb_info info;

    kb_topology_info(topo, &info);
    if (kb_pe_count(topo) == 0)
        snprintf(text, sizeof text, "%s needs PEs, this topology has none", bench);
    for (uint32_t sip = 0; sip < info.sips && !*text; sip++) {
        uint32_t n = cubes_with_pes(topo, &info, sip, name);

        first = sip ? first : n;
        if (*name)
            snprintf(text, sizeof text,
                     "%s needs as many PEs in every cube that has any: %s is missing", bench, name);
        else if (n != first)
            snprintf(text, sizeof text,
                     "%s needs as many cubes with PEs in every SIP: SIP 0 has %u, SIP %u has %u",
                     bench, first, sip, n);
    }
    if (*text)
        kb_bench_refuse(run, text);
    return !*text;
}

#endif
