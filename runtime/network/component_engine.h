/* component_engine.h -- pe_gemm and pe_math that are components (`cube.pe.pe_gemm.impl`).
 *
 * It holds        a stage of a dot, of a math command or of a tile, from the begin of its service
 * For how long    hold_fs, then the next may begin; the stage itself ends at done_fs
 * Goes first      first come, first served
 * Wait counted    engine_wait of --breakdown
 * Golden number   docs/components.md "What is shipped"
 *
 * The engine is asked when the service begins, and says two times: when it is free, and when the
 * stage is done. As a pipeline it may be free before: then the next stage begins sooner.
 */
#ifndef NETWORK_COMPONENT_ENGINE_H
#define NETWORK_COMPONENT_ENGINE_H
#include "network/component_memory.h"

/* The component that serves the stage in `slot`; NULL: it is built in, or a port. */
static ALWAYS_INLINE const struct impl *engine_impl(const struct kb_sim *s, int how, uint32_t slot)
{
    const struct impl *impl;
    enum box box;

    if (!(how & HOW_KERNELS) || !T->impls || !T->impls->engines)
        return NULL;
    box = kernels_engine_box(s, slot);
    if (box == N_BOXES)
        return NULL;
    impl = box_impl(T, src_cube(T, s->txns[slot].src), box);
    return impl->serve ? impl : NULL;
}

static inline struct kb_request engine_request(const struct kb_sim *s, uint32_t pe, uint32_t slot)
{
    const struct served *work = &s->instances.served[slot];

    return (struct kb_request){
        .id = s->txns[slot].id,
        .source = pe,
        .overhead_fs = s->txns[slot].hold_fs - work->cycles_fs,
        .m = work->m,
        .k = work->k,
        .n = work->n,
        .cycles = work->cycles,
        .cycles_fs = work->cycles_fs,
        .dtype_a = work->dtype_a,
        .dtype_b = work->dtype_b,
        .dtype_acc = work->dtype_acc,
    };
}

/* Asks the component that is an engine of PE `pe`: how long the stage takes. Returns when the
 * engine is free again. */
static inline uint64_t ask_engine(struct kb_sim *s, const struct impl *impl, uint32_t pe,
                                  uint64_t start, uint32_t slot)
{
    struct kb_request request = engine_request(s, pe, slot);
    struct kb_served answer =
        impl->serve(s->instances.engines + (2 * (size_t)request.source + (impl->box == BOX_MATH)) *
                                               instance_of_engine_bytes(T->impls),
                    &request, (int64_t)start);

    if (!is_answer(start, answer)) {
        instances_fault(s, impl, slot, start, answer);
        fail(s, KB_COMPONENT_ERROR);
        return EV_PAST;
    }
    if (answer.done_fs == INT64_MAX)
        instances_never(s, impl, slot);
    s->txns[slot].hold_fs = answer.done_fs - (int64_t)start;
    s->instances.served[slot].done_fs = answer.done_fs;
    return start + (uint64_t)answer.hold_fs;
}

/*
 * The same where `station` keeps the time at which it is free: of a stage whose turn begins at
 * `start`. Returns when it is done; COMPONENT_NEVER: it never is.
 */
static inline uint64_t ask_in_turn(struct kb_sim *s, const struct impl *impl,
                                   struct link_station *station, uint64_t start, uint32_t slot)
{
    uint64_t free_fs = ask_engine(s, impl, kernels_pe_number(s, slot), start, slot);
    uint64_t done_fs = (uint64_t)s->instances.served[slot].done_fs;

    if (s->status != KB_OK)
        return COMPONENT_NEVER;
    station->free_fs = (int64_t)free_fs;
    station->busy_fs += free_fs - start;
    return done_fs == INT64_MAX && free_fs != done_fs ? COMPONENT_NEVER : done_fs;
}

#endif
