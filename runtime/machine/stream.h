/* stream.h -- segments that go a way alone, one behind the other: where nothing else is in the way.
 *
 * Segment k is granted channel h at
 *
 *     g[k][h] = max(g[k][h-1] + max(1, wire) + overhead, g[k-1][h] + d[k-1][h])
 *
 * d is how long it takes the channel: its bytes over the narrower of the edges by which it comes
 * and goes. So it is enough to remember when each channel is free of the segment before.
 *
 * Example: two segments of 64 bytes, ready at 0 and 20 ns, two channels of 16 GB/s without wires, a
 * router of 4 ns between. The first is granted at 0 and 4.000001, the second at 20 and 24.000001:
 * its tail is in at 28.000002.
 */
#ifndef STREAM_H
#define STREAM_H
#include "machine/machine_channels.h"
#include "machine/cost.h"

struct stream_hop {
    double gbs;     /* at which a segment passes it */
    int64_t hop_fs; /* from a grant to readiness at its end */
    int64_t free_fs;
};

/* A way from its source to its end. */
struct stream {
    struct stream_hop *hops; /* owned; [n] of room */
    uint32_t n, room;
    uint64_t segment_bytes;
};

/* What a segment did. */
struct stream_end {
    int64_t arrive_fs, tail_fs;
};

/* Room for a way of `n` channels; false without memory. */
bool stream_room(struct stream *f, uint32_t n);

/* The way that channels `c` are; nothing has gone it. False without memory. */
bool stream_of(struct stream *f, const struct kb_topology *t, const struct channels *c);

/* Nothing has gone it. */
static inline void stream_clear(struct stream *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        f->hops[i].free_fs = 0;
}

/* Segment `number` of `nbytes`, which is ready at its begin at `ready_fs`, goes it. */
static inline struct stream_end stream_pass(struct stream *f, int64_t ready_fs, uint64_t number,
                                            uint64_t nbytes)
{
    uint64_t from = number * f->segment_bytes;
    int64_t t = ready_fs, taken = 0;

    for (uint32_t i = 0; i < f->n; i++) {
        struct stream_hop *hop = &f->hops[i];

        t = t > hop->free_fs ? t : hop->free_fs;
        taken = part_fs(from, nbytes, hop->gbs);
        taken = taken ? taken : 1; /* costs left out */
        hop->free_fs = t + taken;
        t += hop->hop_fs;
    }
    return (struct stream_end){t, t + taken};
}

#endif
