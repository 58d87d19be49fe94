/* bank_behind.c -- slices with banks behind routers: what a transaction takes alone.
 *
 * Its segments go their way alone (stream.h). A write's packets come to closed banks as their first
 * segments arrive, and it is done when its last tail is in, its packets are served or accepted, and
 * its drain has passed. A read's data are ready as its bursts end, and go back alone. From that the
 * way is subtracted, which has terms of its own: what is left is the term of the memory.
 *
 * Example (hand; a burst takes 2 ns, ctrl 0, segments of 64 bytes, a way back of 16 GB/s): a read
 * of 128 bytes in one row. Its bursts end at 30 and 32 ns; the first segment is on the way from 30
 * to 34, the second from 34 to 38. So it takes 38 ns, of which 8 are its drain.
 */
#include "machine/bank_behind.h"
#include "machine/bank_rules.h"
#include <stdlib.h>
#include <string.h>

/* -- packets -------------------------------------------------------------------------------- */

void bank_pool_begin(struct bank_pool *pool)
{
    *pool = (struct bank_pool){.free_segment = BANK_NONE,
                               .free_piece = BANK_NONE,
                               .free_packet = BANK_NONE,
                               .ended = BANK_NONE,
                               .touched = BANK_NONE,
                               .routed = true};
}

void bank_pool_free(struct bank_pool *pool)
{
    for (uint32_t i = 0; i < pool->n_packets; i++)
        free(pool->packets[i].ends_fs);
    if (pool->routed)
        free(pool->accesses);
    free(pool->packets);
    free(pool->segments);
    free(pool->bursts);
    free(pool->pieces);
}

/* Free rows are taken in order: those from `first` on come last. */
static void append_free(struct bank_pool *pool, uint32_t first)
{
    uint32_t *link = &pool->free_packet;

    while (*link != BANK_NONE)
        link = &pool->packets[*link].next;
    *link = first;
}

static bool more_packets(struct bank_pool *pool)
{
    enum { FIRST = 16 };
    uint32_t n = pool->n_packets, all = n ? 2 * n : FIRST;
    struct bank_access *accesses = realloc(pool->accesses, all * sizeof *accesses);
    struct bank_packet *packets;

    pool->accesses = accesses ? accesses : pool->accesses;
    packets = accesses ? realloc(pool->packets, all * sizeof *packets) : NULL;
    if (!packets)
        return false;
    pool->packets = packets;
    pool->n_packets = all;
    memset(&packets[n], 0, (all - n) * sizeof *packets);
    for (uint32_t i = n; i < all; i++)
        packets[i].next = i + 1 < all ? i + 1 : BANK_NONE;
    append_free(pool, n);
    return true;
}

/* Room for the ends of `n` bursts, none of which is known. */
static bool room_for_ends(struct bank_packet *packet, uint64_t n)
{
    int64_t *more;

    if (n > packet->room) {
        more = n < UINT32_MAX ? realloc(packet->ends_fs, n * sizeof *more) : NULL;
        if (!more)
            return false;
        packet->ends_fs = more;
        packet->room = (uint32_t)n;
    }
    memset(packet->ends_fs, 0, n * sizeof *packet->ends_fs);
    return true;
}

uint32_t bank_new_packet(struct bank_pool *pool, const struct bank_row *row,
                         struct bank_range range, bool writes)
{
    uint32_t i = pool->free_packet;
    struct bank_packet *packet;

    if (i == BANK_NONE && !more_packets(pool))
        return BANK_NONE;
    i = pool->free_packet;
    packet = &pool->packets[i];
    if (!writes && !room_for_ends(packet, range.end - range.at))
        return BANK_NONE;
    pool->free_packet = packet->next;
    *packet = (struct bank_packet){.ends_fs = packet->ends_fs, .room = packet->room};
    pool->accesses[i] = (struct bank_access){.range = range,
                                             .left = bank_segments(row, range),
                                             .first_fs = BANK_NEVER_FS,
                                             .writes = writes};
    return i;
}

/* -- data ----------------------------------------------------------------------------------- */

int64_t bank_stream_fs(struct stream *f, const struct bank_row *row, const int64_t *ends_fs,
                       struct bank_bytes bytes, int64_t behind_fs, int64_t drain_fs)
{
    int64_t ready_fs = 0, done_fs = 0;
    uint64_t burst = 0;

    stream_clear(f);
    for (uint64_t k = 0; k * f->segment_bytes < bytes.nbytes; k++) {
        uint64_t last = bank_last_burst(row, bytes, (uint32_t)f->segment_bytes, k);
        uint64_t left = bytes.nbytes - k * f->segment_bytes;
        struct stream_end end;

        for (; burst <= last; burst++)
            ready_fs = bank_later(ready_fs, ends_fs[burst]);
        end = stream_pass(f, ready_fs + behind_fs, k,
                          left < f->segment_bytes ? left : f->segment_bytes);
        if (k == 0)
            done_fs = end.arrive_fs + drain_fs;
        done_fs = bank_later(done_fs, end.tail_fs);
    }
    return done_fs;
}

/* -- alone ---------------------------------------------------------------------------------- */

void bank_room_free(struct bank_room *room)
{
    channels_free(&room->channels);
    free(room->stream.hops);
    bank_pool_free(&room->pool);
}

/* Packets of a write; a read is whole. */
static uint64_t n_packets(const struct kb_topology *t, bool writes, uint64_t nbytes)
{
    return writes && t->packet_bytes ? (nbytes + t->packet_bytes - 1) / t->packet_bytes : 1;
}

/*
 * Channel `channel`, for all `alike`, serves what packets 0 to `n` - 1, which arrive one behind the
 * other, have there. Returns when it took the last of it; -1: nothing, or there was no memory.
 */
static int64_t serve_packets(const struct bank_view *v, struct bank_pool *pool, uint32_t n,
                             uint32_t channel, uint32_t alike)
{
    struct bank banks[BANKS_MAX];
    struct bank_channel c;
    uint32_t last = BANK_NONE;
    int64_t last_fs = -1;

    bank_begin_alone(v, &c, banks);
    c.alike = alike;
    for (uint32_t i = 0; i < n; i++) {
        struct bank_range range = pool->accesses[i].range;
        uint64_t burst = bank_next(v->row, range.at, range.at, channel);

        if (burst >= range.end || (pool->free_piece == BANK_NONE && !bank_more_pieces(pool)))
            continue;
        bank_catch_up(v, &c, pool, channel, pool->accesses[i].arrive_fs - 1);
        bank_add_piece(&c, pool, i, burst);
        c.next_fs = pool->accesses[i].arrive_fs;
        last = i;
    }
    while (c.next_fs != BANK_NEVER_FS && !pool->lost) {
        uint64_t left = pool->accesses[last].left;
        int64_t t = c.next_fs;

        bank_decide(v, &c, pool, channel, t, NULL);
        if (pool->accesses[last].left < left)
            last_fs = t;
    }
    bank_drop(v, &c, pool);
    return last_fs;
}

/* All channels do so. Returns when the last of them took something. */
static int64_t serve_all(const struct bank_view *v, struct bank_pool *pool, uint32_t n)
{
    int64_t last_fs = 0;
    bool even = true;

    for (uint32_t i = 0; i < n; i++)
        even &= bank_is_even(v->row, pool->accesses[i].range);
    for (uint32_t channel = 0; channel < bank_channels(v->row);
         channel += even ? bank_channels(v->row) : 1)
        last_fs = bank_later(last_fs,
                             serve_packets(v, pool, n, channel, even ? bank_channels(v->row) : 1));
    pool->ended = pool->touched = BANK_NONE;
    return last_fs;
}

static struct bank_alone read_alone(const struct bank_view *v, struct bank_room *room,
                                    struct bank_bytes bytes, int64_t behind_fs, int64_t drain_fs)
{
    struct bank_pool *pool = &room->pool;
    struct bank_range range = bank_range(v->row, bytes.offset, bytes.nbytes);
    uint32_t i = bank_new_packet(pool, v->row, range, false);
    struct bank_alone alone = {.fs = -1};

    if (i == BANK_NONE)
        return alone;
    serve_all(v, pool, 1);
    alone.fs = bank_stream_fs(&room->stream, v->row, pool->packets[i].ends_fs, bytes, behind_fs,
                              drain_fs) -
               stream_way_fs(&room->stream) - behind_fs;
    alone.row_fs = pool->accesses[i].ready_fs - pool->accesses[i].prepared_fs;
    bank_free_packet(pool, i);
    return alone;
}

/* Its packets, as they arrive behind the first; false without memory. When the last tail is in. */
static bool send_packets(const struct kb_topology *t, const struct bank_view *v,
                         struct bank_room *room, struct bank_bytes bytes, int64_t *tail_fs)
{
    uint64_t size = t->packet_bytes ? t->packet_bytes : bytes.nbytes, first_fs = 0;

    for (uint64_t from = 0, k = 0; from < bytes.nbytes; from += t->segment_bytes, k++) {
        uint64_t left = bytes.nbytes - from;
        uint64_t nbytes = left < t->segment_bytes ? left : t->segment_bytes;
        struct stream_end end = stream_pass(&room->stream, 0, k, nbytes);
        uint32_t i;

        if (from == 0)
            first_fs = (uint64_t)end.arrive_fs;
        *tail_fs = bank_later(from ? *tail_fs : 0, end.tail_fs - (int64_t)first_fs);
        if (from % size)
            continue;
        nbytes = left < size ? left : size;
        i = bank_new_packet(&room->pool, v->row, bank_range(v->row, bytes.offset + from, nbytes),
                            true);
        if (i == BANK_NONE)
            return false;
        room->pool.accesses[i].arrive_fs = end.arrive_fs - (int64_t)first_fs;
    }
    return true;
}

/* When packets 0 to `n` - 1 have been accepted, or written. The drain ends a burst behind. */
static int64_t written_fs(const struct bank_view *v, const struct bank_pool *pool, uint32_t n,
                          int64_t accepted_fs, int64_t drain_fs, int64_t *row_fs)
{
    int64_t first_fs = BANK_NEVER_FS, last_fs = 0;

    if (v->row->ack == ACK_ACCEPTED)
        return bank_later(accepted_fs + 1, drain_fs);
    for (uint32_t i = 0; i < n; i++) {
        const struct bank_access *access = &pool->accesses[i];

        first_fs = access->first_fs < first_fs ? access->first_fs : first_fs;
        if (access->last_fs > last_fs)
            *row_fs = access->ready_fs - access->prepared_fs;
        last_fs = bank_later(last_fs, access->last_fs);
    }
    return bank_later(last_fs, first_fs + drain_fs - v->burst_fs);
}

static struct bank_alone write_alone(const struct kb_topology *t, const struct bank_view *v,
                                     struct bank_room *room, struct bank_bytes bytes,
                                     int64_t drain_fs)
{
    uint32_t n = (uint32_t)n_packets(t, true, bytes.nbytes);
    struct bank_alone alone = {.fs = -1};
    int64_t tail_fs = 0, accepted_fs;

    if (!send_packets(t, v, room, bytes, &tail_fs))
        return alone;
    accepted_fs = serve_all(v, &room->pool, n);
    alone.fs =
        bank_later(tail_fs, written_fs(v, &room->pool, n, accepted_fs, drain_fs, &alone.row_fs));
    for (uint32_t i = n; i-- > 0;) /* the next one has rows from 0 on again */
        bank_free_packet(&room->pool, i);
    return alone;
}

/* A pool that has lost something is begun again. */
static void begin(struct bank_room *room)
{
    if (!room->pool.routed)
        bank_pool_begin(&room->pool);
}

struct bank_alone bank_alone_behind(const struct kb_topology *t, const struct cost_mask *m,
                                    const struct trip *trip, bool writes, struct bank_bytes bytes,
                                    int64_t drain_fs, struct bank_room *room)
{
    struct bank_view v = bank_view_of(m, &kind_at(t, dst_cube(t, trip->dst))->banks);
    int64_t behind_fs = cost_in_memory_fs(m, cost_memory(t, trip->dst, writes));
    struct bank_alone alone = {.fs = -1};

    v.routed = true;
    begin(room);
    if (!channels_find(&room->channels, t, m, trip, writes, !writes) ||
        !stream_of(&room->stream, t, &room->channels))
        return alone;
    alone = writes ? write_alone(t, &v, room, bytes, drain_fs)
                   : read_alone(&v, room, bytes, behind_fs, drain_fs);
    if (room->pool.lost)
        alone.fs = -1;
    return alone;
}

int64_t cost_behind_fs(const struct kb_topology *t, const struct cost_mask *m,
                       const struct trip *trip, bool writes, uint64_t offset, uint64_t nbytes,
                       int64_t drain_fs)
{
    struct bank_room room = {0};
    int64_t fs =
        bank_alone_behind(t, m, trip, writes, (struct bank_bytes){offset, nbytes}, drain_fs, &room)
            .fs;

    bank_room_free(&room);
    return fs;
}

bool bank_room_for(struct bank_room *room, const struct kb_topology *t, const struct bank_row *row,
                   bool writes, struct bank_bytes bytes, uint32_t n)
{
    struct bank_pool *pool = &room->pool;
    struct bank_range range = bank_range(row, bytes.offset, bytes.nbytes);
    uint64_t packets = n_packets(t, writes, bytes.nbytes);

    begin(room);
    while (pool->n_packets < packets || !pool->n_packets)
        if (!more_packets(pool))
            return false;
    while (pool->n_segments < row->queue)
        if (!bank_more_segments(pool))
            return false;
    while (pool->n_pieces < packets || !pool->n_pieces)
        if (!bank_more_pieces(pool))
            return false;
    return stream_room(&room->stream, n) &&
           (writes || room_for_ends(&pool->packets[0], range.end - range.at));
}
