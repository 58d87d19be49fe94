/* segments.h -- the numbers of segments, by what they lead from and to: gen/segments.c. */
#ifndef SEGMENTS_NUMBERS_H
#define SEGMENTS_NUMBERS_H
#include "machine/tables.h"

static inline uint32_t seg_of_local(const struct kb_topology *t, uint32_t plane, uint32_t pe,
                                    uint32_t unit)
{
    return t->seg_local + (plane * t->pes + pe) * t->n_units + unit;
}

static inline uint32_t seg_of_out(const struct kb_topology *t, uint32_t plane, uint32_t pe,
                                  uint32_t exit)
{
    return t->seg_out + (plane * t->pes + pe) * N_EXITS + exit;
}

static inline uint32_t seg_of_pass(const struct kb_topology *t, uint32_t plane, uint32_t side,
                                   uint32_t exit)
{
    return t->seg_pass + (plane * N_SIDES + side) * N_EXITS + exit;
}

static inline uint32_t seg_of_in(const struct kb_topology *t, uint32_t plane, uint32_t side,
                                 uint32_t unit)
{
    return t->seg_in + (plane * N_SIDES + side) * t->n_units + unit;
}

/* A regular machine has hosts at its west side only. */
static inline uint32_t seg_of_host_in(const struct kb_topology *t, uint32_t plane, uint32_t side,
                                      uint32_t slice)
{
    return t->regular ? t->seg_host_in + slice
                      : t->seg_host_in + (plane * N_SIDES + side) * t->slices + slice;
}

#endif
