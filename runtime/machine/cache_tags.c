/* cache_tags.c -- the lines of one cache. */
#include "machine/cache_tags.h"
#include "base/rng.h"
#include <stdlib.h>
#include <string.h>

static size_t lines_of(const struct cache_row *row)
{
    return (size_t)row->sets * row->ways;
}

bool cache_tags_begin(struct cache_tags *c, const struct cache_row *row)
{
    *c = (struct cache_tags){.row = row,
                             .lines = malloc(lines_of(row) * sizeof *c->lines),
                             .ages = malloc(lines_of(row))};
    if (!c->lines || !c->ages)
        return false;
    cache_tags_clear(c);
    return true;
}

void cache_tags_free(struct cache_tags *c)
{
    free(c->lines);
    free(c->ages);
}

uint64_t cache_tags_drop(struct cache_tags *c)
{
    uint64_t came_in = c->came_in, dirty = 0;

    for (size_t i = 0; i < lines_of(c->row); i++)
        dirty += c->lines[i].tag && c->lines[i].dirty;
    cache_tags_clear(c);
    c->came_in = came_in;
    return dirty;
}

void cache_tags_clear(struct cache_tags *c)
{
    memset(c->lines, 0, lines_of(c->row) * sizeof *c->lines);
    for (size_t i = 0; i < lines_of(c->row); i++)
        c->ages[i] = (uint8_t)(c->row->ways - 1 - i % c->row->ways); /* way 0 is the oldest */
    c->came_in = 0;
}

void cache_tags_copy(struct cache_tags *c, const struct cache_tags *from)
{
    memcpy(c->lines, from->lines, lines_of(c->row) * sizeof *c->lines);
    memcpy(c->ages, from->ages, lines_of(c->row));
    c->came_in = from->came_in;
    for (size_t i = 0; i < lines_of(c->row); i++)
        c->lines[i].fill = 0;
}

/* The way at `place` of the ages of a set becomes the youngest. */
static struct cache_line *touch(struct cache_tags *c, size_t first, uint32_t place)
{
    uint8_t *ages = &c->ages[first], way = ages[place];

    memmove(ages + 1, ages, place);
    ages[0] = way;
    return &c->lines[first + way];
}

struct cache_line *cache_tags_find(struct cache_tags *c, uint64_t number)
{
    size_t first = (size_t)(number % c->row->sets) * c->row->ways;
    const uint8_t *ages = &c->ages[first];

    for (uint32_t i = 0; i < c->row->ways; i++)
        if (c->lines[first + ages[i]].tag == number + 1)
            return touch(c, first, i);
    return NULL;
}

bool cache_tags_has(const struct cache_tags *c, uint64_t number)
{
    size_t first = (size_t)(number % c->row->sets) * c->row->ways;

    for (uint32_t way = 0; way < c->row->ways; way++)
        if (c->lines[first + way].tag == number + 1)
            return true;
    return false;
}

/* The place among the ages of the way that is taken. Empty ways were never touched: the lowest of
 * them is the oldest. */
static uint32_t place_to_take(const struct cache_tags *c, size_t first)
{
    uint32_t last = c->row->ways - 1, place = 0, way;

    if (c->row->policy == DROPS_OLDEST || !c->lines[first + c->ages[first + last]].tag)
        return last;
    way = (uint32_t)(rng_mix(c->came_in) % c->row->ways);
    while (c->ages[first + place] != way)
        place++;
    return place;
}

struct cache_line *cache_tags_bring_in(struct cache_tags *c, uint64_t number,
                                       struct cache_line *dropped)
{
    size_t first = (size_t)(number % c->row->sets) * c->row->ways;
    struct cache_line *line = touch(c, first, place_to_take(c, first));

    *dropped = *line;
    *line = (struct cache_line){.tag = number + 1};
    c->came_in++;
    return line;
}
