/* sips.h -- which SIPs are alike: what holds for one of them holds for the others. */
#ifndef SIPS_H
#define SIPS_H
#include "routes.h"

/* [sip]: the first SIP that has the same cubes and links between them; the arena's. The edges of
 * cubes are made. */
uint32_t *find_alike_sips(const struct routes *r);

#endif
