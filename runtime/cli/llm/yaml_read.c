/* yaml_read.c -- values of a YAML file, by libyaml; the tree is that of studies. */
#include "cli/llm/yaml_read.h"
#include "cli/llm/graph_check.h"
#ifdef KB_NO_YAML
typedef int yaml_read_is_empty;
#else
#include "base/text.h"
#include "cli/out/say.h"
#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { SHOWN = 20 };

enum exit_code yaml_read_open(struct yaml_read *r, const char *program, const char *file)
{
    *r = (struct yaml_read){.program = program, .file = file};
    return study_load(program, file, &r->doc);
}

void yaml_read_close(struct yaml_read *r)
{
    yaml_document_delete(&r->doc);
}

void yaml_bad(struct yaml_read *r, const yaml_node_t *at, const char *format, ...)
{
    yaml_mark_t mark = at ? at->start_mark : (yaml_mark_t){0};
    char line[1024];
    va_list args;

    if (r->n_bad++ >= SHOWN)
        return;
    va_start(args, format);
    text_vformat(line, sizeof line, format, args);
    va_end(args);
    say_line("%s:%zu:%zu: %s", r->file, mark.line + 1, mark.column + 1, line);
}

static const char *text_of(const yaml_node_t *n)
{
    return (const char *)n->data.scalar.value;
}

const yaml_node_t *yaml_value(struct yaml_read *r, const yaml_node_t *map, const char *key)
{
    if (!map || map->type != YAML_MAPPING_NODE)
        return NULL;
    for (const yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
         p++) {
        const yaml_node_t *k = yaml_document_get_node(&r->doc, p->key);

        if (k->type == YAML_SCALAR_NODE && strcmp(text_of(k), key) == 0)
            return yaml_document_get_node(&r->doc, p->value);
    }
    return NULL;
}

const yaml_node_t *yaml_needed(struct yaml_read *r, const yaml_node_t *map, const char *key)
{
    const yaml_node_t *value = yaml_value(r, map, key);

    if (!value)
        yaml_bad(r, map, "'%s' is missing", key);
    return value;
}

const yaml_node_t *yaml_item(struct yaml_read *r, const yaml_node_t *list, size_t i)
{
    if (!list || list->type != YAML_SEQUENCE_NODE ||
        i >= (size_t)(list->data.sequence.items.top - list->data.sequence.items.start))
        return NULL;
    return yaml_document_get_node(&r->doc, list->data.sequence.items.start[i]);
}

static bool is_one_of(const char *word, const char *const keys[])
{
    while (*keys && strcmp(*keys, word) != 0)
        keys++;
    return *keys;
}

void yaml_check_keys(struct yaml_read *r, const yaml_node_t *map, const char *const keys[])
{
    if (!map || map->type != YAML_MAPPING_NODE) {
        yaml_bad(r, map, "must be a mapping");
        return;
    }
    for (const yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
         p++) {
        const yaml_node_t *k = yaml_document_get_node(&r->doc, p->key);
        const char *word = k->type == YAML_SCALAR_NODE ? text_of(k) : "";

        if (!is_one_of(word, keys))
            yaml_bad(r, k, "there is no key '%s' here", word);
        else if (yaml_value(r, map, word) != yaml_document_get_node(&r->doc, p->value))
            yaml_bad(r, k, "'%s' is there twice", word);
    }
}

const char *yaml_word(struct yaml_read *r, const yaml_node_t *at)
{
    if (at && at->type == YAML_SCALAR_NODE && strlen(text_of(at)) == at->data.scalar.length)
        return text_of(at);
    yaml_bad(r, at, "must be a word");
    return "";
}

/* What a size ends with. */
static int shift_of(const char *end)
{
    static const char units[] = "KMG";
    const char *unit = *end ? strchr(units, *end) : NULL;

    return *end == '\0' ? 0 : unit && end[1] == '\0' ? 10 * (int)(unit - units + 1) : -1;
}

int64_t yaml_count(struct yaml_read *r, const yaml_node_t *at)
{
    const int64_t most = (int64_t)1 << 40;
    const char *text = yaml_word(r, at), *c = text;
    int64_t n = 0;

    for (; *c >= '0' && *c <= '9' && n <= most; c++)
        n = 10 * n + (*c - '0');
    if (c > text && n >= 1 && shift_of(c) >= 0 && n <= most >> shift_of(c))
        return n << shift_of(c);
    if (*text)
        yaml_bad(r, at, "'%s' is not a whole number, 1 to 2^40", text);
    return 1;
}

int64_t yaml_ns(struct yaml_read *r, const yaml_node_t *at)
{
    const char *text = yaml_word(r, at);
    char *end;
    double ns = text_to_double(text, &end);

    if (end > text && *end == '\0' && end == text + strspn(text, "0123456789.") && ns <= 1e9)
        return llround(ns * 1e6);
    if (*text)
        yaml_bad(r, at, "'%s' is not a number of ns, 0 to 1e9", text);
    return 0;
}

bool yaml_flag(struct yaml_read *r, const yaml_node_t *at)
{
    const char *word = yaml_word(r, at);

    if (*word && strcmp(word, "true") != 0 && strcmp(word, "false") != 0)
        yaml_bad(r, at, "'%s' is not true or false", word);
    return strcmp(word, "true") == 0;
}

kb_dtype yaml_dtype(struct yaml_read *r, const yaml_node_t *at)
{
    const char *word = yaml_word(r, at);
    kb_dtype dtype = kb_dtype_parse(word);
    const char *why = graph_refuses_type(dtype);

    if (!why)
        return dtype;
    if (*word)
        yaml_bad(r, at, "'%s' %s", word, why);
    return KB_BF16;
}
#endif
