/* shard.h -- --shard I/N: one of N parts of a command's work, into a file of its own. */
#ifndef SHARD_H
#define SHARD_H
#include <stdint.h>
#include <stdio.h>

enum { SHARDS_MAX = 1000000, SHARD_SUFFIX_BYTES = 32 };

/* Part `i` of `n`, from 1; all zero is the whole. */
struct shard {
    uint64_t i, n;
};

/* How many of `total` items lie before the end of part `i`: parts differ by one item at most. */
static inline uint64_t shard_end(const struct shard *shard, uint64_t i, uint64_t total)
{
    return (uint64_t)((unsigned __int128)total * i / shard->n);
}

/* The first of this part's items, and how many it has. */
static inline uint64_t shard_first(const struct shard *shard, uint64_t total)
{
    return shard->n ? shard_end(shard, shard->i - 1, total) : 0;
}

static inline uint64_t shard_count(const struct shard *shard, uint64_t total)
{
    return shard->n ? shard_end(shard, shard->i, total) - shard_first(shard, total) : total;
}

/* ".3of8": what a part's file has behind the name of the whole. */
static inline void shard_suffix(uint64_t i, uint64_t n, char suffix[SHARD_SUFFIX_BYTES])
{
    snprintf(suffix, SHARD_SUFFIX_BYTES, ".%lluof%llu", (unsigned long long)i,
             (unsigned long long)n);
}

#endif
