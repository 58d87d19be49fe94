/* program.c -- steps, made of the legs of the generator's segments. */
#include "engine/program.h"
#include <stdlib.h>

/* The step of a leg: leg_row.fed says which runs pass it with the one before. */
static struct step step_of_leg(const struct kb_topology *t, const struct cost_mask *m, uint32_t row)
{
    const struct leg_row *leg = &t->legs[row];
    bool near = leg->owner == LINK_CUBE || (t->regular && leg->owner == LINK_NEXT);

    return (struct step){.lead_fs = cost_way_fs(m, leg->wire_fs, leg->overhead_fs),
                         .gbs = leg->gbs + m->link_gbs,
                         .station = near ? leg->station : (int32_t)row,
                         .kind = leg->owner == LINK_NONE ? STEP_ENGINE
                                 : near                  ? STEP_LINK
                                                         : STEP_FAR_LINK,
                         .fed = leg->fed};
}

/* The unit of a cube at which segment `number` ends, if it ends at one; of a host's any slice. */
static uint32_t unit_of(const struct kb_topology *t, uint32_t number)
{
    uint32_t n_local = t->planes * t->pes * t->n_units, n_in = t->planes * N_SIDES * t->n_units;

    if (number - t->seg_local < n_local)
        return (number - t->seg_local) % t->n_units;
    return number - t->seg_in < n_in ? (number - t->seg_in) % t->n_units : 0;
}

/*
 * In which runs a memory is passed with the link before it: where that is the only one. For each
 * direction of data there is another one, and of several planes each has one into the SRAM.
 */
static uint8_t memory_fed(const struct kb_topology *t, uint32_t number)
{
    return t->planes == 1 || unit_is_slice(t, unit_of(t, number)) ? FED_ONE_WAY : 0;
}

/* The last step of a segment. */
static struct step step_of_end(const struct kb_topology *t, const struct cost_mask *m,
                               const struct segment_row *seg, uint32_t number)
{
    return (struct step){.lead_fs = cost_way_fs(m, seg->tail_wire_fs, seg->tail_overhead_fs),
                         .station = (int32_t)number,
                         .kind = seg->exit == N_EXITS ? STEP_MEMORY : STEP_EXIT,
                         .fed = seg->exit == N_EXITS ? memory_fed(t, number) : 0,
                         .exit = seg->exit};
}

static uint32_t n_steps(const struct kb_topology *t)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n_kinds * t->n_segments; i++)
        n += t->segments[i].n_legs + 1u;
    return n;
}

static void make_steps(struct program *p, const struct kb_topology *t, const struct cost_mask *m)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n_kinds * t->n_segments; i++) {
        const struct segment_row *seg = &t->segments[i];
        const struct kind_row *kind = &t->kinds[i / t->n_segments];
        uint32_t number = i % t->n_segments;
        bool slice = unit_is_slice(t, unit_of(t, number));

        p->first[i] = n;
        for (uint32_t k = 0; k < seg->n_legs; k++)
            p->steps[n++] = step_of_leg(t, m, seg->first_leg + k);
        if (seg->exit == N_EXITS && seg->n_legs) /* it is as fast as the memory */
            p->steps[n - 1].gbs = cost_last_gbs(m, slice ? &kind->hbm : &kind->sram);
        p->steps[n++] = step_of_end(t, m, seg, number);
    }
}

static struct service service_of(const struct cost_mask *m, const struct memory_row *memory)
{
    bool own = memory->hold != HOLD_ROUTE;

    return (struct service){.done_fs = cost_in_memory_fs(m, memory),
                            .taken_fs = memory->overhead_fs & m->overhead,
                            .last_gbs = cost_last_gbs(m, memory),
                            .own_gbs = own ? cost_own_gbs(m, memory) : 0};
}

static void make_places(struct program *p, const struct kb_topology *t)
{
    for (uint32_t cube = 0; cube < sim_cubes(t); cube++)
        p->cubes[cube] = (struct place_of_cube){(uint16_t)cube_column(t, cube),
                                                (uint16_t)cube_row(t, cube),
                                                (uint16_t)(cube / t->cubes)};
}

bool program_make(struct program *p, const struct kb_topology *t, const struct cost_mask *m)
{
    p->steps = malloc(n_steps(t) * sizeof *p->steps);
    p->first = malloc((size_t)t->n_kinds * t->n_segments * sizeof *p->first);
    p->services = malloc(t->n_kinds * sizeof *p->services);
    p->cubes = malloc((t->regular ? sim_cubes(t) : 1) * sizeof *p->cubes);
    if (!p->steps || !p->first || !p->services || !p->cubes)
        return false;
    p->wire = m->wire;
    make_steps(p, t, m);
    for (uint32_t kind = 0; kind < t->n_kinds; kind++) {
        p->services[kind][0] = service_of(m, &t->kinds[kind].hbm);
        p->services[kind][1] = service_of(m, &t->kinds[kind].sram);
    }
    if (t->regular)
        make_places(p, t);
    return true;
}

void program_free(struct program *p)
{
    free(p->steps);
    free(p->first);
    free(p->services);
    free(p->cubes);
}

struct step_at program_walk(const struct program *p, const struct kb_topology *t,
                            const struct txn *x, struct step_at at)
{
    const struct trip trip = txn_trip(t, x);
    struct route_at from = {.cube = at.cube, .segment = (uint16_t)p->steps[at.row].station};
    struct route_at to = walk_next(t, &trip, from);

    return (struct step_at){program_first(p, t, to.cube, to.segment), to.cube};
}

struct step_at program_begin_walk(const struct program *p, const struct kb_topology *t,
                                  const struct txn *x)
{
    const struct trip trip = txn_trip(t, x);
    struct route_at at = walk_begin(t, &trip);

    return (struct step_at){program_first(p, t, at.cube, at.segment), at.cube};
}
