/*
 * net_load.c -- `links`, the kinds of links of a machine, and `sip.net`, the items of its net.
 *
 * Only what stands in the file is read and checked here, each item where it stands. What the items
 * mean together, which cubes they join and by which ports, is for net.c.
 *
 * Both are printed as they were written, in flow style, with numbers in their usual form, so that
 * the text reads back to the same:
 *
 *     sip.net  [{mesh: [2, 2], of: 'c[0-3]', link: [usr_h, usr_v]}]
 *     links    {bond: {bw_gbs: 2150.0, latency_ns: 5.0}}
 */
#include "net_load.h"
#include "base/text.h"
#include "value.h"
#include <stdlib.h>
#include <string.h>

/* What is read: its key, and where. */
struct reader {
    struct spec *spec;
    enum key key;
    const struct doc *doc;
};

static const char *scalar(const yaml_node_t *node)
{
    return (const char *)node->data.scalar.value;
}

static bool is_word(const yaml_node_t *node)
{
    return node->type == YAML_SCALAR_NODE && !node_is_null(node) &&
           strlen(scalar(node)) == node->data.scalar.length;
}

static bool is_list(const yaml_node_t *node)
{
    return node->type == YAML_SEQUENCE_NODE;
}

static size_t length(const yaml_node_t *list)
{
    return (size_t)(list->data.sequence.items.top - list->data.sequence.items.start);
}

static const yaml_node_t *item_at(const struct reader *r, const yaml_node_t *list, size_t i)
{
    return doc_node(r->doc, list->data.sequence.items.start[i]);
}

/* "'PATH.of' must be MUST, not ...", at `node`. */
static bool wrong(const struct reader *r, const yaml_node_t *node, const char *of, const char *must)
{
    return diag_error(r->spec->diag, doc_place(r->doc, node), "'%s.%s' must be %s, not %s",
                      key_rows[r->key].path, of, must, value_described(r->spec->arena, node));
}

static struct text_spec text_at(const struct reader *r, const yaml_node_t *node)
{
    return (struct text_spec){arena_copy(r->spec->arena, scalar(node), node->data.scalar.length),
                              doc_place(r->doc, node)};
}

/* -- as YAML -------------------------------------------------------------------------------- */

static const char *scalar_text(struct arena *a, const yaml_node_t *node)
{
    const char *text = scalar(node);

    return strpbrk(text, ",[]{}*:>-#&!|%@` ") ? arena_printf(a, "'%s'", text) : text;
}

/* A node in flow style. */
static const char *node_text(const struct reader *r, const yaml_node_t *node)
{
    struct arena *a = r->spec->arena;
    const char *text = "";

    if (node->type == YAML_SCALAR_NODE)
        return scalar_text(a, node);
    if (is_list(node)) {
        for (size_t i = 0; i < length(node); i++)
            text =
                arena_printf(a, "%s%s%s", text, i ? ", " : "", node_text(r, item_at(r, node, i)));
        return arena_printf(a, "[%s]", text);
    }
    for (const yaml_node_pair_t *p = node->data.mapping.pairs.start;
         p < node->data.mapping.pairs.top; p++)
        text =
            arena_printf(a, "%s%s%s: %s", text, *text ? ", " : "", scalar(doc_node(r->doc, p->key)),
                         node_text(r, doc_node(r->doc, p->value)));
    return arena_printf(a, "{%s}", text);
}

/* -- mappings ------------------------------------------------------------------------------- */

/* A key of a mapping: how it is read into the row at `out`. */
struct reader_key {
    const char *name;
    bool (*load)(const struct reader *r, const yaml_node_t *node, const char *name, void *out);
};

/* "bw_gbs, latency_ns, lanes" */
static const char *known(struct arena *a, const struct reader_key *keys)
{
    const char *text = "";

    for (; keys->name; keys++)
        text = arena_printf(a, "%s%s%s", text, *text ? ", " : "", keys->name);
    return text;
}

static bool load_key(const struct reader *r, const struct reader_key *keys,
                     const yaml_node_pair_t *first, const yaml_node_pair_t *pair, void *out)
{
    const yaml_node_t *key = doc_node(r->doc, pair->key);
    const char *word = is_word(key) ? scalar(key) : "";
    const struct reader_key *k = keys;

    while (k->name && strcmp(k->name, word) != 0)
        k++;
    if (!k->name)
        return diag_error(r->spec->diag, doc_place(r->doc, key),
                          "unknown key '%s' in '%s', known here: %s",
                          diag_text(r->spec->arena, word, strlen(word)), key_rows[r->key].path,
                          known(r->spec->arena, keys));
    for (const yaml_node_pair_t *p = first; p < pair; p++)
        if (strcmp(scalar(doc_node(r->doc, p->key)), word) == 0)
            return diag_error(r->spec->diag, doc_place(r->doc, key), "duplicate key '%s'", word);
    return k->load(r, doc_node(r->doc, pair->value), k->name, out);
}

static bool load_keys(const struct reader *r, const struct reader_key *keys,
                      const yaml_node_t *mapping, void *out)
{
    const yaml_node_pair_t *first = mapping->data.mapping.pairs.start;

    for (const yaml_node_pair_t *p = first; p < mapping->data.mapping.pairs.top; p++)
        if (!load_key(r, keys, first, p, out))
            return false;
    return true;
}

/* -- links ---------------------------------------------------------------------------------- */

void *link_field(const struct link_spec *link, size_t key)
{
    return (char *)link + link_keys[key].offset;
}

const struct link_key link_keys[N_LINK_KEYS] = {
    {"bw_gbs", offsetof(struct link_spec, bw_gbs), KEY_sip_d2d_bw_gbs},
    {"latency_ns", offsetof(struct link_spec, latency_ns), KEY_cube_ucie_overhead_ns},
    {"distance_mm", offsetof(struct link_spec, distance_mm), KEY_sip_d2d_distance_mm},
    {"overhead_ns", offsetof(struct link_spec, overhead_ns), KEY_cube_ucie_overhead_ns},
    {"lanes", offsetof(struct link_spec, lanes), KEY_cube_pe_pe_tcm_read_ports}};

static bool load_count(const struct reader *r, const yaml_node_t *node, const char *of, int64_t min,
                       int64_t max, int64_t *out)
{
    long long n;

    if (!node_is_plain(node) || !value_is_integer(scalar(node)))
        return wrong(r, node, of, "an integer");
    n = strtoll(scalar(node), NULL, 10);
    if (n < min || n > max)
        return wrong(r, node, of,
                     arena_printf(r->spec->arena, "%lld..%lld", (long long)min, (long long)max));
    *out = n;
    return true;
}

static bool load_number(const struct reader *r, const yaml_node_t *node, const char *of,
                        const struct key_row *like, double *out)
{
    double x;

    if (!node_is_plain(node) || !value_is_real(scalar(node)))
        return wrong(r, node, of, "a number");
    x = text_to_double(scalar(node), NULL);
    if (x < like->min || x > like->max)
        return wrong(r, node, of,
                     arena_printf(r->spec->arena, "%.15g..%.15g", like->min, like->max));
    *out = x;
    return true;
}

/* One number of a kind of links; "ucie" is the overhead that the cubes have. */
static bool load_link_value(const struct reader *r, const yaml_node_t *node, const char *name,
                            void *out)
{
    struct link_spec *link = out;
    size_t k = 0;

    while (strcmp(link_keys[k].name, name) != 0)
        k++;
    void *field = link_field(link, k);
    const struct key_row *like = &key_rows[link_keys[k].like];

    if (!memchr(link->given, (int)k, link->n_given))
        link->given[link->n_given++] = (uint8_t)k;
    if (like->type == KEY_INT)
        return load_count(r, node, name, (int64_t)like->min, (int64_t)like->max, field);
    if (field == &link->overhead_ns && is_word(node) && strcmp(scalar(node), "ucie") == 0) {
        link->overhead_ns = -1;
        return true;
    }
    return load_number(r, node, name, like, field);
}

static bool load_link(const struct reader *r, const yaml_node_t *key, const yaml_node_t *value,
                      struct link_spec *out)
{
    struct reader_key keys[N_LINK_KEYS + 1] = {0};
    const char *name = is_word(key) ? scalar(key) : "";

    for (size_t k = 0; k < N_LINK_KEYS; k++)
        keys[k] = (struct reader_key){link_keys[k].name, load_link_value};
    *out = (struct link_spec){.at = doc_place(r->doc, key), .overhead_ns = -1, .lanes = 1};
    if (!value_is_name(name, strlen(name)))
        return diag_error(r->spec->diag, out->at,
                          "a name of 'links' must be [a-z][a-z0-9_]*, not '%s'",
                          diag_text(r->spec->arena, name, strlen(name)));
    if (strcmp(name, "d2d") == 0)
        return diag_error(r->spec->diag, out->at,
                          "'d2d' is what 'sip.d2d' says, it cannot be one of 'links'");
    out->name = arena_copy(r->spec->arena, name, strlen(name));
    if (value->type != YAML_MAPPING_NODE)
        return diag_error(r->spec->diag, doc_place(r->doc, value),
                          "'links' gives each kind of links a mapping, as {bw_gbs: 64.0}");
    if (!load_keys(r, keys, value, out))
        return false;
    return out->bw_gbs > 0 ||
           diag_error(r->spec->diag, out->at, "'links.%s' needs 'bw_gbs'", out->name);
}

static bool load_links(const struct reader *r, const yaml_node_t *node, struct link_specs *out)
{
    struct link_specs all = {0};
    const yaml_node_pair_t *start = node->data.mapping.pairs.start;

    if (node->type != YAML_MAPPING_NODE)
        return diag_error(r->spec->diag, doc_place(r->doc, node),
                          "'links' must be a mapping of names to keys, as {eth: {bw_gbs: 12.5}}");
    all.rows = arena_alloc(r->spec->arena,
                           (size_t)(node->data.mapping.pairs.top - start + 1) * sizeof *all.rows);
    for (const yaml_node_pair_t *p = start; p < node->data.mapping.pairs.top; p++) {
        struct link_spec *link = &all.rows[all.n];

        if (!load_link(r, doc_node(r->doc, p->key), doc_node(r->doc, p->value), link))
            return false;
        for (size_t i = 0; i < all.n; i++)
            if (strcmp(all.rows[i].name, link->name) == 0)
                return diag_error(r->spec->diag, link->at, "duplicate key '%s' in 'links'",
                                  link->name);
        if (++all.n > NET_LINKS_MAX)
            return diag_error(r->spec->diag, link->at, "more than %d kinds of links",
                              NET_LINKS_MAX);
    }
    *out = all;
    return true;
}

/* What was given, as YAML. */
static const char *link_text(struct arena *a, const struct link_spec *link)
{
    const char *text = "";

    for (size_t i = 0; i < link->n_given; i++) {
        const struct link_key *key = &link_keys[link->given[i]];
        const void *field = link_field(link, link->given[i]);
        const char *value = key_rows[key->like].type == KEY_INT
                                ? arena_printf(a, "%lld", (long long)*(const int64_t *)field)
                            : *(const double *)field < 0
                                ? "ucie"
                                : value_real_text(a, *(const double *)field);

        text = arena_printf(a, "%s%s%s: %s", text, i ? ", " : "", key->name, value);
    }
    return text;
}

void net_say_links(struct spec *spec)
{
    struct link_specs *all = &spec->links;
    const char *text = "";

    for (size_t i = 0; i < all->n; i++)
        text = arena_printf(spec->arena, "%s%s%s: {%s}", text, i ? ", " : "", all->rows[i].name,
                            link_text(spec->arena, &all->rows[i]));
    all->text = all->n ? arena_printf(spec->arena, "{%s}", text) : NULL;
}

bool net_set_link(struct spec *spec, size_t link, size_t key, const struct doc *doc)
{
    struct reader r = {spec, KEY_links, doc};

    return load_link_value(&r, doc->root, link_keys[key].name, &spec->links.rows[link]);
}

/* -- items of a net ------------------------------------------------------------------------- */

static const char *const shapes[NET_SHAPES] = {"mesh", "torus", "all", "each", "dragonfly", "list"};

/* The shape of an item is its first key of these; another one is a mistake. */
static bool take_shape(const struct reader *r, const yaml_node_t *node, const char *name,
                       struct net_item *item)
{
    int shape = 0;

    while (strcmp(shapes[shape], name) != 0)
        shape++;
    if (item->shape != NET_SHAPES)
        return diag_error(r->spec->diag, doc_place(r->doc, node),
                          "an item of '%s' is '%s' or '%s', not both", key_rows[r->key].path,
                          shapes[item->shape], name);
    item->shape = (enum net_shape)shape;
    return true;
}

static bool load_dims(const struct reader *r, const yaml_node_t *node, const char *name, void *out)
{
    struct net_item *item = out;

    if (!take_shape(r, node, name, item))
        return false;
    if (!is_list(node) || length(node) == 0 || length(node) > NET_DIMS_MAX)
        return wrong(r, node, name, "a list of 1 to 8 numbers of cubes");
    for (size_t i = 0; i < length(node); i++)
        if (!load_count(r, item_at(r, node, i), name, 1, 16384, &item->dims[i]))
            return false;
    item->n_dims = length(node);
    return true;
}

static bool load_cubes(const struct reader *r, const yaml_node_t *node, const char *name,
                       struct text_spec *out)
{
    if (!is_word(node))
        return wrong(r, node, name, "cubes, as c[0-7]");
    *out = text_at(r, node);
    return true;
}

static bool load_set(const struct reader *r, const yaml_node_t *node, const char *name, void *out)
{
    struct net_item *item = out;

    return take_shape(r, node, name, item) && load_cubes(r, node, name, &item->of[0]);
}

static bool load_each(const struct reader *r, const yaml_node_t *node, const char *name, void *out)
{
    struct net_item *item = out;

    if (!take_shape(r, node, name, item))
        return false;
    if (!is_list(node) || length(node) != 2)
        return wrong(r, node, name, "a list of two sets of cubes");
    return load_cubes(r, item_at(r, node, 0), name, &item->of[0]) &&
           load_cubes(r, item_at(r, node, 1), name, &item->of[1]);
}

static bool load_list(const struct reader *r, const yaml_node_t *node, const char *name, void *out)
{
    struct net_item *item = out;

    if (!take_shape(r, node, name, item))
        return false;
    if (!is_list(node) || length(node) == 0)
        return wrong(r, node, name, "a list of links, as c0-c1 or c1>c2");
    item->list.rows = arena_alloc(r->spec->arena, length(node) * sizeof *item->list.rows);
    for (size_t i = 0; i < length(node); i++) {
        if (!is_word(item_at(r, node, i)))
            return wrong(r, item_at(r, node, i), name, "a list of links, as c0-c1 or c1>c2");
        item->list.rows[item->list.n++] = text_at(r, item_at(r, node, i));
    }
    return true;
}

static bool load_of(const struct reader *r, const yaml_node_t *node, const char *name, void *out)
{
    return load_cubes(r, node, name, &((struct net_item *)out)->of[0]);
}

/* One name, or a list of one for each dimension. */
static bool load_link_names(const struct reader *r, const yaml_node_t *node, const char *name,
                            void *out)
{
    struct net_item *item = out;

    if (is_word(node)) {
        item->links[item->n_links++] = text_at(r, node);
        return true;
    }
    if (!is_list(node) || length(node) == 0 || length(node) > NET_DIMS_MAX)
        return wrong(r, node, name, "a name of 'links', or a list of them");
    for (size_t i = 0; i < length(node); i++) {
        if (!is_word(item_at(r, node, i)))
            return wrong(r, item_at(r, node, i), name, "a name of 'links'");
        item->links[item->n_links++] = text_at(r, item_at(r, node, i));
    }
    return true;
}

static bool load_wrap(const struct reader *r, const yaml_node_t *node, const char *name, void *out)
{
    if (!is_word(node))
        return wrong(r, node, name, "a name of 'links'");
    ((struct net_item *)out)->wrap = text_at(r, node);
    return true;
}

static bool load_groups(const struct reader *r, const yaml_node_t *node, const char *name,
                        void *out)
{
    return load_count(r, node, name, 1, 16384, &((struct net_item *)out)->groups);
}

/* Keys that the shape of an item gives no meaning. */
static bool check_item(const struct reader *r, const struct net_item *item)
{
    const char *path = key_rows[r->key].path;

    if (item->shape == NET_SHAPES)
        return diag_error(r->spec->diag, item->at,
                          "an item of '%s' needs one of mesh, torus, all, each, dragonfly, list",
                          path);
    if (item->wrap.text && item->shape != NET_TORUS)
        return diag_error(r->spec->diag, item->wrap.at, "'%s.wrap' is for a torus, not for '%s'",
                          path, shapes[item->shape]);
    if (item->n_links > 1 && item->n_links != item->n_dims)
        return diag_error(r->spec->diag, item->links[0].at,
                          "'%s.link' has %zu names for %zu dimensions", path, item->n_links,
                          item->n_dims);
    if (item->groups && item->shape != NET_ALL && item->shape != NET_EACH &&
        item->shape != NET_DRAGONFLY)
        return diag_error(r->spec->diag, item->at, "'%s.groups' is for all, each, dragonfly", path);
    if (item->shape == NET_DRAGONFLY && item->groups < 2)
        return diag_error(r->spec->diag, item->at, "a dragonfly of '%s' needs 'groups', 2 or more",
                          path);
    return true;
}

static bool load_item(const struct reader *r, const yaml_node_t *node, struct net_item *out)
{
    static const struct reader_key keys[] = {{"mesh", load_dims},
                                             {"torus", load_dims},
                                             {"all", load_set},
                                             {"each", load_each},
                                             {"dragonfly", load_set},
                                             {"list", load_list},
                                             {"of", load_of},
                                             {"link", load_link_names},
                                             {"wrap", load_wrap},
                                             {"groups", load_groups},
                                             {NULL, NULL}};

    *out = (struct net_item){.shape = NET_SHAPES, .at = doc_place(r->doc, node)};
    if (node->type != YAML_MAPPING_NODE)
        return diag_error(r->spec->diag, out->at,
                          "an item of '%s' must be a mapping, as {mesh: [4, 2]}",
                          key_rows[r->key].path);
    return load_keys(r, keys, node, out) && check_item(r, out);
}

static bool load_net(const struct reader *r, const yaml_node_t *node, struct net_specs *out)
{
    struct net_specs all = {0};

    if (!is_list(node))
        return diag_error(r->spec->diag, doc_place(r->doc, node),
                          "'%s' must be a list of items, as [{mesh: [4, 2]}]",
                          key_rows[r->key].path);
    all.rows = arena_alloc(r->spec->arena, (length(node) + 1) * sizeof *all.rows);
    for (size_t i = 0; i < length(node); i++)
        if (!load_item(r, item_at(r, node, i), &all.rows[all.n++]))
            return false;
    all.text = node_text(r, node);
    *out = all;
    return true;
}

bool net_load(struct spec *spec, enum key k, const struct doc *doc, const yaml_node_t *node)
{
    struct reader r = {spec, k, doc};

    return key_rows[k].type == KEY_LINKS ? load_links(&r, node, spec_field(spec, k))
                                         : load_net(&r, node, spec_field(spec, k));
}
