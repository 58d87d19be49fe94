/* net_check.c -- the keys that do not go together with a net of a SIP, or with one between SIPs. */
#include "check.h"
#include "net.h"
#include "machine/tables.h"
#include <string.h>

bool net_of_sips(const struct spec *spec)
{
    return spec->sip_net.n || check_is_bad(spec, KEY_sip_net);
}

bool net_is_meant(const struct spec *spec)
{
    return net_of_sips(spec) || spec->fabric_net.n || check_is_bad(spec, KEY_fabric_net);
}

static void check_version(const struct spec *spec)
{
    const struct {
        enum key key;
        bool used;
    } of_version[] = {
        {KEY_links, spec->links.n},           {KEY_kinds, spec->kinds.n},
        {KEY_sip_net, spec->sip_net.n},       {KEY_sip_cubes, spec->sip_cubes},
        {KEY_fabric_net, spec->fabric_net.n}, {KEY_fabric_switches, spec->fabric_switches}};

    for (size_t i = 0; i < sizeof of_version / sizeof *of_version; i++)
        if (of_version[i].used && spec->kernbench < 3)
            diag_error(spec->diag, spec_place(spec, of_version[i].key),
                       "'%s' is of version 3 of the keys, this file says %lld",
                       key_rows[of_version[i].key].path, (long long)spec->kernbench);
}

/* Keys that mean nothing beside 'fabric.net', and those beside any net. */
static const enum key not_beside_rails[] = {
    KEY_fabric_grid_w, KEY_fabric_grid_h,      KEY_fabric_wrap,  KEY_fabric_tie,
    KEY_fabric_impl,   KEY_fabric_distance_mm, KEY_fabric_bw_gbs};
static const enum key not_beside_nets[] = {KEY_sip_planes, KEY_sip_plane, KEY_sip_io_chiplets};

enum {
    N_RAILS = sizeof not_beside_rails / sizeof *not_beside_rails,
    N_NETS = sizeof not_beside_nets / sizeof *not_beside_nets
};

static bool is_one_of(enum key k, const enum key *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (keys[i] == k)
            return true;
    return false;
}

bool net_excludes(const struct spec *spec, enum key k)
{
    bool rails = spec->fabric_shape == FABRIC_NET && spec->fabric_net.n;

    if (rails && is_one_of(k, not_beside_rails, N_RAILS))
        return true;
    if (net_of_sips(spec) && key_shares(KEY_sip_cube_mesh_w, k, 2))
        return true;
    return (rails || net_of_sips(spec)) && is_one_of(k, not_beside_nets, N_NETS);
}

/* `k` is given, and says another thing than its default, beside `net`. */
static void refuse_beside(const struct spec *spec, enum key k, const char *net)
{
    if (check_is_given(spec, k) && !spec_is_default(spec, k))
        diag_error(spec->diag, spec_place(spec, k), "'%s' cannot stand beside '%s'",
                   key_rows[k].path, net);
}

/* Keys that mean nothing without a net. */
static void check_without(const struct spec *spec)
{
    if (spec->sip_cubes && check_is_given(spec, KEY_sip_net))
        diag_error(spec->diag, spec_place(spec, KEY_sip_net),
                   "'sip.net' is empty, but 'sip.cubes' needs its links");
    else if (spec->sip_cubes)
        diag_error(spec->diag, spec_place(spec, KEY_sip_cubes), "'sip.cubes' needs 'sip.net'");
    if (spec->sip_io_cubes.n)
        diag_error(spec->diag, spec_place(spec, KEY_sip_io_cubes),
                   "'sip.io_cubes' needs 'sip.net'");
    if (spec->sip_paths > 1 && !net_is_meant(spec))
        diag_error(spec->diag, spec_place(spec, KEY_sip_paths), "'sip.paths' needs 'sip.net'");
}

/* What stands beside 'fabric.net', and what it needs. */
static void check_rails(const struct spec *spec)
{
    bool one_cube = spec->sip_cube_mesh_w == 1 && spec->sip_cube_mesh_h == 1;

    if (check_is_bad(spec, KEY_fabric_shape) || check_is_bad(spec, KEY_fabric_net))
        return;
    if (spec->fabric_shape != FABRIC_NET) {
        if (spec->fabric_net.n || spec->fabric_switches)
            diag_error(spec->diag,
                       spec_place(spec, spec->fabric_net.n ? KEY_fabric_net : KEY_fabric_switches),
                       "'%s' needs 'fabric.shape: net'",
                       spec->fabric_net.n ? "fabric.net" : "fabric.switches");
        return;
    }
    if (!spec->fabric_net.n) {
        diag_error(spec->diag, spec_place(spec, KEY_fabric_shape),
                   "'fabric.shape: net' needs 'fabric.net', the links between SIPs");
        return;
    }
    if (!net_of_sips(spec) && !one_cube)
        diag_error(spec->diag, spec_place(spec, KEY_fabric_net),
                   "'fabric.net' needs 'sip.net', or SIPs of one cube");
    for (size_t i = 0; i < N_RAILS; i++)
        refuse_beside(spec, not_beside_rails[i], "fabric.net");
    for (size_t i = 0; i < N_NETS && !net_of_sips(spec); i++)
        refuse_beside(spec, not_beside_nets[i], "fabric.net");
    if (spec->sip_routes_impl.name)
        diag_error(spec->diag, spec_place(spec, KEY_sip_routes_impl),
                   "'sip.routes' cannot stand beside 'fabric.net'");
}

static bool is_link(const struct spec *spec, const char *name)
{
    size_t i = 0;

    while (i < spec->links.n && strcmp(spec->links.rows[i].name, name) != 0)
        i++;
    return i < spec->links.n || strcmp(name, "d2d") == 0;
}

/* Which links hop classes count: on the one way that a pair has, between cubes of one graph. */
static void check_hop_links(const struct spec *spec)
{
    const struct text_specs *kinds = &spec->contention_hop_links;

    if (!kinds->n)
        return;
    for (size_t i = 0; i < kinds->n; i++)
        if (!is_link(spec, kinds->rows[i].text))
            diag_error(spec->diag, kinds->rows[i].at,
                       "'contention.hop_links' has '%s', which is none of 'links'",
                       kinds->rows[i].text);
    if (!net_is_meant(spec))
        diag_error(spec->diag, spec_place(spec, KEY_contention_hop_links),
                   "'contention.hop_links' needs 'sip.net'");
    if (spec->sip_paths > 1)
        diag_error(spec->diag, spec_place(spec, KEY_contention_hop_links),
                   "'contention.hop_links' cannot stand beside 'sip.paths': ways of a pair would "
                   "need other numbers of virtual channels");
    if (spec->sips > 1 && spec->fabric_shape != FABRIC_NET)
        diag_error(spec->diag, spec_place(spec, KEY_contention_hop_links),
                   "'contention.hop_links' wants one SIP, or 'fabric.net' between several");
}

void net_check(const struct spec *spec)
{
    check_version(spec);
    check_hop_links(spec);
    check_rails(spec);
    if (spec->sip_paths > 1 && spec->sip_routes_impl.name && net_is_meant(spec))
        diag_error(spec->diag, spec_place(spec, KEY_sip_paths),
                   "'sip.paths' cannot stand beside 'sip.routes': a table gives one way");
    if (!net_of_sips(spec)) {
        check_without(spec);
        return;
    }
    if (!spec->sip_cubes && !check_is_bad(spec, KEY_sip_cubes))
        diag_error(spec->diag, spec_place(spec, KEY_sip_net),
                   "'sip.net' needs 'sip.cubes', the number of cubes");
    for (enum key k = KEY_sip_cube_mesh_w; key_shares(KEY_sip_cube_mesh_w, k, 2); k++)
        refuse_beside(spec, k, "sip.net");
    for (size_t i = 0; i < N_NETS; i++)
        refuse_beside(spec, not_beside_nets[i], "sip.net");
}
