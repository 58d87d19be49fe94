/* dice.h -- random numbers that are the same from every compiler. */
#ifndef JUDGE_DICE_H
#define JUDGE_DICE_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What slices are: servers, or these. */
enum slices { SERVERS, BANKS, CACHES, CACHED_BANKS };

static inline bool slices_have_banks(enum slices slices)
{
    return slices == BANKS || slices == CACHED_BANKS;
}

struct dice {
    uint64_t state;
    uint32_t zero_per_cent; /* of lengths and overheads; at 100 whole routes take no time */
    bool one_gbs;           /* all bandwidths are equal, so that much ends at one instant */
    bool no_delays;         /* nothing takes time but bytes, and each bandwidth is another one's
                               half or double: the same */
    enum slices slices;
    bool l2;           /* cubes have one */
    bool sided;        /* each link of a net says where it ends at a cube: NoCs are meshes */
    bool whole_slices; /* a cube's memory divides by its PEs, into aligned slices */
};

/* SplitMix64 */
static inline uint64_t draw(struct dice *rng)
{
    uint64_t z = rng->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* 0 .. n-1 */
static inline uint32_t below(struct dice *rng, uint64_t n)
{
    return (uint32_t)(draw(rng) % n);
}

static inline bool chance(struct dice *rng, uint32_t per_cent)
{
    return below(rng, 100) < per_cent;
}

/* The pace of a PE's DMA: mostly none. Other dice than those of the rest, as above. */
static inline const char *any_pace(uint64_t seed)
{
    static const char *const issue_ns[] = {"25.0", "0.000001", "3.5", "18.085"};
    struct dice dice = {.state = seed ^ UINT64_C(0x155e)}, *rng = &dice;

    return chance(rng, 25) ? issue_ns[below(rng, 4)] : "0.0";
}

/* What it cuts transactions into: mostly nothing. */
static inline const char *any_packet(uint64_t seed)
{
    static const char *const packet_bytes[] = {"3000", "4096", "30000", "65536"};
    struct dice dice = {.state = seed ^ UINT64_C(0x9ac)}, *rng = &dice;

    return chance(rng, 25) ? packet_bytes[below(rng, 4)] : "0";
}

/* What it makes of tiles: mostly one run. */
static inline const char *any_tiles(uint64_t seed)
{
    static const char *const tiles[] = {", tiles: runs", ", tiles: runs, run_ns: 0.5",
                                        ", tiles: runs, run_ns: 7.0"};
    struct dice dice = {.state = seed ^ UINT64_C(0x711e)}, *rng = &dice;

    return chance(rng, 40) ? tiles[below(rng, 3)] : "";
}

/* What a slice without banks moves: mostly bytes. */
static inline const char *any_access(uint64_t seed)
{
    static const char *const access[] = {", access_bytes: 16", ", access_bytes: 64",
                                         ", access_bytes: 4096"};
    struct dice dice = {.state = seed ^ UINT64_C(0xacce55)}, *rng = &dice;

    return chance(rng, 25) ? access[below(rng, 3)] : "";
}

/*
 * Draws a third of all machines without delays. The dice are other ones, so that the other seeds'
 * machines stay as they were; `keys` draw a part of the machine, or are NULL.
 */
static inline void draw_delays(struct dice *rng, struct dice *keys, uint64_t seed)
{
    struct dice dice = {.state = seed ^ UINT64_C(0x2e80f)};

    if (!chance(&dice, 33))
        return;
    rng->no_delays = true;
    rng->zero_per_cent = 100;
    rng->one_gbs = false;
    if (keys)
        *keys = (struct dice){.state = keys->state, .zero_per_cent = 100, .no_delays = true};
}

/* The net of `n` cubes below `sip`; its kinds of links and of cubes: random_net.c */
void judge_print_net(FILE *out, struct dice *rng, uint32_t n);
void judge_print_paths(FILE *out, struct dice *rng);
uint32_t judge_print_rails(FILE *out, struct dice *rng, uint32_t sips, uint32_t n);
void judge_print_kinds(FILE *out, struct dice *rng, uint32_t n);

/* Keys behind others of a NoC that is a mesh of routers, perhaps with a hole: random_router.c */
void judge_print_mesh(FILE *out, struct dice *rng, bool holes);

/* Keys behind others, of servers of edges, of a slice with banks: random.c */
void judge_print_servers(FILE *out, uint64_t seed);
void judge_print_banks(FILE *out, struct dice *keys);
void judge_print_cache(FILE *out, struct dice *keys, bool banked);
#endif
