/* percentiles.h -- latencies of many transactions: their percentiles, exact or from a histogram. */
#ifndef SAMPLES_H
#define SAMPLES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sorts, ascending. */
void samples_sort(int64_t *values, size_t n);

/* The nearest rank of a percentile, given in per mille, among `n` > 0: an index from 0. */
static inline uint64_t samples_rank(uint64_t n, unsigned per_mille)
{
    uint64_t rest = n % 1000 * per_mille;

    return n / 1000 * per_mille + (rest + 999) / 1000 - 1;
}

/*
 * A histogram whose buckets grow with what they count: as wide as 2^-10 of their values, so that
 * a bucket's middle is within 0.05 % of any value in it. Values below 2^11 have their own.
 */
enum {
    BUCKET_BITS = 10,
    BUCKETS = (64 - BUCKET_BITS) << BUCKET_BITS, /* of 0..2^63-1 */
};

static inline uint32_t bucket_of(int64_t value)
{
    uint64_t v = (uint64_t)value;
    int shift = v >> (BUCKET_BITS + 1) ? 63 - BUCKET_BITS - __builtin_clzll(v) : 0;

    return ((uint32_t)shift << BUCKET_BITS) + (uint32_t)(v >> shift);
}

/* The middle of a bucket. */
static inline int64_t bucket_value(uint32_t bucket)
{
    uint32_t shift = bucket >> BUCKET_BITS;
    uint64_t low;

    if (shift < 2)
        return bucket;
    shift--;
    low = (uint64_t)(bucket - (shift << BUCKET_BITS)) << shift;
    return (int64_t)(low + (UINT64_C(1) << shift) / 2);
}

#endif
