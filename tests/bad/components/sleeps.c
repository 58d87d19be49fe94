/* kernbench component: queueing sleeps */

#include "component.h"
# include <stdint.h>
#define SOON_FS 1000

/* It wakes itself without end, a thousand times in a ns, and is never done with anything. */
struct sleeps {
    char none;
};

static inline void sleeps_init(struct sleeps *s)
{
    s->none = 0;
}

static inline void sleeps_arrive(struct sleeps *s, const struct kb_request *r, int64_t now_fs,
                                 struct kb_handle *h)
{
    (void)s;
    if (r->id == 0)
        kb_wake_at(h, 0, now_fs + SOON_FS);
}

static inline void sleeps_wake(struct sleeps *s, uint64_t id, int64_t now_fs, struct kb_handle *h)
{
    (void)s;
    kb_wake_at(h, id, now_fs + SOON_FS);
}
