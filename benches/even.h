/* even.h -- for benches whose work is cut so that every cube must have as many PEs as any other. */
#ifndef EVEN_H
#define EVEN_H
#include "tl.h"
#include <stdio.h>

/* Whether the machine is so; if not, the bench refuses it, and names the first part that is
 * missing. */
static inline bool is_even(kb_bench_run *run, const char *bench)
{
    const kb_topology *topo = kb_bench_topology(run);
    char text[128] = "", name[KB_ENDPOINT_BYTES];
    kb_cube cube;
    kb_info info;

    kb_topology_info(topo, &info);
    if (kb_pe_count(topo) == 0)
        snprintf(text, sizeof text, "%s needs PEs, this topology has none", bench);
    for (uint32_t i = 0; i < info.sips * info.cubes_per_sip && !*text; i++) {
        uint32_t sip = i / info.cubes_per_sip, c = i % info.cubes_per_sip, pe = 0;

        if (kb_cube_get(topo, sip, c, &cube) != KB_OK) {
            snprintf(text, sizeof text, "%s needs all cubes: cube %u of SIP %u is missing", bench,
                     c, sip);
        } else if (cube.n_pes < info.pes_per_cube) {
            while (cube.pes[pe / 64] >> pe % 64 & 1)
                pe++;
            kb_endpoint_name(&(kb_endpoint){KB_PE, sip, c, pe}, name);
            snprintf(text, sizeof text, "%s needs as many PEs in every cube: %s is missing", bench,
                     name);
        }
    }
    if (*text)
        kb_bench_refuse(run, text);
    return !*text;
}

#endif
