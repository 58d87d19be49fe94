/* in_order_behind.c -- a memory behind a cache that serves what it is asked in order: the built-in
 * one, or a component.
 *
 * It holds        one request of the cache, for overhead and its bytes at its own bandwidth, or for
 *                 what the component says
 * Goes first      first come, first served; requests come in the order of their parents
 * Wait counted    memory_wait: of what the request is made for
 * Golden number   docs/model.md "A cache before a memory"
 *
 * All that comes to it comes from the cache: so the end of a request is known when it is made.
 */
#include "network/caches.h"
#include "network/component_memory.h"
#include "network/server.h"
#include "network/turn.h"

struct kb_request behind_request(const struct kb_sim *s, uint32_t dst,
                                 const struct behind_asked *asked)
{
    const struct memory_row *memory = cost_behind_cache(s->topo, dst);
    const struct txn *txn = &s->txns[asked->slot];
    int64_t own_fs = drain_fs(asked->bytes.bytes, cost_own_gbs(&s->mask, memory));

    return (struct kb_request){
        .id = part_record_id(txn->id, asked->part),
        .op = asked->writes ? KB_OP_WRITE : KB_OP_READ,
        .source = txn_of_host(txn) ? UINT32_MAX : pe_number(T, txn->src),
        .bytes = asked->bytes.all,
        .offset = asked->of->of[0].at,
        .drain_fs = own_fs > asked->drain_fs ? own_fs : asked->drain_fs,
        .own_fs = own_fs,
        .overhead_fs = memory->overhead_fs & s->mask.overhead,
        .latency_fs = memory->latency_fs & s->mask.overhead,
        .k = 1,
        .n = 1,
    };
}

/* As serve_by_component(). */
static int64_t ask_component(struct kb_sim *s, uint32_t dst, const struct behind_asked *asked)
{
    struct link_station *memory = &s->caches->by_memory[dst]->memory;
    const struct kb_request request = behind_request(s, dst, asked);
    uint64_t t = asked->t_fs, start = (uint64_t)memory->free_fs > t ? (uint64_t)memory->free_fs : t;
    struct kb_served answer;

    answer = (struct kb_served){INT64_MAX, INT64_MAX};
    if (memory->free_fs != INT64_MAX) /* else it is held without end */
        answer = ask_memory(s, dst, &request, start);
    if (answer.done_fs == INT64_MAX && is_answer(start, answer)) {
        memory->free_fs = answer.hold_fs > INT64_MAX - (int64_t)start
                              ? INT64_MAX
                              : (int64_t)start + answer.hold_fs;
        if (!asked->writes) /* nothing waits for a write */
            instances_never(s, memory_impl(T, dst), asked->slot);
        return NOT_YET;
    }
    if (!is_end(start, answer)) {
        end_by_component(s, asked->slot, start, answer);
        return NOT_YET;
    }
    take_turn(s, memory, answer.hold_fs, t);
    return answer.done_fs;
}

static int64_t ask_in_order(struct kb_sim *s, int how, uint32_t dst,
                            const struct behind_asked *asked)
{
    const struct memory_row *memory = cost_behind_cache(s->topo, dst);
    struct cache *c = s->caches->by_memory[dst];
    int64_t own;
    uint64_t begin;

    (void)how;
    if (memory->hold == HOLD_BY_COMPONENT)
        return ask_component(s, dst, asked);
    own = drain_fs(asked->bytes.bytes, memory->own_gbs + s->mask.memory_gbs);
    begin = take_turn(s, &c->memory, (memory->overhead_fs & s->mask.overhead) + own, asked->t_fs);
    return (int64_t)after(begin, cost_in_memory_fs(&s->mask, memory) +
                                     (own > asked->drain_fs ? own : asked->drain_fs));
}

const struct memory_server in_order_server = {.ask = ask_in_order};
