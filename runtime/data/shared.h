/* shared.h -- versions of equal pieces, of which a store keeps only one. */
#ifndef SHARED_H
#define SHARED_H
#include <stdbool.h>
#include "data/mem.h"

/* Versions of pieces by what they are made of. It has no reference to them: each leaves with its
 * last reader. It lives until its owner and all its versions are gone. */
struct shared;

struct shared *shared_new(void);       /* NULL: no memory */
void shared_release(struct shared *s); /* by its owner; NULL: nothing */

/* The version of these pieces; NULL: none. Borrowed. */
struct version *shared_find(const struct shared *s, struct piece *pieces, uint32_t n);

/* `v` will be found. Not if there is one of the same pieces. False: no memory. */
bool shared_add(struct shared *s, struct version *v);

/* `v`, whose pieces are still there, will not be found any more. */
void shared_remove(struct version *v);

#endif
