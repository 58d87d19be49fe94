/* kernels.h -- a run of kernels: all that changes while they run. */
#ifndef KERNELS_H
#define KERNELS_H
#include "engine/state.h"
#include "kernels/unit.h"
#include "kernels/wakes.h"
#include "machine/pes.h"
#include "pe/pe.h"
#include "pe/token.h"

/* A launch, from kb_launch() on. It stays where it is.  launches.c */
struct launch {
    struct kb_launch_request request; /* pes owned; `after` is not kept */
    struct kb_launch_result result;
    uint32_t number;
    bool sent, begun, done;    /* it has set out; its kernels have begun; it has ended */
    uint32_t running;          /* PEs that have not ended */
    size_t lacks;              /* launches that it waits for and that have not ended */
    int64_t ready_fs;          /* the last response of those that it waits for */
    struct launch **followers; /* owned: that wait for it */
    size_t n_followers, followers_cap;
    uint32_t *before; /* owned: numbers of those that it waits for */
    size_t n_before;
    const struct launch *marked_by; /* the last that has found it among those that it waits for */

    struct ipcq *ipcq;          /* queues between its PEs; owned; NULL until one is needed */
    struct barriers *barriers;  /* the same */
    struct coll_orders *orders; /* of groups of collectives; the same */
    struct launch *left;        /* the next of those that have ended and left such things */
};

struct kernels {
    struct tl_ctx *pes; /* owned; by number: machine/pes.h */
    uint32_t n_pes;
    struct link_station *ports; /* owned; [number of the PE][enum port]: where they keep order */
    bool many;                  /* so many that their state does not fit the cache */
    struct mem *mem;            /* borrowed from the host's side */
    struct co_pool *stacks;

    struct launch **launches; /* owned, and each */
    size_t n_launches, launches_cap;
    struct launch **last_on; /* owned; [PE]: the last that was added; NULL: none */
    bool busy;             /* events are left: memories may have some when all launches are done */
    bool streams;          /* not all launches are of one stream */
    size_t n_sent, n_done; /* that have set out; that have ended */
    struct launch *left;   /* that have ended, with queues to be freed */
    bool watched;          /* sim_is_watched() */
    int how;               /* pe/pe_engine.c runs it: enum how, and more */
    bool reaches_tcms;     /* a transaction of a command has gone to a TCM */
    struct tl_ctx *on;     /* the PE of the kernel that runs now; NULL: none */
    struct bound *bound;   /* its commands are weighed, not carried out: bound.c; NULL: no */

    struct wakes wakes;
    uint32_t ahead;        /* events that a kernel may still run itself, see engine_until() */
    int64_t *issue_fs;     /* owned; [kind]: from a call to the issue of its command */
    int64_t *least_way_fs; /* [unit]: no transaction reaches it sooner; < 0: not known. Owned */

    uint64_t now_fs;
    uint64_t next_id;   /* of the next command: docs/model.md "Order of events" */
    struct skip *skips; /* owned: ids that are left free; kernels/skips.h */
    size_t n_skips, skips_cap;

    struct work *work; /* owned; [slot] */
    uint32_t n_slots, slots_cap, free_slot;
    uint32_t empty; /* stages that take no time and wait for an engine, as they came; TXN_NONE */
    uint32_t *part_slots; /* owned: of the transaction that is being split */
    size_t parts_cap;
    struct targets *targets; /* owned: of the multicast that is being split; NULL: of none so far */

    struct slot_room *sram_room, *hbm_room; /* owned; [cube], [slice_index()]; NULL: none so far */

    struct command *free_commands[2], *commands; /* [whole_row]; the last made */
    uint32_t n_commands;                         /* rows that were made */
    struct token *free_tokens;
    struct tl_tensor *free_tensors;
    struct tcm_block *free_blocks;
    struct tl_acc *free_accs;
    struct chunk *chunks; /* all memory of these */
    struct region *regions;

    struct kb_error error; /* why the run has ended */
};

/* Draws of ids that are left free, in order. Lists are the kernel's. */
struct skip {
    const tl_draw *draw;
    size_t n;
    int64_t later_fs;
    const uint32_t *pes;
};

/* NULL: no memory. */
struct kernels *kernels_new(struct kb_sim *s);
void kernels_free(struct kernels *k);

/* Runs launches until nothing is left, or for `budget` events. As kb_sim_run(). */
kb_status kernels_run(struct kb_sim *s, uint64_t budget, kb_error *why);

/* Launches that have set out and not ended. */
static inline size_t launches_under_way(const struct kernels *k)
{
    return k->n_sent - k->n_done;
}

/* What the launch of the PE counts. */
static inline struct kb_launch_result *pe_result(const struct tl_ctx *pe)
{
    return &pe->launch->result;
}

/* What a PE's cube has. */
static inline const struct kind_row *pe_kind(const struct tl_ctx *pe)
{
    return kind_at(pe->sim->topo, src_cube(pe->sim->topo, pe->src));
}

/* Its TCM, by the port for reads or for writes. */
static inline const struct memory_row *pe_port(const struct tl_ctx *pe, enum port port)
{
    return port == PORT_TCM_READ ? &pe_kind(pe)->tcm_read : &pe_kind(pe)->tcm_write;
}

/* How long after a call its command is issued. */
static inline int64_t pe_issue_fs(const struct tl_ctx *pe)
{
    return pe->kernels->issue_fs[cube_kind(pe->sim->topo, src_cube(pe->sim->topo, pe->src))];
}

/* Has any PE of the launch sent to another, or come to a barrier? */
static inline bool launch_talks(const struct launch *l)
{
    return l->ipcq || l->barriers;
}

/* The PE that a TCM belongs to, by the TCM's number as a memory. */
static inline struct tl_ctx *pe_of_tcm(const struct kb_sim *s, uint32_t dst)
{
    const struct kb_topology *t = s->topo;

    return &s->kernels->pes[pe_number(t, src_of_tcm(t, dst))];
}

/* The port of a TCM by which a transaction comes that reads it, or writes. */
static inline struct link_station *port_of_tcm(const struct kb_sim *s, uint32_t dst, bool writes)
{
    return &s->kernels->ports[pe_of_tcm(s, dst)->number * N_PORTS +
                              (writes ? PORT_TCM_WRITE : PORT_TCM_READ)];
}

/* `delay_fs` after `t`; EV_PAST if that is past the end of time. */
static inline uint64_t later(uint64_t t, int64_t delay_fs)
{
    uint64_t sum = t + (uint64_t)delay_fs;

    return sum < EV_PAST ? sum : EV_PAST;
}

/* Has what is needed for the bytes of a pending version computed. */
typedef kb_status compute_version(struct kb_sim *s, struct version *v, kb_error *why);

/* tl_value() and tl_values(), by what computes.  tl_value.c */
double value_element(tl_here here, struct tl_ctx *tl, struct tl_tensor *x, int64_t i,
                     compute_version *by);
const void *value_all(tl_here here, struct tl_ctx *tl, struct tl_tensor *x, compute_version *by);

/* The operation of a command that has started and not ended; NULL: there is none.  pool.c */
const struct op *kernels_op_under_way(const struct kernels *k, uint32_t id);

/* Nothing is pending, and kernels have not ended: names a command that waits.  deadlock.c */
KERNELS_RARE kb_status deadlock(struct kb_sim *s);

/* Zeros, which the caller frees; leaves the kernel if there is no memory.  tl_program.c */
void *kernels_room(tl_here here, struct tl_ctx *tl, size_t n, size_t bytes);
/* The bytes of what tl_alloc() gave become 0, as if they were written before the run. *zeros is
 * what was used before, or NULL; the caller owns it. */
void kernels_begin_with_zeros(tl_here here, struct tl_ctx *tl, struct tl_tensor *x,
                              struct version **zeros);

/* Names that tl_region() has kept.  tl_program.c */
KERNELS_RARE void regions_free(struct kernels *k);

#endif
