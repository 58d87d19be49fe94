/* instances.h -- the states of components: one for each station or node that one stands for. */
#ifndef INSTANCES_H
#define INSTANCES_H
#include "engine/queues.h"
#include "machine/box_impl.h"

struct alone;
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
    int64_t cycles_fs;
    uint8_t dtype_a, dtype_b, dtype_acc; /* of a product; else 0 */
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

/* The strides of instances.memories, .nodes and .engines. */
static inline size_t instance_of_memory_bytes(const struct impls *impls)
{
    return instance_bytes(impls->memory_bytes);
}

static inline size_t instance_of_node_bytes(const struct impls *impls)
{
    return instance_bytes(impls->node_bytes);
}

static inline size_t instance_of_engine_bytes(const struct impls *impls)
{
    return instance_bytes(impls->engine_bytes);
}

enum { FAULT_BYTES = 512 };

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

/* What the transaction in `slot`, whose route drains it in `drain_fs`, would take of its memory if
 * it were alone. */
struct alone sim_alone(const struct kb_sim *s, uint32_t slot, int64_t drain_fs);

/*
 * The costs of `txn`, which has been served: by the tables, but where a component was asked, by its
 * answer. Data of a read of several memories are late by what joining them takes. The memory's term
 * may be negative.
 */
struct kb_cost sim_cost(const struct kb_sim *s, const struct txn *txn);

/* Component `impl` has answered what it may not. */
void instances_fault(struct kb_sim *s, const struct impl *impl, uint32_t slot, uint64_t now_fs,
                     struct kb_served answer);

/* It never ends a transaction: the message of a run that goes on until nothing else is left. */
void instances_never(struct kb_sim *s, const struct impl *impl, uint32_t slot);

#endif
