/* keys.c -- every key of a machine with its value, for a reader that changes some of them. */
#include "keys.h"
#include "cubes.h"
#include "net.h"
#include "net_load.h"
#include "overrides.h"
#include "value.h"

static double number_of(const struct spec *spec, enum key k)
{
    const void *at = spec_value(spec, k);

    if (key_rows[k].type == KEY_SLICES && *(const int64_t *)at == SLICES_AS_PES)
        return (double)spec->cube_pes;
    return key_rows[k].type == KEY_INT || key_rows[k].type == KEY_SLICES
               ? (double)*(const int64_t *)at
               : *(const double *)at;
}

/* The key `k` of `spec`, by the name that it has there. */
static kb_key key_of(const struct spec *spec, enum key k, const char *path)
{
    const struct key_row *row = &key_rows[k];
    kb_key key = {.path = path, .text = value_text(spec, k), .words = row->words};

    switch (row->type) {
    case KEY_INT:
    case KEY_SLICES:
        key.kind = KB_KEY_COUNT;
        break;
    case KEY_REAL:
    case KEY_RATIO:
    case KEY_RATE:
        key.kind = KB_KEY_NUMBER;
        break;
    case KEY_WORD:
        key.kind = KB_KEY_WORD;
        break;
    case KEY_NAME:
    case KEY_REAL2:
    case KEY_INT2:
    case KEY_INT3:
    case KEY_FIELDS:
    case KEY_IMPL:
    case KEY_PLANES:
    case KEY_SIDES:
    case KEY_TEXTS:
    case KEY_HOLES:
    CASES_MAPPING:
        key.kind = KB_KEY_OTHER;
        break;
    }
    if (key.kind == KB_KEY_COUNT || key.kind == KB_KEY_NUMBER) {
        key.value = number_of(spec, k);
        key.least = row->min;
        key.most = row->max;
    }
    return key;
}

void keys_walk(const struct spec *spec, void (*each)(void *arg, const kb_key *key), void *arg)
{
    for (enum key k = 0; k < N_KEYS; k++) {
        kb_key key = key_of(spec, k, key_rows[k].path);

        if (!net_excludes(spec, k))
            each(arg, &key);
    }
}

/* What a kind does not give has the value of `cube`. */
static void walk_kind(const struct spec *spec, const struct override_spec *kind,
                      void (*each)(void *arg, const kb_key *key), void *arg)
{
    const struct spec *own = cubes_override(spec, kind);

    for (enum key k = KEY_cube_size_mm; k < N_KEYS && key_shares(KEY_cube_size_mm, k, 1); k++) {
        kb_key key = key_of(own, k, overrides_path(spec->arena, kind->text, key_rows[k].path));

        if (overrides_may_have(k))
            each(arg, &key);
    }
}

/* Ports without an overhead of their own have that of the cubes. */
static double link_number(const struct spec *spec, const struct link_spec *link, size_t key)
{
    const void *field = link_field(link, key);

    if (key_rows[link_keys[key].like].type == KEY_INT)
        return (double)*(const int64_t *)field;
    return *(const double *)field < 0 ? spec->cube_ucie_overhead_ns : *(const double *)field;
}

static void walk_link(const struct spec *spec, const struct link_spec *link,
                      void (*each)(void *arg, const kb_key *key), void *arg)
{
    for (size_t k = 0; k < N_LINK_KEYS; k++) {
        const struct key_row *like = &key_rows[link_keys[k].like];
        double value = link_number(spec, link, k);
        kb_key key = {.path =
                          arena_printf(spec->arena, "links.%s.%s", link->name, link_keys[k].name),
                      .text = like->type == KEY_INT ? arena_printf(spec->arena, "%.0f", value)
                                                    : value_real_text(spec->arena, value),
                      .kind = like->type == KEY_INT ? KB_KEY_COUNT : KB_KEY_NUMBER,
                      .value = value,
                      .least = like->min,
                      .most = like->max};

        each(arg, &key);
    }
}

void keys_walk_named(const struct spec *spec, void (*each)(void *arg, const kb_key *key), void *arg)
{
    keys_walk(spec, each, arg);
    for (size_t i = 0; i < spec->kinds.n; i++)
        walk_kind(spec, &spec->kinds.rows[i], each, arg);
    for (size_t i = 0; i < spec->links.n; i++)
        walk_link(spec, &spec->links.rows[i], each, arg);
}
