/* fills.h -- when the read children of a cache end, by their numbers, which count from 1. */
#ifndef NETWORK_FILLS_H
#define NETWORK_FILLS_H
#include "engine/state.h"

/* A child is under way whose end is not known yet. */
#define NOT_YET INT64_MAX

/* Of the last ones: a line may wait for these, those before have ended. */
struct fills {
    int64_t *ends; /* owned; a ring of `room`, a power of two, or 0 */
    uint32_t first, next, room;
};

/* When read child `number` ended, or will; 0: long ago. */
int64_t fill_end(const struct fills *f, uint32_t number);

/* One more, which ends at `end`, or NOT_YET. */
void fills_add(struct kb_sim *s, struct fills *f, int64_t end);

/* Child `number` ends at `end`. */
void fills_set(struct fills *f, uint32_t number, int64_t end);

/* Those that have ended by `t`, behind which no lookup will be, need not be kept. */
void fills_forget(struct fills *f, int64_t t);

#endif
