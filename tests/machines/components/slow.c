/* kernbench component: memory slow */

/* It takes 10 ns for whatever it is asked, and is held as long. */
struct slow {
    char none;
};

static inline void slow_init(struct slow *s)
{
    s->none = 0;
}

static inline struct kb_served slow_serve(struct slow *s, const struct kb_request *r,
                                          int64_t now_fs)
{
    (void)s, (void)r;
    return (struct kb_served){10000000, now_fs + 10000000};
}
