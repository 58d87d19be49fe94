/*
 * model_yaml.c -- the keys of a config.json, written as YAML.
 *
 * A word without quotes is null (~, or nothing), true, false or a number if it looks like one, as
 * in YAML's JSON schema; else, and in quotes, it is a text.
 *
 * Example: `{hidden_size: 2048, sliding_window: ~}` is {"hidden_size": 2048, "sliding_window":
 * null}.
 */
#include "cli/llm/model_yaml.h"
#include "base/text.h"
#include "cli/llm/yaml_read.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include <stdlib.h>
#include <string.h>

#ifdef KB_NO_JANSSON
typedef int model_yaml_is_empty;
#elif defined KB_NO_YAML
enum exit_code model_of_yaml(const char *program, const char *file, json_t **out)
{
    *out = NULL;
    return say(program, EXIT_SYSTEM, "cannot read %s: this build has no libyaml", file);
}
#else

enum { VALUES_MOST = 10000 }; /* also where aliases stand in each other */

struct values {
    struct yaml_read yaml;
    int n;
};

static json_t *need(json_t *json)
{
    if (!json)
        memory_lacks();
    return json;
}

/* A whole number of at most 18 digits; false: it is none. */
static bool is_whole(const char *text, json_int_t *out)
{
    size_t sign = text[0] == '-', n = strspn(text + sign, "0123456789");

    *out = n > 0 && n <= 18 ? strtoll(text, NULL, 10) : 0;
    return n > 0 && n <= 18 && text[sign + n] == '\0';
}

static bool is_real(const char *text)
{
    char *end;

    if (strspn(text, "0123456789+-.eE") != strlen(text) || strpbrk(text, "0123456789") == NULL)
        return false;
    text_to_double(text, &end);
    return *end == '\0';
}

/* NULL: it is a text. */
static json_t *value_of_word(const char *text)
{
    json_int_t whole;

    if (!*text || strcmp(text, "~") == 0 || strcmp(text, "null") == 0)
        return json_null();
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        return json_boolean(*text == 't');
    if (is_whole(text, &whole))
        return need(json_integer(whole));
    return is_real(text) ? need(json_real(text_to_double(text, NULL))) : NULL;
}

static json_t *of_scalar(struct values *v, const yaml_node_t *at)
{
    bool is_plain = at->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    const char *text = yaml_word(&v->yaml, at);
    json_t *value = is_plain ? value_of_word(text) : NULL;

    if (!value && !(value = json_string(text)))
        yaml_bad(&v->yaml, at, "it is not UTF-8");
    return value ? value : json_null();
}

static json_t *of_node(struct values *v, const yaml_node_t *at);

static json_t *of_list(struct values *v, const yaml_node_t *list)
{
    json_t *out = need(json_array());
    const yaml_node_t *at;

    for (size_t i = 0; (at = yaml_item(&v->yaml, list, i)); i++)
        if (json_array_append_new(out, of_node(v, at)) != 0)
            memory_lacks();
    return out;
}

static json_t *of_map(struct values *v, const yaml_node_t *map)
{
    json_t *out = need(json_object());

    for (const yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
         p++) {
        const yaml_node_t *key = yaml_document_get_node(&v->yaml.doc, p->key);
        const char *word = yaml_word(&v->yaml, key);

        if (*word && json_object_get(out, word))
            yaml_bad(&v->yaml, key, "'%s' is there twice", word);
        else if (json_object_set_new(
                     out, word, of_node(v, yaml_document_get_node(&v->yaml.doc, p->value))) != 0)
            yaml_bad(&v->yaml, key, "it is not UTF-8");
    }
    return out;
}

static json_t *of_node(struct values *v, const yaml_node_t *at)
{
    if (++v->n > VALUES_MOST) {
        if (v->n == VALUES_MOST + 1)
            yaml_bad(&v->yaml, at, "more than %d values", VALUES_MOST);
        return json_null();
    }
    switch (at->type) {
    case YAML_SCALAR_NODE:
        return of_scalar(v, at);
    case YAML_SEQUENCE_NODE:
        return of_list(v, at);
    case YAML_MAPPING_NODE:
        return of_map(v, at);
    default:
        return json_null();
    }
}

enum exit_code model_of_yaml(const char *program, const char *file, json_t **out)
{
    struct values v = {.n = 0};
    enum exit_code code = yaml_read_open(&v.yaml, program, file);
    const yaml_node_t *root = code ? NULL : yaml_document_get_root_node(&v.yaml.doc);

    *out = root ? of_node(&v, root) : NULL;
    if (!code && !root)
        code = say(program, EXIT_INPUT, "%s is empty", file);
    if (!code && v.yaml.n_bad > 0)
        code = EXIT_INPUT;
    if (code) {
        json_decref(*out);
        *out = NULL;
    }
    yaml_read_close(&v.yaml);
    return code;
}
#endif
