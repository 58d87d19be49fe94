/* rng.h -- random numbers that are the same everywhere: xoshiro256**, seeded by SplitMix64. */
#ifndef RNG_H
#define RNG_H
#include <stdint.h>

struct rng {
    uint64_t state[4];
};

/* Its finalizer: mixes the bits of a number. */
static inline uint64_t rng_mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline uint64_t rng_split_mix(uint64_t *state)
{
    return rng_mix(*state += UINT64_C(0x9e3779b97f4a7c15));
}

/* A stream for each number: SplitMix64 of the seed, mixed with the number. */
static inline struct rng rng_of_number(uint64_t seed, uint64_t number)
{
    uint64_t mixed = number ^ rng_split_mix(&seed);
    struct rng r;

    for (int i = 0; i < 4; i++)
        r.state[i] = rng_split_mix(&mixed);
    return r;
}

/* A stream for each name: that of its FNV-1a 64. */
static inline struct rng rng_new(uint64_t seed, const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return rng_of_number(seed, hash);
}

static inline uint64_t rng_rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

/* 64 random bits. */
static inline uint64_t rng_next(struct rng *r)
{
    uint64_t *s = r->state, result = rng_rotate(s[1] * 5, 7) * 9, t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rng_rotate(s[3], 45);
    return result;
}

/* Uniform in (0, 1), both ends excluded; exact. */
static inline double rng_unit(struct rng *r)
{
    return ((double)(rng_next(r) >> 12) + 0.5) * 0x1p-52;
}

#endif
