/*
 * lists.c -- values that are lists: the planes of a SIP, the sides of IO chiplets, lists of names,
 * the holes of a mesh.
 *
 * Each item is checked where it stands, and a message has the item's place. What items mean
 * together (does a link of `broken` exist?) is checked later: planes.c.
 *
 * Example: planes: [{name: noc0, dirs: [E, S], bw_gbs: 30}] is one row of plane_specs, with the
 * default order xy. Printed, it has all its keys:
 *
 *     [{name: noc0, dirs: [E, S], order: xy, bw_gbs: 30.0}]
 */
#include "lists.h"
#include "base/text.h"
#include "machine/tables.h"
#include "value.h"
#include <stdlib.h>
#include <string.h>

enum { PLANE_NAME_MAX = 16 };

static const char side_letters[] = "NESW";

/* A list that is read: its key, and where. */
struct list {
    struct spec *spec;
    enum key key;
    const struct doc *doc;
};

/* "'PATH' must be MUST, not ...", at `node`; `of` is "" or a key of an item. */
static bool wrong(const struct list *l, const yaml_node_t *node, const char *of, const char *must)
{
    return diag_error(l->spec->diag, doc_place(l->doc, node), "'%s%s%s' must be %s, not %s",
                      key_rows[l->key].path, *of ? "." : "", of, must,
                      value_described(l->spec->arena, node));
}

static const char *scalar(const yaml_node_t *node)
{
    return (const char *)node->data.scalar.value;
}

static bool is_word(const yaml_node_t *node)
{
    return node->type == YAML_SCALAR_NODE && !node_is_null(node) &&
           strlen(scalar(node)) == node->data.scalar.length;
}

static size_t list_length(const yaml_node_t *list)
{
    return (size_t)(list->data.sequence.items.top - list->data.sequence.items.start);
}

static const yaml_node_t *list_item(const struct list *l, const yaml_node_t *list, size_t i)
{
    return doc_node(l->doc, list->data.sequence.items.start[i]);
}

/* -- sides ---------------------------------------------------------------------------------- */

/* A list of different sides, one or more. */
static bool load_sides(const struct list *l, const yaml_node_t *node, const char *of,
                       struct side_specs *out)
{
    struct side_specs sides = {0};
    unsigned seen = 0;

    if (node->type != YAML_SEQUENCE_NODE || list_length(node) == 0 || list_length(node) > SIDES_MAX)
        return wrong(l, node, of, "a list of 1 to 4 of N, E, S, W");
    for (size_t i = 0; i < list_length(node); i++) {
        const yaml_node_t *item = list_item(l, node, i);
        const char *at = is_word(item) && item->data.scalar.length == 1
                             ? strchr(side_letters, *scalar(item))
                             : NULL;

        if (!at)
            return wrong(l, item, of, "N, E, S or W");
        if (seen >> (at - side_letters) & 1)
            return wrong(l, item, of, "a list of different sides");
        seen |= 1u << (at - side_letters);
        sides.rows[sides.n++] = (uint8_t)(at - side_letters);
    }
    *out = sides;
    return true;
}

static const char *sides_text(struct arena *a, const struct side_specs *sides)
{
    const char *text = "[";

    for (size_t i = 0; i < sides->n; i++)
        text = arena_printf(a, "%s%s%c", text, i ? ", " : "", side_letters[sides->rows[i]]);
    return sides->n ? arena_printf(a, "%s]", text) : "[W]";
}

/* -- planes --------------------------------------------------------------------------------- */

static bool load_plane_name(const struct list *l, const yaml_node_t *node, struct plane_spec *out)
{
    const char *rest = "abcdefghijklmnopqrstuvwxyz_0123456789";
    size_t len;

    if (!is_word(node) || scalar(node)[0] < 'a' || scalar(node)[0] > 'z')
        return wrong(l, node, "name", "[a-z][a-z0-9_]*");
    len = strlen(scalar(node));
    if (strspn(scalar(node), rest) != len)
        return wrong(l, node, "name", "[a-z][a-z0-9_]*");
    if (len > PLANE_NAME_MAX)
        return wrong(l, node, "name", "at most 16 characters");
    out->name = arena_copy(l->spec->arena, scalar(node), len);
    return true;
}

static bool load_plane_gbs(const struct list *l, const yaml_node_t *node, double *out)
{
    const struct key_row *row = &key_rows[l->key];
    double x;

    if (!node_is_plain(node) || !value_is_real(scalar(node)))
        return wrong(l, node, "bw_gbs", "a number");
    x = text_to_double(scalar(node), NULL);
    if (x != 0 && (x < row->min || x > row->max))
        return wrong(l, node, "bw_gbs",
                     arena_printf(l->spec->arena, "0 or %.15g..%.15g", row->min, row->max));
    *out = x;
    return true;
}

static bool load_plane_dirs(const struct list *l, const yaml_node_t *node, struct plane_spec *out)
{
    struct side_specs sides;

    if (!load_sides(l, node, "dirs", &sides))
        return false;
    out->dirs = 0;
    for (size_t i = 0; i < sides.n; i++)
        out->dirs |= (uint8_t)(1u << sides.rows[i]);
    return true;
}

static bool load_plane_order(const struct list *l, const yaml_node_t *node, struct plane_spec *out)
{
    if (!is_word(node) || (strcmp(scalar(node), "xy") != 0 && strcmp(scalar(node), "yx") != 0))
        return wrong(l, node, "order", "xy or yx");
    out->y_first = scalar(node)[0] == 'y';
    return true;
}

static bool load_plane_key(const struct list *l, const yaml_node_t *key, const yaml_node_t *value,
                           struct plane_spec *out)
{
    const char *word = is_word(key) ? scalar(key) : "";

    if (strcmp(word, "name") == 0)
        return load_plane_name(l, value, out);
    if (strcmp(word, "dirs") == 0)
        return load_plane_dirs(l, value, out);
    if (strcmp(word, "order") == 0)
        return load_plane_order(l, value, out);
    if (strcmp(word, "bw_gbs") == 0)
        return load_plane_gbs(l, value, &out->bw_gbs);
    return diag_error(l->spec->diag, doc_place(l->doc, key),
                      "unknown key '%s' in '%s', known here: name, dirs, order, bw_gbs",
                      diag_text(l->spec->arena, word, strlen(word)), key_rows[l->key].path);
}

/* Every key of a mapping once. */
static bool has_no_double(const struct list *l, const yaml_node_t *node)
{
    const yaml_node_pair_t *start = node->data.mapping.pairs.start;
    const yaml_node_pair_t *end = node->data.mapping.pairs.top;

    for (const yaml_node_pair_t *p = start; p < end; p++)
        for (const yaml_node_pair_t *q = start; q < p; q++) {
            const yaml_node_t *a = doc_node(l->doc, p->key), *b = doc_node(l->doc, q->key);

            if (is_word(a) && is_word(b) && strcmp(scalar(a), scalar(b)) == 0)
                return diag_error(l->spec->diag, doc_place(l->doc, a), "duplicate key '%s'",
                                  diag_text(l->spec->arena, scalar(a), strlen(scalar(a))));
        }
    return true;
}

static bool load_plane(const struct list *l, const yaml_node_t *node, struct plane_spec *out)
{
    const yaml_node_pair_t *p, *end;

    *out = (struct plane_spec){.dirs = (1u << N_SIDES) - 1, .at = doc_place(l->doc, node)};
    if (node->type != YAML_MAPPING_NODE)
        return wrong(l, node, "", "a list of mappings {name, dirs, order, bw_gbs}");
    if (!has_no_double(l, node))
        return false;
    end = node->data.mapping.pairs.top;
    for (p = node->data.mapping.pairs.start; p < end; p++)
        if (!load_plane_key(l, doc_node(l->doc, p->key), doc_node(l->doc, p->value), out))
            return false;
    if (!out->name)
        return diag_error(l->spec->diag, out->at, "a plane needs a name");
    return true;
}

static bool load_planes(const struct list *l, const yaml_node_t *node, struct plane_specs *out)
{
    struct plane_specs planes = {0};

    if (node->type != YAML_SEQUENCE_NODE || list_length(node) > PLANES_MAX)
        return wrong(l, node, "", "a list of at most 8 planes");
    for (size_t i = 0; i < list_length(node); i++) {
        struct plane_spec *plane = &planes.rows[planes.n++];

        if (!load_plane(l, list_item(l, node, i), plane))
            return false;
        for (size_t k = 0; k < i; k++)
            if (strcmp(planes.rows[k].name, plane->name) == 0)
                return diag_error(l->spec->diag, plane->at, "two planes are called '%s'",
                                  plane->name);
    }
    *out = planes;
    return true;
}

static const char *plane_text(struct arena *a, const struct plane_spec *plane)
{
    static const uint8_t in_order[] = {SIDE_E, SIDE_W, SIDE_S, SIDE_N};
    struct side_specs sides = {0};

    for (size_t i = 0; i < sizeof in_order; i++)
        if (plane->dirs >> in_order[i] & 1)
            sides.rows[sides.n++] = in_order[i];
    return arena_printf(a, "{name: %s, dirs: %s, order: %s, bw_gbs: %s}", plane->name,
                        sides_text(a, &sides), plane->y_first ? "yx" : "xy",
                        value_real_text(a, plane->bw_gbs));
}

static const char *planes_text(struct arena *a, const struct plane_specs *planes)
{
    const char *text = "[";

    for (size_t i = 0; i < planes->n; i++)
        text = arena_printf(a, "%s%s%s", text, i ? ", " : "", plane_text(a, &planes->rows[i]));
    return arena_printf(a, "%s]", text);
}

/* -- names ---------------------------------------------------------------------------------- */

/* Only what a name of a cube, a link or a plane is made of: nothing that needs escaping. */
static bool is_name(const yaml_node_t *node)
{
    const char *of = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-*>:,[]";

    return is_word(node) && *scalar(node) && strspn(scalar(node), of) == strlen(scalar(node));
}

static bool load_texts(const struct list *l, const yaml_node_t *node, struct text_specs *out)
{
    struct text_specs texts = {0};

    if (node->type != YAML_SEQUENCE_NODE)
        return wrong(l, node, "", "a list of names");
    texts.rows = arena_alloc(l->spec->arena, (list_length(node) + 1) * sizeof *texts.rows);
    for (size_t i = 0; i < list_length(node); i++) {
        const yaml_node_t *item = list_item(l, node, i);

        if (!is_name(item))
            return wrong(l, item, "", "a list of names");
        texts.rows[texts.n++] =
            (struct text_spec){arena_copy(l->spec->arena, scalar(item), item->data.scalar.length),
                               doc_place(l->doc, item)};
    }
    *out = texts;
    return true;
}

static const char *texts_text(struct arena *a, const struct text_specs *texts)
{
    const char *text = "[";

    for (size_t i = 0; i < texts->n; i++) {
        const char *quote = strpbrk(texts->rows[i].text, ",[]*:>-") ? "'" : "";

        text =
            arena_printf(a, "%s%s%s%s%s", text, i ? ", " : "", quote, texts->rows[i].text, quote);
    }
    return arena_printf(a, "%s]", text);
}

/* -- holes ---------------------------------------------------------------------------------- */

static bool load_place(const struct list *l, const yaml_node_t *node, int64_t *out)
{
    const struct key_row *row = &key_rows[l->key];

    if (!node_is_plain(node) || !value_is_integer(scalar(node)))
        return wrong(l, node, "", "a list of [col, row]");
    *out = strtoll(scalar(node), NULL, 10);
    return ((double)*out >= row->min && (double)*out <= row->max) ||
           wrong(l, node, "",
                 arena_printf(l->spec->arena, "of places %.15g..%.15g", row->min, row->max));
}

static bool load_holes(const struct list *l, const yaml_node_t *node, struct hole_specs *out)
{
    struct hole_specs holes = {0};

    if (node->type != YAML_SEQUENCE_NODE)
        return wrong(l, node, "", "a list of [col, row]");
    holes.rows = arena_alloc(l->spec->arena, (list_length(node) + 1) * sizeof *holes.rows);
    for (size_t i = 0; i < list_length(node); i++) {
        const yaml_node_t *item = list_item(l, node, i);
        struct hole_spec *hole = &holes.rows[holes.n++];

        hole->at = doc_place(l->doc, item);
        if (item->type != YAML_SEQUENCE_NODE || list_length(item) != 2)
            return wrong(l, item, "", "a list of [col, row]");
        if (!load_place(l, list_item(l, item, 0), &hole->col) ||
            !load_place(l, list_item(l, item, 1), &hole->row))
            return false;
    }
    *out = holes;
    return true;
}

static const char *holes_text(struct arena *a, const struct hole_specs *holes)
{
    const char *text = "[";

    for (size_t i = 0; i < holes->n; i++)
        text = arena_printf(a, "%s%s[%lld, %lld]", text, i ? ", " : "",
                            (long long)holes->rows[i].col, (long long)holes->rows[i].row);
    return arena_printf(a, "%s]", text);
}

/* -- all ------------------------------------------------------------------------------------ */

bool lists_load(struct spec *spec, enum key k, const struct doc *doc, const yaml_node_t *node)
{
    struct list l = {spec, k, doc};
    void *field = spec_field(spec, k);

    switch (key_rows[k].type) {
    case KEY_PLANES:
        return load_planes(&l, node, field);
    case KEY_SIDES:
        return load_sides(&l, node, "", field);
    case KEY_HOLES:
        return load_holes(&l, node, field);
    case KEY_TEXTS:
        return load_texts(&l, node, field);
    CASES_NUMBER:
    CASES_OTHER_KEY:
    case KEY_WORD:
    CASES_MAPPING:
        break;
    }
    return false;
}

const char *lists_text(const struct spec *spec, enum key k)
{
    const void *field = spec_value(spec, k);

    switch (key_rows[k].type) {
    case KEY_PLANES:
        return planes_text(spec->arena, field);
    case KEY_SIDES:
        return sides_text(spec->arena, field);
    case KEY_HOLES:
        return holes_text(spec->arena, field);
    case KEY_TEXTS:
        return texts_text(spec->arena, field);
    CASES_NUMBER:
    CASES_OTHER_KEY:
    case KEY_WORD:
    CASES_MAPPING:
        break;
    }
    return "";
}
