/* place.c -- the names of components and endpoints that are given as one number.
 *
 * A kb_place (place.h) has two texts. kb_place_name() is what users call it: an endpoint as they
 * write it in their files, or a component with the direction that has the queue. kb_place_node() is
 * the node of the topology where it stands, by which places of different kinds can be grouped. On
 * cube8:
 *
 *     place               kb_place_name()                            kb_place_node()
 *     03000000000000a3    c5.slice3                                  sip0.cube5.hbm_ctrl.slice3
 *     03000000000000ac    c5.pe3.tcm                                 sip0.cube5.pe3.pe_tcm
 *     0100000000000001    c0.pe1                                     sip0.cube0.pe1.pe_cpu
 *     0200000000000000    host                                       sip0.io0.pcie_ep
 *     0600000000000003    sip0.cube0.pe1.pe_dma.write                sip0.cube0.pe1.pe_dma
 *     0800000000000006    sip0.cube0.pe1.pe_gemm                     sip0.cube0.pe1.pe_gemm
 *     0900000000000082    sip0.cube0.hbm_ctrl.slice1.ch2             sip0.cube0.hbm_ctrl.slice1
 *     05000000000001c6    sip0.cube1.ucie-S -> sip0.cube5.ucie-N     sip0.cube1.ucie-S
 *
 * The nodes of a PE stand together in the tables, in the order of machine/kinds.def, so the node of
 * a kind is found by counting from the PE's first.
 */
#include "machine/place.h"
#include "machine/endpoint.h"
#include "machine/names.h"
#include "machine/pes.h"
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    bool is_wait;
} causes[KB_N_CAUSES] = {
#define CAUSE_ROW(NAME, name, column, is_wait) {#name, is_wait},
    KB_CAUSES(CAUSE_ROW)
#undef CAUSE_ROW
};

const char *kb_cause_name(kb_cause cause)
{
    return (unsigned)cause < KB_N_CAUSES ? causes[cause].name : "?";
}

bool kb_cause_is_wait(kb_cause cause)
{
    return (unsigned)cause < KB_N_CAUSES && causes[cause].is_wait;
}

static size_t put_end(kb_endpoint end, char *text)
{
    char name[KB_ENDPOINT_BYTES];
    size_t n = kb_endpoint_name(&end, name);

    memcpy(text, name, n + 1);
    return n;
}

static size_t put_l2(const struct kb_topology *t, uint32_t cube, char *text)
{
    size_t n = put_end(endpoint_unpack_memory(t, dst_pack(t, cube, unit_of_sram(t))), text);

    strcpy(text + n - strlen("sram"), "l2");
    return n - 2;
}

static size_t put_link(const struct kb_topology *t, size_t link, char *text)
{
    char from[KB_NODE_BYTES], to[KB_NODE_BYTES];

    name_link(t, link, from, to);
    return (size_t)sprintf(text, "%s -> %s", from, to);
}

/* The node of a PE, by its kind. */
static uint32_t pe_node(const struct kb_topology *t, uint32_t pe, enum node_kind kind)
{
    return t->first_pe_node + pe * PE_NODES + kind - NODE_PE_CPU;
}

kb_place place_pe_node(const struct kb_topology *t, uint32_t src, enum node_kind kind)
{
    return place_node(AT_CUBE, src_cube(t, src), pe_node(t, src_pe(t, src), kind));
}

static enum node_kind port_node(uint32_t port)
{
    return port == PORT_GEMM ? NODE_PE_GEMM : port == PORT_MATH ? NODE_PE_MATH : NODE_PE_TCM;
}

static uint32_t memory_node(const struct kb_topology *t, uint32_t unit)
{
    if (unit_is_l2(t, unit))
        return t->l2_node;
    if (unit_is_tcm(t, unit))
        return pe_node(t, unit_pe(t, unit), NODE_PE_TCM);
    return unit_is_slice(t, unit) ? t->first_hbm_node + unit : t->sram_node;
}

static void put_chiplet_node(const struct kb_topology *t, uint64_t index, char text[KB_NODE_BYTES])
{
    uint32_t owner = (uint32_t)(index >> PLACE_OWNER), node = index & 0xffff;

    switch ((enum chiplet)(index >> PLACE_CHIPLET)) {
    case AT_CUBE:
        name_cube_node(t, owner, node, text);
        break;
    case AT_FABRIC:
        name_switch(t, text);
        break;
    case AT_IO:
    case AT_IO_TO:
        name_io_node(t, owner, node, text);
        break;
    }
}

size_t kb_place_node(const kb_topology *t, kb_place place, char text[KB_NODE_BYTES])
{
    uint64_t index = place_index(place);
    uint32_t i = (uint32_t)index;
    char to[KB_NODE_BYTES];

    text[0] = '\0';
    switch (kb_place_kind_of(place)) {
    case KB_AT_NOTHING:
        break;
    case KB_AT_PE:
        name_cube_node(t, src_cube(t, i),
                       src_pe(t, i) < t->pes ? pe_node(t, src_pe(t, i), NODE_PE_CPU) : t->l2_node,
                       text);
        break;
    case KB_AT_HOST:
        name_io_node(t, src_cube(t, i) / t->cubes * t->chiplets + place_chiplet(place), IO_PCIE_EP,
                     text);
        break;
    case KB_AT_MEMORY:
    case KB_AT_CACHE:
        name_cube_node(t, dst_cube(t, i), memory_node(t, dst_unit(t, i)), text);
        break;
    case KB_AT_BANKS:
        return kb_place_node(t, place_of(KB_AT_MEMORY, index >> PLACE_BANKS), text);
    case KB_AT_NODE:
        put_chiplet_node(t, index, text);
        break;
    case KB_AT_LINK:
        name_link(t, index, text, to);
        break;
    case KB_AT_VC:
        name_link(t, index / PLACE_VCS, text, to);
        break;
    case KB_AT_CHANNEL:
        name_cube_node(t, src_cube(t, i / 2), pe_node(t, src_pe(t, i / 2), NODE_PE_DMA), text);
        break;
    case KB_AT_ENGINE:
        name_cube_node(t, i / 2, t->m_cpu_node, text);
        break;
    case KB_AT_PORT:
        i = pe_src(t, i / 4);
        name_cube_node(t, src_cube(t, i), pe_node(t, src_pe(t, i), port_node(index % 4)), text);
        break;
    }
    return strlen(text);
}

/* "sip0.cube0.m_cpu.write": a node, and one of its two directions. */
static size_t put_way(const struct kb_topology *t, kb_place place, bool writes, char *text)
{
    size_t n = kb_place_node(t, place, text);

    strcpy(text + n, writes ? ".write" : ".read");
    return strlen(text);
}

static size_t put_banks(const struct kb_topology *t, kb_place place, char *text)
{
    size_t n = kb_place_node(t, place, text);

    return n + (size_t)sprintf(text + n, ".ch%u",
                               (unsigned)(place_index(place) & ((1u << PLACE_BANKS) - 1)));
}

/* "sip0.cube0.noc -> sip0.cube0.ucie-E vc1": a port, and one of its virtual channels. */
static size_t put_vc(const struct kb_topology *t, uint64_t index, char *text)
{
    size_t n = put_link(t, index / PLACE_VCS, text);

    return n + (size_t)sprintf(text + n, " vc%u", (unsigned)(index % PLACE_VCS));
}

size_t kb_place_name(const kb_topology *t, kb_place place, char text[KB_PLACE_BYTES])
{
    uint32_t i = (uint32_t)place_index(place);

    switch (kb_place_kind_of(place)) {
    case KB_AT_PE:
    case KB_AT_HOST:
        if (kb_place_kind_of(place) == KB_AT_PE && src_pe(t, i) >= t->pes)
            return put_l2(t, src_cube(t, i), text);
        return put_end(endpoint_unpack_source(t, i, kb_place_kind_of(place) == KB_AT_HOST,
                                              place_chiplet(place)),
                       text);
    case KB_AT_MEMORY:
        if (unit_is_l2(t, dst_unit(t, i)))
            return put_l2(t, dst_cube(t, i), text);
        return put_end(endpoint_unpack_memory(t, i), text);
    case KB_AT_LINK:
        return put_link(t, i, text);
    case KB_AT_VC:
        return put_vc(t, place_index(place), text);
    case KB_AT_CHANNEL:
    case KB_AT_ENGINE:
        return put_way(t, place, i & 1, text);
    case KB_AT_PORT:
        if (i % 4 < PORT_GEMM)
            return put_way(t, place, i % 4 == PORT_TCM_WRITE, text);
        return kb_place_node(t, place, text);
    case KB_AT_BANKS:
        return put_banks(t, place, text);
    case KB_AT_CACHE:
        return strlen(strcat(text, kb_place_node(t, place, text) ? ".cache" : ""));
    case KB_AT_NODE:
    case KB_AT_NOTHING:
        break;
    }
    return kb_place_node(t, place, text);
}
