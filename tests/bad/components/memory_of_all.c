/* kernbench component: memory memory_of_all */
/* expect: two equal states answer differently */
struct memory_of_all {
    int64_t last_fs;
};

static inline void memory_of_all_init(struct memory_of_all *s)
{
    s->last_fs = 0;
}

static inline struct kb_served memory_of_all_serve(struct memory_of_all *s, const struct kb_request *r, int64_t now_fs)
{
    return (struct kb_served){r->own_fs, now_fs + r->own_fs + (int64_t)((uintptr_t)s & 0xff0)};
}
