/* machine_segments.h -- the numbers of segments, by what they lead from and to: gen/segments.c. */
#ifndef SEGMENTS_NUMBERS_H
#define SEGMENTS_NUMBERS_H
#include "machine/tables.h"

/* The exit of a cube to its IO chiplet; all exits. */
static inline uint32_t exit_io(const struct kb_topology *t)
{
    return t->ports;
}

static inline uint32_t n_exits(const struct kb_topology *t)
{
    return t->ports + 1;
}

static inline uint32_t seg_of_local(const struct kb_topology *t, uint32_t plane, uint32_t pe,
                                    uint32_t unit)
{
    return t->seg_local + (plane * t->sources + pe) * t->n_units + unit;
}

static inline uint32_t seg_of_out(const struct kb_topology *t, uint32_t plane, uint32_t pe,
                                  uint32_t exit)
{
    return t->seg_out + (plane * t->sources + pe) * n_exits(t) + exit;
}

static inline uint32_t seg_of_pass(const struct kb_topology *t, uint32_t plane, uint32_t side,
                                   uint32_t exit)
{
    return t->seg_pass + (plane * t->ports + side) * n_exits(t) + exit;
}

static inline uint32_t seg_of_in(const struct kb_topology *t, uint32_t plane, uint32_t side,
                                 uint32_t unit)
{
    return t->seg_in + (plane * t->ports + side) * t->n_units + unit;
}

/* A regular machine has hosts at its west side only. */
static inline uint32_t seg_of_host_in(const struct kb_topology *t, uint32_t plane, uint32_t side,
                                      uint32_t slice)
{
    return t->regular ? t->seg_host_in + slice
                      : t->seg_host_in + (plane * t->ports + side) * t->slices + slice;
}

#endif
