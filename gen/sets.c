/*
 * sets.c -- what --set says: a key and its value, or `@FILE`, a file of many.
 *
 * The file has keys as a topology has them, nested, and each of its values is set as if it stood on
 * the command line by itself, in the order of the file; mistakes name the place in the file. So it
 * is the difference of one machine from others, and belongs to none.
 *
 * Example: `energy: {hbm_pj_bit: 3.9, mac_pj: {bf16: 0.5}}` is --set energy.hbm_pj_bit=3.9
 * --set energy.mac_pj.bf16=0.5. A list is one value: cube.pe.pe_gemm.mac=[16, 16, 16].
 */
#include "sets.h"
#include "load.h"
#include <string.h>

/* A value of the file. */
struct set {
    struct place at;
    const char *assignment;
    struct set *next;
};

struct sets {
    struct spec *spec;
    const struct doc *doc;
    struct set *first, **end;
    size_t names; /* bytes of all paths */
};

enum { NAMES_MOST = 1 << 20 }; /* an alias that holds itself, or many twice, has no end */

/* As YAML again: quotes stay, as a word in quotes is no number. */
static const char *text_of(struct sets *s, const yaml_node_t *node)
{
    const char *word = (const char *)node->data.scalar.value;
    size_t n = node->data.scalar.length, at = 0;
    char *quoted;

    if (node_is_plain(node))
        return arena_copy(s->spec->arena, word, n);
    quoted = arena_alloc(s->spec->arena, 2 * n + 3);
    quoted[at++] = '\'';
    for (size_t i = 0; i < n; i++) {
        if (word[i] == '\'')
            quoted[at++] = '\'';
        quoted[at++] = word[i];
    }
    quoted[at++] = '\'';
    quoted[at] = '\0';
    return quoted;
}

/* "[a, b]" of a list of words; NULL after a message. */
static const char *list_of(struct sets *s, const yaml_node_t *node)
{
    const char *text = "[";

    for (const yaml_node_item_t *i = node->data.sequence.items.start;
         i < node->data.sequence.items.top; i++) {
        const yaml_node_t *item = doc_node(s->doc, *i);

        if (item->type != YAML_SCALAR_NODE) {
            diag_error(s->spec->diag, doc_place(s->doc, item),
                       "a list of a file of --set has words only");
            return NULL;
        }
        text = arena_printf(s->spec->arena, "%s%s%s", text, text[1] ? ", " : "", text_of(s, item));
    }
    return arena_printf(s->spec->arena, "%s]", text);
}

static void add(struct sets *s, const yaml_node_t *node, const char *path, const char *value)
{
    struct set *set = arena_alloc(s->spec->arena, sizeof *set);
    struct place at = doc_place(s->doc, node);

    at.kind = PLACE_SET; /* it counts like one of the command line */
    *set = (struct set){.at = at, .assignment = arena_printf(s->spec->arena, "%s=%s", path, value)};
    *s->end = set;
    s->end = &set->next;
}

/* Keys before `pair` that are the same word. */
static bool is_twice(struct sets *s, const yaml_node_t *mapping, const yaml_node_pair_t *pair)
{
    const yaml_node_t *key = doc_node(s->doc, pair->key);

    for (const yaml_node_pair_t *p = mapping->data.mapping.pairs.start; p < pair; p++) {
        const yaml_node_t *other = doc_node(s->doc, p->key);

        if (strcmp((const char *)other->data.scalar.value, (const char *)key->data.scalar.value) ==
            0)
            return true;
    }
    return false;
}

/* All values below `node`, whose keys begin with `path`. False after a message. */
static bool collect(struct sets *s, const yaml_node_t *node, const char *path)
{
    struct diag *diag = s->spec->diag;

    for (const yaml_node_pair_t *p = node->data.mapping.pairs.start;
         p < node->data.mapping.pairs.top; p++) {
        const yaml_node_t *key = doc_node(s->doc, p->key), *value = doc_node(s->doc, p->value);
        const char *name, *text;

        if (key->type != YAML_SCALAR_NODE)
            return diag_error(diag, doc_place(s->doc, key), "a key must be a single word");
        name = arena_printf(s->spec->arena, "%s%s%s", path, *path ? "." : "",
                            (const char *)key->data.scalar.value);
        if ((s->names += strlen(name) + 1) > NAMES_MOST)
            return diag_error(diag, doc_place(s->doc, key),
                              "keys of more than 1 MiB: does an alias hold itself?");
        if (strcmp(name, "kernbench") == 0)
            return diag_error(diag, doc_place(s->doc, key),
                              "'kernbench' is of a whole machine, which --machine takes");
        if (is_twice(s, node, p))
            return diag_error(diag, doc_place(s->doc, key), "duplicate key '%s'",
                              diag_text(s->spec->arena, name, strlen(name)));
        if (value->type == YAML_MAPPING_NODE) {
            if (!collect(s, value, name))
                return false;
            continue;
        }
        text = value->type == YAML_SCALAR_NODE ? text_of(s, value) : list_of(s, value);
        if (!text)
            return false;
        add(s, value, name, text);
    }
    return true;
}

static bool load_all(struct spec *spec, const char *path)
{
    struct place whole = {.kind = PLACE_FILE, .name = arena_copy(spec->arena, path, strlen(path))};
    struct sets s = {.spec = spec, .end = &s.first};
    size_t len;
    const char *text = load_read(spec, whole, &len);
    bool good = true;

    if (!text) { /* the topology itself could be read, perhaps */
        spec->unreadable = spec->diag->code == EXIT_SYSTEM;
        return false;
    }
    spec->doc = doc_open(spec->arena, spec->diag, whole, text, len);
    if (!spec->doc)
        return false;
    s.doc = spec->doc;
    if (!spec->doc->root || spec->doc->root->type != YAML_MAPPING_NODE)
        good = diag_error(spec->diag, whole, "a file of --set has keys and their values");
    else
        good = collect(&s, spec->doc->root, "");
    load_close(spec);
    for (struct set *set = s.first; good && set; set = set->next)
        if (!load_set(spec, set->at, set->assignment))
            good = diag_quiet(spec->diag) ? false : good;
    return good;
}

bool sets_load(struct spec *spec, const char *word)
{
    struct place at = {.kind = PLACE_SET};

    if (*word == '@')
        return load_all(spec, word + 1);
    at.name = arena_printf(spec->arena, "--set %s", diag_text(spec->arena, word, strlen(word)));
    return load_set(spec, at, word);
}
