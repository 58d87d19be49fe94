/* endpoint.c -- endpoints, checked and packed into 32 bits for the engines.
 *
 * Users give an endpoint as kind, SIP, cube and unit; the engines use one number, which is also the
 * index of its station (cost.h). All checks are here, where a request enters the library: behind
 * this file a packed number is always one that exists, and the operation may go from the one to the
 * other. A PE reaches slices, SRAMs and TCMs, except its own TCM; a host only the slices of its
 * SIP.
 *
 * The memories of a cube are numbered slices first, then the SRAM, then the TCMs. On cube8, with 8
 * PEs in a cube and 5 bits for the unit:
 *
 *     c0.pe1        source   0 << 3 | 1             = 1
 *     c5.slice3     memory   5 << 5 | 3             = 163
 *     c5.sram       memory   5 << 5 | 8             = 168
 *     c5.pe3.tcm    memory   5 << 5 | (8 + 1 + 3)   = 172
 *
 * A host is packed as PE 0 of its SIP's first cube; the operation (h2d, d2h) tells them apart,
 * which is why unpacking a source has to be told whether it is one of a host.
 */
#include "machine/impl.h"
#include "base/rng.h"
#include "machine/endpoint.h"
#include "machine/pes.h"
#include "machine/walk.h"
#include "base/text.h"
#include <stdarg.h>
#include <stdio.h>

kb_status endpoint_error(kb_error *why, const char *fmt, ...)
{
    va_list ap;

    if (why) {
        va_start(ap, fmt);
        text_vformat(why->text, sizeof why->text, fmt, ap);
        va_end(ap);
    }
    return KB_BAD_REQUEST;
}

/* How many units of that kind `cube` has, those that are missing, too. */
static uint32_t units_of(const struct kb_topology *t, uint32_t cube, kb_endpoint_kind kind)
{
    if (kind == KB_SRAM || kind == KB_HOST)
        return kind == KB_SRAM ? !cube_is_switch(t, cube) : t->chiplets;
    return kind == KB_SLICE ? kind_at(t, cube)->slices : kind_at(t, cube)->pes;
}

/* Whether the cube of `end`, and if it is one the PE, are there. A host is. */
static bool is_there(const struct kb_topology *t, const kb_endpoint *end)
{
    uint32_t cube = end->sip * t->cubes + end->cube;

    if (end->kind == KB_HOST)
        return true;
    if (end->kind == KB_PE || end->kind == KB_TCM)
        return cube_has_pe(t, cube, end->unit);
    return cube_is_there(t, cube);
}

static void refuse_end(const kb_endpoint *end, const char *what, kb_error *why)
{
    char name[KB_ENDPOINT_BYTES];

    kb_endpoint_name(end, name);
    endpoint_error(why, "%s %s", name, what);
}

/* The name of a cube that is missing, or that of the PE or TCM. */
static void refuse_missing(const struct kb_topology *t, const kb_endpoint *end, kb_error *why)
{
    bool cube = !cube_is_there(t, end->sip * t->cubes + end->cube);
    const char *what = "missing from this topology";

    if (!cube)
        refuse_end(&(kb_endpoint){KB_PE, end->sip, end->cube, end->unit},
                   "is missing from this topology", why);
    else if (end->sip)
        endpoint_error(why, "s%u.c%u is %s", end->sip, end->cube, what);
    else
        endpoint_error(why, "c%u is %s", end->cube, what);
}

/* What the topology does not have: a thing of a cube that has none or fewer, or a cube or SIP. */
static void refuse_outside(const struct kb_topology *t, const kb_endpoint *end, kb_error *why)
{
    static const char *const things[] = {[KB_PE] = "PEs",
                                         [KB_HOST] = "host",
                                         [KB_SLICE] = "slices",
                                         [KB_SRAM] = "SRAM",
                                         [KB_TCM] = "PEs"};
    bool has_cube = end->sip < t->sips && end->cube < t->cubes && end->kind != KB_HOST;
    uint32_t cube = end->sip * t->cubes + end->cube;
    uint32_t units = has_cube ? units_of(t, cube, end->kind) : 0;
    const char *thing = things[end->kind];
    char name[KB_ENDPOINT_BYTES];

    kb_endpoint_name(end, name);
    if (!has_cube || (units && end->kind == KB_SRAM))
        endpoint_error(why, "%s is not in this topology", name);
    else if (cube_is_switch(t, cube))
        endpoint_error(why, "%s: c%u is a switch, it has no %s", name, end->cube, thing);
    else if (units)
        endpoint_error(why, "%s: c%u has %s 0..%u", name, end->cube, thing, units - 1);
    else
        endpoint_error(why, "%s: c%u has no %s", name, end->cube, thing);
}

/* A memory's number among all of its cube. */
static uint32_t unit_of(const struct kb_topology *t, const kb_endpoint *end)
{
    switch (end->kind) {
    case KB_SRAM:
        return unit_of_sram(t);
    case KB_TCM:
        return unit_of_tcm(t, end->unit);
    case KB_SLICE:
    case KB_PE: /* they have no memory of their own */
    case KB_HOST:
        break;
    }
    return end->unit;
}

bool endpoint_pack(const struct kb_topology *t, const kb_endpoint *end, uint32_t *packed,
                   kb_error *why)
{
    if ((unsigned)end->kind > KB_TCM) {
        endpoint_error(why, "an endpoint's kind is %d", (int)end->kind);
        return false;
    }
    uint32_t cube = end->sip * t->cubes + end->cube;

    if (end->sip >= t->sips || end->cube >= t->cubes || end->unit >= units_of(t, cube, end->kind) ||
        (end->kind == KB_HOST && end->cube)) {
        refuse_outside(t, end, why);
        return false;
    }
    if (!t->alike && !is_there(t, end)) {
        refuse_missing(t, end, why);
        return false;
    }
    bool source = end->kind == KB_PE || end->kind == KB_HOST;

    *packed = source ? src_pack(t, cube, end->kind == KB_HOST ? 0 : end->unit)
                     : dst_pack(t, cube, unit_of(t, end));
    return true;
}

static struct kb_endpoint endpoint_at(const struct kb_topology *t, kb_endpoint_kind kind,
                                      uint32_t cube, uint32_t unit)
{
    return (struct kb_endpoint){kind, cube / t->cubes, cube % t->cubes, unit};
}

struct kb_endpoint endpoint_unpack_source(const struct kb_topology *t, uint32_t packed,
                                          bool of_host, uint32_t chiplet)
{
    return endpoint_at(t, of_host ? KB_HOST : KB_PE, src_cube(t, packed),
                       of_host ? chiplet : src_pe(t, packed));
}

struct kb_endpoint endpoint_unpack_memory(const struct kb_topology *t, uint32_t packed)
{
    uint32_t cube = dst_cube(t, packed), unit = dst_unit(t, packed);

    if (unit_is_slice(t, unit))
        return endpoint_at(t, KB_SLICE, cube, unit);
    if (!unit_is_tcm(t, unit))
        return endpoint_at(t, KB_SRAM, cube, 0);
    return endpoint_at(t, KB_TCM, cube, unit_pe(t, unit));
}

void endpoint_area_name(const struct kb_topology *t, uint32_t area, char name[KB_ENDPOINT_BYTES])
{
    kb_endpoint memory = endpoint_unpack_memory(t, area);
    size_t n = kb_endpoint_name(&memory, name);

    if (t->granule && memory.kind == KB_SLICE)
        name[n - 1] = '*'; /* behind "slice", as it is the first */
}

kb_status endpoint_pack_route(const struct kb_topology *t, kb_transaction_op op,
                              const kb_endpoint *src, const kb_endpoint *dst, uint32_t packed[2],
                              kb_error *why)
{
    if (endpoint_check_op(op, why) != KB_OK || !endpoint_pack(t, src, &packed[0], why) ||
        !endpoint_pack(t, dst, &packed[1], why))
        return KB_BAD_REQUEST;
    return endpoint_check_route(op, src, dst, why);
}

uint32_t endpoint_plane(const struct kb_topology *t, kb_transaction_op op, uint64_t id)
{
    if (t->plane_choice == PLANE_BY_HASH)
        return (uint32_t)(id % t->planes);
    return kb_plane_of(t, op);
}

/* The number of a memory among those of all cubes, which have 1024 each. */
static uint64_t memory_number(const struct kb_topology *t, uint32_t dst)
{
    uint32_t unit = dst_unit(t, dst);
    uint64_t first = (uint64_t)dst_cube(t, dst) * 1024;

    if (unit_is_slice(t, unit))
        return first + unit;
    return first + (unit_is_tcm(t, unit) ? 512 + unit_pe(t, unit) : 256);
}

/* What the number of a part adds to the id: of a child it is mixed, as there are many. */
static uint64_t part_adds(uint64_t part, unsigned bits)
{
    return part >> 20 ? rng_mix(part) : part << bits;
}

/* The way of a PE's transaction, of those that its pair of cubes has. */
static uint32_t way_taken(const struct kb_topology *t, kb_transaction_op op, uint32_t src,
                          uint32_t dst, uint64_t id, uint64_t part)
{
    uint32_t a = src_cube(t, src), b = dst_cube(t, dst), way = 0, lane;
    bool back = op == KB_READ && mesh_is_one_way(t, 0, a, b);
    const struct path_row *rows = paths_between(t, back ? b : a, back ? a : b);

    if (!rows)
        return 0;
    lane = paths_lane(pe_number(t, src), memory_number(t, dst), id, part_adds(part, 48),
                      rows[rows->n - 1].until);
    while (rows[way].until <= lane)
        way++;
    return way;
}

uint32_t endpoint_course(const struct kb_topology *t, kb_transaction_op op, uint32_t src,
                         uint32_t dst, uint64_t id, uint64_t part)
{
    if (t->paths > 1)
        return op >= KB_H2D ? 0 : way_taken(t, op, src, dst, id, part);
    return endpoint_plane(t, op, id + part_adds(part, 0)) & 63u;
}

kb_status endpoint_trip(const struct kb_topology *t, kb_transaction_op op, const kb_endpoint *src,
                        const uint32_t packed[2], uint32_t plane, struct trip *trip, kb_error *why)
{
    bool of_host = op >= KB_H2D, reads = op == KB_READ || op == KB_D2H;

    if (plane >= t->planes)
        return endpoint_error(why, "there is no plane %u", plane);
    *trip = walk_trip(t, packed[0], packed[1], plane, of_host, of_host ? src->unit : 0, reads);
    if (!t->regular && !walk_has_way(t, trip)) {
        struct kb_endpoint to = endpoint_unpack_memory(t, packed[1]);
        char from[KB_ENDPOINT_BYTES], name[KB_ENDPOINT_BYTES];
        const char *on = t->plane_rows[plane].name;

        kb_endpoint_name(src, from);
        kb_endpoint_name(&to, name);
        return endpoint_error(why, "there is no way from %s to %s%s%s%s", from, name,
                              *on ? " on plane " : "", on,
                              !trip->back                  ? ""
                              : walk_has_data_way(t, trip) ? " for the request of a read"
                                                           : " for the data of a read");
    }
    return KB_OK;
}

uint32_t kb_plane_of(const kb_topology *t, kb_transaction_op op)
{
    return op == KB_READ || op == KB_D2H ? t->planes - 1u : 0;
}

const char *kb_plane_name(const kb_topology *t, uint32_t plane)
{
    return plane < t->planes ? t->plane_rows[plane].name : NULL;
}

uint64_t kb_memory_bytes(const kb_topology *t, const kb_endpoint *end)
{
    uint32_t cube = end->sip * t->cubes + end->cube;

    if (end->sip >= t->sips || end->cube >= t->cubes)
        return 0;
    switch (end->kind) {
    case KB_SLICE:
        return kind_at(t, cube)->hbm.nbytes;
    case KB_SRAM:
        return kind_at(t, cube)->sram.nbytes;
    case KB_TCM:
        return kind_at(t, cube)->tcm_read.nbytes;
    case KB_PE:
    case KB_HOST:
        break;
    }
    return 0;
}

/* Routes that differ from the order of dimensions, or that were turned to break circles. */
static bool has_detours(const kb_topology *t)
{
    bool any = t->detours_by != DETOURS_WITH;

    for (uint32_t plane = 0; plane < t->planes && !t->port_rows; plane++)
        any = any || t->plane_rows[plane].has_detours;
    return any;
}

const char *kb_topology_compiler(const kb_topology *t)
{
    return t && t->impls ? t->impls->compiler : "";
}

/* Links of fabric.net: their two cubes are not of one SIP. */
static unsigned count_rails(const struct kb_topology *t)
{
    unsigned n = 0;

    for (uint32_t cube = 0; t->rails && cube < sim_cubes(t); cube++)
        for (uint32_t port = 0; port < t->ports; port++) {
            const struct port_row *row = &t->port_rows[cube * t->ports + port];

            bool of_switch = cube >= sip_cubes(t) || row->cube >= sip_cubes(t);

            n += row->flags & PORT_OWNS && (of_switch || !cost_same_sip(t, cube, row->cube));
        }
    return n;
}

void kb_topology_info(const kb_topology *t, kb_info *out)
{
    static const char *const links[] = {"ideal", "fifo", "router"};
    static const char *const detours[] = {"as other routes", "by virtual channels of their own",
                                          "all routes up*, then down*"};

    static const char *const shapes[] = {"switch", "grid", "net"};
    static const char *const routes[] = {"all VCs", "datelines", "hop classes", "up and down"};
    bool packets = false;

    for (uint32_t kind = 0; kind < t->n_kinds; kind++)
        packets |= t->kinds[kind].packet_bytes > 0;
    *out = (kb_info){
        .name = t->name,
        .config = t->config,
        .hash = t->hash,
        .links = links[t->links],
        .routes = t->links == MODE_ROUTER && t->port_rows ? routes[t->routes_by] : NULL,
        .hop_classes = t->hop_classes,
        .rails = count_rails(t),
        .fabric_switches = t->rails ? t->switches : 0,
        .detours = t->links == MODE_ROUTER && has_detours(t) ? detours[t->detours_by] : NULL,
        .sips = t->sips,
        .cubes_per_sip = t->cubes,
        .mesh_w = t->w,
        .mesh_h = t->h,
        .pes_per_cube = t->pes,
        .nodes = t->n_nodes,
        .edges = t->n_edges,
        .planes = t->planes,
        .plane_column = t->plane_choice == PLANE_BY_COLUMN,
        .grid_w = t->fabric_shape == FABRIC_GRID ? t->grid_w : 0,
        .grid_h = t->fabric_shape == FABRIC_GRID ? t->grid_h : 0,
        .wrap_x = t->wrap & WRAP_X,
        .wrap_y = t->wrap & WRAP_Y,
        .grid_wrap_x = t->fabric_shape == FABRIC_GRID && t->grid_wrap & WRAP_X,
        .grid_wrap_y = t->fabric_shape == FABRIC_GRID && t->grid_wrap & WRAP_Y,
        .packets = packets,
        .fabric = shapes[t->fabric_shape],
        .broken = t->has_broken,
        .noc_mesh = t->has_noc_mesh,
        .paths = t->paths > 1 ? t->paths : 1,
    };
}
