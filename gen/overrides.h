/* overrides.h -- `cubes`: keys that some cubes have for themselves. */
#ifndef OVERRIDES_H
#define OVERRIDES_H
#include "doc.h"
#include "spec.h"

/* Reads the mapping `node`, cubes to keys; false after messages. */
bool overrides_load(struct spec *spec, const struct doc *doc, const yaml_node_t *node);

/* Prints them again, after their values have changed. */
void overrides_say(struct spec *spec);

#endif
