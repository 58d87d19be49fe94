/* check.h -- what no key can be checked for alone: missing keys, keys that do not fit together. */
#ifndef CHECK_H
#define CHECK_H
#include "spec.h"

/*
 * Check the spec after the file and all --set options. A mistake is laid to a key that was set
 * rather than to one of the file, and to that rather than to a default. Keys that already have
 * a message are left out. False when there is any mistake, found here or before.
 */
bool check(const struct spec *spec);

/* Nodes of the whole topology.  design 2.1 */
int64_t count_nodes(const struct spec *spec);

#endif
