/* router_waits.c -- waits of segments in a network of routers, as lists that share their begins.
 *
 * A segment that has waited behind another one of its own transaction goes on with the path of that
 * one. So the waits before are shared: a path is a list from its last wait to its first, and
 * copying it counts one more user of the last. A wait without users is free again.
 *
 * Example: segment 0 waits 7 ns at a source and 5 ns in a router. Segment 1 follows it directly:
 * both have the list 5, 7. Then segment 0 waits 3 ns more: its list is 3, 5, 7, and that of
 * segment 1 is the end of it.
 */
#include "explain/router_waits.h"
#include <stdlib.h>

static void drop(struct net_waits *w, uint32_t row)
{
    while (row != NO_WAIT && --w->rows[row].users == 0) {
        uint32_t before = w->rows[row].before;

        w->rows[row].before = w->free;
        w->free = row;
        row = before;
    }
}

static bool grow(struct net_waits *w)
{
    enum { FIRST = 64 };
    uint32_t n = w->n ? 2 * w->n : FIRST;
    struct net_wait *more = realloc(w->rows, n * sizeof *more);

    if (!more)
        return false;
    w->rows = more;
    w->free = NO_WAIT;
    while (n > w->n) {
        more[--n].before = w->free;
        w->free = n;
    }
    w->n = w->n ? 2 * w->n : FIRST;
    return true;
}

void net_path_copy(struct net_waits *w, struct net_path *to, const struct net_path *from)
{
    if (from->last != NO_WAIT)
        w->rows[from->last].users++;
    drop(w, to->last);
    *to = *from;
}

void net_path_clear(struct net_waits *w, struct net_path *path)
{
    drop(w, path->last);
    *path = (struct net_path){NO_WAIT, 0};
}

static bool goes_on(const struct net_wait *a, const struct net_wait *b)
{
    return a->cause == b->cause && a->behind == b->behind && a->behind_id == b->behind_id &&
           a->place == b->place && a->begin_fs + a->fs == b->begin_fs;
}

bool net_path_wait(struct net_waits *w, struct net_path *path, uint32_t mark,
                   const struct net_wait *wait)
{
    uint32_t row;

    if (path->last != mark && goes_on(&w->rows[path->last], wait)) {
        w->rows[path->last].fs += wait->fs;
        return true;
    }
    if (w->free == NO_WAIT && !grow(w))
        return false;
    row = w->free;
    w->free = w->rows[row].before;
    w->rows[row] = *wait;
    w->rows[row].before = path->last;
    w->rows[row].users = 1;
    path->last = row;
    return true;
}

void net_path_place(struct net_waits *w, const struct net_path *path, uint32_t mark, kb_place place)
{
    for (uint32_t row = path->last; row != mark; row = w->rows[row].before)
        w->rows[row].place = place;
}
