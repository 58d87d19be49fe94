/* pairs.h -- between which cubes routes are walked, to see all that packets may wait for. */
#ifndef PAIRS_H
#define PAIRS_H
#include "routes.h"

/* The pairs of one plane; `back`: routes are the ways of their data. */
struct pairs {
    const struct kb_topology *t;
    bool *sips;                 /* [sip]: all its cubes count, not only these two: */
    uint32_t *leaver, *arriver; /* [sip]: a cube from which a way leads ashore, and one to which it
                                   leads; NO_WHERE: none */
    uint32_t *first_to;         /* [sip][side]: the first SIP that routes leave to by that side */
    uint32_t *first_from;       /* [sip][side]: and the first from which they come in by it */
    bool *counts; /* [cube]: the first of its SIP with so many links to the shore; NULL: the number
                     does not matter */
    bool *ends;   /* [cube]: the first with so many from the shore; NULL with counts */
};

/* `by_links`: which VCs packets own depends on how many links they have passed. */
struct pairs pairs_make(struct routes *r, uint32_t plane, bool back, bool by_links);

/* Are routes walked from and to `cube`? */
bool pairs_has_cube(const struct pairs *p, uint32_t cube);

/* Of the cubes of `sip`, those from which a route is walked to `to`: [*first, *end). */
void pairs_from(const struct pairs *p, uint32_t sip, uint32_t to, uint32_t *first, uint32_t *end);

/* Is a route walked from `from`, one of those, to `to`? */
bool pairs_has(const struct pairs *p, uint32_t from, uint32_t to);

/* Parts of the VCs that hop classes need for the route between two cubes and for the way back: its
 * links, or if some are not counted those before the last one, and one more. 0: there is no way. */
uint32_t pairs_links(const struct kb_topology *t, uint32_t from, uint32_t to);

#endif
