/* resolve.c -- the resolved YAML: the keys of a spec with their values, and the hash of that text.
 */
#include "resolve.h"
#include "value.h"
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { INDENT = 2 };

/*
 * The lines "word:" of the mappings that `k` is the first printed key of, then "word: value".
 * `before` is the key printed before it; N_KEYS: none.
 */
static const char *key_lines(const struct spec *spec, enum key before, enum key k)
{
    struct arena *a = spec->arena;
    const char *lines = "";
    int depth = key_depth(k);

    for (int d = 0; d < depth; d++) {
        size_t len;
        const char *word = key_word(k, d, &len);
        const char *value = d + 1 == depth ? arena_printf(a, " %s", value_text(spec, k)) : "";

        if (before == N_KEYS || !key_shares(k, before, d + 1))
            lines = arena_printf(a, "%s%*s%.*s:%s\n", lines, d * INDENT, "", (int)len, word, value);
    }
    return lines;
}

static const char *key_set(const struct spec *spec, enum key k)
{
    return arena_printf(spec->arena, "%s=%s\n", key_rows[k].path, value_text(spec, k));
}

static const char *join(struct arena *a, const char *const lines[], size_t n)
{
    size_t len = 0;
    char *text, *end;

    for (size_t i = 0; i < n; i++)
        len += strlen(lines[i]);
    text = end = arena_alloc(a, len + 1);
    for (size_t i = 0; i < n; i++)
        end = stpcpy(end, lines[i]);
    return text;
}

/* A file that says only which version its keys have. */
static const struct spec *spec_of_version(struct arena *a, int64_t version)
{
    struct spec *spec = arena_alloc(a, sizeof *spec);

    spec_init(spec, a, NULL);
    spec_set_version(spec, version);
    return spec;
}

static bool is_left_out(const struct spec *spec, const struct spec *defaults, enum key k)
{
    return key_rows[k].is_new && strcmp(value_text(spec, k), value_text(defaults, k)) == 0;
}

const char *resolve(const struct spec *spec)
{
    const struct spec *defaults = spec_of_version(spec->arena, spec->kernbench);
    const char *lines[N_KEYS];
    enum key before = N_KEYS;
    size_t n = 0;

    for (enum key k = 0; k < N_KEYS; k++) {
        if (is_left_out(spec, defaults, k))
            continue;
        lines[n++] = key_lines(spec, before, k);
        before = k;
    }
    return join(spec->arena, lines, n);
}

const char *resolve_keys(const struct spec *spec)
{
    const char *lines[N_KEYS];

    for (enum key k = 0; k < N_KEYS; k++)
        lines[k] = key_set(spec, k);
    return join(spec->arena, lines, N_KEYS);
}

const char *resolve_hash(const struct spec *spec)
{
    const char *text = resolve(spec);

    return arena_printf(spec->arena, "%016llx", (unsigned long long)XXH64(text, strlen(text), 0));
}
