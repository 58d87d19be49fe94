/* routes.c -- the tables of a topology: nodes and links, segments of routes, their costs. */
#include "stops.h"
#include "routes.h"
#include "between.h"
#include "cache_row.h"
#include "channels.h"
#include "check.h"
#include "homes.h"
#include "kinds.h"
#include "net_routes.h"
#include "nodes.h"
#include "planes.h"
#include "resolve.h"
#include "round_trip.h"
#include "shares.h"
#include "machine/walk.h"
#include <string.h>

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
    r->topo.name = arena_copy(r->arena, r->spec->name, strlen(r->spec->name));
    r->topo.config = resolve(r->spec);
    r->topo.hash = resolve_hash(r->spec, r->topo.config);
}

static void set_routers(struct kb_topology *t, const struct spec *s)
{
    t->segment_bytes = (uint32_t)s->contention_segment_bytes;
    t->packet_bytes = (uint32_t)s->contention_packet_bytes;
    t->buffer_bytes = (uint32_t)s->contention_buffer_bytes;
    t->request_vcs = (uint8_t)s->contention_vcs[0];
    t->answer_vcs = (uint8_t)s->contention_vcs[1];
    t->prios = (uint8_t)s->contention_prios;
    t->command_bytes = (uint32_t)s->contention_command_bytes;
    t->credit_fs = fs_of_ns(s->contention_credit_ns);
    t->vc_alloc_fs = fs_of_ns(s->contention_vc_alloc_ns);
    t->arbiter = (uint8_t)s->contention_arbiter;
    t->input_speedup = (uint8_t)s->contention_input_speedup;
}

static void set_counts(struct routes *r, const struct cubes *cubes)
{
    const struct spec *s = r->spec;
    struct kb_topology *t = &r->topo;

    t->links = (uint8_t)s->contention_links;
    set_routers(t, s);
    t->sips = (uint32_t)s->sips;
    t->switches = net_switches(s);
    t->w = cubes->net ? cubes->net->w : (uint32_t)s->sip_cube_mesh_w;
    t->h = cubes->net ? cubes->net->h : (uint32_t)s->sip_cube_mesh_h;
    t->cubes = t->w * t->h;
    t->ports = cubes->net ? cubes->net->most_ports + 1 : (uint32_t)N_SIDES;
    t->routes_by = (uint8_t)(cubes->net && r->up_down & 1 ? ROUTES_UP_DOWN : ROUTES_ALL);
    t->paths = t->routes_by == ROUTES_UP_DOWN ? 1 : (uint32_t)s->sip_paths;
    t->has_broken = s->broken.n > 0;
    for (uint32_t kind = 0; kind < cubes->n_kinds; kind++)
        t->has_noc_mesh |= cubes->kinds[kind]->cube_noc_model == NOC_MESH;
    t->cube_w_mm = s->cube_size_mm[0];
    t->cube_h_mm = s->cube_size_mm[1];
    t->alike = cubes->alike;
    set_strides(r, cubes);
    t->pe_bits = bits_for(t->sources);
    t->unit_bits = bits_for(t->n_units);
    t->granule = (uint64_t)s->addressing_granule;
    t->offset_bits = s->kernbench < VERSION_OF_KINDS ? 36 : 40;
    t->address_over = (uint8_t)s->addressing_over;
    t->address_hash = (uint8_t)s->addressing_hash;
    t->launch_fs = fs_of_ns(s->software_launch_ns);
    t->call_fs = fs_of_ns(s->software_call_ns);
    t->step_fs = fs_of_ns(s->software_step_ns);
    t->software_unit = (uint8_t)s->software_unit;
}

/* What is there of each cube, unless all are alike. */
static void set_cube_rows(struct routes *r, const struct cubes *cubes)
{
    struct cube_row at = {0};

    if (cubes->alike)
        return;
    r->n_cube_rows = cubes->n + 1;
    r->cube_rows = arena_alloc(r->arena, r->n_cube_rows * sizeof *r->cube_rows);
    for (uint32_t i = 0; i < cubes->n; i++) {
        at.pes = cubes->pes[i];
        at.there = cubes->there[i];
        at.kind = (uint8_t)cubes->kind[i];
        r->cube_rows[i] = at;
        at.first_node += at.there ? count_cube_nodes_of(r, at.kind, &at.pes) : 0;
        at.first_pe += pe_set_count(&at.pes);
        at.first_slice += at.there ? r->kinds[at.kind].slices : 0;
        at.rank += pe_set_count(&at.pes) != 0;
        at.before += at.there && r->kinds[at.kind].slices;
    }
    at.pes = pe_set_of_first(0);
    at.there = at.kind = 0;
    r->cube_rows[cubes->n] = at;
}

/* The topology's tables are those of `r`. */
static void set_tables(struct routes *r)
{
#define TABLE(type, name) r->topo.name = r->name;
#include "machine/topology.def"
    if (r->n_path_rows == 0) { /* there is room for some, but no pair of cubes has two ways */
        r->topo.path_rows = NULL;
        r->topo.path_ports = NULL;
    }
}

/* Links of an IO chiplet to its cubes are numbered in 16 bits: struct hop_row. */
static bool shores_fit(const struct routes *r)
{
    uint32_t n = r->topo.planes * r->topo.n_shore;

    return n <= UINT16_MAX - IO_LINK_SHORE ||
           diag_error(r->spec->diag, spec_place(r->spec, KEY_sip_planes),
                      "%u links from an IO chiplet to cubes, more than %d: they grow with "
                      "'sip.planes', and with the side of 'sip.cube_mesh'",
                      n, UINT16_MAX - IO_LINK_SHORE);
}

/* All tables, by routes that `up_down` says. False after a message. */
static bool make_tables(struct routes *r, const struct spec *spec, struct arena *arena,
                        const struct cubes *cubes, uint32_t up_down)
{
    *r = (struct routes){.arena = arena, .spec = spec, .found = cubes, .up_down = up_down};
    set_texts(r);
    set_counts(r, cubes);
    set_planes(r);
    if (!shores_fit(r))
        return false;
    r->topo.m_cpu_node = node_m_cpu(r);
    r->topo.sram_node = node_sram(r);
    r->topo.d2d_wire_fs = wire_fs(r, spec->sip_d2d_distance_mm);
    r->topo.wrap_wire_fs = wire_fs(r, r->topo.wrap_mm);
    if (!make_kinds(r, cubes) || !find_ways(r))
        return false;
    count_parts(r, cubes);
    set_cube_rows(r, cubes);
    set_tables(r);
    find_homes(r);
    make_between(r);
    return true;
}

/* What may be routed up*, then down*: planes with detours, and nets, but not those of a table;
 * meshes with holes. */
static uint32_t with_detours(const struct routes *r)
{
    uint32_t all = has_meshes(r) && r->spec->cube_noc_mesh_holes.n ? 1u << PLANES_MAX : 0u;

    for (uint32_t plane = 0; plane < r->topo.planes; plane++)
        if (r->plane_rows[plane].has_detours && !r->spec->route_file)
            all |= 1u << plane;
    return all;
}

/* Channels of a network of routers: by the routes as they are, or else up*, then down*. */
static bool find_channels(struct routes *r)
{
    uint32_t up_down = with_detours(r);
    struct routes *other;

    if (!channels_suffice(r))
        return false;
    if (make_channels(r))
        return true;
    if (!up_down)
        return refuse_channels(r);
    other = arena_alloc(r->arena, sizeof *other);
    if (!make_tables(other, r->spec, r->arena, r->found, up_down))
        return false;
    r->no_other = net_lost_pair(r, other);
    if (other->no_up_down || r->no_other)
        return refuse_channels(r);
    if (!make_channels(other)) {
        r->vcs_needed = r->vcs_needed ? r->vcs_needed : other->vcs_needed;
        return refuse_channels(r);
    }
    *r = *other;
    return true;
}

bool make_routes(struct routes *r, const struct spec *spec, struct arena *arena)
{
    struct cubes *cubes = arena_alloc(arena, sizeof *cubes);
    unsigned bits;

    if (!find_cubes(spec, cubes) || !caches_fit(spec, cubes) ||
        !make_tables(r, spec, arena, cubes, 0))
        return false;
    if (r->topo.links != MODE_ROUTER)
        return true;
    bits = r->topo.port_rows ? NET_NODE_BITS : NODE_BITS;
    if (sim_cubes(&r->topo) * ((uint64_t)r->topo.n_cube_nodes + N_IO_NODES) >> bits)
        return diag_error(spec->diag, spec_place(spec, KEY_contention_links),
                          "'contention.links: router' cannot stand with more than %u nodes, which "
                          "are the cubes times the nodes of the largest one",
                          1u << bits);
    if (!find_channels(r))
        return false;
    make_stops(r);
    warn_of_buffers(r);
    return true;
}
