/* visitors.c -- which visit of a station is in front when the next one arrives.
 *
 * A station that serves in order belongs to the last visit that has begun. Arrivals come in order
 * of time, so a visit that began before another one that has begun, too, is never asked for again:
 * a ring has the others, and each is passed over once.
 *
 * Example: three writes come to a link at 2.06, 4.07 and 6 ns, and hold it for 32 ns each: they
 * enter at 2.06, 34.06 and 66.06. At 6 ns the ring has the first two; the second has not begun, so
 * the third waits behind the first.
 */
#include "explain/visitors.h"
#include <stdlib.h>

const struct visitor *visitors_front(struct visitors *v, int64_t t)
{
    while (v->n > 1 && v->ring[(v->first + 1) & (v->room - 1)].begin_fs <= t) {
        v->first++;
        v->n--;
    }
    return v->n ? &v->ring[v->first & (v->room - 1)] : NULL;
}

/* Doubles the ring if it is full. */
static bool has_room(struct visitors *v)
{
    uint32_t room = v->room ? 2 * v->room : 4;
    struct visitor *ring;

    if (v->n < v->room)
        return true;
    ring = malloc(room * sizeof *ring);
    if (!ring)
        return false;
    for (uint32_t i = 0; i < v->n; i++)
        ring[i] = v->ring[(v->first + i) & (v->room - 1)];
    free(v->ring);
    *v = (struct visitors){.ring = ring, .n = v->n, .room = room};
    return true;
}

bool visitors_join(struct visitors *v, struct visitor next)
{
    if (!has_room(v))
        return false;
    v->ring[(v->first + v->n++) & (v->room - 1)] = next;
    return true;
}

void visitors_free(struct visitors *v, size_t n)
{
    for (size_t i = 0; v && i < n; i++)
        free(v[i].ring);
    free(v);
}
