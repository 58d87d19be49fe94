/*
 * ends.h -- the servers of a channel, where its requests need one event: which is free next?
 *
 * A request that sets out is on its way until it arrives at its memory, at a time that is known
 * beforehand; when it arrives its end is known, too. So of each server that is taken either the
 * arrival is known or the end. The first end is the next at all if nothing arrives before it: an
 * end lies behind its arrival. And if something does, it is asked again at that arrival, which is
 * early enough. So no end has to be an event.
 *
 * Example: two servers. One request arrives at 5 ns, another one at 9; at 5 the end of the first is
 * known, 30: that may not be the first, as the other one may end at 20. At 9 its end is known,
 * 25: the next row sets out at 25, though it is 9 ns now.
 *
 * Both are kept in order. Mostly what is added comes last.
 */
#ifndef ENDS_H
#define ENDS_H
#include <stdbool.h>
#include <stdint.h>

/* Times in order. All zero: none. */
struct times {
    uint64_t *at;            /* owned; [room], a ring */
    uint32_t first, n, room; /* room: a power of two, or 0 */
};

/* Of the servers of one channel that are taken. */
struct ends {
    struct times arrivals, ends;
};

/* Twice the room; false if there is no memory.  inorder_lists.c */
bool times_room(struct times *t);

static inline uint64_t times_first(const struct times *t)
{
    return t->at[t->first & (t->room - 1)];
}

/* False: no memory. */
static inline bool times_add(struct times *t, uint64_t fs)
{
    if (t->n == t->room && !times_room(t))
        return false;
    uint32_t mask = t->room - 1, i = t->first + t->n++;

    for (; i != t->first && t->at[(i - 1) & mask] > fs; i--)
        t->at[i & mask] = t->at[(i - 1) & mask];
    t->at[i & mask] = fs;
    return true;
}

static inline void times_take(struct times *t)
{
    t->first++;
    t->n--;
}

/* Is the first end the next of all? */
static inline bool ends_are_known(const struct ends *e)
{
    return e->ends.n && (!e->arrivals.n || times_first(&e->ends) <= times_first(&e->arrivals));
}

#endif
