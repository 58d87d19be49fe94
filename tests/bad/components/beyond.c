/* kernbench component: memory beyond */
/* expect: AddressSanitizer */
struct beyond {
    int64_t last_fs;
};

static inline void beyond_init(struct beyond *s)
{
    s->last_fs = 0;
}

static inline struct kb_served beyond_serve(struct beyond *s, const struct kb_request *r, int64_t now_fs)
{
    int64_t *behind = &s->last_fs + 1;

    *behind = now_fs;
    return (struct kb_served){r->own_fs, now_fs + r->own_fs};
}
