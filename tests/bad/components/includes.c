/* kernbench component: memory includes */
/* expect: a component includes nothing but component.h */
struct includes {
    int64_t last_fs;
};

static inline void includes_init(struct includes *s)
{
    s->last_fs = 0;
}

#include <time.h>

static inline struct kb_served includes_serve(struct includes *s, const struct kb_request *r, int64_t now_fs)
{
    (void)s;
    return (struct kb_served){r->own_fs, now_fs + r->own_fs};
}
