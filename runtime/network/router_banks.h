/* router_banks.h -- slices with banks behind routers: what goes back as bursts end, and when a
 * transaction is done.
 *
 * It holds        nothing more than its banks do (network/banks.h)
 * For how long    a read: until its last tail is in at the requester, as with any memory; a write:
 *                 until its last tail is in, its packets are accepted or written, and its drain
 *                 has passed
 * Goes first      at the slice's port the packet whose first segment is ready first, by (ready, id,
 *                 part, packet)
 * Wait counted    queue_memory: of a read, when its data would have been there with the way back
 *                 for themselves, less when alone; of a write what it takes behind its last tail
 *                 and its drain, less that alone. waits_behind() divides what is below 0
 * Golden number   docs/network.md "Banks behind routers"
 *
 * A packet of a write comes to the rules when its first segment does, a read as a whole. The end of
 * each burst of a read is known when its segment has the bus: then data whose bursts, and those
 * before them, all have ends are put into the queue of the slice's port, with the time at which
 * they will be ready. That is later than now in every engine, so the engines agree.
 *
 * With queue_bytes a packet of a write keeps its room at the port until it has been accepted, or
 * written, and a read's command until its last burst has ended. So a slice whose channels are full
 * holds up the network before it.
 *
 * Example: docs/network.md. A read of 128 bytes, two bursts of one row, ends at 30 and 32 ns. Its
 * first segment of 64 bytes leaves the slice at 30, the second when the first has left.
 */
#ifndef NETWORK_ROUTER_BANKS_H
#define NETWORK_ROUTER_BANKS_H
#include "base/larger.h"
#include "network/banks_state.h"
#include "network/network_router.h"
#include <math.h>

/* The numbers of the slice that the transaction in `slot` goes to. */
static inline const struct bank_row *bank_row_of_txn(const struct kb_sim *s, const struct txn *txn)
{
    return &kind_at(T, dst_cube(T, txn->dst))->banks;
}

/* Overhead and latency, which come behind the end. */
static ALWAYS_INLINE int64_t behind_banks_fs(const struct kb_sim *s, const struct txn *txn)
{
    return cost_in_memory_fs(&s->mask, cost_memory(T, txn->dst, txn_writes(txn)));
}

static inline struct bank_bytes bytes_in_banks(const struct kb_sim *s, uint32_t slot)
{
    return (struct bank_bytes){s->banks->behind->offsets[slot], s->txns[slot].nbytes};
}

/* -- data of reads -------------------------------------------------------------------------- */

/* Bursts of a read have ends: data that are known to be ready, and all before them, go. */
static inline void send_known(struct kb_sim *s, uint32_t row)
{
    struct bank_pool *pool = &s->banks->pool;
    struct bank_packet *read = &pool->packets[row];
    const struct bank_row *b = bank_row_of_txn(s, &s->txns[read->slot]);
    struct bank_bytes bytes = bytes_in_banks(s, read->slot);
    uint32_t n = (uint32_t)(pool->accesses[row].range.end - pool->accesses[row].range.at);
    int64_t behind_fs = behind_banks_fs(s, &s->txns[read->slot]);

    for (; read->known < n && read->ends_fs[read->known]; read->known++) {
        read->latest_fs = larger(read->latest_fs, read->ends_fs[read->known]);
        while (read->sent < s->router->flights[read->slot].n &&
               bank_last_burst(b, bytes, T->segment_bytes, read->sent) <= read->known)
            router_send(s, after((uint64_t)read->latest_fs, behind_fs), read->slot, read->sent++,
                        &read->parcel);
    }
}

/* The way back of the read in `slot`, for data that have it for themselves. */
static inline struct stream *stream_back(struct kb_sim *s, uint32_t slot)
{
    struct stream *f = &s->banks->behind->stream;
    const struct way *way = s->router->flights[slot].way;

    f->n = way->n;
    f->segment_bytes = T->segment_bytes;
    for (uint32_t i = 0; i < way->n; i++) {
        const struct out_port *port = &s->router->ports[way->rows[i].port];

        f->hops[i] = (struct stream_hop){
            .gbs = way->rows[i].gbs, .hop_fs = channel_fs(port->wire_fs) + way->rows[i].ready_fs};
    }
    return f;
}

/* A packet has been accepted or written, or all bursts of a read have ends: its room comes back. */
static inline void leave_port(struct kb_sim *s, uint32_t row)
{
    const struct bank_pool *pool = &s->banks->pool;
    const struct delivery part = {.parcel = pool->packets[row].place};
    const struct turn turn = {.start_fs = (uint64_t)pool->accesses[row].done_fs, .gbs = INFINITY};

    if (part.parcel != NO_PARCEL)
        router_serve(s, &part, &turn);
}

/* All bursts of a read have ends: in service_fs goes when its data would all be there, alone on
 * their way, without that way. */
static inline void end_read(struct kb_sim *s, int how, uint32_t row)
{
    const struct bank_packet *read = &s->banks->pool.packets[row];
    struct txn *txn = &s->txns[read->slot];
    struct bank_access *whole = &s->banks->accesses[read->slot];

    whole->prepared_fs = s->banks->pool.accesses[row].prepared_fs;
    whole->delay_fs = s->banks->pool.accesses[row].delay_fs;
    whole->ready_fs = s->banks->pool.accesses[row].ready_fs;
    txn->service_fs =
        bank_stream_fs(stream_back(s, read->slot), bank_row_of_txn(s, txn), read->ends_fs,
                       bytes_in_banks(s, read->slot), behind_banks_fs(s, txn), whole->drain_fs) -
        s->router->flights[read->slot].return_fs;
    if (how & HOW_KERNELS) /* its content is that at the end of its last burst */
        post_data(s, (uint64_t)s->banks->pool.accesses[row].last_fs, read->slot);
}

/* -- writes --------------------------------------------------------------------------------- */

/* When a write may be done, as far as its banks as a whole say; 0: it did not come to them. */
static inline uint64_t least_in_banks(const struct kb_sim *s, uint32_t slot)
{
    const struct txn *txn = &s->txns[slot];
    const struct bank_access *whole = &s->banks->accesses[slot];
    int64_t least_fs;

    if (!banks_are_behind(s, txn) || whole->arrive_fs == BANK_NEVER_FS)
        return 0;
    least_fs = whole->arrive_fs + whole->drain_fs;
    if (bank_row_of_txn(s, txn)->ack == ACK_WRITTEN)
        least_fs = larger(least_fs, whole->first_fs + whole->drain_fs -
                                        s->banks->by_memory[txn->dst]->view.burst_fs);
    return after((uint64_t)least_fs, behind_banks_fs(s, txn));
}

/* A part of a write has its end: the last of them is that of all. */
static inline void end_part_of_write(struct kb_sim *s, uint32_t slot, uint64_t end_fs,
                                     int64_t behind_fs)
{
    if (s->banks && s->router->flights[slot].packets_left == 1) {
        uint64_t least_fs = least_in_banks(s, slot);

        end_fs = least_fs > end_fs ? least_fs : end_fs;
    }
    router_part_ends(s, slot, end_fs, behind_fs);
}

/* It is done: in service_fs goes what it has taken behind its last tail, and its drain. */
static inline void end_write_in_server(struct kb_sim *s, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    const struct flight *flight = &s->router->flights[slot];
    int64_t drained_fs = txn->arrive_fs + way_drain_fs(s, slot);

    txn->service_fs =
        drained_fs + (int64_t)flight->done_fs - larger(drained_fs, (int64_t)flight->tail_fs);
}

/* A packet of a write has been accepted, or written. */
static inline void end_packet(struct kb_sim *s, uint32_t row)
{
    const struct bank_access *access = &s->banks->pool.accesses[row];
    uint32_t slot = s->banks->pool.packets[row].slot;
    struct bank_access *whole = &s->banks->accesses[slot];
    int64_t behind_fs = behind_banks_fs(s, &s->txns[slot]);

    if (access->first_fs < whole->first_fs)
        whole->first_fs = access->first_fs;
    if (access->last_fs > whole->last_fs) {
        whole->last_fs = access->last_fs;
        whole->prepared_fs = access->prepared_fs;
        whole->delay_fs = access->delay_fs;
        whole->ready_fs = access->ready_fs;
    }
    end_part_of_write(s, slot, after((uint64_t)access->done_fs, behind_fs), behind_fs);
}

/* -- both ----------------------------------------------------------------------------------- */

/* The transaction in `slot` sets out: none of its packets, which may pass each other, has come. */
static inline void begin_whole(struct kb_sim *s, uint32_t slot)
{
    struct bank_access *whole = &s->banks->accesses[slot];

    whole->drain_fs = way_drain_fs(s, slot);
    whole->arrive_fs = whole->first_fs = BANK_NEVER_FS;
    whole->last_fs = 0;
    whole->writes = (uint8_t)txn_writes(&s->txns[slot]);
}

#endif
