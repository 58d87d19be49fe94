/* kernbench component: queueing misqueue */

/* It answers as it should, except for a few sizes: each of them breaks one rule. */
struct misqueue {
    int64_t count;
};

static inline void misqueue_init(struct misqueue *s)
{
    s->count = 0;
}

static inline void misqueue_arrive(struct misqueue *s, const struct kb_request *r, int64_t now_fs,
                                   struct kb_handle *h)
{
    s->count++;
    switch (r->bytes) {
    case 1: /* in the past */
        kb_done(h, r->id, now_fs - 1000000);
        break;
    case 2: /* now */
        kb_wake_at(h, r->id, now_fs);
        break;
    case 3: /* another one */
        kb_done(h, r->id + 7, now_fs + 1);
        break;
    case 4: /* twice */
        kb_done(h, r->id, now_fs + 1);
        kb_done(h, r->id, now_fs + 2);
        break;
    case 5: /* never */
        break;
    case 6: /* never either, but it goes on and on */
        kb_wake_at(h, UINT64_MAX, now_fs + 1);
        break;
    default:
        kb_wake_at(h, r->id, now_fs + r->own_fs);
        break;
    }
}

static inline void misqueue_wake(struct misqueue *s, uint64_t id, int64_t now_fs,
                                 struct kb_handle *h)
{
    if (id == UINT64_MAX)
        kb_wake_at(h, id, now_fs + 1);
    else
        kb_done(h, id, now_fs + s->count);
}
