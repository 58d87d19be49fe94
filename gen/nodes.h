/* nodes.h -- the nodes and links of one cube, of one IO chiplet and of the fabric. */
#ifndef NODES_H
#define NODES_H
#include "routes.h"

/* The first nodes of a cube: a noc and four ucie for each plane. */
uint32_t node_noc(const struct routes *r, uint32_t plane);
uint32_t node_m_cpu(const struct routes *r);
uint32_t node_sram(const struct routes *r);
uint32_t node_ucie(const struct routes *r, uint32_t plane, uint32_t side);

/* Fills the tables of nodes and links, and counts those of the whole topology. */
void make_nodes(struct routes *r);

/* A delay in whole femtoseconds; that of a wire of this length. */
int64_t fs_of_ns(double ns);
int64_t wire_fs(const struct routes *r, double distance_mm);

/* What a slice can serve; the edges between the NoC and the SRAM, no faster than the SRAM. */
double hbm_gbs(const struct spec *s);
double sram_link_gbs(const struct spec *s);

/* Nodes of a cube by PE: its crossbar, its slice, and node `kind` of the PE itself. */
uint32_t node_xbar(const struct routes *r, uint32_t pe);
uint32_t node_hbm(const struct routes *r, uint32_t slice);
uint32_t node_pe(const struct routes *r, uint32_t pe, enum node_kind kind);

/* The side that a request comes in by when it leaves the cube before by `side`. */
enum side opposite(enum side side);

#endif
