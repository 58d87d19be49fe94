/* even.h -- for benches whose work is cut so that every cube that has PEs has as many. */
#ifndef EVEN_H
#define EVEN_H
#include "tl.h"
#include "llm/queue_room.h"
#include <stdio.h>

/*
 * What kb_topology_info() says, without the cubes that have no PEs: memory dies, switches, missing
 * ones. Where there are some, the others are a row. The machine is even, or has no PEs.
 */
static inline kb_info info_of_pes(const kb_topology *topo)
{
    kb_endpoint pe;
    kb_cube cube;
    kb_info info;

    kb_topology_info(topo, &info);
    if (kb_pe_get(topo, 0, &pe) != KB_OK)
        return info;
    kb_cube_get(topo, pe.sip, pe.cube, &cube);
    uint32_t cubes = kb_pe_count(topo) / info.sips / cube.n_pes;

    info.pes_per_cube = cube.n_pes;
    if (cubes < info.cubes_per_sip) {
        info.cubes_per_sip = info.mesh_w = cubes;
        info.mesh_h = 1;
        info.wrap_x = info.wrap_y = false;
    }
    return info;
}

/* The memory of that kind that a PE has: its home slice, its TCM, the SRAM of its cube;
 * KB_PE: the PE itself. */
static inline kb_endpoint memory_of_pe(const kb_topology *topo, kb_endpoint_kind kind, uint32_t pe)
{
    kb_endpoint end = {0};

    if (kind == KB_SLICE) {
        kb_pe_slice(topo, pe, &end);
        return end;
    }
    kb_pe_get(topo, pe, &end);
    end.kind = kind;
    if (kind == KB_SRAM)
        end.unit = 0;
    return end;
}

/* Its bytes: as many at every PE. */
static inline uint64_t memory_bytes_of_pes(const kb_topology *topo, kb_endpoint_kind kind)
{
    kb_endpoint end = memory_of_pe(topo, kind, 0);

    return kb_memory_bytes(topo, &end);
}

/* Why cube `c` of a SIP keeps a bench from running; `text` is left empty if it does not. Counts the
 * cubes that have PEs. */
static inline void check_cube(const kb_topology *topo, uint32_t sip, uint32_t c, uint32_t *n,
                              char text[128])
{
    uint32_t pes = info_of_pes(topo).pes_per_cube;
    kb_cube cube;

    if (kb_cube_get(topo, sip, c, &cube) != KB_OK || cube.n_pes == 0)
        return;
    ++*n;
    if (cube.n_pes != pes)
        snprintf(text, 128,
                 "needs as many PEs in every cube that has PEs: sip%u.cube%u has %u, the first %u",
                 sip, c, cube.n_pes, pes);
}

/* The same of a SIP. */
static inline void check_sip(const kb_topology *topo, uint32_t sip, uint32_t cubes, char text[128])
{
    uint32_t n = 0, wanted = info_of_pes(topo).cubes_per_sip;

    for (uint32_t c = 0; c < cubes && !*text; c++)
        check_cube(topo, sip, c, &n, text);
    if (!*text && n != wanted)
        snprintf(text, 128, "needs as many cubes with PEs in every SIP: SIP %u has %u", sip, n);
}

/* Whether the machine is so; if not, the bench refuses it, and says the first thing that differs.
 */
static inline bool is_even(kb_bench_run *run, const char *bench)
{
    const kb_topology *topo = kb_bench_topology(run);
    char text[128] = "", line[192];
    kb_info info;

    kb_topology_info(topo, &info);
    if (kb_pe_count(topo) == 0)
        snprintf(text, sizeof text, "needs PEs, this topology has none");
    for (uint32_t sip = 0; sip < info.sips && !*text; sip++)
        check_sip(topo, sip, info.cubes_per_sip, text);
    snprintf(line, sizeof line, "%s %s", bench, text);
    if (*text)
        kb_bench_refuse(run, line);
    return !*text;
}

/* The same, and its PEs have queues for messages. */
static inline bool can_talk(kb_bench_run *run, const char *bench)
{
    char text[QUEUE_TEXT_BYTES], line[QUEUE_TEXT_BYTES + 32];

    if (!is_even(run, bench))
        return false;
    if (queue_has_room(kb_bench_topology(run), text))
        return true;
    snprintf(line, sizeof line, "%s %s", bench, text);
    kb_bench_refuse(run, line);
    return false;
}

#endif
