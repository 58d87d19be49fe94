/* kernbench component: memory moody
 * least_ns  number  0.0  0..100  of each hold; 0: some take no time at all
 */

/* Its answers are of all kinds: free when they are done, before, or at once; in whole ns, so that
 * many come together. They depend on all that it was asked, and when: a call too many shows. */
struct moody {
    uint64_t asked;
};

static inline void moody_init(struct moody *s)
{
    s->asked = 1;
}

static inline struct kb_served moody_serve(struct moody *s, const struct kb_request *r,
                                           int64_t now_fs)
{
    uint64_t x = (s->asked + r->id + r->offset + (uint64_t)now_fs) * 0x9E3779B97F4A7C15u;
    int64_t hold_fs = MOODY_LEAST_FS + (x >> 62 ? 0 : (int64_t)(x >> 59) * 1000000);
    int64_t late_fs = (x >> 60) % 4 ? 0 : (int64_t)((x >> 50) % 8) * 1000000;

    s->asked += x >> 7;
    return (struct kb_served){hold_fs, now_fs + hold_fs + late_fs};
}
