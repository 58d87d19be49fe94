/*
 * value.c -- one value: from a YAML node into the field of its key, and back into YAML text.
 *
 * YAML libraries disagree about numbers: 010 is 8 or 10, 1_000 is a number or a string, 0x10 and
 * .inf are numbers to some. So only forms that all of them read alike are taken, and a number in
 * quotes is a string. What is printed (kbgen --config) reads back to the same value everywhere:
 * integers as digits, reals with the fewest digits that are exact and always with a point, 5.0.
 * The hash of a topology is the hash of that text, so two files with the same values have the same.
 *
 * A value that is refused leaves its field as it was, and one message says what was expected and
 * what was found: a word, a number, a list of 3, a mapping, nothing.
 *
 * Example: 'cube.pes' must be 1..64, not '66'. The range stands in keys.def, and a list has it for
 * each item: [0, 64, 32] for a tile is refused at its first item, with that item's column.
 */
#include "value.h"
#include "fields.h"
#include "lists.h"
#include "base/text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A value that is read: its key, and its node. */
struct value {
    struct spec *spec;
    const struct key_row *row;
    const struct doc *doc;
    const yaml_node_t *node;
};

static const char *scalar(const yaml_node_t *node)
{
    return (const char *)node->data.scalar.value;
}

static bool wrong(const struct value *v, const char *must)
{
    if (diag_quiet(v->spec->diag))
        return diag_error(v->spec->diag, v->doc->whole, "%s", must);
    return diag_error(v->spec->diag, doc_place(v->doc, v->node), "'%s' must be %s, not %s",
                      v->row->path, must, value_described(v->spec->arena, v->node));
}

static bool outside(const struct value *v)
{
    const struct key_row *row = v->row;

    if (row == &key_rows[KEY_kernbench])
        return wrong(v, arena_printf(v->spec->arena, "%.15g to %.15g, the version of these keys",
                                     row->min, row->max));
    if (row->type == KEY_RATIO)
        return wrong(v, "above 0 and at most 1");
    if (row->type == KEY_RATE)
        return wrong(v, arena_printf(v->spec->arena, "0 or %.15g..%.15g", row->min, row->max));
    return wrong(v, arena_printf(v->spec->arena, "%.15g..%.15g", row->min, row->max));
}

static size_t digits(const char *s)
{
    return strspn(s, "0123456789");
}

/* Digits without a leading 0, which other readers of YAML take for octal. */
static size_t whole_digits(const char *s)
{
    size_t n = digits(s);

    return n > 1 && s[0] == '0' ? 0 : n;
}

bool value_is_integer(const char *s)
{
    size_t n;

    s += *s == '-';
    n = whole_digits(s);
    return n > 0 && s[n] == 0;
}

/* 12, 1.5, 1., .5, 1e6, 1.5e-3, and these with a minus sign. */
bool value_is_real(const char *s)
{
    size_t whole, fraction = 0;

    s += *s == '-';
    whole = whole_digits(s);
    s += whole;
    if (*s == '.') {
        fraction = digits(++s);
        s += fraction;
    }
    if (whole + fraction == 0)
        return false;
    if (*s == 'e' || *s == 'E') {
        s++;
        s += *s == '+' || *s == '-';
        if (digits(s) == 0)
            return false;
        s += digits(s);
    }
    return *s == 0;
}

static bool load_int(const struct value *v, int64_t *out)
{
    long long i;

    if (!node_is_plain(v->node) || !value_is_integer(scalar(v->node)))
        return wrong(v, "an integer");
    i = strtoll(scalar(v->node), NULL, 10); /* LLONG_MAX for a number that is too large */
    if ((double)i < v->row->min || (double)i > v->row->max)
        return outside(v);
    *out = i;
    return true;
}

/* A number, or the word that stands for as many as PEs. */
static bool load_slices(const struct value *v, int64_t *out)
{
    if (!node_is_plain(v->node) || strcmp(scalar(v->node), "pes") != 0)
        return load_int(v, out);
    *out = SLICES_AS_PES;
    return true;
}

static bool load_real(const struct value *v, double *out)
{
    double x;

    if (!node_is_plain(v->node) || !value_is_real(scalar(v->node)))
        return wrong(v, "a number");
    x = text_to_double(scalar(v->node), NULL);
    if (signbit(x) || (x < v->row->min && !(x == 0 && v->row->type == KEY_RATE)) || x > v->row->max)
        return outside(v);
    if (v->row->type == KEY_RATIO && x == v->row->min)
        return outside(v);
    *out = x;
    return true;
}

/* The `i`th item of a list, as a value of its own. */
static struct value item(const struct value *list, size_t i)
{
    struct value v = *list;

    v.node = doc_node(v.doc, list->node->data.sequence.items.start[i]);
    return v;
}

static bool is_list_of(const struct value *v, ptrdiff_t n)
{
    const yaml_node_t *node = v->node;

    return node->type == YAML_SEQUENCE_NODE &&
           node->data.sequence.items.top - node->data.sequence.items.start == n;
}

static bool load_real2(const struct value *v, double out[2])
{
    double x[2];
    bool ok = true;

    if (!is_list_of(v, 2))
        return wrong(v, "a list of 2 numbers");
    for (size_t i = 0; i < 2; i++) {
        struct value one = item(v, i);

        ok = load_real(&one, &x[i]) && ok;
    }
    if (ok)
        memcpy(out, x, sizeof(x));
    return ok;
}

static bool load_ints(const struct value *v, int64_t *out, size_t n)
{
    int64_t x[3];
    bool ok = true;

    if (!is_list_of(v, (ptrdiff_t)n))
        return wrong(v, arena_printf(v->spec->arena, "a list of %zu integers", n));
    for (size_t i = 0; i < n; i++) {
        struct value one = item(v, i);

        ok = load_int(&one, &x[i]) && ok;
    }
    if (ok)
        memcpy(out, x, n * sizeof *x);
    return ok;
}

/* Whether the node is this text; a text with a 0 byte inside is not. */
static bool is_text(const yaml_node_t *n, const char *text)
{
    return n->data.scalar.length == strlen(text) && memcmp(scalar(n), text, strlen(text)) == 0;
}

/* "tcm, sram or hbm" */
static const char *either(struct arena *a, const char *const *words)
{
    const char *text = words[0];

    for (int n = 1; words[n]; n++)
        text = arena_printf(a, "%s%s%s", text, words[n + 1] ? ", " : " or ", words[n]);
    return text;
}

static bool load_word(const struct value *v, int *out)
{
    const char *const *words = v->row->words;
    const char *known = either(v->spec->arena, words), *near;
    int n = 0;

    if (v->node->type != YAML_SCALAR_NODE)
        return wrong(v, known);
    for (; words[n]; n++) {
        if (is_text(v->node, words[n])) {
            *out = n;
            return true;
        }
    }
    near = text_nearest(scalar(v->node), v->node->data.scalar.length, words, (size_t)n);
    if (!near)
        return wrong(v, known);
    return diag_error(v->spec->diag, doc_place(v->doc, v->node),
                      "'%s' must be %s, not %s, did you mean '%s'?", v->row->path, known,
                      value_described(v->spec->arena, v->node), near);
}

/*
 * Names that begin like C names of the library or like macros of the templates, files and folders
 * that would take the topology's place, and words that YAML reads as something else.
 */
static bool is_reserved(const char *name)
{
    static const char *const begins[] = {"kb_", "tl_", "gen_", "m4_"};
    static const char *const words[] = {"kb",   "tl",     "gen",  "kernbench", "kbgen",
                                        "topo", "engine", "rows", "null",      "true",
                                        "yes",  "false",  "no",   "on",        "off"};

    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(name, words[i]) == 0)
            return true;
    return false;
}

bool value_is_name(const char *text, size_t len)
{
    static const char lower[] = "abcdefghijklmnopqrstuvwxyz",
                      rest[] = "abcdefghijklmnopqrstuvwxyz_0123456789";

    return len > 0 && strspn(text, lower) > 0 && strspn(text, rest) == len;
}

static bool load_name(const struct value *v, double longest, char **out)
{
    const yaml_node_t *n = v->node;
    size_t len;

    if (n->type != YAML_SCALAR_NODE)
        return wrong(v, "a name");
    len = n->data.scalar.length;
    if (!value_is_name(scalar(n), len))
        return wrong(v, "[a-z][a-z0-9_]*");
    if ((double)len > longest)
        return wrong(v, arena_printf(v->spec->arena, "at most %.15g characters", longest));
    if (is_reserved(scalar(n)))
        return wrong(v, "a name that is not reserved");
    *out = arena_copy(v->spec->arena, scalar(n), len);
    return true;
}

/* The name of a component, or `builtin`. */
static bool load_impl(const struct value *v, struct impl_spec *out)
{
    enum { LONGEST = 48 };
    char *name;

    if (!load_name(v, LONGEST, &name))
        return false;
    out->name = strcmp(name, "builtin") == 0 ? NULL : name;
    return true;
}

/* Or a list of two: the component in front of what is built in. */
static bool load_impls(const struct value *v, struct impl_spec *out)
{
    const yaml_node_item_t *items = v->node->data.sequence.items.start;
    struct value first = *v, last = *v;
    struct impl_spec behind;

    if (v->node->type != YAML_SEQUENCE_NODE)
        return load_impl(v, out);
    if (v->node->data.sequence.items.top - items != 2)
        return wrong(v, "a name, or [NAME, builtin]");
    first.node = doc_node(v->doc, items[0]);
    last.node = doc_node(v->doc, items[1]);
    if (!load_impl(&first, out) || !load_impl(&last, &behind))
        return false;
    if (!out->name)
        return wrong(&first, "a component in front of what is built in");
    if (behind.name)
        return wrong(&last, "'builtin', which is what the other keys say");
    out->front = true;
    return true;
}

bool value_load(struct spec *spec, enum key k, const struct doc *doc, const yaml_node_t *node)
{
    struct value v = {.spec = spec, .row = &key_rows[k], .doc = doc, .node = node};
    void *field = spec_field(spec, k);

    switch (v.row->type) {
    case KEY_INT:
        return load_int(&v, field);
    case KEY_REAL:
    case KEY_RATIO:
    case KEY_RATE:
        return load_real(&v, field);
    case KEY_NAME:
        return load_name(&v, v.row->max, field);
    case KEY_REAL2:
        return load_real2(&v, field);
    case KEY_INT2:
        return load_ints(&v, field, 2);
    case KEY_INT3:
        return load_ints(&v, field, 3);
    case KEY_WORD:
        return load_word(&v, field);
    case KEY_PLANES:
    case KEY_SIDES:
    case KEY_TEXTS:
    case KEY_HOLES:
        return lists_load(spec, k, doc, node);
    case KEY_FIELDS:
        return fields_load(spec, k, doc, node);
    case KEY_IMPL:
        return load_impls(&v, field);
    case KEY_SLICES:
        return load_slices(&v, field);
    CASES_MAPPING: /* load.c reads these */
        break;
    }
    return false;
}

/* The fewest digits, from 15 up, that read back to `x`, with a point. */
const char *value_real_text(struct arena *a, double x)
{
    char text[TEXT_DOUBLE_BYTES];
    const char *exponent;

    text_put_double(text, 15, x);
    if (strchr(text, '.'))
        return arena_printf(a, "%s", text);
    exponent = text + strcspn(text, "e");
    return arena_printf(a, "%.*s.0%s", (int)(exponent - text), text, exponent);
}

static const char *int_text(struct arena *a, int64_t i)
{
    return arena_printf(a, "%lld", (long long)i);
}

static const char *impl_text(struct arena *a, const struct impl_spec *impl)
{
    if (impl->front)
        return arena_printf(a, "[%s, builtin]", impl->name);
    return impl->name ? impl->name : "builtin";
}

static const char *mapping_text(const struct spec *spec, enum key k)
{
    const void *field = spec_value(spec, k);
    const char *text = key_rows[k].type == KEY_OVERRIDES
                           ? ((const struct override_specs *)field)->text
                       : key_rows[k].type == KEY_LINKS ? ((const struct link_specs *)field)->text
                                                       : ((const struct net_specs *)field)->text;

    return text ? text : key_rows[k].type == KEY_NET ? "[]" : "{}";
}

size_t value_items(enum key k)
{
    enum key_type type = key_rows[k].type;

    return type == KEY_INT3 ? 3 : type == KEY_INT2 || type == KEY_REAL2 ? 2 : 1;
}

const char *value_item_text(struct arena *a, enum key k, const void *field, size_t item)
{
    return key_rows[k].type == KEY_REAL2 ? value_real_text(a, ((const double *)field)[item])
                                         : int_text(a, ((const int64_t *)field)[item]);
}

const char *value_text(const struct spec *spec, enum key k)
{
    struct arena *a = spec->arena;
    const void *field = spec_value(spec, k);
    const double *real = field;
    const int64_t *integer = field;

    switch (key_rows[k].type) {
    case KEY_INT:
        return int_text(a, *integer);
    case KEY_REAL:
    case KEY_RATIO:
    case KEY_RATE:
        return value_real_text(a, *real);
    case KEY_NAME:
        return spec->name;
    case KEY_REAL2:
        return arena_printf(a, "[%s, %s]", value_real_text(a, real[0]),
                            value_real_text(a, real[1]));
    case KEY_INT2:
        return arena_printf(a, "[%s, %s]", int_text(a, integer[0]), int_text(a, integer[1]));
    case KEY_INT3:
        return arena_printf(a, "[%s, %s, %s]", int_text(a, integer[0]), int_text(a, integer[1]),
                            int_text(a, integer[2]));
    case KEY_WORD:
        return key_rows[k].words[*(const int *)field];
    case KEY_PLANES:
    case KEY_SIDES:
    case KEY_TEXTS:
    case KEY_HOLES:
        return lists_text(spec, k);
    case KEY_FIELDS:
        return fields_text(spec, k);
    case KEY_SLICES:
        return *integer == SLICES_AS_PES ? "pes" : int_text(a, *integer);
    CASES_MAPPING:
        return mapping_text(spec, k);
    case KEY_IMPL:
        return impl_text(spec->arena, field);
    }
    return "";
}
