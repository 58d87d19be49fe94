/*
 * overrides.c -- `cubes` and `kinds`: keys that some cubes have for themselves.
 *
 * The keys of one item are those of `cube`, so they are read by load.c into a spec of their own,
 * with the same checks and messages. Only what was given is kept: cubes.c gives it to the cubes.
 *
 * Example: cubes: {"c[4-7]": {pes: 4, hbm: {bw_gbs: 128}}} is one row, of the keys cube.pes and
 * cube.hbm.bw_gbs. Printed, the numbers have their usual form: {'c[4-7]': {pes: 4, hbm: {bw_gbs:
 * 128.0}}}
 */
#include "overrides.h"
#include "load.h"
#include "parts.h"
#include "value.h"
#include <string.h>

static const enum key first_key = KEY_cube_size_mm;

static bool is_of_cube(enum key k)
{
    return k < N_KEYS && key_shares(first_key, k, 1);
}

static bool is_given(const struct spec *own, enum key k)
{
    return own->given[k][key_depth(k)].key.kind != PLACE_NONE;
}

/* What was given of a cube, for the row `out`. */
static void keep(const struct spec *own, struct override_spec *out)
{
    struct arena *a = own->arena;

    for (enum key k = first_key; is_of_cube(k); k++)
        out->n += is_given(own, k);
    out->values = arena_alloc(a, (out->n + 1) * sizeof *out->values);
    out->n = 0;
    out->params = own->params;
    for (enum key k = first_key; is_of_cube(k); k++) {
        if (!is_given(own, k))
            continue;
        void *value = arena_alloc(a, key_rows[k].bytes);

        memcpy(value, spec_value(own, k), key_rows[k].bytes);
        out->values[out->n++] = (struct override_value){k, own->given[k][key_depth(k)], value};
    }
}

/* Of an `impl`, ", mybank: {banks: 16}": the values of a component that those below `cube` are not.
 */
static const char *component_text(const struct spec *own, enum key k)
{
    const struct part *part = key_rows[k].type == KEY_IMPL ? part_of_key(own, k) : NULL;

    if (!part || part->below_cube || part->component->n_keys == 0)
        return "";
    return arena_printf(own->arena, ", %s: %s", part->component->name,
                        part_values_text(own->arena, part));
}

/* "hbm: {bw_gbs: 128.0}, pes: 4": the given keys below the first `depth` words of `k`. */
static const char *keys_text(const struct spec *own, enum key k, int depth)
{
    struct arena *a = own->arena;
    const char *text = "";

    for (enum key first = k; k < N_KEYS && key_shares(first, k, depth); k++) {
        size_t len;
        const char *word = key_word(k, depth, &len), *value = "";
        bool leaf = key_depth(k) == depth + 1, begins = key_first(k, depth + 1) == k;

        if (leaf && is_given(own, k))
            value = arena_printf(a, "%s%s", value_text(own, k), component_text(own, k));
        else if (!leaf && begins && *keys_text(own, k, depth + 1))
            value = arena_printf(a, "{%s}", keys_text(own, k, depth + 1));
        if (*value)
            text = arena_printf(a, "%s%s%.*s: %s", text, *text ? ", " : "", (int)len, word, value);
    }
    return text;
}

bool overrides_take_kind(struct spec *own, const struct doc *doc, const yaml_node_t *value)
{
    if (value->type != YAML_SCALAR_NODE || node_is_null(value))
        return diag_error(own->diag, doc_place(doc, value),
                          "'kind' must be the name of one of 'kinds', not %s",
                          value_described(own->arena, value));
    own->row_kind->text =
        arena_copy(own->arena, (const char *)value->data.scalar.value, value->data.scalar.length);
    own->row_kind->at = doc_place(doc, value);
    return true;
}

const struct override_spec *overrides_kind(const struct spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->kinds.n; i++)
        if (strcmp(spec->kinds.rows[i].text, name) == 0)
            return &spec->kinds.rows[i];
    return NULL;
}

/* The keys of a row as YAML: a name alone if it has nothing but a kind. */
static const char *row_text(const struct spec *own, const struct override_spec *o)
{
    const char *keys = keys_text(own, first_key, 1);

    if (!o->kind.text)
        return arena_printf(own->arena, "{%s}", keys);
    return *keys ? arena_printf(own->arena, "{kind: %s, %s}", o->kind.text, keys) : o->kind.text;
}

/* The name of a row: of `kinds` one of links, of `cubes` a pattern. */
static bool is_row_name(const struct spec *spec, enum key k, const struct override_spec *o)
{
    if (k == KEY_cubes || value_is_name(o->text, strlen(o->text)))
        return true;
    return diag_error(spec->diag, o->at, "a name of 'kinds' must be [a-z][a-z0-9_]*, not '%s'",
                      diag_text(spec->arena, o->text, strlen(o->text)));
}

/* Keys that all cubes share: these, or those below them. */
static const struct {
    enum key key;
    const char *name;
    int depth;
} of_all[] = {{KEY_cube_size_mm, "size_mm", 2}, {KEY_cube_noc_mesh_cols, "noc.mesh", 3}};

enum { N_OF_ALL = sizeof of_all / sizeof *of_all };

bool overrides_may_have(enum key k)
{
    for (size_t i = 0; i < N_OF_ALL; i++)
        if (key_shares(of_all[i].key, k, of_all[i].depth))
            return false;
    return is_of_cube(k);
}

const char *overrides_path(struct arena *a, const char *kind, const char *path)
{
    return arena_printf(a, "kinds.%s%s", kind, path + strlen("cube"));
}

/* False after a message about keys that all cubes share. */
static bool may_differ(const struct spec *own)
{
    for (size_t i = 0; i < N_OF_ALL; i++) {
        const struct given *given = &own->given[of_all[i].key][of_all[i].depth];

        if (given->key.kind != PLACE_NONE)
            return diag_error(own->diag, given->key,
                              "'%s' is the same for all cubes, give it below 'cube'",
                              of_all[i].name);
    }
    return true;
}

static bool load_row(struct spec *spec, enum key k, struct spec *own, const struct doc *doc,
                     const yaml_node_t *key, const yaml_node_t *value, struct override_spec *out)
{
    size_t before = diag_count(spec->diag);
    const char *text;

    if (key->type != YAML_SCALAR_NODE || node_is_null(key))
        return diag_error(spec->diag, doc_place(doc, key), "'%s' has names of %s as keys",
                          key_rows[k].path, key_rows[k].path);
    text = arena_copy(spec->arena, (const char *)key->data.scalar.value, key->data.scalar.length);
    *out = (struct override_spec){.text = text, .at = doc_place(doc, key)};
    if (!is_row_name(spec, k, out))
        return false;
    spec_init(own, spec->arena, spec->diag);
    own->row_kind = k == KEY_cubes ? &out->kind : NULL;
    if (k == KEY_cubes && value->type == YAML_SCALAR_NODE && !node_is_null(value)) {
        keep(own, out);
        return overrides_take_kind(own, doc, value) && (out->keys = out->kind.text);
    }
    if (value->type != YAML_MAPPING_NODE)
        return diag_error(spec->diag, doc_place(doc, value),
                          "'%s' gives each %s a mapping of keys, as {pes: 4}", key_rows[k].path,
                          k == KEY_cubes ? "cube" : "kind");
    load_mapping(own, first_key, 1, doc, value);
    if (!may_differ(own))
        return false;
    keep(own, out);
    out->keys = row_text(own, out);
    return diag_count(spec->diag) == before;
}

/* False after a message if the last row has the key of another. */
static bool is_new_key(const struct spec *spec, enum key k, const struct override_specs *all)
{
    const struct override_spec *last = &all->rows[all->n - 1];

    for (const struct override_spec *o = all->rows; o < last; o++)
        if (o->text && strcmp(o->text, last->text) == 0)
            return diag_error(spec->diag, last->at, "duplicate key '%s' in '%s', given on line %zu",
                              diag_text(spec->arena, o->text, strlen(o->text)), key_rows[k].path,
                              o->at.line);
    return true;
}

/* As YAML in flow style that reads back to the same. */
static const char *all_text(struct arena *a, const struct override_specs *all)
{
    const char *text = "";

    for (size_t i = 0; i < all->n; i++) {
        const struct override_spec *o = &all->rows[i];
        const char *quote = strpbrk(o->text, "[]*,") ? "'" : "";

        text =
            arena_printf(a, "%s%s%s%s%s: %s", text, i ? ", " : "", quote, o->text, quote, o->keys);
    }
    return arena_printf(a, "{%s}", text);
}

static void say_rows(struct spec *spec, struct override_specs *all)
{
    struct spec *own = arena_alloc(spec->arena, sizeof *own);

    for (size_t i = 0; i < all->n; i++) {
        spec_init(own, spec->arena, spec->diag);
        own->parts = spec->parts;
        spec_override(own, &all->rows[i]);
        all->rows[i].keys = row_text(own, &all->rows[i]);
    }
    if (all->n)
        all->text = all_text(spec->arena, all);
}

void overrides_say(struct spec *spec)
{
    say_rows(spec, &spec->cubes);
    say_rows(spec, &spec->kinds);
}

bool overrides_set(struct spec *spec, struct override_spec *row, enum key k, const struct doc *doc)
{
    struct spec *own = arena_alloc(spec->arena, sizeof *own);

    spec_init(own, spec->arena, spec->diag);
    spec_override(own, row);
    own->given[k][key_depth(k)] = (struct given){.key = doc->whole, .at = doc->whole};
    if (key_shares(KEY_cube_noc_mesh_cols, k, 3))
        own->given[KEY_cube_noc_mesh_cols][3].key = doc->whole;
    if (!may_differ(own) || !value_load(own, k, doc, doc->root))
        return false;
    own->params = row->params;
    row->n = 0;
    keep(own, row);
    return true;
}

bool overrides_load(struct spec *spec, enum key k, const struct doc *doc, const yaml_node_t *node)
{
    struct spec *own = arena_alloc(spec->arena, sizeof *own);
    struct override_specs all = {0};
    const yaml_node_pair_t *p, *end;
    bool ok = true;

    if (node->type != YAML_MAPPING_NODE)
        return diag_error(spec->diag, doc_place(doc, node),
                          "'%s' must be a mapping of %s to keys, as {%s: {pes: 4}}",
                          key_rows[k].path, key_rows[k].path, k == KEY_cubes ? "c3" : "xcd");
    end = node->data.mapping.pairs.top;
    all.rows = arena_alloc(spec->arena,
                           (size_t)(end - node->data.mapping.pairs.start + 1) * sizeof *all.rows);
    for (p = node->data.mapping.pairs.start; p < end; p++)
        ok = load_row(spec, k, own, doc, doc_node(doc, p->key), doc_node(doc, p->value),
                      &all.rows[all.n++]) &&
             is_new_key(spec, k, &all) && ok;
    if (!ok)
        return false;
    all.text = all_text(spec->arena, &all);
    *(struct override_specs *)spec_field(spec, k) = all;
    return true;
}
