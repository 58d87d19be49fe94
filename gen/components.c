/*
 * components.c -- the components that a spec asks for: their files, and values for their keys.
 *
 * While the YAML is read it is not known yet which keys a component has, so the values below its
 * name are kept as they were written (struct param_spec). When file and --set are read, the file of
 * each component is found, and its header says which keys there are: components_find(). A row of
 * `cubes` asks for components as the file does, with its own keys in place of those below `cube`.
 *
 * Example: cube.hbm: {impl: mybank, mybank: {banks: 16}}. `mybank` is no key of cube.hbm, but a
 * mapping in a section that has an `impl`: its values are for a component of that name.
 */
#include "components.h"
#include "component_file.h"
#include "base/text.h"
#include "machine/tables.h"
#include "parts.h"
#include "value.h"
#include <string.h>

/* The keys that name components, the boxes, and which kind each may be. */
static const struct {
    enum key key;
    enum box box;
    enum component_kind kind;
} places[] = {
    {KEY_fabric_impl, BOX_FABRIC, COMPONENT_NODE},
    {KEY_sip_io_pcie_ep_impl, BOX_PCIE_EP, COMPONENT_NODE},
    {KEY_cube_ucie_impl, BOX_UCIE, COMPONENT_NODE},
    {KEY_cube_noc_impl, BOX_NOC, COMPONENT_NODE},
    {KEY_cube_sram_impl, BOX_SRAM, COMPONENT_MEMORY},
    {KEY_cube_xbar_impl, BOX_XBAR, COMPONENT_NODE},
    {KEY_cube_hbm_impl, BOX_HBM, COMPONENT_MEMORY},
    {KEY_cube_pe_pe_gemm_impl, BOX_GEMM, COMPONENT_ENGINE},
    {KEY_cube_pe_pe_math_impl, BOX_MATH, COMPONENT_ENGINE},
};

enum { N_PLACES = sizeof places / sizeof places[0] };

static const char *const kind_names[N_COMPONENT_KINDS] = {
    "a memory", "a queueing memory", "in front of a memory", "a node", "an engine"};

enum key impl_of_section(enum key first, int depth)
{
    for (size_t i = 0; i < N_PLACES; i++)
        if (key_depth(places[i].key) == depth + 1 && key_shares(first, places[i].key, depth))
            return places[i].key;
    return N_KEYS;
}

/* -- values as they were written -------------------------------------------------------------- */

/* "cube.hbm" of cube.hbm.impl */
static const char *section_of(struct arena *a, enum key impl)
{
    return arena_copy(a, key_rows[impl].path, key_prefix(impl, key_depth(impl) - 1));
}

static struct param_spec *find_param(struct spec *spec, enum key impl, const char *component,
                                     const char *key)
{
    for (size_t i = 0; i < spec->params.n; i++) {
        struct param_spec *p = &spec->params.rows[i];

        if (p->impl == impl && strcmp(p->component, component) == 0 && strcmp(p->key, key) == 0)
            return p;
    }
    return NULL;
}

/* One more; the rows of a spec that was copied stay as they are. */
static struct param_spec *new_param(struct spec *spec)
{
    struct param_specs *all = &spec->params;
    struct param_spec *rows = arena_alloc(spec->arena, (all->n + 1) * sizeof *rows);

    if (all->n)
        memcpy(rows, all->rows, all->n * sizeof *rows);
    all->rows = rows;
    return &rows[all->n++];
}

static bool load_param(struct spec *spec, enum key impl, const char *component,
                       const struct doc *doc, const yaml_node_t *key, const yaml_node_t *value)
{
    const char *name;

    if (key->type != YAML_SCALAR_NODE)
        return diag_error(spec->diag, doc_place(doc, key), "a key must be a single word");
    name = arena_copy(spec->arena, (const char *)key->data.scalar.value, key->data.scalar.length);
    if (value->type != YAML_SCALAR_NODE || node_is_null(value))
        return diag_error(spec->diag, doc_place(doc, value), "'%s.%s.%s' must be a number, not %s",
                          section_of(spec->arena, impl), component,
                          diag_text(spec->arena, name, strlen(name)),
                          value_described(spec->arena, value));
    if (find_param(spec, impl, component, name))
        return diag_error(spec->diag, doc_place(doc, key), "duplicate key '%s.%s.%s'",
                          section_of(spec->arena, impl), component, name);
    *new_param(spec) = (struct param_spec){
        .impl = impl,
        .component = component,
        .key = name,
        .text = arena_copy(spec->arena, (const char *)value->data.scalar.value,
                           value->data.scalar.length),
        .plain = node_is_plain(value),
        .key_at = doc_place(doc, key),
        .at = doc_place(doc, value),
    };
    return true;
}

bool params_load(struct spec *spec, enum key impl, const char *name, const struct doc *doc,
                 const yaml_node_t *key, const yaml_node_t *value)
{
    const yaml_node_pair_t *p = value->data.mapping.pairs.start,
                           *end = value->data.mapping.pairs.top;
    bool ok = true;

    for (size_t i = 0; i < spec->params.n; i++)
        if (spec->params.rows[i].impl == impl && strcmp(spec->params.rows[i].component, name) == 0)
            return diag_error(spec->diag, doc_place(doc, key), "duplicate key '%s.%s'",
                              section_of(spec->arena, impl), name);
    for (; p < end; p++)
        ok =
            load_param(spec, impl, name, doc, doc_node(doc, p->key), doc_node(doc, p->value)) && ok;
    return ok;
}

/* A path like cube.hbm.mybank.banks, taken apart. */
struct param_path {
    enum key impl; /* N_KEYS: it is none */
    const char *name, *key;
    size_t name_len;
};

static struct param_path split_path(const char *path)
{
    struct param_path at = {.impl = N_KEYS};

    for (size_t i = 0; i < N_PLACES; i++) {
        size_t len = key_prefix(places[i].key, key_depth(places[i].key) - 1);
        const char *dot;

        if (strncmp(path, key_rows[places[i].key].path, len) != 0 || path[len] != '.')
            continue;
        dot = strchr(path + len + 1, '.');
        if (dot && !strchr(dot + 1, '.') && value_is_name(dot + 1, strlen(dot + 1)))
            at = (struct param_path){places[i].key, path + len + 1, dot + 1,
                                     (size_t)(dot - path) - len - 1};
    }
    return at;
}

bool params_has(const char *path)
{
    return split_path(path).impl != N_KEYS;
}

bool params_set(struct spec *spec, struct place at, const char *path, const struct doc *doc)
{
    struct param_path split = split_path(path);
    const char *name = arena_copy(spec->arena, split.name, split.name_len);
    struct param_spec *p;

    if (doc->root->type != YAML_SCALAR_NODE || node_is_null(doc->root))
        return diag_error(spec->diag, at, "'%s' must be a number, not %s", path,
                          value_described(spec->arena, doc->root));
    p = new_param(spec);
    if (find_param(spec, split.impl, name, split.key)) {
        spec->params.n--;
        p = find_param(spec, split.impl, name, split.key);
    }
    *p = (struct param_spec){
        .impl = split.impl,
        .component = name,
        .key = arena_copy(spec->arena, split.key, strlen(split.key)),
        .text = arena_copy(spec->arena, (const char *)doc->root->data.scalar.value,
                           doc->root->data.scalar.length),
        .plain = node_is_plain(doc->root),
        .key_at = at,
        .at = at,
    };
    return true;
}

/* -- their meaning ---------------------------------------------------------------------------- */

static bool unknown_param(const struct spec *spec, const struct param_spec *p,
                          const struct component *c)
{
    const char **names = arena_alloc(spec->arena, (c->n_keys + 1) * sizeof *names), *near;

    for (size_t i = 0; i < c->n_keys; i++)
        names[i] = c->keys[i].name;
    near = text_nearest(p->key, strlen(p->key), names, c->n_keys);
    return diag_error(
        spec->diag, p->key_at, "unknown key '%s' in '%s.%s', %s%s%s",
        diag_text(spec->arena, p->key, strlen(p->key)), section_of(spec->arena, p->impl), c->name,
        near ? "did you mean '" : "its file has no such line: ", near ? near : c->path,
        near ? "'?" : "");
}

/* A value for key `k` of the component. */
static bool read_param(const struct spec *spec, const struct param_spec *p,
                       const struct component_key *k, double *out)
{
    const char *path = arena_printf(spec->arena, "%s.%s.%s", section_of(spec->arena, p->impl),
                                    p->component, p->key);
    const char *shown = diag_text(spec->arena, p->text, strlen(p->text));
    double x;

    if (!p->plain || !value_is_real(p->text) || (k->integer && strpbrk(p->text, ".eE")))
        return diag_error(spec->diag, p->at, "'%s' must be %s, not '%s'", path,
                          k->integer ? "an integer" : "a number", shown);
    x = text_to_double(p->text, NULL);
    if (!(x >= k->min && x <= k->max))
        return diag_error(spec->diag, p->at, "'%s' must be %.15g..%.15g, not '%s'", path, k->min,
                          k->max, shown);
    *out = x;
    return true;
}

static void give_values(const struct spec *spec, struct part *part)
{
    const struct component *c = part->component;

    part->values = arena_alloc(spec->arena, (c->n_keys + 1) * sizeof *part->values);
    for (size_t i = 0; i < c->n_keys; i++)
        part->values[i] = c->keys[i].value;
    for (size_t i = 0; i < spec->params.n; i++) {
        const struct param_spec *p = &spec->params.rows[i];
        size_t k = 0;

        if (p->impl != part->key || strcmp(p->component, c->name) != 0)
            continue;
        while (k < c->n_keys && strcmp(c->keys[k].name, p->key) != 0)
            k++;
        if (k == c->n_keys)
            unknown_param(spec, p, c);
        else
            read_param(spec, p, &c->keys[k], &part->values[k]);
    }
}

/* Values below another name than that of `impl`, unless --set has chosen among several. */
static void check_names(const struct spec *spec, const struct param_specs *params, enum key impl)
{
    const char *name = ((const struct impl_spec *)spec_value(spec, impl))->name;
    const char *done = NULL;

    if (spec->given[impl][key_depth(impl)].at.kind == PLACE_SET)
        return;
    for (size_t i = 0; i < params->n; i++) {
        const struct param_spec *p = &params->rows[i];

        if (p->impl != impl || (name && strcmp(p->component, name) == 0) ||
            (done && strcmp(p->component, done) == 0))
            continue;
        done = p->component;
        diag_error(spec->diag, p->key_at, "'%s.%s' has keys of a component, but '%s' is '%s'",
                   section_of(spec->arena, impl), p->component, key_rows[impl].path,
                   name ? name : "builtin");
    }
}

/* Its constants are there once, so it can have one value for each key. */
static bool same_values(const struct spec *spec, const struct part *part, const struct part *other)
{
    const struct component *c = part->component;

    for (size_t i = 0; i < c->n_keys; i++)
        if (part->values[i] < other->values[i] || part->values[i] > other->values[i])
            return diag_error(spec->diag, spec_place(spec, part->key),
                              "'%s' and '%s' ask for the component '%s' with different values of "
                              "'%s': copy %s to another name",
                              key_rows[other->key].path, key_rows[part->key].path, c->name,
                              c->keys[i].name, c->path);
    return true;
}

/* The first part that is this component; NULL: it is new. */
static const struct part *part_of_name(const struct spec *spec, const char *name)
{
    for (const struct part *p = spec->parts; p; p = p->next)
        if (strcmp(p->component->name, name) == 0)
            return p;
    return NULL;
}

/* A memory may queue, or stand in front of another. */
static bool is_kind(enum component_kind wanted, enum component_kind kind)
{
    return kind == wanted ||
           (wanted == COMPONENT_MEMORY && (kind == COMPONENT_QUEUEING || kind == COMPONENT_FRONT));
}

/* A list is for a component that has something behind it, and that for a list. */
static bool is_in_front(const struct spec *spec, enum key k, const struct part *part)
{
    const struct impl_spec *impl = spec_value(spec, k);

    if (impl->front == (part->component->kind == COMPONENT_FRONT))
        return true;
    return diag_error(spec->diag, spec_place(spec, k),
                      impl->front
                          ? "'%s': '%s' is %s, and has nothing behind it: leave 'builtin' out"
                          : "'%s': '%s' is %s: write [NAME, builtin]",
                      key_rows[k].path, impl->name, kind_names[part->component->kind]);
}

/* What `impl` says at places[i], as a new part; NULL after a message. */
static struct part *new_part(const struct spec *spec, size_t i, const char *name)
{
    enum key k = places[i].key;
    const struct part *other = part_of_name(spec, name);
    struct part *part = arena_alloc(spec->arena, sizeof *part);

    *part = (struct part){.key = k, .box = places[i].box};
    part->component = other ? other->component : component_read(spec, spec_place(spec, k), name);
    if (!part->component)
        return NULL;
    if (!is_kind(places[i].kind, part->component->kind)) {
        diag_error(spec->diag, spec_place(spec, k), "'%s' must be %s, but '%s' is %s",
                   key_rows[k].path, kind_names[places[i].kind], name,
                   kind_names[part->component->kind]);
        return NULL;
    }
    if (!is_in_front(spec, k, part))
        return NULL;
    give_values(spec, part);
    return other && !same_values(spec, part, other) ? NULL : part;
}

/* Adds what `of` asks for at places[i] to the parts of `spec`, unless it is there. */
static void find_part(struct spec *spec, struct spec *of, size_t i)
{
    enum key k = places[i].key;
    struct impl_spec *impl = spec_field(of, k);
    const struct part **last = &spec->parts;
    struct part *part;

    if (!impl->name || of->given[k][key_depth(k)].bad)
        return;
    of->parts = spec->parts;
    part = new_part(of, i, impl->name);
    if (!part)
        return;
    impl->name = part->component->name; /* one pointer, by which keys are compared */
    part->below_cube = of == spec;
    if (part_of_key(of, k))
        return;
    while (*last)
        last = (const struct part **)&(*last)->next;
    *last = part;
}

/* Those that the cubes of one row of `cubes` have for themselves. */
static void find_own_parts(struct spec *spec, struct override_spec *o)
{
    struct spec *of = arena_alloc(spec->arena, sizeof *of);

    *of = *spec;
    spec_override(of, o);
    for (size_t i = 0; i < o->params.n; i++)
        *new_param(of) = o->params.rows[i];
    for (size_t v = 0; v < o->n; v++)
        for (size_t i = 0; i < N_PLACES; i++)
            if (o->values[v].key == places[i].key) {
                find_part(spec, of, i);
                check_names(of, &o->params, places[i].key);
                *(struct impl_spec *)o->values[v].value =
                    *(const struct impl_spec *)spec_value(of, places[i].key);
            }
}

/* The table of routes has no keys, and is no part. */
static void find_routes(struct spec *spec)
{
    const char *name = spec->sip_routes_impl.name;
    enum key k = KEY_sip_routes_impl;

    check_names(spec, &spec->params, k);
    spec->route_file = name && !spec->given[k][key_depth(k)].bad
                           ? route_file_read(spec, spec_place(spec, k), name)
                           : NULL;
}

void components_find(struct spec *spec)
{
    spec->parts = NULL;
    for (size_t i = 0; i < N_PLACES; i++) {
        find_part(spec, spec, i);
        check_names(spec, &spec->params, places[i].key);
    }
    for (size_t i = 0; i < spec->cubes.n; i++)
        find_own_parts(spec, &spec->cubes.rows[i]);
    for (size_t i = 0; i < spec->kinds.n; i++)
        find_own_parts(spec, &spec->kinds.rows[i]);
    find_routes(spec);
}

/* -- texts ------------------------------------------------------------------------------------ */

const char *component_paths(const struct spec *spec)
{
    const char *text = "";

    for (const struct part *p = spec->parts; p; p = p->next)
        if (part_of_name(spec, p->component->name) == p)
            text = arena_printf(spec->arena, "%s%s%s", text, *text ? " " : "", p->component->path);
    if (spec->route_file)
        text = arena_printf(spec->arena, "%s%s%s", text, *text ? " " : "", spec->route_file->path);
    return text;
}
