/* instances.h -- the states of components: one for each station or node that one stands for. */
#ifndef INSTANCES_H
#define INSTANCES_H
#include "engine/queues.h"
#include "machine/tables.h"

struct kb_sim;
struct txn;

/* What a component has said of the transaction in a slot. */
struct served {
    union {
        int64_t done_fs;   /* its service ends, and its data are there */
        int64_t memory_fs; /* behind routers: what its memory adds to the drain */
    };
    int64_t delay_fs; /* in nodes that are components, less what the tables have for these */
    uint64_t offset;  /* where its bytes lie in its memory */
    int64_t node_fs;  /* of these, in the one where it came last */
    /* of a stage of an engine that is a component, from its begin on */
    uint32_t m, k, n;
    uint64_t cycles;
    union {
        int64_t cycles_fs;
        int64_t alone_fs; /* behind routers: of a transaction alone, as memory_fs */
    };
};

/* All NULL: no box of the machine is a component. */
struct instances {
    unsigned char *memories; /* owned; [dst_pack()], each instance_bytes() long */
    unsigned char *nodes;    /* owned; [walk_node()], each instance_of_node_bytes() long */
    unsigned char *engines;  /* owned; [number of the PE][0 pe_gemm, 1 pe_math] */
    struct served *served;   /* owned; [slot] */
    struct queues queues;    /* memories that queue */
    uint32_t never;          /* transactions that a component never ends */
    char *fault; /* owned; FAULT_BYTES; a component has broken its contract: the message */
};

/* Room for a state, aligned for any type. */
static inline size_t instance_bytes(size_t bytes)
{
    return (bytes + 15) & ~(size_t)15;
}

/* The largest of a memory: the stride of instances.memories. */
static inline size_t instance_of_memory_bytes(const struct impls *impls)
{
    size_t hbm = instance_bytes(impls->of[BOX_HBM].bytes);
    size_t sram = instance_bytes(impls->of[BOX_SRAM].bytes);

    return hbm > sram ? hbm : sram;
}

enum { FAULT_BYTES = 512 };

/* The largest of a node: the stride of instances.nodes. */
static inline size_t instance_of_node_bytes(const struct impls *impls)
{
    static const enum box boxes[] = {BOX_FABRIC, BOX_PCIE_EP, BOX_UCIE, BOX_NOC, BOX_XBAR};
    size_t most = 0;

    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++)
        if (instance_bytes(impls->of[boxes[i]].bytes) > most)
            most = instance_bytes(impls->of[boxes[i]].bytes);
    return most;
}

/* The stride of instances.engines. */
static inline size_t instance_of_engine_bytes(const struct impls *impls)
{
    size_t gemm = instance_bytes(impls->of[BOX_GEMM].bytes);
    size_t math = instance_bytes(impls->of[BOX_MATH].bytes);

    return gemm > math ? gemm : math;
}

/* The box of a memory of a cube. */
static inline enum box box_of_unit(const struct kb_topology *t, uint32_t unit)
{
    return unit < t->slices ? BOX_HBM : BOX_SRAM;
}

static inline bool memory_is_component(const struct kb_topology *t, uint32_t unit)
{
    return t->impls && unit <= t->slices && t->impls->of[box_of_unit(t, unit)].bytes;
}

static inline bool memory_queues(const struct kb_topology *t, uint32_t unit)
{
    return t->impls && unit <= t->slices && t->impls->of[box_of_unit(t, unit)].arrive;
}

/* Idle instances of all; false without memory, and then instances_free() frees the rest. */
bool instances_init(struct kb_sim *s);
void instances_free(struct kb_sim *s);

/* Room for `n` slots. False without memory. */
bool instances_room(struct kb_sim *s, uint32_t n);

/* A new transaction in `slot`: its bytes lie at `offset` of its memory. */
static inline void instance_place(struct instances *all, uint32_t slot, uint64_t offset)
{
    if (!all->served)
        return;
    all->served[slot].offset = offset;
    all->served[slot].delay_fs = 0;
}

/* The instance of memory `dst`, as at the start of a run; those of all nodes. */
void instance_clear_memory(struct kb_sim *s, uint32_t dst);
void instances_clear_nodes(struct kb_sim *s);

/*
 * The costs of `txn`, which has been served: by the tables, but where a component was asked, by its
 * answer. The memory's term may be negative.
 */
struct kb_cost sim_cost(const struct kb_sim *s, const struct txn *txn);

/* Component `impl`, which stands for memory `dst`, has answered what it may not. */
void instances_fault(struct kb_sim *s, enum box box, uint32_t slot, uint64_t now_fs,
                     struct kb_served answer);

/* It never ends a transaction: the message of a run that goes on until nothing else is left. */
void instances_never(struct kb_sim *s, enum box box, uint32_t slot);

#endif
