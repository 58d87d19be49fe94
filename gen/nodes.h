/* nodes.h -- the nodes and links of one cube, of one IO chiplet and of the fabric. */
#ifndef NODES_H
#define NODES_H
#include "cubes.h"
#include "routes.h"

/* The first nodes of a cube: for each plane a noc, or a router at each place, and four ucie. */
uint32_t node_router(const struct routes *r, uint32_t plane, uint32_t place);
uint32_t node_m_cpu(const struct routes *r);
uint32_t node_sram(const struct routes *r);
uint32_t node_ucie(const struct routes *r, uint32_t plane, uint32_t side);

/* Has a cube of this kind that side: all of a mesh, in a net its ports and the one to the IO
 * chiplet, which is the last of all? */
bool has_side(const struct routes *r, uint32_t side);

/* Fills the tables of nodes and links of one kind of cubes, of an IO chiplet, of the fabric. */
void make_nodes(struct routes *r);

/* The links between these nodes: the last part of make_nodes(). */
void make_links(struct routes *r);

/* Nodes of a cube of a kind that has these PEs. */
uint32_t count_cube_nodes_of(const struct routes *r, uint32_t kind, const struct pe_set *pes);

/* Counts the nodes and edges of the whole topology, which has the tables of all kinds. */
void count_parts(struct routes *r, const struct cubes *cubes);

/* A delay in whole femtoseconds; that of a wire of this length. */
int64_t fs_of_ns(double ns);
int64_t wire_fs(const struct routes *r, double distance_mm);

/* What a slice can serve; the edges between the NoC and the SRAM, no faster than the SRAM. */
double hbm_gbs(const struct spec *s);
double hbm_edge_gbs(const struct spec *s); /* of the edge into it: a cache may be faster */
double sram_link_gbs(const struct spec *s);

/* The place of the NoC that a node of a cube meets. */
uint32_t place_of(const struct routes *r, uint32_t node);

/* Nodes of a cube by PE: its crossbar, its slice, and node `kind` of the PE itself. */
uint32_t node_xbar(const struct routes *r, uint32_t pe);
uint32_t node_hbm(const struct routes *r, uint32_t slice);
uint32_t node_pe(const struct routes *r, uint32_t pe, enum node_kind kind);

/* Crossbar nodes of the first row: half of them, rounded up. */
uint32_t half_of(const struct routes *r);

/* The crossbar node that `slice` is behind. */
uint32_t crossbar_of_slice(const struct routes *r, uint32_t slice);

/* The home slice of a PE: the first one behind the last crossbar node, up to its own, that has one.
 */
uint32_t home_of_pe(const struct routes *r, uint32_t pe);

/* The crossbar node of row 0 or 1 at bridge 0, left, or 1, right. */
uint32_t crossbar_at_bridge(const struct routes *r, uint32_t row, uint32_t side);

/* The side that a request comes in by when it leaves the cube before by `side`. */
enum side opposite(enum side side);

#endif
