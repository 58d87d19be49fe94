/* kernbench component: memory early */

/* It is done at once, before the data could have come. */
struct early {
    char none;
};

static inline void early_init(struct early *s)
{
    s->none = 0;
}

static inline struct kb_served early_serve(struct early *s, const struct kb_request *r,
                                           int64_t now_fs)
{
    (void)s, (void)r;
    return (struct kb_served){0, now_fs};
}
