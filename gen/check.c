/* check.c -- mistakes that no key shows alone: missing keys, keys that do not fit together. */
#include "check.h"
#include "machine/tables.h"
#include "value.h"

enum { CUBES_MAX = 16384, NODES_MAX = 1 << 24, GRANULE_MIN = 64 };

static bool is_given(const struct spec *spec, enum key k)
{
    return spec->given[k][key_depth(k)].at.kind != PLACE_NONE;
}

static bool is_bad(const struct spec *spec, enum key k)
{
    return spec->given[k][key_depth(k)].bad;
}

/* The key that is blamed for a mistake of several; N_KEYS if one of them already has a message. */
static enum key culprit(const struct spec *spec, const enum key keys[], size_t n_keys)
{
    enum key worst = keys[0];

    for (size_t i = 0; i < n_keys; i++) {
        if (is_bad(spec, keys[i]))
            return N_KEYS;
        if (spec_place(spec, keys[i]).kind == PLACE_SET &&
            spec_place(spec, worst).kind != PLACE_SET)
            worst = keys[i];
        else if (is_given(spec, keys[i]) && !is_given(spec, worst))
            worst = keys[i];
    }
    return worst;
}

/* Say which key is missing: the outermost mapping that is not there, or the key itself. */
static void missing(const struct spec *spec, enum key k)
{
    int depth = key_depth(k);

    for (int d = 1; d < depth; d++) {
        enum key first = key_first(k, d);

        if (spec->given[first][d].bad)
            return;
        if (spec->given[first][d].key.kind != PLACE_NONE)
            continue;
        if (key_rows[first].needed && first != k && !is_given(spec, first))
            return; /* reported when `first` was checked */
        depth = d;
    }
    diag_error(spec->diag, spec_place(spec, k), "missing key '%.*s'", (int)key_prefix(k, depth),
               key_rows[k].path);
}

static void check_needed(const struct spec *spec)
{
    for (enum key k = 0; k < N_KEYS; k++)
        if (key_rows[k].needed && !is_given(spec, k) && !is_bad(spec, k))
            missing(spec, k);
}

static void check_pes(const struct spec *spec)
{
    if (!is_bad(spec, KEY_cube_pes) && spec->cube_pes > 1 && spec->cube_pes % 2)
        diag_error(spec->diag, spec_place(spec, KEY_cube_pes),
                   "'cube.pes' must be 1 or an even number, not '%lld'", (long long)spec->cube_pes);
}

static void check_position(const struct spec *spec, enum key pos_key)
{
    const enum key keys[] = {pos_key, KEY_cube_size_mm};
    enum key blamed = culprit(spec, keys, 2);
    const double *pos = spec_value(spec, pos_key);

    if (blamed == N_KEYS || (pos[0] <= spec->cube_size_mm[0] && pos[1] <= spec->cube_size_mm[1]))
        return;
    diag_error(spec->diag, spec_place(spec, blamed), "'%s' %s lies outside 'cube.size_mm' %s",
               key_rows[pos_key].path, value_text(spec, pos_key),
               value_text(spec, KEY_cube_size_mm));
}

/* False after a message: the nodes need not be counted then. */
static bool check_mesh(const struct spec *spec)
{
    const enum key keys[] = {KEY_sip_cube_mesh_w, KEY_sip_cube_mesh_h};
    enum key blamed = culprit(spec, keys, 2);
    int64_t cubes = spec->sip_cube_mesh_w * spec->sip_cube_mesh_h;

    if (blamed == N_KEYS)
        return false;
    if (cubes <= CUBES_MAX)
        return true;
    return diag_error(spec->diag, spec_place(spec, blamed),
                      "'sip.cube_mesh' has %lld cubes, more than %d", (long long)cubes, CUBES_MAX);
}

int64_t count_cube_nodes(const struct spec *spec)
{
    enum {
        ALWAYS = 7,  /* noc, m_cpu, sram, four ucie */
        OF_PE = 9,   /* its crossbar, its slice, and the seven nodes of the PE itself */
        BRIDGES = 2, /* between two halves */
    };

    return ALWAYS + OF_PE * spec->cube_pes + (spec->cube_pes >= 2 ? BRIDGES : 0);
}

int64_t count_nodes(const struct spec *spec)
{
    enum {
        IO = 3,     /* pcie_ep, io_noc, io_cpu */
        SWITCH = 1, /* between SIPs */
    };
    int64_t cubes = spec->sip_cube_mesh_w * spec->sip_cube_mesh_h;

    return spec->sips * (cubes * count_cube_nodes(spec) + IO) + (spec->sips > 1 ? SWITCH : 0);
}

static void check_nodes(const struct spec *spec)
{
    const enum key keys[] = {KEY_sips, KEY_sip_cube_mesh_w, KEY_sip_cube_mesh_h, KEY_cube_pes};
    enum key blamed = culprit(spec, keys, 4);

    if (blamed != N_KEYS && count_nodes(spec) > NODES_MAX)
        diag_error(spec->diag, spec_place(spec, blamed),
                   "the topology has %lld nodes, more than %d", (long long)count_nodes(spec),
                   NODES_MAX);
}

static bool is_power_of_two(int64_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

/* False after a message, or if the granule has one: what depends on it is not checked then. */
static bool check_granule(const struct spec *spec)
{
    int64_t granule = spec->addressing_granule;

    if (is_bad(spec, KEY_addressing_granule))
        return false;
    if (granule == 0 || (granule >= GRANULE_MIN && is_power_of_two(granule)))
        return true;
    return diag_error(spec->diag, spec_place(spec, KEY_addressing_granule),
                      "'addressing.granule' must be 0 or a power of two from %d, not '%lld'",
                      GRANULE_MIN, (long long)granule);
}

/* A key that interleaving gives a meaning, which has another value than its default. */
static void check_has_granule(const struct spec *spec, enum key k)
{
    if (!is_bad(spec, k) && *(const int *)spec_value(spec, k) != 0)
        diag_error(spec->diag, spec_place(spec, k),
                   "'%s: %s' needs an 'addressing.granule': without one slices are contiguous",
                   key_rows[k].path, value_text(spec, k));
}

static void check_slices(const struct spec *spec)
{
    const enum key sizes[] = {KEY_addressing_granule, KEY_cube_hbm_size_gb, KEY_cube_pes};
    const enum key hashed[] = {KEY_addressing_hash, KEY_cube_pes};
    enum key size = culprit(spec, sizes, 3), hash = culprit(spec, hashed, 2);
    int64_t slice = (spec->cube_hbm_size_gb << 30) / spec->cube_pes;

    if (size != N_KEYS && slice < spec->addressing_granule)
        diag_error(spec->diag, spec_place(spec, size),
                   "'addressing.granule' %lld is larger than a slice, which has %lld bytes",
                   (long long)spec->addressing_granule, (long long)slice);
    if (hash != N_KEYS && spec->addressing_hash == HASH_XOR && !is_power_of_two(spec->cube_pes))
        diag_error(spec->diag, spec_place(spec, hash),
                   "'addressing.hash: xor' needs a power of two of slices in a cube, not %lld",
                   (long long)spec->cube_pes);
}

static void check_queues(const struct spec *spec)
{
    const enum key keys[] = {KEY_cube_pe_pe_ipcq_space, KEY_addressing_granule};
    enum key blamed = culprit(spec, keys, 2);

    if (blamed != N_KEYS && spec->cube_pe_pe_ipcq_space == QUEUE_HBM)
        diag_error(spec->diag, spec_place(spec, blamed),
                   "'cube.pe.pe_ipcq.space: hbm' needs slices of their own, but "
                   "'addressing.granule' interleaves them: tcm or sram is possible");
}

static void check_addressing(const struct spec *spec)
{
    if (!check_granule(spec))
        return;
    if (spec->addressing_granule == 0) {
        check_has_granule(spec, KEY_addressing_over);
        check_has_granule(spec, KEY_addressing_hash);
        return;
    }
    check_slices(spec);
    check_queues(spec);
}

bool check(const struct spec *spec)
{
    const struct given *root = &spec->given[0][0];

    if (root->at.kind != PLACE_NONE && !root->bad) {
        check_needed(spec);
        check_pes(spec);
        check_position(spec, KEY_cube_m_cpu_pos_mm);
        check_position(spec, KEY_cube_sram_pos_mm);
        check_addressing(spec);
        if (check_mesh(spec))
            check_nodes(spec);
    }
    return diag_count(spec->diag) == 0;
}
