/*
 * program.h -- the steps of routes: what an engine needs to know of a machine while it runs.
 *
 * The generator's tables say which stations a request passes in a segment, a piece of a route
 * inside one chiplet (machine/walk.h). A program says the same, made for one simulation: delays are
 * one number, costs that are left out are left out, and each segment ends with a step of its own
 * that says where its requests go on. So the loop of an engine reads these rows, and nothing else
 * of the topology, and it is the same object code for a machine that was compiled and for one that
 * was loaded. There is one row for each station of each segment of one cube, not of each route:
 * 20 KB for cube8 and for a mesh of 8192 such cubes alike.
 *
 * A request is at a step in a cube. step_on() goes on to its next station, over as many ends of
 * segments as lie between, and says how long that takes.
 *
 * Example: cube8, c0.pe1 reads from c5.slice3 (ARCHITECTURE.md shows the route). Its steps are
 *
 *     in cube 0, of out[pe1][E]:     link pe_dma -> noc, link noc -> ucie-E, link to cube 1, exit E
 *     in cube 1, of pass[W][S]:      link ucie-W -> noc, link noc -> ucie-S, link to cube 5, exit S
 *     in cube 5, of in[N][slice3]:   link ucie-N -> noc, link noc -> xbar, link into slice3, memory
 *
 * From the link to cube 1 to the link behind it lie the rest of the first segment, 1.01 ns, and
 * nothing of the second: step_on() leads from one to the other in one call.
 */
#ifndef PROGRAM_H
#define PROGRAM_H
#include "machine/walk.h"
#include "engine/txn.h"

enum step_kind {
    STEP_LINK,     /* `station` counts from the first one of the cube */
    STEP_FAR_LINK, /* not of this cube, and found by walk_link(): `station` is its row of legs */
    STEP_ENGINE,   /* of the m_cpu of this cube */
    STEP_EXIT,     /* the segment, `station`, ends at `exit` */
    STEP_MEMORY    /* the route ends */
};

struct step {
    int64_t lead_fs; /* since the step before, or the begin of the segment */
    double gbs;
    int32_t station;
    uint8_t kind; /* enum step_kind */
    uint8_t fed;  /* in which runs it is passed in the same event as the step before: leg_row.fed */
    uint8_t exit;
};

/* A memory as a server that keeps order: what a service takes. */
struct service {
    int64_t done_fs;  /* beside the drain of the route */
    int64_t taken_fs; /* beside that of the memory, or of the route */
    double last_gbs;  /* of the edge into it */
    double own_gbs;   /* 0: it is taken as long as the route drains */
};

struct program {
    int64_t wire;       /* mask: 0 where wires are left out */
    struct step *steps; /* owned */
    uint32_t *first;    /* owned; [kind of cube][segment] */
    struct place_of_cube {
        uint16_t x, y, sip;
    } *cubes;                     /* owned; [cube over all SIPs] of a regular machine */
    struct service (*services)[2]; /* owned; [kind of cube], of slices, of SRAMs */
};

/* False: no memory; program_free() frees the part that was made. */
bool program_make(struct program *p, const struct kb_topology *t, const struct cost_mask *m);
void program_free(struct program *p);

/* Where it goes on behind the step of an exit, of any machine. */
struct step_at program_walk(const struct program *p, const struct kb_topology *t,
                            const struct txn *x, struct step_at at);

static inline uint32_t program_first(const struct program *p, const struct kb_topology *t,
                                     uint32_t cube, uint32_t segment)
{
    return p->first[cube_kind(t, cube) * t->n_segments + segment];
}

static inline const struct service *program_service(const struct program *p,
                                                    const struct kb_topology *t, uint32_t dst)
{
    return &p->services[cube_kind(t, dst_cube(t, dst))][!unit_is_slice(t, dst_unit(t, dst))];
}

/* The exit of `cube` towards `to`, another cube, where routes go by x and then by y. */
static inline uint32_t program_exit(const struct program *p, uint32_t cube, uint32_t to)
{
    struct place_of_cube a = p->cubes[cube], b = p->cubes[to];

    if (a.sip != b.sip)
        return a.x ? SIDE_W : EXIT_IO;
    if (a.x != b.x)
        return a.x < b.x ? SIDE_E : SIDE_W;
    return a.y < b.y ? SIDE_S : SIDE_N;
}

/* The same as program_walk(), of a regular machine, at a side. */
static inline struct step_at program_cross(const struct program *p, const struct kb_topology *t,
                                           const struct txn *x, uint32_t cube, uint32_t exit)
{
    uint32_t to = dst_cube(t, x->dst), unit = dst_unit(t, x->dst), side = walk_opposite(exit);
    uint32_t segment;

    cube = walk_neighbour(t, cube, exit);
    if (cube != to)
        segment = seg_of_pass(t, 0, side, program_exit(p, cube, to));
    else if (txn_of_host(x))
        segment = t->seg_host_in + unit;
    else
        segment = seg_of_in(t, 0, side, unit);
    return (struct step_at){p->first[segment], cube};
}

/* From `at` on to the next station of `x`; returns how long that takes. */
static inline int64_t step_on(const struct program *p, const struct kb_topology *t,
                              const struct txn *x, struct step_at *at)
{
    const struct step *step = &p->steps[++at->row];
    int64_t lead_fs = step->lead_fs;

    while (step->kind == STEP_EXIT) {
        if (t->regular && step->exit < N_SIDES)
            *at = program_cross(p, t, x, at->cube, step->exit);
        else {
            lead_fs += mesh_extra_fs(t, at->cube, step->exit) & p->wire;
            *at = program_walk(p, t, x, *at);
        }
        step = &p->steps[at->row];
        lead_fs += step->lead_fs;
    }
    return lead_fs;
}

/* The first step of a route, of any machine. */
struct step_at program_begin_walk(const struct program *p, const struct kb_topology *t,
                                  const struct txn *x);

/* The first step of a route. What lies before its station is that step's own lead_fs. */
static inline struct step_at program_begin(const struct program *p, const struct kb_topology *t,
                                           const struct txn *x)
{
    uint32_t cube = src_cube(t, x->src), to = dst_cube(t, x->dst), pe = src_pe(t, x->src), segment;

    if (!t->regular || txn_of_host(x))
        return program_begin_walk(p, t, x);
    segment = cube == to ? seg_of_local(t, 0, pe, dst_unit(t, x->dst))
                         : seg_of_out(t, 0, pe, program_exit(p, cube, to));
    return (struct step_at){p->first[segment], cube};
}

#endif
