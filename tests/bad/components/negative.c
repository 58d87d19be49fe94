/* kernbench component: memory negative */
/* expect: hold -1.000000 ns */
struct negative {
    int64_t last_fs;
};

static inline void negative_init(struct negative *s)
{
    s->last_fs = 0;
}

static inline struct kb_served negative_serve(struct negative *s, const struct kb_request *r, int64_t now_fs)
{
    (void)s, (void)r;
    return (struct kb_served){-1000000, now_fs};
}
