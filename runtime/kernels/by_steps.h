/* by_steps.h -- the steps of engine/steps.h for runs of kernels, which reach PEs by
 * s->heard.
 */
#ifndef KERNELS_BY_STEPS_H
#define KERNELS_BY_STEPS_H
#include "engine/hop.h"
#include "kernels/engine.h"
#include "kernels/hooks.h"

static inline void kernels_data_served(struct kb_sim *s, uint32_t slot)
{
    s->heard->data(s, slot);
}

static inline void kernels_end_service(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    s->heard->end(s, t, slot);
}

static inline void kernels_end_part(struct kb_sim *s, uint64_t t, uint32_t slot, bool last)
{
    s->heard->part(s, t, slot, last);
}

static inline void kernels_word_arrived(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    s->heard->word(s, t, slot);
}

static inline void kernels_take(struct kb_sim *s, ev e)
{
    s->heard->wake(s, e);
}

#include "engine/steps.h"

#endif
