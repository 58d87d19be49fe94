/* component_packets.c -- what a transaction of a memory that is a component takes alone, behind
 * routers: its packets go their way alone (stream.h), to a fresh state. */
#include "machine/component_packets.h"
#include "machine/stream.h"
#include <stdlib.h>
#include <string.h>

/* One that goes alone, and a memory that is idle. */
struct alone {
    const struct impl *impl;
    const struct kb_request *whole;
    double gbs, own_gbs;
    uint64_t packet_bytes;
    unsigned char *state;
    int64_t free_fs, added_fs;
};

static int64_t later(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

static int64_t sooner(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

/* The end, as far as it is for the packet whose first segment comes at `t`; INT64_MAX: never. */
static int64_t serve(struct alone *a, int64_t t, uint64_t from, uint64_t nbytes)
{
    struct kb_request packet = packet_request(a->whole, from, nbytes, a->gbs, a->own_gbs);
    int64_t start_fs = later(a->free_fs, t);
    struct kb_served answer = a->impl->serve(a->state, &packet, start_fs);

    a->free_fs = start_fs + answer.hold_fs;
    if (answer.done_fs == INT64_MAX)
        return INT64_MAX;
    if (from)
        return packet_end_fs(&packet, answer);
    a->added_fs = added_fs(&packet, start_fs, answer);
    return start_fs + a->added_fs + a->whole->drain_fs;
}

/* Its end, from the arrival of its first segment on. */
static int64_t write_fs(struct alone *a, struct stream *way)
{
    uint64_t nbytes = a->whole->bytes;
    uint64_t size = a->packet_bytes ? a->packet_bytes : nbytes;
    int64_t first_fs = 0, tail_fs = 0, done_fs = 0;

    for (uint64_t from = 0, k = 0; from < nbytes; from += way->segment_bytes, k++) {
        uint64_t left = nbytes - from;
        struct stream_end end =
            stream_pass(way, 0, k, left < way->segment_bytes ? left : way->segment_bytes);

        first_fs = k ? first_fs : end.arrive_fs;
        tail_fs = later(tail_fs, end.tail_fs - first_fs);
        if (from % size == 0)
            done_fs =
                later(done_fs, serve(a, end.arrive_fs - first_fs, from, left < size ? left : size));
        if (done_fs == INT64_MAX)
            return INT64_MAX;
    }
    return later(done_fs, tail_fs + sooner(a->added_fs, a->whole->latency_fs));
}

/* The same less its drain; below -INT64_MAX: no memory. */
static int64_t write_memory_fs(struct alone *a, const struct kb_topology *t,
                               const struct cost_mask *m, const struct trip *trip)
{
    struct channels channels = {0};
    struct stream way = {0};
    int64_t fs = COST_NO_MEMORY;

    if (channels_find(&channels, t, m, trip, true, false) && stream_of(&way, t, &channels)) {
        stream_clear(&way);
        fs = write_fs(a, &way);
        fs -= fs == INT64_MAX ? 0 : a->whole->drain_fs;
    }
    channels_free(&channels);
    free(way.hops);
    return fs;
}

int64_t component_behind_fs(const struct kb_topology *t, const struct cost_mask *m,
                            const struct trip *trip, const struct impl *impl,
                            const struct kb_request *asked, double gbs)
{
    _Alignas(16) unsigned char state[IMPL_BYTES_MAX];
    bool writes = asked->op == KB_OP_WRITE || asked->op == KB_OP_H2D;
    struct alone a = {.impl = impl,
                      .whole = asked,
                      .state = state,
                      .gbs = gbs,
                      .own_gbs = cost_own_gbs(m, cost_memory(t, trip->dst, writes)),
                      .packet_bytes = t->packet_bytes};
    struct kb_served answer;

    memset(state, 0, impl->bytes);
    impl->init(state);
    if (writes)
        return write_memory_fs(&a, t, m, trip);
    answer = impl->serve(state, asked, 0);
    return answer.done_fs == INT64_MAX ? INT64_MAX : added_fs(asked, 0, answer);
}
