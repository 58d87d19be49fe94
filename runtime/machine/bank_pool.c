/* bank_pool.c -- segments, pieces and packets of slices with banks, in lists that grow; data as
 * they become known. */
#include "base/larger.h"
#include "machine/bank_pool.h"
#include <stdlib.h>
#include <string.h>

enum { FIRST = 64 };

/* -- segments and pieces ---------------------------------------------------------------------- */

static bool more_bursts(struct bank_pool *pool, uint32_t n)
{
    uint64_t *moved = realloc(pool->bursts, n * sizeof *moved);

    pool->bursts = moved ? moved : pool->bursts;
    return moved;
}

/* Rows [n, 2 n) of a list of free rows; their numbers in `next`. */
bool bank_more_segments(struct bank_pool *pool)
{
    uint32_t n = pool->n_segments, more = n ? n : FIRST;
    struct bank_segment *moved = realloc(pool->segments, (size_t)(n + more) * sizeof *moved);

    if (!moved || (pool->routed && !more_bursts(pool, n + more))) {
        pool->segments = moved ? moved : pool->segments;
        pool->lost = true;
        return false;
    }
    pool->segments = moved;
    pool->n_segments = n + more;
    for (uint32_t i = n; i < n + more; i++)
        moved[i].next = i + 1 < n + more ? i + 1 : pool->free_segment;
    pool->free_segment = n;
    return true;
}

bool bank_more_pieces(struct bank_pool *pool)
{
    uint32_t n = pool->n_pieces, more = n ? n : FIRST;
    struct bank_piece *moved = realloc(pool->pieces, (size_t)(n + more) * sizeof *moved);

    if (!moved) {
        pool->lost = true;
        return false;
    }
    pool->pieces = moved;
    pool->n_pieces = n + more;
    for (uint32_t i = n; i < n + more; i++)
        moved[i].next = i + 1 < n + more ? i + 1 : pool->free_piece;
    pool->free_piece = n;
    return true;
}

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
    uint32_t n = pool->n_packets, all = n ? 2 * n : FIRST / 4;
    struct bank_access *accesses = realloc(pool->accesses, all * sizeof *accesses);
    struct bank_packet *packets;

    pool->accesses = accesses ? accesses : pool->accesses;
    packets = accesses ? realloc(pool->packets, all * sizeof *packets) : NULL;
    if (!packets)
        return false;
    pool->packets = packets;
    pool->n_packets = all;
    memset(&accesses[n], 0, (all - n) * sizeof *accesses);
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
    if (!writes && !pool->whole && !room_for_ends(packet, range.end - range.at))
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
            ready_fs = larger(ready_fs, ends_fs[burst]);
        end = stream_pass(f, ready_fs + behind_fs, k,
                          left < f->segment_bytes ? left : f->segment_bytes);
        if (k == 0)
            done_fs = end.arrive_fs + drain_fs;
        done_fs = larger(done_fs, end.tail_fs);
    }
    return done_fs;
}
