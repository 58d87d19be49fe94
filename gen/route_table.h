/* route_table.h -- routes between cubes that a table gives (`sip.routes: {impl: NAME}`). */
#ifndef ROUTE_TABLE_H
#define ROUTE_TABLE_H
#include "routes.h"

/* The exits of a table; NULL: there is none, and routes are found by the fewest steps. */
struct route_table {
    const uint8_t *exits; /* [from][to], inside a SIP: enum side */
};

/* Is there a step from `cube`, numbered over all SIPs? */
typedef bool (*route_step)(const struct kb_topology *t, uint32_t plane, uint32_t cube,
                           uint32_t side);

/* Reads the table of r->spec; its edges must be steps. False after messages. */
bool route_table_read(struct routes *r, route_step has_step, struct route_table *out);

#endif
