/* kernbench component: node backward */

/* A delay below 0 for one byte, and one that never ends for two. */
struct backward {
    char none;
};

static inline void backward_init(struct backward *s)
{
    s->none = 0;
}

static inline int64_t backward_delay(struct backward *s, const struct kb_request *r, int64_t now_fs)
{
    (void)s, (void)now_fs;
    return r->bytes == 1 ? -1000000 : r->bytes == 2 ? INT64_MAX : r->overhead_fs;
}
