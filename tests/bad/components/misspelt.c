/* kernbench component: memory misspelt */
/* expect: this component does not compile, see above; cube.hbm.impl */
struct misspelt {
    int64_t last_fs;
};

static inline void misspelt_init(struct misspelt *s)
{
    s->last_fs = 0;
}

static inline struct kb_served misspelt_serve(struct misspelt *s, const struct kb_request *r, int64_t now_fs)
{
    (void)s;
    return (struct kb_served){r->own, now_fs + r->own_fs};
}
