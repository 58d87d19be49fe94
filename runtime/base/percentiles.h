/* percentiles.h -- latencies of many transactions: their percentiles, exact or from a histogram. */
#ifndef PERCENTILES_H
#define PERCENTILES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static inline int percentile_compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static inline bool percentile_sorted(const int64_t *values, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (values[i] < values[i - 1])
            return false;
    return true;
}

/* Sorts, ascending. Latencies of transactions that waited in one queue often are in order already.
 */
static inline void percentile_sort(int64_t *values, size_t n)
{
    if (!percentile_sorted(values, n))
        qsort(values, n, sizeof *values, percentile_compare);
}

/* The nearest rank of a percentile, given in per mille, among `n` > 0: an index from 0. */
static inline uint64_t percentile_rank(uint64_t n, unsigned per_mille)
{
    uint64_t rest = n % 1000 * per_mille;

    return n / 1000 * per_mille + (rest + 999) / 1000 - 1;
}

/*
 * A histogram whose buckets are 2^-10 of their values wide, so that the middle of a bucket is
 * within 0.05 % of any value in it. Values below 2^11 have a bucket each.
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
