/* hooks.h -- what the steps of an engine ask of kernels: engine/no_kernels.h tells each call.
 *
 * What a stage needs to know lies here. What follows when one ends is in kernels/heard.h.
 */
#ifndef KERNELS_HOOKS_H
#define KERNELS_HOOKS_H
#define CALLS_KERNELS /* for engine/how.h */
#include "engine/engine.h"
#include "engine/router.h"
#include "engine/split.h"
#include "kernels/service.h"

/* hop: the station that the stage in `slot` comes to, a memory, or a port or engine of a PE. */
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

static inline __attribute__((always_inline)) struct link_station *kernels_port(struct kb_sim *s,
                                                                               uint32_t slot)
{
    const struct work *work = &s->kernels->work[slot];
    const struct tl_ctx *pe =
        work_is_dma(work) ? pe_of_tcm(s, s->txns[slot].dst) : work->command->pe;

    return &s->kernels->ports[pe->number * N_PORTS + (size_t)(work->station - pe->port)];
}

/*
 * hop: the port of a TCM that keeps no holder, but the time at which it is free: with routers, as
 * packets take it, too, and where it is free before what it serves is done. NULL: none.
 */
static inline struct link_station *kernels_port_in_order(struct kb_sim *s, uint32_t slot)
{
    struct link_station *station = kernels_port(s, slot);
    size_t number = (size_t)(station - s->kernels->ports);
    enum port port = (enum port)(number % N_PORTS);
    bool in_order = port <= PORT_TCM_WRITE &&
                    (s->topo->links == MODE_ROUTER ||
                     memory_frees_early(pe_port(&s->kernels->pes[number / N_PORTS], port)));

    return in_order ? station : NULL;
}

static inline bool kernels_put_off(struct kb_sim *s, uint32_t slot)
{
    uint32_t *link = &s->kernels->empty;

    if (kernels_engine_box(s, slot) == N_BOXES)
        return false;
    while (*link != TXN_NONE)
        link = &s->txns[*link].next;
    s->txns[slot].next = TXN_NONE;
    *link = slot;
    return true;
}

static inline uint32_t kernels_next_empty(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    uint32_t *link = &s->kernels->empty, next = *link;

    while (__builtin_expect(next != TXN_NONE, false) &&
           (s->txns[next].service_fs != (int64_t)t ||
            kernels_port(s, next) != kernels_port(s, slot))) {
        link = &s->txns[next].next;
        next = *link;
    }
    if (next != TXN_NONE)
        *link = s->txns[next].next;
    return next;
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

static inline ev kernels_next(const struct kb_sim *s)
{
    return s->kernels->wakes.next;
}

static inline bool kernels_combine(const struct kb_sim *s, uint32_t slot)
{
    const struct work *work = &s->kernels->work[slot];

    return work->command && work_is_dma(work) &&
           (work->command->task == TASK_ATOMIC || work->command->task == TASK_COMBINE);
}

static inline void kernels_begin_service(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    service_begin(&s->kernels->work[slot], t);
}

#endif
