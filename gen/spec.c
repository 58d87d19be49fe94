/* spec.c -- one topology as its YAML gives it: the value of every key, and where it was written. */
#include "spec.h"
#include "machine/tables.h"
#include "presets.h"
#include <string.h>

#define LIST(...)                                                                                  \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static const struct spec defaults = {
#define KEY(type, name, text, value, low, high)     .name = value,
#define NEW_KEY(type, name, text, value, low, high) .name = value, /* LIST has commas */
#include "keys.def"
};

const struct key_row key_rows[N_KEYS] = {
#define ROW(kind, name, text, ...)                                                                 \
    [KEY_##name] = {.path = (text),                                                                \
                    .type = KEY_##kind,                                                            \
                    .field = offsetof(struct spec, name),                                          \
                    .bytes = sizeof((struct spec *)0)->name,                                       \
                    __VA_ARGS__},
#define KEY(kind, name, text, value, low, high) ROW(kind, name, text, .min = (low), .max = (high))
#define NEED(kind, name, text, low, high)                                                          \
    ROW(kind, name, text, .min = (low), .max = (high), .needed = true)
#define WORD(name, text, ...)                                                                      \
    ROW(WORD, name, text, .words = (const char *const[]){__VA_ARGS__, NULL})
#define NEW_KEY(kind, name, text, value, low, high)                                                \
    ROW(kind, name, text, .min = (low), .max = (high), .is_new = true)
#define NEW_WORD(name, text, ...)                                                                  \
    ROW(WORD, name, text, .words = (const char *const[]){__VA_ARGS__, NULL}, .is_new = true)
#include "keys.def"
};

/* The words and numbers that are another default from some version on, the earlier ones first. */
static const struct {
    int64_t since;
    enum key key;
    int64_t value; /* of which a WORD has the low bytes, first */
} versions[] = {
#define KEY(...)
#define IN_VERSION(version, name, number) {version, KEY_##name, number},
#include "keys.def"
};

enum { N_VERSIONS = sizeof versions / sizeof versions[0] };

void spec_init(struct spec *spec, struct arena *arena, struct diag *diag)
{
    *spec = defaults;
    spec->arena = arena;
    spec->diag = diag;
}

/* Rows of its own, as their values may be changed. */
static struct override_specs copy_overrides(struct arena *a, const struct override_specs *from)
{
    struct override_specs to = *from;

    to.rows = arena_alloc(a, (to.n + 1) * sizeof *to.rows);
    for (size_t i = 0; i < to.n; i++) {
        struct override_spec *o = &to.rows[i];

        *o = from->rows[i];
        o->values = arena_alloc(a, (o->n + 1) * sizeof *o->values);
        for (size_t v = 0; v < o->n; v++) {
            size_t bytes = key_rows[from->rows[i].values[v].key].bytes;

            o->values[v] = from->rows[i].values[v];
            o->values[v].value = arena_alloc(a, bytes);
            memcpy(o->values[v].value, from->rows[i].values[v].value, bytes);
        }
    }
    return to;
}

void spec_copy(struct spec *spec, const struct spec *base, struct arena *arena, struct diag *diag)
{
    *spec = *base;
    spec->cubes = copy_overrides(arena, &base->cubes);
    spec->kinds = copy_overrides(arena, &base->kinds);
    spec->links.rows = arena_alloc(arena, (base->links.n + 1) * sizeof *base->links.rows);
    if (base->links.n)
        memcpy(spec->links.rows, base->links.rows, base->links.n * sizeof *base->links.rows);
    spec->arena = arena;
    spec->diag = diag;
    spec->doc = NULL;
    spec->file = NULL;
}

void spec_override(struct spec *spec, const struct override_spec *o)
{
    for (size_t i = 0; i < o->n; i++) {
        enum key k = o->values[i].key;

        memcpy(spec_field(spec, k), o->values[i].value, key_rows[k].bytes);
        spec->given[k][key_depth(k)] = o->values[i].given;
    }
}

const void *spec_default(const struct spec *spec, enum key k)
{
    const void *found = presets_default(spec, k);

    if (!found)
        found = spec_value(&defaults, k);
    for (size_t i = 0; i < N_VERSIONS; i++)
        if (versions[i].key == k && versions[i].since <= spec->kernbench)
            found = &versions[i].value;
    return found;
}

bool spec_is_default(const struct spec *spec, enum key k)
{
    return memcmp(spec_value(spec, k), spec_default(spec, k), key_rows[k].bytes) == 0;
}

void spec_take_default(struct spec *spec, enum key k)
{
    if (spec->given[k][key_depth(k)].key.kind == PLACE_NONE)
        memcpy(spec_field(spec, k), spec_default(spec, k), key_rows[k].bytes);
}

void spec_set_version(struct spec *spec, int64_t version)
{
    spec->kernbench = version;
    for (size_t i = 0; i < N_VERSIONS; i++)
        spec_take_default(spec, versions[i].key);
}

void spec_forget(struct spec *spec, enum key k)
{
    spec->given[k][key_depth(k)] = (struct given){0};
    spec_take_default(spec, k);
}

struct place spec_place(const struct spec *spec, enum key k)
{
    int depth = key_depth(k);

    if (spec->given[k][depth].at.kind != PLACE_NONE)
        return spec->given[k][depth].at;
    while (--depth > 0) {
        const struct given *mapping = &spec->given[key_first(k, depth)][depth];

        if (mapping->key.kind != PLACE_NONE)
            return mapping->key;
    }
    return spec->given[0][0].at;
}

void *spec_field(struct spec *spec, enum key k)
{
    return (char *)spec + key_rows[k].field;
}

const void *spec_value(const struct spec *spec, enum key k)
{
    return (const char *)spec + key_rows[k].field;
}

int key_depth(enum key k)
{
    int depth = 1;

    for (const char *dot = key_rows[k].path; (dot = strchr(dot, '.')); dot++)
        depth++;
    return depth;
}

size_t key_prefix(enum key k, int depth)
{
    const char *path = key_rows[k].path;
    size_t len = 0;

    for (int d = 0; d < depth; d++)
        len += strcspn(path + len, ".") + (d + 1 < depth);
    return len;
}

const char *key_word(enum key k, int depth, size_t *len)
{
    const char *word = key_rows[k].path + key_prefix(k, depth) + (depth > 0);

    *len = strcspn(word, ".");
    return word;
}

bool key_shares(enum key a, enum key b, int depth)
{
    size_t len = key_prefix(a, depth);
    char end = key_rows[b].path[strnlen(key_rows[b].path, len)];

    return strncmp(key_rows[a].path, key_rows[b].path, len) == 0 &&
           (depth == 0 || end == '.' || end == 0);
}

enum key key_first(enum key k, int depth)
{
    while (k > 0 && key_shares(k, k - 1, depth))
        k--;
    return k;
}
