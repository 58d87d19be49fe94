/* completed.c -- the rows of a live run that have completed, until they are asked for. */
#include "engine/completed.h"
#include "base/rows.h"

bool completed_add(struct completed *c, uint32_t id)
{
    if (!rows_grow(&c->ids, &c->room, c->n + 1, sizeof *c->ids))
        return false;
    c->ids[c->n++] = id;
    return true;
}

size_t completed_take(struct completed *c, uint64_t *ids, size_t room)
{
    size_t n = 0;

    while (n < room && c->taken < c->n)
        ids[n++] = c->ids[c->taken++];
    if (c->taken == c->n)
        c->taken = c->n = 0;
    return n;
}
