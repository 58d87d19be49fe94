/* check.c -- mistakes that no key shows alone: missing keys, keys that do not fit together. */
#include "check.h"
#include "check_router.h"
#include "cubes.h"
#include "net.h"
#include "noc.h"
#include "machine/tables.h"
#include "value.h"

enum { CUBES_MAX = 16384, NODES_MAX = 1 << 24, GRANULE_MIN = 64, PACKET_MIN = 64, ACCESS_MIN = 16 };

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
        if (key_rows[first].needed && first != k && !check_is_given(spec, first))
            return; /* reported when `first` was checked */
        depth = d;
    }
    diag_error(spec->diag, spec_place(spec, k), "missing key '%.*s'", (int)key_prefix(k, depth),
               key_rows[k].path);
}

static void check_needed(const struct spec *spec)
{
    for (enum key k = 0; k < N_KEYS; k++)
        if (key_rows[k].needed && !check_is_given(spec, k) && !check_is_bad(spec, k) &&
            !(key_shares(KEY_sip_cube_mesh_w, k, 2) &&
              (net_of_sips(spec) || (spec->sip_cubes && check_is_given(spec, KEY_sip_net)))))
            missing(spec, k);
}

int64_t slices_of(const struct spec *spec)
{
    bool as_pes = spec->cube_hbm_slices == SLICES_AS_PES ||
                  (spec->cube_hbm_slices == 0 && spec->kernbench < VERSION_OF_KINDS);

    return as_pes ? spec->cube_pes : spec->cube_hbm_slices;
}

bool is_switch(const struct spec *spec)
{
    return spec->cube_pes == 0 && slices_of(spec) == 0;
}

int64_t crossbars_of(const struct spec *spec)
{
    return spec->cube_pes ? spec->cube_pes : slices_of(spec);
}

/* A cube has as many slices as PEs, unless it says how many. */
static void check_slices(const struct spec *spec)
{
    const enum key keys[] = {KEY_cube_hbm_slices, KEY_cube_pes};
    enum key blamed = culprit(spec, keys, 2);

    if (blamed != N_KEYS && is_switch(spec) && spec->kernbench >= VERSION_OF_KINDS &&
        !net_is_meant(spec))
        diag_error(spec->diag, spec_place(spec, blamed),
                   "a cube without PEs and slices is a switch, which needs 'sip.net'");
    if (blamed != N_KEYS && is_switch(spec) && spec->kernbench < VERSION_OF_KINDS)
        diag_error(spec->diag, spec_place(spec, blamed),
                   "a cube without PEs needs 'cube.hbm.slices', 1 to 64 of them");
}

/* Before version 3 a cube has 64 PEs and slices at most, and 64 GiB. */
static void check_counts(const struct spec *spec)
{
    enum { MOST = 64 };
    const enum key keys[] = {KEY_cube_pes, KEY_cube_hbm_slices, KEY_cube_hbm_size_gb};

    for (size_t i = 0; i < 3 && spec->kernbench < VERSION_OF_KINDS; i++)
        if (!check_is_bad(spec, keys[i]) && *(const int64_t *)spec_value(spec, keys[i]) > MOST)
            diag_error(spec->diag, spec_place(spec, keys[i]), "'%s' must be %d..%d, not '%s'",
                       key_rows[keys[i]].path, (int)key_rows[keys[i]].min, MOST,
                       value_text(spec, keys[i]));
}

/* One of its two keys says how large an SRAM is. The resolved YAML has both, one at its default. */
static void check_sram(const struct spec *spec)
{
    const enum key keys[] = {KEY_cube_sram_size_kb, KEY_cube_sram_size_mb};
    bool mb_is_meant = check_is_given(spec, KEY_cube_sram_size_mb) &&
                       (!spec_is_default(spec, KEY_cube_sram_size_mb) ||
                        spec_place(spec, KEY_cube_sram_size_mb).kind == PLACE_SET);
    enum key blamed = culprit(spec, keys, 2);

    if (blamed != N_KEYS && spec->cube_sram_size_kb && mb_is_meant)
        diag_error(spec->diag, spec_place(spec, blamed),
                   "'cube.sram.size_kb' cannot stand beside 'cube.sram.size_mb'");
}

/* Routes that pass no cube of a kind are those of a net. */
static void check_transit(const struct spec *spec)
{
    if (spec->cube_transit == TRANSIT_NONE && !net_is_meant(spec))
        diag_error(spec->diag, spec_place(spec, KEY_cube_transit),
                   "'cube.transit: none' needs 'sip.net'");
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

    if (net_of_sips(spec))
        return spec->sip_net.n && spec->sip_cubes && !check_is_bad(spec, KEY_sip_cubes);
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
        ALWAYS = 2,   /* m_cpu, sram */
        OF_PLANE = 4, /* four ucie */
        OF_PE = 7,    /* the nodes of the PE itself */
        BRIDGES = 2,  /* between two halves */
    };
    int64_t planes = spec->sip_planes.n ? (int64_t)spec->sip_planes.n : 1;

    int64_t routers = 1;

    if (spec->cube_noc_model == NOC_MESH)
        routers = spec->cube_noc_mesh_cols * spec->cube_noc_mesh_rows -
                  (int64_t)spec->cube_noc_mesh_holes.n;
    if (net_is_meant(spec))
        return (is_switch(spec) ? 0 : ALWAYS) + routers + crossbars_of(spec) +
               (crossbars_of(spec) >= 2 ? BRIDGES : 0) + slices_of(spec) + OF_PE * spec->cube_pes;
    return ALWAYS + (routers + OF_PLANE) * planes + crossbars_of(spec) +
           (crossbars_of(spec) >= 2 ? BRIDGES : 0) + slices_of(spec) + OF_PE * spec->cube_pes;
}

int64_t count_nodes(const struct spec *spec)
{
    enum {
        IO = 3,     /* pcie_ep, io_noc, io_cpu */
        SWITCH = 1, /* between SIPs */
    };
    int64_t cubes = net_cubes(spec),
            chiplets = spec->sip_io_chiplets.n ? (int64_t)spec->sip_io_chiplets.n : 1;

    return spec->sips * (cubes * count_cube_nodes(spec) + IO * chiplets) +
           (spec->sips > 1 && spec->fabric_shape == FABRIC_SWITCH ? SWITCH : 0) +
           net_switches(spec) * count_cube_nodes(spec);
}

/* Nodes of all cubes that are there, of the IO chiplets and the switch; NULL: all cubes are alike.
 */
static int64_t count_all(const struct spec *spec, const struct cubes *cubes)
{
    int64_t n = count_nodes(spec);

    if (cubes)
        for (uint32_t i = 0; i < cubes->n; i++) {
            const struct spec *kind = cubes->kinds[cubes->kind[i]];
            int64_t missing = kind->cube_pes - pe_set_count(&cubes->pes[i]);

            n += (cubes->there[i] ? count_cube_nodes(kind) - PE_NODES * missing : 0) -
                 count_cube_nodes(spec);
        }
    return n;
}

static void check_nodes(const struct spec *spec, const struct cubes *cubes)
{
    const enum key keys[] = {KEY_sips, KEY_sip_cube_mesh_w, KEY_sip_cube_mesh_h, KEY_cube_pes};
    enum key blamed = culprit(spec, keys, 4);

    if (blamed != N_KEYS && count_all(spec, cubes) > NODES_MAX)
        diag_error(spec->diag, spec_place(spec, blamed),
                   "the topology has %lld nodes, more than %d", (long long)count_all(spec, cubes),
                   NODES_MAX);
}

/* A grid has a place for each SIP; without one there is nothing that could wrap. */
static void check_grid(const struct spec *spec)
{
    const enum key keys[] = {KEY_fabric_grid_w, KEY_fabric_grid_h, KEY_sips};
    enum key blamed = culprit(spec, keys, 3);
    int64_t places = spec->fabric_grid_w * spec->fabric_grid_h;
    const struct {
        enum key key;
        bool of_grid;
    } shaped[] = {{KEY_fabric_grid_w, spec->fabric_grid_w != 1},
                  {KEY_fabric_grid_h, spec->fabric_grid_h != 1},
                  {KEY_fabric_wrap, spec->fabric_wrap != WRAP_NONE},
                  {KEY_fabric_tie, spec->fabric_tie != TIE_LOW}};

    if (check_is_bad(spec, KEY_fabric_shape))
        return;
    for (size_t i = 0; i < 4 && spec->fabric_shape == FABRIC_SWITCH; i++)
        if (check_is_given(spec, shaped[i].key) && !check_is_bad(spec, shaped[i].key) &&
            shaped[i].of_grid) {
            diag_error(spec->diag, spec_place(spec, shaped[i].key),
                       "'%s' needs 'fabric.shape: grid'", key_rows[shaped[i].key].path);
            return;
        }
    if (blamed != N_KEYS && spec->fabric_shape == FABRIC_GRID && places != spec->sips)
        diag_error(spec->diag, spec_place(spec, blamed),
                   "'fabric.grid' has %lld places for %lld SIPs: w * h must be 'sips'",
                   (long long)places, (long long)spec->sips);
}

bool check_is_power_of_two(int64_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

/* False after a message, or if the granule has one: what depends on it is not checked then. */
static bool check_granule(const struct spec *spec)
{
    int64_t granule = spec->addressing_granule;

    if (check_is_bad(spec, KEY_addressing_granule))
        return false;
    if (granule == 0 || (granule >= GRANULE_MIN && check_is_power_of_two(granule)))
        return true;
    return diag_error(spec->diag, spec_place(spec, KEY_addressing_granule),
                      "'addressing.granule' must be 0 or a power of two from %d, not '%lld'",
                      GRANULE_MIN, (long long)granule);
}

/* A key that interleaving gives a meaning, which has another value than its default. */
static void check_has_granule(const struct spec *spec, enum key k)
{
    if (!check_is_bad(spec, k) && *(const int *)spec_value(spec, k) != 0)
        diag_error(spec->diag, spec_place(spec, k),
                   "'%s: %s' needs an 'addressing.granule': without one slices are contiguous",
                   key_rows[k].path, value_text(spec, k));
}

static void check_blocks(const struct spec *spec)
{
    const enum key sizes[] = {KEY_addressing_granule, KEY_cube_hbm_size_gb, KEY_cube_pes};
    const enum key hashed[] = {KEY_addressing_hash, KEY_cube_pes};
    enum key size = culprit(spec, sizes, 3), hash = culprit(spec, hashed, 2);
    int64_t n = slices_of(spec), slice = n ? (spec->cube_hbm_size_gb << 30) / n : 0;

    if (n && size != N_KEYS && slice < spec->addressing_granule)
        diag_error(spec->diag, spec_place(spec, size),
                   "'addressing.granule' %lld is larger than a slice, which has %lld bytes",
                   (long long)spec->addressing_granule, (long long)slice);
    if (hash != N_KEYS && spec->addressing_hash == HASH_XOR && n && !check_is_power_of_two(n))
        diag_error(spec->diag, spec_place(spec, hash),
                   "'addressing.hash: xor' needs a power of two of slices in a cube, not %lld",
                   (long long)n);
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

static void check_interleaved(const struct spec *spec)
{
    if (spec->addressing_granule == 0)
        return;
    check_blocks(spec);
    check_queues(spec);
}

/* Addresses that go round the cubes of a SIP need cubes that are alike in this. */
static void check_equal_slices(const struct spec *spec, const struct cubes *cubes)
{
    const struct spec *first = NULL;

    if (spec->addressing_granule == 0 || spec->addressing_over != OVER_SIP)
        return;
    for (uint32_t kind = 0; kind < cubes->n_kinds; kind++) {
        const struct spec *own = cubes->kinds[kind];

        if (slices_of(own) == 0)
            continue;
        first = first ? first : own;
        if (slices_of(own) != slices_of(first) ||
            own->cube_hbm_size_gb != first->cube_hbm_size_gb) {
            diag_error(spec->diag, spec_place(spec, KEY_addressing_over),
                       "'addressing.over: sip' needs equal slices and 'cube.hbm.size_gb' in all "
                       "cubes that have slices");
            return;
        }
    }
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
    check_interleaved(spec);
}

/* Lengths of wires are read off their delays. */
static void check_energy(const struct spec *spec)
{
    const enum key k = KEY_energy_noc_pj_bit_mm;

    if (!check_is_bad(spec, k) && spec->energy_noc_pj_bit_mm > 0 &&
        !check_is_bad(spec, KEY_ns_per_mm) && spec->ns_per_mm == 0)
        diag_error(spec->diag, spec_place(spec, k),
                   "'%s' needs a 'ns_per_mm' above 0: mm of wires are read off their delays",
                   key_rows[k].path);
}

static void check_packets(const struct spec *spec)
{
    const enum key k = KEY_cube_pe_pe_dma_packet_bytes;
    int64_t packet = spec->cube_pe_pe_dma_packet_bytes;

    if (!check_is_bad(spec, k) && packet > 0 && packet < PACKET_MIN)
        diag_error(spec->diag, spec_place(spec, k), "'%s' must be 0 or %d..%.0f, not '%lld'",
                   key_rows[k].path, PACKET_MIN, key_rows[k].max, (long long)packet);
}

/* A slice without banks moves whole blocks; with banks its blocks are bursts. */
static void check_access(const struct spec *spec)
{
    const enum key k = KEY_cube_hbm_access_bytes;
    int64_t access = spec->cube_hbm_access_bytes;

    if (check_is_bad(spec, k) || access == 0)
        return;
    if (access < ACCESS_MIN || !check_is_power_of_two(access))
        diag_error(spec->diag, spec_place(spec, k),
                   "'%s' must be 0 or a power of two %d..%.0f, not '%lld'", key_rows[k].path,
                   ACCESS_MIN, key_rows[k].max, (long long)access);
    else if (spec->cube_hbm_model != MEMORY_SERVER)
        diag_error(spec->diag, spec_place(spec, k),
                   "'%s' is of memories without banks: with 'model: banks' a memory moves bursts, "
                   "'cube.hbm.burst_bytes'",
                   key_rows[k].path);
}

/* What holds a memory twice as long must be its own to hold. */
static void check_atomic(const struct spec *spec)
{
    static const enum key others[] = {KEY_cube_hbm_model, KEY_cube_hbm_impl, KEY_cube_sram_impl,
                                      KEY_cube_hbm_cache_size_mb};
    const bool there[] = {spec->cube_hbm_model != MEMORY_SERVER, spec->cube_hbm_impl.name,
                          spec->cube_sram_impl.name, spec->cube_hbm_cache_size_mb > 0};
    const enum key k = KEY_cube_hbm_atomic;

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (spec->cube_hbm_atomic == ATOMIC_READ_WRITE && there[i] && !check_is_bad(spec, k) &&
            !check_is_bad(spec, others[i]))
            diag_error(spec->diag, spec_place(spec, k),
                       "'%s: read_write' is of memories that keep order by themselves, leave out "
                       "'%s'",
                       key_rows[k].path, key_rows[others[i]].path);
}

/* Keys of one cube that do not fit together. */
static void check_cube(const struct spec *spec)
{
    check_sram(spec);
    check_counts(spec);
    check_slices(spec);
    check_transit(spec);
    check_packets(spec);
    check_access(spec);
    check_atomic(spec);
    check_position(spec, KEY_cube_m_cpu_pos_mm);
    check_position(spec, KEY_cube_sram_pos_mm);
    check_banks(spec);
    check_cache(spec);
    check_l2(spec);
    check_memory_queue(spec);
    check_memory_allocation(spec);
    noc_check(spec);
}

/* Links end at a router of a mesh, which a side says; at a switch between SIPs in its middle. */
static void check_net_mesh(const struct spec *spec, const struct cubes *cubes)
{
    for (uint32_t kind = 0; cubes->net && kind < cubes->n_kinds; kind++)
        for (uint32_t i = 0; i < cubes->ports[kind].of->n; i++) {
            const struct net_port *port = &cubes->ports[kind].of->ports[i];

            if (cubes->kinds[kind]->cube_noc_model != NOC_MESH || port->side != N_SIDES)
                continue;
            diag_error(spec->diag, spec_place(spec, port->of_sips ? KEY_fabric_net : KEY_sip_net),
                       "'%s': with 'cube.noc.model: mesh' each link needs a side, c0.E, and port%u "
                       "has none",
                       port->of_sips ? "fabric.net" : "sip.net", i);
            return;
        }
}

/* Those that some cubes have for themselves, and what is missing. */
static void check_cubes(const struct spec *spec)
{
    struct cubes cubes = {0};

    if (!spec->missing.n && !spec->cubes.n && !spec->kinds.n && !net_is_meant(spec)) {
        check_nodes(spec, NULL);
        return;
    }
    if (diag_count(spec->diag) || !find_cubes(spec, &cubes))
        return;
    cubes_warn(spec);
    for (uint32_t kind = 0; kind < cubes.n_kinds; kind++)
        if (cubes.kinds[kind] != spec) {
            check_cube(cubes.kinds[kind]);
            check_interleaved(cubes.kinds[kind]);
        }
    check_equal_slices(spec, &cubes);
    check_net_mesh(spec, &cubes);
    if (diag_count(spec->diag) == 0)
        check_nodes(spec, &cubes);
}

bool check_spec(const struct spec *spec)
{
    const struct given *root = &spec->given[0][0];

    if (root->at.kind != PLACE_NONE && !root->bad) {
        check_needed(spec);
        net_check(spec);
        check_cube(spec);
        if (spec->cubes.n == 0)
            check_no_banks(spec);
        check_grid(spec);
        check_router(spec);
        check_addressing(spec);
        check_energy(spec);
        if (check_mesh(spec))
            check_cubes(spec);
    }
    return diag_count(spec->diag) == 0;
}
