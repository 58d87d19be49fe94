/* no_kernels.h -- the calls from the engine to kernels, where a run has none: they do nothing.
 *
 * The steps of the engine of arrivals are compiled twice: for runs of kernels (pe/pe_engine.c), and
 * for all others (engine/inorder_run.c). The second knows nothing of kernels; it gets these
 * definitions, and the compiler drops the calls, because HOW_KERNELS is not set there.
 * kernels/hooks.h and kernels/heard.h define the same functions themselves, so that a step and the
 * kernel that it wakes become one function. No symbol of kernels is named where there are none:
 * this also links at -O0. hop asks by pointers instead, struct heard of engine/hop.h.
 */
#ifndef NO_KERNELS_H
#define NO_KERNELS_H
#include "engine/state.h"

/* Is it a stage inside a PE, which takes a port or an engine for a time known beforehand? */
static inline bool kernels_inside_pe(const struct kb_sim *s, uint32_t slot)
{
    (void)s, (void)slot;
    return false;
}

/* The engine that it takes there, BOX_GEMM or BOX_MATH; N_BOXES: a port, or none. And whose. */
static inline enum box kernels_engine_box(const struct kb_sim *s, uint32_t slot)
{
    (void)s, (void)slot;
    return N_BOXES;
}

static inline uint32_t kernels_pe_number(const struct kb_sim *s, uint32_t slot)
{
    (void)s, (void)slot;
    return 0;
}

/* The port or engine of a PE that it comes to: the time at which that is free. */
static inline struct link_station *kernels_port(struct kb_sim *s, uint32_t slot)
{
    (void)s, (void)slot;
    return NULL;
}

/*
 * It takes no time, and waits for an engine of a PE: false, or its end is no event before that of
 * the one in front has run. And what of these follows `slot`, whose service ends at `t`; TXN_NONE.
 */
static inline bool kernels_put_off(struct kb_sim *s, uint32_t slot)
{
    (void)s, (void)slot;
    return false;
}

static inline uint32_t kernels_next_empty(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    (void)s, (void)t, (void)slot;
    return TXN_NONE;
}

/* With routers: service of a read ends, and its data are those that lie there now. */
static inline void kernels_data_served(struct kb_sim *s, uint32_t slot)
{
    (void)s, (void)slot;
}

/* What the last transaction cost of the PE whose transaction is in `slot`, that went the same way.
 */
static inline struct known_cost *kernels_known_cost(struct kb_sim *s, uint32_t slot)
{
    (void)s, (void)slot;
    return NULL;
}

/* No transaction of a kernel reaches memory `unit` of a cube in less time; < 0: not known. */
static inline int64_t kernels_least_way_fs(const struct kb_sim *s, uint32_t unit)
{
    (void)s, (void)unit;
    return -1;
}

/* Is it an atomic? */
static inline bool kernels_combine(const struct kb_sim *s, uint32_t slot)
{
    (void)s, (void)slot;
    return false;
}

/* The service of `slot` begins at `t`, and ends at `t`: the slot is free after that. */
static inline void kernels_begin_service(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    (void)s, (void)t, (void)slot;
}

static inline void kernels_end_service(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    (void)s, (void)t, (void)slot;
}

/* The same of a part of a transaction that is split; `last`: the whole ends, too. */
static inline void kernels_end_part(struct kb_sim *s, uint64_t t, uint32_t slot, bool last)
{
    (void)s, (void)t, (void)slot, (void)last;
}

/* A word that takes no station (a credit, the release of a barrier) reaches its PE. */
static inline void kernels_word_arrived(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    (void)s, (void)t, (void)slot;
}

/* The first event of class 4: a kernel starts, goes on, or has its command issued. */
static inline ev kernels_next(const struct kb_sim *s)
{
    (void)s;
    return EV_NONE;
}

/* Takes that event, and runs it. */
static inline void kernels_take(struct kb_sim *s, ev e)
{
    (void)s, (void)e;
}

#endif
