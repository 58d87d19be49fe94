/* program.c -- steps, made of the legs of the generator's segments. */
#include "engine/program.h"
#include <stdlib.h>

enum { MANY_LINKS = 1 << 14 }; /* of 64 bytes */

/* The number of a bandwidth; RATES: it has none, as there are too many. */
static uint8_t rate_of(struct program *p, double gbs)
{
    uint32_t i = 0;

    while (i < p->n_rates && !(p->rates[i] <= gbs && p->rates[i] >= gbs))
        i++;
    if (i == p->n_rates && i < RATES)
        p->rates[p->n_rates++] = gbs;
    return (uint8_t)i;
}

void program_new_drains(struct drains *d, uint64_t nbytes)
{
    d->nbytes = nbytes;
    for (int i = 0; i <= RATES; i++)
        d->fs[i] = -1;
}

int64_t program_divide(struct drains *d, double gbs, uint32_t rate)
{
    int64_t fs = drain_fs(d->nbytes, gbs);

    if (rate < RATES)
        d->fs[rate] = fs;
    return fs;
}

/* The step of a leg: leg_row.fed says which runs pass it with the one before. */
static struct step step_of_leg(const struct kb_topology *t, uint32_t row)
{
    const struct leg_row *leg = &t->legs[row];
    bool near = leg->owner == LINK_CUBE || (t->regular && leg->owner == LINK_NEXT);

    return (struct step){.station = near ? leg->station : (int32_t)row,
                         .kind = leg->owner == LINK_NONE ? STEP_ENGINE
                                 : near                  ? STEP_LINK
                                                         : STEP_FAR_LINK,
                         .fed = leg->fed,
                         .exit = STEP_STAYS};
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
 * direction of data there is another one, and of several planes each has one into the SRAM. Nor is
 * a component passed: it may take no time at all, and then others of the same instant come behind
 * it; nor one that chooses, as what comes to it later may go first.
 */
static uint8_t memory_fed(const struct kb_topology *t, uint32_t number)
{
    if (t->banked || (t->impls && t->impls->memories))
        return 0;
    return t->planes == 1 || unit_is_slice(t, unit_of(t, number)) ? FED_ONE_WAY : 0;
}

static uint32_t n_steps(const struct kb_topology *t)
{
    uint32_t n = 2; /* of whole routes */

    for (uint32_t i = 0; i < t->n_kinds * t->n_segments; i++)
        n += t->segments[i].n_legs + 1u;
    return n;
}

/* What lies behind leg `k` of a segment; of -1, before its first. */
static int64_t lead_behind(const struct kb_topology *t, const struct cost_mask *m,
                           const struct segment_row *seg, int k)
{
    const struct leg_row *next = &t->legs[seg->first_leg + (uint32_t)(k + 1)];

    if (k + 1 == seg->n_legs)
        return cost_way_fs(m, seg->tail_wire_fs, seg->tail_overhead_fs);
    return cost_way_fs(m, next->wire_fs, next->overhead_fs);
}

/* The memory at the end of a segment, and the link into it, which is as fast as it. */
static void end_at_memory(struct program *p, const struct kb_topology *t, const struct cost_mask *m,
                          uint32_t segment, uint32_t row)
{
    const struct kind_row *kind = &t->kinds[segment / t->n_segments];
    uint32_t number = segment % t->n_segments;
    bool slice = unit_is_slice(t, unit_of(t, number));

    if (unit_is_tcm(t, unit_of(t, number)))
        p->steps[row - 1].kind = STEP_TCM_LINK;
    p->more[row - 1].gbs = cost_last_gbs(m, slice ? &kind->hbm : &kind->sram);
    p->steps[row - 1].exit = STEP_STAYS;
    p->steps[row] = (struct step){.kind = STEP_MEMORY, .fed = memory_fed(t, number)};
    p->more[row] = (struct step_more){0};
}

static uint32_t make_segment(struct program *p, const struct kb_topology *t,
                             const struct cost_mask *m, uint32_t segment, uint32_t n)
{
    const struct segment_row *seg = &t->segments[segment];

    p->entries[segment] = (struct step_entry){lead_behind(t, m, seg, -1), n};
    if (!seg->n_legs) /* not a part of any route */
        return n;
    for (int k = 0; k < seg->n_legs; k++, n++) {
        uint32_t leg = seg->first_leg + (uint32_t)k;

        p->steps[n] = step_of_leg(t, leg);
        p->steps[n].lead_fs = lead_behind(t, m, seg, k);
        p->more[n] =
            (struct step_more){t->legs[leg].gbs + m->link_gbs, (uint16_t)(segment % t->n_segments)};
    }
    p->steps[n - 1].exit = seg->exit;
    if (seg->exit == N_EXITS)
        end_at_memory(p, t, m, segment, n++);
    return n;
}

static void make_steps(struct program *p, const struct kb_topology *t, const struct cost_mask *m)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n_kinds * t->n_segments; i++)
        n = make_segment(p, t, m, i, n);
    p->to_engine = n++;
    p->to_memory = n++;
    p->steps[p->to_engine] = (struct step){.kind = STEP_ENGINE};
    p->steps[p->to_memory] = (struct step){.kind = STEP_MEMORY};
    p->more[p->to_engine] = p->more[p->to_memory] = (struct step_more){0};
    for (uint32_t i = 0; i < n; i++)
        p->steps[i].rate = rate_of(p, p->more[i].gbs);
}

static struct service service_of(struct program *p, const struct cost_mask *m,
                                 const struct memory_row *memory)
{
    bool own = memory->hold != HOLD_ROUTE;

    return (struct service){.done_fs = cost_in_memory_fs(m, memory),
                            .taken_fs = memory->overhead_fs & m->overhead,
                            .last_gbs = cost_last_gbs(m, memory),
                            .own_gbs = own ? cost_own_gbs(m, memory) : 0,
                            .own_rate = rate_of(p, cost_own_gbs(m, memory))};
}

static uint8_t server_of(const struct kb_topology *t, const struct memory_row *memory,
                         uint32_t kind, enum box box)
{
    if (memory->model != MEMORY_SERVER)
        return SERVER_CHOOSES;
    return t->impls && kind_impl(t, kind, box)->serve ? SERVER_ASKED : SERVER_ORDERED;
}

static void make_places(struct program *p, const struct kb_topology *t)
{
    for (uint32_t cube = 0; cube < sim_cubes(t); cube++)
        p->cubes[cube] = (struct place_of_cube){
            .x = (uint16_t)cube_column(t, cube),
            .sip = (uint16_t)(cube / t->cubes),
            .pos = t->cube_pos[cube % t->cubes],
        };
}

bool program_make(struct program *p, const struct kb_topology *t, const struct cost_mask *m)
{
    p->steps = malloc(n_steps(t) * sizeof *p->steps);
    p->more = malloc(n_steps(t) * sizeof *p->more);
    p->entries = malloc((size_t)t->n_kinds * t->n_segments * sizeof *p->entries);
    p->services = malloc(t->n_kinds * sizeof *p->services);
    p->cubes = malloc((t->regular ? sim_cubes(t) : 1) * sizeof *p->cubes);
    if (!p->steps || !p->more || !p->entries || !p->services || !p->cubes)
        return false;
    p->stations = 2 * t->n_cube_links;
    p->pe_bits = t->pe_bits;
    p->unit_bits = t->unit_bits;
    p->slices = t->slices;
    p->n_units = t->n_units;
    p->seg_pass = t->seg_pass;
    p->seg_in = t->seg_in;
    p->one_kind = t->n_kinds == 1;
    p->regular = t->regular;
    p->many = walk_n_links(t) >= MANY_LINKS;
    p->mask = *m;
    p->last = p->drains;
    p->whole = t->links == MODE_IDEAL;
    p->chooses = t->banked || (t->impls && t->impls->queueing);
    p->across[SIDE_N] = -t->w;
    p->across[SIDE_E] = 1;
    p->across[SIDE_S] = t->w;
    p->across[SIDE_W] = UINT32_MAX;
    make_steps(p, t, m);
    for (uint32_t kind = 0; kind < t->n_kinds; kind++) {
        struct service *of = p->services[kind];

        of[OF_SLICES] = service_of(p, m, &t->kinds[kind].hbm);
        of[OF_SRAMS] = service_of(p, m, &t->kinds[kind].sram);
        of[OF_TCMS] = service_of(p, m, &t->kinds[kind].tcm_read);
        of[OF_TCMS + 1] = service_of(p, m, &t->kinds[kind].tcm_write);
        of[OF_SLICES].server = server_of(t, &t->kinds[kind].hbm, kind, BOX_HBM);
        of[OF_SRAMS].server = server_of(t, &t->kinds[kind].sram, kind, BOX_SRAM);
    }
    if (t->regular)
        make_places(p, t);
    return true;
}

/* Is a request that begins segment `i` at its first event later than it began? */
static bool begins_with_delay(const struct program *p, const struct kb_topology *t, uint32_t i,
                              unsigned fed_first)
{
    const struct step *step = &p->steps[p->entries[i].row];
    int64_t sum = p->entries[i].lead_fs;

    for (uint32_t k = 0; p->whole && k < t->segments[i].n_legs; k++)
        sum += step[k].lead_fs;
    if (sum > 0 || !t->segments[i].n_legs)
        return sum > 0;
    return step->fed & fed_first && step->lead_fs > 0;
}

bool program_delays(const struct program *p, const struct kb_topology *t, unsigned fed_first)
{
    bool delays = true;

    for (uint32_t i = 0; i < t->n_kinds * t->n_segments; i++) {
        uint32_t number = i % t->n_segments;
        bool of_pe = number - t->seg_local < t->planes * t->pes * t->n_units ||
                     number - t->seg_out < t->planes * t->pes * N_EXITS;

        if (of_pe && t->segments[i].n_hops && !begins_with_delay(p, t, i, fed_first))
            delays = false;
    }
    return delays;
}

void program_free(struct program *p)
{
    free(p->steps);
    free(p->more);
    free(p->entries);
    free(p->services);
    free(p->cubes);
    free(p->hosts);
}

struct step_entry program_walk(const struct program *p, const struct kb_topology *t,
                               const struct txn *x, const struct step *step, uint32_t *cube)
{
    const struct trip trip = txn_trip(t, x);
    uint16_t segment = p->more[step - p->steps].segment;
    struct route_at next = walk_next(t, &trip, (struct route_at){*cube, segment, 0});
    struct step_entry entry = p->entries[cube_kind(t, next.cube) * t->n_segments + next.segment];

    entry.lead_fs += mesh_extra_fs(t, *cube, step->exit) & p->mask.wire;
    *cube = next.cube;
    return entry;
}

struct step_entry program_begin_walk(const struct program *p, const struct kb_topology *t,
                                     const struct txn *x, uint32_t *cube)
{
    const struct trip trip = txn_trip(t, x);
    struct route_at at = walk_begin(t, &trip);

    *cube = at.cube;
    return p->entries[cube_kind(t, at.cube) * t->n_segments + at.segment];
}

void program_make_host(const struct program *p, const struct kb_topology *t, const struct txn *x,
                       struct host_row *row)
{
    const struct trip trip = txn_trip(t, x);
    struct cost_row to = cost_host_to_engine(t, &trip), behind = cost_engine_to_memory(t, &trip);
    struct cost_row all = cost_add(to, &behind);

    *row = (struct host_row){
        .made = true,
        .begin = {p->to_engine, dst_cube(t, x->dst)},
        .lead_fs = cost_way_fs(&p->mask, to.wire_fs, to.overhead_fs),
        .behind_fs = cost_way_fs(&p->mask, behind.wire_fs, behind.overhead_fs),
        .link_gbs = all.link_gbs,
        .response_fs = cost_response_fs(t, &p->mask, &trip, all.wire_fs),
    };
    if (!p->whole) {
        struct step_entry entry = program_begin_walk(p, t, x, &row->begin.cube);

        row->begin.row = entry.row;
        row->lead_fs = entry.lead_fs;
    }
}

struct host_row *program_make_hosts(struct program *p, const struct kb_topology *t)
{
    p->hosts = calloc((size_t)sim_cubes(t) << t->unit_bits, sizeof *p->hosts);
    return p->hosts;
}
