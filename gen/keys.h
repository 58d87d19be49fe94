/* keys.h -- every key of a machine with its value, for a reader that changes some of them. */
#ifndef KEYS_H
#define KEYS_H
#include "spec.h"
#include "machine/tables.h"

/* Calls `each` for every key, in the order of keys.def. Texts are the arena's. */
void keys_walk(const struct spec *spec, void (*each)(void *arg, const kb_key *key), void *arg);

#endif
