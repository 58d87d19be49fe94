/* hop_way.h -- what a transaction of the hop engine comes to behind its channel: nodes, links, its
 * memory. All of it posts events, and returns.
 */
#ifndef HOP_WAY_H
#define HOP_WAY_H
#include "engine/hop.h"
#include "engine/how.h"

/* For what it shares with other engines, which ask how a run goes. */
static inline int hop_how(const struct kb_sim *s)
{
    return HOW_HOP | HOW_COUNTED | (s->heard ? HOW_KERNELS : 0);
}

/* Is it a stage of a kernel's command inside its PE? */
static inline bool hop_is_inside(const struct kb_sim *s, uint32_t slot)
{
    return s->heard && s->heard->inside(s, slot);
}

/* Does it go through routers? */
static inline bool hop_is_routed(const struct kb_sim *s, uint32_t slot)
{
    return s->topo->links == MODE_ROUTER && !hop_is_inside(s, slot);
}

/* It leaves its channel, or a host's its pcie_ep, and comes to its first node. */
void hop_set_out(struct kb_sim *s, uint64_t t, uint32_t slot);

/* A host's has the engine of its m_cpu, and leaves that node. */
void hop_leave_m_cpu(struct kb_sim *s, uint64_t t, uint32_t slot);

/* An event of class 1 of a transaction: a node, a crossing or a wire has passed. */
void hop_on(struct kb_sim *s, uint64_t t, uint32_t slot);

/* It arrives at the link behind its node. */
void hop_take_link(struct kb_sim *s, uint64_t t, uint32_t slot);

/* It, or a part that comes from routers, arrives at its memory; a stage, at its port or engine. */
void hop_come_to_memory(struct kb_sim *s, uint64_t t, uint32_t slot);

/* The event of an end, at which it only gives back the engine of a PE? The end comes later then. */
bool hop_frees_engine(struct kb_sim *s, uint64_t t, uint32_t slot);

/* Its service has ended: what it still holds goes to the next. */
void hop_leave_memory(struct kb_sim *s, uint64_t t, uint32_t slot);

#endif
