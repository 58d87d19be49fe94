/* in_order_behind.c -- a memory behind a cache that serves what it is asked in order.
 *
 * It holds        one request of the cache, for overhead and its bytes at its own bandwidth
 * Goes first      first come, first served; requests come in the order of their parents
 * Wait counted    memory_wait: of what the request is made for
 * Golden number   docs/model.md "A cache before a memory"
 *
 * All that comes to it comes from the cache: so the end of a request is known when it is made.
 */
#include "network/caches.h"
#include "network/server.h"
#include "network/turn.h"

static int64_t ask_in_order(struct kb_sim *s, int how, uint32_t dst, const struct behind_asked *asked)
{
    const struct memory_row *memory = cost_behind_cache(s->topo, dst);
    struct cache *c = s->caches->by_memory[dst];
    int64_t own = drain_fs(asked->bytes.bytes, memory->own_gbs + s->mask.memory_gbs);
    uint64_t begin =
        take_turn(s, &c->memory, (memory->overhead_fs & s->mask.overhead) + own, asked->t_fs);

    (void)how;
    return (int64_t)after(begin, cost_in_memory_fs(&s->mask, memory) +
                                     (own > asked->drain_fs ? own : asked->drain_fs));
}

const struct memory_server in_order_server = {.ask = ask_in_order};
