/* banks.c -- hbm_ctrl with `model: banks`: channels, banks and rows, and a scheduler for each
 * channel.
 *
 * It holds        the rows that are open, and each channel's bus for the bursts of a segment; a
 *                 transaction that has arrived is in the way of others only by its segments
 * For how long    a transaction: until its last byte has been served, or if writes are posted
 *                 (`write_ack: accepted`) until the queues have taken it
 * Goes first      by the rules of machine/bank_rules.h: in a bank the oldest of the open row, then
 *                 the oldest; on the bus the oldest that is ready
 * Wait counted    queue_memory = done - arrival - what it would have been alone; it may be
 *                 negative, as a row may be open that alone would have been closed (KB_WAIT_MEMORY)
 * Golden number   docs/model.md "Memories with banks": five reads of five banks at 0 are done at
 *                 30, 34, 38, 42 and 60 ns
 *
 * A transaction is cut into segments, each of one row (machine/bank_map.h). In each channel that it
 * comes to it has one piece, from which its segments are taken as the queue has room. When nothing
 * is left of a transaction its end is known, and posted: later by at least cl or cwl and one burst,
 * of a posted write by 1 fs.
 *
 * Where events are counted a channel decides at the wake of its slice, behind all arrivals of that
 * instant: for an arrival, and when it can grant something. The hop engine has a wake for each
 * instant at which a row is ready or a bus is free as well, whether anything is granted or not.
 *
 * Where nothing is counted neither decisions nor arrivals need events of their own.
 *
 * Decisions. What a channel decides cannot be seen before the end of a transaction that it decides,
 * and that is later by `ahead`: cl or cwl and one burst; 1 fs where posted writes wait for room. So
 * the channels of a slice are left alone, and catch up: a channel when something comes to it, all
 * of them at the slice's wake. That is at
 *
 *     the first instant at which a channel may grant something + ahead - 1 fs
 *
 * or earlier, so the ends found there lie ahead of it. If nothing waits for an end there is none.
 *
 * Arrivals. When a request sets out its arrival is known. It is put into the slice's list of those
 * that are expected, in order of arrival, and the slice wakes as if it had arrived: at arrival +
 * ahead - 1 fs, or later if it is a read of many bursts, which keep the bus. At a wake all that
 * have arrived by then come to their channels, each at its own time. A slice that is half busy has
 * ten of them at a wake, and its banks come into the cache once. The list is nearly in order by
 * itself. One that would have to pass many others gets an event for its arrival; at that, those
 * before it come to their channels first. So it is in runs of kernels, too.
 *
 * Example (defaults). At 0 a read of 64 bytes sets out, and will arrive at 100 ns: the slice wakes
 * at 118.999999. At 5 ns another one does, and will arrive at 90: it goes before the first, and the
 * wake is at 108.999999. There both come to their channels, which open their rows at 90 and 100;
 * the first has its bus at 104, and its end, 123, is posted. The other one may have it at 114, so
 * the next wake is at 132.999999: 133 is posted.
 *
 * Invariants
 *   - A wake lies before each end that an expected request, or a decision to come, can cause.
 *   - Whatever is expected behind a wake arrives later than that: a wake is of the last class.
 *   - Each transaction whose end is not known is counted by `pending`; while there is one the slice
 *     has a wake.
 */
#include "base/larger.h"
#include "network/banks.h"
#include "network/banks_ends.h"
#include "network/fills.h"
#include "network/network_queueing.h"

enum { EXPECTED_STEPS = 16 }; /* a request passes no more others than that */

/* Does a decision have no event? */
static inline bool is_lazy(int how)
{
    return !(how & (HOW_HOP | HOW_COUNTED));
}

/* The slice that is memory `memory`, which is made if it is new. NULL: the run has failed. */
static inline struct bank_slice *slice_of(struct kb_sim *s, uint32_t memory)
{
    struct bank_slice *slice = s->banks->by_memory[memory];

    if (__builtin_expect(!slice, false)) {
        slice = banks_slice(s, memory);
        if (!slice)
            fail(s, KB_NO_MEMORY);
    }
    return slice;
}

/* -- when ------------------------------------------------------------------------------------ */

/*
 * A wake at `t`, unless there is one before. Behind routers ports and slices of one instant decide
 * in one row, where events are counted.
 */
static void ask_slice(struct kb_sim *s, int how, struct bank_slice *slice, int64_t t)
{
    if (t >= slice->wake_fs)
        return;
    slice->wake_fs = t;
    if (s->router && !is_lazy(how) && (uint64_t)t < EV_PAST - 1)
        router_ask_as(s, (uint64_t)t, slice->order, WAKE_OF_MEMORY | slice->memory);
    else
        serving_wake(s, (uint64_t)t, slice->memory);
}

/* Do posted writes wait for room in `c`? */
static inline bool is_full(const struct bank_view *v, const struct bank_channel *c)
{
    return v->row->ack == ACK_ACCEPTED && c->pieces[BANK_WRITE] != BANK_NONE;
}

/* How much later than a decision an end is at least; `full`: posted writes wait for room. */
static inline int64_t ahead_fs(const struct bank_view *v, bool full)
{
    const struct bank_row *b = v->row;

    if (full)
        return 1;
    if (b->ack == ACK_WRITTEN && b->cwl_fs < b->cl_fs)
        return b->cwl_fs + v->burst_fs + b->ctrl_fs;
    return b->cl_fs + v->burst_fs + b->ctrl_fs;
}

/* May anything of this run write? */
static inline bool may_write(const struct kb_sim *s)
{
    return s->kernels || s->ways & WAY_WRITES;
}

/*
 * How much later than the arrival of `access` its slice must wake. Reads of many bursts keep the
 * bus of a channel for their share of these, which nothing else they cause ends before: a write
 * that is held until it is served may, and behind routers data go back burst by burst.
 */
static inline int64_t wake_for(const struct kb_sim *s, const struct bank_slice *slice,
                               const struct bank_access *access)
{
    const struct bank_view *v = &slice->view;
    const struct bank_row *b = v->row;
    int64_t ahead = ahead_fs(v, slice->full);

    if (access->writes && b->ack == ACK_ACCEPTED)
        ahead = access->drain_fs < ahead ? larger(access->drain_fs, 1) : ahead;
    else if (!slice->rows && !slice->full && (b->ack == ACK_ACCEPTED || !may_write(s)))
        ahead +=
            (int64_t)((access->range.end - access->range.at - 1) >> b->channel_bits) * v->burst_fs;
    return ahead - 1;
}

/* -- arrivals at channels --------------------------------------------------------------------- */

/* A function of its own: rules are long, and every step would have a copy of them. */
static __attribute__((noinline)) void catch_up(struct kb_sim *s, struct bank_slice *slice,
                                               uint32_t channel, int64_t t)
{
    bank_catch_up(&slice->view, &slice->channels[channel], &s->banks->pool, channel, t);
}

/* What the row in `slot` is among those that come at one instant. */
static inline void name_access(const struct kb_sim *s, struct bank_access *access, uint32_t slot)
{
    if (__builtin_expect(is_child(s, slot), false))
        bank_access_name_child(access, record_id(s, slot), s->txns[slot].id, part_number(s, slot));
    else
        bank_access_name(access, record_id(s, slot));
}

/* The transaction in `slot` arrives at `t`: what it is to the rules. */
static inline void begin_access(struct kb_sim *s, const struct bank_slice *slice, uint64_t t,
                                int64_t drain_fs, uint32_t slot)
{
    const struct txn *txn = &s->txns[slot];
    struct bank_access *access = &s->banks->accesses[slot];

    name_access(s, access, slot);
    access->left = access->tile ? access->tile->n
                   : access->range.end - access->range.at == 1
                       ? 1
                       : bank_segments(slice->view.row, access->range);
    access->arrive_fs = (int64_t)t;
    access->drain_fs = drain_fs;
    access->first_fs = BANK_NEVER_FS;
    access->last_fs = 0;
    access->writes = (uint8_t)txn_writes(txn);
}

/*
 * Its piece of one channel, whose first segment is `at`. Where a decision has no event the channel
 * catches up first. `alone`: nothing else arrives at `t`.
 */
static ALWAYS_INLINE bool come_to_channel_of(struct kb_sim *s, int how, struct bank_slice *slice,
                                             bool alone, uint64_t t, uint32_t slot, uint64_t at)
{
    struct bank_pool *pool = &s->banks->pool;
    uint32_t channel =
        bank_channel_of(slice->view.row, bank_first_burst(&pool->accesses[slot], at));
    struct bank_channel *c = &slice->channels[channel];

    if (pool->free_piece == BANK_NONE && !bank_more_pieces(pool)) {
        fail(s, KB_NO_MEMORY);
        return false;
    }
    if (is_lazy(how) && c->next_fs < (int64_t)t)
        catch_up(s, slice, channel, (int64_t)t - 1);
    if (alone && !c->arrived)
        bank_arrive(&slice->view, c, pool, slot, at, channel);
    else
        bank_add_piece(c, pool, slot, at);
    c->next_fs = (int64_t)t;
    slice->busy[channel / 64] |= UINT64_C(1) << channel % 64;
    return true;
}

/*
 * What comes to `slice` is even, as all before was: then all channels do the same, and channel 0
 * does it for them. A read of 4 KiB has four segments then, not 32. False: each channel has to do
 * its own.
 */
static inline bool come_together(struct kb_sim *s, struct bank_slice *slice,
                                 const struct bank_access *access)
{
    if (slice->together == BANKS_APART)
        return false;
    if (!access->tile && bank_is_even(slice->view.row, access->range)) {
        slice->together = BANKS_ALIKE;
        slice->channels[0].alike = bank_channels(slice->view.row);
        return true;
    }
    if (slice->together == BANKS_ALIKE)
        banks_part(s, slice);
    slice->together = BANKS_APART;
    if (s->banks->pool.lost)
        fail(s, KB_NO_MEMORY);
    return false;
}

/* It has arrived at `t`: its pieces. Behind routers `slot` is that of a packet. */
static void come_to_channels(struct kb_sim *s, int how, struct bank_slice *slice, bool alone,
                             uint64_t t, uint32_t slot)
{
    const struct bank_row *b = slice->view.row;
    const struct bank_access *access = &s->banks->pool.accesses[slot];
    struct bank_range range = access->range;
    const struct bank_tile *tile = access->tile;

    if (is_lazy(how) && come_together(s, slice, access)) {
        come_to_channel_of(s, how, slice, alone, t, slot, bank_next(b, range.at, range.at, 0));
        return;
    }
    for (uint32_t i = 0; tile && i < tile->n; i++)
        if (tile->of[i].first && !come_to_channel_of(s, how, slice, alone, t, slot, i))
            return;
    if (tile)
        return;
    if (range.end - range.at == 1) {
        come_to_channel_of(s, how, slice, alone, t, slot, range.at);
        return;
    }
    for (uint32_t channel = 0; channel < bank_channels(b); channel++) {
        uint64_t burst = bank_next(b, range.at, range.at, channel);

        if (burst < range.end && !come_to_channel_of(s, how, slice, alone, t, slot, burst))
            return;
    }
}

/* -- those that are expected ------------------------------------------------------------------ */

/* Is the next one that is expected behind `slot`, which has arrived, later than that? */
static inline bool is_apart(const struct kb_sim *s, const struct bank_slice *slice, uint32_t slot)
{
    const struct bank_access *accesses = s->banks->pool.accesses;

    return slice->expected == BANK_NONE ||
           accesses[slice->expected].arrive_fs > accesses[slot].arrive_fs;
}

/* Those that are expected by `t` have arrived, each at its own time. */
static void take_expected(struct kb_sim *s, int how, struct bank_slice *slice, int64_t t)
{
    const struct bank_access *accesses = s->banks->pool.accesses;

    while (slice->expected != BANK_NONE && accesses[slice->expected].arrive_fs <= t) {
        uint32_t slot = slice->expected;

        slice->expected = accesses[slot].next;
        come_to_channels(s, how, slice, is_lazy(how) && is_apart(s, slice, slot),
                         (uint64_t)accesses[slot].arrive_fs, slot);
    }
}

/* When the slice must wake for those that are expected. */
static inline int64_t wake_for_expected(const struct kb_sim *s, int how,
                                        const struct bank_slice *slice)
{
    const struct bank_access *accesses = s->banks->pool.accesses;
    int64_t wake_fs = BANK_NEVER_FS;

    if (!is_lazy(how))
        return slice->expected == BANK_NONE ? wake_fs : accesses[slice->expected].arrive_fs;
    for (uint32_t i = slice->expected; i != BANK_NONE && accesses[i].arrive_fs < wake_fs;
         i = accesses[i].next) {
        int64_t fs = accesses[i].arrive_fs + wake_for(s, slice, &accesses[i]);

        wake_fs = fs < wake_fs ? fs : wake_fs;
    }
    return wake_fs;
}

/* Into its place among those that are expected at `slice`. False: it is too far from its end. */
static inline bool expect_in_order(struct bank_access *accesses, struct bank_slice *slice,
                                   uint32_t slot)
{
    struct bank_access *access = &accesses[slot];
    uint32_t *link = &slice->expected;

    if (*link != BANK_NONE && access->arrive_fs >= accesses[slice->last_expected].arrive_fs)
        link = &accesses[slice->last_expected].next;
    for (int steps = 0; *link != BANK_NONE && accesses[*link].arrive_fs <= access->arrive_fs;
         steps++) {
        if (steps == EXPECTED_STEPS)
            return false;
        link = &accesses[*link].next;
    }
    access->next = *link;
    if (access->next == BANK_NONE)
        slice->last_expected = slot;
    *link = slot;
    return true;
}

static bool banks_expect(struct kb_sim *s, uint64_t t, int64_t drain_fs, uint32_t slot)
{
    struct bank_slice *slice = s->banks->pool.routed ? NULL : slice_of(s, s->txns[slot].dst);

    if (!slice)
        return !s->banks->pool.routed;
    begin_access(s, slice, t, drain_fs, slot);
    if (!expect_in_order(s->banks->accesses, slice, slot))
        return false;
    s->txns[slot].arrive_fs = (int64_t)t;
    slice->pending++;
    ask_slice(s, 0, slice, (int64_t)t + wake_for(s, slice, &s->banks->accesses[slot]));
    return true;
}

/* -- wakes ------------------------------------------------------------------------------------ */

/* hop: the next instant at which a row of `c` is ready, or its bus is free, or a group's column. */
static int64_t next_of_hop(const struct bank_view *v, const struct bank_channel *c, int64_t t)
{
    uint64_t left = c->current[BANK_READ] | c->current[BANK_WRITE];
    int64_t next = left && c->bus_fs > t ? c->bus_fs : BANK_NEVER_FS;

    for (; left; left &= left - 1) {
        uint32_t number = (uint32_t)__builtin_ctzll(left);
        int64_t ready = c->banks[number].ready_fs;
        int64_t column = c->banks[bank_group_of(v->row, number)].column_fs;

        if (ready > t && ready < next)
            next = ready;
        if (column > t && column < next)
            next = column;
    }
    return next;
}

/* Decides at `t`, and is counted. Returns when it decides next. */
static int64_t decide(struct kb_sim *s, int how, struct bank_slice *slice, uint32_t channel,
                      int64_t t)
{
    struct bank_channel *c = &slice->channels[channel];
    struct bank_segment granted;

    if (bank_decide(&slice->view, c, &s->banks->pool, channel, t, &granted)) {
        seen(s, how, (uint64_t)t, EV_ARBITER, granted.id);
        if (is_told(s, how) && (s->router || !slice->rows) &&
            !memory_queues(s->topo, slice->memory)) /* a front tells of itself */
            OBSERVE(s, bus, slice, channel, &granted);
    }
    if (how & HOW_HOP)
        c->next_fs = next_of_hop(&slice->view, c, t);
    return c->next_fs;
}

/* A channel goes on until `t`. Returns when its slice must wake for it. */
static inline int64_t go_on_until(struct kb_sim *s, int how, struct bank_slice *slice,
                                  uint32_t channel, int64_t t)
{
    const struct bank_channel *c = &slice->channels[channel];
    bool full;

    if (!is_lazy(how))
        return c->next_fs > t                                ? c->next_fs
               : how & HOW_COUNTED && sim_has_counted_all(s) ? t
                                                             : decide(s, how, slice, channel, t);
    if (c->next_fs <= t)
        catch_up(s, slice, channel, t);
    if (c->next_fs == BANK_NEVER_FS)
        return BANK_NEVER_FS;
    full = is_full(&slice->view, c);
    slice->full |= full;
    return c->next_fs + ahead_fs(&slice->view, full) - 1;
}

/* All channels do. Returns when the slice must wake again. */
static inline int64_t wake_channels(struct kb_sim *s, int how, struct bank_slice *slice, int64_t t)
{
    int64_t next = BANK_NEVER_FS;

    slice->full = false;
    for (uint32_t word = 0; word * 64 < bank_channels(slice->view.row); word++)
        for (uint64_t left = slice->busy[word]; left; left &= left - 1) {
            uint32_t channel = word * 64 + (uint32_t)__builtin_ctzll(left);
            int64_t fs = go_on_until(s, how, slice, channel, t);

            if (fs == BANK_NEVER_FS)
                slice->busy[word] &= ~(left & -left);
            next = fs < next ? fs : next;
        }
    return next;
}

static void banks_wake(struct kb_sim *s, int how, uint64_t t, uint32_t dst)
{
    struct bank_slice *slice = s->banks->by_memory[dst];
    int64_t next, expected;

    if (!slice || slice->wake_fs != (int64_t)t)
        return; /* nothing has come, or there was one before */
    slice->wake_fs = BANK_NEVER_FS;
    take_expected(s, how, slice, (int64_t)t);
    next = wake_channels(s, how, slice, (int64_t)t);
    post_ends(s, how, slice);
    expected = wake_for_expected(s, how, slice);
    if (slice->pending || !is_lazy(how))
        ask_slice(s, how, slice, next < expected ? next : expected);
}

/* -- arrivals --------------------------------------------------------------------------------- */

/* `access`, whose row is `slot` or that of a packet, has arrived by an event. */
static void arrive_at(struct kb_sim *s, int how, struct bank_slice *slice, uint64_t t, uint32_t row)
{
    const struct bank_access *access = &s->banks->pool.accesses[row];

    slice->pending++;
    if (is_lazy(how)) {
        take_expected(s, how, slice, (int64_t)t - 1);
        ask_slice(s, how, slice, (int64_t)t + wake_for(s, slice, access));
    } else {
        ask_slice(s, how, slice, (int64_t)t);
    }
    come_to_channels(s, how, slice, false, t, row);
    if (is_lazy(how))
        post_ends(s, how, slice);
}

/* An access of its own, of bytes of `slice`, has come. BANK_NONE, and the run ends: no memory. */
static uint32_t new_row(struct kb_sim *s, const struct bank_slice *slice, uint64_t t,
                        uint64_t offset, uint64_t nbytes, bool writes)
{
    const struct bank_row *b = slice->view.row;
    uint32_t row = bank_new_packet(&s->banks->pool, b, bank_range(b, offset, nbytes), writes);

    if (row == BANK_NONE) {
        fail(s, KB_NO_MEMORY);
        return row;
    }
    s->banks->pool.packets[row].slot = TXN_NONE;
    s->banks->pool.packets[row].parcel = s->banks->pool.packets[row].place = NO_PARCEL;
    s->banks->pool.accesses[row].arrive_fs = (int64_t)t;
    return row;
}

static uint64_t offset_of(const struct kb_sim *s, uint32_t slot)
{
    return s->router ? bytes_in_banks(s, slot).offset : s->instances.served[slot].offset;
}

/* A part of the transaction in `slot` comes as an access of its own. */
static void arrive_as_row(struct kb_sim *s, int how, struct bank_slice *slice, uint64_t t,
                          uint32_t slot, const struct delivery *part)
{
    const struct txn *txn = &s->txns[slot];
    uint32_t row;

    if (s->router && ((!txn_writes(txn) && !router_turn_back(s, slot)) ||
                      !stream_room(&s->banks->behind->stream, s->router->flights[slot].way->n))) {
        fail(s, KB_NO_MEMORY);
        return;
    }
    row = new_row(s, slice, t, offset_of(s, slot) + part->from, part->nbytes, txn_writes(txn));
    if (row == BANK_NONE)
        return;
    if (part->from == 0)
        s->banks->accesses[slot].arrive_fs = (int64_t)t;
    s->banks->pool.packets[row].slot = slot;
    s->banks->pool.packets[row].place = part->parcel;
    name_access(s, &s->banks->pool.accesses[row], slot);
    if (!s->router)
        s->banks->pool.accesses[row].drain_fs = txn->hold_fs - behind_banks_fs(s, txn);
    arrive_at(s, how, slice, t, row);
}

void banks_arrive(struct kb_sim *s, int how, uint64_t t, uint32_t slot, const struct delivery *part)
{
    const struct txn *txn = &s->txns[slot];
    struct bank_slice *slice = slice_of(s, txn->dst);

    if (!slice)
        return;
    if (slice->rows) {
        arrive_as_row(s, how, slice, t, slot, part);
        return;
    }
    begin_access(s, slice, t, txn->hold_fs - behind_banks_fs(s, txn), slot);
    arrive_at(s, how, slice, t, slot);
}

void banks_arrive_of_front(struct kb_sim *s, int how, uint32_t memory, const struct due *due,
                           int64_t drain_fs)
{
    struct bank_slice *slice = slice_of(s, memory);
    uint64_t t = (uint64_t)due->t_fs;
    uint32_t row =
        slice ? new_row(s, slice, t, due->offset, due->bytes, due->op == KB_OP_WRITE) : BANK_NONE;

    if (row == BANK_NONE)
        return;
    bank_access_name(&s->banks->pool.accesses[row], due->id);
    s->banks->pool.packets[row].number = due->id;
    s->banks->pool.accesses[row].drain_fs = drain_fs;
    arrive_at(s, how, slice, t, row);
}

/* The bursts of `asked`: a range, or a tile of the lines that it has. */
static bool place_asked(struct kb_sim *s, const struct bank_slice *slice, uint32_t row,
                        const struct behind_asked *asked)
{
    const struct bank_row *b = slice->view.row;
    struct bank_tile *tile = asked->of->n > 1 ? bank_tile_new() : NULL;

    if (asked->of->n == 1)
        return true;
    for (uint32_t i = 0; tile && i < asked->of->n; i++)
        if (!bank_tile_add(tile, b, bank_range(b, asked->of->of[i].at, asked->of->of[i].nbytes))) {
            bank_tile_free(tile);
            tile = NULL;
        }
    if (!tile)
        return false;
    bank_tile_end(tile, b);
    bank_access_tile(&s->banks->pool.accesses[row], tile);
    return true;
}

/* A cache in front asks. What it asks comes in order of time, so it is expected as the last. */
static int64_t banks_ask(struct kb_sim *s, int how, uint32_t dst, const struct behind_asked *asked)
{
    struct bank_slice *slice = slice_of(s, dst);
    const struct run *first = asked->of->of;
    uint32_t id = s->txns[asked->slot].id,
             row = slice ? new_row(s, slice, asked->t_fs, first->at, first->nbytes, asked->writes)
                         : BANK_NONE;
    struct bank_access *access;

    if (row == BANK_NONE)
        return NOT_YET;
    access = &s->banks->pool.accesses[row];
    bank_access_name_child(access, part_record_id(id, asked->part), id, asked->part);
    access->drain_fs = asked->drain_fs;
    s->banks->pool.packets[row].number = asked->number;
    if (!place_asked(s, slice, row, asked) ||
        !expect_in_order(s->banks->pool.accesses, slice, row)) {
        fail(s, KB_NO_MEMORY);
        return NOT_YET;
    }
    slice->pending++;
    ask_slice(s, how, slice,
              (int64_t)asked->t_fs + (is_lazy(how) ? wake_for(s, slice, access) : 0));
    return NOT_YET;
}

const struct memory_server banks_server = {.begin = banks_begin,
                                           .end = banks_end,
                                           .room = banks_room,
                                           .clear = banks_clear,
                                           .arrive = banks_arrive,
                                           .expects = banks_expect,
                                           .wake = banks_wake,
                                           .ask = banks_ask};
