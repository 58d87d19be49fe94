/* components.h -- the components that a spec asks for: their files, and values for their keys. */
#ifndef COMPONENTS_H
#define COMPONENTS_H
#include "doc.h"
#include "spec.h"
#include "machine/impl.h"

enum component_kind {
    COMPONENT_MEMORY,
    COMPONENT_QUEUEING,
    COMPONENT_FRONT,
    COMPONENT_NODE,
    COMPONENT_ENGINE,
    N_COMPONENT_KINDS
};

/* One key of a component, a line of its header. */
struct component_key {
    const char *name;
    bool integer;
    double value, min, max; /* its default, and its range */
};

/* The file of a component. */
struct component {
    const char *name, *path;
    enum component_kind kind;
    const char *text; /* of the file */
    size_t len;
    size_t n_keys;
    struct component_key *keys;
};

/* A component in place of a box: of all cubes, or of some. */
struct part {
    enum key key; /* KEY_cube_hbm_impl */
    enum box box;
    const struct component *component;
    double *values;  /* [n_keys] */
    bool below_cube; /* not in `cubes` alone */
    const struct part *next;
};

/* A mapping of a section that has an `impl` key: values for a component. False after a message. */
bool params_load(struct spec *spec, enum key impl, const char *name, const struct doc *doc,
                 const yaml_node_t *key, const yaml_node_t *value);

/* Whether `path` may be a key of a component, as "cube.hbm.mybank.banks". */
bool params_has(const char *path);

/* Sets it. False after a message. */
bool params_set(struct spec *spec, struct place at, const char *path, const struct doc *doc);

/* The `impl` key of the first `depth` words of `first`; N_KEYS: it has none. */
enum key impl_of_section(enum key first, int depth);

/* Finds the files of all components and reads their headers into spec->parts; every mistake named.
 */
void components_find(struct spec *spec);

/* The paths of all files, each once, on one line. */
const char *component_paths(const struct spec *spec);

#endif
