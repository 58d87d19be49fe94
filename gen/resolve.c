/* resolve.c -- the resolved YAML: every key of a spec with its value, and the hash of that text. */
#include "resolve.h"
#include "value.h"
#include <string.h>
#include <xxhash.h>

enum { INDENT = 2 };

/* The lines "word:" of the mappings that `k` is the first key of, then "word: value". */
static const char *key_lines(const struct spec *spec, enum key k)
{
    struct arena *a = spec->arena;
    const char *lines = "";
    int depth = key_depth(k);

    for (int d = 0; d < depth; d++) {
        size_t len;
        const char *word = key_word(k, d, &len);
        const char *value = d + 1 == depth ? arena_printf(a, " %s", value_text(spec, k)) : "";

        if (key_first(k, d + 1) == k)
            lines = arena_printf(a, "%s%*s%.*s:%s\n", lines, d * INDENT, "", (int)len, word, value);
    }
    return lines;
}

static const char *key_set(const struct spec *spec, enum key k)
{
    return arena_printf(spec->arena, "%s=%s\n", key_rows[k].path, value_text(spec, k));
}

/* The lines that `lines_of` makes of each key, joined. */
static const char *join(const struct spec *spec,
                        const char *(*lines_of)(const struct spec *spec, enum key k))
{
    const char *lines[N_KEYS];
    size_t len = 0;
    char *text, *end;

    for (enum key k = 0; k < N_KEYS; k++) {
        lines[k] = lines_of(spec, k);
        len += strlen(lines[k]);
    }
    text = end = arena_alloc(spec->arena, len + 1);
    for (enum key k = 0; k < N_KEYS; k++)
        end = stpcpy(end, lines[k]);
    return text;
}

const char *resolve(const struct spec *spec)
{
    return join(spec, key_lines);
}

const char *resolve_keys(const struct spec *spec)
{
    return join(spec, key_set);
}

const char *resolve_hash(const struct spec *spec)
{
    const char *text = resolve(spec);

    return arena_printf(spec->arena, "%016llx", (unsigned long long)XXH64(text, strlen(text), 0));
}
