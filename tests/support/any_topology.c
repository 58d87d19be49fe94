/* any_topology.c -- load, check and route of kbgen, then rows into a kb_topology. */
#include "any_topology.h"
#include <stdlib.h>
#include <string.h>
#include "gen/check.h"
#include "gen/load.h"
#include "gen/resolve.h"
#include "gen/route.h"

/* The topology first: a pointer to it is one to the whole. */
struct any {
    struct kb_topology topo;
    struct arena arena;
    struct diag diag;
    struct spec spec;
    struct routes routes;
};

/* What templates/topo.c.m4 writes as initialisers. */
static struct kb_topology topology_of(const struct spec *spec, const struct routes *r)
{
    return (struct kb_topology){
        .name = spec->name,
        .config = resolve(spec),
        .hash = resolve_hash(spec),
        .links = spec->contention_links == LINKS_FIFO ? MODE_FIFO : MODE_IDEAL,
        .sips = (uint32_t)spec->sips,
        .w = r->w,
        .h = r->h,
        .cubes = r->w * r->h,
        .pes = r->pes,
        .n_nodes = (uint32_t)r->n_nodes,
        .n_edges = (uint32_t)r->n_edges,
        .n_units = r->n_units,
        .pe_bits = r->pe_bits,
        .unit_bits = r->unit_bits,
        .read_channels = (uint32_t)spec->cube_pe_pe_dma_read_channels,
        .write_channels = (uint32_t)spec->cube_pe_pe_dma_write_channels,
        .read_engines = (uint32_t)spec->cube_m_cpu_dma_read,
        .write_engines = (uint32_t)spec->cube_m_cpu_dma_write,
        .n_cube_links = r->n_cube_links,
        .n_io_links = r->n_io_links,
        .m_cpu_node = CUBE_M_CPU,
        .sram_node = CUBE_SRAM,
        .first_hbm_node = r->first_hbm_node,
        .first_pe_node = r->first_pe_node,
        .ucie_overhead_fs = r->ucie_overhead_fs,
        .hbm = r->hbm,
        .sram = r->sram,
        .tcm_read = r->tcm_read,
        .tcm_write = r->tcm_write,
        .pe = r->pe,
        .cube_nodes = r->cube_nodes,
        .io_nodes = r->io_nodes,
        .fabric_nodes = r->fabric_nodes,
        .cube_links = r->cube_links,
        .io_links = r->io_links,
        .hops = r->hops,
        .legs = r->legs,
        .segments = r->segments,
        .seg_local = (uint16_t)r->seg_local,
        .seg_out = (uint16_t)r->seg_out,
        .seg_pass = (uint16_t)r->seg_pass,
        .seg_in = (uint16_t)r->seg_in,
        .seg_host = (uint16_t)r->seg_host,
        .seg_host_in = (uint16_t)r->seg_host_in,
        .seg_cross = (uint16_t)r->seg_cross,
        .cost_local = r->cost_local,
        .cost_out = r->cost_out,
        .cost_in = r->cost_in,
        .cost_mesh = r->cost_mesh,
        .cube_pos = r->cube_pos,
        .mesh_middle = r->mesh_middle,
        .cost_leave = r->cost_leave,
        .cost_enter = r->cost_enter,
        .cost_host = r->cost_host,
        .cost_host_cpu = &r->cost_host_cpu,
        .cost_host_in = r->cost_host_in,
        .cost_launch = r->cost_launch,
    };
}

const kb_topology *any_topology(const char *yaml)
{
    struct any *any = calloc(1, sizeof *any);
    const char *text;

    if (!any)
        return NULL;
    any->diag.out = stderr;
    text = arena_copy(&any->arena, yaml, strlen(yaml));
    spec_init(&any->spec, &any->arena, &any->diag);
    load_text(&any->spec, "topology", text, strlen(text));
    if (!check(&any->spec) || !route(&any->routes, &any->spec, &any->arena)) {
        any_topology_free(&any->topo);
        return NULL;
    }
    any->topo = topology_of(&any->spec, &any->routes);
    return &any->topo;
}

void any_topology_free(const kb_topology *topo)
{
    struct any *any = (struct any *)topo;

    if (!any)
        return;
    arena_release(&any->arena);
    free(any);
}
