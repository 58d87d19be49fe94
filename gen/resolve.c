/* resolve.c -- the resolved YAML: the keys of a spec with their values, and the hash of that text.
 */
#include "resolve.h"
#include "net.h"
#include "parts.h"
#include "value.h"
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { INDENT = 2 };

/* A text that grows at its end. */
struct growing {
    struct arena *arena;
    char *text;
    size_t len, room;
};

static void append(struct growing *g, const char *text, size_t len)
{
    if (g->len + len + 1 > g->room) {
        char *wider = arena_alloc(g->arena, 2 * g->room + len + 1);

        memcpy(wider, g->text, g->len);
        g->text = wider;
        g->room = 2 * g->room + len + 1;
    }
    memcpy(g->text + g->len, text, len);
    g->len += len;
    g->text[g->len] = 0;
}

static struct growing growing_new(struct arena *a)
{
    enum { ROOM = 6 << 10 }; /* of most machines */

    return (struct growing){.arena = a, .text = arena_alloc(a, ROOM), .room = ROOM};
}

/* The text of a value, which spec_keep_texts() may have made already. */
static const char *text_of(const struct spec *spec, enum key k)
{
    return spec->texts[k] ? spec->texts[k] : value_text(spec, k);
}

/*
 * The lines "word:" of the mappings that `k` is the first printed key of, then "word: value".
 * `before` is the key printed before it; N_KEYS: none.
 */
static void append_key(struct growing *g, const struct spec *spec, enum key before, enum key k)
{
    static const char blanks[INDENT * (KEY_DEPTH - 1) + 1] = "        ";
    const char *value = text_of(spec, k);
    int depth = key_depth(k);

    for (int d = 0; d < depth; d++) {
        size_t len;
        const char *word = key_word(k, d, &len);

        if (before != N_KEYS && key_shares(k, before, d + 1))
            continue;
        append(g, blanks, (size_t)d * INDENT);
        append(g, word, len);
        append(g, ": ", d + 1 == depth ? 2 : 1);
        if (d + 1 == depth)
            append(g, value, strlen(value));
        append(g, "\n", 1);
    }
}

/* Lists that are empty, or read as if they were: [W], for the sides of IO chiplets. */
static bool is_empty_list(const struct spec *spec, enum key k)
{
    switch (key_rows[k].type) {
    case KEY_PLANES:
    case KEY_TEXTS:
    case KEY_HOLES:
        return strcmp(text_of(spec, k), "[]") == 0;
    case KEY_SIDES:
        return strcmp(text_of(spec, k), "[W]") == 0;
    CASES_MAPPING:
        return strcmp(text_of(spec, k), key_rows[k].type == KEY_NET ? "[]" : "{}") == 0;
    CASES_NUMBER:
    CASES_OTHER_KEY:
    case KEY_WORD:
        break;
    }
    return false;
}

/* New keys at their default; and the mesh of cubes that a net stands in place of. */
static bool is_left_out(const struct spec *spec, enum key k)
{
    if (spec->sip_cubes && key_shares(KEY_sip_cube_mesh_w, k, 2))
        return true;
    return key_rows[k].is_new && (spec_is_default(spec, k) || is_empty_list(spec, k));
}

/* The values of a component's keys, below its name, beside the `impl` that was printed last. */
static void append_values(struct growing *g, const struct spec *spec, enum key impl)
{
    const struct part *part = part_of_key(spec, impl);
    const char *line;

    if (!part || part->component->n_keys == 0)
        return;
    line = arena_printf(spec->arena, "%*s%s: %s\n", (key_depth(impl) - 1) * INDENT, "",
                        part->component->name, part_values_text(spec->arena, part));
    append(g, line, strlen(line));
}

const char *resolve(const struct spec *spec)
{
    struct growing g = growing_new(spec->arena);
    enum key before = N_KEYS;

    for (enum key k = 0; k < N_KEYS; k++) {
        if (is_left_out(spec, k))
            continue;
        append_key(&g, spec, before, k);
        if (key_rows[k].type == KEY_IMPL)
            append_values(&g, spec, k);
        before = k;
    }
    return g.text;
}

const char *resolve_keys(const struct spec *spec)
{
    struct growing g = growing_new(spec->arena);

    for (enum key k = 0; k < N_KEYS; k++) {
        const char *value = text_of(spec, k);

        if (net_excludes(spec, k))
            continue;
        append(&g, key_rows[k].path, strlen(key_rows[k].path));
        append(&g, "=", 1);
        append(&g, value, strlen(value));
        append(&g, "\n", 1);
    }
    return g.text;
}

/* The same as the hash of the text alone if there is no component. */
static uint64_t hash_of(const struct spec *spec, const char *text)
{
    XXH64_state_t state;

    XXH64_reset(&state, 0);
    XXH64_update(&state, text, strlen(text));
    for (const struct part *p = spec->parts; p; p = p->next)
        XXH64_update(&state, p->component->text, p->component->len);
    if (spec->route_file)
        XXH64_update(&state, spec->route_file->text, spec->route_file->len);
    return XXH64_digest(&state);
}

const char *resolve_hash(const struct spec *spec, const char *text)
{
    static const char digits[] = "0123456789abcdef";
    char *hash = arena_alloc(spec->arena, HASH_CHARS + 1);
    uint64_t rest = hash_of(spec, text);

    for (int i = HASH_CHARS; i-- > 0; rest >>= 4)
        hash[i] = digits[rest & 15];
    return hash;
}

void resolve_keep_texts(struct spec *spec)
{
    for (enum key k = 0; k < N_KEYS; k++)
        spec->texts[k] = value_text(spec, k);
}
