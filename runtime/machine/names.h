/* names.h -- full names of nodes: "sip0.cube3.xbar.pe1". */
#ifndef NAMES_H
#define NAMES_H
#include "machine/tables.h"

/* Node `node` of cube `cube` (over all SIPs). */
void name_cube_node(const struct kb_topology *t, uint32_t cube, uint32_t node,
                    char name[KB_NODE_BYTES]);

/* Node `node` of the IO chiplet of `sip`, and the switch between SIPs. */
void name_io_node(const struct kb_topology *t, uint32_t sip, uint32_t node,
                  char name[KB_NODE_BYTES]);
void name_switch(const struct kb_topology *t, char name[KB_NODE_BYTES]);

/* The node of `hop`, passed in cube `cube` on the way to `dst` (packed). */
void name_hop(const struct kb_topology *t, const struct hop_row *hop, uint32_t cube,
              const struct trip *trip, char name[KB_NODE_BYTES]);

/* Node number `node`, see walk_node(). */
void name_node(const struct kb_topology *t, size_t node, char name[KB_NODE_BYTES]);

/* Both ends of link station `link` (see walk_link()). */
void name_link(const struct kb_topology *t, size_t link, char from[KB_NODE_BYTES],
               char to[KB_NODE_BYTES]);

/* Does it close a ring of two SIPs? Then another link has the same ends. */
bool name_has_twin(const struct kb_topology *t, size_t link);

#endif
