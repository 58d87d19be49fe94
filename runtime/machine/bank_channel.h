/* bank_channel.h -- the state of a channel with banks, its segments, and the transactions they are
 * of.
 *
 * bank_rules.h has what changes it.
 */
#ifndef BANK_CHANNEL_H
#define BANK_CHANNEL_H
#include "base/larger.h"
#include "machine/cost.h"
#include "machine/bank_tile.h"
#include <string.h>

#define BANK_NONE     UINT32_MAX /* no segment, piece or access */
#define BANK_CLOSED   UINT64_MAX /* no row */
#define BANK_NEVER_FS INT64_MAX
#define BANK_LONG_AGO (INT64_MIN / 2)

enum { BANK_READ, BANK_WRITE };

/* All bursts of one transaction in one row. */
struct bank_segment {
    uint64_t row;
    uint64_t id;     /* of its transaction's records: those of posted writes end */
    uint64_t number; /* its age among those of its direction */
    uint32_t access; /* slot of its transaction */
    uint32_t n;      /* bursts */
    uint32_t next;   /* in the queue of its bank, or free */
    uint16_t bank;
    uint8_t writes;
    uint8_t kind; /* enum bank_kind, once it is current */
};

/* What a segment found. */
enum bank_kind { BANK_HIT, BANK_MISS, BANK_CONFLICT, BANK_KINDS };

/* Segments of a transaction in one channel that have not been accepted. */
struct bank_piece {
    uint64_t at; /* the first burst of the next one; of a tile its number */
    uint32_t access, next;
};

/* A transaction at a slice. */
struct bank_access {
    struct bank_range range; /* of a tile: numbers of its segments */
    struct bank_tile *tile;  /* NULL: its bursts are a range */
    uint64_t id;             /* of its records */
    uint64_t order, part;    /* of equal arrivals the least is first: bank_access_name() */
    uint64_t left;           /* segments to be granted; of a posted write, to be accepted */
    int64_t arrive_fs, drain_fs;
    int64_t first_fs; /* the earliest end of a segment's first burst */
    int64_t last_fs;  /* the latest end; 1 fs behind the last that was accepted */
    int64_t done_fs;  /* once nothing is left */
    int64_t prepared_fs, delay_fs, ready_fs; /* of the segment that ends last */
    int64_t granted_fs;                      /* and when its channel granted it */
    const struct bank_channel *channel;
    uint32_t next; /* in the list of those expected, or done */
    uint8_t writes;
};

/* Records of parts have their number in the topmost 16 bits; of what an L2 makes they are mixed. */
static inline void bank_access_name(struct bank_access *access, uint64_t id)
{
    access->id = id;
    access->order = id << 16 | id >> 48;
    access->part = 0;
}

static inline void bank_access_name_child(struct bank_access *access, uint64_t id, uint32_t of,
                                          uint64_t part)
{
    access->id = id;
    access->order = (uint64_t)of << 16 | 0xffff;
    access->part = part;
}

/* Its bursts are those of `tile`. */
static inline void bank_access_tile(struct bank_access *access, struct bank_tile *tile)
{
    access->tile = tile;
    access->range = (struct bank_range){0, tile->n};
    access->left = tile->n;
}

/* What concerns its current segment means nothing if it has none; so a queue with no bit in
 * `waiting`. */
struct bank {
    uint64_t row;                  /* BANK_CLOSED: none is open */
    int64_t pre_fs;                /* a precharge is allowed from then on */
    int64_t ready_fs;              /* for the current segment a column command is possible */
    int64_t prepared_fs, delay_fs; /* when it became that; how much later refreshes made it */
    uint32_t current;              /* segment */
    uint32_t head[2], tail[2];     /* its queues, by direction, in order of age */
    int64_t column_fs; /* of the first bank of a group: its next column command; bank_group_of() */
};

/* A rank's banks share activations and refreshes. */
struct bank_rank {
    int64_t refresh_fs; /* of the next refresh */
    int64_t act_fs;     /* the last one has ended: no activation before */
    int64_t acts_fs[4]; /* of the last four activations; n_acts & 3 is the oldest */
    uint64_t n_acts;
};

/* What --stats shows of a channel. Refreshes need no count: they follow from the time. */
struct bank_counts {
    uint64_t kinds[BANK_KINDS]; /* segments */
    uint64_t bursts;
    int64_t until_fs; /* the end of the last burst on the bus */
};

struct bank_channel {
    int64_t bus_fs;     /* the next column command */
    int64_t next_fs;    /* nothing is granted before, if nothing arrives */
    int64_t refresh_fs; /* of the next refresh of any rank */
    uint64_t open;      /* banks with an open row; bits, as all below */
    uint64_t waiting[2], current[2];
    uint64_t ready;     /* their current segments could be granted at the last decision */
    uint32_t queued[2]; /* segments accepted and not granted */
    uint32_t pieces[2], last_piece[2];
    uint32_t granted, to_grant; /* writes of this drain */
    uint8_t arrived;            /* pieces have come since the last decision */
    uint8_t drains, writes;     /* its mode; the direction of its bus */
    uint8_t rank;               /* of the last burst on the bus; RANKS_MAX: there was none */
    uint8_t has_read; /* a read was granted since the last drain began, or there was none */
    uint8_t line_first, line_n, line[BANKS_MAX]; /* a ring */
    uint32_t alike; /* how many channels it stands for: bank_is_even() */
    uint64_t numbers[2];
    struct bank *banks; /* owned by its slice */
    struct bank_counts counts;
    struct bank_rank ranks[RANKS_MAX]; /* the last: those that there are not are never written */
};

/* Behind routers: a packet of a write, or a read, whose data go back as they come. */
struct bank_packet {
    int64_t *ends_fs;  /* owned; of a read: when each of its bursts ends; 0: not known yet */
    uint32_t room;     /* of that */
    uint32_t slot;     /* of its transaction */
    uint32_t known;    /* bursts before the first that is not */
    uint32_t sent;     /* segments that have been told to the memory's port */
    uint32_t parcel;   /* to which they are added */
    uint32_t place;    /* the parcel that keeps its room at the memory; NO_PARCEL: no limit */
    uint32_t next;     /* free, or touched */
    uint64_t number;   /* of a request of what stands in front: by which that knows it */
    int64_t latest_fs; /* the end of the latest known burst */
    bool touched;      /* a burst has become known */
};

/* Segments and pieces of all slices, and the transactions that they belong to. */
struct bank_pool {
    struct bank_segment *segments; /* owned, as pieces */
    struct bank_piece *pieces;
    struct bank_access *accesses; /* borrowed; [slot]; behind routers owned; [packet] */
    uint32_t n_segments, n_pieces, free_segment, free_piece;
    uint32_t ended;              /* accesses that are done, a list */
    bool lost;                   /* there was no memory */
    bool routed;                 /* behind routers: these are used */
    bool whole;                  /* nothing asks when a burst of a read ends */
    uint64_t *bursts;            /* owned; [segment]: its first */
    struct bank_packet *packets; /* owned; [packet] */
    uint32_t n_packets, free_packet;
    uint32_t touched; /* reads of which bursts have become known, a list */
};

/* False without memory: `pool` says so. bank_pool.c */
bool bank_more_segments(struct bank_pool *pool);
bool bank_more_pieces(struct bank_pool *pool);

/* The numbers of a channel as they are in this run. */
struct bank_view {
    const struct bank_row *row;
    int64_t burst_fs;
    bool routed; /* behind routers */
    bool paced;  /* bursts of a bank group stand further apart than those of others */
    bool ranked; /* there are several ranks */
};

/* Where the bandwidth of memories is left out a burst takes 1 fs: two never go at one instant. */
static inline struct bank_view bank_view_of(const struct cost_mask *m, const struct bank_row *row)
{
    int64_t burst_fs = m->memory_gbs > 0 ? 1 : row->burst_fs;

    return (struct bank_view){row, burst_fs, false, row->ccd_fs > burst_fs, row->rank_bits > 0};
}

static inline uint32_t bank_rank_of(const struct bank_view *v, uint32_t number)
{
    return v->ranked ? number >> v->row->number_bits : 0;
}

/* Ranks take turns: the first refresh of each is that part of an interval into the run. */
static inline int64_t bank_first_refresh(const struct bank_row *row, uint32_t rank)
{
    if (row->refresh != REFRESH_ALL)
        return BANK_NEVER_FS;
    return (2 * row->refi_fs * (rank + 1) + bank_ranks(row)) >> (row->rank_bits + 1); /* rounded */
}

/* An idle channel: its `banks` are closed, nothing waits. */
static inline void bank_begin(const struct bank_view *v, struct bank_channel *c, struct bank *banks)
{
    memset(c, 0, offsetof(struct bank_channel, ranks));
    c->next_fs = BANK_NEVER_FS;
    c->pieces[BANK_READ] = c->pieces[BANK_WRITE] = BANK_NONE;
    c->has_read = true;
    c->rank = RANKS_MAX;
    c->alike = 1;
    c->banks = banks;
    for (uint32_t i = 0; i < bank_ranks(v->row); i++)
        c->ranks[i] = (struct bank_rank){
            .refresh_fs = bank_first_refresh(v->row, i),
            .acts_fs = {BANK_LONG_AGO, BANK_LONG_AGO, BANK_LONG_AGO, BANK_LONG_AGO}};
    c->refresh_fs = c->ranks[0].refresh_fs;
    for (uint32_t i = 0; i < bank_count(v->row); i++)
        banks[i] = (struct bank){.row = BANK_CLOSED};
}

static inline void bank_free_segment(struct bank_pool *pool, uint32_t i)
{
    pool->segments[i].next = pool->free_segment;
    pool->free_segment = i;
}

/* Takes all segments and pieces out of a channel. */
static inline void bank_drop(const struct bank_view *v, struct bank_channel *c,
                             struct bank_pool *pool)
{
    bool waits = c->queued[BANK_READ] | c->queued[BANK_WRITE];

    for (uint32_t number = 0; waits && number < bank_count(v->row); number++)
        for (unsigned writes = 0; writes < 2; writes++) {
            struct bank *bank = &c->banks[number];
            uint32_t i = c->waiting[writes] >> number & 1 ? bank->head[writes] : BANK_NONE;

            while (i != BANK_NONE) {
                uint32_t next = pool->segments[i].next;

                bank_free_segment(pool, i);
                i = next;
            }
            if (c->current[writes] >> number & 1)
                bank_free_segment(pool, bank->current);
        }
    for (unsigned writes = 0; writes < 2; writes++)
        while (c->pieces[writes] != BANK_NONE) {
            uint32_t i = c->pieces[writes];

            c->pieces[writes] = pool->pieces[i].next;
            pool->pieces[i].next = pool->free_piece;
            pool->free_piece = i;
        }
}

#endif
