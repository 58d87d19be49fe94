/* component_memory.h -- a memory that is a component (`cube.hbm.impl`): its call, and its answer.
 *
 * It holds        what the component says: hold_fs from the begin of service
 * Goes first      first come, first served: the smallest (arrival, id), as any early memory
 * Wait counted    queue_memory = service begins - arrival (KB_WAIT_MEMORY)
 * Golden number   docs/components.md
 *
 * It is a memory that is free before its transaction is done (network/turn.h), but both
 * times are known only when its turn has come: then the component is asked, once. So each arrival
 * has an event, and turns are taken in order.
 */
#ifndef NETWORK_COMPONENT_MEMORY_H
#define NETWORK_COMPONENT_MEMORY_H
#include "engine/split.h"
#include "network/turn.h"

/* Is one component both, slice and SRAM of a cube? Then nothing asks which one a memory is. */
static ALWAYS_INLINE bool is_one_component(const struct kb_sim *s, uint32_t cube)
{
    return box_impl(T, cube, BOX_HBM)->serve == box_impl(T, cube, BOX_SRAM)->serve;
}

/* Does a component stand for the memory of the transaction in `slot`, no stage inside a PE? */
static ALWAYS_INLINE bool is_served(const struct kb_sim *s, int how, uint32_t slot)
{
    uint32_t dst = s->txns[slot].dst;

    if (!T->impls || !T->impls->memories || (how & HOW_KERNELS && unit_is_tcm(T, dst_unit(T, dst))))
        return false;
    if (s->caches && memory_is_cached(T, dst))
        return false;
    return is_one_component(s, dst_cube(T, dst)) ? box_impl(T, dst_cube(T, dst), BOX_HBM)->serve
                                                 : memory_impl(T, dst)->serve;
}

/* The state of memory `dst`. */
static ALWAYS_INLINE unsigned char *memory_state(const struct kb_sim *s, uint32_t dst)
{
    return s->instances.memories + dst * instance_of_memory_bytes(T->impls);
}

/* Its call. */
static ALWAYS_INLINE struct kb_served ask_memory(const struct kb_sim *s, uint32_t dst,
                                                 const struct kb_request *request, uint64_t start)
{
    unsigned char *state = memory_state(s, dst);
    uint32_t cube = dst_cube(T, dst);

    return is_one_component(s, cube) || unit_is_slice(T, dst_unit(T, dst))
               ? box_impl(T, cube, BOX_HBM)->serve(state, request, (int64_t)start)
               : box_impl(T, cube, BOX_SRAM)->serve(state, request, (int64_t)start);
}

/* What the component is asked. The transaction's hold_fs is known: its drain is in it. */
static ALWAYS_INLINE struct kb_request memory_request(const struct kb_sim *s, uint32_t slot)
{
    const struct txn *txn = &s->txns[slot];
    const struct memory_row *memory = cost_memory(T, txn->dst, txn_writes(txn));

    return (struct kb_request){
        .id = record_id(s, slot),
        .op = txn->op,
        .source = txn_of_host(txn) ? UINT32_MAX : pe_number(T, txn->src),
        .bytes = txn->nbytes,
        .offset = s->instances.served[slot].offset,
        .drain_fs = txn->hold_fs - cost_in_memory_fs(&s->mask, memory),
        .own_fs = drain_fs(split_own_bytes(s, slot), cost_own_gbs(&s->mask, memory)),
        .overhead_fs = memory->overhead_fs & s->mask.overhead,
        .latency_fs = memory->latency_fs & s->mask.overhead,
        .k = 1,
        .n = 1,
    };
}

/* An answer that the contract allows. */
static ALWAYS_INLINE bool is_answer(uint64_t start, struct kb_served a)
{
    return a.hold_fs >= 0 && a.done_fs >= (int64_t)start && a.hold_fs <= a.done_fs - (int64_t)start;
}

/* The same, and not never: INT64_MAX + 1 is below all times. */
static ALWAYS_INLINE bool is_end(uint64_t start, struct kb_served a)
{
    return a.hold_fs >= 0 && (int64_t)((uint64_t)a.done_fs + 1) > (int64_t)start &&
           a.hold_fs <= a.done_fs - (int64_t)start;
}

/* Another answer: never, or the run ends with a message. */
static __attribute__((noinline)) void end_by_component(struct kb_sim *s, uint32_t slot,
                                                       uint64_t start, struct kb_served answer)
{
    const struct impl *impl = memory_impl(T, s->txns[slot].dst);

    if (is_answer(start, answer)) {
        instances_never(s, impl, slot);
        return;
    }
    instances_fault(s, impl, slot, start, answer);
    fail(s, KB_COMPONENT_ERROR);
}

/* When a component is done with something: never. */
#define COMPONENT_NEVER UINT64_MAX

/*
 * It has come to its memory at `t`, and its turn is next: the component is asked for the time at
 * which that begins. Returns when it is done. What is needed is looked up before the call: what a
 * component writes might be anything, for all the compiler knows.
 */
static ALWAYS_INLINE uint64_t serve_by_component(struct kb_sim *s, int how, uint64_t t,
                                                 uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    struct link_station *memory = &s->early[txn->dst];
    struct served *served = &s->instances.served[slot];
    const struct kb_request request = memory_request(s, slot);
    uint64_t start = (uint64_t)memory->free_fs > t ? (uint64_t)memory->free_fs : t;
    struct kb_served answer;

    if (__builtin_expect(memory->free_fs == INT64_MAX, false)) { /* held without end */
        instances_never(s, memory_impl(T, txn->dst), slot);
        return COMPONENT_NEVER;
    }
    answer = ask_memory(s, txn->dst, &request, start);
    memory->free_fs = (int64_t)(start + (uint64_t)answer.hold_fs); /* at most done_fs */
    memory->busy_fs += (uint64_t)answer.hold_fs;
    if (STATS && start > t && !link_wait(memory, t, start))
        fail(s, KB_NO_MEMORY);
    served->done_fs = answer.done_fs;
    if (is_told(s, how))
        OBSERVE(s, take, start, slot, STATION_MEMORY);
    txn->service_fs = (int64_t)start;
    if (__builtin_expect(is_end(start, answer), true))
        return (uint64_t)answer.done_fs;
    end_by_component(s, slot, start, answer);
    return COMPONENT_NEVER;
}

#endif
