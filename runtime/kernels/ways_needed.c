/*
 * ways_needed.c -- the ways that kernels may take, and whether the machine has them all.
 *
 * A kernel reaches any memory and any PE, at any time, and what it reaches answers; the host
 * launches it and hears of its end. So each cube with PEs needs a way to each other cube that has
 * PEs or memories, and from it, and to host0. Two cubes that only have memories need none between
 * them, unless they are of two SIPs, where ways pass the IO chiplets: each cube needs those then.
 *
 * Example: memory dies c0, c1, and c2, c3 with PEs, links c0-c2, c0-c3, c1-c2 and c1-c3, and
 * nothing passes c2 and c3 (transit: none). From c0 to c1 leads no way, and no kernel asks for one.
 */
#include "kernels/ways_needed.h"
#include "machine/endpoint.h"
#include "machine/mesh.h"
#include "machine/pes.h"
#include <stdio.h>

enum { SIP_BYTES = 16, END_BYTES = 32 };

/* Launches, writes and messages take the first plane, reads the last; hashed commands take any. */
static bool plane_serves(const struct kb_topology *t, uint32_t plane)
{
    return plane == 0 || plane == t->planes - 1u || t->plane_choice == PLANE_BY_HASH;
}

/* "c3", "s1.c3"; NO_WHERE: "host", "s1.host". */
static void name_end(const struct kb_topology *t, uint32_t sip, uint32_t cube, char text[END_BYTES])
{
    char of_sip[SIP_BYTES] = "";

    if (sip > 0)
        snprintf(of_sip, sizeof of_sip, "s%u.", sip);
    if (cube == NO_WHERE)
        snprintf(text, END_BYTES, "%shost", of_sip);
    else
        snprintf(text, END_BYTES, "%sc%u", of_sip, cube % t->cubes);
}

static kb_status lacks(const struct kb_topology *t, uint32_t plane, uint32_t from, uint32_t to,
                       kb_error *why)
{
    uint32_t cube = from == NO_WHERE ? to : from; /* a host is of the same SIP */
    const char *name = t->plane_rows[plane].name;
    char from_text[END_BYTES], to_text[END_BYTES];

    name_end(t, cube / t->cubes, from, from_text);
    name_end(t, (to == NO_WHERE ? from : to) / t->cubes, to, to_text);
    return endpoint_error(why,
                          "kernels need ways from PEs to all PEs, memories and their host, and "
                          "back: there is none from %s to %s%s%s",
                          from_text, to_text, *name ? " on plane " : "", name);
}

/* Between `cube` and host0 of its SIP, there and back. */
static kb_status check_host(const struct kb_topology *t, uint32_t plane, uint32_t cube,
                            kb_error *why)
{
    if (mesh_shore(t, plane, 0, cube, false) == NO_WHERE)
        return lacks(t, plane, NO_WHERE, cube, why);
    if (mesh_shore(t, plane, 0, cube, true) == NO_WHERE)
        return lacks(t, plane, cube, NO_WHERE, why);
    return KB_OK;
}

/* Between `cube`, which has PEs, and all others, there and back. */
static kb_status check_cubes(const struct kb_topology *t, uint32_t plane, uint32_t cube,
                             kb_error *why)
{
    uint32_t first = t->rails ? 0 : cube / t->cubes * t->cubes;
    uint32_t end = t->rails ? sip_cubes(t) : first + t->cubes;

    for (uint32_t other = first; other < end; other++) {
        if (!mesh_has_cube(t, other) || cube_is_switch(t, other))
            continue;
        if (!mesh_has_way(t, plane, cube, other))
            return lacks(t, plane, cube, other, why);
        if (!mesh_has_way(t, plane, other, cube))
            return lacks(t, plane, other, cube, why);
    }
    return KB_OK;
}

static kb_status check_plane(const struct kb_topology *t, uint32_t plane, kb_error *why)
{
    bool by_hosts = t->sips > 1 && !t->rails;

    for (uint32_t cube = 0; cube < sip_cubes(t); cube++) {
        bool has_pes = mesh_has_cube(t, cube) && cube_pe_count(t, cube) > 0;
        bool is_end = mesh_has_cube(t, cube) && !cube_is_switch(t, cube);
        kb_status status = KB_OK;

        if (has_pes)
            status = check_cubes(t, plane, cube, why);
        if (status == KB_OK && (has_pes || (is_end && by_hosts)))
            status = check_host(t, plane, cube, why);
        if (status != KB_OK)
            return status;
    }
    return KB_OK;
}

kb_status ways_needed(const struct kb_topology *t, kb_error *why)
{
    for (uint32_t plane = 0; plane < t->planes; plane++) {
        kb_status status = KB_OK;

        if (t->plane_rows[plane].in_parts && plane_serves(t, plane))
            status = check_plane(t, plane, why);
        if (status != KB_OK)
            return status;
    }
    return KB_OK;
}
