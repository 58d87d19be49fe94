/* component_packets.h -- memories that are components, behind routers: what they are asked, and
 * what a transaction takes alone.
 *
 * A read is one request. A write comes by packets, and each is a request of its own, when its turn
 * has come: its part of the bytes and of their times, the overhead with the first. A write is done
 * at the latest of
 *
 *     its last tail, and the latency, or what the first answer adds to the drain, if that is less
 *     the first packet's turn, what its answer adds to its drain, and the drain of the whole
 *     of another packet: done_fs - drain_fs + the smaller of drain_fs and hold_fs
 *
 * A packet's data come while it is served. So of a packet behind the first counts what the
 * component adds to its drain, and the time for which it holds the memory, but not longer than the
 * data of the packet take.
 *
 * Example: 128 bytes in two packets, drains of 4 ns each, a component that is done 10 ns after its
 * turn and holds as long. The first comes at 0 and adds 6; the second comes at 4, has its turn at
 * 10 and its answer is 20. The write is done at max(8, 0 + 6 + 8, 20 - 4 + 4) = 20.
 */
#ifndef COMPONENT_PACKETS_H
#define COMPONENT_PACKETS_H
#include "machine/cost.h"

/* Bytes `from` to `from` + `nbytes` of `whole`, by a route of `gbs` to a memory of `own_gbs`. */
static inline struct kb_request packet_request(const struct kb_request *whole, uint64_t from,
                                               uint64_t nbytes, double gbs, double own_gbs)
{
    struct kb_request packet = *whole;

    packet.offset += from;
    packet.bytes = nbytes;
    packet.drain_fs = part_fs(from, nbytes, gbs);
    packet.own_fs = part_fs(from, nbytes, own_gbs);
    packet.overhead_fs = from ? 0 : whole->overhead_fs;
    return packet;
}

/* What the answer to `asked` adds to its drain: data do not leave, or come, before its turn. */
static inline int64_t added_fs(const struct kb_request *asked, int64_t now_fs,
                               struct kb_served answer)
{
    int64_t fs = answer.done_fs - now_fs - asked->drain_fs;

    return fs > 0 ? fs : 0;
}

/* The end of a write, as far as it is for the answer to a packet behind its first; not INT64_MAX.
 */
static inline int64_t packet_end_fs(const struct kb_request *packet, struct kb_served answer)
{
    int64_t drain_fs = packet->drain_fs;

    return answer.done_fs - drain_fs + (answer.hold_fs < drain_fs ? answer.hold_fs : drain_fs);
}

#endif
