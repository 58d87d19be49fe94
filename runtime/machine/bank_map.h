/* bank_map.h -- where the bytes of a slice with banks lie: channel, bank, row; bursts and segments.
 *
 * A slice is cut into bursts, and the number of a burst into six parts: channel, rank, group,
 * bank and column, at the bits that struct bank_row says, and the row above all of them. So the
 * bursts of one row number are a block, in which every bank of every channel has one row of
 * `columns` bursts. A hash by row only renames the channels and banks of a block.
 *
 * All bursts of a transaction that lie in one row of one bank are one segment. In a block they are
 * 1 << column_at apart, as many as there are columns in the range. So a burst is the first of a
 * segment if it has column 0, or if the burst with one column less lies before the range:
 * bank_next() walks the firsts of one channel without looking at the other bursts.
 *
 * Example, the defaults: a read of 4 KiB at 0 has bursts 0 to 63. Channel 0 has bursts 0, 8, 16,
 * 24 (column 0 of groups 0 to 3) and 32, 40, 48, 56 (column 1): four segments of two bursts, first
 * at 0, 8, 16 and 24. In all there are 32.
 */
#ifndef BANK_MAP_H
#define BANK_MAP_H
#include <stdbool.h>
#include "machine/tables.h"

#define BANK_INLINE static inline __attribute__((always_inline))

/* The bursts [at, end) of a transaction. */
struct bank_range {
    uint64_t at, end;
};

BANK_INLINE struct bank_range bank_range(const struct bank_row *b, uint64_t offset, uint64_t nbytes)
{
    return (struct bank_range){offset >> b->burst_bits,
                               ((offset + nbytes - 1) >> b->burst_bits) + 1};
}

static inline uint32_t bank_channels(const struct bank_row *b)
{
    return UINT32_C(1) << b->channel_bits;
}

static inline uint32_t bank_ranks(const struct bank_row *b)
{
    return UINT32_C(1) << b->rank_bits;
}

/* The first bank of the group of bank `number`. */
static inline uint32_t bank_group_of(const struct bank_row *b, uint32_t number)
{
    return number >> b->bank_bits << b->bank_bits;
}

/* Bits of 2^`bits` banks from `first` on. */
static inline uint64_t bank_mask(unsigned bits, uint32_t first)
{
    return UINT64_MAX >> (64 - (1u << bits)) << first;
}

static inline uint64_t bank_mask_of_rank(const struct bank_row *b, uint32_t rank)
{
    return bank_mask(b->number_bits, rank << b->number_bits);
}

/* Of a channel. */
static inline uint32_t bank_count(const struct bank_row *b)
{
    return UINT32_C(1) << (b->rank_bits + b->number_bits);
}

BANK_INLINE uint64_t bank_row_of_burst(const struct bank_row *b, uint64_t burst)
{
    return burst >> b->row_at;
}

BANK_INLINE uint32_t bank_part(uint64_t burst, uint8_t at, uint8_t bits)
{
    return (uint32_t)(burst >> at) & ((UINT32_C(1) << bits) - 1);
}

/* What a hash by row adds to the channel, modulo 2. */
BANK_INLINE uint32_t bank_channel_hash(const struct bank_row *b, uint64_t burst)
{
    return b->hash == HASH_XOR ? (uint32_t)bank_row_of_burst(b, burst) & (bank_channels(b) - 1) : 0;
}

BANK_INLINE uint32_t bank_channel_of(const struct bank_row *b, uint64_t burst)
{
    return bank_part(burst, b->channel_at, b->channel_bits) ^ bank_channel_hash(b, burst);
}

/* (rank * groups + group) * banks + bank. A hash leaves the rank as it is. */
BANK_INLINE uint32_t bank_number_of(const struct bank_row *b, uint64_t burst)
{
    uint32_t number = bank_part(burst, b->group_at, b->group_bits) << b->bank_bits |
                      bank_part(burst, b->bank_at, b->bank_bits);

    if (b->hash == HASH_XOR)
        number ^= (uint32_t)(bank_row_of_burst(b, burst) >> b->channel_bits) &
                  ((UINT32_C(1) << b->number_bits) - 1);
    if (b->rank_bits)
        number |= bank_part(burst, b->rank_at, b->rank_bits) << b->number_bits;
    return number;
}

/*
 * Has every channel the same of a range: as many segments, of the same banks, rows and lengths, in
 * the same order? The channel is the lowest part of an address, and the range of whole rounds over
 * all of them. The burst of channel k is that of channel 0, exclusive-or k: also by hash.
 */
BANK_INLINE bool bank_is_even(const struct bank_row *b, struct bank_range range)
{
    return b->channel_at == 0 && ((range.at | range.end) & (bank_channels(b) - 1)) == 0;
}

/* The first burst of `channel` from `burst` on. */
BANK_INLINE uint64_t bank_of_channel(const struct bank_row *b, uint64_t burst, uint32_t channel)
{
    unsigned above = b->channel_at + b->channel_bits;

    for (;;) {
        uint32_t want = channel ^ bank_channel_hash(b, burst);
        uint32_t have = bank_part(burst, b->channel_at, b->channel_bits);

        if (have == want)
            return burst;
        if (have < want)
            return (burst >> above << b->channel_bits | want) << b->channel_at;
        burst = ((burst >> above) + 1) << above;
    }
}

/* The first burst of a segment of `channel`, from `burst` on, in a range that begins at `begin`. */
BANK_INLINE uint64_t bank_next(const struct bank_row *b, uint64_t begin, uint64_t burst,
                               uint32_t channel)
{
    unsigned above = b->column_at + b->column_bits;

    for (;;) {
        burst = bank_of_channel(b, burst, channel);
        if (bank_part(burst, b->column_at, b->column_bits) == 0 ||
            burst - begin < UINT64_C(1) << b->column_at)
            return burst;
        burst = ((burst >> above) + 1) << above;
    }
}

/* Bursts of the segment whose first is `burst`, in a range up to `end`. */
BANK_INLINE uint32_t bank_bursts(const struct bank_row *b, uint64_t burst, uint64_t end)
{
    uint64_t left = (end - burst + (UINT64_C(1) << b->column_at) - 1) >> b->column_at;
    uint32_t columns =
        (UINT32_C(1) << b->column_bits) - bank_part(burst, b->column_at, b->column_bits);

    return left < columns ? (uint32_t)left : columns;
}

/* Segments of a range, of all channels. */
BANK_INLINE uint64_t bank_segments(const struct bank_row *b, struct bank_range range)
{
    unsigned above = b->column_at + b->column_bits;
    uint64_t most = UINT64_C(1) << b->column_at, n = range.end - range.at;
    uint64_t here = (((range.at >> above) + 1) << above) - range.at; /* to the end of its columns */
    uint64_t rest, tail;

    if (n <= here)
        return n < most ? n : most;
    rest = n - here;
    tail = rest & ((UINT64_C(1) << above) - 1);
    return (here < most ? here : most) + (rest >> above) * most + (tail < most ? tail : most);
}

#endif
