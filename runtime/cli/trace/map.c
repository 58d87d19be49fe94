/*
 * map.c -- pointers by numbers: a hash table with open addressing, at most half full.
 *
 * An entry is at its home slot, or in the next free one behind it. Removing one leaves a gap, which
 * the entries behind it fill, since a search ends at the first gap: there are no tombstones, and a
 * map of flights, which come and go, stays as fast as a new one.
 */
#include "cli/trace/map.h"
#include "cli/out/memory.h"
#include <stdlib.h>

enum { ROOM_MIN = 64 };

/* Keys differ in few bits, so they are mixed. */
static size_t home(const struct map *m, uint64_t key)
{
    key = (key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(key >> 20) & (m->room - 1);
}

/* The slot of `key`, or the free slot for it. */
static size_t place_of(const struct map *m, uint64_t key)
{
    size_t i = home(m, key);

    while (m->entry[i].value && m->entry[i].key != key)
        i = (i + 1) & (m->room - 1);
    return i;
}

static void grow(struct map *m)
{
    struct map more = {.room = m->room ? 2 * m->room : ROOM_MIN, .n = m->n};

    more.entry = memory_new(more.room, sizeof *more.entry);
    for (size_t i = 0; i < m->room; i++)
        if (m->entry[i].value)
            more.entry[place_of(&more, m->entry[i].key)] = m->entry[i];
    free(m->entry);
    *m = more;
}

void map_free(struct map *m)
{
    free(m->entry);
    *m = (struct map){0};
}

void *map_get(const struct map *m, uint64_t key)
{
    return m->room ? m->entry[place_of(m, key)].value : NULL;
}

void map_put(struct map *m, uint64_t key, void *value)
{
    if (2 * (m->n + 1) > m->room)
        grow(m);
    m->entry[place_of(m, key)] = (struct map_entry){key, value};
    m->n++;
}

/* Entries up to the next gap move into this one, unless that is before their home. */
void map_remove(struct map *m, uint64_t key)
{
    size_t gap = place_of(m, key), mask = m->room - 1;

    for (size_t i = (gap + 1) & mask; m->entry[i].value; i = (i + 1) & mask)
        if (((i - home(m, m->entry[i].key)) & mask) >= ((i - gap) & mask)) {
            m->entry[gap] = m->entry[i];
            gap = i;
        }
    m->entry[gap].value = NULL;
    m->n--;
}
