/* kernbench component: memory counts */
/* expect: 'counts_calls' is data that can be written */
struct counts {
    int64_t last_fs;
};

static inline void counts_init(struct counts *s)
{
    s->last_fs = 0;
}

static int64_t counts_calls;

static inline struct kb_served counts_serve(struct counts *s, const struct kb_request *r, int64_t now_fs)
{
    (void)s;
    counts_calls++;
    return (struct kb_served){r->own_fs, now_fs + r->own_fs + counts_calls};
}
