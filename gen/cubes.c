/*
 * cubes.c -- which cubes and PEs are there, and which keys each cube has: `missing` and `cubes`.
 *
 * Cubes with the same keys share their tables, so the keys that differ are what the rest of the
 * generator sees: a list of specs, the first of which is that of the file, and for each cube its
 * number in that list. The overrides are gone through in the order of the file. Each one moves the
 * cubes that it names from the spec they had to another, with its keys added; equal specs become
 * one, and those that no cube has any longer are dropped, so the list stays short. If all cubes
 * end with the same keys, the machine is as regular as one that was written with them.
 *
 * Example: cubes: {"c*": {pes: 4}, "c3": {pes: 8, hbm: {bw_gbs: 128.0}}} on 4 cubes. Behind the
 * first all cubes have spec 1 (pes 4). Behind the second c3 has spec 2 (pes 8, bw_gbs 128).
 *
 * PEs that are missing do not change a cube's tables: rows of a PE that is not there are not used.
 * But the contract counts them: a kind of cube is its keys and its missing PEs.
 */
#include "cubes.h"
#include "overrides.h"
#include "pattern.h"
#include "presets.h"
#include "base/text.h"
#include "machine/tables.h"
#include <stdlib.h>
#include <string.h>

/* Behind an override there may be more kinds than in the end: the next may make cubes equal again.
 */
enum { KINDS_BETWEEN = 16 * KINDS_MAX };

/* The cubes that are found, and the spec whose mistakes are told. */
struct finding {
    const struct spec *spec;
    struct cubes *cubes;
    struct pattern_room room;
    bool ok;
};

static void mistake(struct finding *f, struct place at, const char *key, const char *text,
                    const char *what)
{
    f->ok = diag_error(f->spec->diag, at, "'%s' in '%s' %s",
                       diag_text(f->spec->arena, text, strlen(text)), key, what);
}

static const char no_pattern[] =
    "is no cube and no PE: c3, c[4-7], c1.pe0 or c*.pe[0-3], with s1. before it on SIP 1";

static uint32_t pes_of(const struct cubes *cubes, uint32_t cube)
{
    return (uint32_t)cubes->kinds[cubes->kind[cube]]->cube_pes;
}

/* -- keys of their own ----------------------------------------------------------------------- */

/* Whether all keys of cubes have the same values. */
static bool same_keys(const struct spec *a, const struct spec *b)
{
    for (enum key k = KEY_cube_size_mm; k < N_KEYS && key_shares(KEY_cube_size_mm, k, 1); k++)
        if (memcmp(spec_value(a, k), spec_value(b, k), key_rows[k].bytes) != 0)
            return false;
    return true;
}

/* The number of `spec` among the kinds; it is added if there is none like it. */
static uint16_t kind_number(struct cubes *cubes, const struct spec *spec)
{
    uint32_t i = 0;

    while (i < cubes->n_kinds && !same_keys(cubes->kinds[i], spec))
        i++;
    if (i == cubes->n_kinds)
        cubes->kinds[cubes->n_kinds++] = spec;
    return (uint16_t)i;
}

const struct spec *cubes_override(const struct spec *before, const struct override_spec *o)
{
    struct spec *spec = arena_alloc(before->arena, sizeof *spec);
    bool held = before->cube_hbm_model == MEMORY_BANKS;

    *spec = *before;
    spec_override(spec, o);
    for (size_t i = 0; i < o->n; i++)
        held |= o->values[i].key == KEY_cube_hbm_hold;
    if (spec->cube_hbm_preset != before->cube_hbm_preset)
        presets_take(spec, before);
    presets_leave_server(spec, held);
    return spec;
}

/* The kind that a row names; NULL after a message. */
static const struct override_spec *named_kind(struct finding *f, const struct text_spec *kind)
{
    const struct override_specs *kinds = &f->spec->kinds;
    const struct override_spec *found = overrides_kind(f->spec, kind->text);
    const char **names = arena_alloc(f->spec->arena, (kinds->n + 1) * sizeof *names), *near;

    if (found)
        return found;
    for (size_t i = 0; i < kinds->n; i++)
        names[i] = kinds->rows[i].text;
    near = text_nearest(kind->text, strlen(kind->text), names, kinds->n);
    f->ok = diag_error(f->spec->diag, kind->at,
                       near ? "there is no kind '%s' in 'kinds', did you mean '%s'?"
                            : "there is no kind '%s' in 'kinds'",
                       diag_text(f->spec->arena, kind->text, strlen(kind->text)), near);
    return NULL;
}

/* The keys of `before`, then those of the row's kind, then its own. */
static const struct spec *with_row(const struct finding *f, uint32_t before,
                                   const struct override_spec *kind, const struct override_spec *o)
{
    if (!kind)
        return cubes_override(f->cubes->kinds[before], o);
    return cubes_override(cubes_override(f->cubes->kinds[before], kind), o);
}

/* Drops the kinds that no cube has. */
static void drop_unused(struct cubes *cubes)
{
    bool used[2 * KINDS_BETWEEN] = {false};
    uint16_t to[2 * KINDS_BETWEEN] = {0};
    uint32_t n = 0;

    for (uint32_t i = 0; i < cubes->n; i++)
        if (cubes->there[i])
            used[cubes->kind[i]] = true;
    for (uint32_t k = 0; k < cubes->n_kinds; k++)
        if (used[k]) {
            cubes->kinds[n] = cubes->kinds[k];
            to[k] = (uint16_t)n++;
        }
    for (uint32_t i = 0; i < cubes->n; i++)
        cubes->kind[i] = to[cubes->kind[i]];
    cubes->n_kinds = n;
}

/* Gives the cubes of one override its keys. False: more kinds than there is room for. */
static bool apply(struct finding *f, const struct override_spec *o)
{
    struct cubes *cubes = f->cubes;
    uint16_t to[KINDS_BETWEEN]; /* [kind before] */
    uint32_t n_before = cubes->n_kinds, n = 0;
    const struct override_spec *named = o->kind.text ? named_kind(f, &o->kind) : NULL;
    struct pattern p;

    if (o->kind.text && !named)
        return true;
    if (!pattern_of_text(o->text, strlen(o->text), f->spec->arena, &p) || p.of_pes ||
        p.of_switches) {
        mistake(f, o->at, "cubes", o->text, "is no cube: c3, c[4-7], s1.c0 or s*.c*");
        return true;
    }
    memset(to, 0xff, sizeof to);
    for (uint32_t i = 0; i < cubes->n; i++) {
        uint16_t kind = cubes->kind[i];

        if (!pattern_has_cube(&p, &f->room, i))
            continue;
        n++;
        if (to[kind] == UINT16_MAX)
            to[kind] = kind_number(cubes, with_row(f, kind, named, o));
        cubes->kind[i] = to[kind];
    }
    if (n == 0)
        mistake(f, o->at, "cubes", o->text, "matches no cube");
    if (cubes->n_kinds > n_before)
        drop_unused(cubes);
    return cubes->n_kinds <= KINDS_BETWEEN;
}

void cubes_warn(const struct spec *spec)
{
    for (size_t i = 0; i < spec->kinds.n; i++) {
        const struct override_spec *kind = &spec->kinds.rows[i];
        bool used = false;

        for (size_t k = 0; k < spec->cubes.n; k++)
            used |= spec->cubes.rows[k].kind.text &&
                    strcmp(spec->cubes.rows[k].kind.text, kind->text) == 0;
        if (!used)
            diag_warning(spec->diag, kind->at, "no cube is of kind '%s'", kind->text);
    }
}

/* -- ports of a net --------------------------------------------------------------------------- */

static bool is_io_cube(const struct net *net, uint32_t cube)
{
    for (uint32_t i = 0; i < net->n_io && !net_is_switch(net, cube); i++)
        if (net->io_cubes[i] == cube % net->n_cubes)
            return true;
    return false;
}

/* Have two cubes the same row of ports, as far as tables depend on them? */
static bool same_ports(const struct kind_ports *a, const struct kind_ports *b)
{
    if (a->io != b->io || a->of->n != b->of->n)
        return false;
    for (uint32_t i = 0; i < a->of->n; i++)
        if (a->of->ports[i].link->name != b->of->ports[i].link->name ||
            a->of->ports[i].side != b->of->ports[i].side)
            return false;
    return true;
}

/* Cubes with other ports become kinds of their own. False: too many. */
static bool part_by_ports(struct cubes *cubes, struct arena *a)
{
    const struct net *net = cubes->net;
    const struct spec **kinds = arena_alloc(a, (KINDS_MAX + 1) * sizeof *kinds);
    uint16_t *old = arena_alloc(a, (KINDS_MAX + 1) * sizeof *old);
    uint32_t n = 0;

    cubes->ports = arena_alloc(a, (KINDS_MAX + 1) * sizeof *cubes->ports);
    for (uint32_t i = 0; i < cubes->n; i++) {
        struct kind_ports own = {net_cube(net, i), is_io_cube(net, i)};
        uint32_t k = 0;

        if (!cubes->there[i])
            continue;
        while (k < n && (old[k] != cubes->kind[i] || !same_ports(&cubes->ports[k], &own)))
            k++;
        if (k == n) {
            if (n == KINDS_MAX)
                return false;
            kinds[n] = cubes->kinds[cubes->kind[i]];
            old[n] = cubes->kind[i];
            cubes->ports[n++] = own;
        }
        cubes->kind[i] = (uint16_t)k;
    }
    cubes->kinds = kinds;
    cubes->n_kinds = n;
    return true;
}

/* The net, if the machine has one; false after messages. */
static bool find_net(struct finding *f)
{
    struct cubes *cubes = f->cubes;
    const struct spec *spec = f->spec;

    if (!net_is_meant(spec)) {
        cubes->ports = arena_alloc(spec->arena, cubes->n_kinds * sizeof *cubes->ports);
        return true;
    }
    cubes->net = arena_alloc(spec->arena, sizeof *cubes->net);
    if (!net_make(spec, cubes->net))
        return false;
    for (uint32_t i = 0; i < cubes->n; i++) {
        bool of_fabric = net_is_switch(cubes->net, i);

        if (cubes->there[i] && !net_cube(cubes->net, i)->n && (f->room.cubes > 1 || of_fabric))
            return diag_error(
                spec->diag, spec_place(spec, of_fabric ? KEY_fabric_net : KEY_sip_net),
                "'%s': %s has no link", of_fabric ? "fabric.net" : "sip.net",
                net_cube_text(cubes->net, spec->arena, cubes->net->rails ? i : i % f->room.cubes));
    }
    return part_by_ports(cubes, spec->arena) ||
           diag_error(spec->diag, spec_place(spec, KEY_sip_net),
                      "cubes of more than %d kinds; a kind is the keys of a cube, its missing PEs "
                      "and its ports",
                      KINDS_MAX);
}

/* -- what is missing -------------------------------------------------------------------------- */

/* Takes the PEs of a pattern away from one cube; how many it had. */
static uint32_t take_pes(struct cubes *cubes, uint32_t cube, const struct pattern *p)
{
    struct pe_set named = pattern_pes(p, pes_of(cubes, cube));

    for (size_t i = 0; i < CUBE_PES_MAX / 64; i++)
        cubes->pes[cube].words[i] &= ~named.words[i];
    return pe_set_count(&named);
}

static void take_away(struct finding *f, const struct text_spec *text)
{
    struct cubes *cubes = f->cubes;
    struct pattern p;
    uint32_t n = 0;

    if (!pattern_of_text(text->text, strlen(text->text), f->spec->arena, &p)) {
        mistake(f, text->at, "missing", text->text, no_pattern);
        return;
    }
    for (uint32_t i = 0; i < cubes->n; i++) {
        if (!pattern_has_cube(&p, &f->room, i))
            continue;
        if (p.of_pes) {
            n += take_pes(cubes, i, &p);
        } else {
            cubes->there[i] = false;
            n++;
        }
    }
    if (n == 0)
        mistake(f, text->at, "missing", text->text, p.of_pes ? "matches no PE" : "matches no cube");
}

/* -- the whole -------------------------------------------------------------------------------- */

struct cube_kind {
    uint64_t keys;
    struct pe_set pes;
};

static int by_kind(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct cube_kind));
}

/* Kinds of cubes: their keys and their missing PEs. */
static uint32_t count_kinds(const struct finding *f)
{
    const struct cubes *cubes = f->cubes;
    struct cube_kind *row = arena_alloc(f->spec->arena, cubes->n * sizeof *row);
    uint32_t n = 0, kinds = 0;

    for (uint32_t i = 0; i < cubes->n; i++)
        if (cubes->there[i])
            row[n++] = (struct cube_kind){cubes->kind[i], cubes->pes[i]};
    qsort(row, n, sizeof *row, by_kind);
    for (uint32_t i = 0; i < n; i++)
        kinds += i == 0 || by_kind(&row[i], &row[i - 1]) != 0;
    return kinds;
}

static void check_kinds(struct finding *f, bool too_many)
{
    uint32_t n = too_many ? KINDS_MAX + 1 : count_kinds(f);
    enum key blamed = f->spec->cubes.n ? KEY_cubes : KEY_missing;

    if (n > KINDS_MAX)
        f->ok = diag_error(f->spec->diag, spec_place(f->spec, blamed),
                           "cubes of more than %d kinds; a kind is the keys of a cube and its "
                           "missing PEs",
                           KINDS_MAX);
}

/* The keys of a switch between SIPs: those of `cube`, but nothing begins or ends there. */
static const struct spec *fabric_switch(const struct spec *spec)
{
    struct spec *kind = arena_alloc(spec->arena, sizeof *kind);

    *kind = *spec;
    kind->cube_pes = kind->cube_hbm_slices = 0;
    kind->cube_noc_overhead_ns = spec->fabric_overhead_ns;
    kind->cube_noc_bw_gbs = key_rows[KEY_cube_noc_bw_gbs].max;
    kind->cube_noc_model = NOC_BUS;
    kind->cube_transit = TRANSIT_ALL;
    return kind;
}

static void begin(struct finding *f)
{
    const struct spec *spec = f->spec;
    struct cubes *cubes = f->cubes;

    cubes->n = f->room.sips * f->room.cubes + f->room.switches;
    cubes->there = arena_alloc(spec->arena, cubes->n * sizeof *cubes->there);
    cubes->pes = arena_alloc(spec->arena, cubes->n * sizeof *cubes->pes);
    cubes->kind = arena_alloc(spec->arena, cubes->n * sizeof *cubes->kind);
    cubes->kinds = arena_alloc(spec->arena, 2 * KINDS_BETWEEN * sizeof *cubes->kinds);
    cubes->kinds[0] = spec;
    cubes->n_kinds = 1;
    memset(cubes->there, true, cubes->n);
    if (f->room.switches)
        cubes->kinds[cubes->n_kinds++] = fabric_switch(spec);
    for (uint32_t i = f->room.sips * f->room.cubes; i < cubes->n; i++)
        cubes->kind[i] = 1;
}

static bool all_alike(const struct cubes *cubes)
{
    for (uint32_t i = 0; i < cubes->n; i++)
        if (!cubes->there[i] || cubes->kind[i] != cubes->kind[0] ||
            memcmp(&cubes->pes[i], &cubes->pes[0], sizeof *cubes->pes) != 0)
            return false;
    return pe_set_count(&cubes->pes[0]) == pes_of(cubes, 0);
}

bool find_cubes(const struct spec *spec, struct cubes *out)
{
    struct finding f = {
        spec, out, {(uint32_t)spec->sips, net_cubes(spec), net_switches(spec)}, true};
    bool fits = true;

    *out = (struct cubes){0};
    begin(&f);
    for (size_t i = 0; i < spec->cubes.n && fits; i++)
        fits = apply(&f, &spec->cubes.rows[i]);
    for (uint32_t i = 0; i < out->n; i++)
        out->pes[i] = pe_set_of_first(pes_of(out, i));
    for (size_t i = 0; i < spec->missing.n; i++)
        take_away(&f, &spec->missing.rows[i]);
    for (uint32_t i = 0; i < out->n; i++)
        if (!out->there[i])
            out->pes[i] = pe_set_of_first(0);
    drop_unused(out);
    if (out->n_kinds == 0)
        return diag_error(spec->diag, spec_place(spec, KEY_missing), "'missing' leaves no cube");
    check_kinds(&f, !fits);
    if (!f.ok || !find_net(&f))
        return false;
    out->whole = !memchr(out->there, 0, out->n);
    out->alike = all_alike(out);
    return f.ok;
}
