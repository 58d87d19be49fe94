/* any_topology.h -- a topology made in memory from its YAML, for tests: no m4, no compiler. */
#ifndef ANY_TOPOLOGY_H
#define ANY_TOPOLOGY_H
#include "kernbench.h"

/*
 * The same generator code that kbgen runs, and the same engines, compiled without a TOPOLOGY.
 * NULL after messages on stderr. Give it back with any_topology_free().
 */
const kb_topology *any_topology(const char *yaml);
void any_topology_free(const kb_topology *topo);

#endif
