/* kernbench component: memory clock */
/* expect: formula */
struct clock {
    int64_t last_fs;
};

static inline void clock_init(struct clock *s)
{
    s->last_fs = 0;
}

static inline struct kb_served clock_serve(struct clock *s, const struct kb_request *r, int64_t now_fs)
{
    (void)s;
    return (struct kb_served){r->own_fs, now_fs + r->own_fs + now_fs % 1000000};
}
