/* fields.h -- the value of cube.hbm.map: in which order the parts of an address lie. */
#ifndef FIELDS_H
#define FIELDS_H
#include "doc.h"
#include "spec.h"

/* Into the field of `k`: a list of all five parts, row first, or the name of one. False after a
 * message. */
bool fields_load(struct spec *spec, enum key k, const struct doc *doc, const yaml_node_t *node);

/* The value of `k` as a list in flow style. */
const char *fields_text(const struct spec *spec, enum key k);

#endif
