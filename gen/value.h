/* value.h -- one value: from a YAML node into the field of its key, and back into YAML text. */
#ifndef VALUE_H
#define VALUE_H
#include "doc.h"
#include "spec.h"

/*
 * Read `node` into the field of `k`. False after a message, and then the field is as it was. The
 * message is at the node, or inside it for an item of a list.
 */
bool value_load(struct spec *spec, enum key k, const struct doc *doc, const yaml_node_t *node);

/* The value of `k` as YAML that reads back to the same: "5.0", "[32, 64, 32]", "ideal". */
const char *value_text(const struct spec *spec, enum key k);

/* How many numbers the value of `k` has: of a list of two or three so many, else 1. */
size_t value_items(enum key k);

/* One of the numbers at `field`, as `k` has them. */
const char *value_item_text(struct arena *a, enum key k, const void *field, size_t item);

/* A description of the node, for "must be a number, not ...". */
const char *value_described(struct arena *a, const yaml_node_t *node);

/* Whether `text` is a name: [a-z][a-z0-9_]* */
bool value_is_name(const char *text, size_t len);

/* Whether `text` is an integer, or a number, that all readers of YAML read alike. */
bool value_is_integer(const char *text);
bool value_is_real(const char *text);

/* The fewest digits, from 15 up, that read back to `x`, with a point. */
const char *value_real_text(struct arena *a, double x);

#endif
