/* doc.h -- one YAML text as a tree of nodes, without what a topology never needs of YAML. */
#ifndef DOC_H
#define DOC_H
#include "diag.h"
#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

struct doc {
    yaml_document_t yaml; /* owned until doc_close() */
    yaml_node_t *root;    /* inside `yaml` */
    struct place whole;   /* the file, or the --set option; line 0 */
};

/*
 * Parse `len` bytes of `text` into `doc`. False after a message, and then there is nothing to
 * close; after a message about a tag it is
 * true, for the other mistakes can still be found. Refuses tags, directives, a second document,
 * nesting beyond reason and more anchors than libyaml, which looks them up one by one, can take; so
 * time and memory grow no faster than the text.
 */
bool doc_open(struct doc *doc, struct diag *diag, struct place whole, const char *text, size_t len);
void doc_close(struct doc *doc);

/* The node with a number as libyaml's pairs and items have it. */
const yaml_node_t *doc_node(const struct doc *doc, int number);

/* Where a node begins. */
struct place doc_place(const struct doc *doc, const yaml_node_t *node);

/* Whether the node is a plain empty word, ~ or null. */
bool node_is_null(const yaml_node_t *node);

/* Whether the node is a scalar without quotes. */
bool node_is_plain(const yaml_node_t *node);

#endif
