/* kernbench component: memory wrong */

/* It answers as it should, except for a few sizes: each of them breaks one rule. */
struct wrong {
    int64_t last_fs;
};

static inline void wrong_init(struct wrong *s)
{
    s->last_fs = 0;
}

static inline struct kb_served wrong_serve(struct wrong *s, const struct kb_request *r,
                                           int64_t now_fs)
{
    s->last_fs = now_fs;
    switch (r->bytes) {
    case 1: /* in the past */
        return (struct kb_served){0, now_fs - 1000000};
    case 2:
        return (struct kb_served){-1, now_fs + r->own_fs};
    case 3: /* held for longer than it lasts */
        return (struct kb_served){2 * r->own_fs, now_fs + r->own_fs};
    case 4: /* never */
    case 192:
        return (struct kb_served){0, INT64_MAX};
    case 5: /* never, and held so long */
        return (struct kb_served){INT64_MAX - now_fs, INT64_MAX};
    default:
        return (struct kb_served){r->own_fs, now_fs + r->own_fs};
    }
}
