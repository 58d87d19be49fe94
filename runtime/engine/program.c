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
static struct step step_of_leg(const struct kb_topology *t, const struct leg_row *leg)
{
    bool near = leg->owner == LINK_CUBE || (t->regular && leg->owner == LINK_NEXT);

    return (struct step){.station = near ? leg->station : (int32_t)(leg - t->legs),
                         .kind = leg->owner == LINK_NONE ? STEP_ENGINE
                                 : near                  ? STEP_LINK
                                                         : STEP_FAR_LINK,
                         .fed = leg->fed,
                         .exit = STEP_STAYS};
}

static struct step step_of_node(const struct kb_topology *t, const struct hop_row *hop)
{
    return (struct step){
        .station = (int32_t)(hop - t->hops), .kind = STEP_NODE, .exit = STEP_STAYS};
}

/* The unit of a cube at which segment `number` ends, if it ends at one; of a host's any slice. */
static uint32_t unit_of(const struct kb_topology *t, uint32_t number)
{
    uint32_t n_local = t->planes * t->sources * t->n_units,
             n_in = t->planes * t->ports * t->n_units;

    if (number - t->seg_local < n_local)
        return (number - t->seg_local) % t->n_units;
    return number - t->seg_in < n_in ? (number - t->seg_in) % t->n_units : 0;
}

/*
 * In which runs a memory is passed with the link before it: where that is the only one, and is one
 * server. For each direction of data there is another one, and of several planes each has one into
 * the SRAM. Nor is a component passed: it may take no time at all, and then others of the same
 * instant come behind it; nor one that chooses, as what comes to it later may go first.
 */
static uint8_t memory_fed(const struct program *p, const struct kb_topology *t, uint32_t segment)
{
    const struct segment_row *seg = &t->segments[segment];
    uint32_t number = segment % t->n_segments;

    if (p->chooses || (t->impls && t->impls->memories) || !seg->n_legs ||
        !(t->legs[seg->first_leg + seg->n_legs - 1u].fed & INTO_MEMORY))
        return 0;
    return t->planes == 1 || unit_is_slice(t, unit_of(t, number)) ? FED_ONE_WAY : 0;
}

static uint32_t n_steps(const struct kb_topology *t)
{
    uint32_t n = 2; /* of whole routes */

    for (uint32_t i = 0; i < t->n_kinds * t->n_segments; i++)
        n += (uint32_t)t->segments[i].n_legs + t->segments[i].n_hops;
    return n;
}

/* The node of a hop in cubes of kind `kind`. */
static const struct node_row *node_of(const struct kb_topology *t, const struct hop_row *hop,
                                      uint32_t kind)
{
    if (hop->chiplet == AT_CUBE)
        return &t->cube_nodes[kind * t->n_cube_nodes + hop->node];
    return hop->chiplet == AT_FABRIC ? &t->fabric_nodes[0] : &t->io_nodes[hop->node];
}

/* Is the node of a hop of `segment` a component? */
static bool is_asked(const struct kb_topology *t, const struct hop_row *hop, uint32_t segment)
{
    uint32_t kind = segment / t->n_segments;

    return t->impls && component_of_kind(t, kind, node_of(t, hop, kind)->kind);
}

/* One more step of a segment, of which there are `n`: where what lies behind it is added up. */
static int64_t *add_step(struct program *p, const struct kb_topology *t, uint32_t segment,
                         uint32_t n, struct step step, double gbs)
{
    p->steps[n] = step;
    p->more[n] = (struct step_more){gbs, (uint16_t)(segment % t->n_segments)};
    return &p->steps[n].lead_fs;
}

/* The memory at the end of a segment, and the link into it, which is as fast as it. */
static void end_at_memory(struct program *p, const struct kb_topology *t, const struct cost_mask *m,
                          uint32_t segment, uint32_t row)
{
    const struct kind_row *kind = &t->kinds[segment / t->n_segments];
    uint32_t number = segment % t->n_segments;
    uint32_t unit = unit_of(t, number);
    const struct memory_row *last = unit_is_slice(t, unit) ? &kind->hbm
                                    : unit_is_l2(t, unit)  ? &kind->l2
                                                           : &kind->sram;

    if (!p->ideal && unit_is_tcm(t, unit))
        p->steps[row - 1].kind = STEP_TCM_LINK;
    if (!p->ideal)
        p->more[row - 1].gbs = cost_last_gbs(m, last);
    add_step(p, t, segment, row,
             (struct step){.kind = STEP_MEMORY, .fed = memory_fed(p, t, segment)}, 0);
}

/* The steps of a segment, from row `n` on: where links queue these are, too. The row behind. */
static uint32_t make_segment(struct program *p, const struct kb_topology *t,
                             const struct cost_mask *m, uint32_t segment, uint32_t n)
{
    const struct segment_row *seg = &t->segments[segment];
    const struct leg_row *leg = &t->legs[seg->first_leg];
    struct step_entry *entry = &p->entries[segment];
    int64_t *lead_fs = &entry->lead_fs;

    *entry = (struct step_entry){0, n};
    for (uint32_t k = 0; k < seg->n_hops; k++) {
        const struct hop_row *hop = &t->hops[seg->first_hop + k];

        if (hop->owner == LINK_NONE) {
            end_at_memory(p, t, m, segment, n);
            return n + 1;
        }
        if (is_asked(t, hop, segment))
            lead_fs = add_step(p, t, segment, n++, step_of_node(t, hop), 0);
        else
            *lead_fs += hop->overhead_fs & m->overhead;
        *lead_fs += hop->cross_fs & m->wire;
        if (leg->owner == LINK_NONE) {
            struct step engine = step_of_leg(t, leg++);

            if (n > entry->row && p->steps[n - 1].kind == STEP_LINK && t->planes == 1)
                engine.fed = FED_ENGINE; /* all come over that link */
            lead_fs = add_step(p, t, segment, n++, engine, 0);
        }
        if (!p->ideal)
            lead_fs = add_step(p, t, segment, n++, step_of_leg(t, leg), leg->gbs + m->link_gbs);
        leg++;
        *lead_fs += hop->wire_fs & m->wire;
    }
    if (n == entry->row)
        entry->row = NO_STEP;
    else
        p->steps[n - 1].exit = seg->exit;
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
    if (t->impls && kind_impl(t, kind, box)->serve)
        return SERVER_ASKED;
    return memory->atomic == ATOMIC_WRITE ? SERVER_ORDERED : SERVER_READ_WRITE;
}

static void make_places(struct program *p, const struct kb_topology *t)
{
    for (uint32_t cube = 0; cube < sim_cubes(t); cube++)
        p->cubes[cube] = (struct place_of_cube){
            .x = (uint16_t)cube_column(t, cube),
            .sip = (uint16_t)(cube / t->cubes),
            .pos = t->cube_pos[cube % t->cubes],
        };
    for (uint32_t i = 0; i <= 2 * t->mesh_middle; i++)
        p->exits[i] = t->cost_mesh[i].exit;
}

bool program_make(struct program *p, const struct kb_topology *t, const struct cost_mask *m)
{
    p->steps = malloc(n_steps(t) * sizeof *p->steps);
    p->more = malloc(n_steps(t) * sizeof *p->more);
    p->entries = malloc((size_t)t->n_kinds * t->n_segments * sizeof *p->entries);
    p->services = malloc(t->n_kinds * sizeof *p->services);
    p->cubes = malloc((t->regular ? sim_cubes(t) : 1) * sizeof *p->cubes);
    p->exits = malloc(t->regular ? 2 * (size_t)t->mesh_middle + 1 : 1);
    if (!p->steps || !p->more || !p->entries || !p->services || !p->cubes || !p->exits)
        return false;
    p->stations = 2 * t->n_cube_links;
    p->pe_bits = t->pe_bits;
    p->unit_bits = t->unit_bits;
    p->slices = t->slices;
    p->l2 = unit_of_l2(t);
    p->n_units = t->n_units;
    p->seg_pass = t->seg_pass;
    p->seg_in = t->seg_in;
    p->one_kind = t->n_kinds == 1;
    p->ideal = t->links == MODE_IDEAL;
    p->whole = p->ideal && !(t->impls && t->impls->nodes);
    p->regular = t->regular && (p->whole || !p->ideal);
    p->many = walk_n_links(t) >= MANY_LINKS;
    p->mask = *m;
    p->last = p->drains;
    p->chooses = memories_choose(t);
    p->across[SIDE_N] = -t->w;
    p->across[SIDE_E] = 1;
    p->across[SIDE_S] = t->w;
    p->across[SIDE_W] = UINT32_MAX;
    make_steps(p, t, m);
    for (uint32_t kind = 0; kind < t->n_kinds; kind++) {
        struct service *of = p->services[kind];

        of[OF_SLICES] = service_of(p, m, &t->kinds[kind].hbm);
        of[OF_SRAMS] = service_of(p, m, &t->kinds[kind].sram);
        of[OF_L2] = service_of(p, m, &t->kinds[kind].l2);
        of[OF_L2].server = SERVER_CHOOSES;
        of[OF_TCMS] = service_of(p, m, &t->kinds[kind].tcm_read);
        of[OF_TCMS + 1] = service_of(p, m, &t->kinds[kind].tcm_write);
        of[OF_SLICES].server = server_of(t, &t->kinds[kind].hbm, kind, BOX_HBM);
        of[OF_SRAMS].server = server_of(t, &t->kinds[kind].sram, kind, BOX_SRAM);
    }
    if (t->regular)
        make_places(p, t);
    return true;
}

/* Is a request that begins with `entry` at its first event later than it began? */
static bool begins_with_delay(const struct program *p, const struct step_entry *entry,
                              unsigned fed_first)
{
    if (entry->lead_fs > 0 || entry->row == NO_STEP)
        return entry->lead_fs > 0;
    return p->steps[entry->row].fed & fed_first && p->steps[entry->row].lead_fs > 0;
}

bool program_delays(const struct program *p, const struct kb_topology *t, unsigned fed_first)
{
    bool delays = true;

    for (uint32_t i = 0; i < t->n_kinds * t->n_segments; i++) {
        uint32_t number = i % t->n_segments;
        bool of_pe = number - t->seg_local < t->planes * t->sources * t->n_units ||
                     number - t->seg_out < t->planes * t->sources * n_exits(t);

        if (of_pe && t->segments[i].n_hops && !begins_with_delay(p, &p->entries[i], fed_first))
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
    free(p->exits);
    free(p->hosts);
}

/* From `at` on, the begin of a segment, to the first step, in `*cube`. */
static struct step_entry enter(const struct program *p, const struct kb_topology *t,
                               const struct trip *trip, struct route_at at, uint32_t *cube)
{
    int64_t before_fs = 0;

    for (;; at = walk_next(t, trip, at)) {
        struct step_entry entry = p->entries[cube_kind(t, at.cube) * t->n_segments + at.segment];

        entry.lead_fs += before_fs;
        if (entry.row != NO_STEP) {
            *cube = at.cube;
            return entry;
        }
        before_fs = entry.lead_fs + (walk_extra_fs(t, at) & p->mask.wire);
    }
}

/* The way of a host's that leaves the IO chiplet; NULL: it is not kept. */
static const struct host_row *known_way_in(const struct program *p, const struct txn *x)
{
    const struct host_row *row = p->hosts && txn_of_host(x) ? &p->hosts[x->dst] : NULL;

    return row && row->made ? row : NULL;
}

size_t program_far_link(const struct program *p, const struct kb_topology *t, const struct txn *x,
                        const struct step *step, uint32_t cube)
{
    const struct host_row *row = known_way_in(p, x);
    size_t i = row ? (size_t)(step - p->steps) - row->begin.row : HOST_LINKS;

    if (i < HOST_LINKS)
        return row->links[i];
    const struct leg_row *leg = &t->legs[step->station];
    struct walk_edge edge = {leg->owner, leg->back, leg->link};
    const struct trip trip = txn_trip(t, x);

    return walk_link(t, edge, cube, &trip);
}

struct step_entry program_walk(const struct program *p, const struct kb_topology *t,
                               const struct txn *x, const struct step *step, uint32_t *cube)
{
    const struct host_row *row = step->exit == exit_io(t) ? known_way_in(p, x) : NULL;

    if (row) {
        *cube = row->in.cube;
        return (struct step_entry){row->in_lead_fs, row->in.row};
    }
    const struct trip trip = txn_trip(t, x);
    struct route_at at = {*cube, p->more[step - p->steps].segment, 0};
    struct step_entry entry = enter(p, t, &trip, walk_next(t, &trip, at), cube);

    entry.lead_fs += walk_extra_fs(t, at) & p->mask.wire;
    return entry;
}

struct step_entry program_begin_walk(const struct program *p, const struct kb_topology *t,
                                     const struct txn *x, uint32_t *cube)
{
    const struct trip trip = txn_trip(t, x);

    return enter(p, t, &trip, walk_begin(t, &trip), cube);
}

/* From its first step to the exit of the IO chiplet, over which it comes into a cube. */
static void make_way_in(const struct program *p, const struct kb_topology *t, const struct txn *x,
                        struct host_row *row)
{
    const struct step *step = &p->steps[row->begin.row];
    struct step_entry entry;

    for (uint32_t i = 0;; i++, step++) {
        if (step->kind == STEP_FAR_LINK && i < HOST_LINKS)
            row->links[i] = (uint32_t)program_far_link(p, t, x, step, row->begin.cube);
        if (step->exit != STEP_STAYS || step->kind == STEP_MEMORY)
            break;
    }
    if (step->exit != exit_io(t))
        return;
    row->in.cube = row->begin.cube;
    entry = program_walk(p, t, x, step, &row->in.cube);
    row->in.row = entry.row;
    row->in_lead_fs = entry.lead_fs;
}

void program_make_host(const struct program *p, const struct kb_topology *t, const struct txn *x,
                       struct host_row *row)
{
    const struct trip trip = txn_trip(t, x);
    struct cost_row to = cost_host_to_engine(t, &trip), behind = cost_engine_to_memory(t, &trip);
    struct cost_row all = cost_add(to, &behind);

    *row = (struct host_row){
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
        if (t->regular)
            make_way_in(p, t, x, row);
    }
    row->made = true;
}

struct host_row *program_make_hosts(struct program *p, const struct kb_topology *t)
{
    p->hosts = calloc((size_t)sim_cubes(t) << t->unit_bits, sizeof *p->hosts);
    return p->hosts;
}
