/* overrides.h -- `cubes` and `kinds`: keys that some cubes have for themselves. */
#ifndef OVERRIDES_H
#define OVERRIDES_H
#include "doc.h"
#include "spec.h"

/* Reads the mapping `node`, cubes or kinds to keys, into the field of `k`; false after messages. */
bool overrides_load(struct spec *spec, enum key k, const struct doc *doc, const yaml_node_t *node);

/* The `kind` of a row of `cubes` that is being read. */
bool overrides_take_kind(struct spec *own, const struct doc *doc, const yaml_node_t *value);

/* The row of `kinds` with that name; NULL: there is none. */
const struct override_spec *overrides_kind(const struct spec *spec, const char *name);

/* Reads the value in `doc` as the key `k`, one below `cube`, of a row of `kinds`; false after a
 * message. */
bool overrides_set(struct spec *spec, struct override_spec *row, enum key k, const struct doc *doc);

/* May some cubes have `k` for themselves? */
bool overrides_may_have(enum key k);

/* "kinds.xcd.hbm.bw_gbs": what a path below `cube` is in the row of that name. */
const char *overrides_path(struct arena *a, const char *kind, const char *path);

/* Prints them again, after their values have changed. */
void overrides_say(struct spec *spec);

#endif
