/*
 * program.h -- the steps of routes: what an engine needs to know of a machine while it runs.
 *
 * The generator's tables say which stations a request passes in a segment, a piece of a route
 * inside one chiplet (machine/walk.h). A program says the same, made for one simulation: delays are
 * one number, costs that are left out are left out, and the last station of a segment says where
 * its requests go on. So the loop of an engine reads these rows and little else of the topology,
 * and it is the same object code for a machine that was compiled and for one that was loaded. There
 * is one row for each station of each segment of one cube, not of each route: 30 KB for cube8 and
 * for a mesh of 8192 such cubes alike.
 *
 * A request is at a step in a cube. Behind its station it goes on to the next row, or over an exit
 * to the first row of the segment that begins there: program_on().
 *
 * Example: cube8, c0.pe1 reads from c5.slice3 (ARCHITECTURE.md shows the route). Its steps are
 *
 *     in cube 0, of out[pe1][E]      link pe_dma -> noc, link noc -> ucie-E, link to cube 1: exit E
 *     in cube 1, of pass[W][S]       link ucie-W -> noc, link noc -> ucie-S, link to cube 5: exit S
 *     in cube 5, of in[N][slice3]    link ucie-N -> noc, link noc -> xbar, link into slice3, memory
 *
 * What lies between the link to cube 1 and the link behind it is the rest of the first segment,
 * lead_fs of the link to cube 1, and the begin of the second, lead_fs of its entry.
 */
#ifndef PROGRAM_H
#define PROGRAM_H
#include "machine/walk.h"
#include "engine/txn.h"

enum step_kind {
    STEP_LINK,     /* `station` counts from the first one of the cube */
    STEP_TCM_LINK, /* the same, into a TCM: one way it may be faster than the other */
    STEP_FAR_LINK, /* not of this cube, and found by walk_link(): `station` is its row of legs */
    STEP_ENGINE,   /* of the m_cpu of this cube */
    STEP_NODE,     /* a component, which says how long it takes: `station` is its row of hops */
    STEP_MEMORY    /* the route ends */
};

enum { STEP_STAYS = EXIT_END }; /* step.exit: it is not the last of its segment */
enum { FED_ENGINE = 16 };       /* step.fed, beside leg_row.fed: an engine that keeps order */

struct step {
    int64_t lead_fs; /* behind its station: to the next, or to the end of the segment */
    int32_t station;
    uint8_t kind; /* enum step_kind */
    uint8_t fed;  /* in which runs it is passed in the same event as the step before: leg_row.fed */
    uint8_t exit; /* of its segment; STEP_STAYS */
    uint8_t rate; /* the number of its bandwidth */
};

/* The same step: what is seldom asked for. */
struct step_more {
    double gbs;
    uint16_t segment;
};

enum { NO_STEP = UINT32_MAX }; /* the row of a segment that has none: all of it lies before */

/* The begin of a segment: what lies before its first station, and the row of that. */
struct step_entry {
    int64_t lead_fs;
    uint32_t row;
};

/*
 * How long a number of bytes takes, by the number of the bandwidth. A division takes longer than
 * all else that a link does; most transactions of a run have one of few sizes.
 */
enum { RATES = 15, DRAIN_BITS = 7 };
struct drains {
    uint64_t nbytes;
    int64_t fs[RATES + 1]; /* -1: not known yet; the last one never is: of all other bandwidths */
};

/* A host's way to a memory. */
enum { HOST_LINKS = 4 };
struct host_row {
    bool made;
    uint32_t links[HOST_LINKS]; /* of its first steps, of the IO chiplet: program_far_link() */
    struct step_at in;          /* its first step in a cube, and what lies before that: */
    int64_t in_lead_fs;
    struct step_at begin; /* its first step, and what lies before that: */
    int64_t lead_fs;
    int64_t behind_fs; /* of a whole route: from the engine to the memory */
    double link_gbs;   /* links ideal: the smallest of them */
    int64_t response_fs;
};

/* What a memory does: it serves in order; the same, and atomics hold it twice as long; it asks a
 * component; it chooses. */
enum server { SERVER_ORDERED, SERVER_READ_WRITE, SERVER_ASKED, SERVER_CHOOSES };

/* A memory: what a service takes, if it keeps order. */
struct service {
    int64_t done_fs;  /* beside the drain of the route */
    int64_t taken_fs; /* beside that of the memory, or of the route */
    double last_gbs;  /* of the edge into it */
    double own_gbs;   /* 0: it is taken as long as the route drains */
    uint8_t own_rate; /* the number of own_gbs */
    uint8_t server;   /* enum server */
};

enum { OF_SLICES, OF_SRAMS, OF_L2, OF_TCMS, N_SERVICES = OF_TCMS + 2 }; /* [OF_TCMS + writes] */

struct program {
    uint32_t stations; /* of the links of a cube */
    uint32_t pe_bits, unit_bits, slices, l2, n_units, seg_pass,
        seg_in; /* of the topology, for the loop */
    bool one_kind;
    bool regular; /* the machine is, and no segment that goes on is without a step */
    bool many;    /* its stations do not fit the cache */
    bool ideal;   /* links are */
    bool whole;   /* and no node is asked: a route is one step, or two with an engine, which are: */
    uint32_t to_engine, to_memory;
    bool chooses; /* some memory does */
    uint32_t n_rates;
    double rates[RATES];
    struct cost_mask mask;
    uint32_t across[N_SIDES]; /* of a regular machine: from a cube to its neighbour, modulo 2^32 */
    struct step *steps;       /* owned */
    struct step_more *more;   /* owned; [step] */
    struct step_entry *entries; /* owned; [kind of cube][segment] */
    struct place_of_cube {
        uint16_t x, sip;
        uint32_t pos; /* kb_topology.cube_pos: the difference of two is their distance */
    } * cubes;        /* owned; [cube over all SIPs] of a regular machine */
    uint8_t *exits;   /* owned; of a regular machine: the first exit, by distance as cost_mesh */
    struct service (*services)[N_SERVICES]; /* owned; [kind of cube] */
    struct host_row *hosts; /* owned; [dst_pack()] of a regular machine; NULL: not asked */
    struct drains drains[1 << DRAIN_BITS], *last; /* last: those asked for last; never NULL */
};

/* False: no memory; program_free() frees the part that was made. */
bool program_make(struct program *p, const struct kb_topology *t, const struct cost_mask *m);
void program_free(struct program *p);

/*
 * Is the first event of each PE's transaction later than the time at which it sets out?
 * `fed_first`: the first links that are passed in that same event, bits of step.fed.
 */
bool program_delays(const struct program *p, const struct kb_topology *t, unsigned fed_first);

/* Over the exit of `step`, in `*cube`, which becomes the next one. Of any machine. */
struct step_entry program_walk(const struct program *p, const struct kb_topology *t,
                               const struct txn *x, const struct step *step, uint32_t *cube);

/* Of memory `dst`, which is no TCM. */
static inline const struct service *program_service(const struct program *p,
                                                    const struct kb_topology *t, uint32_t dst)
{
    uint32_t unit = dst & ((1u << p->unit_bits) - 1), kind = 0;

    if (!p->one_kind)
        kind = t->cube_rows[dst >> p->unit_bits].kind;
    return &p->services[kind][(unit >= p->slices) + (unit >= p->l2)];
}

/* Of a TCM, one way. */
static inline const struct service *
program_tcm_service(const struct program *p, const struct kb_topology *t, uint32_t dst, bool writes)
{
    return &p->services[cube_kind(t, dst_cube(t, dst))][OF_TCMS + writes];
}

/* Forgets what another number of bytes took. */
void program_new_drains(struct drains *d, uint64_t nbytes);

static inline struct drains *program_drains(struct program *p, uint64_t nbytes)
{
    struct drains *d = p->last;

    if (__builtin_expect(d->nbytes == nbytes, 1))
        return d;
    d = p->last = &p->drains[nbytes * UINT64_C(0x9e3779b97f4a7c15) >> (64 - DRAIN_BITS)];

    if (__builtin_expect(d->nbytes != nbytes, 0))
        program_new_drains(d, nbytes);
    return d;
}

/* Computes it, and keeps it. */
int64_t program_divide(struct drains *d, double gbs, uint32_t rate);

/* drain_fs() of those bytes at `*gbs`, whose number is `rate`. */
static inline int64_t program_drain_fs(struct drains *d, const double *gbs, uint32_t rate)
{
    int64_t fs = d->fs[rate];

    return __builtin_expect(fs >= 0, 1) ? fs : program_divide(d, *gbs, rate);
}

/* How long they take the link of `step`. */
static inline int64_t program_taken_fs(const struct program *p, struct drains *d,
                                       const struct step *step)
{
    return program_drain_fs(d, &p->more[step - p->steps].gbs, step->rate);
}

/*
 * The exit of `cube` towards `to`, another cube of a regular machine. It is read from a table, as
 * nothing could foretell a comparison.
 */
static inline uint32_t program_exit(const struct program *p, const struct kb_topology *t,
                                    uint32_t cube, uint32_t to)
{
    const struct place_of_cube *a = &p->cubes[cube], *b = &p->cubes[to];

    if (__builtin_expect(a->sip != b->sip, 0))
        return a->x ? SIDE_W : EXIT_IO;
    return p->exits[t->mesh_middle + b->pos - a->pos];
}

/* The same of a regular machine, at a side. */
static inline __attribute__((always_inline)) struct step_entry
program_cross(const struct program *p, const struct kb_topology *t, const struct txn *x,
              uint32_t exit, uint32_t *cube)
{
    uint32_t to = x->dst >> p->unit_bits, side = walk_opposite(exit),
             next = *cube + p->across[exit];

    uint32_t unit = x->dst & ((1u << p->unit_bits) - 1), entry;

    *cube = next;
    entry = p->seg_in + side * p->n_units + unit;
    if (__builtin_expect(txn_of_host(x), 0))
        entry = t->seg_host_in + unit;
    if (next != to)
        entry = p->seg_pass + side * N_EXITS + program_exit(p, t, next, to);
    return p->entries[entry];
}

/* Over the exit of `step`, the last of its segment, in `*cube`; adds the lead behind it to `*t`. */
static inline __attribute__((always_inline)) const struct step *
program_leave(const struct program *p, const struct kb_topology *topo, const struct txn *x,
              const struct step *step, uint32_t *cube, uint64_t *t)
{
    struct step_entry entry;

    entry = p->regular && step->exit < N_SIDES ? program_cross(p, topo, x, step->exit, cube)
                                               : program_walk(p, topo, x, step, cube);
    *t += (uint64_t)entry.lead_fs;
    return &p->steps[entry.row];
}

/* From `step`, in `*cube`, on to the next; adds to `*t` how long that takes. */
static inline const struct step *program_on(const struct program *p, const struct kb_topology *topo,
                                            const struct txn *x, const struct step *step,
                                            uint32_t *cube, uint64_t *t)
{
    *t += (uint64_t)step->lead_fs;
    return step->exit == STEP_STAYS ? step + 1 : program_leave(p, topo, x, step, cube, t);
}

/* The edge of STEP_FAR_LINK `step`, in `cube`: the number of its station for what a write brings.
 */
size_t program_far_link(const struct program *p, const struct kb_topology *t, const struct txn *x,
                        const struct step *step, uint32_t cube);

/* The first step of a route, in `*cube`. Of any machine. */
struct step_entry program_begin_walk(const struct program *p, const struct kb_topology *t,
                                     const struct txn *x, uint32_t *cube);

static inline struct step_entry program_entry(const struct program *p, const struct kb_topology *t,
                                              const struct txn *x, uint32_t *cube)
{
    uint32_t from = x->src >> p->pe_bits, pe = x->src & ((1u << p->pe_bits) - 1);
    uint32_t to = x->dst >> p->unit_bits, unit = x->dst & ((1u << p->unit_bits) - 1);

    if (!p->regular || txn_of_host(x))
        return program_begin_walk(p, t, x, cube);
    *cube = from;
    return p->entries[from == to ? t->seg_local + pe * p->n_units + unit
                                 : t->seg_out + pe * N_EXITS + program_exit(p, t, from, to)];
}

/* Links ideal: the whole way of a PE's, without the edge into the memory, as cost_of_pe(). */
static inline __attribute__((always_inline)) struct cost_row
program_way(const struct program *p, const struct kb_topology *t, const struct txn *x)
{
    uint32_t from = x->src >> p->pe_bits, pe = x->src & ((1u << p->pe_bits) - 1);
    uint32_t to = x->dst >> p->unit_bits, unit = x->dst & ((1u << p->unit_bits) - 1);

    if (!p->regular || p->cubes[from].sip != p->cubes[to].sip) {
        const struct trip trip = txn_trip(t, x);

        return cost_of_pe(t, &trip);
    }
    if (from == to)
        return t->cost_local[pe * p->n_units + unit];
    const struct mesh_row *mesh =
        &t->cost_mesh[t->mesh_middle + p->cubes[to].pos - p->cubes[from].pos];
    struct cost_row way = cost_add(mesh->cost, &t->cost_out[pe * N_EXITS + mesh->exit]);

    return cost_add(way, &t->cost_in[mesh->side * p->n_units + unit]);
}

/* Links ideal: the drain of a route whose links are of `link_gbs`. */
static inline int64_t program_whole_drain(const struct program *p, const struct kb_topology *t,
                                          const struct txn *x, double link_gbs)
{
    double gbs = link_gbs + p->mask.link_gbs, last = program_service(p, t, x->dst)->last_gbs;

    return drain_fs(x->nbytes, gbs < last ? gbs : last);
}

/* The first step of a PE's, to which it comes at `*at_fs`, in `*cube`. */
static inline const struct step *program_enter(const struct program *p, const struct kb_topology *t,
                                               const struct txn *x, uint32_t *cube, uint64_t *at_fs)
{
    struct step_entry entry = program_entry(p, t, x, cube);

    *at_fs += (uint64_t)entry.lead_fs;
    return &p->steps[entry.row];
}

/* The same; its drain begins. */
static inline const struct step *program_begin(const struct program *p, const struct kb_topology *t,
                                               struct txn *x, uint32_t *cube, uint64_t *at_fs)
{
    if (!p->ideal) {
        x->drain_fs = 0;
        return program_enter(p, t, x, cube, at_fs);
    }
    struct cost_row way = program_way(p, t, x);

    x->drain_fs = program_whole_drain(p, t, x, way.link_gbs);
    if (!p->whole)
        return program_enter(p, t, x, cube, at_fs);
    *cube = 0;
    *at_fs += (uint64_t)cost_way_fs(&p->mask, way.wire_fs, way.overhead_fs);
    return &p->steps[p->to_memory];
}

/* The row of `x`, a host's; and room for all rows, NULL without memory. */
void program_make_host(const struct program *p, const struct kb_topology *t, const struct txn *x,
                       struct host_row *row);
struct host_row *program_make_hosts(struct program *p, const struct kb_topology *t);

/* The row of `x`, a host's; `*walked` if it cannot be kept, as each may go another way. */
static inline const struct host_row *program_host(struct program *p, const struct kb_topology *t,
                                                  const struct txn *x, struct host_row *walked)
{
    struct host_row *row = walked;

    if (t->regular && (p->hosts || program_make_hosts(p, t)))
        row = &p->hosts[x->dst];
    if (row == walked || !row->made)
        program_make_host(p, t, x, row);
    return row;
}

/* From the engine on, at which a host's is at `*at_fs`. */
static inline const struct step *program_behind_engine(struct program *p,
                                                       const struct kb_topology *t,
                                                       const struct txn *x, uint32_t *cube,
                                                       uint64_t *at_fs)
{
    struct host_row walked;

    if (!p->whole)
        return program_on(p, t, x, &p->steps[x->step.row], cube, at_fs);
    *at_fs += (uint64_t)program_host(p, t, x, &walked)->behind_fs;
    return &p->steps[p->to_memory];
}

#endif
