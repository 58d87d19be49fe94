/* turn.h -- a turn at a station that is free again at a known time: a link, an early memory. */
#ifndef NETWORK_TURN_H
#define NETWORK_TURN_H
#include "engine/how.h"

/*
 * The next turn at `station`, for one that comes at `t` and takes it for `taken` fs. Returns when
 * it begins: as soon as the station is free. Turns are asked for in the order in which they are
 * given.
 */
static ALWAYS_INLINE uint64_t take_turn(struct kb_sim *s, struct link_station *station,
                                        int64_t taken, uint64_t t)
{
    uint64_t enter = (uint64_t)station->free_fs > t ? (uint64_t)station->free_fs : t;

    station->free_fs = (int64_t)after(enter, taken);
    station->busy_fs += (uint64_t)taken;
    if (STATS && enter > t && !link_wait(station, t, enter))
        fail(s, KB_NO_MEMORY);
    return enter;
}

#endif
