/* cache_use.h -- what a cache has looked up. */
#ifndef CACHE_USE_H
#define CACHE_USE_H
#include "network/caches.h"
#include <string.h>

/* Makes a row of its slice, or of its L2, which has the counts of what came there, that of the
 * cache.
 */
static inline void cache_use(const struct cache *c, kb_utilization *use)
{
    use->kind = KB_AT_CACHE;
    if (!c->is_l2)
        strcat(use->name, ".cache");
    use->gbs = c->gbs;
    use->has_lines = true;
    use->hits = c->counts.hits;
    use->pending = c->counts.pending;
    use->misses = c->counts.misses;
    use->evictions = c->counts.evictions;
    use->written_back = c->counts.written_back;
}

#endif
