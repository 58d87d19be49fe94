/* visitors.h -- which visit of a station is in front when the next one arrives. */
#ifndef VISITORS_H
#define VISITORS_H
#include <stdbool.h>
#include "kernbench.h"

struct visitor {
    int64_t begin_fs;
    kb_place source;
    uint32_t id, slot;
};

/* Visits of a station that serves in order of arrival, and is free again at a known time. */
struct visitors {
    struct visitor *ring; /* owned; in order of `begin_fs`: `n` from `first` on, of `room` */
    uint32_t first, n, room;
};

/*
 * The visit that has the station, which is not free, at `t`; later ones are not asked about before
 * `t`. NULL: a visit was lost for want of memory.
 */
const struct visitor *visitors_front(struct visitors *v, int64_t t);

/* The station is free, or that of another run: all before are over. */
static inline void visitors_forget(struct visitors *v)
{
    v->n = 0;
}

/* The last visit; NULL: the station is free, or it was lost. */
static inline const struct visitor *visitors_last(const struct visitors *v)
{
    return v->n ? &v->ring[(v->first + v->n - 1) & (v->room - 1)] : NULL;
}

/* Adds the next visit. False: no memory. */
bool visitors_join(struct visitors *v, struct visitor next);

void visitors_free(struct visitors *v, size_t n);

#endif
