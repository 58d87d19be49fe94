/* kernbench component: memory once */

/* It is never done with the first request; others take 10 ns. */
struct once {
    bool asked;
};

static inline void once_init(struct once *s)
{
    s->asked = false;
}

static inline struct kb_served once_serve(struct once *s, const struct kb_request *r,
                                          int64_t now_fs)
{
    bool first = !s->asked;

    (void)r;
    s->asked = true;
    return (struct kb_served){0, first ? INT64_MAX : now_fs + 10000000};
}
