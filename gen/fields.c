/*
 * fields.c -- the value of cube.hbm.map: in which order the parts of an address lie.
 *
 * A list has each of row, rank, bank, column, group and channel once, the most significant first.
 * Row is the first: a hash by rows needs no more than what lies above all others. Rank may be left
 * out, and comes right behind row then. Two orders have names.
 *
 * Example: map: high is [row, group, bank, channel, column]. The bits of a burst's number are, from
 * the lowest: 5 of the column (32 of them), 3 of the channel, 2 of the bank, 2 of the group, and
 * the row above.
 */
#include "fields.h"
#include "base/text.h"
#include "value.h"
#include <string.h>

static const char *const words[] = {"row", "bank", "column", "group", "channel", "rank"};

static const struct {
    const char *name;
    uint32_t order;
} named[] = {
    {"low", 0x051234},
    {"high", 0x053142},
};

enum { N_NAMED = sizeof named / sizeof named[0] };

static bool wrong(struct spec *spec, enum key k, const struct doc *doc, const yaml_node_t *node)
{
    return diag_error(spec->diag, doc_place(doc, node),
                      "'%s' must be low, high, or a list of row, bank, column, group and channel "
                      "with row first, and rank if it is not next, not %s",
                      key_rows[k].path, value_described(spec->arena, node));
}

static bool is_word(const yaml_node_t *node, const char *word)
{
    return node->type == YAML_SCALAR_NODE && node->data.scalar.length == strlen(word) &&
           memcmp(node->data.scalar.value, word, strlen(word)) == 0;
}

/* The number of the part that `node` names; ADDRESS_FIELDS: none. */
static uint8_t part_of(const yaml_node_t *node)
{
    uint8_t i = 0;

    while (i < ADDRESS_FIELDS && !is_word(node, words[i]))
        i++;
    return i;
}

static bool load_list(struct spec *spec, enum key k, const struct doc *doc, const yaml_node_t *node)
{
    const yaml_node_item_t *items = node->data.sequence.items.start;
    size_t n = (size_t)(node->data.sequence.items.top - items);
    uint32_t order = 0;
    unsigned seen = 0;

    if (n != ADDRESS_FIELDS && n != ADDRESS_FIELDS - 1)
        return wrong(spec, k, doc, node);
    for (size_t i = 0; i < n; i++) {
        const yaml_node_t *item = doc_node(doc, items[i]);

        uint8_t part = part_of(item);

        if (part == ADDRESS_FIELDS || seen >> part & 1)
            return wrong(spec, k, doc, item);
        seen |= 1u << part;
        order = order << 4 | part;
        if (i == 0 && n < ADDRESS_FIELDS) {
            seen |= 1u << IN_RANK;
            order = order << 4 | IN_RANK;
        }
    }
    if (fields_at(order, 0) != IN_ROW)
        return wrong(spec, k, doc, doc_node(doc, items[0]));
    *(uint32_t *)spec_field(spec, k) = order;
    return true;
}

bool fields_load(struct spec *spec, enum key k, const struct doc *doc, const yaml_node_t *node)
{
    if (node->type == YAML_SEQUENCE_NODE)
        return load_list(spec, k, doc, node);
    for (size_t i = 0; i < N_NAMED; i++)
        if (is_word(node, named[i].name)) {
            *(uint32_t *)spec_field(spec, k) = named[i].order;
            return true;
        }
    return wrong(spec, k, doc, node);
}

const char *fields_text(const struct spec *spec, enum key k)
{
    uint32_t order = *(const uint32_t *)spec_value(spec, k);
    const char *text = "[";

    for (int i = 0; i < ADDRESS_FIELDS; i++)
        if (i != 1 || fields_at(order, i) != IN_RANK)
            text = arena_printf(spec->arena, "%s%s%s", text, i ? ", " : "",
                                words[fields_at(order, i)]);
    return arena_printf(spec->arena, "%s]", text);
}
