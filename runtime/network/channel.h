/* channel.h -- pe_dma: the read channels and write channels of a PE's DMA.
 *
 * It holds        a transaction, from when it takes the channel until its last byte has been served
 * For how long    the whole way and the service at the memory: the channel bounds how much is in
 *                 flight, pe_dma.read_channels and write_channels
 * Goes first      first come, first served: a list in order of (issue, id)
 * Wait counted    queue_channel = start - issue (KB_WAIT_CHANNEL), measured in take_channel()
 * Golden number   docs/model.md "Worked: one channel": with one read channel the second read of a
 *                 PE starts when its first is done, after 18.085 ns, though its slice is idle
 *
 * The channel is the source of back-pressure: a full memory makes transactions stay in their
 * channels, and the PE's next ones wait here, in no one's way. Hosts have no channels.
 */
#ifndef NETWORK_CHANNEL_H
#define NETWORK_CHANNEL_H
#include "engine/traffic.h"
#include "network/way.h"

static inline struct station *channel_of(struct kb_sim *s, const struct txn *x)
{
    return &s->channels[2 * (size_t)x->src + txn_writes(x)];
}

/* It has a channel from `t` on, and sets out. Traffic then draws the PE's next transaction. */
static ALWAYS_INLINE void take_channel(struct kb_sim *s, int how, struct station *channel,
                                       uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];

    channel->holder = slot;
    channel->busy_fs -= t; /* leave_channel() adds the time of completion */
    txn->wait_fs = (int64_t)t - txn->issue_fs;
    if (counts_now(how) && txn->wait_fs)
        channel->wait_fs += txn->wait_fs;
    if (is_told(s, how))
        observe_take(s, t, slot, STATION_CHANNEL);
    if (how & HOW_KERNELS)
        kernels_begin_service(s, t, slot);
    else if (__builtin_expect(s->traffic != NULL, false))
        traffic_next(s, t, txn->src, pe_number(T, txn->src), txn_writes(txn));
    set_out_whole(s, how, t, slot);
}

/* It is issued, or comes here as a tile of a kernel's command. */
static ALWAYS_INLINE void come_to_channel(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct station *channel = channel_of(s, &s->txns[slot]);

    if (is_told(s, how))
        observe_come(s, t, slot, STATION_CHANNEL);
    if (channel->idle) {
        channel->idle--;
        take_channel(s, how, channel, t, slot);
    } else {
        station_enqueue(channel, s->txns, slot);
    }
}

/* Its service has ended at `t`: the channel goes to the first that waits. */
static ALWAYS_INLINE void leave_channel(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct station *channel = channel_of(s, &s->txns[slot]);

    channel->busy_fs += t;
    if (is_told(s, how))
        observe_release(s, t, slot, STATION_CHANNEL);
    if (station_waited_for(channel))
        take_channel(s, how, channel, t, station_dequeue(channel, s->txns));
    else
        channel->idle++;
}

#endif
