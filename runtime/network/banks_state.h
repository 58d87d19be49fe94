/* banks_state.h -- the slices with banks of one simulation, made as transactions come to them. */
#ifndef BANKS_STATE_H
#define BANKS_STATE_H
#include "engine/how.h"
#include "machine/bank_pool.h"
#include "machine/bank_rules.h"
#include "machine/place.h"

/*
 * What channels have in common. Nothing has come, or the run has an event for each decision; all
 * that has come was even (bank_is_even()), and channel 0 stands for all; each for itself.
 */
enum bank_together { BANKS_UNUSED, BANKS_ALIKE, BANKS_APART };

struct bank_slice {
    struct bank_view view;
    struct bank_channel *channels; /* [channel] */
    uint32_t memory;               /* its station: dst_pack() */
    uint64_t order;                /* of its first channel among all that decide: engine/agenda.h */
    int64_t wake_fs;               /* the next event, at which all channels go on */
    uint64_t pending;              /* transactions, or packets, whose end is not known */
    uint64_t busy[2];              /* channels with anything to decide, a bit each */
    uint32_t expected, last_expected; /* accesses that have not arrived, in order of arrival */
    bool rows;                        /* what comes has rows of its own in the pool */
    bool full;                        /* at the last wake posted writes waited for room */
    enum bank_together together;
};

struct banks {
    struct bank_slice **by_memory; /* owned; [dst_pack()]; NULL: nothing has come to it */
    struct bank_slice **slices;    /* owned, as what they point to, as they were made */
    uint32_t n_slices, slices_room;
    struct bank_pool pool;
    struct bank_access *accesses; /* owned; [slot] */
    struct banks_behind *behind;  /* owned; behind routers: NULL elsewhere */
};

/* Behind routers accesses of the rules are packets, and `accesses` what transactions are in all. */
struct banks_behind {
    uint64_t *offsets;    /* owned; [slot]: where its bytes lie in its slice */
    struct stream stream; /* of the read whose data are counted */
};

/* As of struct memory_server: network/server.h. */
bool banks_begin(struct kb_sim *s);
void banks_end(struct kb_sim *s);
bool banks_room(struct kb_sim *s, uint32_t n);
void banks_clear(struct kb_sim *s, uint32_t memory);

/* The slice that is memory `memory`, made if it is new. NULL without memory. */
struct bank_slice *banks_slice(struct kb_sim *s, uint32_t memory);

/* Each channel of a slice whose channels were alike is on its own from now on. */
void banks_part(struct kb_sim *s, struct bank_slice *slice);

/* How many channels of a slice are kept up, the first ones. */
static inline uint32_t banks_kept(const struct bank_slice *slice)
{
    return slice->together == BANKS_ALIKE ? 1 : bank_channels(slice->view.row);
}

/* The channel that stands for `channel`. */
static inline const struct bank_channel *banks_channel(const struct bank_slice *slice,
                                                       uint32_t channel)
{
    return &slice->channels[slice->together == BANKS_ALIKE ? 0 : channel];
}

/* A run has ended: all that is left in the channels, posted writes, is served. */
void banks_finish(const struct kb_sim *s);

/* Which bursts the transaction in `slot` has, of a slice: `offset` is where its bytes lie in that.
 */
void banks_place(struct kb_sim *s, uint32_t slot, uint64_t offset);

/* The same of a part of a tile that has been placed: `tile` becomes the slice's. */
void banks_place_tile(struct kb_sim *s, uint32_t slot, struct bank_tile *tile);

/* The bursts of the transaction in `slot`. */
static inline struct bank_range banks_range(const struct kb_sim *s, uint32_t slot)
{
    return s->banks ? s->banks->accesses[slot].range : (struct bank_range){0, 0};
}

/* Does `txn`, no stage inside a PE, go to a slice with banks? Its service_fs is its end, once it
 * has been served. */
static inline bool banks_has(const struct kb_sim *s, const struct txn *txn)
{
    const struct kb_topology *t = s->topo;

    return t->banked && unit_is_slice(t, dst_unit(t, txn->dst)) &&
           (t->banked == BANKED_ALL ||
            kind_at(t, dst_cube(t, txn->dst))->hbm.model == MEMORY_BANKS);
}

/* The same, or do they stand behind a component to which it goes? */
static inline bool banks_are_behind(const struct kb_sim *s, const struct txn *txn)
{
    const struct kb_topology *t = s->topo;
    const struct memory_row *hbm = &kind_at(t, dst_cube(t, txn->dst))->hbm;

    return t->banked && unit_is_slice(t, dst_unit(t, txn->dst)) &&
           (hbm->model == MEMORY_BANKS || hbm->behind == MEMORY_BANKS);
}

/* The same of any memory that chooses: network/server.h. */
static inline bool txn_queues(const struct kb_sim *s, const struct txn *txn)
{
    return s->chooses && cost_memory(s->topo, txn->dst, false)->model != MEMORY_SERVER;
}

/* When the service of `txn`, which costs `c`, began: in such a memory, so that it would take as
 * long as if it had been alone. */
static inline int64_t queued_service_fs(const struct kb_sim *s, const struct txn *txn,
                                        const struct kb_cost *c)
{
    return txn_queues(s, txn) ? txn->service_fs - c->memory_overhead_fs - c->drain_fs
                              : txn->service_fs;
}

/* Waits of a transaction whose memory chooses. */
struct waits_behind {
    int64_t link_fs, memory_fs;
    int64_t gain_fs; /* what it took less in its memory than alone: 0 or below */
};

/*
 * Behind routers neither wait is told as less than nothing. What an open row made up for counts as
 * the shorter wait for links; what is left of it was no wait, and makes the overhead less.
 */
static inline struct waits_behind waits_behind(int64_t link_fs, int64_t memory_fs)
{
    int64_t all_fs = link_fs + memory_fs, gain_fs = all_fs < 0 ? all_fs : 0;

    all_fs -= gain_fs;
    memory_fs = memory_fs < 0 ? 0 : memory_fs > all_fs ? all_fs : memory_fs;
    return (struct waits_behind){all_fs - memory_fs, memory_fs, gain_fs};
}

#endif
