/* again.h -- a simulation whose rows have all ended is idle again, and may take others.
 *
 * Only what the rows have touched is cleared, so a machine of many cubes costs no more than others.
 */
#ifndef AGAIN_H
#define AGAIN_H
#include <stdint.h>

struct kb_sim;

/* What `row`, with its parts, has touched is idle. Another row on the same ways needs no call. */
void again_clear(struct kb_sim *s, uint32_t row);

/* It has no rows, and its time begins at 0. */
void again_rewind(struct kb_sim *s);

#endif
