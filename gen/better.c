/*
 * better.c -- numbers of a machine made better by a factor: bandwidths larger, overheads smaller.
 *
 * keys.def says which way a key is better. Whole numbers become the next whole number, by one at
 * least: one channel is two by any factor up to 2. Other numbers have six decimals, as tables show
 * them, so that a run with the number that is shown is the same run: 0.01 by 3 is 0.003333. A ratio
 * ends at 1, the cycles of an operation at 1. What is 0 is not there (an overhead, an SRAM without
 * a bandwidth of its own), so nothing can make it better.
 *
 * A key that some cubes have for themselves is better there, too, and so are all planes. Numbers
 * of `links`, and those that `kinds` give, can also be better one by one: links.eth.bw_gbs. A value
 * that several names mean, cube.hbm.bw_gbs and kinds.xcd.hbm.bw_gbs, is made better once.
 *
 * Example, by 2: cube.hbm.bw_gbs 256 becomes 512, cube.ucie.overhead_ns 1 becomes 0.5,
 * cube.pe.pe_gemm.mac[1] turns [16, 16, 16] into [16, 32, 16].
 */
#include "better.h"
#include "net.h"
#include "net_load.h"
#include "overrides.h"
#include "value.h"
#include "base/text.h"
#include "machine/tables.h"
#include <math.h>
#include <string.h>

enum direction { NEITHER, BY_LARGER, BY_SMALLER };

static const uint8_t directions[N_KEYS] = {
#define KEY(...)
#define LARGER(name)  [KEY_##name] = BY_LARGER,
#define SMALLER(name) [KEY_##name] = BY_SMALLER,
#include "keys.def"
};

/* One number: a key, and of a list the item. */
struct number {
    const char *name;
    enum key key; /* of a kind of links: one like it */
    size_t item;
    void *field; /* of a kind of links or cubes; NULL: of all that have the key */
};

static bool is_whole(enum key k)
{
    return key_rows[k].type == KEY_INT || value_items(k) > 1;
}

/* The next value that some cubes have for themselves for `k`, by `cubes` or `kinds`; from 0 on. */
static void *next_own(const struct spec *spec, enum key k, size_t *at)
{
    const struct override_specs *all[] = {&spec->cubes, &spec->kinds};
    size_t i = 0;

    for (size_t list = 0; list < 2; list++)
        for (size_t row = 0; row < all[list]->n; row++)
            for (size_t v = 0; v < all[list]->rows[row].n; v++)
                if (all[list]->rows[row].values[v].key == k && i++ == *at) {
                    ++*at;
                    return all[list]->rows[row].values[v].value;
                }
    return NULL;
}

/* Has any cube that word for a key? */
static bool has_word(const struct spec *spec, enum key k, int word)
{
    bool has = *(const int *)spec_value(spec, k) == word;
    const int *own;

    for (size_t at = 0; (own = next_own(spec, k, &at));)
        has = has || *own == word;
    return has;
}

static bool is_of_banks(enum key k)
{
    return k >= KEY_cube_hbm_channels && k <= KEY_cube_hbm_refresh;
}

/* Numbers of routers, of a mesh, and of banks mean nothing where there is none, and some cannot
 * stand beside a net. */
static bool is_used(const struct spec *spec, enum key k)
{
    if (net_excludes(spec, k))
        return false;
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

/* A number as tables show it, unless nothing would be left of it. */
static double as_shown(double value)
{
    double rounded = round(value * 1e6) / 1e6;

    return rounded > 0 ? rounded : value;
}

/* `value` better by `factor`; itself where nothing is better. */
static double improved(enum key k, double value, double factor)
{
    const double rounding = 1e-12; /* 10 by 1.1 is 11 */
    bool larger = directions[k] == BY_LARGER;
    double to = larger ? value * factor : value / factor;

    if (value <= 0 || directions[k] == NEITHER)
        return value;
    if (key_rows[k].type == KEY_RATIO)
        return fmin(as_shown(to), key_rows[k].max);
    if (!is_whole(k))
        return as_shown(to);
    return larger ? fmax(ceil(to * (1 - rounding)), value + 1)
                  : fmax(fmin(floor(to * (1 + rounding)), value - 1), key_rows[k].min);
}

/* Its name: "cube.hbm.bw_gbs", "cube.pe.pe_gemm.mac[1]". */
static const char *name_of(struct arena *a, enum key k, size_t item)
{
    const char *path = key_rows[k].path;

    if (key_rows[k].type == KEY_PLANES)
        return arena_printf(a, "%s.bw_gbs", path);
    return value_items(k) > 1 ? arena_printf(a, "%s[%zu]", path, item) : path;
}

/* The value of a number in `spec`, or if it is 0 there the first of those that some cubes have. */
static double value_in(const struct spec *spec, const struct number *n)
{
    double value = get(n, n->field ? n->field : spec_value(spec, n->key));
    const void *own;

    for (size_t at = 0; !n->field && value == 0 && (own = next_own(spec, n->key, &at));)
        value = get(n, own);
    return value;
}

/* -- all numbers of a machine ----------------------------------------------------------------- */

/* What is done with each; true: it was the last. */
typedef bool visit(void *arg, const struct number *n);

static bool visit_key(const struct spec *spec, enum key k, const char *kind, void *field,
                      visit *with, void *arg)
{
    for (size_t item = 0; directions[k] && item < value_items(k); item++) {
        struct number n = {name_of(spec->arena, k, item), k, item, field};

        if (kind)
            n.name = overrides_path(spec->arena, kind, n.name);
        if (with(arg, &n))
            return true;
    }
    return false;
}

static bool visit_links(const struct spec *spec, visit *with, void *arg)
{
    for (size_t i = 0; i < spec->links.n; i++)
        for (size_t k = 0; k < N_LINK_KEYS; k++) {
            struct link_spec *link = &spec->links.rows[i];
            struct number n = {
                arena_printf(spec->arena, "links.%s.%s", link->name, link_keys[k].name),
                link_keys[k].like, 0, link_field(link, k)};

            if (with(arg, &n))
                return true;
        }
    return false;
}

static bool visit_all(const struct spec *spec, visit *with, void *arg)
{
    for (enum key k = 0; k < N_KEYS; k++)
        if (visit_key(spec, k, NULL, NULL, with, arg))
            return true;
    for (size_t i = 0; i < spec->kinds.n; i++)
        for (size_t v = 0; v < spec->kinds.rows[i].n; v++)
            if (visit_key(spec, spec->kinds.rows[i].values[v].key, spec->kinds.rows[i].text,
                          spec->kinds.rows[i].values[v].value, with, arg))
                return true;
    return visit_links(spec, with, arg);
}

struct telling {
    const struct spec *spec;
    double factor;
    void (*each)(void *arg, const kb_better *number);
    void *arg;
};

static bool tell(void *arg, const struct number *n)
{
    const struct telling *t = arg;
    double value = value_in(t->spec, n);
    kb_better number = {.name = n->name,
                        .value = value,
                        .better_value = improved(n->key, value, t->factor),
                        .smaller = directions[n->key] == BY_SMALLER,
                        .whole = is_whole(n->key)};

    if (number.better_value != value && is_used(t->spec, n->key))
        t->each(t->arg, &number);
    return false;
}

void better_each(const struct spec *spec, double factor,
                 void (*each)(void *arg, const kb_better *number), void *arg)
{
    struct telling t = {spec, factor, each, arg};

    visit_all(spec, tell, &t);
}

/* -- made better ------------------------------------------------------------------------------ */

/* A machine whose numbers are made better, each value once: a key of `cube` is that of kinds, too.
 */
struct making {
    struct spec *spec;
    double factor;
    const void **done; /* [n_done] values */
    size_t n_done, room;
};

/* Has this value been made better, by another name? If not, it is now. */
static bool is_done(struct making *m, const void *value)
{
    for (size_t i = 0; i < m->n_done; i++)
        if (m->done[i] == value)
            return true;
    if (m->n_done == m->room) {
        const void **wider = arena_alloc(m->spec->arena, (2 * m->room + 16) * sizeof *wider);

        if (m->n_done)
            memcpy(wider, m->done, m->n_done * sizeof *wider);
        m->done = wider;
        m->room = 2 * m->room + 16;
    }
    m->done[m->n_done++] = value;
    return false;
}

/* Makes one value better. False after a message. */
static bool make(struct making *m, const struct number *n, void *field)
{
    const struct key_row *row = &key_rows[n->key];
    double value = get(n, field), to = improved(n->key, value, m->factor);

    if (is_done(m, (const char *)field + n->item * sizeof(int64_t)))
        return true;
    if (to != value && (to < row->min || to > row->max))
        return diag_error(m->spec->diag, spec_place(m->spec, n->key),
                          "'%s' must be %.15g..%.15g, not %.15g", n->name, row->min, row->max, to);
    put(n, field, to);
    return true;
}

static bool make_planes(struct making *m, const struct number *n)
{
    const struct number bandwidth = {n->name, KEY_sip_d2d_bw_gbs, 0, NULL}; /* of the same kind */
    struct plane_specs *planes = &m->spec->sip_planes;
    bool ok = n->key == KEY_sip_planes;

    for (size_t i = 0; ok && i < planes->n; i++)
        ok = make(m, &bandwidth, &planes->rows[i].bw_gbs);
    return ok;
}

static bool make_everywhere(struct making *m, const struct number *n)
{
    void *own;
    bool ok;

    if (n->field)
        return make(m, n, n->field);
    if (key_rows[n->key].type == KEY_PLANES)
        return make_planes(m, n);
    ok = make(m, n, spec_field(m->spec, n->key));
    for (size_t at = 0; (own = next_own(m->spec, n->key, &at));)
        ok = make(m, n, own) && ok;
    return ok;
}

struct finding {
    const char *name;
    struct number found;
};

static bool has_name(void *arg, const struct number *n)
{
    struct finding *f = arg;

    f->found = *n;
    return strcmp(n->name, f->name) == 0;
}

/* By its name. False after a message. */
static bool make_named(struct making *m, const char *name)
{
    struct finding f = {.name = name};

    if (visit_all(m->spec, has_name, &f))
        return make_everywhere(m, &f.found);
    return diag_error(m->spec->diag, m->spec->given[0][0].at, "no number '%s' can be better",
                      diag_text(m->spec->arena, name, strlen(name)));
}

bool better_make(struct spec *spec, const char *const *names, size_t n, double factor)
{
    struct making m = {.spec = spec, .factor = factor};
    bool ok = true;

    for (size_t i = 0; i < n; i++)
        ok = make_named(&m, names[i]) && ok;
    return ok;
}
