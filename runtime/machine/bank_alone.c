/* bank_alone.c -- what a transaction takes of a slice with banks when it is alone; room for
 * segments.
 *
 * It arrives at 0 at channels whose banks are closed, and there are no refreshes. That is computed
 * by the rules themselves, one channel after the other: channels know nothing of each other. As
 * many segments as the queue takes need room, which is on the stack unless the queue is very long.
 */
#include "machine/bank_alone.h"
#include "machine/bank_rules.h"
#include <stdlib.h>

enum { FIRST = 64 };

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

/*
 * Channel `channel` serves its part of access 0, which begins with `burst`, for all `alike`.
 * Returns the last time at which it took something of it.
 */
static int64_t serve_alone(const struct bank_view *v, struct bank_pool *pool, struct bank *banks,
                           uint32_t channel, uint32_t alike, uint64_t burst)
{
    struct bank_channel c;
    int64_t last_fs = 0;

    bank_begin_alone(v, &c, banks);
    c.alike = alike;
    bank_add_piece(&c, pool, 0, burst);
    for (int64_t t = 0; t != BANK_NEVER_FS; t = c.next_fs) {
        uint64_t left = pool->accesses->left;

        bank_decide(v, &c, pool, channel, t, NULL);
        if (pool->accesses->left < left)
            last_fs = t;
    }
    return last_fs;
}

/* The common case: one burst opens its row. */
static int64_t one_burst_fs(const struct bank_view *v, bool writes, int64_t drain_fs)
{
    const struct bank_row *b = v->row;
    int64_t turn_fs = b->cl_fs - b->cwl_fs + b->rtw_fs; /* the bus was last used to read */
    int64_t command_fs = writes ? bank_later(b->rcd_fs, turn_fs) : b->rcd_fs;
    int64_t end_fs = command_fs + (writes ? b->cwl_fs : b->cl_fs) + v->burst_fs + b->ctrl_fs;

    if (writes && b->ack == ACK_ACCEPTED)
        return bank_later(1, drain_fs);
    return bank_later(end_fs, end_fs + drain_fs - v->burst_fs);
}

static uint32_t n_waiting(const struct bank_row *row, const struct bank_access *access)
{
    return access->left < row->queue ? (uint32_t)access->left : row->queue;
}

/* All room is free. */
static void free_all(struct bank_pool *pool, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        pool->segments[i].next = i + 1 < n ? i + 1 : BANK_NONE;
    pool->n_segments = n;
    pool->free_segment = pool->free_piece = 0;
    pool->pieces->next = BANK_NONE;
}

/* `segments`: room for as many as can wait. */
static struct bank_alone many_bursts(const struct bank_view *v, struct bank_access *access,
                                     struct bank_segment *segments)
{
    struct bank_piece piece = {.next = BANK_NONE};
    struct bank banks[BANKS_MAX];
    struct bank_pool pool = {.segments = segments,
                             .pieces = &piece,
                             .accesses = access,
                             .n_pieces = 1,
                             .ended = BANK_NONE};
    uint32_t alike = bank_is_even(v->row, access->range) ? bank_channels(v->row) : 1;
    int64_t last_fs = 0;

    for (uint32_t channel = 0; channel < bank_channels(v->row); channel += alike) {
        uint64_t burst = bank_next(v->row, access->range.at, access->range.at, channel);

        free_all(&pool, n_waiting(v->row, access)); /* posted writes may have stayed */
        if (burst < access->range.end)
            last_fs = bank_later(last_fs, serve_alone(v, &pool, banks, channel, alike, burst));
    }
    if (access->writes &&
        v->row->ack == ACK_ACCEPTED) /* by any channel, not by the one served last */
        access->done_fs = bank_later(last_fs + 1, access->drain_fs);
    return (struct bank_alone){access->done_fs, access->ready_fs - access->prepared_fs};
}

/* A function of its own: kernels call this on a small stack. */
static __attribute__((noinline)) struct bank_alone on_stack(const struct bank_view *v,
                                                            struct bank_access *access)
{
    struct bank_segment segments[BANK_ALONE_QUEUE];

    return many_bursts(v, access, segments);
}

static struct bank_alone on_heap(const struct bank_view *v, struct bank_access *access)
{
    struct bank_segment *segments = malloc(n_waiting(v->row, access) * sizeof *segments);
    struct bank_alone alone = {.fs = -1};

    if (segments)
        alone = many_bursts(v, access, segments);
    free(segments);
    return alone;
}

struct bank_alone bank_alone(const struct cost_mask *m, const struct bank_row *row, bool writes,
                             struct bank_range range, int64_t drain_fs, struct bank_segment *room)
{
    const struct bank_view v = bank_view_of(m, row);
    struct bank_access access;

    if (range.end - range.at == 1)
        return (struct bank_alone){one_burst_fs(&v, writes, drain_fs), row->rcd_fs};
    access = (struct bank_access){.range = range,
                                  .left = bank_segments(row, range),
                                  .drain_fs = drain_fs,
                                  .first_fs = BANK_NEVER_FS,
                                  .writes = writes};
    if (room)
        return many_bursts(&v, &access, room);
    return n_waiting(row, &access) <= BANK_ALONE_QUEUE ? on_stack(&v, &access)
                                                       : on_heap(&v, &access);
}
