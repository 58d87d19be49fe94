/* stations.h -- the stations of a simulation: memory for all, made cube by cube when a run needs
 * them.
 *
 * A machine of 1024 cubes has 290,000 stations of 64 bytes. A run of a few transactions comes to
 * some hundred of them. So the memory of all is only reserved, and the stations of a cube are made
 * idle when a transaction is known to pass it. A cube that is not made is all zero, and what walks
 * over stations leaves it out. Stations of IO chiplets are few, and made at once.
 */
#ifndef STATIONS_H
#define STATIONS_H
#include "engine/state.h"

/* Reserves all, and makes those of no cube. False without memory; stations_free() frees the rest.
 */
bool stations_init(struct kb_sim *s);
void stations_free(struct kb_sim *s);

/* Makes those of all cubes that are not made. */
void stations_make_all(struct kb_sim *s);

/* Makes those that the rows of transactions need, and may make all. */
void stations_make_for_rows(struct kb_sim *s);

/* It is idle again. */
static inline void stations_clear(struct station *st)
{
    *st = (struct station){
        .queue.head = TXN_NONE, .holder = TXN_NONE, .idle = st->idle /* as many as ever */};
}

/* The same of the channels of a PE and one direction, and of their pace. */
static inline void stations_clear_channel(struct kb_sim *s, size_t channel)
{
    stations_clear(&s->channels[channel]);
    if (s->paces)
        s->paces[channel] = 0;
}

/* What stations keep of waits. */
void stations_free_rings(struct link_station *rows, size_t n);

/* How many link stations a cube has; those of cube i begin at i times as many. */
static inline size_t stations_links_of_cube(const struct kb_topology *t)
{
    return (size_t)t->n_cube_links * 2;
}

#endif
