/*
 * doc.c -- one YAML text as a tree of nodes; refuses the parts of YAML that no topology needs.
 *
 * libyaml parses. This file reads the text twice: first as tokens, then as a tree. The tokens show
 * what the tree hides or what would make it expensive:
 *
 *   - Tags. In the tree each node has a tag, also one that was written without. A tag such as !!str
 *     would change the type of a value, and the key alone decides the type here.
 *   - Depth. The loader of libyaml calls itself for each level; 64 are enough for any topology.
 *   - Anchors and aliases. libyaml searches all anchors for each alias, so 10000 of each would take
 *     100 million comparisons. An alias stays a reference to one node: nothing is copied, so a
 * short text cannot grow into a huge tree.
 *
 * A tag is an ordinary mistake: the scan goes on and later mistakes are found too. After a
 * directive, and past a limit, the rest is not read.
 *
 * Example: "cube: {pes: !!str 8}" is well-formed YAML, but ends with
 *
 *     t.yaml:1:13: tags ('!') are not used here, the key decides the type
 */
#include "doc.h"
#include <string.h>

enum {
    NESTING_MAX = 64,
    ANCHORS_MAX = 1000, /* anchors and aliases together: libyaml compares each with all */
};

/* The tokens seen so far. */
struct scan {
    struct diag *diag;
    struct place whole;
    int nesting, anchors;
    bool lacks_memory; /* libyaml did; said when nothing of it is left */
};

static struct place place_at(struct place whole, yaml_mark_t mark)
{
    if (whole.kind != PLACE_FILE)
        return whole;
    whole.line = mark.line + 1;
    whole.col = mark.column + 1;
    return whole;
}

/* For bytes that are not text, libyaml gives an offset, but no line. */
static yaml_mark_t mark_of_byte(const char *text, size_t len, size_t offset)
{
    yaml_mark_t mark = {0};

    for (size_t i = 0; i < offset && i < len; i++) {
        if (text[i] == '\n') {
            mark.line++;
            mark.column = 0;
        } else if (((unsigned char)text[i] & 0xc0) != 0x80) {
            mark.column++;
        }
    }
    return mark;
}

static bool report(struct scan *s, const yaml_parser_t *p, const char *text, size_t len)
{
    struct diag *diag = s->diag;
    struct place whole = s->whole;
    yaml_mark_t mark = p->problem_mark;

    if (p->error == YAML_MEMORY_ERROR ||
        p->error == YAML_NO_ERROR) { /* its loader sets no error then */
        s->lacks_memory = true;
        return false;
    }
    if (p->error == YAML_COMPOSER_ERROR && p->context)
        return diag_error(diag, place_at(whole, mark), "anchor already used on line %zu",
                          p->context_mark.line + 1);
    if (p->error == YAML_READER_ERROR)
        mark = mark_of_byte(text, len, p->problem_offset);
    return diag_error(diag, place_at(whole, mark), "%s%s%s", p->problem ? p->problem : "not YAML",
                      p->context ? " " : "", p->context ? p->context : "");
}

static bool parser_begin(struct scan *s, yaml_parser_t *p, const char *text, size_t len)
{
    if (!yaml_parser_initialize(p)) {
        s->lacks_memory = true;
        return false;
    }
    yaml_parser_set_encoding(p, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(p, (const unsigned char *)text, len);
    return true;
}

static bool refuse(struct scan *s, const yaml_token_t *t, const char *why)
{
    return diag_error(s->diag, place_at(s->whole, t->start_mark), "%s", why);
}

/* False when the rest of the text need not be read. */
static bool look_at(struct scan *s, const yaml_token_t *t)
{
    switch ((int)t->type) { /* of these alone: the others are libyaml's */
    case YAML_TAG_TOKEN:
        refuse(s, t, "tags ('!') are not used here, the key decides the type");
        return !diag_quiet(s->diag);
    case YAML_TAG_DIRECTIVE_TOKEN:
        return refuse(s, t, "directives ('%TAG') are not used here");
    case YAML_ANCHOR_TOKEN:
    case YAML_ALIAS_TOKEN:
        return ++s->anchors <= ANCHORS_MAX || refuse(s, t, "more than 1000 anchors and aliases");
    case YAML_BLOCK_SEQUENCE_START_TOKEN:
    case YAML_BLOCK_MAPPING_START_TOKEN:
    case YAML_FLOW_SEQUENCE_START_TOKEN:
    case YAML_FLOW_MAPPING_START_TOKEN:
        return ++s->nesting <= NESTING_MAX || refuse(s, t, "nested more than 64 deep");
    case YAML_BLOCK_END_TOKEN:
    case YAML_FLOW_SEQUENCE_END_TOKEN:
    case YAML_FLOW_MAPPING_END_TOKEN:
        s->nesting--;
        return true;
    default:
        return true;
    }
}

/* Reads every token before a tree is built. */
static bool scan_tokens(struct scan *s, const char *text, size_t len)
{
    yaml_parser_t p;
    yaml_token_t t;
    bool more = true, usable = true;

    if (!parser_begin(s, &p, text, len))
        return false;
    while (more && usable) {
        if (!yaml_parser_scan(&p, &t)) {
            usable = report(s, &p, text, len);
            break;
        }
        more = t.type != YAML_STREAM_END_TOKEN;
        usable = look_at(s, &t);
        yaml_token_delete(&t);
    }
    yaml_parser_delete(&p);
    return usable;
}

/* There is one document, and the stream ends behind it. */
static bool is_last(struct scan *s, yaml_parser_t *p, const char *text, size_t len)
{
    yaml_document_t next;
    const yaml_node_t *root;
    yaml_mark_t mark;

    if (!yaml_parser_load(p, &next))
        return report(s, p, text, len);
    root = yaml_document_get_root_node(&next);
    mark = next.start_mark;
    yaml_document_delete(&next);
    if (!root)
        return true;
    return diag_error(s->diag, place_at(s->whole, mark), "a second document begins here");
}

static bool load_tree(struct doc *doc, struct scan *s, const char *text, size_t len)
{
    yaml_parser_t p;
    bool ok;

    if (!parser_begin(s, &p, text, len))
        return false;
    if (!yaml_parser_load(&p, &doc->yaml)) {
        ok = report(s, &p, text, len);
    } else {
        doc->root = yaml_document_get_root_node(&doc->yaml);
        ok = doc->root ? is_last(s, &p, text, len)
                       : diag_error(s->diag, place_at(s->whole, (yaml_mark_t){0}), "empty");
        if (!ok)
            doc_close(doc);
    }
    yaml_parser_delete(&p);
    return ok;
}

/* Skips the byte order mark that some editors write; libyaml would take it for text. */
static size_t mark_bytes(const char *text, size_t len)
{
    return len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

struct doc *doc_open(struct arena *arena, struct diag *diag, struct place whole, const char *text,
                     size_t len)
{
    struct scan s = {.diag = diag, .whole = whole};
    struct doc *doc = arena_alloc(arena, sizeof *doc);
    size_t skip = mark_bytes(text, len);
    bool ok;

    text += skip;
    len -= skip;
    doc->whole = whole;
    ok = scan_tokens(&s, text, len) && load_tree(doc, &s, text, len);
    if (s.lacks_memory)
        arena_lacks(arena);
    return ok ? doc : NULL;
}

struct doc *doc_of_word(struct arena *arena, struct place whole, const char *word)
{
    static const char plain[] =
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.+-";
    size_t len = strlen(word);
    struct doc *doc;

    if (len == 0 || strspn(word, plain) != len || strchr("_.+-", word[0]))
        return NULL;
    doc = arena_alloc(arena, sizeof *doc);
    doc->whole = whole;
    doc->root = &doc->word;
    doc->word.type = YAML_SCALAR_NODE;
    doc->word.data.scalar.style = YAML_PLAIN_SCALAR_STYLE;
    doc->word.data.scalar.value = (yaml_char_t *)arena_copy(arena, word, len);
    doc->word.data.scalar.length = len;
    return doc;
}

void doc_close(struct doc *doc)
{
    if (doc->root != &doc->word)
        yaml_document_delete(&doc->yaml);
    doc->root = NULL;
}

const yaml_node_t *doc_node(const struct doc *doc, int number)
{
    return doc->yaml.nodes.start + (number - 1);
}

struct place doc_place(const struct doc *doc, const yaml_node_t *node)
{
    return place_at(doc->whole, node->start_mark);
}

bool node_is_plain(const yaml_node_t *node)
{
    return node->type == YAML_SCALAR_NODE && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

bool node_is_null(const yaml_node_t *node)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
    size_t n_nulls = sizeof(nulls) / sizeof(nulls[0]);

    if (!node_is_plain(node))
        return false;
    for (size_t i = 0; i < n_nulls; i++)
        if (strcmp((const char *)node->data.scalar.value, nulls[i]) == 0)
            return true;
    return false;
}
