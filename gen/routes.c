/* routes.c -- the tables of a topology: nodes and links, segments of routes, their costs. */
#include "routes.h"
#include "check.h"
#include "costs.h"
#include "feeds.h"
#include "nodes.h"
#include "resolve.h"
#include "segments.h"

/* Bits that number `n` things. */
static uint32_t bits_for(uint32_t n)
{
    uint32_t bits = 0;

    while (UINT32_C(1) << bits < n)
        bits++;
    return bits;
}

static void set_texts(struct routes *r)
{
    r->topo.name = r->spec->name;
    r->topo.config = resolve(r->spec);
    r->topo.hash = resolve_hash(r->spec);
}

static void set_counts(struct routes *r)
{
    const struct spec *s = r->spec;
    struct kb_topology *t = &r->topo;

    t->links = (uint8_t)s->contention_links;
    t->sips = (uint32_t)s->sips;
    t->w = (uint32_t)s->sip_cube_mesh_w;
    t->h = (uint32_t)s->sip_cube_mesh_h;
    t->cubes = t->w * t->h;
    r->pes = (uint32_t)s->cube_pes;
    r->slices = (uint32_t)slices_of(s);
    r->crossbars = (uint32_t)crossbars_of(s);
    t->pes = r->pes;
    t->slices = r->slices;
    t->n_units = t->slices + 1 + t->pes;
    t->alike = true;
    t->pe_bits = bits_for(t->pes);
    t->unit_bits = bits_for(t->n_units);
    t->read_channels = (uint32_t)s->cube_pe_pe_dma_read_channels;
    t->write_channels = (uint32_t)s->cube_pe_pe_dma_write_channels;
    t->read_engines = (uint32_t)s->cube_m_cpu_dma_read;
    t->write_engines = (uint32_t)s->cube_m_cpu_dma_write;
    t->m_cpu_node = CUBE_M_CPU;
    t->sram_node = CUBE_SRAM;
    t->ucie_overhead_fs = fs_of_ns(s->cube_ucie_overhead_ns);
}

/* The topology's tables are those of `r`. */
static void set_tables(struct routes *r)
{
#define TABLE(type, name) r->topo.name = r->name;
#include "machine/topology.def"
}

bool make_routes(struct routes *r, const struct spec *spec, struct arena *arena)
{
    *r = (struct routes){.arena = arena, .spec = spec};
    set_texts(r);
    set_counts(r);
    make_nodes(r);
    make_segments(r);
    make_feeds(r);
    bool fits = make_costs(r);
    set_tables(r);
    if (fits)
        return true;
    return diag_error(spec->diag, spec_place(spec, KEY_ns_per_mm),
                      "a part of a route takes longer than 2^58 fs, too long for simulated time");
}
