/* steps.h -- the steps of the engine for runs of kernels: engine/steps.h, with its calls of
 * kernels.
 */
#ifndef KERNELS_STEPS_H
#define KERNELS_STEPS_H
#include "engine/engine.h"
#include "engine/router.h"
#include "engine/split.h"
#include "kernels/service.h"
#include "pe/boxes.h"

/* -- what the engine asks of kernels: engine/no_kernels.h tells each call --------------------- */

#define CALLS_KERNELS

static inline struct memory_station *kernels_station(struct kb_sim *s, uint32_t slot)
{
    return s->kernels->work[slot].station;
}

static inline bool kernels_inside_pe(const struct kb_sim *s, uint32_t slot)
{
    return !work_is_dma(&s->kernels->work[slot]);
}

static inline enum box kernels_engine_box(const struct kb_sim *s, uint32_t slot)
{
    uint8_t stage = s->kernels->work[slot].stage;

    return stage == STAGE_GEMM ? BOX_GEMM : stage == STAGE_MATH ? BOX_MATH : N_BOXES;
}

static inline uint32_t kernels_pe_number(const struct kb_sim *s, uint32_t slot)
{
    return s->kernels->work[slot].command->pe->number;
}

static inline uint64_t *kernels_port_free(struct kb_sim *s, uint32_t slot)
{
    const struct work *work = &s->kernels->work[slot];
    const struct memory_station *ports = work->command->pe->port;
    bool writes = work->station == &ports[PORT_TCM_WRITE];
    uint32_t src = work->command->pe->src;

    if (!writes && work->station != &ports[PORT_TCM_READ])
        return NULL;
    return &s->router
                ->sinks[dst_pack(s->topo, src_cube(s->topo, src),
                                 unit_of_tcm(s->topo, src_pe(s->topo, src)))]
                .free_fs[writes];
}

static inline void kernels_data_served(struct kb_sim *s, uint32_t slot)
{
    if (!s->splits || s->splits[slot].whole == slot)
        pe_data_arrived(s, slot);
}

static inline struct known_cost *kernels_known_cost(struct kb_sim *s, uint32_t slot)
{
    const struct work *work = &s->kernels->work[slot];

    return &work->command->pe->cost[work->stage];
}

static inline int64_t kernels_least_way_fs(const struct kb_sim *s, uint32_t unit)
{
    return s->kernels->least_way_fs[unit];
}

static inline void kernels_begin_service(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    service_begin(&s->kernels->work[slot], t);
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

/* Rare, and kept out of the hot code. */
static __attribute__((noinline)) void kernels_end_part(struct kb_sim *s, uint64_t t, uint32_t slot,
                                                       bool last)
{
    uint32_t whole = s->splits[slot].whole;

    slot_free(s, slot);
    if (last)
        kernels_end_service(s, t, whole);
}

static inline void kernels_word_arrived(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    pe_word_arrived(s, t, slot);
}

static inline ev kernels_next(const struct kb_sim *s)
{
    return s->kernels->wakes.next;
}

static inline void kernels_take(struct kb_sim *s, ev e)
{
    wakes_take(&s->kernels->wakes);
    kernel_event(s, ev_time_fs(e), ev_slot(e));
}

#include "engine/steps.h"

/* A run that is observed or counted need not be fast: one engine tests `how` at every step. */
static inline int how_watched(const struct kb_sim *s)
{
    return HOW_KERNELS | HOW_COUNTED | (s->options.engine == KB_HOP ? HOW_HOP : 0);
}

#endif
