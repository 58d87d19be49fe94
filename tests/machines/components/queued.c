/* kernbench component: queueing queued
 */

/* The built-in memory that is held for its own time, as one that queues: first come, first served.
 */
struct queued {
    int64_t free_fs;
};

static inline void queued_init(struct queued *s)
{
    s->free_fs = 0;
}

static inline void queued_arrive(struct queued *s, const struct kb_request *r, int64_t now_fs,
                                 struct kb_handle *h)
{
    int64_t start = now_fs > s->free_fs ? now_fs : s->free_fs;
    int64_t fs = r->own_fs, more = r->overhead_fs + r->latency_fs;

    s->free_fs = start + r->overhead_fs + r->own_fs;
    if (r->op == KB_OP_READ || r->op == KB_OP_D2H)
        fs = r->drain_fs;
    else if (fs < r->drain_fs && !(r->id >> 32 & 0xffff)) /* the first packet */
        fs = r->drain_fs;
    kb_done(h, r->id, start + more + fs > now_fs ? start + more + fs : now_fs + 1);
}

static inline void queued_wake(struct queued *s, uint64_t id, int64_t now_fs, struct kb_handle *h)
{
    (void)s, (void)id, (void)now_fs, (void)h; /* it asks for none */
}
