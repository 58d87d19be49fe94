/* keys.h -- every key of a machine with its value, for a reader that changes some of them. */
#ifndef KEYS_H
#define KEYS_H
#include "spec.h"
#include "machine/tables.h"

/* Calls `each` for every key of keys.def that the machine may have, in its order. Texts are the
 * arena's. */
void keys_walk(const struct spec *spec, void (*each)(void *arg, const kb_key *key), void *arg);

/* Then for every key of each of `kinds`, given there or not, and each number of `links`:
 * kinds.xcd.hbm.bw_gbs, links.eth.bw_gbs. */
void keys_walk_named(const struct spec *spec, void (*each)(void *arg, const kb_key *key),
                     void *arg);

#endif
