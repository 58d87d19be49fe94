/* up_down.h -- routes in a mesh with gaps by which packets never wait in a circle: up*, then down*.
 */
#ifndef UP_DOWN_H
#define UP_DOWN_H
#include "arena.h"
#include <stdbool.h>
#include <stdint.h>

/* The place that a step from `place` to `side` (enum side) leads to; UP_DOWN_NOWHERE: none. */
#define UP_DOWN_NOWHERE UINT32_MAX
typedef uint32_t (*up_down_step)(void *mesh, uint32_t place, uint32_t side);

struct up_down {
    uint32_t n, sides; /* places, and steps from each */
    up_down_step step;
    void *mesh;
    uint32_t *rank;    /* [place]: when a search outward from the root finds it */
    uint32_t *by_rank; /* the places so found */
    uint32_t n_found;
    uint32_t *down, *all; /* [place]: steps to the target, down only, and up first */
};

/* Ranks the places, of which `root` is the first; UP_DOWN_NOWHERE: there is none. */
struct up_down up_down_make(struct arena *a, uint32_t n, uint32_t sides, uint32_t root,
                            up_down_step step, void *mesh);

/* The lowest place that is one of `is_there`. */
uint32_t up_down_lowest(uint32_t n, const bool *is_there);

/* Finds the ways to `to`, for up_down_exit(). */
void up_down_aim(struct up_down *u, uint32_t to);

/* The side by which the way to that target leaves `from`: of as good ones the first of `tries`,
 * which has N_SIDES for none. N_SIDES: there is no way. Of a mesh, which has N_SIDES sides. */
uint32_t up_down_exit(const struct up_down *u, uint32_t from, const uint32_t *tries, uint32_t n);

#endif
