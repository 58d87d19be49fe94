/* pes.c -- the PEs and slices that are there, for the callers of the library: kernbench.h "PEs". */
#include "machine/pes.h"
#include "machine/endpoint.h"

uint32_t kb_pe_count(const kb_topology *t)
{
    return pe_count(t);
}

kb_status kb_pe_get(const kb_topology *t, uint32_t pe, kb_endpoint *out)
{
    REFUSE_NULL(t && out, "topo, out", NULL);
    if (pe >= pe_count(t))
        return KB_BAD_REQUEST;
    *out = endpoint_unpack_source(t, pe_src(t, pe), false, 0);
    return KB_OK;
}

kb_status kb_pe_number(const kb_topology *t, const kb_endpoint *pe, uint32_t *out)
{
    REFUSE_NULL(t && pe && out, "topo, pe, out", NULL);
    uint32_t src;

    if (pe->kind != KB_PE || !endpoint_pack(t, pe, &src, NULL))
        return KB_BAD_REQUEST;
    *out = pe_number(t, src);
    return KB_OK;
}

kb_status kb_pe_slice(const kb_topology *t, uint32_t pe, kb_endpoint *out)
{
    REFUSE_NULL(t && out, "topo, out", NULL);
    if (pe >= pe_count(t))
        return KB_BAD_REQUEST;
    if (pe_slice(t, pe_src(t, pe)) == NO_SLICE)
        return KB_BAD_REQUEST;
    *out = endpoint_unpack_memory(t, pe_slice(t, pe_src(t, pe)));
    return KB_OK;
}

uint64_t kb_pe_acc_bytes(const kb_topology *t, uint32_t pe)
{
    if (!t || pe >= pe_count(t))
        return 0;
    return kind_at(t, src_cube(t, pe_src(t, pe)))->pe.acc_bytes;
}

uint32_t kb_slice_count(const kb_topology *t)
{
    return slice_count(t);
}

kb_status kb_slice_get(const kb_topology *t, uint32_t slice, kb_endpoint *out)
{
    REFUSE_NULL(t && out, "topo, out", NULL);
    uint32_t cube = 0;

    if (slice >= slice_count(t))
        return KB_BAD_REQUEST;
    while (cube_first_slice(t, cube + 1) <= slice)
        cube++;
    *out = endpoint_unpack_memory(t, dst_pack(t, cube, slice - cube_first_slice(t, cube)));
    return KB_OK;
}

kb_status kb_slice_number(const kb_topology *t, const kb_endpoint *slice, uint32_t *out)
{
    REFUSE_NULL(t && slice && out, "topo, slice, out", NULL);
    uint32_t dst;

    if (slice->kind != KB_SLICE || !endpoint_pack(t, slice, &dst, NULL))
        return KB_BAD_REQUEST;
    *out = cube_first_slice(t, dst_cube(t, dst)) + dst_unit(t, dst);
    return KB_OK;
}

kb_status kb_cube_place_get(const kb_topology *t, uint32_t cube, kb_cube_place *out)
{
    REFUSE_NULL(t && out, "topo, out", NULL);
    const struct place_row *place;
    const struct grid_row *grid;
    uint32_t rest;

    if (cube >= t->cubes || !t->place_rows || !t->place_rows[cube].grid)
        return KB_BAD_REQUEST;
    place = &t->place_rows[cube];
    grid = &t->grid_rows[place->grid - 1];
    *out = (kb_cube_place){.grid = place->grid - 1u, .dims = grid->dims, .closes = grid->closes};
    rest = place->at;
    for (uint32_t d = 0; d < grid->dims; d++) {
        out->size[d] = grid->size[d];
        out->at[d] = rest % grid->size[d];
        rest /= grid->size[d];
    }
    return KB_OK;
}

kb_status kb_cube_get(const kb_topology *t, uint32_t sip, uint32_t cube, kb_cube *out)
{
    REFUSE_NULL(t && out, "topo, out", NULL);
    uint32_t i = sip * t->cubes + cube;

    if (sip >= t->sips || cube >= t->cubes || !cube_is_there(t, i))
        return KB_BAD_REQUEST;
    *out = (kb_cube){.n_pes = cube_pe_count(t, i),
                     .n_slices = cube_slice_count(t, i),
                     .crossbars = kind_at(t, i)->crossbars,
                     .pe_places = kind_at(t, i)->pes,
                     .kind = cube_kind(t, i),
                     .keys = kind_at(t, i)->keys,
                     .first_pe = cube_first_pe(t, i)};
    for (uint32_t pe = 0; pe < out->pe_places; pe++)
        if (cube_has_pe(t, i, pe))
            out->pes[pe / 64] |= UINT64_C(1) << pe % 64;
    return KB_OK;
}
