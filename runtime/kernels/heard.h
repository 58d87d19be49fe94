/* heard.h -- what follows in a PE when a stage of its kernel has ended. */
#ifndef KERNELS_HEARD_H
#define KERNELS_HEARD_H
#include "kernels/hooks.h"
#include "pe/boxes.h"

static inline void kernels_data_served(struct kb_sim *s, uint32_t slot)
{
    if (!s->splits || s->splits[slot].whole == slot)
        pe_data_arrived(s, slot);
}

/* With routers a read that is no stage of several parts had its data at the end of its service. */
static inline bool data_were_served(const struct kb_sim *s, uint32_t slot)
{
    return !kernels_inside_pe(s, slot) && !txn_writes(&s->txns[slot]) && !is_split(s, slot);
}

static inline __attribute__((always_inline)) void kernels_end_service(struct kb_sim *s, uint64_t t,
                                                                      uint32_t slot)
{
    if (s->topo->links != MODE_ROUTER || !data_were_served(s, slot))
        pe_data_arrived(s, slot);
    service_end(s, &s->kernels->work[slot], t);
    pe_stage_done(s, t, slot);
}

/*
 * Rare, and kept out of the hot code. The service of the whole is that of its part that ends last,
 * the first of several: arrive_fs of the whole is the last end until now.
 */
static __attribute__((noinline)) void kernels_end_part(struct kb_sim *s, uint64_t t, uint32_t slot,
                                                       bool last)
{
    uint32_t whole = s->splits[slot].whole;
    struct txn *of = &s->txns[whole], *part = &s->txns[slot];

    if ((int64_t)t > of->arrive_fs) {
        of->arrive_fs = (int64_t)t;
        service_begin(&s->kernels->work[whole], txn_start_fs(part));
    }
    if (STATS && s->kernels->work[slot].port)
        tcm_count_port(s, &s->kernels->work[slot], part);
    slot_free(s, slot);
    if (last)
        kernels_end_service(s, t, whole);
}

static inline void kernels_word_arrived(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    pe_word_arrived(s, t, slot);
}

static inline void kernels_take(struct kb_sim *s, ev e)
{
    wakes_take(&s->kernels->wakes);
    kernel_event(s, ev_time_fs(e), ev_slot(e));
}

#endif
