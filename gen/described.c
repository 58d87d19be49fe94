/* described.c -- what a node of YAML is, for messages. */
#include "value.h"

const char *value_described(struct arena *a, const yaml_node_t *n)
{
    const char *text;

    if (n->type == YAML_SEQUENCE_NODE)
        return arena_printf(a, "a list of %td",
                            n->data.sequence.items.top - n->data.sequence.items.start);
    if (n->type == YAML_MAPPING_NODE)
        return "a mapping";
    if (node_is_null(n))
        return "empty";
    text = diag_text(a, (const char *)n->data.scalar.value, n->data.scalar.length);
    return arena_printf(a, node_is_plain(n) ? "'%s'" : "the string '%s'", text);
}
