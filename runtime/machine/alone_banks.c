/* alone_banks.c -- parts that come to an idle memory, and what they take of one with banks. */
#include "machine/alone_banks.h"
#include "base/larger.h"
#include <stdlib.h>

bool alone_find_way(struct idle *idle, const struct alone_of *of)
{
    if (of->t->links != MODE_ROUTER)
        return true;
    if (!channels_find(&idle->route, of->t, of->m, &of->trip, alone_writes(of),
                       !alone_writes(of)) ||
        !stream_of(&idle->way, of->t, &idle->route))
        return false;
    stream_clear(&idle->way);
    return true;
}

struct coming alone_coming(struct idle *idle, const struct alone_of *of)
{
    bool streams = of->t->links == MODE_ROUTER && alone_writes(of);

    return (struct coming){.way = streams ? &idle->way : NULL,
                           .nbytes = of->nbytes,
                           .size =
                               streams && of->t->packet_bytes ? of->t->packet_bytes : of->nbytes};
}

bool alone_next_part(struct coming *c, struct part *part)
{
    *part = (struct part){.from = c->from, .nbytes = at_most(c->nbytes - c->from, c->size)};
    if (!part->nbytes)
        return false;
    for (; c->way && c->from < part->from + part->nbytes; c->from += c->way->segment_bytes) {
        struct stream_end end = stream_pass(c->way, 0, c->from / c->way->segment_bytes,
                                            at_most(c->nbytes - c->from, c->way->segment_bytes));

        c->first_fs = c->from ? c->first_fs : end.arrive_fs;
        part->t_fs = c->from == part->from ? end.arrive_fs - c->first_fs : part->t_fs;
        c->tail_fs = larger(c->tail_fs, end.tail_fs - c->first_fs);
    }
    c->from = part->from + part->nbytes;
    return true;
}

/* -- banks ------------------------------------------------------------------------------------ */

bool alone_begin_banks(struct idle *idle, const struct alone_of *of)
{
    size_t channels = bank_channels(alone_banks(of)),
           banks = channels * bank_count(alone_banks(of));

    if (!idle->pool.routed)
        bank_pool_begin(&idle->pool);
    idle->view = bank_view_of(of->m, alone_banks(of));
    idle->view.routed = of->t->links == MODE_ROUTER;
    idle->pool.whole = !idle->view.routed;
    idle->alike = 1;
    idle->pool.lost = false;
    if (channels > idle->channels_room || banks > idle->banks_room) {
        free(idle->channels);
        free(idle->banks);
        idle->channels = calloc(channels, sizeof *idle->channels);
        idle->banks = malloc(banks * sizeof *idle->banks);
        idle->channels_room = idle->channels ? channels : 0;
        idle->banks_room = idle->banks ? banks : 0;
    }
    return idle->channels && idle->banks;
}

void alone_settle(struct idle *idle, int64_t t)
{
    for (uint32_t i = 0; i < idle->n_begun; i++)
        bank_catch_up(&idle->view, &idle->channels[idle->begun[i]], &idle->pool, idle->begun[i], t);
}

/* Access `row` comes to `channel`, its first segment there is `at`. */
static void come_to_channel(struct idle *idle, uint32_t row, uint32_t channel, uint64_t at)
{
    struct bank_channel *c = &idle->channels[channel];
    int64_t t = idle->pool.accesses[row].arrive_fs;

    if (!c->banks) {
        bank_begin(&idle->view, c, idle->banks + (size_t)channel * bank_count(idle->view.row));
        c->refresh_fs = BANK_NEVER_FS;
        c->alike = idle->alike;
        idle->begun[idle->n_begun++] = (uint8_t)channel;
    }
    bank_catch_up(&idle->view, c, &idle->pool, channel, t - 1);
    if (idle->pool.free_piece == BANK_NONE && !bank_more_pieces(&idle->pool))
        return;
    bank_add_piece(c, &idle->pool, row, at);
    c->next_fs = t;
}

void alone_come_to_channels(struct idle *idle, uint32_t row)
{
    struct bank_range range = idle->pool.accesses[row].range;
    const struct bank_tile *tile = idle->pool.accesses[row].tile;

    for (uint32_t i = 0; tile && i < tile->n; i++)
        if (tile->of[i].first)
            come_to_channel(idle, row, bank_channel_of(idle->view.row, tile->of[i].burst), i);
    if (tile)
        return;
    for (uint32_t i = 0; i < bank_channels(idle->view.row); i += idle->alike) {
        uint64_t burst = bank_next(idle->view.row, range.at, range.at, i);

        if (burst < range.end)
            come_to_channel(idle, row, i, burst);
    }
}

int64_t alone_next_decision_fs(const struct idle *idle)
{
    int64_t next = BANK_NEVER_FS;

    for (uint32_t i = 0; i < idle->n_begun; i++) {
        int64_t fs = idle->channels[idle->begun[i]].next_fs;

        next = fs < next ? fs : next;
    }
    return next;
}

void alone_end_banks(struct idle *idle)
{
    while (idle->n_begun) {
        struct bank_channel *c = &idle->channels[idle->begun[--idle->n_begun]];

        bank_drop(&idle->view, c, &idle->pool);
        c->banks = NULL;
    }
    idle->pool.ended = idle->pool.touched = BANK_NONE;
    for (; idle->n_accesses; idle->n_accesses--)
        bank_free_packet(&idle->pool, idle->n_accesses - 1);
}

uint32_t alone_new_access(struct idle *idle, uint64_t offset, uint64_t nbytes, bool is_write)
{
    struct bank_range range = bank_range(idle->view.row, offset, nbytes);
    uint32_t row = bank_new_packet(&idle->pool, idle->view.row, range, is_write);

    idle->pool.lost |= row == BANK_NONE;
    idle->n_accesses += row != BANK_NONE;
    return row;
}

/* Its parts are accesses. */
static void make_accesses(struct idle *idle, const struct alone_of *of, struct coming *coming)
{
    bool even = true;
    struct part part;

    while (alone_next_part(coming, &part) && !idle->pool.lost) {
        uint32_t row =
            alone_new_access(idle, of->offset + part.from, part.nbytes, alone_writes(of));

        if (row == BANK_NONE)
            return;
        idle->pool.accesses[row].arrive_fs = part.t_fs;
        if (of->tile) {
            bank_access_tile(&idle->pool.accesses[row], of->tile);
            even = false;
        }
        even &= bank_is_even(idle->view.row, idle->pool.accesses[row].range);
    }
    idle->alike = even ? bank_channels(idle->view.row) : 1;
}

/* When all have been served, and the data have had their way. */
static struct alone served_by_banks(struct idle *idle, const struct alone_of *of, int64_t tail_fs)
{
    int64_t first_fs = BANK_NEVER_FS, last_fs = 0, end_fs = tail_fs;
    int64_t behind_fs = cost_in_memory_fs(of->m, alone_memory(of));
    struct alone alone = {0};

    for (uint32_t i = 0; i < idle->n_accesses; i++) {
        const struct bank_access *access = &idle->pool.accesses[i];

        first_fs = access->first_fs < first_fs ? access->first_fs : first_fs;
        end_fs = larger(end_fs, access->done_fs);
        if (access->last_fs > last_fs)
            alone.row_fs = access->ready_fs - access->prepared_fs;
        last_fs = larger(last_fs, access->last_fs);
    }
    if (idle->view.routed && !alone_writes(of))
        alone.fs =
            bank_stream_fs(&idle->way, idle->view.row, idle->pool.packets[0].ends_fs,
                           (struct bank_bytes){of->offset, of->nbytes}, behind_fs, of->drain_fs) -
            stream_way_fs(&idle->way);
    else if (alone_writes(of) && idle->view.row->ack == ACK_ACCEPTED)
        alone.fs = larger(end_fs, of->drain_fs) + behind_fs;
    else /* the drain ends a burst behind */
        alone.fs = larger(end_fs, first_fs + of->drain_fs - idle->view.burst_fs) + behind_fs;
    return alone;
}

struct alone alone_in_banks(struct idle *idle, const struct alone_of *of)
{
    struct coming coming = alone_coming(idle, of);
    struct alone alone = {.fs = NO_MEMORY};

    if (!alone_begin_banks(idle, of))
        return alone;
    make_accesses(idle, of, &coming);
    for (uint32_t row = 0; row < idle->n_accesses && !idle->pool.lost; row++)
        alone_come_to_channels(idle, row);
    alone_settle(idle, BANK_NEVER_FS - 1);
    if (!idle->pool.lost)
        alone = served_by_banks(idle, of, coming.tail_fs);
    alone_end_banks(idle);
    return alone;
}
