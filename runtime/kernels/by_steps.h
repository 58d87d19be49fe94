/* by_steps.h -- the steps of engine/steps.h for runs of kernels, which reach PEs by
 * s->kernels->heard.
 */
#ifndef KERNELS_BY_STEPS_H
#define KERNELS_BY_STEPS_H
#include "kernels/engine.h"
#include "kernels/hooks.h"

static inline void kernels_data_served(struct kb_sim *s, uint32_t slot)
{
    s->kernels->heard->data(s, slot);
}

static inline void kernels_end_service(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    s->kernels->heard->end(s, t, slot);
}

static inline void kernels_end_part(struct kb_sim *s, uint64_t t, uint32_t slot, bool last)
{
    s->kernels->heard->part(s, t, slot, last);
}

static inline void kernels_word_arrived(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    s->kernels->heard->word(s, t, slot);
}

static inline void kernels_take(struct kb_sim *s, ev e)
{
    s->kernels->heard->wake(s, e);
}

#include "engine/steps.h"

/* A run that is observed or counted need not be fast: one engine tests `how` at every step. */
static inline int how_watched(const struct kb_sim *s)
{
    return HOW_KERNELS | HOW_COUNTED | (s->options.engine == KB_HOP ? HOW_HOP : 0);
}

#endif
