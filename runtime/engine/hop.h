/* hop.h -- the slow, obvious engine: an event for each node and wire. The top of engine/hop.c has
 * how it works.
 */
#ifndef HOP_H
#define HOP_H
#include "engine/state.h"

/* Runs what kb_options.engine says is KB_HOP's, as inorder_run() does the rest. */
kb_status hop_run(struct kb_sim *s, uint64_t budget);

/* A transaction is issued at `t`, which is now: a row's, or that of a kernel's command. */
void hop_issue(struct kb_sim *s, uint64_t t, uint32_t slot);

/*
 * What it asks of kernels, and what it tells them: s->heard, NULL in a run without kernels. `slot`
 * has a transaction or a stage: the work that it does for a command of a PE.
 */
struct heard {
    /* Where the stage in `slot` comes to: a memory, or a port or engine of a PE. */
    struct memory_station *(*station)(struct kb_sim *s, uint32_t slot);
    /* Is it a stage inside a PE, which takes a port or an engine for a time known beforehand? */
    bool (*inside)(const struct kb_sim *s, uint32_t slot);
    /* The engine that it takes there, BOX_GEMM or BOX_MATH; N_BOXES: a port, or none. And whose. */
    enum box (*engine)(const struct kb_sim *s, uint32_t slot);
    uint32_t (*pe)(const struct kb_sim *s, uint32_t slot);
    /* The port of a TCM to which it comes, if that takes turns in order; NULL: it comes to none. */
    struct link_station *(*port)(struct kb_sim *s, uint32_t slot);

    /* A slot for what an L2 makes, for the work in `maker`, that comes to memory `dst`; TXN_NONE:
     * no memory. It is free again. */
    uint32_t (*child)(struct kb_sim *s, uint32_t maker, uint32_t dst);
    void (*drop)(struct kb_sim *s, uint32_t slot);

    /* Is it an atomic? */
    bool (*combines)(const struct kb_sim *s, uint32_t slot);

    /* Its service begins, and ends: the slot is free after that. */
    void (*begin)(struct kb_sim *s, uint64_t t, uint32_t slot);
    void (*end)(struct kb_sim *s, uint64_t t, uint32_t slot);
    /* The same of a part of a transaction that is split; `last`: the whole ends, too. */
    void (*part)(struct kb_sim *s, uint64_t t, uint32_t slot, bool last);
    /* With routers: service of a read ends, and its data are those that lie there now. */
    void (*data)(struct kb_sim *s, uint32_t slot);
    /* A word that takes no station (a credit, the release of a barrier) reaches its PE. */
    void (*word)(struct kb_sim *s, uint64_t t, uint32_t slot);

    /* The first event of class 4: a kernel starts, goes on, or has its command issued. EV_NONE:
     * there is none. Takes that event, and runs it. */
    ev (*next)(const struct kb_sim *s);
    void (*wake)(struct kb_sim *s, ev e);
};

/* Is it an atomic that holds its memory for twice the time of a write? */
static inline bool is_twice(const struct kb_sim *s, uint32_t slot)
{
    const struct txn *txn = &s->txns[slot];

    return s->heard && cost_memory(s->topo, txn->dst, txn_writes(txn))->atomic != ATOMIC_WRITE &&
           s->heard->combines(s, slot);
}

#endif
