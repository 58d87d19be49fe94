/* serving.h -- what a memory that chooses (network/server.h) tells the engine that runs. */
#ifndef SERVING_H
#define SERVING_H
#include "engine/state.h"

/* What is in the slot of the event of a wake: the memory. */
enum { WAKE_MEMORY_BIT = EV_SLOT_BITS - 1 };
#define WAKE_OF_MEMORY (UINT32_C(1) << WAKE_MEMORY_BIT)

static inline bool is_wake_of_memory(uint32_t slot)
{
    return slot & WAKE_OF_MEMORY;
}

static inline uint32_t memory_of_wake(uint32_t slot)
{
    return slot & (WAKE_OF_MEMORY - 1);
}

/* The service of `slot` ends at `t`. */
void serving_end(struct kb_sim *s, uint64_t t, uint32_t slot);

/* Memory `dst` has to wake at `t`. */
void serving_wake(struct kb_sim *s, uint64_t t, uint32_t dst);

#endif
