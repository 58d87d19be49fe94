/* lists.h -- values that are lists: the planes of a SIP, the sides of IO chiplets, lists of names,
 * the holes of a mesh.
 */
#ifndef LISTS_H
#define LISTS_H
#include "doc.h"
#include "spec.h"

/* Reads the list `node` into the field of `k`; false after a message, as value_load(). */
bool lists_load(struct spec *spec, enum key k, const struct doc *doc, const yaml_node_t *node);

/* The list of `k` as YAML in flow style that reads back to the same. */
const char *lists_text(const struct spec *spec, enum key k);

#endif
