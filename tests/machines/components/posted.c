/* kernbench component: front posted
 */

/* Takes a write at once, and sends it on 50 ns later; hands reads on. */
struct posted {
    int none;
};

static inline void posted_init(struct posted *s)
{
    (void)s;
}

static inline void posted_arrive(struct posted *s, const struct kb_request *r, int64_t now_fs,
                                 struct kb_handle *h)
{
    (void)s;
    if (r->op == KB_OP_READ) {
        kb_pass_on(h, r->id, now_fs);
        return;
    }
    kb_done(h, r->id, now_fs + 1);
    kb_request_to(h, r, now_fs + 50000000);
}

static inline void posted_wake(struct posted *s, uint64_t id, int64_t now_fs, struct kb_handle *h)
{
    (void)s, (void)id, (void)now_fs, (void)h;
}

static inline void posted_ended(struct posted *s, uint64_t id, int64_t now_fs, struct kb_handle *h)
{
    (void)s, (void)id, (void)now_fs, (void)h;
}
