/*
 * load.c -- a topology YAML and the --set options into a spec, every mistake named.
 *
 * There is no list of mappings: keys.def has the paths of keys, and a mapping is the set of keys
 * that share the first words of their paths. Since the keys of a mapping stand together, its first
 * key and a number of words name it (struct section), and the keys after that one are its others.
 *
 * The spec remembers where each key and each mapping was written: given[k][d] belongs to the first
 * d words of key k. A mapping uses the row of its first key, so `cube` is at given[cube.size_mm][1]
 * and `cube.hbm` at given[cube.hbm.overhead_ns][2]. These places make messages, and tell a key that
 * was left out from one that was given its default.
 *
 * A mistake never ends the reading: the key is marked as bad, keeps its default, and the next key
 * is read, so one run shows all mistakes. Checks of several keys (check.c) leave out bad ones, so
 * that one mistake does not cause a second message. After 20 messages the search stops.
 *
 * Example: lines 4 to 7 of a file are "cube:", "  hbm:", "    bw_gbz: 512", "    size_gb: 0".
 * `cube` is a section of one word, `cube.hbm` one of two; in it `bw_gbz` is no key but close to
 * one:
 *
 *     t.yaml:6:5: unknown key 'bw_gbz' in 'cube.hbm', did you mean 'bw_gbs'?
 *     t.yaml:7:14: 'cube.hbm.size_gb' must be 1..64, not '0'
 */
#include "load.h"
#include "components.h"
#include "net_load.h"
#include "overrides.h"
#include "doc.h"
#include "base/fault.h"
#include "base/text.h"
#include "value.h"
#include <errno.h>
#include <string.h>

/* A mapping of keys.def: the first `depth` words of `first`. Depth 0 is the whole file. */
struct section {
    enum key first;
    int depth;
};

static const char *section_path(struct arena *a, struct section s)
{
    return arena_copy(a, key_rows[s.first].path, key_prefix(s.first, s.depth));
}

static bool in_section(enum key k, struct section s)
{
    return k < N_KEYS && key_shares(s.first, k, s.depth);
}

static bool is_leaf(enum key k, struct section s)
{
    return key_depth(k) == s.depth + 1;
}

/* The first key of the section with `word` as its next word; N_KEYS if there is none. */
static enum key find_child(struct section s, const char *word, size_t len)
{
    for (enum key k = s.first; in_section(k, s); k++) {
        size_t n;
        const char *next = key_word(k, s.depth, &n);

        if (n == len && memcmp(next, word, n) == 0)
            return k;
    }
    return N_KEYS;
}

/* The words that may stand in a section. */
static size_t list_children(struct arena *a, struct section s, const char *names[N_KEYS])
{
    size_t n_names = 0;

    for (enum key k = s.first; in_section(k, s); k++) {
        size_t len;
        const char *word = key_word(k, s.depth, &len);

        if (k == s.first || !key_shares(k - 1, k, s.depth + 1))
            names[n_names++] = arena_copy(a, word, len);
    }
    return n_names;
}

/* The one section with a key `word`; false if there is none or several. */
static bool find_home(const char *word, size_t len, struct section *home)
{
    size_t n_homes = 0;

    for (enum key k = 0; k < N_KEYS; k++) {
        for (int d = 0; d < key_depth(k); d++) {
            size_t n;
            const char *w = key_word(k, d, &n);

            if (n != len || memcmp(w, word, n) != 0 || key_first(k, d + 1) != k)
                continue;
            *home = (struct section){.first = key_first(k, d), .depth = d};
            n_homes++;
        }
    }
    return n_homes == 1;
}

/* A guess at the key that was meant, to follow the message. */
static const char *hint(struct arena *a, struct section s, const char *word, size_t len)
{
    const char *names[N_KEYS], *near, *list = "";
    size_t n_names = list_children(a, s, names);
    struct section home;

    if (find_home(word, len, &home))
        return home.depth == 0 ? "it belongs at the top level"
                               : arena_printf(a, "it belongs in '%s'", section_path(a, home));
    near = text_nearest(word, len, names, n_names);
    if (near)
        return arena_printf(a, "did you mean '%s'?", near);
    for (size_t i = 0; i < n_names; i++)
        list = arena_printf(a, "%s%s%s", list, i ? ", " : "", names[i]);
    return arena_printf(a, "known here: %s", list);
}

static bool unknown_key(struct spec *spec, struct section s, const struct doc *doc,
                        const yaml_node_t *key)
{
    const char *word = (const char *)key->data.scalar.value;
    size_t len = key->data.scalar.length;
    struct arena *a = spec->arena;

    if (diag_quiet(spec->diag))
        return diag_error(spec->diag, doc->whole, "unknown key");
    if (node_is_plain(key) && strcmp(word, "<<") == 0)
        return diag_error(spec->diag, doc_place(doc, key),
                          "merge keys ('<<') are not used here, write the keys out");
    if (s.depth == 0)
        return diag_error(spec->diag, doc_place(doc, key), "unknown key '%s', %s",
                          diag_text(a, word, len), hint(a, s, word, len));
    return diag_error(spec->diag, doc_place(doc, key), "unknown key '%s' in '%s', %s",
                      diag_text(a, word, len), section_path(a, s), hint(a, s, word, len));
}

static void load_section(struct spec *spec, struct section s, const struct doc *doc,
                         const yaml_node_t *node);

/* The value of a leaf; that of `kernbench` decides the defaults of other keys. */
static bool load_leaf(struct spec *spec, enum key k, const struct doc *doc,
                      const yaml_node_t *value)
{
    if (key_rows[k].type == KEY_OVERRIDES)
        return overrides_load(spec, k, doc, value);
    if (key_rows[k].type == KEY_LINKS || key_rows[k].type == KEY_NET)
        return net_load(spec, k, doc, value);
    if (!value_load(spec, k, doc, value))
        return false;
    if (k == KEY_kernbench) {
        spec_set_version(spec, spec->kernbench);
        memset(spec->texts, 0, sizeof spec->texts);
    }
    return true;
}

/*
 * The value of a known key: of a leaf, or of the mapping that begins with key `k`. Mistakes
 * inside a mapping are reported for its keys.
 */
static bool load_known(struct spec *spec, struct section s, enum key k, const struct doc *doc,
                       const yaml_node_t *value)
{
    struct section inner = {.first = k, .depth = s.depth + 1};
    const char *path = section_path(spec->arena, inner);
    struct given *given = &spec->given[k][inner.depth];

    if (node_is_null(value))
        return diag_error(spec->diag, given->key,
                          is_leaf(k, s) ? "'%s' has no value"
                                        : "'%s' is empty, leave it out or give it keys",
                          path);
    given->at = doc_place(doc, value);
    if (is_leaf(k, s))
        return load_leaf(spec, k, doc, value);
    if (value->type != YAML_MAPPING_NODE)
        return diag_error(spec->diag, given->at, "'%s' must be a mapping, not %s", path,
                          value->type == YAML_SEQUENCE_NODE ? "a list" : "a single value");
    load_section(spec, inner, doc, value);
    return true;
}

/* Whether a mapping has the key `impl`: then others in it may have the keys of a component. */
static bool has_impl(const struct doc *doc, const yaml_node_t *mapping)
{
    const yaml_node_pair_t *end = mapping->data.mapping.pairs.top;

    for (const yaml_node_pair_t *p = mapping->data.mapping.pairs.start; p < end; p++) {
        const yaml_node_t *key = doc_node(doc, p->key);

        if (key->type == YAML_SCALAR_NODE &&
            strcmp((const char *)key->data.scalar.value, "impl") == 0)
            return true;
    }
    return false;
}

/* A key that keys.def does not have: perhaps the name of a component, with values for its keys. */
static bool load_unknown(struct spec *spec, struct section s, const struct doc *doc,
                         const yaml_node_t *mapping, const yaml_node_t *key,
                         const yaml_node_t *value)
{
    const char *word = (const char *)key->data.scalar.value;
    size_t len = key->data.scalar.length;
    enum key impl = impl_of_section(s.first, s.depth);

    if (spec->row_kind && s.depth == 1 && strcmp(word, "kind") == 0)
        return overrides_take_kind(spec, doc, value);
    if (impl == N_KEYS || value->type != YAML_MAPPING_NODE || !value_is_name(word, len) ||
        !has_impl(doc, mapping))
        return unknown_key(spec, s, doc, key);
    return params_load(spec, impl, arena_copy(spec->arena, word, len), doc, key, value);
}

/* One "key: value" of `mapping`. False after a message; the caller goes on to the next key. */
static bool load_pair(struct spec *spec, struct section s, const struct doc *doc,
                      const yaml_node_t *mapping, const yaml_node_t *key, const yaml_node_t *value)
{
    struct given *given;
    enum key k;

    if (key->type != YAML_SCALAR_NODE)
        return diag_error(spec->diag, doc_place(doc, key), "a key must be a single word");
    k = find_child(s, (const char *)key->data.scalar.value, key->data.scalar.length);
    if (k == N_KEYS)
        return load_unknown(spec, s, doc, mapping, key, value);
    given = &spec->given[k][s.depth + 1];
    if (given->key.kind == PLACE_SET)
        return diag_error(spec->diag, doc_place(doc, key), "duplicate key '%s'",
                          section_path(spec->arena, (struct section){k, s.depth + 1}));
    if (given->key.kind != PLACE_NONE)
        return diag_error(spec->diag, doc_place(doc, key), "duplicate key '%s', given on line %zu",
                          section_path(spec->arena, (struct section){k, s.depth + 1}),
                          given->key.line);
    given->key = doc_place(doc, key);
    given->bad = !load_known(spec, s, k, doc, value);
    return !given->bad;
}

static void load_section(struct spec *spec, struct section s, const struct doc *doc,
                         const yaml_node_t *node)
{
    const yaml_node_pair_t *end = node->data.mapping.pairs.top;

    for (const yaml_node_pair_t *p = node->data.mapping.pairs.start; p < end; p++) {
        if (diag_quiet(spec->diag))
            break;
        load_pair(spec, s, doc, node, doc_node(doc, p->key), doc_node(doc, p->value));
    }
}

void load_mapping(struct spec *spec, enum key first, int depth, const struct doc *doc,
                  const yaml_node_t *node)
{
    load_section(spec, (struct section){.first = first, .depth = depth}, doc, node);
}

static void load_root(struct spec *spec, const struct doc *doc)
{
    struct given *given = &spec->given[0][0];

    given->at = doc_place(doc, doc->root);
    if (doc->root->type == YAML_MAPPING_NODE) {
        load_section(spec, (struct section){0}, doc, doc->root);
        return;
    }
    given->bad = true;
    diag_error(spec->diag, given->at, "a topology is a mapping of keys to values");
}

bool load_text(struct spec *spec, const char *name, const char *text, size_t len)
{
    struct place whole = {.kind = PLACE_FILE, .name = name};
    size_t before = diag_count(spec->diag);

    if (len > FILE_BYTES_MAX) {
        whole.line = whole.col = 1;
        return diag_error(spec->diag, whole, "larger than 1 MiB");
    }
    spec->doc = doc_open(spec->arena, spec->diag, whole, text, len);
    if (!spec->doc)
        return false;
    load_root(spec, spec->doc);
    load_close(spec);
    return diag_count(spec->diag) == before;
}

static bool cannot_be_read(struct spec *spec, struct place whole, int err)
{
    if (err == ENOMEM)
        arena_lacks(spec->arena);
    spec->unreadable = true;
    diag_error(spec->diag, whole, "cannot be read: %s", strerror(err));
    if (!fault_is_of_file(err))
        spec->diag->code = EXIT_SYSTEM;
    return false;
}

/* What is left of the file, or one byte more than a file may have; `len` bytes. */
static const char *read_all(struct arena *a, FILE *f, size_t *len)
{
    size_t room = 16 << 10;
    char *text = arena_alloc(a, room);

    *len = 0;
    while ((*len += fread(text + *len, 1, room - *len, f)) == room && room <= FILE_BYTES_MAX) {
        char *wider = arena_alloc(a, 8 * room);

        memcpy(wider, text, room);
        text = wider;
        room *= 8;
    }
    return text;
}

const char *load_read(struct spec *spec, struct place whole, size_t *len)
{
    const char *text = NULL;
    int err = 0;

    spec->file = fopen(whole.name, "rb");
    if (spec->file)
        text = read_all(spec->arena, spec->file, len);
    if (!spec->file || ferror(spec->file))
        err = errno;
    load_close(spec);
    if (!err)
        return text;
    cannot_be_read(spec, whole, err);
    return NULL;
}

bool load_file(struct spec *spec, const char *path)
{
    size_t len;
    const char *text = load_read(spec, (struct place){.kind = PLACE_FILE, .name = path}, &len);

    return text && load_text(spec, path, text, len);
}

void load_close(struct spec *spec)
{
    if (spec->doc)
        doc_close(spec->doc);
    if (spec->file)
        fclose(spec->file);
    spec->doc = NULL;
    spec->file = NULL;
}

static enum key find_path(const char *path)
{
    enum key k = 0;

    while (k < N_KEYS && strcmp(path, key_rows[k].path) != 0)
        k++;
    return k;
}

/* Whether `path` has `part` behind a point, and at most the rest of a word behind that. */
static bool has_part(const char *path, const char *part, bool whole)
{
    size_t n = strlen(part);

    for (const char *p = strchr(path, '.'); p && n > 0; p = strchr(p + 1, '.'))
        if (strncmp(p + 1, part, n) == 0 && (whole ? !p[1 + n] : !strchr(p + 1 + n, '.')))
            return true;
    return false;
}

/* The one path that ends in `tail`, or has a last word that begins with that of `tail`; NULL if
 * there is none or several. */
static const char *find_tail(const char *tail)
{
    const char *found[2] = {NULL, NULL};
    int n[2] = {0, 0};

    for (enum key k = 0; k < N_KEYS; k++)
        for (int whole = 0; whole < 2; whole++)
            if (has_part(key_rows[k].path, tail, whole)) {
                found[whole] = key_rows[k].path;
                n[whole]++;
            }
    return n[1] == 1 ? found[1] : n[1] == 0 && n[0] == 1 ? found[0] : NULL;
}

static bool is_mapping(const char *path)
{
    size_t n = strlen(path);

    for (enum key k = 0; k < N_KEYS; k++)
        if (n > 0 && strncmp(key_rows[k].path, path, n) == 0 && key_rows[k].path[n] == '.')
            return true;
    return false;
}

static const char *nearest_path(struct spec *spec, const char *path)
{
    size_t n = 0, all = N_KEYS + spec->links.n * N_LINK_KEYS;
    const char **names = arena_alloc(spec->arena, all * sizeof *names);

    for (enum key k = 0; k < N_KEYS; k++)
        names[n++] = key_rows[k].path;
    for (size_t i = 0; i < spec->links.n; i++)
        for (size_t k = 0; k < N_LINK_KEYS; k++)
            names[n++] = arena_printf(spec->arena, "links.%s.%s", spec->links.rows[i].name,
                                      link_keys[k].name);
    return text_nearest(path, strlen(path), names, n);
}

static bool unknown_path(struct spec *spec, struct place at, const char *path)
{
    const char *shown = diag_text(spec->arena, path, strlen(path));
    const char *near = find_tail(path);

    if (is_mapping(path))
        return diag_error(spec->diag, at, "'%s' is a mapping, set its keys one by one", shown);
    if (strncmp(path, "cubes.", strlen("cubes.")) == 0)
        return diag_error(spec->diag, at,
                          "unknown key '%s': 'cubes' is one value, as {c1: {pes: 4}}", shown);
    if (!near)
        near = nearest_path(spec, path);
    if (near)
        return diag_error(spec->diag, at, "unknown key '%s', did you mean '%s'?", shown, near);
    return diag_error(spec->diag, at, "unknown key '%s'", shown);
}

/* What --set gives a value: a key, or a number of one of `links` or `kinds`, as links.eth.lanes. */
struct target {
    enum key key;               /* of a kind: the key below `cube`; N_KEYS: none, or of a link */
    struct override_spec *kind; /* NULL: of all */
    size_t link, link_key;      /* link_key N_LINK_KEYS: of none */
};

/* What stands behind "links.NAME." in `path`; NULL: something else is there. */
static const char *behind(const char *path, const char *mapping, const char *name)
{
    size_t m = strlen(mapping), n = strlen(name);

    if (strncmp(path, mapping, m) != 0 || strncmp(path + m, name, n) != 0 || path[m + n] != '.')
        return NULL;
    return path + m + n + 1;
}

static struct target find_target(const struct spec *spec, const char *path)
{
    struct target to = {.key = find_path(path), .link_key = N_LINK_KEYS};
    const char *rest;

    for (size_t i = 0; i < spec->kinds.n; i++)
        if ((rest = behind(path, "kinds.", spec->kinds.rows[i].text))) {
            to.kind = &spec->kinds.rows[i];
            to.key = find_path(arena_printf(spec->arena, "cube.%s", rest));
        }
    for (size_t i = 0; i < spec->links.n; i++)
        for (size_t k = 0; k < N_LINK_KEYS; k++)
            if ((rest = behind(path, "links.", spec->links.rows[i].name)) &&
                strcmp(rest, link_keys[k].name) == 0) {
                to.link = i;
                to.link_key = k;
            }
    return to;
}

/* Marks the mappings around a key that --set gave: they are not missing, though the file lacks
 * them. */
static void mark_set(struct spec *spec, enum key k, struct place at, bool bad)
{
    struct place around = spec->given[0][0].at;

    for (int d = 1; d < key_depth(k); d++) {
        struct given *mapping = &spec->given[key_first(k, d)][d];

        if (mapping->key.kind == PLACE_NONE)
            mapping->key = around;
        around = mapping->key;
    }
    spec->given[k][key_depth(k)] = (struct given){.key = at, .at = at, .bad = bad};
}

static void set_value(struct spec *spec, const struct target *to, const char *path,
                      const struct doc *doc)
{
    if (node_is_null(doc->root))
        diag_error(spec->diag, doc->whole, "'%s' has no value", path);
    else if (to->link_key < N_LINK_KEYS)
        net_set_link(spec, to->link, to->link_key, doc);
    else if (to->key == N_KEYS)
        params_set(spec, doc->whole, path, doc);
    else if (to->kind)
        overrides_set(spec, to->kind, to->key, doc);
    else
        load_leaf(spec, to->key, doc, doc->root);
}

/* The value of `k` in that kind of cubes, or in all. */
static const void *value_of(const struct spec *spec, const struct target *to)
{
    for (size_t i = 0; to->kind && i < to->kind->n; i++)
        if (to->kind->values[i].key == to->key)
            return to->kind->values[i].value;
    return spec_value(spec, to->key);
}

/*
 * "cube.pe.pe_gemm.mac[1]=32" as "cube.pe.pe_gemm.mac=[16, 32, 16]", the list that is there with
 * another item; an assignment to anything else as it is.
 */
static const char *assign_list(const struct spec *spec, const char *assignment)
{
    size_t before = strcspn(assignment, "[="), n, item;
    const char *open = assignment + before, *list = "";
    struct target to;

    if (open[0] != '[' || open[1] < '0' || open[1] > '9' || open[2] != ']' || open[3] != '=')
        return assignment;
    item = (size_t)(open[1] - '0');
    to = find_target(spec, arena_copy(spec->arena, assignment, before));
    n = to.key == N_KEYS ? 1 : value_items(to.key);
    if (n == 1 || item >= n)
        return assignment;
    if (!open[4])
        return arena_printf(spec->arena, "%.*s=", (int)before, assignment);
    for (size_t i = 0; i < n; i++)
        list = arena_printf(
            spec->arena, "%s%s%s", list, i ? ", " : "",
            i == item ? open + 4 : value_item_text(spec->arena, to.key, value_of(spec, &to), i));
    return arena_printf(spec->arena, "%.*s=[%s]", (int)before, assignment, list);
}

bool load_set(struct spec *spec, struct place at, const char *assignment)
{
    size_t before = diag_count(spec->diag);
    const char *equals;
    struct target to;

    assignment = assign_list(spec, assignment);
    equals = strchr(assignment, '=');
    if (!equals)
        return diag_error(spec->diag, at, "expected KEY=VALUE");
    assignment = arena_copy(spec->arena, assignment, (size_t)(equals - assignment));
    to = find_target(spec, assignment);
    if (to.key == N_KEYS && to.link_key == N_LINK_KEYS && (to.kind || !params_has(assignment)))
        return unknown_path(spec, at, assignment);
    if (equals[1] == 0)
        return diag_error(spec->diag, at, "'%s' has no value", assignment);
    spec->doc = doc_of_word(spec->arena, at, equals + 1);
    if (!spec->doc)
        spec->doc = doc_open(spec->arena, spec->diag, at, equals + 1, strlen(equals + 1));
    if (spec->doc)
        set_value(spec, &to, assignment, spec->doc);
    load_close(spec);
    spec->texts[KEY_links] = spec->texts[KEY_kinds] = NULL;
    if (to.key != N_KEYS && !to.kind) {
        spec->texts[to.key] = NULL;
        mark_set(spec, to.key, at, diag_count(spec->diag) > before);
    }
    return diag_count(spec->diag) == before;
}
