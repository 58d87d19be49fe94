/*
 * split.h -- a transaction that goes in parts: packets of its PE's DMA, and of each packet one part
 * for each slice that it comes to, or of a tile all its pieces there; or of a multicast one part,
 * all its bytes, for each memory that gets them.
 *
 * A PE cuts what has more bytes than cube.pe.pe_dma.packet_bytes into packets of so many; a packet
 * to interleaved addresses, or what a host moves there, is split where the next byte lies in
 * another slice. The whole takes the channel, once. Its parts, in order of addresses, are rows of
 * their own with their memory and their bytes, and so with their own way, engine, links, drain and
 * response. Those of a packet set out together, those of the next one when the row of what its PE
 * issues comes to it: split_take_places(). The channel is free when the last part has been served,
 * and the whole ends with the part that ends last. Its times are those of that part (the first of
 * several), with that part's wait for the channel and its place in the row.
 *
 * `splits` is a table beside the rows, by slot, of runs in which some transaction may have parts:
 * those of machines that cut addresses or packets, or whose memories move blocks, and those with
 * tiles or multicasts, of which the table `places` says where their bytes lie. The parts of a
 * multicast are branches: engine/branches.h.
 *
 * Invariants
 *   - Parts have the id of the whole, and slots that ascend with their numbers: events of one time,
 *     class and id run in order of slots (engine/ev.h), so the order is (time, class, id, part).
 *   - In a replay or a sweep parts lie behind all transactions, in a live run behind those
 *     that were added with theirs. They keep their slots: results are computed from them.
 *     Kernels and traffic use slots again.
 *
 * Example: a read of 16 KiB at 0x0 by c0.pe0 of cube8, granule 4096. Its four parts set out at 0 to
 * slices 0 to 3, and end at 18.085, 36.095, 38.105 and 40.115 ns. At 40.115 the channel is free,
 * and the row has the terms of the way to slice 3.
 *
 * Example: 16 KiB of c0.slice0 by c0.pe0, packets of 4096 bytes, issue_ns 25, no granule. Four
 * parts set out at 0, 25, 50 and 75; the last ends at 93.085, and its wait for its place, 75, is
 * the row's queue_channel.
 */
#ifndef SPLIT_H
#define SPLIT_H
#include "engine/branches.h"
#include "engine/engine.h"
#include "machine/address.h"
#include "machine/tile.h"

enum { SPLIT_PARTS_MAX = 1 << 16 };

struct split {
    uint32_t whole;  /* slot of the transaction that it is a part of; its own: it is none */
    uint32_t next;   /* of a whole the first part, of a part the one behind it; TXN_NONE: none */
    uint16_t number; /* of a part, from 0 */
    bool begins;     /* of a part: its packet begins with it */
    bool by_address; /* of a whole: its bytes lie from txn.address on; else from that byte on of its
                        memory */
    uint32_t left;   /* of a whole: parts that have not been served */
    uint64_t own_bytes; /* that its memory moves; 0: its own */
    int64_t least_fs;   /* its drain is no shorter; of a child it is its drain */
    uint32_t maker;     /* of a child the transaction that made it: child_rows.h; TXN_NONE: none */
    uint64_t part;      /* of a child: child_part() */
};

/* Where the bytes of a transaction lie. */
struct bytes_at {
    bool by_address; /* `at` is a global address; else a byte of the memory of the transaction */
    bool past_l2;    /* it goes past the L2 of its cube */
    uint64_t at;
    struct tile tile;              /* its runs; else it is one */
    const struct targets *targets; /* of a multicast: borrowed; NULL: it is none */
};

/* Where the bytes of a multicast go, in the order in which its targets were named. */
struct target_at {
    uint32_t dst; /* memory */
    uint64_t offset;
};

struct targets {
    struct targets *next; /* of all of a simulation; of kernels' NULL */
    uint32_t n;
    struct target_at of[];
};

/* Room for `n` targets, owned by `s`. NULL without memory. */
struct targets *targets_new(struct kb_sim *s, uint32_t n);

/* Bytes of a transaction that are a part of it, as they are cut off. */
struct split_part {
    uint64_t offset, nbytes; /* of its first piece; of all of them */
    uint64_t low;            /* the lowest address of its pieces */
    uint64_t last_bytes;     /* of its last piece */
    uint64_t blocks, block;  /* that its pieces touch; the last of them */
    uint32_t dst, pieces;
    bool begins;             /* a packet */
    uint32_t fill;           /* of what an L2 reads: the number of the child, 0: none yet; */
    uint64_t asked;          /* how many of its bytes are wanted */
    struct bank_tile *banks; /* owned until its row is made: its segments; NULL: they are a range */
    struct pieces *cached;   /* the same, at a cache: its pieces; at an L2, if they are several */
};

/* The row in `slot` is no part, and has none. */
static inline void split_none(struct kb_sim *s, uint32_t slot)
{
    s->splits[slot] = (struct split){.whole = slot, .next = TXN_NONE, .maker = TXN_NONE};
    branches_none(s, slot);
}

/* Frees what there is of parts. */
void split_free(struct kb_sim *s);

/* Makes what is needed where transactions go in parts, as some will. False without memory. */
bool split_begin(struct kb_sim *s);

/* Does some PE's DMA take tiles as their runs? */
bool split_takes_tiles(const struct kb_topology *t);

/* Are the runs of a tile more to some PE's DMA, or to a memory, than their bytes? */
bool split_sees_runs(const struct kb_topology *t);

/*
 * Cuts the bytes of a transaction like `of` into parts, s->parts: each stretch of a packet in one
 * memory is one; of a tile all that a packet has in one memory, in order of their lowest addresses.
 * What goes to an L2 is there as a whole, at its global address.
 *
 * returns  KB_BAD_REQUEST: it leaves its cube or its SIP (no parts), or has more than
 *          SPLIT_PARTS_MAX; KB_NO_MEMORY
 */
kb_status split_cut(struct kb_sim *s, const struct txn *of, const struct bytes_at *bytes);

/* Is it to have parts, as it was cut? A tile has some, if only one. */
static inline bool split_goes_in_parts(const struct kb_sim *s, const struct bytes_at *bytes)
{
    return s->parts.n > 1 || bytes->tile.n > 1; /* a multicast has two at least */
}

/* The same of one that has no parts: it is what was cut, s->parts. */
void split_place_cut(struct kb_sim *s, uint32_t slot);

/* One more row of s->parts; that in memory `dst`, from row `first` on, which may be new. NULL
 * without memory. */
struct split_part *split_new_part(struct kb_sim *s);
struct split_part *split_part_in(struct kb_sim *s, uint32_t first, uint32_t dst);

/* One more piece of a part, of bytes of memory part->dst; `listed`: memories that need it get a
 * list. False without memory. */
bool split_add_piece(struct kb_sim *s, struct split_part *part, uint64_t address, uint64_t offset,
                     uint64_t nbytes, bool listed);

/* Blocks of its memory that a piece touches; one that it shares with the piece before is once. */
void split_add_blocks(const struct kb_sim *s, struct split_part *part, uint64_t offset,
                      uint64_t nbytes);

/* What the row in `slot` takes of its memory. */
void split_set_service(struct kb_sim *s, uint32_t slot, const struct split_part *part);

/* Rows of s->parts from `first` on are in order of their lowest addresses. */
void split_in_order(struct split_parts *parts, uint32_t first);

/* The row in `slot` lies where `part` says: that has no lists then. */
void split_place_part(struct kb_sim *s, uint32_t slot, struct split_part *part);

/* Nothing is cut. */
void split_drop(struct kb_sim *s);

/* Does any memory ask where in it a transaction lies? */
static inline bool split_asks_where(const struct kb_sim *s)
{
    return s->banks || s->caches || s->instances.served;
}

/* The transaction in `slot`, no part and without parts, lies at byte `offset` of its memory. */
void split_place(struct kb_sim *s, uint32_t slot, uint64_t offset);

/*
 * Makes the parts that were cut of the whole in `whole` in the rows `slots`, which ascend and are
 * as many as its parts; or if that is NULL in those from `first` on.
 */
void split_make(struct kb_sim *s, uint32_t whole, uint32_t first, const uint32_t *slots);

/* The row in `slot` will have parts, when the run begins. False without memory. */
bool split_later(struct kb_sim *s, uint32_t slot, const struct bytes_at *bytes);

/* Where its bytes lie. */
struct bytes_at split_bytes(const struct kb_sim *s, uint32_t slot);

/* Makes the parts of the rows from slot `first` on, before they are issued, from slot `end` on,
 * which is behind them. KB_BAD_REQUEST: too many; KB_NO_MEMORY. */
kb_status split_all(struct kb_sim *s, uint32_t first, uint32_t end, kb_error *why);

/*
 * The parts of the transaction in `whole`, which sets out at `t`, take their places in the row of
 * its PE: those of a packet one place. Ideal links do not queue, so there a packet sets out no
 * earlier than the one before has drained. That makes the time for each part at which it sets out.
 */
void split_take_places(struct kb_sim *s, uint64_t t, uint32_t whole);

/* Of a whole that has ended, the part that ended last; of another row, that itself. */
const struct txn *split_last(const struct kb_sim *s, uint32_t slot);

/* A part ends at `end`. When the whole ends; SPLIT_GOES_ON: not all of it has been served. */
#define SPLIT_GOES_ON UINT64_MAX
uint64_t split_ended(struct kb_sim *s, uint32_t slot, uint64_t end);

static inline bool is_split(const struct kb_sim *s, uint32_t slot)
{
    return s->splits && s->splits[slot].next != TXN_NONE;
}

/* Is the row in `slot` a part of another one? */
static inline bool is_part(const struct kb_sim *s, uint32_t slot)
{
    return s->splits && s->splits[slot].whole != slot;
}

/* A part of a transaction that its PE cuts into packets, or may cut? */
static inline bool split_by_packets(const struct kb_sim *s, uint32_t slot)
{
    const struct txn *txn = &s->txns[slot];

    return is_part(s, slot) && !is_branch(s, slot) && !txn_of_host(txn) &&
           kind_at(s->topo, src_cube(s->topo, txn->src))->packet_bytes;
}

/* Counts a part that its channel has let out beside the first one. Of a multicast it has let out
 * the bytes once, too, and links that branches share have carried them once. */
void split_count_more(struct kb_sim *s, uint32_t slot);
static inline void split_count_part(struct kb_sim *s, uint32_t slot)
{
    if (s->splits && s->splits[slot].number > 0 && !txn_of_host(&s->txns[slot]))
        split_count_more(s, slot);
}

/* -- for the steps -------------------------------------------------------------------------- */

/* The transaction that the row in `slot` is a part of, or itself. */
static inline uint32_t whole_of(const struct kb_sim *s, uint32_t slot)
{
    return s->splits ? s->splits[slot].whole : slot;
}

/* Was it made by an L2? */
static inline bool is_child(const struct kb_sim *s, uint32_t slot)
{
    return s->splits && s->splits[slot].maker != TXN_NONE;
}

/* Its part number: of events of one time, class and id the least is first. */
static inline uint64_t part_number(const struct kb_sim *s, uint32_t slot)
{
    return !s->splits ? 0 : is_child(s, slot) ? s->splits[slot].part : s->splits[slot].number;
}

/* The id under which its records go into the fingerprint. */
static inline uint64_t record_id(const struct kb_sim *s, uint32_t slot)
{
    return part_record_id(s->txns[slot].id, part_number(s, slot));
}

/* Is `a` before `b` at equal times? Rows of one id are parts, in order of their slots. */
static inline bool comes_before(const struct kb_sim *s, const struct txn *a, const struct txn *b)
{
    return a->id < b->id || (s->splits && a->id == b->id && a < b);
}

/* How long the row in `slot` drains whose way drains it in `drain` fs: its memory may take longer,
 * and its PE from run to run. */
static inline int64_t split_drain(const struct kb_sim *s, uint32_t slot, int64_t drain)
{
    if (!s->splits)
        return drain;
    return is_child(s, slot) || s->splits[slot].least_fs > drain ? s->splits[slot].least_fs : drain;
}

/* Bytes that its memory moves. */
static inline uint64_t split_own_bytes(const struct kb_sim *s, uint32_t slot)
{
    return s->splits && s->splits[slot].own_bytes ? s->splits[slot].own_bytes
                                                  : s->txns[slot].nbytes;
}

/* The bandwidth of its memory alone: at that it moves more bytes than come, or go. */
static inline double memory_own_gbs(const struct kb_sim *s, uint32_t slot)
{
    const struct txn *x = &s->txns[slot];
    double gbs = cost_own_gbs(&s->mask, cost_memory(T, x->dst, txn_writes(x)));
    uint64_t moved = split_own_bytes(s, slot);

    return moved == x->nbytes ? gbs : gbs * (double)x->nbytes / (double)moved;
}

/* It has been served. True: so have all other parts of its transaction `whole`. */
static inline bool is_last_part(struct kb_sim *s, uint32_t slot, uint32_t whole)
{
    return whole == slot || --s->splits[whole].left == 0;
}

#endif
