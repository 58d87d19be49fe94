/* banks_ends.h -- ends of what channels of banks have served. */
#ifndef BANKS_ENDS_H
#define BANKS_ENDS_H
#include "network/banks.h"

/* Bursts of rows of their own have been granted the bus of channels of `slice`. */
void banks_post_ends_of_rows(struct kb_sim *s, int how, struct bank_slice *slice);

/* Posts the ends of those that are done; all are of one slice. */
static inline void post_ends(struct kb_sim *s, int how, struct bank_slice *slice)
{
    struct bank_pool *pool = &s->banks->pool;

    if (slice->rows) {
        banks_post_ends_of_rows(s, how, slice);
        return;
    }
    while (pool->ended != BANK_NONE) {
        uint32_t slot = pool->ended;
        const struct bank_access *access = &pool->accesses[slot];

        pool->ended = access->next;
        slice->pending--;
        serving_end(s, after((uint64_t)access->done_fs, behind_banks_fs(s, &s->txns[slot])), slot);
    }
    if (pool->lost)
        fail(s, KB_NO_MEMORY);
}

#endif
