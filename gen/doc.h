/* doc.h -- one YAML text as a tree of nodes; refuses the parts of YAML that no topology needs. */
#ifndef DOC_H
#define DOC_H
#include "diag.h"
#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

struct doc {
    yaml_document_t yaml; /* owned until doc_close() */
    yaml_node_t *root;    /* inside `yaml` */
    yaml_node_t word;     /* the only node, if doc_of_word() made it */
    struct place whole;   /* the file, or the --set option; line 0 */
};

/*
 * Parses `len` bytes of `text`. NULL after a message; else the document, the arena's, and to be
 * closed by doc_close(). After a message about a tag it is a document, too, since the other
 * mistakes can still be found. Refuses tags, directives, a second document, deep nesting, and many
 * anchors, which libyaml would compare one by one: time and memory grow no faster than the text.
 */
struct doc *doc_open(struct arena *arena, struct diag *diag, struct place whole, const char *text,
                     size_t len);
/*
 * The same of a plain word or number, [A-Za-z0-9_.+-] from a letter or digit on, without libyaml:
 * what
 * --set has nearly always. NULL if it is more than that. `word` is borrowed.
 */
struct doc *doc_of_word(struct arena *arena, struct place whole, const char *word);
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
