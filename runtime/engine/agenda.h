/* agenda.h -- which ports of routers decide at which instants to come.
 *
 * Routers of one clock decide together: many ports at one instant, and at few different ones. So
 * an instant is one event of class 5, and has a list of ports. They are put in order when it comes:
 * by then all have asked, since what a decision changes is seen a femtosecond later at the
 * earliest.
 *
 * Instants are found by a hash of their time. Example: at 4 ns 30 ports of a mesh ask for 5 ns: the
 * first has an event posted, the other 29 are appended to its list. An event for each of them cost
 * a third of all instructions of a mesh of 4 x 4, flit by flit.
 */
#ifndef AGENDA_H
#define AGENDA_H
#include <stdbool.h>
#include <stdint.h>
#include "base/exported.h"

#define NO_INSTANT UINT32_MAX
enum { AGENDA_BITS = 12 };

/* A port that was asked to decide. */
struct asked {
    uint64_t order; /* among all ports of the machine */
    uint32_t port;
};

struct instant {
    uint64_t at_fs;
    struct asked *rows; /* owned; [n] of room */
    uint32_t n, room;
    uint32_t next; /* of the same hash, or of free ones */
};

struct agenda {
    struct instant *instants; /* owned */
    uint32_t n_instants, free_instant;
    uint32_t first[1 << AGENDA_BITS]; /* of a hash */
};

/* No instant is in any list. */
void agenda_clear(struct agenda *a);

void agenda_free(struct agenda *a);

/* An instant that is in none of the lists; NO_INSTANT: no memory. */
uint32_t agenda_new_instant(struct agenda *a, uint64_t at_fs) EXPORTED(agenda_new_instant);
bool agenda_room(struct instant *at) EXPORTED(agenda_room);

/* Puts its ports in order; there are several. */
void agenda_sort(struct instant *at) EXPORTED(agenda_sort);

static inline uint32_t *agenda_place(struct agenda *a, uint64_t at_fs)
{
    return &a->first[at_fs * UINT64_C(0x9e3779b97f4a7c15) >> (64 - AGENDA_BITS)];
}

/* The instant `at_fs`; NO_INSTANT: nothing has been asked for it. */
static inline uint32_t agenda_find(struct agenda *a, uint64_t at_fs)
{
    uint32_t at = *agenda_place(a, at_fs);

    while (at != NO_INSTANT && a->instants[at].at_fs != at_fs)
        at = a->instants[at].next;
    return at;
}

/* Appends a port. False: no memory. */
static inline bool agenda_add(struct instant *at, uint64_t order, uint32_t port)
{
    if (at->n == at->room && !agenda_room(at))
        return false;
    at->rows[at->n++] = (struct asked){order, port};
    return true;
}

/* It is over: its row may be used again. */
static inline void agenda_end(struct agenda *a, uint32_t row)
{
    struct instant *at = &a->instants[row];
    uint32_t *link = agenda_place(a, at->at_fs);

    while (*link != row)
        link = &a->instants[*link].next;
    *link = at->next;
    at->n = 0;
    at->next = a->free_instant;
    a->free_instant = row;
}

#endif
