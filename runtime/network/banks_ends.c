/* banks_ends.c -- what banks have served, where it is no transaction alone: packets behind routers,
 * and what memories in front of banks ask for.
 */
#include "network/banks_ends.h"
#include "network/memory_behind.h"
#include "network/queue_wakes.h"

/* All of a row of its own has been served, or accepted. */
static void end_row(struct kb_sim *s, int how, const struct bank_slice *slice, uint32_t row)
{
    const struct bank_access *access = &s->banks->pool.accesses[row];
    const struct memory_row *memory = cost_behind_cache(s->topo, slice->memory);
    uint32_t slot = s->banks->pool.packets[row].slot;
    uint64_t end = after((uint64_t)access->done_fs, cost_in_memory_fs(&s->mask, memory));

    if (slot == TXN_NONE) {
        server_tell(s, how, slice->memory, MEMORY_BANKS,
                    &(struct behind_ended){.t_fs = end,
                                           .number = s->banks->pool.packets[row].number,
                                           .part = access->part,
                                           .id = (uint32_t)(access->order >> 16)});
        return;
    }
    if (s->router && access->writes) {
        leave_port(s, row);
        end_packet(s, row);
    } else if (s->router) {
        leave_port(s, row);
        end_read(s, how, row);
    } else {
        if (s->instances.served)
            s->instances.served[slot].done_fs = (int64_t)end;
        serving_end(s, end, slot);
    }
    if (memory_queues(s->topo, slice->memory))
        queue_passed_ends(s, slice->memory, end);
}

void banks_post_ends_of_rows(struct kb_sim *s, int how, struct bank_slice *slice)
{
    struct bank_pool *pool = &s->banks->pool;

    while (pool->touched != BANK_NONE) {
        uint32_t row = pool->touched;

        pool->touched = pool->packets[row].next;
        pool->packets[row].touched = false;
        if (s->router && pool->packets[row].slot != TXN_NONE)
            send_known(s, row);
    }
    while (pool->ended != BANK_NONE) {
        uint32_t row = pool->ended;

        pool->ended = pool->accesses[row].next;
        slice->pending--;
        end_row(s, how, slice, row);
        bank_tile_free(pool->accesses[row].tile);
        pool->accesses[row].tile = NULL;
        bank_free_packet(pool, row);
    }
    if (pool->lost)
        fail(s, KB_NO_MEMORY);
}
