/* kernbench component: memory holds */

/* The first request holds it without end. If it were asked again, its sum would be out of range. */
struct holds {
    bool held;
};

static inline void holds_init(struct holds *s)
{
    s->held = false;
}

static inline struct kb_served holds_serve(struct holds *s, const struct kb_request *r,
                                           int64_t now_fs)
{
    if (s->held)
        return (struct kb_served){r->own_fs, now_fs + r->own_fs};
    s->held = true;
    return (struct kb_served){INT64_MAX - now_fs, INT64_MAX};
}
