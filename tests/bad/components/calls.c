/* kernbench component: memory calls */
/* expect: it calls 'rand' */
struct calls {
    int64_t last_fs;
};

static inline void calls_init(struct calls *s)
{
    s->last_fs = 0;
}

int rand(void);

static inline struct kb_served calls_serve(struct calls *s, const struct kb_request *r, int64_t now_fs)
{
    (void)s;
    return (struct kb_served){r->own_fs, now_fs + r->own_fs + rand()};
}
