/* bank_pool.h -- slices with banks behind routers: packets, and data as they become known.
 *
 * A write comes by packets, each an access of its own to the rules (bank_rules.h), from the arrival
 * of its first segment on. A read is one access; each of its bursts has an end, and a segment of
 * data is ready when its bursts and the segment before it are. struct bank_packet keeps the ends.
 */
#ifndef BANK_POOL_H
#define BANK_POOL_H
#include "machine/bank_channel.h"
#include "machine/stream.h"

/* The bytes of a transaction within a slice. */
struct bank_bytes {
    uint64_t offset, nbytes;
};

/* No segment, piece or packet. */
void bank_pool_begin(struct bank_pool *pool);
void bank_pool_free(struct bank_pool *pool);

/* A packet, or a read, of bursts `range`: a row of accesses. BANK_NONE without memory. */
uint32_t bank_new_packet(struct bank_pool *pool, const struct bank_row *row,
                         struct bank_range range, bool writes);

static inline void bank_free_packet(struct bank_pool *pool, uint32_t i)
{
    pool->packets[i].next = pool->free_packet;
    pool->free_packet = i;
}

/* The last burst of segment `number` of a read, counted from its first. */
static inline uint64_t bank_last_burst(const struct bank_row *row, struct bank_bytes bytes,
                                       uint32_t segment_bytes, uint64_t number)
{
    uint64_t end = (number + 1) * segment_bytes;

    end = end < bytes.nbytes ? end : bytes.nbytes;
    return ((bytes.offset + end - 1) >> row->burst_bits) - (bytes.offset >> row->burst_bits);
}

/*
 * When the last tail would be in, and the drain over, if the data, each segment of which is ready
 * `behind_fs` later than its bursts, had the way `f` for themselves.
 */
int64_t bank_stream_fs(struct stream *f, const struct bank_row *row, const int64_t *ends_fs,
                       struct bank_bytes bytes, int64_t behind_fs, int64_t drain_fs);

/* From the begin to the end of `f`, without a wait. */
static inline int64_t stream_way_fs(const struct stream *f)
{
    int64_t fs = 0;

    for (uint32_t i = 0; i < f->n; i++)
        fs += f->hops[i].hop_fs;
    return fs;
}

#endif
