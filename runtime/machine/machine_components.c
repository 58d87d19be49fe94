/*
 * machine_components.c -- the nodes, edges and limits of a topology, as kernbench.h lists them.
 *
 * The numbers of nodes here are those of the library's users: SIP by SIP, each with its cubes and
 * then its IO chiplet, and the switch last, or the switches of fabric.net. Inside the library nodes
 * are numbered as in walk.h, with all cubes first. A full name is read from left to right:
 * "sip0.cube5." selects the chiplet, and the rest is looked up among the rows that the tables have
 * for one cube of its kind. With 81 nodes in a cube of cube8, sip0.cube5.xbar.pe3 is node 5 * 81 +
 * 10 = 415.
 */
#include <string.h>
#include "machine/names.h"
#include "machine/pes.h"
#include "machine/walk.h"
#include "machine/endpoint.h"

/* One row of kinds.def. */
static const struct {
    const char *name;
    bool placed;
} kinds[] = {
#define PLACED                           true
#define FREE                             false
#define KIND(NAME, name, on_way, placed) {name, placed},
#include "machine/kinds.def"
};

/* -- nodes ---------------------------------------------------------------------------------- */

/* Whether a cube has the node of that row: it may be of a PE, or of another kind of cubes. */
static bool has_node(const kb_topology *t, uint32_t cube, uint32_t node)
{
    if (t->alike)
        return true;
    if (!walk_cube_node(t, cube, node)->name[0])
        return false;
    return node < t->first_pe_node || cube_has_pe(t, cube, (node - t->first_pe_node) / PE_NODES);
}

/* Nodes of the cubes before `cube`. */
static uint32_t nodes_before(const kb_topology *t, uint32_t cube)
{
    return t->alike ? cube * walk_cube_nodes(t) : t->cube_rows[cube].first_node;
}

/* The number of the first node of `cube`, over all SIPs; of the one after the last of a SIP: of
 * that SIP's IO chiplet. */
static uint32_t first_node(const kb_topology *t, uint32_t sip, uint32_t cube)
{
    return nodes_before(t, sip * t->cubes + cube) + sip * walk_io_nodes(t);
}

/* Of switch `i` of fabric.net; of the one after the last: how many nodes there are. */
static uint32_t first_switch_node(const kb_topology *t, uint32_t i)
{
    return nodes_before(t, sip_cubes(t) + i) + t->sips * walk_io_nodes(t);
}

static uint32_t cube_node(const kb_topology *t, uint32_t cube /* over all SIPs */, uint32_t node)
{
    uint32_t number = node + (cube < sip_cubes(t) ? first_node(t, cube / t->cubes, cube % t->cubes)
                                                  : first_switch_node(t, cube - sip_cubes(t)));

    for (uint32_t i = 0; !t->alike && i < node; i++)
        number -= !has_node(t, cube, i);
    return number;
}

/* Node `node` of IO chiplet `chiplet`, over all SIPs. */
static uint32_t io_node(const kb_topology *t, uint32_t chiplet, uint32_t node)
{
    return first_node(t, chiplet / t->chiplets, t->cubes) + chiplet % t->chiplets * N_IO_NODES +
           node;
}

static bool has_switch(const kb_topology *t)
{
    return t->sips > 1 && t->fabric_shape == FABRIC_SWITCH;
}

static uint32_t switch_node(const kb_topology *t)
{
    return io_node(t, (t->sips - 1) * t->chiplets, walk_io_nodes(t));
}

/* Fills `out` from a row, except for its name and chiplet. */
static void set_row(const struct node_row *row, kb_node *out)
{
    *out = (kb_node){.kind = kinds[row->kind].name,
                     .cube = KB_NO_CUBE,
                     .overhead_fs = row->overhead_fs,
                     .placed = kinds[row->kind].placed,
                     .x_mm = row->x_mm,
                     .y_mm = row->y_mm};
}

/* The last SIP whose first node is `node` or before it. */
static uint32_t find_sip(const kb_topology *t, uint32_t node)
{
    uint32_t low = 0, high = t->sips;

    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;

        if (first_node(t, middle, 0) <= node)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The same for a cube of a SIP. A cube that is missing has no nodes, so it is not the last. */
static uint32_t find_cube(const kb_topology *t, uint32_t sip, uint32_t node)
{
    uint32_t low = 0, high = t->cubes;

    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;

        if (first_node(t, sip, middle) <= node)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The same for a switch of fabric.net, with one of the nodes behind those of all SIPs. */
static uint32_t find_switch(const kb_topology *t, uint32_t node)
{
    uint32_t i = 0;

    while (first_switch_node(t, i + 1) <= node)
        i++;
    return i;
}

/* Node number `rank` of those that `cube` has. */
static void set_cube_node(const kb_topology *t, uint32_t cube, uint32_t rank, kb_node *out)
{
    uint32_t node = t->alike ? rank : 0;

    for (; !t->alike; node++)
        if (has_node(t, cube, node) && rank-- == 0)
            break;
    set_row(walk_cube_node(t, cube, node), out);
    name_cube_node(t, cube, node, out->name);
    if (cube < sip_cubes(t))
        out->cube = cube % t->cubes;
    else
        out->placed = false;
}

kb_status kb_node_get(const kb_topology *t, uint32_t node, kb_node *out)
{
    REFUSE_NULL(t && out, "topo, out", NULL);
    uint32_t sip, cube;

    if (node >= t->n_nodes)
        return KB_BAD_REQUEST;
    if (has_switch(t) && node == switch_node(t)) {
        set_row(&t->fabric_nodes[0], out);
        name_switch(t, out->name);
        return KB_OK;
    }
    if (t->switches && node >= first_switch_node(t, 0)) {
        cube = find_switch(t, node);
        set_cube_node(t, sip_cubes(t) + cube, node - first_switch_node(t, cube), out);
        return KB_OK;
    }
    sip = find_sip(t, node);
    if (node >= io_node(t, sip * t->chiplets, 0)) {
        uint32_t of_io = node - io_node(t, sip * t->chiplets, 0);

        set_row(&t->io_nodes[of_io % N_IO_NODES], out);
        name_io_node(t, sip * t->chiplets + of_io / N_IO_NODES, of_io % N_IO_NODES, out->name);
    } else {
        cube = find_cube(t, sip, node);
        set_cube_node(t, sip * t->cubes + cube, node - first_node(t, sip, cube), out);
    }
    out->sip = sip;
    return KB_OK;
}

/* Consumes "WORD" and a number below `n` without leading zeros, then a point or the end. */
static bool take_part(const char **at, const char *end, const char *word, uint32_t n, uint32_t *out)
{
    size_t len = strlen(word);
    const char *p = *at + len;
    uint64_t value = 0;

    if ((size_t)(end - *at) <= len || memcmp(*at, word, len) != 0)
        return false;
    for (; p < end && (unsigned)(*p - '0') < 10 && value < n; p++)
        value = value * 10 + (uint64_t)(*p - '0');
    size_t digits = (size_t)(p - *at) - len;
    if ((p < end && *p != '.') || digits == 0 || (digits > 1 && (*at)[len] == '0') || value >= n)
        return false;
    *at = p < end ? p + 1 : end;
    *out = (uint32_t)value;
    return true;
}

/* The row with the rest of the text, from `at`, as its name. */
static bool find_row(const struct node_row *rows, uint32_t n, const char *at, const char *end,
                     uint32_t *out)
{
    size_t len = (size_t)(end - at);

    for (*out = 0; *out < n; ++*out)
        if (strlen(rows[*out].name) == len && memcmp(rows[*out].name, at, len) == 0)
            return true;
    return false;
}

/* "fabric.switch3" is its noc. */
static bool find_switch_node(const kb_topology *t, const char *at, const char *end, uint32_t *out)
{
    uint32_t i, node = 0;

    if (!take_part(&at, end, "fabric.switch", t->switches, &i) ||
        !cube_is_there(t, sip_cubes(t) + i))
        return false;
    i += sip_cubes(t);
    if (at < end && (!find_row(walk_cube_node(t, i, 0), walk_cube_nodes(t), at, end, &node) ||
                     node == 0 || !has_node(t, i, node)))
        return false;
    *out = cube_node(t, i, node);
    return true;
}

kb_status kb_node_find(const kb_topology *t, const char *name, size_t len, uint32_t *out)
{
    REFUSE_NULL(t && name && out, "topo, name, out", NULL);
    const char *at = name, *end = name + len;
    char fabric[KB_NODE_BYTES];
    uint32_t sip, chiplet, node;

    name_switch(t, fabric);
    if (has_switch(t) && strlen(fabric) == len && memcmp(fabric, name, len) == 0) {
        *out = switch_node(t);
        return KB_OK;
    }
    if (find_switch_node(t, at, end, out))
        return KB_OK;
    if (!take_part(&at, end, "sip", t->sips, &sip))
        return KB_BAD_REQUEST;
    if (take_part(&at, end, "cube", t->cubes, &chiplet)) {
        uint32_t cube = sip * t->cubes + chiplet;

        if (at == end || !cube_is_there(t, cube) ||
            !find_row(walk_cube_node(t, cube, 0), walk_cube_nodes(t), at, end, &node) ||
            !has_node(t, cube, node))
            return KB_BAD_REQUEST;
        *out = cube_node(t, cube, node);
        return KB_OK;
    }
    if (!take_part(&at, end, "io", t->chiplets, &chiplet) ||
        !find_row(t->io_nodes, N_IO_NODES, at, end, &node))
        return KB_BAD_REQUEST;
    *out = io_node(t, sip * t->chiplets + chiplet, node);
    return KB_OK;
}

/* -- edges ---------------------------------------------------------------------------------- */

/* The caller's function that gets each edge. */
struct listener {
    void (*each)(void *arg, const kb_edge *edge);
    void *arg;
};

static void tell_edge(const struct listener *to, const struct link_row *row, int64_t wire_fs,
                      double length_mm, uint32_t from, uint32_t towards)
{
    kb_edge edge = {from, towards, length_mm, wire_fs, row->gbs, row->lanes[0]};

    to->each(to->arg, &edge);
}

static void tell(const struct listener *to, const struct link_row *row, uint32_t a, uint32_t b)
{
    tell_edge(to, row, row->wire_fs, row->length_mm, a, b);
    if (row->both_ways)
        tell_edge(to, row, row->wire_fs, row->length_mm, b, a);
}

/* Link `i` of `cube` to its neighbour in the east or south, or of a port, as far as it is there. */
static void tell_d2d(const kb_topology *t, uint32_t cube, uint32_t i, const struct listener *to)
{
    const struct link_row *row = walk_cube_link(t, cube, i);
    uint32_t plane = t->port_rows ? 0 : (i - walk_first_d2d(t)) / 2, end, far;
    bool wraps = !t->port_rows && mesh_at_border(t, cube, row->leaves);
    int64_t wire_fs = wraps ? t->wrap_wire_fs : row->wire_fs;
    double length_mm = wraps ? t->wrap_mm : row->length_mm;

    if (t->port_rows && !(net_port(t, cube, row->leaves)->flags & PORT_OWNS))
        return; /* there is none, or the other cube has its number */
    far = walk_link_end(t, cube, row, &end);
    if (mesh_has_link(t, plane, cube, row->leaves))
        tell_edge(to, row, wire_fs, length_mm, cube_node(t, cube, row->from),
                  cube_node(t, far, end));
    if (mesh_has_back_link(t, plane, cube, row->leaves))
        tell_edge(to, row, wire_fs, length_mm, cube_node(t, far, end),
                  cube_node(t, cube, row->from));
}

/* A link between a noc and one of its ucie, one direction of which may be broken. */
static void tell_port(const kb_topology *t, uint32_t cube, uint32_t i, const struct listener *to)
{
    const struct link_row *row = walk_cube_link(t, cube, i);
    uint32_t of = row->to - walk_ucie(t, 0, 0), side = of / t->planes, plane = of % t->planes;
    uint32_t noc = cube_node(t, cube, row->from), ucie = cube_node(t, cube, row->to);

    if (mesh_has_port(t, plane, cube, side, true))
        tell_edge(to, row, row->wire_fs, row->length_mm, noc, ucie);
    if (mesh_has_port(t, plane, cube, side, false))
        tell_edge(to, row, row->wire_fs, row->length_mm, ucie, noc);
}

static void tell_cube(const kb_topology *t, uint32_t cube, const struct listener *to)
{
    for (uint32_t i = 0; i < t->n_cube_links; i++) {
        const struct link_row *row = walk_cube_link(t, cube, i);

        if (row->leaves != EXIT_END)
            tell_d2d(t, cube, i, to);
        else if (row->from == row->to || !has_node(t, cube, row->from) ||
                 !has_node(t, cube, row->to))
            continue; /* of another kind of cubes, or of a PE that is missing */
        else if (walk_cube_node(t, cube, row->to)->kind == NODE_UCIE)
            tell_port(t, cube, i, to);
        else
            tell(to, row, cube_node(t, cube, row->from), cube_node(t, cube, row->to));
    }
}

/* Where a link of an IO chiplet leads to. */
static uint32_t io_link_end(const kb_topology *t, uint32_t chiplet, uint32_t i)
{
    uint32_t sip = chiplet / t->chiplets;

    if (walk_is_shore(t, i))
        return cube_node(t, walk_shore_cube(t, chiplet, i), walk_shore_ucie(t, chiplet, i));
    if (i < IO_LINK_FABRIC)
        return io_node(t, chiplet, t->io_links[i].to);
    if (t->fabric_shape == FABRIC_SWITCH)
        return switch_node(t);
    return io_node(t, t->chiplets * grid_step(t, sip, i == IO_LINK_FABRIC ? SIDE_E : SIDE_S),
                   t->io_links[i].to);
}

static void tell_io(const kb_topology *t, uint32_t chiplet, const struct listener *to)
{
    for (uint32_t i = 0; i < t->n_io_links; i++)
        if (walk_has_io_link(t, chiplet, i))
            tell(to, &t->io_links[i], io_node(t, chiplet, t->io_links[i].from),
                 io_link_end(t, chiplet, i));
}

void kb_edges(const kb_topology *t, void (*each)(void *arg, const kb_edge *edge), void *arg)
{
    struct listener to = {each, arg};

    for (uint32_t sip = 0; sip < t->sips; sip++) {
        for (uint32_t cube = 0; cube < t->cubes; cube++)
            if (cube_is_there(t, sip * t->cubes + cube))
                tell_cube(t, sip * t->cubes + cube, &to);
        for (uint32_t chiplet = 0; chiplet < t->chiplets; chiplet++)
            tell_io(t, sip * t->chiplets + chiplet, &to);
    }
    for (uint32_t i = 0; i < t->switches; i++)
        if (cube_is_there(t, sip_cubes(t) + i))
            tell_cube(t, sip_cubes(t) + i, &to);
}

/* -- limits --------------------------------------------------------------------------------- */

/* Of a cube with the keys of `kind`, and with slices as in cubes of `memory`. */
static kb_limits limits_of(const kb_topology *t, const struct kind_row *kind,
                           const struct kind_row *memory)
{
    const struct pe_row *pe = &kind->pe;

    return (kb_limits){
        .cube_w_mm = t->cube_w_mm,
        .cube_h_mm = t->cube_h_mm,
        .slice_gbs = memory->hbm.gbs,
        .sram_gbs = kind->sram.gbs,
        .tcm_read_gbs = kind->tcm_read.gbs,
        .tcm_write_gbs = kind->tcm_write.gbs,
        .gemm_macs_per_ns = pe_gemm_macs_per_ns(pe),
        .math_elements_per_ns = pe_math_elements_per_ns(pe),
        .gemm_mac = {pe->mac[0], pe->mac[1], pe->mac[2]},
        .gemm_clock_ghz = pe->gemm_clock_ghz,
        .math_clock_ghz = pe->math_clock_ghz,
        .math_lanes = pe->lanes,
        .read_channels = kind->read_channels,
        .write_channels = kind->write_channels,
        .read_engines = kind->read_engines,
        .write_engines = kind->write_engines,
        .queue_slots = pe->ipcq_slots,
        .queue_slot_bytes = pe->ipcq_slot_bytes,
        .queue_memory = pe->ipcq_space == QUEUE_TCM    ? KB_TCM
                        : pe->ipcq_space == QUEUE_SRAM ? KB_SRAM
                                                       : KB_SLICE,
        .granule = t->granule,
    };
}

void kb_topology_limits(const kb_topology *t, kb_limits *out)
{
    const struct kind_row *kind = NULL, *memory = NULL;

    for (uint32_t cube = 0; cube < sim_cubes(t) && (!kind || !memory); cube++) {
        if (!kind && cube_pe_count(t, cube) > 0)
            kind = kind_at(t, cube);
        if (!memory && cube_slice_count(t, cube) > 0)
            memory = kind_at(t, cube);
    }
    *out = limits_of(t, kind ? kind : &t->kinds[0], memory ? memory : &t->kinds[0]);
}

kb_status kb_cube_limits(const kb_topology *t, uint32_t sip, uint32_t cube, kb_limits *out)
{
    REFUSE_NULL(t && out, "topo, out", NULL);
    uint32_t i = sip * t->cubes + cube;

    if (sip >= t->sips || cube >= t->cubes || !cube_is_there(t, i))
        return KB_BAD_REQUEST;
    *out = limits_of(t, kind_at(t, i), kind_at(t, i));
    return KB_OK;
}
