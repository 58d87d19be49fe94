/*
 * better.c -- numbers of a machine made better by a factor: bandwidths larger, overheads smaller.
 *
 * keys.def says which way a key is better. Whole numbers become the next whole number, by one at
 * least: one channel is two by any factor up to 2. A ratio ends at 1, the cycles of an operation at
 * 1. What is 0 is not there (an overhead, an SRAM without a bandwidth of its own), so nothing can
 * make it better.
 *
 * A key that some cubes have for themselves is better there, too, and so are all planes.
 *
 * Example, by 2: cube.hbm.bw_gbs 256 becomes 512, cube.ucie.overhead_ns 1 becomes 0.5,
 * cube.pe.pe_gemm.mac[1] turns [16, 16, 16] into [16, 32, 16].
 */
#include "better.h"
#include "overrides.h"
#include "base/text.h"
#include "machine/tables.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 64 };

enum direction { NEITHER, BY_LARGER, BY_SMALLER };

static const uint8_t directions[N_KEYS] = {
#define KEY(...)
#define LARGER(name)  [KEY_##name] = BY_LARGER,
#define SMALLER(name) [KEY_##name] = BY_SMALLER,
#include "keys.def"
};

/* One number: a key, and of a list the item. */
struct number {
    enum key key;
    size_t item;
};

static size_t items_of(enum key k)
{
    return key_rows[k].type == KEY_INT3 ? 3 : key_rows[k].type == KEY_INT2 ? 2 : 1;
}

static bool is_whole(enum key k)
{
    return key_rows[k].type == KEY_INT || items_of(k) > 1;
}

/* Has any cube that word for a key? */
static bool has_word(const struct spec *spec, enum key k, int word)
{
    bool has = *(const int *)spec_value(spec, k) == word;

    for (size_t i = 0; i < spec->cubes.n; i++)
        for (size_t v = 0; v < spec->cubes.rows[i].n; v++)
            has = has || (spec->cubes.rows[i].values[v].key == k &&
                          *(const int *)spec->cubes.rows[i].values[v].value == word);
    return has;
}

static bool is_of_banks(enum key k)
{
    return k >= KEY_cube_hbm_channels && k <= KEY_cube_hbm_refresh;
}

/* Numbers of routers, of a mesh, and of banks mean nothing where there is none. */
static bool is_used(const struct spec *spec, enum key k)
{
    if (key_shares(KEY_contention_links, k, 1))
        return spec->contention_links == MODE_ROUTER;
    if (is_of_banks(k))
        return has_word(spec, KEY_cube_hbm_model, MEMORY_BANKS);
    return k != KEY_cube_noc_mesh_bw_gbs || has_word(spec, KEY_cube_noc_model, NOC_MESH);
}

static double get(const struct number *n, const void *field)
{
    const struct plane_specs *planes = field;

    if (key_rows[n->key].type != KEY_PLANES)
        return is_whole(n->key) ? (double)((const int64_t *)field)[n->item]
                                : *(const double *)field;
    for (size_t i = 0; i < planes->n; i++)
        if (planes->rows[i].bw_gbs > 0)
            return planes->rows[i].bw_gbs;
    return 0;
}

static void put(const struct number *n, void *field, double value)
{
    if (is_whole(n->key))
        ((int64_t *)field)[n->item] = (int64_t)value;
    else
        *(double *)field = value;
}

/* `value` better by `factor`; itself where nothing is better. */
static double improved(enum key k, double value, double factor)
{
    const double rounding = 1e-12; /* 10 by 1.1 is 11 */
    bool larger = directions[k] == BY_LARGER;
    double to = larger ? value * factor : value / factor;

    if (value == 0 || directions[k] == NEITHER)
        return value;
    if (key_rows[k].type == KEY_RATIO)
        return fmin(to, key_rows[k].max);
    if (!is_whole(k))
        return to;
    return larger ? fmax(ceil(to * (1 - rounding)), value + 1)
                  : fmax(fmin(floor(to * (1 + rounding)), value - 1), key_rows[k].min);
}

/* Its name, in `text` if it is more than the path of a key. */
static const char *name_of(const struct number *n, char text[NAME_BYTES])
{
    const char *path = key_rows[n->key].path;

    if (key_rows[n->key].type == KEY_PLANES)
        snprintf(text, NAME_BYTES, "%s.bw_gbs", path);
    else if (items_of(n->key) > 1)
        snprintf(text, NAME_BYTES, "%s[%zu]", path, n->item);
    else
        return path;
    return text;
}

/* The value of a number in `spec`, or if it is 0 there the first of those that some cubes have. */
static double value_in(const struct spec *spec, const struct number *n)
{
    double value = get(n, spec_value(spec, n->key));

    for (size_t i = 0; value == 0 && i < spec->cubes.n; i++)
        for (size_t v = 0; v < spec->cubes.rows[i].n; v++)
            if (spec->cubes.rows[i].values[v].key == n->key)
                value = get(n, spec->cubes.rows[i].values[v].value);
    return value;
}

void better_each(const struct spec *spec, double factor,
                 void (*each)(void *arg, const kb_better *number), void *arg)
{
    for (enum key k = 0; k < N_KEYS; k++)
        for (size_t item = 0; directions[k] && item < items_of(k); item++) {
            struct number n = {k, item};
            char text[NAME_BYTES];
            double value = value_in(spec, &n);
            kb_better number = {.name = name_of(&n, text),
                                .value = value,
                                .better_value = improved(k, value, factor),
                                .smaller = directions[k] == BY_SMALLER};

            if (number.better_value != value && is_used(spec, k))
                each(arg, &number);
        }
}

/* Makes one value better. False after a message. */
static bool make(struct spec *spec, const struct number *n, void *field, double factor)
{
    const struct key_row *row = &key_rows[n->key];
    double value = get(n, field), to = improved(n->key, value, factor);
    char text[NAME_BYTES];

    if (to != value && (to < row->min || to > row->max))
        return diag_error(spec->diag, spec_place(spec, n->key),
                          "'%s' must be %.15g..%.15g, not %.15g", name_of(n, text), row->min,
                          row->max, to);
    put(n, field, to);
    return true;
}

static bool make_planes(struct spec *spec, const struct number *n, double factor)
{
    const struct number bandwidth = {KEY_sip_d2d_bw_gbs, 0}; /* of a plane: of the same kind */
    bool ok = n->key == KEY_sip_planes;

    for (size_t i = 0; ok && i < spec->sip_planes.n; i++)
        ok = make(spec, &bandwidth, &spec->sip_planes.rows[i].bw_gbs, factor);
    return ok;
}

static bool make_everywhere(struct spec *spec, const struct number *n, double factor)
{
    bool ok = true;

    if (key_rows[n->key].type == KEY_PLANES)
        return make_planes(spec, n, factor);
    ok = make(spec, n, spec_field(spec, n->key), factor);
    for (size_t i = 0; i < spec->cubes.n; i++) {
        struct override_spec *o = &spec->cubes.rows[i];

        for (size_t v = 0; v < o->n; v++)
            if (o->values[v].key == n->key)
                ok = make(spec, n, o->values[v].value, factor) && ok;
    }
    overrides_say(spec);
    return ok;
}

bool better_make(struct spec *spec, const char *name, double factor)
{
    for (enum key k = 0; k < N_KEYS; k++)
        for (size_t item = 0; directions[k] && item < items_of(k); item++) {
            struct number n = {k, item};
            char text[NAME_BYTES];

            if (strcmp(name_of(&n, text), name) == 0)
                return make_everywhere(spec, &n, factor);
        }
    return diag_error(spec->diag, spec->given[0][0].at, "no number '%s' can be better",
                      diag_text(spec->arena, name, strlen(name)));
}
